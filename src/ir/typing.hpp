// The typing rules of the IR, in one place for the builder, the parser and the verifier.
#pragma once

#include "ir/function.hpp"

namespace volley::ir {

/// The result type of an operation on operands of these types. Where the form leaves a choice (Convert,
/// Bitcast, Construct, Const, Zero, roots, BufferSize) `wanted` is that choice and is checked; elsewhere it
/// may be void. Statements give void. Throws IrError, whose message names the operation and the types.
/// Accesses (Load, Store, Atomic*, Extract) are typed by access_type, as their path needs the operands'
/// nodes.
[[nodiscard]] DType result_type(Op op, std::span<const DType> operands, DType wanted = {});

/// The type that an access reaches: starts at the root's (or composite's) type and follows the path, i.e. the
/// operands from path_start(op) on. For a Buffer root the first step is the element index. Struct steps must
/// be Const nodes; vector, matrix, complex and array steps may be any integer scalar (complex: 0 re, 1 im).
/// Also checks the rest of the access: that it has a root, does not write to a read-only buffer, and that
/// stored and atomic values have the reached type. A constant step beyond an array's or vector's end is
/// legal.
[[nodiscard]] DType access_type(const Function& fn, Op op, std::span<const NodeId> operands);

}  // namespace volley::ir
