// Commands, run at once.
#include "backends/reference/reference_queue.hpp"

#include "backends/api/print.hpp"
#include "backends/reference/interpreter.hpp"

#include <cstring>
#include <thread>
#include <utility>
#include <vector>

namespace volley::backends::reference {

using backend::Point;

namespace {

// Plain loops, not those that other backends share: what is compared with them should not be them.

std::uint64_t start_of(const backend::RectPlace& place, std::uint64_t row, std::uint64_t plane) {
    return place.offset + row * place.stride[0] + plane * place.stride[1];
}

template <class F>
void for_each_row(const backend::Rect& rect, F&& f) {
    for (std::uint64_t plane = 0; plane < rect.count[1]; ++plane) {
        for (std::uint64_t row = 0; row < rect.count[0]; ++row) f(row, plane);
    }
}

void move_rows(std::byte* to, const backend::RectPlace& to_at, const std::byte* from,
               const backend::RectPlace& from_at, const backend::Rect& rect) {
    for_each_row(rect, [&](std::uint64_t row, std::uint64_t plane) {
        std::memcpy(to + start_of(to_at, row, plane), from + start_of(from_at, row, plane), rect.row);
    });
}

}  // namespace

void ReferenceTimeline::wait(Point point) {
    const std::lock_guard lock(mutex_);
    if (error_ && error_point_ <= point) std::rethrow_exception(std::exchange(error_, nullptr));
}

bool ReferenceTimeline::wait_for(Point point, std::chrono::nanoseconds /*timeout*/) {
    wait(point);
    return true;
}

Point ReferenceTimeline::pass(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    const Point point = completed_.load() + 1;
    if (error && !error_) {
        error_ = std::move(error);
        error_point_ = point;
    }
    completed_.store(point);
    return point;
}

template <class F>
Point ReferenceQueue::run(F&& command) {
    const std::lock_guard lock(order_);
    try {
        command();
    } catch (...) {
        return timeline_.pass(std::current_exception());
    }
    return timeline_.pass();
}

Point ReferenceQueue::launch(const backend::Launch& launch) {
    return run([&] {
        const ir::Function& fn = launch.program->function();
        std::vector<Arg> args;
        args.reserve(launch.args.size());
        for (const backend::Argument& a : launch.args) {
            if (a.memory != nullptr) {
                args.push_back({a.memory->host() + a.offset, a.elements});
            } else {
                args.push_back({const_cast<void*>(a.value), a.elements});  // values are only read
            }
        }
        const LaunchShape shape{
            .global = launch.global, .local = launch.local, .subgroup_size = subgroup_size_};
        interpret(fn, shape, args, [&](ir::NodeId node, const std::byte* values) {
            std::vector<DType> types;
            for (const ir::NodeId operand : fn.args(node)) types.push_back(fn.type(operand));
            backend::deliver_print(fn, fn.strings[fn[node].imm], types, values);
        });
    });
}

Point ReferenceQueue::write(backend::Memory& to, std::uint64_t offset, std::span<const std::byte> data) {
    return run([&] {
        if (!data.empty()) std::memcpy(to.host() + offset, data.data(), data.size());
    });
}

Point ReferenceQueue::read(const backend::Memory& from, std::uint64_t offset, std::span<std::byte> data) {
    return run([&] {
        if (!data.empty()) std::memcpy(data.data(), from.host() + offset, data.size());
    });
}

Point ReferenceQueue::copy(backend::Memory& to, std::uint64_t to_offset, const backend::Memory& from,
                           std::uint64_t from_offset, std::uint64_t bytes) {
    return run([&] {
        if (bytes != 0) std::memcpy(to.host() + to_offset, from.host() + from_offset, bytes);
    });
}

Point ReferenceQueue::fill(backend::Memory& to, std::uint64_t offset, std::uint64_t bytes,
                           std::span<const std::byte> pattern) {
    return run([&] {
        for (std::uint64_t i = 0; i < bytes; ++i) to.host()[offset + i] = pattern[i % pattern.size()];
    });
}

Point ReferenceQueue::write_rect(backend::Memory& to, const backend::RectPlace& at, const std::byte* data,
                                 const backend::RectPlace& data_at, const backend::Rect& rect) {
    return run([&] { move_rows(to.host(), at, data, data_at, rect); });
}

Point ReferenceQueue::read_rect(const backend::Memory& from, const backend::RectPlace& at, std::byte* data,
                                const backend::RectPlace& data_at, const backend::Rect& rect) {
    return run([&] { move_rows(data, data_at, from.host(), at, rect); });
}

Point ReferenceQueue::copy_rect(backend::Memory& to, const backend::RectPlace& to_at,
                                const backend::Memory& from, const backend::RectPlace& from_at,
                                const backend::Rect& rect) {
    return run([&] { move_rows(to.host(), to_at, from.host(), from_at, rect); });
}

Point ReferenceQueue::fill_rect(backend::Memory& to, const backend::RectPlace& at, const backend::Rect& rect,
                                std::span<const std::byte> pattern) {
    return run([&] {
        for_each_row(rect, [&](std::uint64_t row, std::uint64_t plane) {
            std::byte* first = to.host() + start_of(at, row, plane);
            for (std::uint64_t i = 0; i < rect.row; ++i) first[i] = pattern[i % pattern.size()];
        });
    });
}

Point ReferenceQueue::call(std::function<void()> callback) {
    // Outside of the order's lock: a callback may use this queue.
    try {
        callback();
    } catch (...) {
        return timeline_.pass(std::current_exception());
    }
    return timeline_.pass();
}

Point ReferenceQueue::wait_for(backend::Timeline& other, Point point) {
    // Not other.wait(point): an error over there belongs to whoever waits for it.
    while (other.completed() < point) std::this_thread::sleep_for(std::chrono::microseconds(20));
    return timeline_.pass();
}

}  // namespace volley::backends::reference
