// Translates the target into the emitter's features, and chooses the build options for correct rounding.
#include "codegen/clike/compiler.hpp"
#include "codegen/opencl/compiler.hpp"
#include "codegen/opencl/opencl_dialect.hpp"
#include "core/text.hpp"

namespace volley::codegen::opencl {

Source compile(const ir::Function& fn, const Variant& variant, const Target& target) {
    clike::Features features;
    features.device = target.device;
    features.f64 = target.f64;
    features.i64_atomics = target.i64_atomics;
    features.fused_fma = target.fused_fma;
    features.keeps_subnormals = target.keeps_subnormals;
    features.subgroup_size = target.subgroups ? target.subgroup_size : 1;
    const OpenClDialect dialect(target);
    Source source = clike::compile(fn, variant, features, dialect);
    source.options = cat("-cl-std=CL", target.version / 100, '.', target.version / 10 % 10);
    if (target.exact_division) source.options += " -cl-fp32-correctly-rounded-divide-sqrt";
    return source;
}

}  // namespace volley::codegen::opencl
