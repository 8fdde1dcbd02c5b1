// Numbers at which operations go wrong, for each scalar type.
#pragma once

#include <volley/types.hpp>

#include <cstdint>
#include <limits>
#include <vector>

namespace volley::testing {

template <class T>
[[nodiscard]] std::vector<T> edge_values() {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_same_v<T, bool>) {
        return {false, true};
    } else if constexpr (std::is_integral_v<T>) {
        std::vector<T> values = {0,
                                 1,
                                 2,
                                 3,
                                 7,
                                 8,
                                 static_cast<T>(sizeof(T) * 8 - 1),
                                 static_cast<T>(sizeof(T) * 8),
                                 static_cast<T>(0x55),
                                 static_cast<T>(Limits::max() / 2),
                                 static_cast<T>(Limits::max() - 1),
                                 Limits::max()};
        if constexpr (std::is_signed_v<T>) {
            values.insert(values.end(),
                          {Limits::min(), static_cast<T>(Limits::min() + 1), T(-1), T(-2), T(-7)});
        }
        return values;
    } else {
        std::vector<T> values = {Limits::infinity(), Limits::quiet_NaN(),  Limits::max(),
                                 Limits::min(),      Limits::denorm_min(), Limits::epsilon()};
        for (const double v : {0.0, 0.5, 1.0, 1.5, 2.5, 3.0, 0.1, 100.25, 1234.5, 1e-3, 0.9999})
            values.push_back(T(v));
        const std::size_t positive = values.size();
        for (std::size_t i = 0; i < positive; ++i) values.push_back(-values[i]);
        return values;
    }
}

/// All pairs of edge values, as two lists.
template <class T>
struct Pairs {
    std::vector<T> first;
    std::vector<T> second;
};
template <class T>
[[nodiscard]] Pairs<T> edge_pairs() {
    Pairs<T> pairs;
    for (const T a : edge_values<T>()) {
        for (const T b : edge_values<T>()) {
            pairs.first.push_back(a);
            pairs.second.push_back(b);
        }
    }
    return pairs;
}

}  // namespace volley::testing
