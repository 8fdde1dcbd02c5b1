// histogram() and bincount(): count elements, or add their weights, per bin.
//
//     Buffer<u32> counts = histogram(image, even_bins(256, 0, 1));
//     Buffer<u32> rows = histogram(x, edge_bins(edges), {.axis = -1});     // one histogram per row
//     Buffer<float> sums = histogram(x, even_bins(10, -1, 1), weights);    // sums of weights
//     Buffer<u32> letters = bincount(bytes, 256);                          // elements are numbers of bins
//
// Bins, as in NumPy: each bin contains its lower edge and not its upper one, except that the last bin
// contains both. Elements outside all bins are ignored, and so are NaNs.
//
// Cost: one pass over the source, in which every invocation counts in a table of its own, in shared memory
// (on GPUs, the invocations of a workgroup share tables and use atomics); a second, small launch adds the
// tables of long rows. More bins than shared memory holds take more passes, and very many use atomics on the
// result.
//
// Results are deterministic. Counts, and sums of integers modulo 2^32 or 2^64, are exact. Sums of floats have
// one order for a device, a shape and a tuning, because no atomics add them; if the tables of very many bins
// do not fit memory, weights are sorted by bin and added from the first to the last.
#pragma once

#include <volley/algorithms/any_sink.hpp>
#include <volley/algorithms/any_source.hpp>
#include <volley/buffer.hpp>
#include <volley/event.hpp>
#include <volley/queue.hpp>

#include <cstdint>
#include <optional>

namespace volley {

/// The shape of a histogram. Zero: the default of the device class. Sums of floats may depend on it.
struct HistogramTuning {
    /// Invocations of a workgroup (1 to 1024).
    unsigned lanes = 0;
    /// Elements that one workgroup counts.
    std::uint32_t strip = 0;
    /// Bytes of shared memory for the tables of a workgroup.
    std::uint32_t table_bytes = 0;
    /// The most passes over the source.
    unsigned passes = 0;
};

struct HistogramOptions {
    /// The axis of the rows, each of which has a histogram; negative axes count from the end. Unset: one
    /// histogram of all elements.
    std::optional<int> axis = {};
    /// The queue to run on. Unset: all queues that have the buffers.
    std::optional<Queue> queue = {};
    HistogramTuning tuning = {};
};

/// Which bin an element belongs to. Made by even_bins(), edge_bins() and key_bins().
class HistogramBins {
public:
    enum class Kind : std::uint8_t { Even, Edges, Keys };

    [[nodiscard]] Kind kind() const noexcept { return kind_; }
    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
    [[nodiscard]] double low() const noexcept { return low_; }
    [[nodiscard]] double high() const noexcept { return high_; }
    [[nodiscard]] const std::optional<AnySource>& edges() const noexcept { return edges_; }

private:
    friend VOLLEY_API HistogramBins even_bins(std::uint32_t count, double low, double high);
    friend VOLLEY_API HistogramBins edge_bins(const AnySource& edges);
    friend VOLLEY_API HistogramBins key_bins(std::uint32_t count);
    HistogramBins(Kind kind, std::uint32_t count) : kind_(kind), count_(count) {}

    Kind kind_;
    std::uint32_t count_;
    double low_ = 0, high_ = 0;
    std::optional<AnySource> edges_;
};

/// Returns bins of equal width from `low` to `high`. An element x is in bin floor((x - low) * (count / (high
/// - low))), where each operation is rounded, so that an x within the rounding error of an edge may be in
/// either bin: in f64 for elements of f64 and integers of 32 and 64 bits, in f32 for others and on devices
/// without f64. Throws ArgumentError for no bins, and unless low < high are finite.
[[nodiscard]] VOLLEY_API HistogramBins even_bins(std::uint32_t count, double low, double high);

/// Returns the bins between `edges`: at least two elements of the type of the histogram's source, in
/// ascending order (equal edges enclose an empty bin). Takes log2(count) steps per element. If the edges are
/// not sorted, elements are counted in any bin. Throws ArgumentError for fewer than two edges or more than
/// one axis.
[[nodiscard]] VOLLEY_API HistogramBins edge_bins(const AnySource& edges);

/// Returns bins for integer elements, which are the numbers of their bins. Others than 0 to count - 1 are
/// ignored. Throws ArgumentError for no bins.
[[nodiscard]] VOLLEY_API HistogramBins key_bins(std::uint32_t count);

/// Stores the number of elements of each bin; `to` has elements of u32 and the shape (count), or with an axis
/// that of the source with `count` elements along the axis. Does not block.
///
/// Throws ArgumentError, before anything runs, for axes out of range, elements that bins do not apply to,
/// outputs of other types and shapes, and outputs that overlap an input; DeviceError (Unsupported) for f64 on
/// a device without it.
VOLLEY_API Event histogram(const AnySink& to, const AnySource& from, const HistogramBins& bins,
                           const HistogramOptions& options = {});

namespace detail {

VOLLEY_API Event weighted_histogram(const AnySink& to, const AnySource& from, const HistogramBins& bins,
                                    const AnySource& weights, const HistogramOptions& options);
[[nodiscard]] VOLLEY_API AnyBuffer new_histogram(const AnySource& from, const HistogramBins& bins,
                                                 const std::optional<AnySource>& weights,
                                                 const HistogramOptions& options);

template <class T>
concept HistogramWeight =
    std::same_as<T, std::uint32_t> || std::same_as<T, std::int32_t> || std::same_as<T, std::uint64_t> ||
    std::same_as<T, std::int64_t> || std::same_as<T, float> || std::same_as<T, double>;

template <class T>
consteval void need_weight() {
    static_assert(HistogramWeight<T>,
                  "volley: weights are u32, i32, u64, i64, float or double: convert others, as in "
                  "cast<float>(lazy(weights))");
}

}  // namespace detail

/// Stores the sum of the weights of the elements in each bin. The weights have the shape of the source, and
/// their type (u32, i32, u64, i64, f32 or f64) is that of the result. As histogram() else.
template <Source W>
Event histogram(const AnySink& to, const AnySource& from, const HistogramBins& bins, const W& weights,
                const HistogramOptions& options = {}) {
    detail::need_weight<source_element_t<W>>();
    return detail::weighted_histogram(to, from, bins, weights, options);
}

/// Return new buffers with histograms. Do not block. See above.
template <Source S>
[[nodiscard]] Buffer<std::uint32_t> histogram(const S& source, const HistogramBins& bins,
                                              const HistogramOptions& options = {}) {
    return Buffer<std::uint32_t>(detail::new_histogram(source, bins, std::nullopt, options));
}
template <Source S, Source W>
[[nodiscard]] Buffer<source_element_t<W>> histogram(const S& source, const HistogramBins& bins,
                                                    const W& weights, const HistogramOptions& options = {}) {
    detail::need_weight<source_element_t<W>>();
    return Buffer<source_element_t<W>>(detail::new_histogram(source, bins, AnySource(weights), options));
}

/// Return or store histograms of integers, which are the numbers of their bins, as key_bins().
template <Source S>
[[nodiscard]] Buffer<std::uint32_t> bincount(const S& keys, std::uint32_t count,
                                             const HistogramOptions& options = {}) {
    return Buffer<std::uint32_t>(detail::new_histogram(keys, key_bins(count), std::nullopt, options));
}
template <Source S, Source W>
[[nodiscard]] Buffer<source_element_t<W>> bincount(const S& keys, std::uint32_t count, const W& weights,
                                                   const HistogramOptions& options = {}) {
    return histogram(keys, key_bins(count), weights, options);
}

}  // namespace volley
