// Selects in long rows by digits, from the highest to the lowest: counts the keys that have the digits found
// so far by their next digit, and chooses the digit in which the rank is. Many workgroups share a row. Each
// target is a row of its own here, numbered target * rows + row; all share the first count.
#include "algorithms/histogram_tables.hpp"
#include "algorithms/ranks.hpp"

#include <volley/lang/cast.hpp>
#include <volley/lang/control.hpp>
#include <volley/lang/ids.hpp>
#include <volley/lang/math.hpp>
#include <volley/lang/operators.hpp>
#include <volley/lang/var.hpp>

#include <algorithm>

namespace volley::algorithms {
namespace {

constexpr unsigned select_bits = 8;
constexpr u32 select_values = 1U << select_bits;

/// The memory of a selection. Elements are numbered target * rows + row.
struct DigitState {
    AnyBuffer prefix;  // words: the digits found so far
    AnyBuffer rank;    // u32: the rank among the keys with these digits
    AnyBuffer up_to;   // u32: the number of keys up to the greatest with these digits
};

template <class W>
Value<W> key_at(const RankSelection& selection, const LoadElement& load, const RowPositions& positions,
                const Value<u32>& row, const Value<u32>& i) {
    return selection.code.encode(load(positions.at(row, i))).template as<W>();
}

/// Counts the keys with a prefix by their next digit.
template <class W>
class DigitRows final : public BinnedRows {
public:
    DigitRows(const RankSelection& selection, const DigitState& state, unsigned shift)
        : selection_(selection),
          state_(state),
          shift_(shift),
          positions_(selection.rows, {&selection.source}) {}

    void identify(KernelKey& key) const override {
        key.add("digits").add(is_first()).add(selection_.code.type).add(selection_.code.descending);
        key.add(selection_.excludes_nans());
        selection_.source.identify(key);
        positions_.identify(key);
    }
    [[nodiscard]] DeclaredElements declare(ParameterList& list) const override {
        RowPositions positions = positions_;
        positions.declare(list);
        const LoadElement load = selection_.source.declare(list);
        const Value<u32> shift = list.value<u32>(), rows = list.value<u32>();
        std::vector<AnyArray> prefixes;
        if (!is_first()) prefixes.push_back(list.const_buffer(dtype_of<W>()));
        DeclaredElements declared;
        declared.bin = [this, positions, load, shift, rows, prefixes](const Value<u32>& row,
                                                                      const Value<u32>& i) -> BinnedElement {
            const Value<u32> in_source = prefixes.empty() ? row : row % rows;
            const Value<W> key = key_at<W>(selection_, load, positions, in_source, i);
            const Value<u32> digit = cast<u32>((key >> cast<W>(shift)) & W{select_values - 1});
            std::optional<Value<bool>> counts;
            if (selection_.excludes_nans()) counts.emplace(key <= static_cast<W>(selection_.last_number()));
            if (prefixes.empty()) return {digit, counts};
            const Value<W> prefix = prefixes.front().load(row).template as<W>();
            const Value<bool> same = ((key ^ prefix) >> cast<W>(shift)) >> W{select_bits} == W{0};
            return {digit, counts ? *counts && same : same};
        };
        return declared;
    }
    void add_arguments(std::vector<AnyArgument>& arguments) const override {
        positions_.add_arguments(arguments);
        selection_.source.add_arguments(arguments);
        arguments.emplace_back(static_cast<u32>(shift_));
        arguments.emplace_back(static_cast<u32>(selection_.rows.count));
        if (!is_first()) arguments.emplace_back(state_.prefix);
    }

private:
    [[nodiscard]] bool is_first() const { return shift_ + select_bits >= selection_.code.bits(); }

