// The functions of docs/ir.md's accuracy table over scalars and lanes: own polynomials for sin, cos, exp,
// exp2, log, log2 and rsqrt in f32, SLEEF for the rest, and the C library for scalars or where there is no
// SLEEF.
#pragma once

#include "codegen/llvm/code_builder.hpp"

#include <volley/ir/op.hpp>

namespace volley::codegen::llvm {

/// op(x) or op(x, y) in f32 or f64, elementwise over scalars or vectors of any size.
[[nodiscard]] Val vector_math(CodeBuilder& c, ir::Op op, ScalarType type, Val x, Val y);

/// The address of a function that call_external named (SLEEF's or the C library's); null when there is none.
[[nodiscard]] void* external_address(const char* name) noexcept;

}  // namespace volley::codegen::llvm
