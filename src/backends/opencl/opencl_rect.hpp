// Rows that lie apart, as the driver's calls take them: one call for all of them where their strides are what
// OpenCL asks for (planes a whole number of rows apart), else one for each plane, or for each row of all
// planes.
#pragma once

#include "backends/api/rect_parts.hpp"
#include "backends/opencl/opencl_logical.hpp"

#include <cstddef>
#include <cstdint>

namespace volley::backends::opencl {

/// Where calls go to.
struct Enqueue {
    LogicalDevice& device;
    cl_command_queue queue;
};

// Each throws what a failed call means; calls before it are under way then. `event`, which may be null, is
// the last call's. Offsets of buffers are from their first byte. Rects are joined.
void enqueue_write(const Enqueue& enqueue, cl_mem to, const std::byte* from, const backends::RectMove& move,
                   cl_event* event);
void enqueue_read(const Enqueue& enqueue, std::byte* to, cl_mem from, const backends::RectMove& move,
                  cl_event* event);
/// Of one buffer only what can_copy_within().
void enqueue_copy(const Enqueue& enqueue, cl_mem to, cl_mem from, const backends::RectMove& move,
                  cl_event* event);

/// Whether OpenCL copies these rows inside of one buffer: with the same strides, and so that it sees that
/// they do not overlap.
[[nodiscard]] bool can_copy_within(const backends::RectMove& move) noexcept;

/// How many calls each of the above makes.
[[nodiscard]] std::uint64_t calls_of(const backends::RectMove& move) noexcept;

}  // namespace volley::backends::opencl
