// Selections on devices whose subgroups are vectors: each workgroup, a single subgroup, selects from a tile,
// row by row. A row has one element per lane; the lanes that selected theirs store at a prefix sum, which the
// code generator turns into a compressed vector.
//
// In one pass, a workgroup collects the elements of its tile in shared memory, publishes their number, and
// looks back for the numbers of the tiles before it (decoupled look-back). Progress: tiles are numbered in
// the order in which workgroups start, so that the tiles before have started. A workgroup that has polled a
// tile for a while counts its elements itself, so that none depends on another.
#include "algorithms/execution.hpp"
#include "algorithms/scan_elements.hpp"
#include "algorithms/select_elements.hpp"

#include <volley/lang/atomic.hpp>
#include <volley/lang/cast.hpp>
#include <volley/lang/control.hpp>
#include <volley/lang/ids.hpp>
#include <volley/lang/math.hpp>
#include <volley/lang/subgroup.hpp>
#include <volley/lang/var.hpp>

#include <functional>
#include <string_view>

namespace volley::algorithms {
namespace {

// The upper half of a tile's state; the lower half is a number of elements.
constexpr u64 selected_here = u64{1} << 32U;    ///< in the tile
constexpr u64 selected_so_far = u64{2} << 32U;  ///< up to the end of the tile
constexpr u32 selection_patience = 500;         ///< polls of a tile before its elements are counted again

/// A row of elements.
struct SelectRow {
    Value<u32> first;  ///< the number of the element of lane 0
    Value<u32> i;      ///< the number of this lane's element
    SelectCandidate candidate;
    std::optional<Value<bool>> exists;  ///< whether this lane has an element; unset: all have
};

/// Returns for how many lanes the condition is true.
Value<u32> lanes_with(const Value<bool>& condition, u32 width) {
    const Value<vec<u32, 4>> ballot = subgroup_ballot(condition);
    const Value<u32> low = popcount(ballot.x);
    if (width <= 32) return low;
    return low + popcount(ballot.y);
}
/// Returns for how many lower lanes the condition is true.
Value<u32> lanes_before(const Value<bool>& condition) {
    return subgroup_exclusive_add(select(condition, 1U, 0U));
}

class SelectTiles {
public:
    SelectTiles(ParameterList& parameters, const SelectRequest& request, bool counts_only, u32 width,
                u32 tile)
        : elements(parameters, request, counts_only),
          size(parameters.value<u32>()),
          length(parameters.value<u32>()),
          tiles(parameters.value<u32>()),
          width_(width),
          tile_(tile),
          tails_(request.size() % width != 0),
          lane_(subgroup_lane()) {}

    static KernelKey key(std::string_view name, const SelectRequest& request, bool counts_only, u32 width,
                         u32 tile) {
        KernelKey key(name);
        SelectElements::identify(key, request, counts_only);
        key.add(width).add(tile).add(request.size() % width != 0);
        return key;
    }

    /// Records `body(row)` for the rows of a tile.
    void each(const Value<u32>& number, const std::function<void(const SelectRow&)>& body) const {
        const Value<u32> begin = number * tile_;
        const Value<u32> count = min(size - begin, tile_);
        const Value<u32> whole = count / width_;
        std::optional<AnyVar> last;  // of the row before
        if (elements.compares_neighbours()) last.emplace(elements.load(max(begin, 1U) - 1U));
        const auto tested = [&](const Value<u32>& i) {
            if (!last) return elements.test(i, std::nullopt);
            const AnyValue x = elements.load(i);
            const AnyValue before = select(lane_ == 0U, last->load(), shuffle(x, lane_ - 1U));
            *last = broadcast(x, Value<u32>(width_ - 1));
            return elements.test_neighbours(i, before, x);
        };
        $for (r, 0U, whole) {
            const Value<u32> first = begin + r * width_;
            const Value<u32> i = first + lane_;
            body({first, i, tested(i), {}});
        }
        if (!tails_) return;
        $if (whole * width_ < count) {
            const Value<u32> first = begin + whole * width_;
            const Value<bool> exists = lane_ < size - first;
            const Value<u32> i = min(first + lane_, size - 1U);
            const SelectCandidate candidate = tested(i);
            body({first, i, {candidate.selected && exists, candidate.value}, exists});
        }
    }
    /// Returns how many elements of a tile are selected.
    [[nodiscard]] Value<u32> count(const Value<u32>& number) const {
        Var<u32> sum = 0U;
        each(number, [&](const SelectRow& row) { sum += lanes_with(row.candidate.selected, width_); });
        return sum;
    }

