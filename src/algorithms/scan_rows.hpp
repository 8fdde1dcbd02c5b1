// ScanRows: as many neighbouring elements as a subgroup has lanes, which it scans in registers. For devices
// whose subgroups are vectors, and workgroups of one subgroup.
#pragma once

#include "algorithms/scan_elements.hpp"
#include "algorithms/scan_kernels.hpp"

#include <volley/lang/cast.hpp>
#include <volley/lang/ids.hpp>
#include <volley/lang/math.hpp>
#include <volley/lang/operators.hpp>
#include <volley/lang/subgroup.hpp>

#include <optional>
#include <vector>

namespace volley::algorithms {

/// A row, scanned without the rows before it.
struct Row {
    AnyValue sum;                      ///< of the lanes up to this one, from the start of its segment
    std::optional<Value<bool>> heads;  ///< whether a segment starts at this lane
    std::optional<Value<bool>> cut;    ///< whether one starts at or before this lane
};

/// Records the work on rows.
class ScanRows {
public:
    ScanRows(const ScanElements& elements, const Line& line, u32 width)
        : elements_(elements), line_(line), width_(width), lane_(subgroup_lane()) {}

    [[nodiscard]] const Value<u32>& lane() const { return lane_; }
    [[nodiscard]] Value<u32> last_lane() const { return Value<u32>(width_ - 1); }

    /// Scans elements `k` of the lanes. `initial` is included in the sums of segments that start here.
    [[nodiscard]] Row scan(const Value<u32>& k) const {
        const AnyValue x = elements_.load(line_, k);
        if (!elements_.has_segments()) {
            std::vector<AnyValue> sums{x};
            for (u32 distance = 1; distance < width_; distance *= 2) {
                const AnyValue other = shuffle(sums.back(), lane_ - distance);
                sums.push_back(select(lane_ >= distance, elements_.combine(other, sums.back()), sums.back()));
            }
            return {sums.back(), {}, {}};
        }
        const Value<bool> head = elements_.head(line_, k);
        // The lane after the last head at or before this one, so that 0 means none.
        const Value<u32> start = subgroup_inclusive_max(select(head, lane_ + 1U, 0U));
        const Value<u32> reach = select(start > 0U, lane_ + 1U - start, lane_);
        std::vector<AnyValue> sums{select(head, elements_.first(x), x)};
        for (u32 distance = 1; distance < width_; distance *= 2) {
            const AnyValue other = shuffle(sums.back(), lane_ - distance);
            sums.push_back(select(reach >= distance, elements_.combine(other, sums.back()), sums.back()));
        }
        return {sums.back(), head, start > 0U};
    }

    /// Returns the results of a row that follows the sum `before`.
    [[nodiscard]] AnyValue after(const AnyValue& before, const Row& row) const {
        const AnyValue all = elements_.combine(before, row.sum);
        return row.cut ? select(*row.cut, row.sum, all) : all;
    }
    /// Returns the sum at the end of a row with these results.
    [[nodiscard]] AnyValue end(const AnyValue& before, const Row& row, const AnyValue& results) const {
        // Without segments, only one operation depends on the row before.
        return row.cut ? broadcast(results, last_lane())
                       : elements_.combine(before, broadcast(row.sum, last_lane()));
    }
    /// Returns inclusive results one lane higher, as an exclusive scan does.
    [[nodiscard]] AnyValue exclusive(const AnyValue& before, const AnyValue& results,
                                     const std::optional<Value<bool>>& heads) const {
        const AnyValue moved = select(lane_ == 0U, before, shuffle(results, lane_ - 1U));
        return heads ? select(*heads, elements_.initial(), moved) : moved;
    }

private:
    const ScanElements& elements_;
    const Line& line_;
    u32 width_;
    Value<u32> lane_;
};

/// Returns a number that divides the length of the lines: the width if that is possible, so that rows are
/// aligned.
[[nodiscard]] inline u32 row_alignment(const LineScan& scan, u32 width) {
    return scan.lines.length() % width == 0 ? width : 1;
}

}  // namespace volley::algorithms
