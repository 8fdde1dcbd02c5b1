// Waits of a queue for other CPU queues, which notify it, and for other devices, on which the keeper waits.
//
// A wait is in the awaited timeline's list from its submission on, so that timeline may be destroyed as soon
// as its own work is done. A thread that holds the waiting timeline's lock and sees that the wait has not
// passed knows that the awaited timeline still exists.
#include "backends/common/thread.hpp"
#include "backends/cpu/cpu_timeline.hpp"

#include <algorithm>
#include <utility>

namespace volley::backends::cpu {

Point CpuTimeline::follow(backends::Timeline& other, Point point) {
    if (other.completed() >= point || &other == this) return last();
    auto* const queue = dynamic_cast<CpuTimeline*>(&other);
    std::unique_lock lock(mutex_);
    if (queue == nullptr) need_keeper();
    CpuCommand* command = take_free();
    command->kind = CpuCommandKind::Wait;
    command->pieces = 1;
    command->wait = {.timeline = &other, .queue = queue, .point = point, .waiting = this};
    if (queue != nullptr) {
        lock.unlock();
        const bool added = queue->add_wait(*command);
        lock.lock();
        if (!added || command->wait.passed) {
            command->next = free_;
            free_ = command;
            return last();
        }
    }
    return submit(command, lock);
}

// ---- for other CPU queues ----

bool CpuTimeline::add_wait(CpuCommand& command) {
    Wait& wait = command.wait;
    const std::scoped_lock lock(mutex_);
    wait.point = std::min(wait.point, last());
    if (completed() >= wait.point) return false;
    // Most waits are for newer points than those in the list.
    const bool at_end = last_wait_ != nullptr && last_wait_->wait.point <= wait.point;
    CpuCommand** place = at_end ? &last_wait_->wait.next : &waits_;
    while (*place != nullptr && (*place)->wait.point <= wait.point) place = &(*place)->wait.next;
    wait.next = std::exchange(*place, &command);
    if (wait.next == nullptr) last_wait_ = &command;
    return true;
}

CpuCommand* CpuTimeline::take_passed() noexcept {
    const Point done = completed();
    CpuCommand* const first = waits_;
    CpuCommand** end = &waits_;
    unsigned count = 0;
    for (; *end != nullptr && (*end)->wait.point <= done; end = &(*end)->wait.next) ++count;
    if (count == 0) return nullptr;
    waits_ = std::exchange(*end, nullptr);
    if (waits_ == nullptr) last_wait_ = nullptr;
    guests_.fetch_add(count, std::memory_order_relaxed);
    return first;
}

void CpuTimeline::notify_passed(CpuCommand* waits) noexcept {
    // A loop instead of a recursion: one wait may end another, and so on without bound.
    while (waits != nullptr) {
        CpuCommand* const passed = waits;
        CpuTimeline& queue = *passed->wait.queue;
        waits = passed->wait.next;
        CpuCommand* more = passed->wait.waiting->end_wait(passed);
        queue.guests_.fetch_sub(1, std::memory_order_release);
        while (more != nullptr) {
            CpuCommand* const one = more;
            more = std::exchange(one->wait.next, waits);
            waits = one;
        }
    }
}

CpuCommand* CpuTimeline::end_wait(CpuCommand* command) noexcept {
    const std::scoped_lock lock(mutex_);
    command->wait.passed = true;
    if (first_ != command) return nullptr;  // it is retired when its turn comes
    if (command->times) command->times.ran(command->wait.begin, backends::steady_now());
    retire_first();
    open_first();
    if (sleepers_ > 0) progress_.notify_all();
    // With the lock held: after it the queue may be destroyed, and its pool with it.
    if (has_work()) pool_->notify();
    return waits_ != nullptr ? take_passed() : nullptr;
}

bool CpuTimeline::help_awaited(const Turn& turn) {
    CpuTimeline* queue = nullptr;
    Point point = 0;
    {
        const std::scoped_lock lock(mutex_);
        if (first_ == nullptr || first_->kind != CpuCommandKind::Wait || first_->point > turn.until)
            return false;
        queue = first_->wait.queue;
        point = first_->wait.point;
        // Between passing and the notification there is nothing to help with.
        if (queue == nullptr || queue->completed() >= point) return false;
        queue->guests_.fetch_add(1, std::memory_order_relaxed);
    }
    queue->help_until(point, turn.deadline);
    queue->guests_.fetch_sub(1, std::memory_order_release);
    return true;
}

// ---- the keeper ----

void CpuTimeline::need_keeper() {
    if (!keeper_.joinable()) keeper_ = backends::start_thread("a CPU queue", [this] { run_keeper(); });
}

void CpuTimeline::keep(CpuCommand* command) noexcept {
    kept_ = command;
    keeper_wake_.notify_one();
}

void CpuTimeline::run_keeper() {
    std::unique_lock lock(mutex_);
    for (;;) {
        keeper_wake_.wait(lock, [&] { return stop_keeper_ || kept_ != nullptr; });
        CpuCommand* const kept = std::exchange(kept_, nullptr);
        if (kept == nullptr) return;
        lock.unlock();
        execute(*kept, 0);
        Turn turn{.budget = 0};  // the workers continue
        static_cast<void>(finish(kept, turn));
        lock.lock();
    }
}

void CpuTimeline::stop_keeper() noexcept {
    {
        const std::scoped_lock lock(mutex_);
        stop_keeper_ = true;
        keeper_wake_.notify_one();
    }
    if (keeper_.joinable()) keeper_.join();
}

}  // namespace volley::backends::cpu
