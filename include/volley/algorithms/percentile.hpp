// percentile() and median(): order statistics, along an axis or of all elements.
//
//     Buffer<float> middle = median(image, {.axis = -1});
//     Buffer<float> quartiles = percentile(x, {25, 50, 75}, {.axis = 0});
//     Buffer<float> extremes = percentile(x, {0, 100}, {.method = PercentileMethod::Lower});
//
// The percentile q of n elements is at the position q / 100 * (n - 1) of the sorted elements, computed with
// 64 bits after the point; a position within the error of a double from a whole number is that number. At a
// position between two elements the method decides, as in NumPy:
//
// | method | result |
// |---|---|
// | Linear (the default) | a + (b - a) * t at the fraction t between the elements a and b |
// | Midpoint | the mean of both |
// | Lower, Higher | the element before, after |
// | Nearest | the nearer element; halfway, the one whose position is even |
//
// Elements are selected, not sorted. Rows that fit the shared memory of a workgroup are read once: a subgroup
// halves the range of the keys until one element is left. Longer rows are read once per 8 bits of the
// elements, and for Linear, Midpoint, Higher and Nearest once more, by many workgroups. Each percentile after
// the first repeats these passes but one. Large sources whose rows are not along the last axis are transposed
// first, to temporary memory of their size.
//
// NaN: a row with a NaN has the percentile NaN; with `.ignore_nan`, NaNs are left out, and the percentile of
// nothing else is NaN. Between an infinity and a number Linear and Midpoint give the infinity, and between
// -inf and inf NaN. -0 comes before +0.
#pragma once

#include <volley/algorithms/any_sink.hpp>
#include <volley/algorithms/any_source.hpp>
#include <volley/buffer.hpp>
#include <volley/event.hpp>
#include <volley/queue.hpp>

#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

namespace volley {

/// What the result is if the position of a percentile is between two elements.
enum class PercentileMethod : std::uint8_t { Linear, Lower, Higher, Nearest, Midpoint };

/// The shape of a selection. Zero: the default of the device class. Any values give the same result.
struct RankTuning {
    /// Rows of at most so many elements are selected in shared memory. The device may allow fewer.
    std::uint32_t row = 0;
    /// Elements that an invocation counts in longer rows.
    std::uint32_t strip = 0;
};

struct PercentileOptions {
    /// The axis of the rows; negative axes count from the end. Unset: all elements are one row.
    std::optional<int> axis = {};
    PercentileMethod method = PercentileMethod::Linear;
    /// Leaves out NaNs.
    bool ignore_nan = false;
    /// Keeps the axis (unset: all axes) with length 1.
    bool keepdims = false;
    /// The queue to run on. Unset: all queues that have the buffers.
    std::optional<Queue> queue = {};
    RankTuning tuning = {};
};

/// Stores percentiles. The result has the shape of the source without the axis, after a first axis with one
/// index for each element of `percents`, which may be in any order and repeated. It has the type of the
/// source if that is a float, else f32, in which integers are rounded before they are interpolated. Methods
/// that select an element also store to outputs of the source's type. Does not block.
///
/// Throws ArgumentError, before anything runs, for percents below 0 or above 100, for no percents, axes out
/// of range, rows without elements, elements that are not scalars, outputs of other types or shapes, and
/// outputs that overlap the source; DeviceError (Unsupported) for f64 on a device without it.
VOLLEY_API Event percentile(const AnySink& to, const AnySource& from, const std::vector<double>& percents,
                            const PercentileOptions& options = {});

/// Stores the percentile 50, without the first axis. As percentile() else.
VOLLEY_API Event median(const AnySink& to, const AnySource& from, const PercentileOptions& options = {});

namespace detail {

/// f32 for integers and bool.
template <class T>
using percentile_t = std::conditional_t<lang::is_float<T>, T, float>;

[[nodiscard]] VOLLEY_API AnyBuffer percentiles(const AnySource& from, const std::vector<double>& percents,
                                               const PercentileOptions& options);
[[nodiscard]] VOLLEY_API AnyBuffer medians(const AnySource& from, const PercentileOptions& options);

}  // namespace detail

/// Returns a new buffer with percentiles. Does not block. See above.
template <Source S>
[[nodiscard]] Buffer<detail::percentile_t<source_element_t<S>>> percentile(
    const S& source, const std::vector<double>& percents, const PercentileOptions& options = {}) {
    return Buffer<detail::percentile_t<source_element_t<S>>>(detail::percentiles(source, percents, options));
}

/// Returns a new buffer with the medians. Does not block. See above.
template <Source S>
[[nodiscard]] Buffer<detail::percentile_t<source_element_t<S>>> median(
    const S& source, const PercentileOptions& options = {}) {
    return Buffer<detail::percentile_t<source_element_t<S>>>(detail::medians(source, options));
}

}  // namespace volley
