// top_k() and argtop_k(): the k greatest or least elements along an axis, in order.
//
//     auto [values, indices] = top_k(scores, 10);
//     Buffer<u32> nearest = argtop_k(distances, 5, {.axis = 0, .largest = false});
//
// The results are the first k of a stable sort, descending for the largest ones: of equal elements the one
// with the lower index comes first. Floats are ordered as sort() does: -0 is less than +0, and NaN is greater
// than all numbers, so that NaNs are first of the largest and last of the smallest.
//
// Rows of few elements, and k of more than an eighth of a row, are sorted. Of other rows the k-th element is
// selected as percentile() does, the elements before it are collected, and only these are sorted.
#pragma once

#include <volley/algorithms/any_sink.hpp>
#include <volley/algorithms/any_source.hpp>
#include <volley/buffer.hpp>
#include <volley/event.hpp>
#include <volley/queue.hpp>

#include <cstdint>
#include <optional>
#include <utility>

namespace volley {

/// The shape of a top_k(). Zero: the default of the device class. Any values give the same result.
struct TopKTuning {
    /// Rows of at most so many elements are sorted completely.
    std::uint32_t sorted = 0;
    /// Elements from which one subgroup collects results.
    std::uint32_t strip = 0;
};

struct TopKOptions {
    /// The axis of the rows; negative axes count from the end.
    int axis = -1;
    /// Returns the greatest elements; false: the least.
    bool largest = true;
    /// The queue to run on. Unset: all queues that have the buffers.
    std::optional<Queue> queue = {};
    TopKTuning tuning = {};
};

/// Stores the k first elements and their indices along the axis. The outputs have the shape of the source
/// with k elements along the axis; `indices_to` has elements of u32. Does not block.
///
/// Throws ArgumentError, before anything runs, for a k below 1 or above the length of the axis, axes out of
/// range, elements that are not scalars, outputs of other types or shapes, and outputs that overlap the
/// source or each other; DeviceError (Unsupported) for f64 on a device without it.
VOLLEY_API Event top_k(const AnySink& values_to, const AnySink& indices_to, const AnySource& from,
                       std::int64_t k, const TopKOptions& options = {});
/// Stores the indices only. As top_k() else.
VOLLEY_API Event argtop_k(const AnySink& to, const AnySource& from, std::int64_t k,
                          const TopKOptions& options = {});

template <class T>
struct TopElements {
    Buffer<T> values;
    Buffer<std::uint32_t> indices;
};

namespace detail {

[[nodiscard]] VOLLEY_API std::pair<AnyBuffer, AnyBuffer> top_elements(const AnySource& from, std::int64_t k,
                                                                      const TopKOptions& options);
[[nodiscard]] VOLLEY_API AnyBuffer top_indices(const AnySource& from, std::int64_t k,
                                               const TopKOptions& options);

}  // namespace detail

/// Returns new buffers with the k first elements and their indices. Does not block. See above.
template <Source S>
[[nodiscard]] TopElements<source_element_t<S>> top_k(const S& source, std::int64_t k,
                                                     const TopKOptions& options = {}) {
    std::pair<AnyBuffer, AnyBuffer> pair = detail::top_elements(source, k, options);
    return {Buffer<source_element_t<S>>(std::move(pair.first)),
            Buffer<std::uint32_t>(std::move(pair.second))};
}

/// Returns a new buffer with the indices of the k first elements. Does not block. See above.
template <Source S>
[[nodiscard]] Buffer<std::uint32_t> argtop_k(const S& source, std::int64_t k,
                                             const TopKOptions& options = {}) {
    return Buffer<std::uint32_t>(detail::top_indices(source, k, options));
}

}  // namespace volley
