// The plain host loop that reductions are compared with.
#pragma once

#include <volley/shape.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <vector>

namespace volley::testing {

/// Calls combine(result, element, number) for each element of a row-major array, in order: with the result
/// that it belongs to, and its number among the elements of that result. Axes may be negative; none means
/// all.
template <class R, class T, class F>
[[nodiscard]] std::vector<R> host_reduce(const std::vector<T>& elements, const Shape& shape,
                                         const std::vector<int>& axes, const R& identity, F combine) {
    std::vector<bool> reduced(static_cast<std::size_t>(shape.rank()), axes.empty());
    for (const int axis : axes)
        reduced[static_cast<std::size_t>(axis < 0 ? axis + shape.rank() : axis)] = true;
    std::size_t results = 1;
    for (int axis = 0; axis < shape.rank(); ++axis) {
        if (!reduced[static_cast<std::size_t>(axis)]) results *= static_cast<std::size_t>(shape[axis]);
    }
    std::vector<R> all(results, identity);
    for (std::size_t i = 0; i < elements.size(); ++i) {
        std::size_t rest = i, result = 0, number = 0, result_step = 1, number_step = 1;
        for (int axis = shape.rank(); axis-- > 0;) {
            const auto extent = static_cast<std::size_t>(shape[axis]);
            const std::size_t index = rest % extent;
            rest /= extent;
            std::size_t& sum = reduced[static_cast<std::size_t>(axis)] ? number : result;
            std::size_t& step = reduced[static_cast<std::size_t>(axis)] ? number_step : result_step;
            sum += index * step;
            step *= extent;
        }
        // std::vector<bool> has no references.
        all[result] = combine(static_cast<R>(all[result]), static_cast<T>(elements[i]),
                              static_cast<std::uint32_t>(number));
    }
    return all;
}

/// Returns all sets of axes of an array, but for the empty one.
[[nodiscard]] inline std::vector<std::vector<int>> all_axes(int rank) {
    std::vector<std::vector<int>> sets;
    for (unsigned bits = 1; bits < 1U << static_cast<unsigned>(rank); ++bits) {
        std::vector<int> axes;
        for (int axis = 0; axis < rank; ++axis) {
            if ((bits >> static_cast<unsigned>(axis) & 1U) != 0) axes.push_back(axis);
        }
        sets.push_back(axes);
    }
    return sets;
}

}  // namespace volley::testing
