// Scalar evaluation of the IR's pure operations, by docs/ir.md sections 3 to 5. Bits are those of Const
// nodes: the value's representation in its low bits_of(type) bits, the others zero.
//
// The reference interpreter is another implementation on purpose: each is tested against the other.
#pragma once

#include "ir/function.hpp"
#include "ir/literal.hpp"

#include <optional>
#include <span>

namespace volley::passes {

/// The result's bits, or nullopt where the value is not fixed to the bit: functions that are not correctly
/// rounded, NaN made by arithmetic (its payload is the device's), min and max of zeros of different sign.
/// `operand` is the type of the operands (of the choices for Select), `result` that of the result.
[[nodiscard]] std::optional<std::uint64_t> evaluate(ir::Op op, ScalarType result, ScalarType operand,
                                                    std::span<const std::uint64_t> bits);

/// The trip count of a For whose bounds have these bits, by docs/ir.md section 7.
[[nodiscard]] std::uint64_t trip_count(ScalarType type, std::uint64_t begin, std::uint64_t end,
                                       std::uint64_t step);

using ir::mask_of;

/// The value of integer bits, sign- or zero-extended by their type.
[[nodiscard]] constexpr std::int64_t signed_value(ScalarType type, std::uint64_t bits) noexcept {
    const unsigned unused = 64 - bits_of(type);
    if (is_signed_integer(type)) return static_cast<std::int64_t>(bits << unused) >> unused;
    return static_cast<std::int64_t>(bits & mask_of(type));
}

}  // namespace volley::passes
