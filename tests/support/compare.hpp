// Compares device results with the host's expectation for every kernel type: by bits, with all NaNs equal, or
// within units in the last place. Failures name the element and both values.
#pragma once

#include "support/ulp.hpp"

#include <volley/lang/type_of.hpp>
#include <volley/mat.hpp>
#include <volley/types.hpp>
#include <volley/vec.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace volley::testing {

/// Calls f(component) for each scalar of a value, including all scalars of vectors, complex numbers, matrices
/// and arrays.
template <class T, class F>
void each_component(const T& value, F&& f) {
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, half>) {
        f(value);
    } else if constexpr (requires { value.real(); }) {
        f(value.real());
        f(value.imag());
    } else if constexpr (requires { value.column; }) {
        for (const auto& column : value.column) each_component(column, f);
    } else if constexpr (requires { T::size; }) {
        if constexpr (std::is_integral_v<decltype(T::size)>) {
            for (int i = 0; i < T::size; ++i) each_component(value[i], f);
        } else {
            for (const auto& element : value) each_component(element, f);
        }
    } else {
        for (const auto& element : value) each_component(element, f);
    }
}

template <class T>
inline constexpr bool is_float_scalar = std::is_floating_point_v<T> || std::is_same_v<T, half>;

template <class T>
[[nodiscard]] auto bits_of(T value) {
    if constexpr (std::is_same_v<T, half>)
        return value.bits();
    else if constexpr (std::is_same_v<T, float>)
        return std::bit_cast<std::uint32_t>(value);
    else if constexpr (std::is_same_v<T, double>)
        return std::bit_cast<std::uint64_t>(value);
    else
        return value;
}

template <class T>
[[nodiscard]] bool is_nan(T value) {
    if constexpr (is_float_scalar<T>)
        return std::isnan(static_cast<double>(value));
    else
        return false;
}

/// Returns a value as text; floats with all digits.
template <class T>
[[nodiscard]] std::string show(const T& value) {
    std::ostringstream text;
    const char* between = "";
    each_component(value, [&](auto component) {
        using C = decltype(component);
        text << between;
        if constexpr (std::is_same_v<C, bool>)
            text << (component ? "true" : "false");
        else if constexpr (std::is_integral_v<C>)
            text << +component;
        else {
            text.precision(std::is_same_v<C, half> ? 5 : std::numeric_limits<C>::max_digits10);
            text << static_cast<double>(component);
        }
        between = ", ";
    });
    return text.str();
}

/// Returns the largest distance of two components in units in the last place. Integers: 0 or infinite.
template <class T>
[[nodiscard]] double ulps(const T& a, const T& b) {
    if constexpr (std::is_integral_v<T>) {
        return a == b ? 0 : std::numeric_limits<double>::infinity();
    } else if constexpr (is_float_scalar<T>) {
        return ulp_distance(a, b);
    } else {
        // Both are walked in the same order.
        std::vector<std::uint64_t> bits;
        each_component(
            a, [&](auto component) { std::memcpy(&bits.emplace_back(), &component, sizeof component); });
        std::size_t k = 0;
        double most = 0;
        each_component(b, [&](auto component) {
            decltype(component) other{};
            std::memcpy(&other, &bits[k++], sizeof other);
            most = std::max(most, ulps(other, component));
        });
        return most;
    }
}

/// Returns whether both are equal by bits, with all NaNs equal.
template <class T>
[[nodiscard]] bool same(const T& a, const T& b) {
    if constexpr (std::is_integral_v<T>) {
        return a == b;
    } else if constexpr (is_float_scalar<T>) {
        return (is_nan(a) && is_nan(b)) || bits_of(a) == bits_of(b);
    } else {
        const auto canonical = [](const T& value) {
            std::vector<std::uint64_t> bits;
            each_component(value, [&](auto component) {
                bits.push_back(is_nan(component) ? ~std::uint64_t{0}
                                                 : static_cast<std::uint64_t>(bits_of(component)));
            });
            return bits;
        };
        return canonical(a) == canonical(b);
    }
}

/// Returns the value with subnormal f32 components replaced by zeros of the same sign.
template <class T>
[[nodiscard]] T flushed(T value) {
    if constexpr (std::is_same_v<lang::scalar_t<T>, float>) {
        std::array<float, sizeof(T) / sizeof(float)> parts;
        std::memcpy(parts.data(), &value, sizeof value);
        for (float& part : parts) {
            if (std::fpclassify(part) == FP_SUBNORMAL) part = std::copysign(0.0f, part);
        }
        std::memcpy(static_cast<void*>(&value), parts.data(), sizeof value);
    }
    return value;
}

/// Returns `want` with the components of `got` where both are below the smallest normal f32 and one is not
/// zero. For scalars, `want` may have a wider type.
template <class R, class W>
[[nodiscard]] W settled(const R& got, W want) {
    constexpr double normal = std::numeric_limits<float>::min();
    if constexpr (std::is_same_v<R, float>) {
        const bool tiny = std::fabs(got) < normal && std::fabs(want) < normal;
        return tiny && (got != 0 || want != 0) ? W(got) : want;
    } else if constexpr (std::is_same_v<lang::scalar_t<R>, float>) {
        static_assert(std::is_same_v<R, W>);
        std::array<float, sizeof(R) / sizeof(float)> has, parts;
        std::memcpy(has.data(), &got, sizeof got);
        std::memcpy(parts.data(), &want, sizeof want);
        for (std::size_t k = 0; k < parts.size(); ++k) parts[k] = settled(has[k], parts[k]);
        std::memcpy(static_cast<void*>(&want), parts.data(), sizeof want);
    }
    return want;
}

/// Reports the first few elements for which fits(got, want, i) is false. `describe(i)` returns the inputs.
template <class G, class W, class Fits, class Describe>
void expect_each(const G& got, const W& want, Fits&& fits, Describe&& describe) {
    ASSERT_EQ(got.size(), want.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        using T = typename G::value_type;
        const T g = got[i];
        const T w = want[i];
        if (fits(g, w, i)) continue;
        if (++wrong <= 3)
            ADD_FAILURE() << "element " << i << describe(i) << ": got " << show(g) << ", not " << show(w);
    }
    if (wrong > 3) ADD_FAILURE() << wrong << " of " << got.size() << " elements are wrong";
}

template <class G, class W>
void expect_same(const G& got, const W& want, const char* what = "") {
    expect_each(
        got, want, [](const auto& g, const auto& w, std::size_t) { return same(g, w); },
        [&](std::size_t) { return std::string(*what == '\0' ? "" : " of ") + what; });
}

/// Expects each component to be within `bound` units in the last place.
template <class G, class W>
void expect_near(const G& got, const W& want, double bound, const char* what = "") {
    expect_each(
        got, want, [&](const auto& g, const auto& w, std::size_t) { return ulps(g, w) <= bound; },
        [&](std::size_t) { return std::string(*what == '\0' ? "" : " of ") + what; });
}

}  // namespace volley::testing
