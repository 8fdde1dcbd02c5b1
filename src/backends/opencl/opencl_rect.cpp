// Converts strides to pitches, and offsets to coordinates.
#include "backends/opencl/opencl_rect.hpp"

#include <algorithm>
#include <array>

namespace volley::backends::opencl {

namespace {

using Size3 = std::array<std::size_t, 3>;

bool is_pitched(const RectPlace& place, const Rect& rect) {
    return rect.count[1] == 1 ||
           (place.stride[1] % place.stride[0] == 0 && place.stride[1] >= rect.count[0] * place.stride[0]);
}

/// Calls f(move, is_last) for each driver call.
template <class F>
void for_each_call(const RectMove& move, F&& f) {
    if (is_pitched(move.to, move.rect) && is_pitched(move.from, move.rect)) return f(move, true);
    const std::size_t cut = move.rect.count[0] <= move.rect.count[1] ? 0 : 1;
    RectMove call;
    call.rect = {move.rect.row, {move.rect.count[1 - cut], 1}};
    call.to = {move.to.offset, {move.to.stride[1 - cut], 0}};
    call.from = {move.from.offset, {move.from.stride[1 - cut], 0}};
    for (std::uint64_t i = 1; i <= move.rect.count[cut]; ++i) {
        f(static_cast<const RectMove&>(call), i == move.rect.count[cut]);
        call.to.offset += move.to.stride[cut];
        call.from.offset += move.from.stride[cut];
    }
}

Size3 region(const Rect& rect) { return {rect.row, rect.count[0], rect.count[1]}; }
std::size_t row_pitch(const RectPlace& place) { return place.stride[0]; }
/// 0 if there is one plane.
std::size_t slice_pitch(const RectPlace& place, const Rect& rect) {
    return rect.count[1] == 1 ? 0 : place.stride[1];
}
/// Returns the first byte in coordinates of bytes, rows and planes.
Size3 origin(const RectPlace& place, const Rect& rect) {
    const std::uint64_t row = place.stride[0];
    if (rect.count[1] == 1) return {place.offset % row, place.offset / row, 0};
    const std::uint64_t plane = place.stride[1];
    return {place.offset % row, place.offset % plane / row, place.offset / plane};
}
constexpr Size3 start{};

/// Drivers check the boxes that the coordinates span, in one of two ways that the OpenCL versions describe.
/// Both allow boxes that are disjoint in some direction and cross no row and no plane.
bool is_allowed_within(const RectMove& call) {
    const Rect& rect = call.rect;
    if (rect.rows() == 1) return true;
    if (call.to.stride != call.from.stride) return false;
    const Size3 size = region(rect);
    const Size3 to = origin(call.to, rect);
    const Size3 from = origin(call.from, rect);
    const std::uint64_t row = call.to.stride[0];
    if (std::max(to[0], from[0]) + size[0] > row) return false;
    if (rect.count[1] > 1 && std::max(to[1], from[1]) + size[1] > call.to.stride[1] / row) return false;
    for (std::size_t d = 0; d < 3; ++d) {
        if (to[d] >= from[d] + size[d] || from[d] >= to[d] + size[d]) return true;
    }
    return false;
}

}  // namespace

void enqueue_write(const Enqueue& enqueue, cl_mem to, const std::byte* from, const RectMove& move,
                   cl_event* event) {
    const Api& cl = enqueue.device.cl;
    for_each_call(move, [&](const RectMove& call, bool last) {
        const Rect& rect = call.rect;
        const std::byte* first = from + call.from.offset;
        cl_event* done = last ? event : nullptr;
        if (rect.rows() == 1) {
            enqueue.device.check(cl.EnqueueWriteBuffer(enqueue.queue, to, CL_FALSE, call.to.offset, rect.row,
                                                       first, 0, nullptr, done),
                                 "clEnqueueWriteBuffer");
            return;
        }
        enqueue.device.check(cl.EnqueueWriteBufferRect(
                                 enqueue.queue, to, CL_FALSE, origin(call.to, rect).data(), start.data(),
                                 region(rect).data(), row_pitch(call.to), slice_pitch(call.to, rect),
                                 row_pitch(call.from), slice_pitch(call.from, rect), first, 0, nullptr, done),
                             "clEnqueueWriteBufferRect");
    });
}

void enqueue_read(const Enqueue& enqueue, std::byte* to, cl_mem from, const RectMove& move, cl_event* event) {
    const Api& cl = enqueue.device.cl;
    for_each_call(move, [&](const RectMove& call, bool last) {
        const Rect& rect = call.rect;
        std::byte* first = to + call.to.offset;
        cl_event* done = last ? event : nullptr;
        if (rect.rows() == 1) {
            enqueue.device.check(cl.EnqueueReadBuffer(enqueue.queue, from, CL_FALSE, call.from.offset,
                                                      rect.row, first, 0, nullptr, done),
                                 "clEnqueueReadBuffer");
            return;
        }
        enqueue.device.check(cl.EnqueueReadBufferRect(
                                 enqueue.queue, from, CL_FALSE, origin(call.from, rect).data(), start.data(),
                                 region(rect).data(), row_pitch(call.from), slice_pitch(call.from, rect),
                                 row_pitch(call.to), slice_pitch(call.to, rect), first, 0, nullptr, done),
                             "clEnqueueReadBufferRect");
    });
}

void enqueue_copy(const Enqueue& enqueue, cl_mem to, cl_mem from, const RectMove& move, cl_event* event) {
    const Api& cl = enqueue.device.cl;
    for_each_call(move, [&](const RectMove& call, bool last) {
        const Rect& rect = call.rect;
        cl_event* done = last ? event : nullptr;
        if (rect.rows() == 1) {
            enqueue.device.check(cl.EnqueueCopyBuffer(enqueue.queue, from, to, call.from.offset,
                                                      call.to.offset, rect.row, 0, nullptr, done),
                                 "clEnqueueCopyBuffer");
            return;
        }
        enqueue.device.check(
            cl.EnqueueCopyBufferRect(enqueue.queue, from, to, origin(call.from, rect).data(),
                                     origin(call.to, rect).data(), region(rect).data(), row_pitch(call.from),
                                     slice_pitch(call.from, rect), row_pitch(call.to),
                                     slice_pitch(call.to, rect), 0, nullptr, done),
            "clEnqueueCopyBufferRect");
    });
}

bool can_copy_within(const RectMove& move) noexcept {
    bool can = true;
    for_each_call(move, [&](const RectMove& call, bool /*last*/) { can = can && is_allowed_within(call); });
    return can;
}

std::uint64_t calls_of(const RectMove& move) noexcept {
    if (is_pitched(move.to, move.rect) && is_pitched(move.from, move.rect)) return 1;
    return std::min(move.rect.count[0], move.rect.count[1]);
}

}  // namespace volley::backends::opencl
