// Every command is a line of the log.
#include "backends/null/null_queue.hpp"

#include "backends/api/host_rect.hpp"
#include "core/text.hpp"

#include <algorithm>

namespace volley::backends::null {

using backend::Point;

namespace {

std::string rect_text(const backend::Rect& rect) {
    return cat(rect.count[0], "x", rect.count[1], " rows of ", rect.row);
}

}  // namespace

void NullTimeline::wait(Point point) {
    if (completed() >= point) return;
    log_->add(cat("q", queue_, " wait ", point));
    finish(point);
}

bool NullTimeline::wait_for(Point point, std::chrono::nanoseconds timeout) {
    if (timeout >= patience) wait(point);
    return completed() >= point;
}

void NullTimeline::finish(Point point) noexcept {
    Point now = completed_.load();
    while (now < point && !completed_.compare_exchange_weak(now, point)) {
    }
}

NullQueue::NullQueue(std::shared_ptr<NullLog> log, unsigned number)
    : log_(std::move(log)), number_(number), timeline_(log_, number) {}

Point NullQueue::add(const std::string& what) {
    const std::scoped_lock lock(mutex_);
    const Point point = ++last_;
    log_->add(cat("q", number_, " ", what, " -> ", point));
    return point;
}

Point NullQueue::launch(const backend::Launch& launch) {
    return add(cat("launch ", launch.program->function().name, " ", join(launch.global, "x"), " local ",
                   join(launch.local, "x")));
}

Point NullQueue::write(backend::Memory& /*to*/, std::uint64_t /*offset*/, std::span<const std::byte> data) {
    return add(cat("write ", data.size()));
}

Point NullQueue::read(const backend::Memory& /*from*/, std::uint64_t /*offset*/, std::span<std::byte> data) {
    std::fill(data.begin(), data.end(), std::byte{0});
    return add(cat("read ", data.size()));
}

Point NullQueue::copy(backend::Memory& /*to*/, std::uint64_t /*to_offset*/, const backend::Memory& /*from*/,
                      std::uint64_t /*from_offset*/, std::uint64_t bytes) {
    return add(cat("copy ", bytes));
}

Point NullQueue::fill(backend::Memory& /*to*/, std::uint64_t /*offset*/, std::uint64_t bytes,
                      std::span<const std::byte> /*pattern*/) {
    return add(cat("fill ", bytes));
}

Point NullQueue::write_rect(backend::Memory& /*to*/, const backend::RectPlace& /*at*/,
                            const std::byte* /*data*/, const backend::RectPlace& /*data_at*/,
                            const backend::Rect& rect) {
    return add(cat("write_rect ", rect_text(rect)));
}

Point NullQueue::read_rect(const backend::Memory& /*from*/, const backend::RectPlace& /*at*/, std::byte* data,
                           const backend::RectPlace& data_at, const backend::Rect& rect) {
    const std::byte zero{0};
    backend::fill_rows(data, data_at, rect, {&zero, 1});
    return add(cat("read_rect ", rect_text(rect)));
}

Point NullQueue::copy_rect(backend::Memory& /*to*/, const backend::RectPlace& /*to_at*/,
                           const backend::Memory& /*from*/, const backend::RectPlace& /*from_at*/,
                           const backend::Rect& rect) {
    return add(cat("copy_rect ", rect_text(rect)));
}

Point NullQueue::fill_rect(backend::Memory& /*to*/, const backend::RectPlace& /*at*/,
                           const backend::Rect& rect, std::span<const std::byte> /*pattern*/) {
    return add(cat("fill_rect ", rect_text(rect)));
}

Point NullQueue::call(std::function<void()> callback) {
    const Point point = add("call");
    callback();
    return point;
}

Point NullQueue::wait_for(backend::Timeline& /*other*/, Point point) { return add(cat("wait_for ", point)); }

}  // namespace volley::backends::null
