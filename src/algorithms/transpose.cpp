// Permuted arrays, and the kernel that evaluates them in tiles. A tile extends along the last axis of the
// source and the last axis of the result, so that loads and stores are contiguous.
#include "algorithms/execution.hpp"
#include "algorithms/permutation.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/lang/control.hpp>
#include <volley/lang/ids.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace volley {
namespace {

constexpr std::string_view transpose_name = "transpose";

Shape permuted_shape(const Shape& shape, const std::vector<int>& axes) {
    std::vector<std::int64_t> extents;
    extents.reserve(axes.size());
    for (const int axis : axes) extents.push_back(shape[axis]);
    return Shape(std::span<const std::int64_t>(extents));
}

std::vector<int> checked_order(const std::vector<int>& axes, int rank) {
    std::vector<int> order;
    if (axes.empty()) {
        for (int axis = rank; axis-- > 0;) order.push_back(axis);
        return order;
    }
    if (std::cmp_not_equal(axes.size(), rank)) {
        fail(ErrorCode::InvalidArgument,
             cat(axes.size(), axes.size() == 1 ? " axis was" : " axes were", " named for an array with ",
                 rank, rank == 1 ? " dimension" : " dimensions"),
             transpose_name, "name each axis once, or none to reverse their order");
    }
    static_cast<void>(algorithms::checked_axes(axes, rank, transpose_name));
    for (const int axis : axes) order.push_back(algorithms::checked_axis(axis, rank, transpose_name));
    return order;
}

class PermutedSource final : public detail::SourceNode {
public:
    PermutedSource(const AnySource& source, std::vector<int> axes)
        : SourceNode(source.dtype(), permuted_shape(source.shape(), axes)),
          permutation_{source, std::move(axes)} {}

