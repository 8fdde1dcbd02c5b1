// Commands run in their call, or on the queue's thread.
#include "backends/reference/reference_queue.hpp"

#include "backends/common/kernel_cost.hpp"
#include "backends/common/print.hpp"
#include "backends/common/thread.hpp"
#include "backends/reference/interpreter.hpp"
#include "core/fail.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

namespace volley::backends::reference {

namespace {

// Plain loops instead of the shared functions, which are tested against them.

std::uint64_t start_of(const backends::RectPlace& place, std::uint64_t row, std::uint64_t plane) {
    return place.offset + row * place.stride[0] + plane * place.stride[1];
}

template <class F>
void for_each_row(const backends::Rect& rect, F&& f) {
    for (std::uint64_t plane = 0; plane < rect.count[1]; ++plane) {
        for (std::uint64_t row = 0; row < rect.count[0]; ++row) f(row, plane);
    }
}

void move_rows(std::byte* to, const std::byte* from, const backends::RectMove& move) {
    if (move.rect.row == 0) return;  // the pointers may be null
    for_each_row(move.rect, [&](std::uint64_t row, std::uint64_t plane) {
        std::memcpy(to + start_of(move.to, row, plane), from + start_of(move.from, row, plane),
                    move.rect.row);
    });
}

/// Returns whether a launch surely takes less than about a millisecond.
bool is_small(const ir::Function& fn, const ir::Dim3& global) {
    constexpr double most_ns = 10'000;  // of compiled code, a hundred times as fast as the interpreter
    const CostEstimate cost = estimate_cost(fn, 1);
    return cost.certain && cost.ns * global[0] * global[1] * global[2] < most_ns;
}

/// Runs a command, timed on request. Returns its error if it fails.
std::exception_ptr run(const std::function<void()>& command, const backends::TimesTag& times) noexcept {
    try {
        const backends::TimesScope scope(times);
        const backends::TimedHere timed;
        const backends::TimesScope others({});  // commands that it submits
        command();
    } catch (...) {
        return std::current_exception();
    }
    return nullptr;
}

}  // namespace

// ---- the timeline ----

void ReferenceTimeline::wait(Point point) {
    {
        std::unique_lock lock(mutex_);
        progress_.wait(lock, [&] { return completed() >= point; });
    }
    errors_.rethrow(point);
}

bool ReferenceTimeline::wait_for(Point point, std::chrono::nanoseconds timeout) {
    // Limited to a day, so that the clock does not overflow.
    const auto time = std::min<std::chrono::nanoseconds>(timeout, std::chrono::hours(24));
    std::unique_lock lock(mutex_);
    return progress_.wait_for(lock, time, [&] { return completed() >= point; });
}

void ReferenceTimeline::pass(std::exception_ptr error) noexcept {
    const std::lock_guard lock(mutex_);
    const Point point = completed_.load() + 1;
    if (error) errors_.add(point, std::move(error));
    completed_.store(point);
    progress_.notify_all();
}

// ---- the order of commands ----

ReferenceQueue::~ReferenceQueue() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    wake_.notify_one();
    if (thread_.joinable()) thread_.join();
}

void ReferenceQueue::forked() {
    // The thread is not there to release its locks, or to be woken.
    std::construct_at(&mutex_);
    std::construct_at(&wake_);
    backends::forget_thread(thread_);
    if (!pending_.empty()) {
        static_cast<void>(new std::deque<Pending>(std::move(pending_)));  // one of them may be half done
        pending_.clear();
    }
    timeline_.forked();
}

void ReferenceTimeline::forked() {
    std::construct_at(&mutex_);
    std::construct_at(&progress_);
    if (completed_.load() == issued_.load()) return;
    completed_.store(issued_.load());
    try {
        fail(ErrorCode::WrongContext, "the process was forked while commands were running",
             "a reference queue",
             "wait for the work before fork(), and submit it again in the child if its results are needed "
             "there");
    } catch (...) {
        errors_.add(issued_.load(), std::current_exception());
    }
}

ReferenceQueue::Bytes ReferenceQueue::keep(std::span<const std::byte> bytes, bool at_once) {
    if (at_once) return {Bytes(), bytes.data()};  // used before the call returns
    std::shared_ptr<std::byte[]> copy(new std::byte[bytes.size()]);
    std::copy(bytes.begin(), bytes.end(), copy.get());
    return copy;
}

Point ReferenceQueue::enqueue(Command command) {
    if (!pending_.empty()) return hand_over(std::move(command));
    std::exception_ptr error = run(command, backends::TimesScope::tag());
    const Point point = timeline_.issue();
    timeline_.pass(std::move(error));
    return point;
}

Point ReferenceQueue::hand_over(Command command) {
    if (!thread_.joinable()) thread_ = backends::start_thread("a reference queue", [this] { run_thread(); });
    pending_.push_back({backends::TimesScope::tag(), std::move(command)});
    wake_.notify_one();
    return timeline_.issue();
}

