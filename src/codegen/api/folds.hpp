// Decomposes the subgroup folds and scans into the operation that combines two values, the kind of scan, and
// the identity that the first lane of an exclusive scan receives.
#pragma once

#include <volley/dtype.hpp>
#include <volley/ir/op.hpp>

#include <cstdint>
#include <iterator>

namespace volley::codegen {

enum class Scan : std::uint8_t { None, Inclusive, Exclusive };

struct Fold {
    ir::Op combine;
    Scan scan;
};

/// Decomposes a SubgroupFold operation. The IR lists folds, inclusive and exclusive scans in the same order.
[[nodiscard]] constexpr Fold fold_of(ir::Op op) noexcept {
    using ir::Op;
    constexpr Op combines[] = {Op::Add, Op::Mul, Op::Min, Op::Max, Op::And, Op::Or, Op::Xor};
    constexpr unsigned count = std::size(combines);
    const unsigned index = static_cast<unsigned>(op) - static_cast<unsigned>(Op::SubgroupAdd);
    return {combines[index % count], static_cast<Scan>(index / count)};
}

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
