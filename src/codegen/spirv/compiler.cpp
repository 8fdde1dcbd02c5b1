// Compiles a function to a module: expands math functions into arithmetic, flattens nesting that is too deep,
// then runs the emitter.
#include "codegen/spirv/compiler.hpp"

#include "codegen/spirv/kernel_emitter.hpp"
#include "passes/expand_math.hpp"
#include "passes/lower_nesting.hpp"
#include "passes/pipeline.hpp"

#include <algorithm>

namespace volley::codegen::spirv {
namespace {

// Nesting levels that the emitter and drivers add to those of the kernel.
constexpr std::uint32_t spare_nesting = 8;

/// Compiles the coarsened function and maps its parameters back to the original ones.
Module compile_coarse(const ir::Function& fn, Variant variant, const Target& target) {
    passes::Coarsening how = target.coarsening;
    how.whole = variant.full;
    const passes::Coarsened coarse = passes::coarsen(fn, how);
    variant.coarse = false;
    variant.full = true;  // the rewritten code handles the grid's edge
    Module module = compile(coarse.function, variant, target);
    for (Field& field : module.fields) {
        if (field.kind == FieldKind::Address || field.kind == FieldKind::Elements ||
            field.kind == FieldKind::Value)
            field.parameter = coarse.original[field.parameter];
    }
    return module;
}

}  // namespace

Module compile(const ir::Function& fn, const Variant& variant, const Target& target) {
    if (variant.coarse) return compile_coarse(fn, variant, target);
    passes::MathTarget math;
    math.f64 = target.f64;
    math.i64 = target.i64;
    math.fused_fma = target.fused_fma;
    math.keeps_subnormals = target.keeps_subnormals_f32;
    const bool functions = std::any_of(fn.nodes.begin(), fn.nodes.end(),
                                       [&](const ir::Node& node) { return passes::expands(node, math); });
    const std::uint32_t deepest = target.max_nesting > spare_nesting ? target.max_nesting - spare_nesting : 1;
    const bool deep = target.max_nesting != 0 && passes::nesting(fn) > deepest;
    if (!functions && !deep) return KernelEmitter(fn, variant, target).emit();
    ir::Function lowered = fn;
    if (functions) {
        passes::expand_math(lowered, math);
        passes::clean(lowered);  // without contraction: the expansions rely on each rounding
    }
    if (target.max_nesting != 0) passes::lower_nesting(lowered, deepest);
    return KernelEmitter(lowered, variant, target).emit();
}

}  // namespace volley::codegen::spirv
