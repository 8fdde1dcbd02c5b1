// Integers are computed in 64 bits and truncated to their width; f32 and f64 in their own type; f16 in f32
// and rounded.
#include "passes/eval.hpp"

#include <volley/half.hpp>

#include <bit>
#include <cmath>
#include <limits>

namespace volley::passes {
namespace {

using ir::Op;
using Bits = std::uint64_t;
using Result = std::optional<Bits>;

Bits reverse(Bits bits, unsigned width) {
    Bits out = 0;
    for (unsigned i = 0; i < width; ++i) out |= ((bits >> i) & 1) << (width - 1 - i);
    return out;
}

Result integer(Op op, ScalarType type, std::span<const Bits> in) {
    const unsigned width = bits_of(type);
    const Bits mask = mask_of(type);
    const bool is_signed = is_signed_integer(type);
    const Bits a = in[0] & mask;
    const Bits b = in.size() > 1 ? in[1] & mask : 0;
    const std::int64_t sa = signed_value(type, a);
    const std::int64_t sb = signed_value(type, b);
    const bool less = is_signed ? sa < sb : a < b;
    const auto amount = static_cast<unsigned>(b % width);

    switch (op) {
        case Op::Neg: return (Bits{0} - a) & mask;
        case Op::Abs: return (is_signed && sa < 0 ? Bits{0} - a : a) & mask;
        case Op::Sign: return (is_signed && sa < 0 ? ~Bits{0} : Bits{a != 0}) & mask;
        case Op::Add: return (a + b) & mask;
        case Op::Sub: return (a - b) & mask;
        case Op::Mul: return (a * b) & mask;
        case Op::Div:
            if (b == 0) return a;
            if (!is_signed) return a / b;
            if (sb == -1) return (Bits{0} - a) & mask;  // includes min / -1, which is undefined in C++
            return static_cast<Bits>(sa / sb) & mask;
        case Op::Rem:
            if (b == 0) return 0;
            if (!is_signed) return a % b;
            if (sb == -1) return 0;
            return static_cast<Bits>(sa % sb) & mask;
        case Op::Min: return less ? a : b;
        case Op::Max: return less ? b : a;
        case Op::Fma: return (a * b + in[2]) & mask;
        case Op::And: return a & b;
        case Op::Or: return a | b;
        case Op::Xor: return a ^ b;
        case Op::Not: return ~a & mask;
        case Op::Shl: return (a << amount) & mask;
        case Op::Shr: return (is_signed ? static_cast<Bits>(sa >> amount) : a >> amount) & mask;
        case Op::PopCount: return static_cast<Bits>(std::popcount(a));
        case Op::Clz: return static_cast<Bits>(std::countl_zero(a)) - (64 - width);
        case Op::Ctz: return a == 0 ? width : static_cast<Bits>(std::countr_zero(a));
        case Op::ReverseBits: return reverse(a, width);
        case Op::Eq: return a == b;
        case Op::Ne: return a != b;
        case Op::Lt: return less;
        case Op::Ge: return !less;
        case Op::Le: return less || a == b;
        case Op::Gt: return !less && a != b;
        default: return std::nullopt;
    }
}

Result boolean(Op op, std::span<const Bits> in) {
    const bool a = in[0] != 0;
    const bool b = in.size() > 1 && in[1] != 0;
    switch (op) {
        case Op::And: return a && b;
        case Op::Or: return a || b;
        case Op::Xor:
        case Op::Ne: return a != b;
        case Op::Eq: return a == b;
        case Op::Not: return !a;
        default: return std::nullopt;
    }
}

template <class T>
T float_of(ScalarType type, Bits bits) {
    if (type == ScalarType::F16)
        return static_cast<T>(float(half::from_bits(static_cast<std::uint16_t>(bits))));
    if (type == ScalarType::F32)
        return static_cast<T>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    return static_cast<T>(std::bit_cast<double>(bits));
}

template <class T>
Result float_bits(ScalarType type, T value) {
    if (std::isnan(value)) return std::nullopt;
    if (type == ScalarType::F16) return half(value).bits();
    if (type == ScalarType::F32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    return std::bit_cast<std::uint64_t>(static_cast<double>(value));
}

template <class T>
Result minimum(ScalarType type, T a, T b, bool want_max) {
    if (std::isnan(a)) return float_bits(type, b);
    if (std::isnan(b)) return float_bits(type, a);
    if (a == b && std::signbit(a) != std::signbit(b)) return std::nullopt;
    return float_bits(type, (want_max ? a < b : b < a) ? b : a);
}

// T is the type in which the operation is computed; float for f16.
template <class T>
Result floating(Op op, ScalarType type, std::span<const Bits> in) {
    const T a = float_of<T>(type, in[0]);
    const T b = in.size() > 1 ? float_of<T>(type, in[1]) : T(0);
    switch (op) {
        case Op::Add: return float_bits(type, a + b);
        case Op::Sub: return float_bits(type, a - b);
        case Op::Mul: return float_bits(type, a * b);
        case Op::Div: return float_bits(type, a / b);
        case Op::Rem: return float_bits(type, std::fmod(a, b));
        case Op::Min: return minimum(type, a, b, false);
        case Op::Max: return minimum(type, a, b, true);
        case Op::Fma: return float_bits(type, std::fma(a, b, float_of<T>(type, in[2])));
        case Op::Sign:
            if (a == 0 && std::signbit(a)) return std::nullopt;
            return float_bits(type, std::isnan(a) ? a : T((a > 0) - (a < 0)));
        case Op::Floor: return float_bits(type, std::floor(a));
        case Op::Ceil: return float_bits(type, std::ceil(a));
        case Op::Trunc: return float_bits(type, std::trunc(a));
        case Op::Round: return float_bits(type, std::round(a));
        case Op::RoundEven: return float_bits(type, std::nearbyint(a));
        case Op::Sqrt: return float_bits(type, std::sqrt(a));
        case Op::Eq: return a == b;
        case Op::Ne: return a != b;
        case Op::Lt: return a < b;
        case Op::Le: return a <= b;
        case Op::Gt: return a > b;
        case Op::Ge: return a >= b;
        case Op::IsNan: return std::isnan(a);
        case Op::IsInf: return std::isinf(a);
        default: return std::nullopt;
    }
}

Result float_to_integer(ScalarType to, double v) {
    if (std::isnan(v)) return 0;
    const bool is_signed = is_signed_integer(to);
    const double limit = std::ldexp(1.0, static_cast<int>(bits_of(to)) - (is_signed ? 1 : 0));
    const Bits mask = mask_of(to);
    if (v >= limit) return is_signed ? mask >> 1 : mask;
    if (is_signed) {
        if (v <= -limit) return (mask >> 1) + 1;
        return static_cast<Bits>(static_cast<std::int64_t>(v)) & mask;
    }
    return v <= 0 ? 0 : static_cast<Bits>(v);
}

Result integer_to_float(ScalarType to, ScalarType from, Bits bits) {
    const auto round = [&](auto v) -> Result {
        // An integer that double does not represent exactly is outside the range of f16, so f16 never rounds
        // twice.
        if (to == ScalarType::F16) return half(v).bits();
        if (to == ScalarType::F32) return std::bit_cast<std::uint32_t>(static_cast<float>(v));
        return std::bit_cast<std::uint64_t>(static_cast<double>(v));
    };
    const std::int64_t v = signed_value(from, bits);
    return is_signed_integer(from) ? round(v) : round(static_cast<std::uint64_t>(v));
}

Result convert(ScalarType to, ScalarType from, Bits bits) {
    if (to == from) return bits & mask_of(from);
    if (is_float(from)) {
        const double v = float_of<double>(from, bits);
        if (to == ScalarType::Bool) return v != 0;
        return is_float(to) ? float_bits(to, v) : float_to_integer(to, v);
    }
    if (to == ScalarType::Bool) return (bits & mask_of(from)) != 0;
    if (from == ScalarType::Bool) from = ScalarType::U8;
    if (is_float(to)) return integer_to_float(to, from, bits);
    return static_cast<Bits>(signed_value(from, bits)) & mask_of(to);
}

}  // namespace

std::optional<Bits> evaluate(Op op, ScalarType result, ScalarType operand, std::span<const Bits> bits) {
    if (bits.empty()) return std::nullopt;
    if (op == Op::Convert) return convert(result, operand, bits[0]);
    if (op == Op::Bitcast) return bits[0] & mask_of(operand);
    if (op == Op::Select) return (bits[0] != 0 ? bits[1] : bits[2]) & mask_of(operand);
    if (operand == ScalarType::Bool) return boolean(op, bits);
    if (is_integer(operand)) return integer(op, operand, bits);

    const Bits sign = (mask_of(operand) >> 1) + 1;
    if (op == Op::Neg) return (bits[0] & mask_of(operand)) ^ sign;
    if (op == Op::Abs) return bits[0] & mask_of(operand) & ~sign;
    return operand == ScalarType::F64 ? floating<double>(op, operand, bits)
                                      : floating<float>(op, operand, bits);
}

std::uint64_t trip_count(ScalarType type, std::uint64_t begin, std::uint64_t end, std::uint64_t step) {
    const std::uint64_t first = static_cast<std::uint64_t>(signed_value(type, begin));
    const std::uint64_t last = static_cast<std::uint64_t>(signed_value(type, end));
    if (!is_signed_integer(type)) {
        const std::uint64_t by = step & mask_of(type);
        return by == 0 || first >= last ? 0 : (last - first - 1) / by + 1;
    }
    const std::int64_t by = signed_value(type, step);
    const auto first_signed = static_cast<std::int64_t>(first);
    const auto last_signed = static_cast<std::int64_t>(last);
    // Computed as unsigned, the difference of signed bounds is exact.
    if (by > 0 && first_signed < last_signed) return (last - first - 1) / static_cast<std::uint64_t>(by) + 1;
    if (by < 0 && first_signed > last_signed)
        return (first - last - 1) / (std::uint64_t{0} - static_cast<std::uint64_t>(by)) + 1;
    return 0;
}

}  // namespace volley::passes