    [[nodiscard]] bool is_flat() const noexcept override { return false; }
    [[nodiscard]] bool moves_elements() const noexcept override { return true; }
    [[nodiscard]] const detail::Permutation* permutation() const noexcept override { return &permutation_; }
    void identify(KernelKey& key) const override {
        key.add(detail::ArrangedKind::Permuted).add(shape().rank());
        for (const int axis : permutation_.axes) key.add(axis);
        permutation_.source.identify(key);
    }
    void add_arguments(std::vector<AnyArgument>& arguments) const override {
        detail::add_extents(arguments, permutation_.source.shape());
        permutation_.source.add_arguments(arguments);
    }
    [[nodiscard]] LoadElement declare(ParameterList& parameters) const override {
        std::vector<Value<u32>> extents = detail::declare_extents(parameters, shape().rank());
        std::vector<int> place(extents.size());  // of each axis of the source
        for (std::size_t k = 0; k < place.size(); ++k)
            place[static_cast<std::size_t>(permutation_.axes[k])] = static_cast<int>(k);
        return [place = std::move(place), extents = std::move(extents),
                load = permutation_.source.declare(parameters)](const Position& at) {
            std::vector<Value<u32>> indices;
            for (const int k : place) indices.push_back(at[k]);
            return load(Position(std::move(indices), extents));
        };
    }
    [[nodiscard]] std::shared_ptr<const SourceNode> with_shape(const Shape&) const override {
        return nullptr;  // not called: never flat
    }

private:
    detail::Permutation permutation_;
};

// ---- tiles ----

struct TransposeTiles {
    u32 from;   // extent along the last axis of the source
    u32 to;     // extent along the last axis of the result
    u32 items;  // consecutive elements of the result that an invocation loads
    bool shared;
};

TransposeTiles tiles_for(const DeviceInfo& device, const TransposeTuning& tuning) {
    TransposeTiles t{64, 16, 16,
                     true};  // on a CPU, items == to makes the stores to a tile a transpose in registers
    switch (device_class(device)) {
        case DeviceClass::Cpu: break;
        case DeviceClass::Software: t = {16, 16, 4, false}; break;  // barriers are slow
        case DeviceClass::Gpu: t = {32, 32, 4, true}; break;
    }
    if (tuning.tile_from != 0) t.from = tuning.tile_from;
    if (tuning.tile_to != 0) t.to = t.items = tuning.tile_to;
    if (tuning.items != 0) t.items = tuning.items;
    if (tuning.shared != 0) t.shared = tuning.shared == 1;
    const u64 invocations = u64{t.from} * (t.to / std::max(t.items, 1U));
    if (t.items == 0 || t.to % t.items != 0 || invocations == 0 || invocations > 1024 ||
        u64{t.from} * t.to > 16384) {
        fail(ErrorCode::InvalidArgument,
             cat("tiles of ", t.from, " x ", t.to, " elements, ", t.items,
                 " in an invocation, are not possible"),
             transpose_name,
             "use items that divide tile_to, at most 1024 invocations and 16384 elements in a tile");
    }
    return t;
}

// The axes of both arrays, numbered as those of the source.
struct TilePlan {
    std::vector<int> axes;  // the order in the result
    int from;               // the last axis of the source
    int to;                 // the last axis of the result
    TransposeTiles tiles;
    bool banded;   // see band_of()
    bool whole;    // tiles cover the array exactly
    bool aligned;  // rows of the result are multiples of 16 elements
};

/// Returns how many tiles along the last axis of the result to move before those beside them. On a CPU, bands
/// of tiles stay within the pages that the processor's translation cache has, in both arrays.
std::int64_t band_of(const DeviceInfo& device, std::int64_t tiles) {
    constexpr std::int64_t most = 64;
    if (device_class(device) != DeviceClass::Cpu || tiles <= most) return tiles;
    return algorithms::divide_up(tiles, algorithms::divide_up(tiles, most));
}

// Loads with neighbouring invocations along the last axis of the source, stores with neighbouring ones along
// the last axis of the result.
class TileWalk {
public:
    TileWalk(const TilePlan& plan, const StoreElement& store, const LoadElement& load, DType type,
             std::vector<Value<u32>> extents, const Value<u32>& band, const Value<u32>& bands)
        : plan_(plan),
          store_(store),
          load_(load),
          type_(type),
          extents_(std::move(extents)),
          band_(band),
          bands_(bands) {
        for (const int axis : plan.axes) to_extents_.push_back(extents_[at(axis)]);
    }

    void record() const {
        const TransposeTiles& tiles = plan_.tiles;
        const auto group = group_id();
        const Value<u32> number = plan_.banded ? group.z / bands_ : group.z;
        const Value<u32> tile_to =
            plan_.banded ? (group.z - number * bands_) * band_ + group.x : Value<u32>(group.x);
        const Value<u32> first_to = tile_to * tiles.to, first_from = group.y * tiles.from;
        const std::vector<Value<u32>> outer = outer_indices(number);
        if (plan_.whole) {
            move(outer, first_from, first_to, false);
            return;
        }
        $if (first_from + tiles.from <= extents_[at(plan_.from)] &&
             first_to + tiles.to <= extents_[at(plan_.to)]) {
            move(outer, first_from, first_to, false);
        }
        $else { move(outer, first_from, first_to, true); }
    }

private:
    static std::size_t at(int axis) { return static_cast<std::size_t>(axis); }

    // Indices along the axes that have no tiles, in the order of the source.
    [[nodiscard]] std::vector<Value<u32>> outer_indices(const Value<u32>& number) const {
        std::vector<Value<u32>> extents;
        for (int axis = 0; axis < rank(); ++axis)
            if (axis != plan_.from && axis != plan_.to) extents.push_back(extents_[at(axis)]);
        const Position position = position_of(number, extents);
        return {position.indices().begin(), position.indices().end()};
    }
    [[nodiscard]] int rank() const { return static_cast<int>(extents_.size()); }

