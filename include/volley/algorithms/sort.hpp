// sort(), argsort() and sort_by_key(): stable sorts along an axis.
//
//     Buffer<float> ordered = sort(x);
//     Buffer<u32> order = argsort(image, {.axis = 0, .descending = true});
//     auto [keys, values] = sort_by_key(ids, particles);
//     sort(x, x);                                                            // in place
//     auto by_x = sort(points, [](Value<Point> a, Value<Point> b) { return a.x < b.x; });
//
// Numbers and bool are sorted by their digits (radix sort), in time proportional to the size of the key.
// Elements of any type, structs too, are sorted by a comparison of the program (merge sort): a lambda of the
// kernel language, which returns whether its first operand belongs before the second. It must be a strict
// weak order; for another one the result has elements of the input in any order, some perhaps repeatedly.
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
    /// Rows of at most so many elements are sorted by one invocation each. In a merge sort, also the length
    /// of the first runs of longer rows, rounded down to a power of four.
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

VOLLEY_API Event sort_compared(const AnySink& to, const AnySource& from, const AnyFunction& less,
                               const SortOptions& options);
VOLLEY_API Event argsort_compared(const AnySink& to, const AnySource& from, const AnyFunction& less,
                                  const SortOptions& options);
VOLLEY_API Event sort_by_key_compared(const AnySink& keys_to, const AnySink& values_to, const AnySource& keys,
                                      const AnySource& values, const AnyFunction& less,
                                      const SortOptions& options);
// `less` may be null.
[[nodiscard]] VOLLEY_API AnyBuffer sorted(const AnySource& source, const AnyFunction* less,
                                          const SortOptions& options);
[[nodiscard]] VOLLEY_API AnyBuffer argsorted(const AnySource& source, const AnyFunction* less,
                                             const SortOptions& options);
[[nodiscard]] VOLLEY_API std::pair<AnyBuffer, AnyBuffer> sorted_by_key(const AnySource& keys,
                                                                       const AnySource& values,
                                                                       const AnyFunction* less,
                                                                       const SortOptions& options);

template <class T, class F>
[[nodiscard]] AnyFunction comparison(F less) {
    static_assert(std::same_as<lang::function_result_t<F>, bool> &&
                      std::same_as<lang::function_params_t<F>, lang::ParamList<Value<T>, Value<T>>>,
                  "volley: the comparison of a sort takes two Values of the element type and returns a "
                  "Value<bool>");
    return trace_function(std::move(less));
}

}  // namespace detail

/// Returns a new buffer with the elements, sorted along an axis. Does not block. See above.
template <Source S>
[[nodiscard]] Buffer<source_element_t<S>> sort(const S& source, const SortOptions& options = {}) {
    return Buffer<source_element_t<S>>(detail::sorted(source, nullptr, options));
}

/// Returns the indices that sort the elements along an axis. Does not block. See above.
template <Source S>
[[nodiscard]] Buffer<std::uint32_t> argsort(const S& source, const SortOptions& options = {}) {
    return Buffer<std::uint32_t>(detail::argsorted(source, nullptr, options));
}

/// Returns new buffers with the keys and values. Does not block. See above.
template <Source K, Source V>
[[nodiscard]] SortedPairs<source_element_t<K>, source_element_t<V>> sort_by_key(
    const K& keys, const V& values, const SortOptions& options = {}) {
    std::pair<AnyBuffer, AnyBuffer> pair = detail::sorted_by_key(keys, values, nullptr, options);
    return {Buffer<source_element_t<K>>(std::move(pair.first)),
            Buffer<source_element_t<V>>(std::move(pair.second))};
}

// The same by a comparison, for elements of any type. Stable, in both directions. Each of log2(n) passes
// moves all elements. Throw TraceError as kernel() does for what the comparison throws.

template <Source S, lang::Callable F>
Event sort(const AnySink& to, const S& from, F less, const SortOptions& options = {}) {
    return detail::sort_compared(to, from, detail::comparison<source_element_t<S>>(std::move(less)), options);
}
template <Source S, lang::Callable F>
[[nodiscard]] Buffer<source_element_t<S>> sort(const S& source, F less, const SortOptions& options = {}) {
    const AnyFunction function = detail::comparison<source_element_t<S>>(std::move(less));
    return Buffer<source_element_t<S>>(detail::sorted(source, &function, options));
}
template <Source S, lang::Callable F>
Event argsort(const AnySink& to, const S& from, F less, const SortOptions& options = {}) {
    return detail::argsort_compared(to, from, detail::comparison<source_element_t<S>>(std::move(less)),
                                    options);
}
template <Source S, lang::Callable F>
[[nodiscard]] Buffer<std::uint32_t> argsort(const S& source, F less, const SortOptions& options = {}) {
    const AnyFunction function = detail::comparison<source_element_t<S>>(std::move(less));
    return Buffer<std::uint32_t>(detail::argsorted(source, &function, options));
}
template <Source K, Source V, lang::Callable F>
Event sort_by_key(const AnySink& keys_to, const AnySink& values_to, const K& keys, const V& values, F less,
                  const SortOptions& options = {}) {
    return detail::sort_by_key_compared(keys_to, values_to, keys, values,
                                        detail::comparison<source_element_t<K>>(std::move(less)), options);
}
template <Source K, Source V, lang::Callable F>
[[nodiscard]] SortedPairs<source_element_t<K>, source_element_t<V>> sort_by_key(
    const K& keys, const V& values, F less, const SortOptions& options = {}) {
    const AnyFunction function = detail::comparison<source_element_t<K>>(std::move(less));
    std::pair<AnyBuffer, AnyBuffer> pair = detail::sorted_by_key(keys, values, &function, options);
    return {Buffer<source_element_t<K>>(std::move(pair.first)),
            Buffer<source_element_t<V>>(std::move(pair.second))};
}

}  // namespace volley
