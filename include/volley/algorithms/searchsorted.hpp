// searchsorted(): where elements belong in a sorted array, as in NumPy.
//
//     Buffer<u32> bins = searchsorted(edges, x, {.side = SearchSide::Right});
//     Buffer<u32> places = searchsorted(names, x, [](Value<Name> a, Value<Name> b) { return a.id < b.id; });
//
// The result for a value v is the number of elements before v: those less than v (left, the default), or also
// those equal to v (right). Inserting v there keeps the array sorted. Numbers are compared as NumPy does: -0
// equals +0, and NaN equals NaN and comes after all others, so that arrays in the order of sort() are sorted.
// Any type can be searched for by a comparison.
//
// Cost: one kernel; for each value, one step per bit of the array's length.
#pragma once

#include <volley/algorithms/merge.hpp>

#include <cstdint>
#include <optional>

namespace volley {

enum class SearchSide : std::uint8_t {
    Left,   ///< before the elements that are equal to the value
    Right,  ///< after them
};

struct SearchOptions {
    SearchSide side = SearchSide::Left;
    /// The array is sorted in descending order, as by sort(x, {.descending = true}).
    bool descending = false;
    /// The queue to run on. Unset: all queues that have the buffers.
    std::optional<Queue> queue = {};
};

namespace detail {

VOLLEY_API Event run_search(const AnySink& to, const AnySource& sorted, const AnySource& values,
                            const std::optional<AnyFunction>& less, const SearchOptions& options);
[[nodiscard]] VOLLEY_API AnyBuffer new_search(const AnySource& sorted, const AnySource& values,
                                              const std::optional<AnyFunction>& less,
                                              const SearchOptions& options);

}  // namespace detail

/// Stores the place of each value, a u32. `sorted` has one axis; `to` has the shape of the values. Does not
/// block. Throws ArgumentError for other types and shapes, elements without an order, and outputs that
/// overlap inputs, before anything runs. If the array is not sorted, places are unspecified, but at most its
/// length.
VOLLEY_API Event searchsorted(const AnySink& to, const AnySource& sorted, const AnySource& values,
                              const SearchOptions& options = {});
/// By a comparison: whether its first element comes before the second. As above else.
template <class To, Source S, Source V, lang::Callable Less>
requires std::convertible_to<const To&, AnySink> Event searchsorted(const To& to, const S& sorted,
                                                                    const V& values, const Less& less,
                                                                    const SearchOptions& options = {}) {
    return detail::run_search(to, sorted, values, detail::comparison<source_element_t<S>>(less), options);
}

/// Returns a new buffer with the places. Does not block. See above.
template <Source S, Source V>
[[nodiscard]] Buffer<std::uint32_t> searchsorted(const S& sorted, const V& values,
                                                 const SearchOptions& options = {}) {
    static_assert(std::same_as<source_element_t<S>, source_element_t<V>>,
                  "volley: the values have the type of the array: convert with cast<T>(lazy(buffer))");
    return Buffer<std::uint32_t>(detail::new_search(sorted, values, {}, options));
}
template <Source S, Source V, lang::Callable Less>
[[nodiscard]] Buffer<std::uint32_t> searchsorted(const S& sorted, const V& values, const Less& less,
                                                 const SearchOptions& options = {}) {
    using T = source_element_t<S>;
    static_assert(std::same_as<T, source_element_t<V>>,
                  "volley: the values have the type of the array: convert with cast<T>(lazy(buffer))");
    return Buffer<std::uint32_t>(detail::new_search(sorted, values, detail::comparison<T>(less), options));
}

}  // namespace volley
