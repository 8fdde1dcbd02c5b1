// Waiting spins first: waking a sleeping thread costs more than most launches.
#include "backends/common/device_timeline.hpp"

#include "backends/api/rect_parts.hpp"
#include "backends/common/host_rect.hpp"

#include <algorithm>
#include <thread>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace volley::backends {

namespace {

// Waking a sleeping thread takes some 50 us. A thread that waits for host cores yields them while it spins,
// so it may spin for longer.
constexpr auto spin_time = std::chrono::microseconds(100);
constexpr auto spin_time_on_host_cores = std::chrono::microseconds(400);
constexpr auto slice =
    std::chrono::milliseconds(50);  // interval at which sleeping threads check for a lost device
/// Interval at which they check for an epilogue that waits for another timeline.
constexpr auto moment = std::chrono::milliseconds(1);

void raise(std::atomic<Point>& to, Point point) noexcept {
    Point now = to.load(std::memory_order_relaxed);
    while (now < point && !to.compare_exchange_weak(now, point, std::memory_order_acq_rel)) {
    }
}

bool follows_passed(const Epilogue& epilogue) noexcept {
    return epilogue.other == nullptr || epilogue.other->completed() >= epilogue.other_point;
}

}  // namespace

void DeviceTimeline::pause() const noexcept {
    // Pausing without yielding would occupy a core that the driver computes on.
    if (on_host_cores_) {
        std::this_thread::yield();
        return;
    }
#if defined(__SSE2__)
    for (int i = 0; i < 8; ++i) _mm_pause();
#endif
}

void DeviceTimeline::reach(Point point) const noexcept { raise(reached_, point); }

Point DeviceTimeline::completed() const noexcept {
    const Point issued = last();
    if (lost()) return completed_when_lost(issued);
    if (reached() < issued) {
        // A lost device may report any value.
        reach(std::min(ask(), issued));
        if (lost()) return completed_when_lost(issued);
    }
    const Point now = reached();
    if (next_epilogue_.load(std::memory_order_acquire) <= now)
        const_cast<DeviceTimeline*>(this)->run_epilogues(now, Running::Look);
    return std::min(now, next_epilogue_.load(std::memory_order_acquire) - 1);
}

Point DeviceTimeline::completed_when_lost(Point issued) const noexcept {
    // Waiting threads reuse their memory now, so every point has passed except that of a running copy.
    const std::scoped_lock lock(mutex_);
    return busy_ != nullptr && busy_->rect.row != 0 ? busy_->point - 1 : issued;
}

void DeviceTimeline::hand(Point point) noexcept {
    handed_.store(point, std::memory_order_release);
    wake();
}

void DeviceTimeline::wake() noexcept {
    // A waiting thread holds the mutex from its check until it sleeps, so it cannot miss the notification.
    { const std::scoped_lock lock(mutex_); }
    progress_.notify_all();
}

void DeviceTimeline::pass(Point point) noexcept {
    raise(reached_, point);
    hand(point);
}

void DeviceTimeline::add(Epilogue epilogue) {
    const std::scoped_lock lock(mutex_);
    const Point point = epilogue.point;
    epilogues_.push_back(std::move(epilogue));
    if (epilogues_.size() == 1) next_epilogue_.store(point, std::memory_order_release);
}

void DeviceTimeline::cancel() noexcept {
    const std::scoped_lock lock(mutex_);
    epilogues_.pop_back();
    if (epilogues_.empty()) next_epilogue_.store(~Point{0}, std::memory_order_release);
}

void DeviceTimeline::drop(Point point) noexcept {
    std::function<void()> report_times;  // destroyed after the lock is released
    const std::scoped_lock lock(mutex_);
    const auto found = std::find_if(epilogues_.begin(), epilogues_.end(),
                                    [&](const Epilogue& epilogue) { return epilogue.point == point; });
    if (found == epilogues_.end()) return;
    found->rect = {};
    found->prints = false;  // its reports are still empty
    found->report_times.swap(report_times);
}

void DeviceTimeline::abandon_read(Point read) noexcept {
    std::unique_lock lock(mutex_);
    for (Epilogue& epilogue : epilogues_) {
        if (epilogue.read == read && &epilogue != busy_) epilogue.rect = {};
    }
    progress_.wait(lock, [&] { return busy_ == nullptr || busy_->read != read; });
}

