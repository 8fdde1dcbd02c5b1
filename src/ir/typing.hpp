// The typing rules of the IR, shared by the builder, the parser and the verifier.
#pragma once

#include "ir/function.hpp"

namespace volley::ir {

/// Returns whether elementwise operations take the type: scalars and vectors.
[[nodiscard]] inline bool is_elementwise(DType type) { return type.is_scalar() || type.is_vector(); }

/// Returns the result type of an operation on operands of these types; void for statements. If the form
/// allows several result types (Convert, Bitcast, Construct, Const, Zero, roots, BufferSize), `requested`
/// selects one and is checked; otherwise it may be void. Throws IrError, whose message names the operation
/// and the types. Accesses (Load, Store, Atomic*, Extract) are typed by access_type, because their path needs
/// the operands' nodes.
[[nodiscard]] DType result_type(Op op, std::span<const DType> operands, DType requested = {});

/// Returns the type that an access reaches: starts at the type of the root (or composite) and follows the
/// path, the operands from path_start(op) on. For a Buffer root the first step is the element index. Struct
/// steps must be Const nodes; vector, matrix, complex and array steps may be any integer scalar (complex: 0
/// re, 1 im). Also checks that the access has a root and does not write to a read-only buffer, and that
/// stored and atomic values have the reached type. A constant step past the end of an array or vector is
/// legal.
[[nodiscard]] DType access_type(const Function& fn, Op op, std::span<const NodeId> operands);

}  // namespace volley::ir
