// Scans of long lines along the last axis in one pass: each workgroup scans a tile in shared memory, adds the
// sum of the tiles before it and stores. A tile publishes its own sum first, and then the sum up to its end;
// the next tiles look back for the nearest sum up to a tile's end, and add the sums of the tiles after that
// (decoupled look-back). The sums are added in the order of the tiles whichever were published, so that
// results do not depend on timing.
//
// Progress: tiles are numbered in the order in which workgroups start, so that the tiles before have started.
// A workgroup that has polled a tile for a while computes its sum itself: no workgroup depends on another,
// even if the operating system has suspended its thread.
#include "algorithms/execution.hpp"
#include "algorithms/scan_rows.hpp"

#include <volley/lang/atomic.hpp>
#include <volley/lang/cast.hpp>
#include <volley/lang/control.hpp>
#include <volley/lang/var.hpp>

#include <functional>

namespace volley::algorithms {
namespace {

/// The states of a tile.
constexpr u32 tile_summed = 1;    ///< its own sum is published
constexpr u32 tile_complete = 2;  ///< the sum of its line up to its end is published

constexpr u32 patience = 500;  ///< polls of a tile before its sum is computed again

/// The sum of a tile, and the first element at which a segment starts, or the size of a tile.
struct TileSum {
    explicit TileSum(DType type, u32 tile) : sum(zero_of(type)), head(tile) {}
    AnyVar sum;
    Var<u32> head;
};

class ScanTiles {
public:
    ScanTiles(ParameterList& parameters, const LineScan& scan, u32 width, u32 tile)
        : elements_(parameters, scan),
          lines_(parameters, scan.lines, true, row_alignment(scan, width)),
          per_line_(parameters.value<u32>()),
          state_(parameters.buffer(dtype_of<u32>())),
          own_(parameters.buffer(scan.from.dtype())),
          complete_(parameters.buffer(scan.from.dtype())),
          width_(width),
          tile_(tile),
          tails_(row_alignment(scan, width) == 1),
          lane_(subgroup_lane()) {}

    [[nodiscard]] const ScanElements& elements() const { return elements_; }
    [[nodiscard]] const Value<u32>& lane() const { return lane_; }
    [[nodiscard]] bool tails() const { return tails_; }
    [[nodiscard]] const Value<u32>& per_line() const { return per_line_; }
    [[nodiscard]] Line line(const Value<u32>& outer) const { return lines_.line(outer, Value<u32>(0U)); }
    [[nodiscard]] Value<u32> begin(const Value<u32>& in_line) const { return in_line * tile_; }
    [[nodiscard]] Value<u32> count(const Value<u32>& begin) const {
        return min(lines_.length() - begin, tile_);
    }
    [[nodiscard]] Value<u32> last() const { return lines_.length() - 1U; }

    /// Returns the number of this workgroup's tile.
    [[nodiscard]] Value<u32> claim() const {
        Var<u32> claimed = 0U;
        $if (lane_ == 0U) {
            claimed = state(Value<u32>(group_count().x)).add(1U);  // the counter follows the states
        }
        return subgroup_broadcast(Value<u32>(claimed), 0U);
    }
    void publish(const Value<u32>& number, u32 what, const AnyValue& sum) const {
        $if (lane_ == 0U) {
            (what == tile_summed ? own_ : complete_).store(number, sum);
            memory_barrier_buffer();
            state(number).exchange(what);
        }
    }
    [[nodiscard]] Value<u32> poll(const Value<u32>& number) const {
        Var<u32> seen = 0U;
        $if (lane_ == 0U) {
            seen = state(number).bit_or(0U);
        }
        const Value<u32> result = subgroup_broadcast(Value<u32>(seen), 0U);
        memory_barrier_buffer();
        return result;
    }