    const RankSelection& selection_;
    const DigitState& state_;
    unsigned shift_;
    RowPositions positions_;
};

// Chooses the next digit of each target and row. At the first digit, all keys are counted, so that the ranks
// are known; at the last one, stores the keys.
template <class W>
AnyKernel choose_kernel(const RankSelection& selection, bool is_first) {
    KernelKey key("select choose");
    key.add(is_first).add(sizeof(W)).add(selection.fractions).add(selection.targets.size());
    return find_kernel(key, [&] {
        return any_kernel("select.choose", {}, [&](ParameterList& list) {
            const AnyArray counts = list.const_buffer(dtype_of<u32>());
            const AnyArray prefixes = list.buffer(dtype_of<W>()), ranks = list.buffer(dtype_of<u32>());
            const AnyArray up_to = list.buffer(dtype_of<u32>());
            const AnyArray totals = list.buffer(dtype_of<u32>());
            const AnyArray found = list.buffer(dtype_of<W>());
            const Value<u32> shift = list.value<u32>(), rows = list.value<u32>();
            const DeclaredTargets targets(list, selection.targets.size());
            const Value<u32> row = global_id().x, t = global_id().y;
            const Value<u32> at = t * rows + row;
            const Value<u32> from = (is_first ? row : at) * select_values;
            const auto count_of = [&](const Value<u32>& v) { return counts.load(from + v).as<u32>(); };
            Var<u32> rank = 0U;
            if (is_first) {
                Var<u32> total = 0U;
                $for (v, 0U, select_values) {
                    total += count_of(v);
                }
                rank = targets.rank(selection, t, Value<u32>(total));
                $if (t == 0U) {
                    totals.store(row, Value<u32>(total));
                }
            } else {
                rank = ranks.load(at).as<u32>();
            }
            // The rank is in the first digit up to which more keys are counted.
            Var<u32> before = 0U, through = 0U, digit = 0U;
            $for (v, 0U, select_values) {
                const Value<u32> next = through + count_of(v);
                const Value<bool> passed = next <= rank;
                before = select(passed, next, Value<u32>(before));
                digit = select(passed, v + 1U, Value<u32>(digit));
                through = next;
            }
            const Value<u32> chosen = min(Value<u32>(digit), Value<u32>(select_values - 1));
            const Value<W> old = is_first ? Value<W>(W{0}) : prefixes.load(at).template as<W>();
            const Value<W> prefix = old | (cast<W>(chosen) << cast<W>(shift));
            prefixes.store(at, prefix);
            ranks.store(at, rank - before);
            up_to.store(at, count_of(chosen));
            found.store(at * 2U, prefix);
            found.store(at * 2U + 1U, prefix);
        });
    });
}

// Stores the least key above the found one for each strip of a row and target.
template <class W>
AnyKernel next_kernel(const RankSelection& selection, RowPositions& positions) {
    KernelKey key("select next");
    selection.identify(key);
    selection.source.identify(key);
    positions.identify(key);
    return find_kernel(key, [&] {
        return any_kernel("select.next", {}, [&](ParameterList& list) {
            const AnyArray prefixes = list.const_buffer(dtype_of<W>()), parts = list.buffer(dtype_of<W>());
            const LoadElement load = selection.source.declare(list);
            const Value<u32> length = list.value<u32>(), rows = list.value<u32>();
            const Value<u32> strips = list.value<u32>();
            positions.declare(list);
            const Value<u32> strip = global_id().x, at = global_id().y;
            const Value<W> found = prefixes.load(at).template as<W>();
            const Value<u32> row = at % rows;
            Var<W> least[] = {~W{0}, ~W{0}, ~W{0}, ~W{0}};
            const auto take = [&](const Value<u32>& i, unsigned k) {
                const Value<W> x = key_at<W>(selection, load, positions, row, i);
                least[k] = min(Value<W>(least[k]), select(x > found, x, Value<W>(~W{0})));
            };
            const Value<u32> step = strips * 4U;
            const Value<u32> whole = length / step;
            // Invocations load neighbouring elements.
            $for (k, 0U, whole) {
                for (unsigned j = 0; j < 4; ++j) take(k * step + j * strips + strip, j);
            }
            $for (i, whole * step + strip, length, strips) {
                take(i, 0);
            }
            parts.store(at * strips + strip, min(min(Value<W>(least[0]), Value<W>(least[1])),
                                                 min(Value<W>(least[2]), Value<W>(least[3]))));
        });
    });
}

// Stores the next key, unless more keys equal the found one.
template <class W>
AnyKernel merge_kernel() {
    KernelKey key("select merge");
    key.add(sizeof(W));
    return find_kernel(key, [&] {
        return any_kernel("select.merge", {}, [&](ParameterList& list) {
            const AnyArray parts = list.const_buffer(dtype_of<W>()), found = list.buffer(dtype_of<W>());
            const AnyArray ranks = list.const_buffer(dtype_of<u32>());
            const AnyArray up_to = list.const_buffer(dtype_of<u32>());
            const Value<u32> strips = list.value<u32>();
            const Value<u32> at = global_id().x;
            Var<W> least = ~W{0};
            $for (k, 0U, strips) {
                least = min(Value<W>(least), parts.load(at * strips + k).template as<W>());
            }
            $if (ranks.load(at).as<u32>() + 1U >= up_to.load(at).as<u32>()) {
                found.store(at * 2U + 1U, Value<W>(least));
            }
        });
    });
}

template <class W>
void find_next(const Execution& execution, const Target& target, const RankSelection& selection,
               const DigitState& state, const SelectedRanks& result) {
    const auto targets = static_cast<std::int64_t>(selection.targets.size());
    const std::int64_t results = targets * selection.rows.count;
    const DeviceInfo& device = *target.device;
    const std::int64_t lanes = std::max<std::int64_t>(device.subgroup_size, 1);
    const std::int64_t wanted = std::max<std::int64_t>(device.compute_units, 1) * lanes * 16;
    // A driver may end loops after 65,535 iterations.
    const std::int64_t least = divide_up(selection.rows.length, 64 * 1024);
    const std::int64_t strips = std::clamp<std::int64_t>(
        std::max(round_up(divide_up(wanted, results), lanes), least), 1, selection.rows.length);
    const AnyBuffer parts = execution.scratch(dtype_of<W>(), {results, strips});
    RowPositions positions(selection.rows, {&selection.source});
    const AnyKernel kernel = next_kernel<W>(selection, positions);
    std::vector<AnyArgument> arguments{state.prefix, parts};
    selection.source.add_arguments(arguments);
    for (const std::int64_t x : {selection.rows.length, selection.rows.count, strips})
        arguments.emplace_back(static_cast<u32>(x));
    positions.add_arguments(arguments);
    launch(kernel.over({strips, results}), target, arguments);
    launch(merge_kernel<W>().over(results), target,
           std::vector<AnyArgument>{parts, result.keys, state.rank, state.up_to, static_cast<u32>(strips)});
}

template <class W>
void select_words(const Execution& execution, const Target& target, const RankSelection& selection,
                  const RankTuning& tuning, const SelectedRanks& result) {
    const auto targets = static_cast<std::int64_t>(selection.targets.size());
    const std::int64_t rows = selection.rows.count, results = targets * rows;
    const DigitState state{.prefix = execution.scratch(dtype_of<W>(), {results}),
                           .rank = execution.scratch(dtype_of<u32>(), {results}),
                           .up_to = execution.scratch(dtype_of<u32>(), {results})};
    const AnyBuffer counts = execution.scratch(dtype_of<u32>(), {results, std::int64_t{select_values}});
    const unsigned bits = selection.code.bits();
    unsigned shift = (bits - 1) / select_bits * select_bits;
    for (bool is_first = true;; is_first = false, shift -= select_bits) {
        const DigitRows<W> elements(selection, state, shift);
        const std::int64_t counted = is_first ? rows : results;
        count_tables(execution, target,
                     {.elements = elements,
                      .rows = counted,
                      .length = selection.rows.length,
                      .bins = select_values,
                      .results = {counts.sub({slice(0, counted), all}), 1}},
                     {.strip = tuning.strip});
        std::vector<AnyArgument> arguments{counts,
                                           state.prefix,
                                           state.rank,
                                           state.up_to,
                                           result.counts,
                                           result.keys,
                                           static_cast<u32>(shift),
                                           static_cast<u32>(rows)};
        DeclaredTargets::add_arguments(arguments, selection.targets);
        launch(choose_kernel<W>(selection, is_first).over({rows, targets}), target, arguments);
        if (shift == 0) break;
    }
    if (selection.next) find_next<W>(execution, target, selection, state, result);
}

}  // namespace

void select_by_digits(const Execution& execution, const Target& target, const RankSelection& selection,
                      const RankTuning& tuning, const SelectedRanks& result) {
    if (selection.code.word() == dtype_of<u64>())
        select_words<u64>(execution, target, selection, tuning, result);
    else
        select_words<u32>(execution, target, selection, tuning, result);
}

}  // namespace volley::algorithms
