// Tables of counts per row: what histograms and the selection in long rows are made of.
#pragma once

#include "algorithms/execution.hpp"

#include <volley/algorithms/histogram.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace volley::algorithms {

/// The bin of an element. Elements that are not counted may have any bin.
struct BinnedElement {
    Value<u32> bin;
    std::optional<Value<bool>> counts;  ///< unset: it is counted, and the bin is in the table
};

/// The elements of rows while a kernel is traced.
struct DeclaredElements {
    std::function<BinnedElement(const Value<u32>& row, const Value<u32>& i)> bin;
    std::function<AnyValue(const Value<u32>& row, const Value<u32>& i)> weight;  ///< none: 1
};

/// Where the elements of rows come from, and which bins they belong to.
class BinnedRows {
public:
    BinnedRows() = default;
    BinnedRows(const BinnedRows&) = delete;
    BinnedRows& operator=(const BinnedRows&) = delete;
    virtual ~BinnedRows() = default;

    virtual void identify(KernelKey& key) const = 0;
    [[nodiscard]] virtual DeclaredElements declare(ParameterList& list) const = 0;
    virtual void add_arguments(std::vector<AnyArgument>& arguments) const = 0;
    /// Returns whether finding a bin takes much longer than adding to it, so that vectors pay off.
    [[nodiscard]] virtual bool is_costly() const { return false; }
};

/// Stores the result of a bin of a row.
class BinResults {
public:
    /// `to` has the rows along an axis.
    BinResults(const AnySink& to, int axis) : to_(to), axis_(axis) {}

    [[nodiscard]] const AnySink& sink() const noexcept { return to_; }
    [[nodiscard]] DType type() const noexcept { return to_.dtype(); }
    void identify(KernelKey& key) const;
    [[nodiscard]] std::function<void(const Value<u32>& row, const Value<u32>& bin, const AnyValue&)> declare(
        ParameterList& list) const;
    void add_arguments(std::vector<AnyArgument>& arguments) const;
    /// Returns the memory of the results as [row][bin] of 32-bit integers, if they are so.
    [[nodiscard]] std::optional<AnyBuffer> memory() const;

private:
    AnySink to_;
    int axis_;
};

struct TableTask {
    const BinnedRows& elements;
    std::int64_t rows = 0;
    std::int64_t length = 0;  ///< of a row
    std::uint32_t bins = 0;
    bool weighted = false;
    BinResults results;
};

/// Launches the kernels that store the sum of each bin. Needs rows and bins; rows may be empty.
Event count_tables(const Execution& execution, const Target& target, const TableTask& task,
                   const HistogramTuning& tuning);

/// For many bins: adds with atomics on the result, or sorts the weights by bin.
Event count_with_atomics(const Execution& execution, const Target& target, const TableTask& task);
Event count_by_sorting(const Execution& execution, const Target& target, const TableTask& task);

}  // namespace volley::algorithms