Point DeviceTimeline::first_print() const {
    const std::scoped_lock lock(mutex_);
    for (const Epilogue& epilogue : epilogues_) {
        if (epilogue.prints) return epilogue.point;
    }
    return 0;
}

void DeviceTimeline::run_epilogues(Point to, Running how) noexcept {
    const bool waits = how == Running::Wait;
    if (running_.exchange(true, std::memory_order_acq_rel)) {
        if (!waits) return;
        std::unique_lock lock(mutex_);
        progress_.wait(lock, [&] { return !running_.load(std::memory_order_acquire) || !has_epilogue(to); });
        return;  // the caller checks again
    }
    for (;;) {
        Epilogue* first = nullptr;
        {
            const std::scoped_lock lock(mutex_);
            // Only an epilogue whose point was reached may be used without the lock: cancel() may remove
            // others.
            if (lost() || epilogues_.empty() || epilogues_.front().point > to) break;
            first = &epilogues_.front();  // addresses in a deque are stable
            if (first->prints && !waits) break;
            busy_ = first;
        }
        const bool ready = waits || follows_passed(*first);
        if (ready) run(*first);
        {
            const std::scoped_lock lock(mutex_);
            busy_ = nullptr;
            if (!ready) break;
            epilogues_.pop_front();
            next_epilogue_.store(epilogues_.empty() ? ~Point{0} : epilogues_.front().point,
                                 std::memory_order_release);
        }
        progress_.notify_all();
    }
    running_.store(false, std::memory_order_release);
    wake();
}

void DeviceTimeline::run(Epilogue& epilogue) noexcept {
    try {
        // The device has reached the other point, so this is short. Waits on the other queue report its
        // errors.
        while (!follows_passed(epilogue) && !lost())
            epilogue.other->await(epilogue.other_point, Clock::now() + slice);
        if (const Rect& rect = epilogue.rect; rect.row != 0)
            copy_rows(epilogue.to, epilogue.from, {rect, epilogue.to_at, dense(rect)});
        if (epilogue.report_times) epilogue.report_times();
        if (epilogue.reports) epilogue.reports->drain(epilogue.source);
    } catch (...) {
        add_error(epilogue.point, std::current_exception());
    }
    if (epilogue.reports) reports_.give_back(std::move(epilogue.reports));
    epilogue.staging.reset();
}

bool DeviceTimeline::await(Point point, Clock::time_point deadline, Running how) {
    const auto done = [&] {
        if (completed() >= point) return true;
        if (how == Running::Look) return false;
        const Point now = std::min(reached(), point);
        if (!has_epilogue(now)) return false;
        run_epilogues(now, Running::Wait);
        return completed() >= point;
    };
    if (done()) return true;
    const auto start = Clock::now();
    const auto spins = on_host_cores_ ? spin_time_on_host_cores : spin_time;
    for (;;) {
        for (int i = 0; i < 16; ++i) {
            pause();
            if (done()) return true;
        }
        const auto now = Clock::now();
        if (now >= deadline) return false;
        if (now - start <= spins) continue;
        if (how == Running::Look && reached() >= point) {
            sleep_on_epilogue(std::min(deadline, now + moment));
        } else {
            sleep(point, deadline - now < slice ? deadline : now + slice);
        }
    }
}

void DeviceTimeline::sleep(Point point, Clock::time_point deadline) {
    if (point > handed()) {
        std::unique_lock lock(mutex_);
        progress_.wait_until(lock, deadline, [&] { return handed() >= point || lost(); });
        return;
    }
    // Otherwise only its epilogue is pending.
    if (is_under_way(point)) sleep_on_device(point, deadline);
}

void DeviceTimeline::sleep_on_epilogue(Clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    progress_.wait_until(lock, deadline);
}

void DeviceTimeline::wait(Point point) {
    if (completed() < point) await(std::min(point, last()), forever);
    check_lost();
    errors_.rethrow(point);
}

bool DeviceTimeline::wait_for(Point point, std::chrono::nanoseconds timeout) {
    if (completed() >= point) return true;
    const auto now = Clock::now();
    const bool bounded = timeout < forever - now;
    return await(std::min(point, last()), bounded ? now + timeout : forever, Running::Look);
}

}  // namespace volley::backends
