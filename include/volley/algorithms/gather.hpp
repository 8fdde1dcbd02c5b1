// take(): the elements of an array at given indices. scatter(): stores elements at given indices.
//
//     Buffer<float> sorted = take(x, argsort(x));                       // x[indices[i]]
//     Buffer<float> rows = take(table, ids, {.axis = 0});               // rows[i, j] = table[ids[i], j]
//     scatter(out, positions, values);                                  // out[positions[i]] = values[i]
//     scatter_add(histogram, bins, lazy(weights));                      // histogram[bins[i]] += weights[i]
//     float part = reduce::sum(take(x, ids) * weights).item();          // one kernel, no temporary
//
// take() and take_along_axis() return a lazy array, which an algorithm reads in place. The functions that
// return an Event run without blocking. Elements have any type. Indices are integers of any type, in buffers,
// maps or lazy arrays; as in NumPy, -1 is the last element, -2 the one before it. An index outside of the
// axis is no error, since only the device reads it: `out_of_range` says what it does. No element outside of
// an array is ever read or written.
//
// All throw ArgumentError before anything is written: TypeMismatch for indices that are no integers and
// values of another type, IndexError for an axis out of range, InvalidShape and SizeMismatch for shapes that
// do not fit, InvalidView for outputs that overlap an input.
//
// Cost: one kernel, which reads the indices once per element of the result. Indices of 64 bits cost more than
// those of 32, most of all on GPUs.
#pragma once

#include <volley/algorithms/lazy.hpp>

#include <cstdint>
#include <optional>

namespace volley {

/// What an index does that is not in [-n, n), where n is the extent of the axis.
enum class OutOfRange : std::uint8_t {
    Clamp,  ///< names the nearest element: the first or the last
    Wrap,   ///< names the element at the index modulo n
    Skip,   ///< take(): the element is zero; scatter(): nothing is stored
};

struct TakeOptions {
    int axis = -1;
    OutOfRange out_of_range = OutOfRange::Clamp;
    std::optional<Queue> queue = {};  ///< unset: all queues that have the buffers
};

struct ScatterOptions {
    int axis = -1;
    OutOfRange out_of_range = OutOfRange::Skip;
    std::optional<Queue> queue = {};
};

/// Writes the elements at the indices along an axis. In the shape of the result, the axes of `indices`
/// replace that axis.
VOLLEY_API Event take(const AnySink& to, const AnySource& from, const AnySource& indices,
                      const TakeOptions& options = {});
/// Writes to[i, j] = from[i, indices[i, j]], here for the last axis. Both have the same number of axes and
/// are broadcast along the others. Applies the result of argsort() along an axis.
VOLLEY_API Event take_along_axis(const AnySink& to, const AnySource& from, const AnySource& indices,
                                 const TakeOptions& options = {});

/// Stores to[indices[i]] = values[i], and leaves the other elements of `to` as they are: the inverse of
/// take(). In the shape of `to`, the axes of `indices` replace the axis; `values` are broadcast to that.
///
/// If an index occurs more than once, one of its values is stored. Which one is undefined and may differ
/// between runs and, for buffers with several replicas, between these. Parts of composite elements (complex
/// numbers, vectors, structs) may come from different values.
VOLLEY_API Event scatter(const AnySink& to, const AnySource& indices, const AnySource& values,
                         const ScatterOptions& options = {});

/// Adds to[indices[i]] += values[i] with atomic operations, so that all values of equal indices count. For
/// 32- and 64-bit integers, float, double, and complex numbers and vectors of these; the device must support
/// 64-bit atomics for types of 64 bits. Integers wrap around. Sums of floats depend on the order of the
/// additions, which is undefined: they round differently from run to run, and in each replica of a buffer.
/// Equal indices that occur often make the device wait; sort them and use a scan by key if that matters.
VOLLEY_API Event scatter_add(const AnyBuffer& to, const AnySource& indices, const AnySource& values,
                             const ScatterOptions& options = {});

namespace detail {
[[nodiscard]] VOLLEY_API AnySource taken(const AnySource& source, const AnySource& indices,
                                         const TakeOptions& options);
[[nodiscard]] VOLLEY_API AnySource taken_along(const AnySource& source, const AnySource& indices,
                                               const TakeOptions& options);
}  // namespace detail

/// Returns the elements at the indices along an axis, as above. The queue of the options is not used.
template <Source S, Source I>
[[nodiscard]] Lazy<source_element_t<S>> take(const S& source, const I& indices,
                                             const TakeOptions& options = {}) {
    return Lazy<source_element_t<S>>(detail::taken(source, indices, options));
}
/// Returns source[i, indices[i, j]], here for the last axis, as above.
template <Source S, Source I>
[[nodiscard]] Lazy<source_element_t<S>> take_along_axis(const S& source, const I& indices,
                                                        const TakeOptions& options = {}) {
    return Lazy<source_element_t<S>>(detail::taken_along(source, indices, options));
}

}  // namespace volley
