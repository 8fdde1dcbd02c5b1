// Edge values of each scalar type, and random values around them.
#pragma once

#include "support/random.hpp"

#include <volley/types.hpp>

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace volley::testing {

/// Returns both ends of the range and their neighbours; for floats also zeros, infinities, NaN, subnormals,
/// and the limits of exactly representable integers.
template <class T>
[[nodiscard]] std::vector<T> edge_values() {
    using limits = std::numeric_limits<T>;
    if constexpr (std::is_same_v<T, bool>) {
        return {false, true};
    } else if constexpr (std::is_integral_v<T>) {
        std::vector<T> values;
        const auto add = [&](auto v) { values.push_back(static_cast<T>(v)); };
        for (const int small : {0, 1, 2, 3, 7, 31, 63, 64, 100}) add(small);
        add(limits::max());
        add(limits::max() - 1);
        add(limits::max() / 2);
        add(limits::max() / 2 + 1);
        add(limits::min());
        add(limits::min() + 1);
        if constexpr (std::is_signed_v<T>) {
            for (const int small : {-1, -2, -3, -7, -64, -100}) add(small);
        }
        return values;
    } else {
        std::vector<T> values;
        const auto add = [&](double v) {
            values.push_back(static_cast<T>(v));
            values.push_back(static_cast<T>(-v));
        };
        for (const double v :
             {0.0, 1.0, 0.5, 1.5, 2.0, 2.5, 3.0, 0.1, 3.14159265358979, 100.0, 255.5, 1e-3, 65504.0})
            add(v);
        add(static_cast<double>(limits::max()));
        add(static_cast<double>(limits::min()));
        add(static_cast<double>(limits::denorm_min()));
        add(static_cast<double>(limits::min()) / 2);
        add(static_cast<double>(limits::epsilon()));
        add(1.0 + static_cast<double>(limits::epsilon()));
        add(static_cast<double>(limits::infinity()));
        values.push_back(limits::quiet_NaN());
        if constexpr (sizeof(T) >= 4) {
            for (const double v :
                 {8388607.5, 8388609.0, 16777217.0, 2147483647.0, 4294967296.0, 1e10, 1e-10, 1e30})
                add(v);
        }
        return values;
    }
}

/// Returns any bit pattern, with small numbers as likely as large ones; for floats every exponent.
template <class T>
[[nodiscard]] T random_value(Random& random) {
    const std::uint64_t bits = random.bits();
    if constexpr (std::is_same_v<T, bool>) {
        return (bits & 1) != 0;
    } else if constexpr (std::is_integral_v<T>) {
        const auto shift = random.below(sizeof(T) * 8);
        const auto value = static_cast<T>(bits);
        return static_cast<T>(value >> shift);
    } else if constexpr (std::is_same_v<T, half>) {
        return half::from_bits(static_cast<std::uint16_t>(bits));
    } else if constexpr (std::is_same_v<T, float>) {
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    } else {
        return std::bit_cast<double>(bits);
    }
}

/// Returns numbers of moderate size, so that arithmetic stays in range: floats in -8 to 8.
template <class T>
[[nodiscard]] T moderate_value(Random& random) {
    if constexpr (std::is_integral_v<T>)
        return random_value<T>(random);
    else
        return static_cast<T>(random.uniform(-8, 8));
}

template <class T>
[[nodiscard]] std::vector<T> random_values(std::size_t count, std::uint64_t seed) {
    Random random(seed_or(seed));
    std::vector<T> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(random_value<T>(random));
    return values;
}

template <class T>
[[nodiscard]] std::vector<T> moderate_values(std::size_t count, std::uint64_t seed) {
    Random random(seed_or(seed));
    std::vector<T> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(moderate_value<T>(random));
    return values;
}

/// Returns each edge value, then `extra` random ones.
template <class T>
[[nodiscard]] std::vector<T> samples(std::size_t extra, std::uint64_t seed) {
    std::vector<T> values = edge_values<T>();
    for (const T v : random_values<T>(extra, seed)) values.push_back(v);
    return values;
}

/// Returns all pairs of edge values, then `extra` random pairs.
template <class A, class B = A>
[[nodiscard]] std::pair<std::vector<A>, std::vector<B>> sample_pairs(std::size_t extra, std::uint64_t seed) {
    std::pair<std::vector<A>, std::vector<B>> pairs;
    for (const A a : edge_values<A>()) {
        for (const B b : edge_values<B>()) {
            pairs.first.push_back(a);
            pairs.second.push_back(b);
        }
    }
    for (const A v : random_values<A>(extra, seed)) pairs.first.push_back(v);
    for (const B v : random_values<B>(extra, seed + 1)) pairs.second.push_back(v);
    return pairs;
}

}  // namespace volley::testing
