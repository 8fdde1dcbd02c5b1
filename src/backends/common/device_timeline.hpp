// The timeline of a queue whose device works on its own: points are reached by the device, or by the host
// for commands that it runs itself. A point has passed only when also what the host has to do after it is
// done (bytes to copy out of staging memory, reports to read).
//
// Invariant: completed() == min(what device and host have reached, first point with host work left - 1), and
// it never goes back.
#pragma once

#include "backends/api/memory.hpp"
#include "backends/api/rect.hpp"
#include "backends/api/timeline.hpp"
#include "backends/api/times.hpp"
#include "backends/common/error_list.hpp"
#include "backends/common/reports.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace volley::backends {

/// What the host does when the device has reached a point.
struct Epilogue {
    Point point = 0;
    // Rows to bring home, which lie side by side in staging memory; none where a row has no bytes.
    const std::byte* from = nullptr;
    std::byte* to = nullptr;
    RectPlace to_at;
    Rect rect;
    Point read = 0;                         // of a read in several parts: its first part's point
    std::shared_ptr<const Memory> staging;  // held until then, where it is no part of a ring
    // Reports to read.
    ReportSource source;
    std::unique_ptr<ReportBuffer> reports;
    bool prints = false;  // may run a sink of the user's: not from completed()
    // Times to tell, where somebody wants to know them.
    std::function<void()> tell;
    // Of a command for which the device waited for a point of another queue's: the host has work left there.
    Timeline* other = nullptr;
    Point other_point = 0;
};

class DeviceTimeline : public Timeline {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr auto forever = Clock::time_point::max();

    DeviceTimeline(const DeviceTimeline&) = delete;
    DeviceTimeline& operator=(const DeviceTimeline&) = delete;

    [[nodiscard]] Point completed() const noexcept final;
    void wait(Point point) final;
    bool wait_for(Point point, std::chrono::nanoseconds timeout) final;

    // For the queue:
    [[nodiscard]] Point last() const noexcept { return issued_.load(std::memory_order_acquire); }
    /// All up to here was given to the device, or is done.
    [[nodiscard]] Point handed() const noexcept { return handed_.load(std::memory_order_acquire); }
    /// Whether the device was given it and is not known to have reached it; looked at in this order, as the
    /// host's own points are reached before they are handed over.
    [[nodiscard]] bool is_under_way(Point point) const noexcept {
        return handed() >= point && reached() < point;
    }
    /// Whether the host has something to do when the device has reached that point, or one before it.
    [[nodiscard]] bool has_epilogue(Point point) const noexcept {
        return next_epilogue_.load(std::memory_order_acquire) <= point;
    }
    /// Gives a point out, whose command waits for the host.
    void issue(Point point) noexcept { issued_.store(point, std::memory_order_release); }
    /// Gives a point out that the device has already been given: the hot path, nobody can wait for it yet.
    void submitted(Point point) noexcept {
        handed_.store(point, std::memory_order_release);
        issued_.store(point, std::memory_order_release);
    }
    /// The device has been given an issued point; wakes those who wait for that.
    void hand(Point point) noexcept;
    /// A point of the host's own has passed.
    void pass(Point point) noexcept;
    /// Before its point is handed to the device. Points only grow.
    void add(Epilogue epilogue);
    /// Takes the last one back: its command could not be submitted.
    void cancel() noexcept;
    /// Its command could not be submitted when its turn came, behind the host's: nothing is brought home or
    /// told when the point passes.
    void drop(Point point) noexcept;
    /// A read in several parts failed midway: those that are under way bring nothing home. When it returns,
    /// nobody writes to the caller's memory. Waits for no device.
    void abandon_read(Point read) noexcept;
    /// The first epilogue that may print, or 0: someone has to wait for it.
    [[nodiscard]] Point first_print() const;
    /// Waits and does what the host has to; false when the deadline passed first. Never throws a command's
    /// error. On a lost device everything has passed.
    bool await(Point point, Clock::time_point deadline);
    void add_error(Point point, std::exception_ptr error) noexcept { errors_.add(point, std::move(error)); }
    /// The times of the queue's commands are told through this.
    [[nodiscard]] TimeOrder& times() noexcept { return times_; }
    /// A device that was lost stays so: everything that was handed to it counts as over.
    [[nodiscard]] bool lost() const noexcept override = 0;
    /// Throws where the device is lost.
    virtual void check_lost() const = 0;

protected:
    explicit DeviceTimeline(ReportPool& reports) : reports_(reports) {}

    /// The last point that the device has reached, or any before it.
    [[nodiscard]] virtual Point ask() const noexcept = 0;
    /// Sleeps until the device has reached the point, which was handed to it, or the deadline; may return
    /// before that.
    virtual void sleep_on_device(Point point, Clock::time_point deadline) = 0;
    /// Between two looks of a thread that waits.
    virtual void pause() const noexcept;
    /// The device has reached it.
    void reach(Point point) const noexcept;
    [[nodiscard]] Point reached() const noexcept { return reached_.load(std::memory_order_acquire); }

private:
    [[nodiscard]] Point completed_when_lost(Point issued) const noexcept;
    void wake() noexcept;
    /// Those up to that point. Who waits runs all of them, and none behind: these may follow what a thread
    /// does that waits for this one. Who only looks leaves those that print or would block, and takes no
    /// other thread's turn.
    enum class Running : std::uint8_t { Look, Wait };
    void run_epilogues(Point to, Running how) noexcept;
    void run(Epilogue& epilogue) noexcept;
    void sleep(Point point, Clock::time_point deadline);

    ReportPool& reports_;
    TimeOrder times_;
    std::atomic<Point> issued_{0};
    std::atomic<Point> handed_{0};
    mutable std::atomic<Point> reached_{0};  // the highest that is known of device and host
    std::atomic<Point> next_epilogue_{~Point{0}};

    std::atomic<bool> running_{false};  // some thread runs epilogues; others leave them to it
    mutable std::mutex mutex_;          // what follows
    std::condition_variable progress_;  // handed_ has grown, or an epilogue is done, or nobody runs them now
    std::deque<Epilogue> epilogues_;
    const Epilogue* busy_ = nullptr;  // the first of them, while it is run without the mutex
    ErrorList errors_;
};

}  // namespace volley::backends
