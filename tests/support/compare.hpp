// Comparing what a device gave with what the host expects: to the bit (NaNs of any payload being equal), or
// within units of the last place. Messages name the first element that differs and its inputs.
#pragma once

#include "support/ulp.hpp"

#include <volley/types.hpp>
#include <volley/vec.hpp>

#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace volley::testing {

template <class T>
[[nodiscard]] bool same_value(const T& a, const T& b) {
    if constexpr (std::is_same_v<T, half>) {
        if (std::isnan(float(a)) && std::isnan(float(b))) return true;
        return a.bits() == b.bits();
    } else if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(a) && std::isnan(b)) return true;
        return std::memcmp(&a, &b, sizeof a) == 0;
    } else {
        return a == b;
    }
}
template <class T, int N>
[[nodiscard]] bool same_value(const vec<T, N>& a, const vec<T, N>& b) {
    for (int i = 0; i < N; ++i) {
        if (!same_value(a[i], b[i])) return false;
    }
    return true;
}
template <class T>
[[nodiscard]] bool same_value(const std::complex<T>& a, const std::complex<T>& b) {
    return same_value(a.real(), b.real()) && same_value(a.imag(), b.imag());
}

template <class T>
[[nodiscard]] std::string text_of(const T& v) {
    if constexpr (std::is_same_v<T, half>) {
        return std::to_string(float(v));
    } else if constexpr (std::is_floating_point_v<T>) {
        char text[64];
        std::snprintf(text, sizeof text, "%.17g", static_cast<double>(v));
        return text;
    } else if constexpr (std::is_arithmetic_v<T>) {
        return std::to_string(v);
    } else {
        return ::testing::PrintToString(v);
    }
}
template <class T, int N>
[[nodiscard]] std::string text_of(const vec<T, N>& v) {
    std::string text = "(";
    for (int i = 0; i < N; ++i) text += (i == 0 ? "" : ", ") + text_of(v[i]);
    return text + ")";
}

/// Says of an index what led to its element; may be empty.
using Explain = std::function<std::string(std::size_t)>;

template <class T>
void expect_same(const std::vector<T>& actual, const std::vector<T>& expected, const std::string& what = {},
                 const Explain& explain = {}) {
    ASSERT_EQ(actual.size(), expected.size()) << what;
    for (std::size_t i = 0; i < actual.size(); ++i) {
        const T a = actual[i];
        const T e = expected[i];
        if (same_value(a, e)) continue;
        ADD_FAILURE() << what << " element " << i << (explain ? " (" + explain(i) + ")" : "") << ": got "
                      << text_of(a) << ", expected " << text_of(e);
        return;
    }
}

/// Within `ulp` units of the last place, or within `absolute`.
template <class T>
void expect_close(const std::vector<T>& actual, const std::vector<T>& expected, double ulp,
                  double absolute = 0, const std::string& what = {}, const Explain& explain = {}) {
    ASSERT_EQ(actual.size(), expected.size()) << what;
    for (std::size_t i = 0; i < actual.size(); ++i) {
        const double distance = ulp_distance(actual[i], expected[i]);
        const double difference =
            std::fabs(static_cast<double>(actual[i]) - static_cast<double>(expected[i]));
        if (distance <= ulp || difference <= absolute) continue;
        ADD_FAILURE() << what << " element " << i << (explain ? " (" + explain(i) + ")" : "") << ": got "
                      << text_of(actual[i]) << ", expected " << text_of(expected[i]) << ", " << distance
                      << " ulp apart where " << ulp << " are allowed";
        return;
    }
}

}  // namespace volley::testing
