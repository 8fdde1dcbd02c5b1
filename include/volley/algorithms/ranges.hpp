// Arrays without memory: equal elements, ranges of numbers, and the identity matrix. Lazy arrays, which an
// algorithm computes where it reads them.
//
//     Buffer<float> x = linspace(0.f, 1.f, 101);                // 0, 0.01, ..., 1
//     Buffer<float> y = sin(arange(0.f, 6.f, 0.1f)) * 2.f;      // one kernel
//     Buffer<int> numbers = arange(10);                         // 0, 1, ..., 9
//     Buffer<float> ones_there = where(lazy(x) > 0.5f, ones_like(x), zeros_like(x));
//
// Other numbers need no other kernel. In graphs, full() takes dyn<T>("name"). All throw ArgumentError:
// InvalidArgument for numbers without a range, Overflow for more than 2^32 - 1 elements.
#pragma once

#include <volley/algorithms/lazy.hpp>
#include <volley/algorithms/map.hpp>
#include <volley/dyn.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace volley {

namespace detail {

/// The number of elements of a range, exact for integers, and its elements: first + i * step. Floats of 16
/// bits are computed in 32.
[[nodiscard]] VOLLEY_API std::int64_t range_length(std::int64_t first, std::int64_t end, std::int64_t step);
[[nodiscard]] VOLLEY_API std::int64_t range_length(std::uint64_t first, std::uint64_t end, std::int64_t step);
[[nodiscard]] VOLLEY_API std::int64_t range_length(double first, double end, double step);
[[nodiscard]] VOLLEY_API AnySource range_of(DType type, const AnyArgument& first, const AnyArgument& step,
                                            std::int64_t count);
/// `count` numbers from `first` to `last`, both included if `endpoint` is set.
[[nodiscard]] VOLLEY_API AnySource spaced(DType type, double first, double last, std::int64_t count,
                                          bool endpoint);

template <class T>
concept RangeNumber = lang::Scalar<T> && !lang::is_bool<T>;

/// The type in which lengths of ranges are computed.
template <class T>
using range_bound_t =
    std::conditional_t<!std::integral<T>, double,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;
template <class T>
using range_step_t = std::conditional_t<std::integral<T>, std::int64_t, double>;

}  // namespace detail

/// Returns an array of equal elements.
template <class T>
[[nodiscard]] Lazy<T> full(const Shape& shape, const T& value) {
    return Lazy<T>(AnySource::filled(shape, AnyArgument(value)));
}
template <class T>
[[nodiscard]] Lazy<T> full(const Shape& shape, const DynamicValue<T>& value) {
    return Lazy<T>(AnySource::filled(shape, AnyArgument(value)));
}
template <class T>
[[nodiscard]] Lazy<T> zeros(const Shape& shape) {
    return full(shape, T{});
}
template <detail::RangeNumber T>
[[nodiscard]] Lazy<T> ones(const Shape& shape) {
    return full(shape, T(1));
}
/// Return an array of the shape and element type of another.
template <Source S>
[[nodiscard]] Lazy<source_element_t<S>> full_like(const S& source, const source_element_t<S>& value) {
    return full(AnySource(source).shape(), value);
}
template <Source S>
[[nodiscard]] Lazy<source_element_t<S>> zeros_like(const S& source) {
    return full_like(source, source_element_t<S>{});
}
template <Source S>
[[nodiscard]] Lazy<source_element_t<S>> ones_like(const S& source) {
    return full_like(source, source_element_t<S>(1));
}

/// Returns first, first + step, first + 2 * step, ... below `end`, or above it if the step is negative. The
/// length is (end - first) / step, rounded up; computed in double for floats, so that rounding may add an
/// element: prefer linspace() for steps that are no whole numbers. Element i is first + i * step in the type
/// of the elements.
template <detail::RangeNumber T>
[[nodiscard]] Lazy<T> arange(T first, std::type_identity_t<T> end,
                             detail::range_step_t<std::type_identity_t<T>> step = 1) {
    using End = detail::range_bound_t<T>;
    const std::int64_t count = detail::range_length(static_cast<End>(first), static_cast<End>(end), step);
    using Computed = std::conditional_t<std::same_as<T, half>, float, T>;
    return Lazy<T>(detail::range_of(dtype_of<T>(), AnyArgument(static_cast<Computed>(first)),
                                    AnyArgument(static_cast<Computed>(step)), count));
}
/// Returns 0, 1, 2, ... below `end`.
template <detail::RangeNumber T>
[[nodiscard]] Lazy<T> arange(T end) {
    return arange(T{}, end);
}

/// Returns `count` evenly spaced floats from `first` to `last`, which is the last element exactly if
/// `endpoint` is set, and otherwise the one after it. Elements are computed from the nearer end.
template <detail::RangeNumber T>
[[nodiscard]] Lazy<T> linspace(T first, std::type_identity_t<T> last, std::int64_t count,
                               bool endpoint = true) {
    static_assert(!std::integral<T>, "volley: linspace() returns floats: write linspace(0.f, 1.f, 11)");
    return Lazy<T>(detail::spaced(dtype_of<T>(), static_cast<double>(first), static_cast<double>(last), count,
                                  endpoint));
}

/// Returns a matrix with ones where the column is the row plus `diagonal`, and zeros elsewhere: the identity
/// for a square one. `columns` < 0: as many as rows.
template <detail::RangeNumber T>
[[nodiscard]] Lazy<T> eye(std::int64_t rows, std::int64_t columns = -1, std::int64_t diagonal = 0) {
    const Shape shape{rows, columns < 0 ? rows : columns};
    if (diagonal >= shape[1] || diagonal <= -shape[0]) return zeros<T>(shape);
    static const auto identity = map([](const Value<u32>& y, const Value<u32>& x, const Const<u32>& shift) {
        return select(x == y + shift, Value<T>(T(1)), Value<T>(T{}));
    });
    return lazy(identity.over(shape)(static_cast<u32>(diagonal)));
}

}  // namespace volley