    SelectElements elements;
    Value<u32> size;
    Value<u32> length;
    Value<u32> tiles;

    [[nodiscard]] const Value<u32>& lane() const { return lane_; }
    [[nodiscard]] u32 width() const { return width_; }

private:
    u32 width_;
    u32 tile_;
    bool tails_;
    Value<u32> lane_;
};

/// The states of the tiles.
class SelectChain {
public:
    SelectChain(ParameterList& parameters, const SelectTiles& tiles)
        : tiles_(tiles), states_(parameters.buffer(dtype_of<u64>())) {}

    /// Returns the number of this workgroup's tile.
    [[nodiscard]] Value<u32> claim() const {
        Var<u32> claimed = 0U;
        $if (tiles_.lane() == 0U) {
            claimed = cast<u32>(state(tiles_.tiles).add(u64{1}));  // the counter follows the states
        }
        return subgroup_broadcast(Value<u32>(claimed), 0U);
    }
    void publish(const Value<u32>& number, u64 what, const Value<u32>& count) const {
        $if (tiles_.lane() == 0U) {
            state(number).exchange(cast<u64>(count) | what);
        }
    }
    /// Returns how many elements are selected in the tiles before this one.
    [[nodiscard]] Value<u32> look_back(const Value<u32>& number) const {
        Var<u32> before = 0U;
        Var<u32> next = number;  // the elements of tiles from here on are counted
        Var<u32> polls = 0U;
        $while (Value<u32>(next) > 0U) {
            const Value<u32> at = Value<u32>(next) - 1U;
            const Value<u64> found = poll(at);
            $if (found >= selected_so_far) {
                before += cast<u32>(found);
                next = 0U;
            }
            $elif (found >= selected_here) {
                before += cast<u32>(found);
                next = at;
                polls = 0U;
            }
            $elif (Value<u32>(polls) < selection_patience) {
                polls += 1U;
            }
            $else {
                before += tiles_.count(at);
                next = at;
                polls = 0U;
            }
        }
        return before;
    }

private:
    [[nodiscard]] Value<u64> poll(const Value<u32>& number) const {
        Var<u64> seen = u64{0};
        $if (tiles_.lane() == 0U) {
            seen = state(number).bit_or(u64{0});
        }
        return subgroup_broadcast(Value<u64>(seen), 0U);
    }
    [[nodiscard]] Atomic<u64> state(const Value<u32>& number) const {
        const lang::ElementIndex at(number);
        return Atomic<u64>(lang::locate(ref_of(states_), &at.ref, 1));
    }

    const SelectTiles& tiles_;
    AnyArray states_;
};

/// The selected elements of a tile, in shared memory.
class CollectedTile {
public:
    CollectedTile(const SelectRequest& request, const SelectElements& elements, u32 tile)
        : elements_(elements) {
        if (elements.has_values()) values_ = AnyArray::shared(request.from.dtype(), tile);
        if (elements.has_indices()) indices_ = AnyArray::shared(dtype_of<u32>(), tile);
    }