    /// Scans a tile alone. `store`, if any, receives the results by their index in the tile.
    void scan_alone(const Line& line, const Value<u32>& begin, TileSum& total,
                    const std::function<void(const Value<u32>&, const AnyValue&)>& store) const {
        const ScanRows rows(elements_, line, width_);
        const Value<u32> count = this->count(begin);
        const Value<u32> whole = count / width_;
        const auto finish = [&](const Value<u32>& k, const Row& row, const AnyValue& results) {
            if (store) store(k, results);
            if (row.heads)
                total.head = min(Value<u32>(total.head), subgroup_min(select(*row.heads, k, tile_)));
        };
        $if (whole > 0U) {
            const Row row = rows.scan(begin + lane_);
            finish(lane_, row, row.sum);
            total.sum = broadcast(row.sum, rows.last_lane());
        }
        $for (r, 1U, whole) {
            const Value<u32> k = r * width_ + lane_;
            const Row row = rows.scan(begin + k);
            const AnyValue before = total.sum.load();
            const AnyValue results = rows.after(before, row);
            finish(k, row, results);
            total.sum = rows.end(before, row, results);
        }
        if (!tails_) return;
        $if (whole * width_ < count) {
            const Value<u32> k = whole * width_ + lane_;
            const Row row = rows.scan(min(begin + k, last()));
            const AnyValue results = select(whole > 0U, rows.after(total.sum.load(), row), row.sum);
            finish(k, row, results);
            total.sum = broadcast(results, (count - 1U) % width_);
        }
    }

    /// Sets `sum` to the sum of the tiles of the line before this one. There is at least one.
    void look_back(const Line& line, const Value<u32>& number, const Value<u32>& in_line, AnyVar& sum) const {
        const Value<u32> first = number - in_line;
        Var<u32> next = number;  // the first tile whose sum is missing
        $while (Value<u32>(next) > first) {
            $if (poll(Value<u32>(next) - 1U) == tile_complete) {
                $break;
            }
            next -= 1U;
        }
        $if (Value<u32>(next) > first) {
            sum = complete_.load(Value<u32>(next) - 1U);
        }
        Var<u32> polls = 0U;
        $while (Value<u32>(next) < number) {
            const Value<u32> at = next;
            const Value<u32> found = poll(at);
            $if (found == tile_complete) {
                sum = complete_.load(at);
                next = at + 1U;
                polls = 0U;
            }
            $elif (found == tile_summed) {
                add(sum, at == first, own_.load(at));
                next = at + 1U;
                polls = 0U;
            }
            $elif (polls < patience) {
                polls += 1U;
            }
            $else {
                TileSum total(own_.dtype(), tile_);
                scan_alone(line, begin(at - first), total, {});
                // If it was published meanwhile, its elements may have been overwritten by results.
                $if (poll(at) == 0U) {
                    const AnyValue alone = total.sum.load();
                    $if (Value<u32>(total.head) < tile_) {
                        sum = alone;
                    }
                    $else { add(sum, at == first, alone); }
                    next = at + 1U;
                }
                polls = 0U;
            }
        }
    }

    /// Adds the sum of a tile to that of the tiles before it, if there are any.
    void add(AnyVar& sum, const Value<bool>& is_first, const AnyValue& more) const {
        const AnyValue all = elements_.combine(sum.load(), more);
        sum = elements_.has_initial() && !elements_.has_segments() ? all : select(is_first, more, all);
    }

private:
    [[nodiscard]] Atomic<u32> state(const Value<u32>& number) const {
        const lang::ElementIndex at(number);
        return Atomic<u32>(lang::locate(ref_of(state_), &at.ref, 1));
    }

