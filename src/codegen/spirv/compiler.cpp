// From a function to a module: functions become arithmetic, then the emitter writes.
#include "codegen/spirv/compiler.hpp"

#include "codegen/spirv/kernel_emitter.hpp"
#include "passes/expand_math.hpp"

#include <algorithm>

namespace volley::codegen::spirv {

namespace {

/// The module finds its blocks where the caller has the buffers.
Module compile_coarse(const ir::Function& fn, Variant variant, const Target& target) {
    passes::Coarsening how = target.coarsening;
    how.whole = variant.full;
    const passes::Coarsened coarse = passes::coarsen(fn, how);
    variant.coarse = false;
    variant.full = true;  // the rewritten code looks after the edge
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
    const auto expands = [&](const ir::Node& node) { return passes::expands(node, math); };
    if (std::none_of(fn.nodes.begin(), fn.nodes.end(), expands))
        return KernelEmitter(fn, variant, target).emit();
    ir::Function expanded = fn;
    passes::expand_math(expanded, math);
    return KernelEmitter(expanded, variant, target).emit();
}

}  // namespace volley::codegen::spirv