    [[nodiscard]] std::vector<Value<u32>> indices(const std::vector<Value<u32>>& outer,
                                                  const Value<u32>& from, const Value<u32>& to) const {
        std::vector<Value<u32>> all_indices;
        all_indices.reserve(extents_.size());
        std::size_t next = 0;
        for (int axis = 0; axis < rank(); ++axis)
            all_indices.push_back(axis == plan_.from ? from : axis == plan_.to ? to : outer[next++]);
        return all_indices;
    }
    [[nodiscard]] AnyValue load(const std::vector<Value<u32>>& source_indices) const {
        return load_(Position(source_indices, extents_));
    }
    void store(const std::vector<Value<u32>>& source_indices, const AnyValue& value) const {
        std::vector<Value<u32>> to_indices;
        for (const int axis : plan_.axes) to_indices.push_back(source_indices[at(axis)]);
        store_(Position(std::move(to_indices), to_extents_), value);
    }

    void move(const std::vector<Value<u32>>& outer, const Value<u32>& first_from, const Value<u32>& first_to,
              bool guarded) const {
        const auto inside = [&](const Value<u32>& from, const Value<u32>& to) {
            return from < extents_[at(plan_.from)] && to < extents_[at(plan_.to)];
        };
        const TransposeTiles& tiles = plan_.tiles;
        const auto id = local_id();
        if (!tiles.shared) {
            for (u32 k = 0; k < tiles.items; ++k) {
                const Value<u32> from = first_from + id.x, to = first_to + (id.y * tiles.items + k);
                const std::vector<Value<u32>> place = indices(outer, from, to);
                if (guarded) {
                    $if (inside(from, to)) {
                        store(place, load(place));
                    }
                } else {
                    store(place, load(place));
                }
            }
            return;
        }
        const u32 rows = tiles.to / tiles.items;
        const u32 pitch = rows == 1 ? tiles.to : tiles.to + 1;  // columns in different banks of shared memory
        const AnyArray tile = AnyArray::shared(type_, std::uint64_t{tiles.from} * pitch);
        std::vector<AnyValue> values;
        const Value<u32> row = id.y * tiles.items;
        for (u32 k = 0; k < tiles.items; ++k) {
            const Value<u32> from = first_from + id.x, to = first_to + (row + k);
            if (guarded) {
                $if (inside(from, to)) {
                    tile.store(id.x * pitch + (row + k), load(indices(outer, from, to)));
                }
            } else {
                values.push_back(load(indices(outer, from, to)));
            }
        }
        for (u32 k = 0; k < values.size(); ++k) tile.store(id.x * pitch + (row + k), values[k]);
        barrier();
        const Value<u32> number = id.y * tiles.from + id.x;
        for (u32 k = 0; k < tiles.items; ++k) {
            const Value<u32> element = number + k * (tiles.from * rows);
            const Value<u32> y = element / tiles.to, x = element % tiles.to;
            const Value<u32> from = first_from + y, to = first_to + x;
            if (guarded) {
                $if (inside(from, to)) {
                    store(indices(outer, from, to), tile.load(y * pitch + x));
                }
            } else {
                store(indices(outer, from, to), tile.load(y * pitch + x));
            }
        }
    }

