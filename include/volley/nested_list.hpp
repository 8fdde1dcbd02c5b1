// Nested braces as an array: {{1, 2, 3}, {4, 5, 6}} has the shape (2, 3) and six elements. All lists of one
// level must have the same length.
#pragma once

#include <volley/api.hpp>
#include <volley/shape.hpp>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>

// A function template deduces T from nested braces only if its parameter is written out: clang 14 does not
// look through an alias.
namespace volley::detail {

/// A shape and its elements in row-major order. Not a vector, because vector<bool> has no contiguous
/// elements.
template <class T>
struct Nested {
    Shape shape;
    std::unique_ptr<T[]> data;
    std::size_t size = 0;

    explicit Nested(const Shape& whole)
        : shape(whole),
          data(std::make_unique<T[]>(static_cast<std::size_t>(whole.elements()))),
          size(static_cast<std::size_t>(whole.elements())) {}
    [[nodiscard]] std::span<const T> elements() const noexcept { return {data.get(), size}; }
};

/// Throw ArgumentError (InvalidShape): "row 1 of plane 2 has 3 elements, row 0 of plane 0 has 2".
[[noreturn]] VOLLEY_API void fail_ragged_row(std::size_t row, std::size_t elements, std::size_t expected);
[[noreturn]] VOLLEY_API void fail_ragged_row(std::size_t plane, std::size_t row, std::size_t elements,
                                             std::size_t expected);
[[noreturn]] VOLLEY_API void fail_ragged_plane(std::size_t plane, std::size_t rows, std::size_t expected);

/// Return the shape and elements of nested braces. A function that takes such braces declares the same
/// parameter:
///
///     template <class T> Buffer<T> as_buffer(std::initializer_list<std::initializer_list<T>> rows) {
///         const Nested<T> list = nested(rows);  // as_buffer({{1, 2}, {3, 4}}): list.shape is (2, 2)
///
/// Throw ArgumentError (InvalidShape) if lists of one level differ in length.
template <class T>
[[nodiscard]] Nested<T> nested(std::initializer_list<T> list) {
    Nested<T> result(Shape{list.size()});
    std::copy(list.begin(), list.end(), result.data.get());
    return result;
}

template <class T>
[[nodiscard]] Nested<T> nested(std::initializer_list<std::initializer_list<T>> rows) {
    const std::size_t width = rows.size() == 0 ? 0 : rows.begin()->size();
    for (std::size_t y = 0; y < rows.size(); ++y) {
        if (rows.begin()[y].size() != width) fail_ragged_row(y, rows.begin()[y].size(), width);
    }
    Nested<T> result(Shape{rows.size(), width});
    T* to = result.data.get();
    for (const auto& row : rows) to = std::copy(row.begin(), row.end(), to);
    return result;
}

template <class T>
[[nodiscard]] Nested<T> nested(
    std::initializer_list<std::initializer_list<std::initializer_list<T>>> planes) {
    const std::size_t height = planes.size() == 0 ? 0 : planes.begin()->size();
    const std::size_t width = height == 0 ? 0 : planes.begin()->begin()->size();
    for (std::size_t z = 0; z < planes.size(); ++z) {
        const auto& rows = planes.begin()[z];
        if (rows.size() != height) fail_ragged_plane(z, rows.size(), height);
        for (std::size_t y = 0; y < height; ++y) {
            if (rows.begin()[y].size() != width) fail_ragged_row(z, y, rows.begin()[y].size(), width);
        }
    }
    Nested<T> result(Shape{planes.size(), height, width});
    T* to = result.data.get();
    for (const auto& rows : planes) {
        for (const auto& row : rows) to = std::copy(row.begin(), row.end(), to);
    }
    return result;
}

}  // namespace volley::detail
