// Rects as driver calls: one call if the strides are what OpenCL supports (the plane stride is a multiple of
// the row stride), otherwise one per plane, or one per row of all planes.
#pragma once

#include "backends/api/rect_parts.hpp"
#include "backends/opencl/opencl_logical.hpp"

#include <cstddef>
#include <cstdint>

namespace volley::backends::opencl {

/// The target of calls.
struct Enqueue {
    LogicalDevice& device;
    cl_command_queue queue;
};

// Each throws the error of a failed call; the calls before it are pending then. `event`, which may be null,
// receives the event of the last call. Offsets are relative to the buffer's first byte. Rects are joined.
void enqueue_write(const Enqueue& enqueue, cl_mem to, const std::byte* from, const backends::RectMove& move,
                   cl_event* event);
void enqueue_read(const Enqueue& enqueue, std::byte* to, cl_mem from, const backends::RectMove& move,
                  cl_event* event);
/// Within one buffer only if can_copy_within().
void enqueue_copy(const Enqueue& enqueue, cl_mem to, cl_mem from, const backends::RectMove& move,
                  cl_event* event);

/// Returns whether OpenCL can copy these rows within one buffer: the strides are equal, and its overlap check
/// passes.
[[nodiscard]] bool can_copy_within(const backends::RectMove& move) noexcept;

/// Returns how many calls each of the above makes.
[[nodiscard]] std::uint64_t calls_of(const backends::RectMove& move) noexcept;

}  // namespace volley::backends::opencl
