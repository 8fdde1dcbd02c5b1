// The bits of floats as signed integers ascend from 0 to inf and positive NaN; those of negative floats, with
// all but the sign inverted, from negative NaN over -inf to -0. As a circle, all NaN are neighbours: adding a
// constant moves them to the end where they win.
#include "algorithms/reduce_order.hpp"

#include <volley/lang/lang.hpp>

#include <cstdint>
#include <limits>

namespace volley::algorithms {
namespace {

constexpr std::uint64_t infinity_bits(bool wide) { return wide ? 0x7ff0000000000000 : 0x7f800000; }

/// The key of -inf before the constant is added.
constexpr std::uint64_t lowest_bits(bool wide) { return wide ? 0x800fffffffffffff : 0x807fffff; }

/// The number that is subtracted from the circle.
constexpr std::uint64_t origin(bool wide, bool largest) {
    return largest ? lowest_bits(wide) : infinity_bits(wide) + 1;
}

/// The key of the NaN next to the numbers.
constexpr std::uint64_t innermost_nan(bool wide, bool largest) {
    return largest ? infinity_bits(wide) - origin(wide, largest) + 1
                   : lowest_bits(wide) - origin(wide, largest) - 1;
}

AnyValue word(std::uint64_t bits, bool wide) {
    const auto narrow = static_cast<std::uint32_t>(bits);
    return wide ? constant_of(dtype_of<u64>(), &bits) : constant_of(dtype_of<u32>(), &narrow);
}

AnyValue bits_as(const AnyValue& value, DType type) { return {lang::bitcast(ref_of(value), type, {}), type}; }

/// Inverts all bits but the sign of a word whose sign is set. Its own inverse.
AnyValue turn_negative(const AnyValue& bits, bool wide) {
    const DType is_signed = wide ? dtype_of<i64>() : dtype_of<i32>();
    const AnyValue sign =
        bits_as(apply(ir::Op::Shr, bits_as(bits, is_signed), bits_as(word(wide ? 63 : 31, wide), is_signed)),
                bits.dtype());
    const AnyValue others = word(wide ? 0x7fffffffffffffff : 0x7fffffff, wide);
    return apply(ir::Op::Xor, bits, apply(ir::Op::And, sign, others));
}

}  // namespace

DType order_type(DType element) {
    if (element.is_float()) return element.size() == 8 ? dtype_of<u64>() : dtype_of<u32>();
    if (element.size() == 8) return element;
    return element.is_signed() ? dtype_of<i32>() : dtype_of<u32>();
}

AnyValue order_key(const AnyValue& element, bool largest, bool one_nan) {
    const DType type = order_type(element.dtype());
    if (!element.dtype().is_float()) return convert(element, type);
    const bool wide = type == dtype_of<u64>();
    const AnyValue number = wide ? element : convert(element, dtype_of<f32>());
    const AnyValue key = turn_negative(bits_as(number, type), wide) - word(origin(wide, largest), wide);
    if (!one_nan) return key;
    return apply(largest ? ir::Op::Min : ir::Op::Max, key, word(innermost_nan(wide, largest), wide));
}

AnyValue from_order_key(const AnyValue& key, DType element, bool largest) {
    if (!element.is_float()) return convert(key, element);
    const bool wide = key.dtype() == dtype_of<u64>();
    const AnyValue bits = turn_negative(key + word(origin(wide, largest), wide), wide);
    return convert(bits_as(bits, wide ? dtype_of<f64>() : dtype_of<f32>()), element);
}

AnyValue last_in_order(DType element, bool largest) {
    const DType type = order_type(element);
    if (type == dtype_of<u32>()) return Value<u32>(largest ? 0U : std::numeric_limits<u32>::max());
    if (type == dtype_of<i32>())
        return Value<i32>(largest ? std::numeric_limits<i32>::lowest() : std::numeric_limits<i32>::max());
    if (type == dtype_of<u64>()) return Value<u64>(largest ? u64{0} : std::numeric_limits<u64>::max());
    return Value<i64>(largest ? std::numeric_limits<i64>::lowest() : std::numeric_limits<i64>::max());
}

}  // namespace volley::algorithms
