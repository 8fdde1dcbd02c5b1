// Permutations of axes. As in NumPy the result is another arrangement of the same elements, not a copy: a
// lazy array, which an algorithm reads in place, and which a buffer evaluates in tiles.
//
//     Buffer<float> t = transpose(a);                        // t(x, y) == a(y, x)
//     transpose(out, a);                                     // into a buffer or store map
//     Buffer<float> planes = transpose(image, {2, 0, 1});    // planes(c, y, x) == image(y, x, c)
//     float trace = reduce::sum(lazy(a) * transpose(b)).item();
#pragma once

#include <volley/algorithms/lazy.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace volley {

/// The shape of the kernel that transposes. Zero fields mean the default of the device class.
struct TransposeTuning {
    /// The extents of a tile: along the last axis of the source, and along the last axis of the result.
    std::uint32_t tile_from = 0;
    std::uint32_t tile_to = 0;
    /// How many elements an invocation moves. Divides tile_to.
    std::uint32_t items = 0;
    /// Whether tiles pass through shared memory: 1 yes, 2 no.
    std::uint32_t shared = 0;
};

struct TransposeOptions {
    /// Axis k of the result is axis axes[k] of the source. Empty: the axes in reverse order.
    std::vector<int> axes = {};
    std::optional<Queue> queue = {};  ///< unset: all queues that have the buffers
    TransposeTuning tuning = {};
};

/// Stores the elements of `from` with permuted axes to `to`. Does not block. Throws ArgumentError for axes
/// that are no permutation, other types and shapes, and overlapping buffers, before anything is written.
VOLLEY_API Event transpose(const AnySink& to, const AnySource& from, const TransposeOptions& options = {});

namespace detail {
/// Returns the source with axis k of the result along axis axes[k].
[[nodiscard]] VOLLEY_API AnySource permuted(const AnySource& source, const std::vector<int>& axes);
/// Returns the order of axes with two exchanged, or with one moved.
[[nodiscard]] VOLLEY_API std::vector<int> swapped_axes(int rank, int a, int b);
[[nodiscard]] VOLLEY_API std::vector<int> moved_axis(int rank, int from, int to);
}  // namespace detail

/// Returns the array with its axes in the given order, or reversed. Negative axes count from the end.
template <Source S>
[[nodiscard]] Lazy<source_element_t<S>> transpose(const S& source, const std::vector<int>& axes = {}) {
    return Lazy<source_element_t<S>>(detail::permuted(AnySource(source), axes));
}
/// Returns the array with two axes exchanged.
template <Source S>
[[nodiscard]] Lazy<source_element_t<S>> swap_axes(const S& source, int a, int b) {
    return transpose(source, detail::swapped_axes(source.shape().rank(), a, b));
}
/// Returns the array with one axis moved to another place. The others keep their order.
template <Source S>
[[nodiscard]] Lazy<source_element_t<S>> move_axis(const S& source, int from, int to) {
    return transpose(source, detail::moved_axis(source.shape().rank(), from, to));
}

}  // namespace volley
