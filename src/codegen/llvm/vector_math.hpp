// The functions of docs/ir.md's accuracy table over scalars and lanes: polynomials for sin, cos, exp, exp2,
// log, log2 and rsqrt in f32; SLEEF for the rest; the C library for scalars and without SLEEF.
#pragma once

#include "codegen/llvm/code_builder.hpp"

#include <volley/ir/op.hpp>

namespace volley::codegen::llvm {

/// Returns op(x) or op(x, y) in f32 or f64, elementwise over scalars or vectors of any size.
[[nodiscard]] Val vector_math(CodeBuilder& c, ir::Op op, ScalarType type, Val x, Val y);

/// Returns the address of a function passed to call_external (from SLEEF or the C library), or null if it
/// does not exist.
[[nodiscard]] void* external_address(const char* name) noexcept;

}  // namespace volley::codegen::llvm