    const TilePlan& plan_;
    const StoreElement& store_;
    const LoadElement& load_;
    DType type_;
    std::vector<Value<u32>> extents_;     // of the source
    std::vector<Value<u32>> to_extents_;  // of the result
    Value<u32> band_, bands_;             // tiles of a band, and bands
};

AnyKernel tile_kernel(const AnySink& to, const AnySource& from, const TilePlan& plan) {
    KernelKey key(transpose_name);
    for (const int axis : plan.axes) key.add(axis);
    key.add(plan.tiles.from).add(plan.tiles.to).add(plan.tiles.items).add(plan.tiles.shared);
    key.add(plan.banded).add(plan.whole).add(plan.aligned);
    to.identify(key);
    from.identify(key);
    return algorithms::find_kernel(key, [&] {
        const u32 rows = plan.tiles.to / plan.tiles.items;
        return any_kernel(transpose_name, {.local = {plan.tiles.from, rows}}, [&](ParameterList& parameters) {
            const StoreElement store = to.declare(parameters);
            const LoadElement load = from.declare(parameters);
            std::vector<Value<u32>> extents;
            for (int axis = 0; axis < from.shape().rank(); ++axis) {
                // The factor shows that rows of the result are aligned.
                const Value<u32> extent = parameters.value<u32>();
                extents.push_back(plan.aligned && axis == plan.to ? extent * 16U : extent);
            }
            const auto band = parameters.value<u32>(), bands = parameters.value<u32>();
            TileWalk(plan, store, load, from.dtype(), std::move(extents), band, bands).record();
        });
    });
}

// Both arrays as their elements are moved: with fewer axes, and as integers.
struct Move {
    AnySink to;
    AnySource from;
    std::vector<int> axes;
};

// Merges axes that follow each other in both arrays, and leaves out those of length 1.
Move merged(const AnySink& to, const AnySource& from, const std::vector<int>& axes) {
    if (!to.is_flat() || !from.is_flat()) return {to, from, axes};
    std::vector<std::vector<int>> runs;  // of axes of the source, in the order of the result
    for (const int axis : axes) {
        if (from.shape()[axis] == 1) continue;
        const auto follows = [&] {
            if (runs.empty()) return false;
            for (int k = runs.back().back() + 1; k < axis; ++k)
                if (from.shape()[k] != 1) return false;
            return runs.back().back() < axis;
        };
        if (follows()) {
            runs.back().push_back(axis);
        } else {
            runs.push_back({axis});
        }
    }
    std::vector<std::size_t> order(runs.size());  // of the runs, as in the source
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return runs[a][0] < runs[b][0]; });
    std::vector<std::int64_t> from_extents, to_extents;
    const auto extent_of_run = [&](std::size_t run) {
        std::int64_t extent = 1;
        for (const int axis : runs[run]) extent *= from.shape()[axis];
        return extent;
    };
    std::vector<int> merged_axes(runs.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
        merged_axes[order[k]] = static_cast<int>(k);
        from_extents.push_back(extent_of_run(order[k]));
    }
    for (std::size_t run = 0; run < runs.size(); ++run) to_extents.push_back(extent_of_run(run));
    return {to.reshape(Shape(std::span<const std::int64_t>(to_extents))),
            from.reshape(Shape(std::span<const std::int64_t>(from_extents))), merged_axes};
}

// Views buffers of other types as unsigned integers: transposes in registers take only scalars, and kernels
// serve several types.
Move as_integers(const Move& move) {
    const AnyBuffer *to = move.to.buffer(), *from = move.from.buffer();
    if (to == nullptr || from == nullptr) return move;
    const std::size_t size = to->dtype().size();
    const DType type = size == 1   ? dtype_of<u8>()
                       : size == 2 ? dtype_of<u16>()
                       : size == 4 ? dtype_of<u32>()
                       : size == 8 ? dtype_of<u64>()
                                   : to->dtype();
    const auto fits = [&](const AnyBuffer& buffer) {
        return buffer.offset() % size == 0 && std::ranges::all_of(buffer.strides(), [&](std::int64_t stride) {
                   return stride % static_cast<std::int64_t>(size) == 0;
               });
    };
    if (type == to->dtype() || !fits(*to) || !fits(*from)) return move;
    return {to->view_as(type), from->view_as(type), move.axes};
}

}  // namespace

