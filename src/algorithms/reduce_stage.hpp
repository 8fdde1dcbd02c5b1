// Stages: the launches of a reduction. A stage reads elements or states, and writes finished results or the
// states of parts, which another stage merges.
#pragma once

#include "algorithms/execution.hpp"
#include "algorithms/reducer.hpp"

#include <cstdint>
#include <vector>

namespace volley::algorithms {

/// What happens to an axis. Axes of length 1 are neither kept nor reduced.
enum class AxisRole : std::uint8_t { Kept, Reduced, Single };

/// The axes of an array that is reduced. Neighbouring axes of one role are merged if the array is flat.
struct ReduceAxes {
    std::vector<AxisRole> roles;
    std::vector<std::int64_t> extents;

    [[nodiscard]] int rank() const noexcept { return static_cast<int>(roles.size()); }
    /// Returns the last axis that is longer than 1; -1 if there is none.
    [[nodiscard]] int last() const noexcept;
    /// Returns the product of the extents of all axes with a role, except one.
    [[nodiscard]] std::int64_t count(AxisRole role, int except = -1) const noexcept;
    [[nodiscard]] std::int64_t extent(int axis) const { return extents[static_cast<std::size_t>(axis)]; }
    [[nodiscard]] AxisRole role(int axis) const { return roles[static_cast<std::size_t>(axis)]; }
    [[nodiscard]] Shape shape() const { return Shape(std::span<const std::int64_t>(extents)); }
};

[[nodiscard]] ReduceAxes reduce_axes(const Shape& shape, const std::vector<bool>& reduced, bool flat);

/// What a stage reads and writes.
struct StageArrays {
    const AnySource* source = nullptr;   ///< elements, of the shape of the axes; unset: states
    std::vector<AnyBuffer> states = {};  ///< to read, contiguous, one buffer for each value of a state
    const AnySink* sink = nullptr;       ///< results, flat; unset: states
    std::vector<AnyBuffer> parts = {};   ///< states to write
};

/// How invocations share the work.
enum class StageKind : std::uint8_t {
    Rows,  ///< workgroups share the elements of a result; neighbours load neighbours along one reduced axis
    Columns,  ///< each invocation has a result; neighbours have neighbours along the last axis
    Serial,   ///< each invocation has a result, in any order of axes
};

struct StagePlan {
    StageKind kind = StageKind::Serial;
    int inner = -1;            ///< the axis along which neighbouring invocations load
    std::uint32_t local = 1;   ///< invocations of a workgroup
    std::uint32_t unroll = 1;  ///< elements loaded at once
    bool ordered = false;      ///< keep the order of the elements (Rows)
    bool lockstep = false;     ///< the invocations of a workgroup advance together (Columns)
    std::int64_t splits = 1;   ///< parts of each result
    std::int64_t chunk = 0;    ///< Rows: elements of a part of a row; else: elements of a part
    std::int64_t chunks = 1;   ///< Rows: parts of a row
    std::int64_t run = 1;      ///< Rows: results of a workgroup
    std::int64_t folded = 1;   ///< Columns: rows that are treated as one
};

/// The shape of the states that a stage writes, as the next stage sees it.
[[nodiscard]] ReduceAxes parts_axes(const StagePlan& plan, const ReduceAxes& axes);

/// Launches a stage. `count` is the number of elements of the whole reduction per result.
Event run_stage(const StagePlan& plan, const ReduceAxes& axes, const StageArrays& arrays, Reducer& reducer,
                std::int64_t count, const Target& target);

}  // namespace volley::algorithms