void ReferenceQueue::run_thread() {
    std::unique_lock lock(mutex_);
    for (;;) {
        wake_.wait(lock, [this] { return stop_ || !pending_.empty(); });
        if (pending_.empty()) return;
        // It stays in the list while it runs, so that commands submitted meanwhile come after it.
        Pending& first = pending_.front();
        lock.unlock();
        std::exception_ptr error = run(first.command, first.times);
        first = {};  // destroys what it holds before its point passes, and without the lock
        lock.lock();
        pending_.pop_front();
        timeline_.pass(std::move(error));
    }
}

// ---- commands ----

Point ReferenceQueue::launch(const backends::Launch& launch) {
    const std::lock_guard lock(mutex_);
    const ir::Function& fn = launch.program->function();
    const bool at_once = pending_.empty() && is_small(fn, launch.global);
    std::vector<Arg> args;
    std::vector<Bytes> values;
    for (std::size_t i = 0; i < launch.args.size(); ++i) {
        const backends::Argument& a = launch.args[i];
        if (a.memory != nullptr) {
            args.push_back({a.memory->host() + a.offset, a.elements});
        } else {
            values.push_back(
                keep({static_cast<const std::byte*>(a.value), fn.params[i].type.size()}, at_once));
            args.push_back({const_cast<std::byte*>(values.back().get()), a.elements});  // only read
        }
    }
    const LaunchShape shape{.global = launch.global, .local = launch.local, .subgroup_size = subgroup_size_};
    Command command = [&fn, shape, args = std::move(args), values = std::move(values)] {
        interpret(fn, shape, args, [&](ir::NodeId node, const std::byte* operands) {
            std::vector<DType> types;
            for (const ir::NodeId operand : fn.args(node)) types.push_back(fn.type(operand));
            backends::deliver_print(fn, fn.strings[fn[node].imm], types, operands);
        });
    };
    return at_once ? enqueue(std::move(command)) : hand_over(std::move(command));
}

Point ReferenceQueue::write(backends::Memory& to, const std::byte* from, const backends::RectMove& move) {
    const std::lock_guard lock(mutex_);
    if (pending_.empty()) return enqueue([&] { move_rows(to.host(), from, move); });
    // Copied aside densely: bytes between the caller's rows must not be read.
    const backends::Rect& rect = move.rect;
    const std::shared_ptr<std::byte[]> kept(new std::byte[rect.bytes()]);
    const backends::RectPlace kept_at{0, {rect.row, rect.row * rect.count[0]}};
    move_rows(kept.get(), from, {rect, kept_at, move.from});
    return enqueue([&to, kept, later = backends::RectMove{rect, move.to, kept_at}] {
        move_rows(to.host(), kept.get(), later);
    });
}

Point ReferenceQueue::read(std::byte* to, const backends::Memory& from, const backends::RectMove& move) {
    const std::lock_guard lock(mutex_);
    return enqueue([to, &from, move] { move_rows(to, from.host(), move); });
}

Point ReferenceQueue::copy(backends::Memory& to, const backends::Memory& from,
                           const backends::RectMove& move) {
    const std::lock_guard lock(mutex_);
    return enqueue([&to, &from, move] { move_rows(to.host(), from.host(), move); });
}

Point ReferenceQueue::copy_from_host(backends::Memory& to, const std::byte* from,
                                     const backends::RectMove& move) {
    const std::lock_guard lock(mutex_);
    return enqueue([&to, from, move] { move_rows(to.host(), from, move); });
}

Point ReferenceQueue::fill(backends::Memory& to, const backends::RectPlace& at, const backends::Rect& rect,
                           std::span<const std::byte> pattern) {
    const std::lock_guard lock(mutex_);
    return enqueue([&to, at, rect, size = pattern.size(), kept = keep(pattern, pending_.empty())] {
        for_each_row(rect, [&](std::uint64_t row, std::uint64_t plane) {
            std::byte* first = to.host() + start_of(at, row, plane);
            for (std::uint64_t i = 0; i < rect.row; ++i) first[i] = kept[i % size];
        });
    });
}

Point ReferenceQueue::call(std::function<void()> callback) {
    const std::lock_guard lock(mutex_);
    return hand_over(std::move(callback));
}

Point ReferenceQueue::wait_for(backends::Timeline& other, Point point) {
    if (&other == &timeline_ || other.completed() >= point) return last();
    const std::lock_guard lock(mutex_);
    return hand_over([&other, point] {
        // Not other.wait(point), which would throw the other queue's errors here.
        while (!other.wait_for(point, std::chrono::seconds(1))) {
        }
    });
}

Point ReferenceQueue::mark() {
    const std::lock_guard lock(mutex_);
    return enqueue([] {});
}

}  // namespace volley::backends::reference
