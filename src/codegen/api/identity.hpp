// The identity elements of the operations that folds combine values with (ir/combine.hpp). The first lane of
// an exclusive scan receives the identity.
#pragma once

#include <volley/dtype.hpp>
#include <volley/ir/op.hpp>

#include <cstdint>

namespace volley::codegen {

/// Returns the bits of the identity element of `combine`.
[[nodiscard]] constexpr std::uint64_t identity_bits(ir::Op combine, ScalarType type) noexcept {
    const unsigned bits = bits_of(type);
    const std::uint64_t ones = ~std::uint64_t{0} >> (64 - bits);
    const std::uint64_t highest = is_signed_integer(type) ? ones >> 1 : ones;
    const bool half = type == ScalarType::F16;
    const bool single = type == ScalarType::F32;
    const std::uint64_t one = half ? 0x3c00u : single ? 0x3f800000u : 0x3ff0000000000000u;
    const std::uint64_t infinity = half ? 0x7c00u : single ? 0x7f800000u : 0x7ff0000000000000u;
    const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
    switch (combine) {
        case ir::Op::Mul: return is_float(type) ? one : 1;
        case ir::Op::Min: return is_float(type) ? infinity : highest;
        case ir::Op::Max: return is_float(type) ? infinity | sign : ~highest & ones;
        case ir::Op::And: return ones;
        default: return 0;
    }
}

}  // namespace volley::codegen
