// The semantics of docs/ir.md in plain C++ without undefined behaviour, as the host's side of the tests.
// Integers wrap, division by zero is defined, shifts are modulo the width.
#pragma once

#include <volley/types.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace volley::testing::model {

template <class T>
concept Whole = std::is_integral_v<T> && !std::is_same_v<T, bool>;

// An unsigned type that is not promoted to int.
template <class T>
using Bits = std::conditional_t<(sizeof(T) < 4), u32, std::make_unsigned_t<T>>;
template <Whole T>
[[nodiscard]] constexpr Bits<T> raw(T v) {
    return static_cast<Bits<T>>(v);
}

template <Whole T>
inline constexpr unsigned width = sizeof(T) * 8;

template <class T>
[[nodiscard]] T add(T a, T b) {
    if constexpr (Whole<T>)
        return static_cast<T>(raw(a) + raw(b));
    else
        return a + b;
}
template <class T>
[[nodiscard]] T sub(T a, T b) {
    if constexpr (Whole<T>)
        return static_cast<T>(raw(a) - raw(b));
    else
        return a - b;
}
template <class T>
[[nodiscard]] T mul(T a, T b) {
    if constexpr (Whole<T>)
        return static_cast<T>(raw(a) * raw(b));
    else
        return a * b;
}
template <class T>
[[nodiscard]] T div(T a, T b) {
    if constexpr (Whole<T>) {
        if (b == 0) return a;
        if constexpr (std::is_signed_v<T>) {
            if (b == -1) return static_cast<T>(0 - raw(a));
        }
        return static_cast<T>(a / b);
    } else {
        return a / b;
    }
}
template <class T>
[[nodiscard]] T rem(T a, T b) {
    if constexpr (Whole<T>) {
        if (b == 0) return 0;
        if constexpr (std::is_signed_v<T>) {
            if (b == -1) return 0;
        }
        return static_cast<T>(a % b);
    } else {
        return static_cast<T>(std::fmod(a, b));
    }
}
template <class T>
[[nodiscard]] T neg(T a) {
    if constexpr (Whole<T>)
        return static_cast<T>(0 - raw(a));
    else
        return -a;
}
template <class T>
[[nodiscard]] T abs(T a) {
    if constexpr (Whole<T>) {
        if constexpr (std::is_signed_v<T>)
            return a < 0 ? neg(a) : a;
        else
            return a;
    } else if constexpr (std::is_same_v<T, half>) {
        return half::from_bits(static_cast<u16>(a.bits() & 0x7fffu));
    } else {
        return std::fabs(a);
    }
}
template <class T>
[[nodiscard]] T sign(T a) {
    if constexpr (!Whole<T>) {
        if (std::isnan(static_cast<double>(a))) return a;
    }
    return static_cast<T>(a > T(0) ? 1 : a < T(0) ? -1 : 0);
}
template <class T>
[[nodiscard]] T min(T a, T b) {
    if constexpr (!Whole<T>) {
        if (std::isnan(static_cast<double>(a))) return b;
        if (std::isnan(static_cast<double>(b))) return a;
    }
    return b < a ? b : a;
}
template <class T>
[[nodiscard]] T max(T a, T b) {
    if constexpr (!Whole<T>) {
        if (std::isnan(static_cast<double>(a))) return b;
        if (std::isnan(static_cast<double>(b))) return a;
    }
    return a < b ? b : a;
}
template <Whole T>
[[nodiscard]] T shl(T a, T b) {
    return static_cast<T>(raw(a) << (raw(b) % width<T>));
}
template <Whole T>
[[nodiscard]] T shr(T a, T b) {
    return static_cast<T>(a >> (raw(b) % width<T>));
}

template <Whole T>
[[nodiscard]] T popcount(T a) {
    return static_cast<T>(std::popcount(static_cast<std::make_unsigned_t<T>>(a)));
}
template <Whole T>
[[nodiscard]] T clz(T a) {
    return static_cast<T>(std::countl_zero(static_cast<std::make_unsigned_t<T>>(a)));
}
template <Whole T>
[[nodiscard]] T ctz(T a) {
    return static_cast<T>(std::countr_zero(static_cast<std::make_unsigned_t<T>>(a)));
}
template <Whole T>
[[nodiscard]] T reverse_bits(T a) {
    Bits<T> result = 0;
    for (unsigned k = 0; k < width<T>; ++k) result |= ((raw(a) >> k) & 1u) << (width<T> - 1 - k);
    return static_cast<T>(result);
}

/// Section 5: converts to integers truncating and saturating, with NaN to 0; to bool as x != 0; else
/// correctly rounded.
template <class To, class From>
[[nodiscard]] To convert(From v) {
    if constexpr (std::is_same_v<To, From>) {
        return v;
    } else if constexpr (std::is_same_v<To, bool>) {
        if constexpr (std::is_same_v<From, half>)
            return float(v) != 0;
        else
            return v != 0;
    } else if constexpr (std::is_same_v<From, half>) {
        return convert<To>(float(v));
    } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
        if (std::isnan(v)) return 0;
        // Limits that are powers of two are exact in every float type.
        constexpr int digits = std::numeric_limits<To>::digits;
        if (v >= std::ldexp(From(1), digits)) return std::numeric_limits<To>::max();
        if (v <= (std::is_signed_v<To> ? -std::ldexp(From(1), digits) : From(-1)))
            return std::numeric_limits<To>::min();
        return static_cast<To>(v);
    } else if constexpr (std::is_same_v<To, half> && std::is_same_v<From, bool>) {
        return half(v ? 1.0f : 0.0f);
    } else {
        return static_cast<To>(v);
    }
}

}  // namespace volley::testing::model
