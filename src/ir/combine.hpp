// The operations that folds, scans and atomics apply to two values.
#pragma once

#include <volley/ir/op.hpp>

#include <cstdint>
#include <iterator>

namespace volley::ir {

enum class Scan : std::uint8_t { None, Inclusive, Exclusive };

struct Fold {
    Op combine;
    Scan scan;
};

/// Decomposes a SubgroupFold operation into the operation that combines two values and the kind of scan.
[[nodiscard]] constexpr Fold fold_of(Op op) noexcept {
    // Folds, inclusive and exclusive scans list their operations in the same order.
    constexpr Op combines[] = {Op::Add, Op::Mul, Op::Min, Op::Max, Op::And, Op::Or, Op::Xor};
    constexpr unsigned count = std::size(combines);
    constexpr auto first = static_cast<unsigned>(Op::SubgroupAdd);
    static_assert(static_cast<unsigned>(Op::SubgroupInclusiveAdd) == first + count);
    static_assert(static_cast<unsigned>(Op::SubgroupExclusiveAdd) == first + 2 * count);
    const unsigned index = static_cast<unsigned>(op) - first;
    return {combines[index % count], static_cast<Scan>(index / count)};
}

/// Returns the operation that an atomic applies to the old value and its operand. Requires neither
/// AtomicExchange nor AtomicCas.
[[nodiscard]] constexpr Op combine_of_atomic(Op op) noexcept {
    switch (op) {
        case Op::AtomicAdd: return Op::Add;
        case Op::AtomicSub: return Op::Sub;
        case Op::AtomicMin: return Op::Min;
        case Op::AtomicMax: return Op::Max;
        case Op::AtomicAnd: return Op::And;
        case Op::AtomicOr: return Op::Or;
        default: return Op::Xor;
    }
}

}  // namespace volley::ir
