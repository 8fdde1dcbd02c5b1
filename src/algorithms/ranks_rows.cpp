// Selects in rows that fit shared memory. A workgroup is one subgroup and has one row; each lane reads only
// the keys that it stored, so that no barrier is needed. Keys are counted up to the middle of a range until
// the range has one of them or one value: at most as many times as a key has bits, and about log2(n) times
// for even distributions.
#include "algorithms/ranks.hpp"

#include <volley/lang/cast.hpp>
#include <volley/lang/control.hpp>
#include <volley/lang/ids.hpp>
#include <volley/lang/math.hpp>
#include <volley/lang/operators.hpp>
#include <volley/lang/shared.hpp>
#include <volley/lang/subgroup.hpp>
#include <volley/lang/var.hpp>

#include <algorithm>
#include <bit>
#include <deque>
#include <functional>

namespace volley::algorithms {
namespace {

constexpr unsigned select_unroll = 4;

/// The keys of a row, distributed over the lanes. Places after the last key have the greatest word.
template <class W>
class RowKeys {
public:
    RowKeys(unsigned lanes, std::uint64_t capacity, const Value<u32>& count)
        : lanes_(lanes),
          lane_(lanes == 1 ? Value<u32>(0U) : Value<u32>(subgroup_lane())),
          padded_((count + (step() - 1)) / step() * step()),
          keys_(capacity) {}

    [[nodiscard]] u32 step() const { return lanes_ * select_unroll; }
    [[nodiscard]] const Value<u32>& lane() const { return lane_; }
    [[nodiscard]] const Value<u32>& padded() const { return padded_; }
    void set(const Value<u32>& first, const Value<W>& key) const { keys_[first + lane_] = key; }

    /// Records `body(key, k)` for all keys; k is the number of an independent accumulator.
    template <class F>
    void each(F&& body) const {
        $for (first, 0U, padded_, step()) {
            for (unsigned k = 0; k < select_unroll; ++k) {
                // NOLINTNEXTLINE(cppcoreguidelines-slicing): reads the element
                const Value<W> key = keys_[first + k * lanes_ + lane_];
                body(key, k);
            }
        }
    }

