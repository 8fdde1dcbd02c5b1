// Scans along the last axis by workgroups of one subgroup, for devices whose subgroups are vectors: a row of
// as many elements as the subgroup has lanes is scanned in registers.
#include "algorithms/execution.hpp"
#include "algorithms/scan_elements.hpp"
#include "algorithms/scan_kernels.hpp"

#include <volley/lang/atomic.hpp>
#include <volley/lang/cast.hpp>
#include <volley/lang/control.hpp>
#include <volley/lang/ids.hpp>
#include <volley/lang/subgroup.hpp>
#include <volley/lang/var.hpp>

namespace volley::algorithms {
namespace {

/// A row, scanned without the rows before it.
struct Row {
    AnyValue sum;                      ///< of the lanes up to this one, from the start of its segment
    std::optional<Value<bool>> heads;  ///< whether a segment starts at this lane
    std::optional<Value<bool>> cut;    ///< whether one starts at or before this lane
};

/// Records the work on rows.
class Rows {
public:
    Rows(const ScanElements& elements, const Line& line, u32 width)
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

u32 alignment(const LineScan& scan, u32 width) { return scan.lines.length() % width == 0 ? width : 1; }

}  // namespace

AnyKernel rows_kernel(const LineScan& scan, u32 width) {
    const bool is_exclusive = scan.request.exclusive;
    const u32 aligned = alignment(scan, width);
    KernelKey key("scan rows");
    ScanElements::identify(key, scan);
    scan.to.identify(key);
    key.add(width).add(aligned).add(is_exclusive);
    return find_kernel(key, [&] {
        return any_kernel("scan: lines", {.local = width}, [&](ParameterList& parameters) {
            const StoreElement store = scan.to.declare(parameters);
            const ScanElements elements(parameters, scan);
            const DeclaredLines lines(parameters, scan.lines, true, aligned);
            const Line line = lines.line(Value<u32>(group_id().x), Value<u32>(0U));
            const Rows rows(elements, line, width);
            // Segments, with their initial values, start in the rows. An exclusive scan without them starts
            // with the initial value; an inclusive one adds it to the first element.
            const auto begin_of_line = [&](const Row& row) {
                return elements.has_initial() && !row.cut ? elements.combine(elements.initial(), row.sum)
                                                          : row.sum;
            };
            const auto store_row = [&](const Value<u32>& k, const AnyValue& before, const AnyValue& results,
                                       const Row& row) {
                store(line.at(k), is_exclusive ? rows.exclusive(before, results, row.heads) : results);
            };
            const Value<u32> length = lines.length();
            const Value<u32> whole = length / width;
            // The first row.
            const Row first = rows.scan(rows.lane());
            const AnyValue first_results = begin_of_line(first);
            const AnyValue nothing = elements.has_initial() ? elements.initial() : first_results;
            store_row(rows.lane(), nothing, first_results, first);
            AnyVar sum(broadcast(first_results, rows.last_lane()));
            $for (r, 1U, whole) {
                const Value<u32> k = r * width + rows.lane();
                const AnyValue before = sum.load();
                const Row row = rows.scan(k);
                const AnyValue results = rows.after(before, row);
                store_row(k, before, results, row);
                sum = rows.end(before, row, results);
            }
            if (aligned > 1) return;
            $if (whole * width < length) {
                const Value<u32> k = whole * width + rows.lane();
                const AnyValue before = sum.load();
                const Row row = rows.scan(min(k, length - 1U));
                const AnyValue results = rows.after(before, row);
                const AnyValue stored = is_exclusive ? rows.exclusive(before, results, row.heads) : results;
                $if (k < length) {
                    store(line.at(k), stored);
                }
            }
        });
    });
}

std::vector<AnyArgument> rows_arguments(const LineScan& scan) {
    std::vector<AnyArgument> arguments;
    scan.to.add_arguments(arguments);
    ScanElements::add_arguments(arguments, scan);
    scan.lines.add_arguments(arguments);
    return arguments;
}

AnyKernel chain_kernel(const LineScan& scan, u32 width, u32 tile) {
    const bool is_exclusive = scan.request.exclusive;
    const u32 aligned = alignment(scan, width);
    KernelKey key("scan chain");
    ScanElements::identify(key, scan);
    scan.to.identify(key);
    key.add(width).add(aligned).add(tile).add(is_exclusive);
    return find_kernel(key, [&] {
        return any_kernel("scan: chain", {.local = width}, [&](ParameterList& parameters) {
            const DType type = scan.from.dtype();
            const StoreElement store = scan.to.declare(parameters);
            const ScanElements elements(parameters, scan);
            const DeclaredLines lines(parameters, scan.lines, true, aligned);
            const Value<u32> tiles_of_line = parameters.value<u32>();
            const AnyArray state = parameters.buffer(dtype_of<u32>());
            const AnyArray sums = parameters.buffer(type);
            const AnyArray results = AnyArray::shared(type, tile);
            const auto atomic_state = [&](lang::ElementIndex i) {
                return Atomic<u32>(lang::locate(ref_of(state), &i.ref, 1));
            };
            // Tiles are numbered in the order in which groups start; the counter follows the states.
            const Value<u32> lane = subgroup_lane();
            Var<u32> claimed = 0U;
            $if (lane == 0U) {
                claimed = atomic_state(group_count().x).add(1U);
            }
            const Value<u32> number = subgroup_broadcast(Value<u32>(claimed), 0U);
            const Value<u32> outer = number / tiles_of_line;
            const Value<u32> in_line = number - outer * tiles_of_line;
            const Line line = lines.line(outer, Value<u32>(0U));
            const Rows rows(elements, line, width);
            const Value<u32> length = lines.length();
            const Value<u32> begin = in_line * tile;
            const Value<u32> count = min(length - begin, tile);
            const Value<u32> whole = count / width;

            // Scan the tile alone, into shared memory.
            AnyVar sum(zero_of(type));
            Var<u32> first_head = tile;  // in the tile
            const auto scan_row = [&](const Value<u32>& k, bool tail) {
                const Row row = rows.scan(tail ? min(begin + k, length - 1U) : begin + k);
                const AnyValue before = sum.load();
                // The first row follows nothing.
                const Value<bool> follows = (k - lane) != 0U;
                const AnyValue all = select(follows, rows.after(before, row), row.sum);
                results.store(k, all);
                if (!tail) {
                    sum = select(follows, rows.end(before, row, all), broadcast(row.sum, rows.last_lane()));
                } else {
                    sum = broadcast(all, (count - 1U) % width);
                }
                if (row.heads) {
                    const Value<u32> here = select(*row.heads, k, tile);
                    first_head = min(Value<u32>(first_head), subgroup_min(here));
                }
            };
            $for (r, 0U, whole) {
                scan_row(r * width + lane, false);
            }
            if (aligned == 1) {
                $if (whole * width < count) {
                    scan_row(whole * width + lane, true);
                }
            }
            subgroup_barrier();

            const bool segmented = elements.has_segments();
            const Value<bool> is_first = in_line == 0U;
            const Value<u32> head = Value<u32>(first_head);
            const auto publish = [&](const AnyValue& total) {
                $if (lane == 0U) {
                    sums.store(number, total);
                    memory_barrier_buffer();
                    atomic_state(number).exchange(1U);
                }
            };
            // A segment that starts in this tile makes its last sum independent of the tiles before.
            if (segmented) {
                $if (head < tile) {
                    publish(sum.load());
                }
            }
            AnyVar before(elements.has_initial() ? elements.initial() : zero_of(type));
            $if (!is_first) {
                Var<u32> ready = 0U;
                $while (ready == 0U) {
                    Var<u32> seen = 0U;
                    $if (lane == 0U) {
                        seen = atomic_state(number - 1U).bit_or(0U);
                    }
                    ready = subgroup_broadcast(Value<u32>(seen), 0U);
                }
                memory_barrier_buffer();
                before = sums.load(number - 1U);
            }
            const bool starts_alone = !elements.has_initial() || segmented;
            if (!segmented) {
                const AnyValue all = elements.combine(before.load(), sum.load());
                publish(starts_alone ? select(is_first, sum.load(), all) : all);
            } else {
                $if (head >= tile) {
                    publish(elements.combine(before.load(), sum.load()));
                }
            }

            // Add the sum of the tiles before and store.
            const auto store_rows = [&](bool alone) {
                AnyVar last(before.load());  // the result before the row
                const auto result_at = [&](const Value<u32>& k) {
                    const AnyValue inside = results.load(k);
                    if (alone) return inside;
                    const AnyValue all = elements.combine(before.load(), inside);
                    return segmented ? select(k < head, all, inside) : all;
                };
                const auto store_row = [&](const Value<u32>& k, bool tail) {
                    const AnyValue inclusive = result_at(k);
                    std::vector<AnyValue> stored{inclusive};
                    if (is_exclusive) {
                        std::optional<Value<bool>> heads;
                        if (segmented)
                            heads.emplace(
                                elements.head(line, tail ? min(begin + k, length - 1U) : begin + k));
                        stored.push_back(rows.exclusive(last.load(), inclusive, heads));
                        if (!tail) last = broadcast(inclusive, rows.last_lane());
                    }
                    if (!tail) {
                        store(line.at(begin + k), stored.back());
                    } else {
                        $if (k < count) {
                            store(line.at(begin + k), stored.back());
                        }
                    }
                };
                $for (r, 0U, whole) {
                    store_row(r * width + lane, false);
                }
                if (aligned == 1) {
                    $if (whole * width < count) {
                        store_row(whole * width + lane, true);
                    }
                }
            };
            if (!starts_alone) {
                store_rows(false);
            } else {
                $if (is_first) {
                    store_rows(true);
                }
                $else { store_rows(false); }
            }
        });
    });
}

std::vector<AnyArgument> chain_arguments(const LineScan& scan, u32 tile, const AnyBuffer& state,
                                         const AnyBuffer& sums) {
    std::vector<AnyArgument> arguments;
    scan.to.add_arguments(arguments);
    ScanElements::add_arguments(arguments, scan);
    scan.lines.add_arguments(arguments);
    arguments.emplace_back(static_cast<u32>(divide_up(scan.lines.length(), tile)));
    arguments.emplace_back(state);
    arguments.emplace_back(sums);
    return arguments;
}

}  // namespace volley::algorithms