std::optional<Event> algorithms::transpose_in_tiles(const AnySink& to, const detail::Permutation& from,
                                                    const std::optional<Queue>& queue,
                                                    const TransposeTuning& tuning) {
    if (to.shape().elements() == 0) return std::nullopt;
    const Move move = as_integers(merged(to, from.source, from.axes));
    const int rank = move.from.shape().rank();
    if (rank == 0 || move.axes.back() == rank - 1) {
        if (!std::is_sorted(move.axes.begin(), move.axes.end())) return std::nullopt;
        return transform(move.to, move.from, {.queue = queue});  // a copy
    }
    TilePlan plan{.axes = move.axes,
                  .from = rank - 1,
                  .to = move.axes.back(),
                  .tiles = {},
                  .banded = false,
                  .whole = false,
                  .aligned = false};
    const std::int64_t from_extent = move.from.shape()[plan.from], to_extent = move.from.shape()[plan.to];
    constexpr std::int64_t shortest = 8;
    if (std::min(from_extent, to_extent) < shortest) return std::nullopt;

    const Execution execution(queue, {&move.from}, {&move.to});
    std::vector<AnyArgument> arguments;
    move.to.add_arguments(arguments);
    move.from.add_arguments(arguments);
    plan.aligned = move.to.is_flat() && to_extent % 16 == 0;
    std::int64_t outer = 1;
    for (int axis = 0; axis < rank; ++axis) {
        const std::int64_t extent = move.from.shape()[axis];
        arguments.emplace_back(static_cast<u32>(plan.aligned && axis == plan.to ? extent / 16 : extent));
        if (axis != plan.from && axis != plan.to) outer *= extent;
    }
    Event done;
    for (const Target& target : execution.targets()) {
        plan.tiles = tiles_for(*target.device, tuning);
        const TransposeTiles& tiles = plan.tiles;
        const std::int64_t tiles_to = divide_up(to_extent, tiles.to);
        const std::int64_t band = band_of(*target.device, tiles_to), bands = divide_up(tiles_to, band);
        plan.banded = bands > 1;
        plan.whole = from_extent % tiles.from == 0 && to_extent % tiles.to == 0 && tiles_to == band * bands;
        std::vector<AnyArgument> of_target = arguments;
        of_target.emplace_back(static_cast<u32>(band));
        of_target.emplace_back(static_cast<u32>(bands));
        const AnyKernel kernel = tile_kernel(move.to, move.from, plan)
                                     .groups({band, divide_up(from_extent, tiles.from), bands * outer});
        done = launch(kernel, target, of_target);
    }
    return done;
}

AnySource detail::permuted(const AnySource& source, const std::vector<int>& axes) {
    std::vector<int> order = checked_order(axes, source.shape().rank());
    if (const Permutation* inner = source.node().permutation()) {
        for (int& axis : order) axis = inner->axes[static_cast<std::size_t>(axis)];
        return permuted(inner->source, order);
    }
    if (std::is_sorted(order.begin(), order.end())) return source;
    return AnySource(std::make_shared<PermutedSource>(source, std::move(order)));
}

std::vector<int> detail::swapped_axes(int rank, int a, int b) {
    std::vector<int> axes(static_cast<std::size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
    std::swap(axes[static_cast<std::size_t>(algorithms::checked_axis(a, rank, "swap_axes"))],
              axes[static_cast<std::size_t>(algorithms::checked_axis(b, rank, "swap_axes"))]);
    return axes;
}

std::vector<int> detail::moved_axis(int rank, int from, int to) {
    const int source = algorithms::checked_axis(from, rank, "move_axis");
    const int place = algorithms::checked_axis(to, rank, "move_axis");
    std::vector<int> axes;
    for (int axis = 0; axis < rank; ++axis)
        if (axis != source) axes.push_back(axis);
    axes.insert(axes.begin() + place, source);
    return axes;
}

Event transpose(const AnySink& to, const AnySource& from, const TransposeOptions& options) {
    const AnySource source = detail::permuted(from, options.axes);
    algorithms::check_sink(to, source.dtype(), source.shape(), transpose_name);
    algorithms::check_no_overlap(to, source, false, transpose_name);
    if (const detail::Permutation* permutation = source.node().permutation()) {
        if (const auto done = algorithms::transpose_in_tiles(to, *permutation, options.queue, options.tuning))
            return *done;
    }
    return transform(to, source, {.queue = options.queue});
}

}  // namespace volley
