// Selection: finds the keys at given ranks of rows, without sorting the rows. percentile() and top_k() use
// it.
#pragma once

#include "algorithms/execution.hpp"
#include "algorithms/sort_keys.hpp"
#include "algorithms/sort_rows.hpp"

#include <volley/algorithms/percentile.hpp>

#include <cstdint>
#include <vector>

namespace volley::algorithms {

/// A rank to find. Counted keys of a row are numbered from 0 in ascending order.
struct RankTarget {
    /// The rank, or the position of a percentile: fraction / 2^64 of the last rank (see RankPosition).
    std::uint64_t number = 0;
};

/// What to find in each row.
struct RankSelection {
    const AnySource& source;
    Rows rows;  ///< not empty
    KeyCode code;
    bool fractions = true;  ///< whether targets are positions of percentiles
    bool numbers = true;    ///< counts numbers only, no NaNs
    bool next = true;       ///< also finds the keys at the next ranks
    std::vector<RankTarget> targets;

    /// Returns whether keys above last_number() are not counted.
    [[nodiscard]] bool excludes_nans() const;
    /// Returns the greatest encoded key that is not a NaN.
    [[nodiscard]] std::uint64_t last_number() const;
    /// Adds what determines the code of the kernels.
    void identify(KernelKey& key) const;
};

/// The keys at the ranks. Those of rows without counted keys are undefined.
struct SelectedRanks {
    AnyBuffer keys;    ///< words: [target][row][2], the key at the rank and the one at the next rank, if any
    AnyBuffer counts;  ///< u32: the number of counted keys of each row
};

[[nodiscard]] SelectedRanks select_ranks(const Execution& execution, const Target& target,
                                         const RankSelection& selection, const RankTuning& tuning);

/// The position of a percentile in a row, while a kernel is traced: the product of the fraction and of the
/// last rank. A product within the error of double precision of a whole number, or of half of one, is that.
struct RankPosition {
    Value<u32> rank;
    Value<u32> high, low;  ///< what follows the rank, of 2^64
};
/// Returns a position among `count` keys; `high` and `low` are the halves of a fraction of 2^64.
[[nodiscard]] RankPosition rank_position(const Value<u32>& count, const Value<u32>& high,
                                         const Value<u32>& low);

/// The targets while a kernel is traced.
class DeclaredTargets {
public:
    DeclaredTargets(ParameterList& list, std::size_t count);
    static void add_arguments(std::vector<AnyArgument>& arguments, const std::vector<RankTarget>& targets);

    [[nodiscard]] u32 size() const noexcept { return static_cast<u32>(low_.size()); }
    [[nodiscard]] Value<u32> high(const Value<u32>& target) const { return choose(high_, target); }
    [[nodiscard]] Value<u32> low(const Value<u32>& target) const { return choose(low_, target); }
    /// Returns the rank of a target in a row with so many counted keys.
    [[nodiscard]] Value<u32> rank(const RankSelection& selection, const Value<u32>& target,
                                  const Value<u32>& count) const;

private:
    [[nodiscard]] static Value<u32> choose(const std::vector<Value<u32>>& values, const Value<u32>& target);
    std::vector<Value<u32>> high_, low_;
};

/// The selection of rows in shared memory, each by one subgroup, and of rows by counting digits.
void select_in_rows(const Target& target, const RankSelection& selection, unsigned lanes,
                    const SelectedRanks& result);
void select_by_digits(const Execution& execution, const Target& target, const RankSelection& selection,
                      const RankTuning& tuning, const SelectedRanks& result);

}  // namespace volley::algorithms
