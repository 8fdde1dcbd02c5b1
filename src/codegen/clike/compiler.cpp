// Runs the passes that precede the emitter.
#include "codegen/clike/compiler.hpp"

#include "codegen/clike/kernel_emitter.hpp"
#include "passes/eliminate_common.hpp"
#include "passes/eliminate_dead.hpp"
#include "passes/expand_math.hpp"
#include "passes/lower_nesting.hpp"

#include <algorithm>

namespace volley::codegen::clike {
namespace {

// Clang rejects brackets nested deeper than 256.
constexpr unsigned deepest = 200;

}  // namespace

Source compile(const ir::Function& fn, const Variant& variant, const Features& features,
               const Dialect& dialect) {
    passes::MathTarget math;
    math.f64 = features.f64;
    math.i64 = true;
    math.fused_fma = features.fused_fma;
    math.keeps_subnormals = features.keeps_subnormals;
    const bool functions = std::any_of(fn.nodes.begin(), fn.nodes.end(),
                                       [&](const ir::Node& node) { return passes::expands(node, math); });
    const bool deep = passes::nesting(fn) > deepest;
    if (!functions && !deep) return KernelEmitter(fn, variant, features, dialect).emit();
    ir::Function lowered = fn;
    if (functions) {
        passes::expand_math(lowered, math);
        passes::eliminate_common(lowered);
        passes::eliminate_dead(lowered);
    }
    if (deep) passes::lower_nesting(lowered, deepest);
    return KernelEmitter(lowered, variant, features, dialect).emit();
}

}  // namespace volley::codegen::clike