    [[nodiscard]] Value<u32> count_up_to(const Value<W>& limit) const {
        std::deque<Var<u32>> counts;
        for (unsigned k = 0; k < select_unroll; ++k) counts.emplace_back(Value<u32>(0U));
        each([&](const Value<W>& key, unsigned k) {
            counts[k] += select(key <= limit, Value<u32>(1U), Value<u32>(0U));
        });
        return sum(Value<u32>(counts[0]) + counts[1] + (Value<u32>(counts[2]) + counts[3]));
    }
    [[nodiscard]] Value<u32> sum(const Value<u32>& own) const {
        return lanes_ == 1 ? own : subgroup_add(own);
    }
    [[nodiscard]] Value<W> least(const Value<W>& own) const { return lanes_ == 1 ? own : subgroup_min(own); }
    [[nodiscard]] Value<W> greatest(const Value<W>& own) const {
        return lanes_ == 1 ? own : subgroup_max(own);
    }

private:
    unsigned lanes_;
    Value<u32> lane_, padded_;
    Shared<W> keys_;
};

/// A row that is loaded, with its range of keys and the number of counted ones.
template <class W>
struct LoadedRow {
    Value<W> least, greatest;
    Value<u32> count;
};

template <class W>
LoadedRow<W> load_row(const RankSelection& selection, const RowKeys<W>& keys, const Value<u32>& length,
                      unsigned lanes, const std::function<Value<W>(const Value<u32>&)>& key_at) {
    constexpr W all = ~W{0};
    const auto last = static_cast<W>(selection.last_number());
    const bool excludes = selection.excludes_nans();
    Var<W> least = all, greatest = W{0};
    Var<u32> excluded = 0U;
    const auto take = [&](const Value<u32>& first, const Value<W>& key, const Value<bool>* is_key) {
        keys.set(first, key);
        least = min(Value<W>(least), key);
        const Value<bool> in_range = excludes ? key <= last : Value<bool>(true);
        const Value<bool> counts = is_key != nullptr ? in_range && *is_key : in_range;
        if (excludes || is_key != nullptr)
            greatest = max(Value<W>(greatest), select(counts, key, Value<W>(W{0})));
        else
            greatest = max(Value<W>(greatest), key);
        if (!excludes) return;
        const Value<bool> is_nan = is_key != nullptr ? key > last && *is_key : key > last;
        excluded += select(is_nan, Value<u32>(1U), Value<u32>(0U));
    };
    const Value<u32> whole = length / lanes * lanes;
    $for (first, 0U, whole, lanes) {
        take(first, key_at(first + keys.lane()), nullptr);
    }
    $for (first, whole, keys.padded(), lanes) {
        const Value<u32> i = first + keys.lane();
        const Value<bool> is_key = i < length;
        take(first, select(is_key, key_at(min(i, length - 1U)), Value<W>(all)), &is_key);
    }
    return {keys.least(least), keys.greatest(greatest), length - keys.sum(excluded)};
}

template <class W>
AnyKernel row_kernel(const RankSelection& selection, RowPositions& positions, unsigned lanes,
                     std::uint64_t capacity) {
    return any_kernel("select.rows", {.local = {lanes}}, [&](ParameterList& list) {
        const AnyArray found = list.buffer(dtype_of<W>()), counts = list.buffer(dtype_of<u32>());
        const LoadElement load = selection.source.declare(list);
        const Value<u32> length = list.value<u32>(), rows = list.value<u32>();
        const DeclaredTargets targets(list, selection.targets.size());
        positions.declare(list);
        const Value<u32> row = group_id().x;
        const RowKeys<W> keys(lanes, capacity, length);
        const LoadedRow<W> all = load_row<W>(selection, keys, length, lanes, [&](const Value<u32>& i) {
            return selection.code.encode(load(positions.at(row, i))).template as<W>();
        });
        const auto select_target = [&](const Value<u32>& t) {
            const Value<u32> rank = targets.rank(selection, t, all.count);
            // The key is in [low, high]; `below` keys are less than low, `up_to` are not greater than high.
            Var<W> low = all.least, high = all.greatest;
            Var<u32> below = 0U, up_to = all.count;
            $while (low<high && up_to - below> 1U) {
                const Value<W> middle = low + ((Value<W>(high) - low) >> W{1});
                const Value<u32> count = keys.count_up_to(middle);
                const Value<bool> lower = count > rank;
                high = select(lower, middle, Value<W>(high));
                up_to = select(lower, count, Value<u32>(up_to));
                low = select(lower, Value<W>(low), middle + W{1});
                below = select(lower, Value<u32>(below), count);
            }
            const Value<W> from = low, to = high;
            constexpr W none = ~W{0};
            Var<W> key = none, next = none;
            keys.each([&](const Value<W>& x, unsigned) {
                key = min(Value<W>(key), select(x >= from, x, Value<W>(none)));
                if (selection.next) next = min(Value<W>(next), select(x > to, x, Value<W>(none)));
            });
            const Value<W> at_rank = keys.least(key);
            const Value<W> at_next =
                selection.next ? select(rank + 1U < up_to, at_rank, keys.least(next)) : at_rank;
            const Value<u32> place = (t * rows + row) * 2U;
            const auto store = [&] {
                found.store(place, at_rank);
                found.store(place + 1U, at_next);
            };
            if (lanes == 1) {
                store();
                return;
            }
            $if (keys.lane() == 0U) {
                store();
            }
        };
        if (targets.size() == 1) {
            select_target(Value<u32>(0U));
        } else {
            $for (t, 0U, targets.size()) {
                select_target(t);
            }
        }
        counts.store(row, all.count);
    });
}

}  // namespace

void select_in_rows(const Target& target, const RankSelection& selection, unsigned lanes,
                    const SelectedRanks& result) {
    RowPositions positions(selection.rows, {&selection.source});
    const std::uint64_t capacity = std::bit_ceil(
        static_cast<std::uint64_t>(round_up(selection.rows.length, std::int64_t{lanes} * select_unroll)));
    KernelKey key("select rows");
    key.add(lanes).add(capacity);
    selection.identify(key);
    selection.source.identify(key);
    positions.identify(key);
    const AnyKernel kernel = find_kernel(key, [&] {
        return selection.code.word() == dtype_of<u64>()
                   ? row_kernel<u64>(selection, positions, lanes, capacity)
                   : row_kernel<u32>(selection, positions, lanes, capacity);
    });
    std::vector<AnyArgument> arguments{result.keys, result.counts};
    selection.source.add_arguments(arguments);
    arguments.emplace_back(static_cast<u32>(selection.rows.length));
    arguments.emplace_back(static_cast<u32>(selection.rows.count));
    DeclaredTargets::add_arguments(arguments, selection.targets);
    positions.add_arguments(arguments);
    launch(kernel.groups(selection.rows.count), target, arguments);
}

}  // namespace volley::algorithms
