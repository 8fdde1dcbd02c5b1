// What is right on every backend, and what one without anything better uses: rows that lie apart as one
// command each, marks as callbacks.
#include "backends/api/queue.hpp"

namespace volley::backends {
namespace {

std::uint64_t start_of(const RectPlace& place, std::uint64_t row, std::uint64_t plane) {
    return place.offset + row * place.stride[0] + plane * place.stride[1];
}

template <class F>
Point for_each_row(const Rect& rect, F&& f) {
    Point point = 0;
    for (std::uint64_t plane = 0; plane < rect.count[1]; ++plane) {
        for (std::uint64_t row = 0; row < rect.count[0]; ++row) point = f(row, plane);
    }
    return point;
}

}  // namespace

Point Queue::write_rect(Memory& to, const RectPlace& at, const std::byte* data, const RectPlace& data_at,
                        const Rect& rect) {
    return for_each_row(rect, [&](std::uint64_t row, std::uint64_t plane) {
        return write(to, start_of(at, row, plane), {data + start_of(data_at, row, plane), rect.row});
    });
}

Point Queue::read_rect(const Memory& from, const RectPlace& at, std::byte* data, const RectPlace& data_at,
                       const Rect& rect) {
    return for_each_row(rect, [&](std::uint64_t row, std::uint64_t plane) {
        return read(from, start_of(at, row, plane), {data + start_of(data_at, row, plane), rect.row});
    });
}

Point Queue::copy_rect(Memory& to, const RectPlace& to_at, const Memory& from, const RectPlace& from_at,
                       const Rect& rect) {
    return for_each_row(rect, [&](std::uint64_t row, std::uint64_t plane) {
        return copy(to, start_of(to_at, row, plane), from, start_of(from_at, row, plane), rect.row);
    });
}

Point Queue::fill_rect(Memory& to, const RectPlace& at, const Rect& rect,
                       std::span<const std::byte> pattern) {
    return for_each_row(rect, [&](std::uint64_t row, std::uint64_t plane) {
        return fill(to, start_of(at, row, plane), rect.row, pattern);
    });
}

Point Queue::mark() {
    return call([] {});
}

}  // namespace volley::backends
