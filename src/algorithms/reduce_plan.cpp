// Choices of kernels and their shapes.
//
// Rows suit long last axes that are reduced, columns last axes that are kept, and one result per invocation
// all that is short. Few results are split into parts, so that all cores have work, and so that no invocation
// loops more often than software devices allow (65,535 iterations).
#include "algorithms/reduce_plan.hpp"

#include <algorithm>
#include <bit>

namespace volley::algorithms {
namespace {

/// What the plans of a class of devices have in common.
struct StageShapes {
    std::int64_t lanes;      // that execute together
    std::int64_t row_local;  // invocations that share a row
    std::int64_t row_unroll;
    std::int64_t column_local;
    std::int64_t column_unroll;
    std::int64_t groups;   // workgroups that keep the device busy
    std::int64_t part;     // elements that are worth a workgroup
    std::int64_t longest;  // iterations of an invocation
    bool lockstep;
};

std::int64_t power_of_two(std::int64_t value) {
    return static_cast<std::int64_t>(
        std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(value, 1))));
}

StageShapes stage_shapes(const ReduceTask& task) {
    const DeviceInfo& device = *task.device;
    const std::int64_t lanes = power_of_two(device.subgroup_size);
    StageShapes shapes{};
    switch (device_class(device)) {
        case DeviceClass::Cpu: shapes = {lanes, lanes, 8, 1024, 8, 32, 1 << 15, 1 << 14, true}; break;
        case DeviceClass::Software:
            shapes = {std::max<std::int64_t>(lanes, 8), 32, 8, 64, 8, 16, 1 << 16, 1 << 12, false};
            break;
        case DeviceClass::Gpu:
            shapes = {std::max<std::int64_t>(lanes, 32), 256, 4, 64, 4, 512, 1 << 14, 1 << 14, false};
            break;
    }
    const std::int64_t most = power_of_two(device.max_local_size);
    if (task.tuning.local > 0) shapes.row_local = shapes.column_local = task.tuning.local;
    if (task.tuning.unroll > 0) shapes.row_unroll = shapes.column_unroll = task.tuning.unroll;
    shapes.row_local = std::min(shapes.row_local, most);
    shapes.column_local = std::min(shapes.column_local, most);
    return shapes;
}

/// Returns into how many parts to split each of `results` results of `count` elements: enough for `wanted`
/// parts in all with at least `part` elements each, and few enough elements per part, `most`.
std::int64_t split_of(const ReduceTask& task, std::int64_t results, std::int64_t count, std::int64_t wanted,
                      std::int64_t part, std::int64_t most) {
    std::int64_t splits = std::min(divide_up(wanted, std::max<std::int64_t>(results, 1)), count / part);
    if (task.tuning.splits > 0) splits = std::min<std::int64_t>(splits, task.tuning.splits);
    return std::clamp<std::int64_t>(splits, std::max<std::int64_t>(divide_up(count, most), 1),
                                    std::max<std::int64_t>(count, 1));
}

StagePlan rows(const ReduceTask& task, const StageShapes& shapes, const ReduceAxes& axes, int inner,
               bool whole) {
    const std::int64_t results = axes.count(AxisRole::Kept);
    const std::int64_t outer = axes.count(AxisRole::Reduced, inner);
    const std::int64_t length = axes.extent(inner);
    StagePlan plan;
    plan.kind = StageKind::Rows;
    plan.inner = inner;
    plan.local = static_cast<std::uint32_t>(shapes.row_local);
    plan.unroll = static_cast<std::uint32_t>(shapes.row_unroll);
    plan.ordered = !task.commutative;
    plan.chunk = length;
    if (!whole) {
        plan.splits = split_of(task, results, outer * length, shapes.groups, shapes.part,
                               shapes.longest * shapes.row_local);
    }
    if (plan.splits > 1) {
        if (outer < plan.splits) {
            // Multiples of what a workgroup loads at once.
            plan.chunk = round_up(divide_up(length, divide_up(plan.splits, outer)),
                                  shapes.row_local * shapes.row_unroll);
            plan.chunks = divide_up(length, plan.chunk);
        }
        // No part is empty.
        const std::int64_t units = outer * plan.chunks;
        plan.splits = divide_up(units, divide_up(units, std::min(plan.splits, units)));
    }
    if (plan.splits == 1) {
        plan.chunk = length;
        plan.chunks = 1;
        // Short rows share a workgroup.
        const std::int64_t most = std::max<std::int64_t>(results / (4 * shapes.groups), 1);
        plan.run = std::clamp<std::int64_t>((1 << 14) / std::max<std::int64_t>(outer * length, 1), 1, most);
    }
    return plan;
}

StagePlan columns(const ReduceTask& task, const StageShapes& shapes, const ReduceAxes& axes,
                  std::int64_t folded, bool whole) {
    StagePlan plan;
    plan.kind = StageKind::Columns;
    plan.inner = axes.last();
    plan.folded = folded;
    const std::int64_t width = axes.extent(plan.inner) * folded;
    const std::int64_t count = divide_up(axes.count(AxisRole::Reduced), folded);
    const std::int64_t results = axes.count(AxisRole::Kept, plan.inner);
    // As wide as the rows, in vectors.
    std::int64_t local = shapes.lanes;
    while (local < shapes.column_local && local * 2 <= width) local *= 2;
    plan.local = static_cast<std::uint32_t>(std::min(local, power_of_two(task.device->max_local_size)));
    plan.unroll = static_cast<std::uint32_t>(shapes.column_unroll);
    plan.lockstep = shapes.lockstep && plan.local > shapes.lanes;
    if (!whole) {
        const std::int64_t tiles = divide_up(width, plan.local);
        plan.splits = split_of(task, results * tiles, count, shapes.groups,
                               std::max<std::int64_t>(shapes.part / plan.local, 1), shapes.longest);
    }
    plan.chunk = divide_up(count, plan.splits);
    plan.splits = divide_up(count, plan.chunk);
    return plan;
}

