// merge() and merge_by_key(): combine two sorted arrays to one.
//
//     Buffer<float> all = merge(sort(a), sort(b));
//     auto [keys, values] = merge_by_key(ids_a, rows_a, ids_b, rows_b);
//     auto by_x = merge(points_a, points_b, [](Value<Point> p, Value<Point> q) { return p.x < q.x; });
//
// Stable: of equal elements, those of the first array come first. Numbers and bool have the order of sort():
// -0 before +0, NaNs last, or the reverse if `descending`; both inputs must be sorted so. If they are not,
// the result has unspecified elements of the inputs. Any type can be merged by a comparison.
//
// Cost: one kernel. Invocations merge parts of equal length, whose starts they find by bisection (merge
// path).
#pragma once

#include <volley/algorithms/sort.hpp>

#include <cstdint>
#include <optional>
#include <utility>

namespace volley {

/// The shape of the kernel. Zero: the default of the device class. Any values give the same result.
struct MergeTuning {
    /// Elements of the result that one invocation merges. Default: by the number of cores; 16 on GPUs. At
    /// most 32768.
    std::uint32_t strip = 0;
};

struct MergeOptions {
    /// The axis to merge along; negative axes count from the end. The others are independent rows.
    int axis = -1;
    /// The inputs and the result are sorted in descending order.
    bool descending = false;
    /// The queue to run on. Unset: all queues that have the buffers.
    std::optional<Queue> queue = {};
    MergeTuning tuning = {};
};

namespace detail {

/// Two sorted arrays, with or without values, and whether one element comes before another; unset: the order
/// of sort().
struct MergeInputs {
    AnySource a, b;
    std::optional<AnySource> values_a = {}, values_b = {};
    std::optional<AnyFunction> less = {};
};

VOLLEY_API Event run_merge(const AnySink& to, const std::optional<AnySink>& values_to,
                           const MergeInputs& inputs, const MergeOptions& options);
/// Without values, the second buffer is empty.
[[nodiscard]] VOLLEY_API std::pair<AnyBuffer, AnyBuffer> new_merge(const MergeInputs& inputs,
                                                                   const MergeOptions& options);

template <class K, class V>
[[nodiscard]] SortedPairs<K, V> merged_pairs(const MergeInputs& inputs, const MergeOptions& options) {
    std::pair<AnyBuffer, AnyBuffer> pair = new_merge(inputs, options);
    return {Buffer<K>(std::move(pair.first)), Buffer<V>(std::move(pair.second))};
}

}  // namespace detail

/// Stores the elements of `a` and `b`, merged along an axis. Does not block. All axes but this one have equal
/// lengths. Throws ArgumentError for other types and shapes, axes out of range, elements without an order,
/// and outputs that overlap inputs, before anything runs.
VOLLEY_API Event merge(const AnySink& to, const AnySource& a, const AnySource& b,
                       const MergeOptions& options = {});
/// By a comparison: whether its first element comes before the second. As above else.
template <class To, Source A, Source B, lang::Callable Less>
requires std::convertible_to<const To&, AnySink> Event merge(const To& to, const A& a, const B& b,
                                                             const Less& less,
                                                             const MergeOptions& options = {}) {
    return detail::run_merge(to, {}, {.a = a, .b = b, .less = detail::comparison<source_element_t<A>>(less)},
                             options);
}

/// Returns a new buffer with the elements of `a` and `b`. Does not block. See above.
template <Source A, Source B>
[[nodiscard]] Buffer<source_element_t<A>> merge(const A& a, const B& b, const MergeOptions& options = {}) {
    static_assert(std::same_as<source_element_t<A>, source_element_t<B>>,
                  "volley: merged arrays have one element type: convert with cast<T>(lazy(buffer))");
    return Buffer<source_element_t<A>>(detail::new_merge({.a = a, .b = b}, options).first);
}
template <Source A, Source B, lang::Callable Less>
[[nodiscard]] Buffer<source_element_t<A>> merge(const A& a, const B& b, const Less& less,
                                                const MergeOptions& options = {}) {
    using T = source_element_t<A>;
    static_assert(std::same_as<T, source_element_t<B>>,
                  "volley: merged arrays have one element type: convert with cast<T>(lazy(buffer))");
    return Buffer<T>(detail::new_merge({.a = a, .b = b, .less = detail::comparison<T>(less)}, options).first);
}

/// Merges by keys, and stores the values, of any type, in the order of their keys. The values have the shapes
/// of their keys. Does not block. As merge() else.
VOLLEY_API Event merge_by_key(const AnySink& keys_to, const AnySink& values_to, const AnySource& keys_a,
                              const AnySource& values_a, const AnySource& keys_b, const AnySource& values_b,
                              const MergeOptions& options = {});
template <class Keys, class Values, Source KA, Source VA, Source KB, Source VB, lang::Callable Less>
requires std::convertible_to<const Keys&, AnySink> && std::convertible_to<const Values&, AnySink> Event
merge_by_key(const Keys& keys_to, const Values& values_to, const KA& keys_a, const VA& values_a,
             const KB& keys_b, const VB& values_b, const Less& less, const MergeOptions& options = {}) {
    return detail::run_merge(keys_to, AnySink(values_to),
                             {.a = keys_a,
                              .b = keys_b,
                              .values_a = values_a,
                              .values_b = values_b,
                              .less = detail::comparison<source_element_t<KA>>(less)},
                             options);
}
/// Returns new buffers with the keys and values. Does not block. See above.
template <Source KA, Source VA, Source KB, Source VB>
[[nodiscard]] SortedPairs<source_element_t<KA>, source_element_t<VA>> merge_by_key(
    const KA& keys_a, const VA& values_a, const KB& keys_b, const VB& values_b,
    const MergeOptions& options = {}) {
    return detail::merged_pairs<source_element_t<KA>, source_element_t<VA>>(
        {.a = keys_a, .b = keys_b, .values_a = values_a, .values_b = values_b}, options);
}
template <Source KA, Source VA, Source KB, Source VB, lang::Callable Less>
[[nodiscard]] SortedPairs<source_element_t<KA>, source_element_t<VA>> merge_by_key(
    const KA& keys_a, const VA& values_a, const KB& keys_b, const VB& values_b, const Less& less,
    const MergeOptions& options = {}) {
    return detail::merged_pairs<source_element_t<KA>, source_element_t<VA>>(
        {.a = keys_a,
         .b = keys_b,
         .values_a = values_a,
         .values_b = values_b,
         .less = detail::comparison<source_element_t<KA>>(less)},
        options);
}

}  // namespace volley
