// sort(), argsort() and sort_by_key(): stable sorts along an axis.
//
//     Buffer<float> ordered = sort(x);
//     Buffer<u32> order = argsort(image, {.axis = 0, .descending = true});
//     auto [keys, values] = sort_by_key(ids, particles);
//     sort(x, x);                                                            // in place
//     sort(points, [](Value<Point> a, Value<Point> b) { return a.x < b.x; });  // a program's own order
//
// Numbers and bool are sorted by their digits (radix sort), in time proportional to the size of the key. Any
// type can be sorted by a comparison (merge sort).
//
// Order of floats: -inf, negative numbers, -0, +0, positive numbers, +inf, NaN. So -0 comes before +0, and
// NaNs of both signs come last, as in NumPy. `descending` reverses the order: NaNs come first then. Equal
// elements keep their order in both directions. All bits of the elements are preserved, NaN payloads too.
#pragma once

#include <volley/algorithms/any_sink.hpp>
#include <volley/algorithms/any_source.hpp>
#include <volley/buffer.hpp>
#include <volley/event.hpp>
#include <volley/queue.hpp>

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

namespace volley {

/// The shape of a sort. Zero: the default of the device class. Any values give the same result.
struct SortTuning {
    /// Invocations of a workgroup (1 to 64), each of which sorts a strip of its own.
    unsigned lanes = 0;
    /// Elements that one invocation orders: of a strip in a radix sort, of the output in a merge.
    std::uint32_t strip = 0;
    /// Rows of at most so many elements are sorted by one invocation each.
    std::uint32_t segment = 0;
    /// Rows of at least so many elements are first divided into buckets that fit a cache, if their highest
    /// bits differ enough.
    std::uint32_t bucketed = 0;
    /// Bits of a digit in a radix sort: 1 to 11. A workgroup needs 4 bytes of shared memory per lane and
    /// digit value.
    unsigned digit_bits = 0;
};

struct SortOptions {
    /// The axis to sort along; negative axes count from the end. The others are independent rows.
    int axis = -1;
    bool descending = false;
    /// The queue to run on. Unset: all queues that have the buffers.
    std::optional<Queue> queue = {};
    SortTuning tuning = {};
};

/// Stores the elements of `from` to `to`, sorted along an axis. Does not block. Stable. `to` may be a buffer
/// that `from` reads, so that sort(x, x) sorts in place. Sorts scalars of all types. Needs temporary memory
/// of the size of the keys, twice that unless `to` is a contiguous buffer and the axis is the last one.
///
/// Throws ArgumentError for other types and shapes, and for axes out of range, before anything runs;
/// DeviceError (Unsupported) for f64 on a device without it.
VOLLEY_API Event sort(const AnySink& to, const AnySource& from, const SortOptions& options = {});

/// Stores for each place along the axis the index of the element that belongs there; `to` has elements of
/// u32. Does not block. Stable. As sort() else.
VOLLEY_API Event argsort(const AnySink& to, const AnySource& from, const SortOptions& options = {});

/// Sorts keys, and values of any type in the order of their keys. Does not block. Stable. `keys` and `values`
/// have one shape; each output may be a buffer that is read. As sort() else. Values of more than 16 bytes are
/// gathered at the end, and copied first if `values_to` is also read.
VOLLEY_API Event sort_by_key(const AnySink& keys_to, const AnySink& values_to, const AnySource& keys,
                             const AnySource& values, const SortOptions& options = {});

template <class K, class V>
struct SortedPairs {
    Buffer<K> keys;
    Buffer<V> values;
};

namespace detail {

[[nodiscard]] VOLLEY_API AnyBuffer sorted(const AnySource& source, const SortOptions& options);
[[nodiscard]] VOLLEY_API AnyBuffer argsorted(const AnySource& source, const SortOptions& options);
[[nodiscard]] VOLLEY_API std::pair<AnyBuffer, AnyBuffer> sorted_by_key(const AnySource& keys,
                                                                       const AnySource& values,
                                                                       const SortOptions& options);

}  // namespace detail

/// Returns a new buffer with the elements, sorted along an axis. Does not block. See above.
template <Source S>
[[nodiscard]] Buffer<source_element_t<S>> sort(const S& source, const SortOptions& options = {}) {
    return Buffer<source_element_t<S>>(detail::sorted(source, options));
}

/// Returns the indices that sort the elements along an axis. Does not block. See above.
template <Source S>
[[nodiscard]] Buffer<std::uint32_t> argsort(const S& source, const SortOptions& options = {}) {
    return Buffer<std::uint32_t>(detail::argsorted(source, options));
}

/// Returns new buffers with the keys and values. Does not block. See above.
template <Source K, Source V>
[[nodiscard]] SortedPairs<source_element_t<K>, source_element_t<V>> sort_by_key(
    const K& keys, const V& values, const SortOptions& options = {}) {
    std::pair<AnyBuffer, AnyBuffer> pair = detail::sorted_by_key(keys, values, options);
    return {Buffer<source_element_t<K>>(std::move(pair.first)),
            Buffer<source_element_t<V>>(std::move(pair.second))};
}

}  // namespace volley
