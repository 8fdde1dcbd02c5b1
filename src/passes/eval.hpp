// Evaluates the IR's pure operations on scalars, as defined by docs/ir.md sections 3 to 5. Bits are those of
// Const nodes: the representation of the value in the low bits_of(type) bits, the others zero.
//
// The reference interpreter is deliberately a separate implementation: each is tested against the other.
#pragma once

#include "ir/function.hpp"
#include "ir/literal.hpp"

#include <optional>
#include <span>

namespace volley::passes {

/// Returns the bits of the result, or nullopt if docs/ir.md does not define every bit: functions that are not
/// correctly rounded, NaN produced by arithmetic (its payload depends on the device), min and max of zeros of
/// different sign. `operand` is the type of the operands (of the choices for Select), `result` that of the
/// result.
[[nodiscard]] std::optional<std::uint64_t> evaluate(ir::Op op, ScalarType result, ScalarType operand,
                                                    std::span<const std::uint64_t> bits);

/// Returns the trip count of a For with these bounds, as defined by docs/ir.md section 7.
[[nodiscard]] std::uint64_t trip_count(ScalarType type, std::uint64_t begin, std::uint64_t end,
                                       std::uint64_t step);

using ir::mask_of;

/// Returns the integer, sign- or zero-extended according to its type.
[[nodiscard]] constexpr std::int64_t signed_value(ScalarType type, std::uint64_t bits) noexcept {
    const unsigned unused = 64 - bits_of(type);
    if (is_signed_integer(type)) return static_cast<std::int64_t>(bits << unused) >> unused;
    return static_cast<std::int64_t>(bits & mask_of(type));
}

}  // namespace volley::passes