    void collect(const Value<u32>& to, const SelectRow& row) const {
        if (values_) values_->store(to, elements_.value_of(row.candidate, row.i));
        if (indices_) indices_->store(to, row.i);
    }
    /// Stores element `from` to the outputs.
    void store(const Value<u32>& to, const Value<u32>& from) const {
        if (values_) elements_.store_value(to, values_->load(from));
        if (indices_) elements_.store_index(to, indices_->load(from).as<u32>());
    }

private:
    const SelectElements& elements_;
    std::optional<AnyArray> values_, indices_;
};

}  // namespace

AnyKernel select_tile_count_kernel(const SelectRequest& request, u32 width, u32 tile) {
    return find_kernel(SelectTiles::key("select tile count", request, true, width, tile), [&] {
        return any_kernel("select: count", {.local = width}, [&](ParameterList& parameters) {
            const SelectTiles tiles(parameters, request, true, width, tile);
            const AnyArray counts = parameters.buffer(dtype_of<u32>());
            const Value<u32> number = group_id().x;
            const Value<u32> count = tiles.count(number);
            $if (tiles.lane() == 0U) {
                counts.store(number, count);
                $if (number == 0U) {
                    counts.store(tiles.tiles, Value<u32>(0U));
                }
            }
        });
    });
}

AnyKernel select_tile_write_kernel(const SelectRequest& request, u32 width, u32 tile) {
    return find_kernel(SelectTiles::key("select tile write", request, false, width, tile), [&] {
        return any_kernel("select: write", {.local = width}, [&](ParameterList& parameters) {
            const SelectTiles tiles(parameters, request, false, width, tile);
            const SelectElements& elements = tiles.elements;
            const AnyArray counts = parameters.const_buffer(dtype_of<u32>());
            const Value<u32> number = group_id().x;
            const Value<u32> count = counts.load(tiles.tiles).as<u32>();
            Var<u32> begin = counts.load(number).as<u32>();
            tiles.each(number, [&](const SelectRow& row) {
                const Value<bool>& selected = row.candidate.selected;
                const Value<u32> to = begin;
                const Value<u32> at = to + lanes_before(selected);
                $if (selected) {
                    elements.store(at, row.candidate, row.i);
                }
                begin = to + lanes_with(selected, width);
                if (!request.divides) return;
                // row.first - to elements before this row are not selected.
                const Value<bool> other = row.exists ? !selected && *row.exists : !selected;
                const Value<u32> other_at = count + (row.first - to) + lanes_before(other);
                $if (other) {
                    elements.store(other_at, row.candidate, row.i);
                }
            });
            $if (number == 0U && tiles.lane() == 0U) {
                elements.store_count(count);
            }
        });
    });
}

AnyKernel select_chain_kernel(const SelectRequest& request, u32 width, u32 tile) {
    return find_kernel(SelectTiles::key("select chain", request, false, width, tile), [&] {
        return any_kernel("select: chain", {.local = width}, [&](ParameterList& parameters) {
            const SelectTiles tiles(parameters, request, false, width, tile);
            const SelectElements& elements = tiles.elements;
            const SelectChain chain(parameters, tiles);
            const CollectedTile collected(request, elements, tile);
            const Value<u32>& lane = tiles.lane();

            const Value<u32> number = chain.claim();
            Var<u32> sum = 0U;
            tiles.each(number, [&](const SelectRow& row) {
                const Value<bool>& selected = row.candidate.selected;
                const Value<u32> to = sum;
                const Value<u32> at = to + lanes_before(selected);
                $if (selected) {
                    collected.collect(at, row);
                }
                sum = to + lanes_with(selected, width);
            });
            subgroup_barrier();
            const Value<u32> count = sum;
            Var<u32> before = 0U;
            $if (number > 0U) {
                chain.publish(number, selected_here, count);
                before = chain.look_back(number);
            }
            const Value<u32> begin = before;
            chain.publish(number, selected_so_far, begin + count);
            $if (number + 1U == tiles.tiles && lane == 0U) {
                elements.store_count(begin + count);
            }
            // Aligned rows can be stored past the caches.
            const Value<u32> aligned = (begin + (width - 1)) / width * width;
            const Value<u32> head = min(aligned - begin, count);
            $if (lane < head) {
                collected.store(begin + lane, lane);
            }
            const Value<u32> whole = (count - head) / width;
            $for (r, 0U, whole) {
                const Value<u32> k = r * width + lane;
                collected.store(aligned + k, head + k);
            }
            const Value<u32> k = head + whole * width + lane;
            $if (k < count) {
                collected.store(begin + k, k);
            }
        });
    });
}

}  // namespace volley::algorithms