    ScanElements elements_;
    DeclaredLines lines_;
    Value<u32> per_line_;
    AnyArray state_;
    AnyArray own_;
    AnyArray complete_;
    u32 width_;
    u32 tile_;
    bool tails_;
    Value<u32> lane_;
};

}  // namespace

AnyKernel chain_kernel(const LineScan& scan, u32 width, u32 tile) {
    const bool exclusive = scan.request.exclusive;
    KernelKey key("scan chain");
    ScanElements::identify(key, scan);
    scan.to.identify(key);
    key.add(width).add(row_alignment(scan, width)).add(tile).add(exclusive);
    return find_kernel(key, [&] {
        return any_kernel("scan: chain", {.local = width}, [&](ParameterList& parameters) {
            const DType type = scan.from.dtype();
            const StoreElement store = scan.to.declare(parameters);
            const ScanTiles tiles(parameters, scan, width, tile);
            const ScanElements& elements = tiles.elements();
            const bool segmented = elements.has_segments();
            const AnyArray results = AnyArray::shared(type, tile);
            const Value<u32> lane = tiles.lane();

            const Value<u32> number = tiles.claim();
            const Value<u32> outer = number / tiles.per_line();
            const Value<u32> in_line = number - outer * tiles.per_line();
            const Value<bool> is_first = in_line == 0U;
            const Line line = tiles.line(outer);
            const Value<u32> begin = tiles.begin(in_line);
            const Value<u32> count = tiles.count(begin);

            TileSum total(type, tile);
            tiles.scan_alone(line, begin, total,
                             [&](const Value<u32>& k, const AnyValue& x) { results.store(k, x); });
            subgroup_barrier();
            const AnyValue own = total.sum.load();
            const Value<u32> head = Value<u32>(total.head);

            // A segment that starts in this tile makes its last sum independent of the tiles before.
            AnyVar before(elements.has_initial() ? elements.initial() : zero_of(type));
            const Value<bool> complete = segmented ? head < tile : is_first;
            $if (complete) {
                tiles.publish(
                    number, tile_complete,
                    elements.has_initial() && !segmented ? elements.combine(before.load(), own) : own);
            }
            $else { tiles.publish(number, tile_summed, own); }
            $if (!is_first) {
                tiles.look_back(line, number, in_line, before);
            }
            $if (!complete) {
                tiles.publish(number, tile_complete, elements.combine(before.load(), own));
            }

            const ScanRows rows(elements, line, width);
            const Value<u32> whole = count / width;
            // Adds the sum of the tiles before, unless there are none, and stores.
            const auto store_rows = [&](bool alone) {
                AnyVar last(before.load());  // the result before the row
                const auto store_row = [&](const Value<u32>& k, bool tail) {
                    const AnyValue inside = results.load(k);
                    const AnyValue all = alone ? inside : elements.combine(before.load(), inside);
                    const AnyValue inclusive = segmented && !alone ? select(k < head, all, inside) : all;
                    std::vector<AnyValue> stored{inclusive};
                    if (exclusive) {
                        std::optional<Value<bool>> heads;
                        const Value<u32> at = begin + k;
                        if (segmented) heads.emplace(elements.head(line, tail ? min(at, tiles.last()) : at));
                        stored.push_back(rows.exclusive(last.load(), inclusive, heads));
                        if (!tail) last = broadcast(inclusive, rows.last_lane());
                    }
                    if (!tail) {
                        store(line.at(begin + k), stored.back());
                        return;
                    }
                    $if (k < count) {
                        store(line.at(begin + k), stored.back());
                    }
                };
                $for (r, 0U, whole) {
                    store_row(r * width + lane, false);
                }
                if (tiles.tails()) {
                    $if (whole * width < count) {
                        store_row(whole * width + lane, true);
                    }
                }
            };
            if (elements.has_initial() && !segmented) {
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

std::vector<AnyArgument> chain_arguments(const LineScan& scan, u32 tile, const ChainState& state) {
    std::vector<AnyArgument> arguments;
    scan.to.add_arguments(arguments);
    ScanElements::add_arguments(arguments, scan);
    scan.lines.add_arguments(arguments);
    arguments.emplace_back(static_cast<u32>(divide_up(scan.lines.length(), tile)));
    arguments.emplace_back(state.states);
    arguments.emplace_back(state.own);
    arguments.emplace_back(state.complete);
    return arguments;
}

}  // namespace volley::algorithms