StagePlan serial(const ReduceTask& task, const StageShapes& shapes, const ReduceAxes& axes, bool whole) {
    StagePlan plan;
    const std::int64_t count = axes.count(AxisRole::Reduced);
    plan.unroll = static_cast<std::uint32_t>(std::min<std::int64_t>(shapes.column_unroll, 4));
    if (!whole) {
        plan.splits = split_of(task, axes.count(AxisRole::Kept), count, shapes.groups * shapes.lanes * 4, 64,
                               shapes.longest);
    }
    plan.chunk = std::max<std::int64_t>(divide_up(count, plan.splits), 1);
    plan.splits = std::max<std::int64_t>(divide_up(count, plan.chunk), 1);
    return plan;
}

/// Returns how many rows of few columns to treat as one row, so that neighbouring invocations have
/// neighbouring elements; 1 for other axes.
std::int64_t folded_rows(const ReduceTask& task, const StageShapes& shapes, const ReduceAxes& axes) {
    const int last = axes.last();
    const bool two_axes = axes.rank() <= 3 && last == axes.rank() - 1 && last > 0 &&
                          axes.role(last - 1) == AxisRole::Reduced && task.flat && task.commutative;
    if (!two_axes) return 1;
    const std::int64_t folded = 4 * shapes.lanes;
    const bool few = axes.count(AxisRole::Kept) <= 16 * shapes.lanes * shapes.groups;
    return few && axes.count(AxisRole::Reduced) >= 64 * folded ? folded : 1;
}

}  // namespace

int ReduceAxes::last() const noexcept {
    for (int axis = rank(); axis-- > 0;) {
        if (role(axis) != AxisRole::Single) return axis;
    }
    return -1;
}

std::int64_t ReduceAxes::count(AxisRole wanted, int except) const noexcept {
    std::int64_t product = 1;
    for (int axis = 0; axis < rank(); ++axis) {
        if (axis != except && role(axis) == wanted) product *= extent(axis);
    }
    return product;
}

ReduceAxes reduce_axes(const Shape& shape, const std::vector<bool>& reduced, bool flat) {
    ReduceAxes axes;
    for (int axis = 0; axis < shape.rank(); ++axis) {
        const std::int64_t extent = shape[axis];
        const AxisRole role = extent == 1                               ? AxisRole::Single
                              : reduced[static_cast<std::size_t>(axis)] ? AxisRole::Reduced
                                                                        : AxisRole::Kept;
        if (flat && role == AxisRole::Single) continue;
        if (flat && !axes.roles.empty() && axes.roles.back() == role) {
            axes.extents.back() *= extent;
            continue;
        }
        axes.roles.push_back(role);
        axes.extents.push_back(extent);
    }
    return axes;
}

ReduceAxes parts_axes(const StagePlan& plan, const ReduceAxes& axes) {
    const std::int64_t results = axes.count(AxisRole::Kept);
    std::vector<std::int64_t> extents{results, plan.splits};
    std::vector<bool> reduced{false, true};
    if (plan.kind == StageKind::Serial) {
        extents = {plan.splits, results};
        reduced = {true, false};
    } else if (plan.kind == StageKind::Columns) {
        const std::int64_t width = axes.extent(plan.inner);
        extents = {results / width, plan.splits * plan.folded, width};
        reduced = {false, true, false};
    }
    return reduce_axes(Shape(std::span<const std::int64_t>(extents)), reduced, true);
}

StagePlan plan_elements(const ReduceTask& task, const ReduceAxes& axes) {
    const StageShapes shapes = stage_shapes(task);
    const int last = axes.last();
    const std::int64_t results = axes.count(AxisRole::Kept), count = axes.count(AxisRole::Reduced);
    if (last < 0 || results == 0 || count == 0) return serial(task, shapes, axes, true);
    const std::int64_t length = axes.extent(last);
    const bool many = results >= shapes.lanes * shapes.groups;
    if (axes.role(last) == AxisRole::Kept) {
        if (length >= shapes.lanes) return columns(task, shapes, axes, 1, false);
        if (const std::int64_t folded = folded_rows(task, shapes, axes); folded > 1)
            return columns(task, shapes, axes, folded, false);
        return serial(task, shapes, axes, false);
    }
    // The invocations of a workgroup would mix the order of several rows.
    const bool mixes = !task.commutative && count > length;
    if (!mixes && (length >= 2 * shapes.lanes || (!many && length >= shapes.lanes)))
        return rows(task, shapes, axes, last, false);
    return serial(task, shapes, axes, false);
}

StagePlan plan_parts(const ReduceTask& task, const ReduceAxes& axes) {
    const StageShapes shapes = stage_shapes(task);
    const int last = axes.last();
    if (last >= 0 && axes.role(last) == AxisRole::Kept && axes.extent(last) >= shapes.lanes)
        return columns(task, shapes, axes, 1, true);
    for (int axis = axes.rank(); axis-- > 0;) {
        if (axes.role(axis) == AxisRole::Reduced && axes.extent(axis) >= shapes.lanes)
            return rows(task, shapes, axes, axis, true);
    }
    return serial(task, shapes, axes, true);
}

}  // namespace volley::algorithms
