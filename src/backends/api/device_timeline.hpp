// The timeline of a queue whose device works on its own: points are reached by the device, or by the host
// for commands that it runs itself. A point has passed only when also what the host has to do after it is
// done (bytes to copy out of staging memory, reports to read).
//
// Invariant: completed() == min(what device and host have reached, first point with host work left - 1), and
// it never goes back.
#pragma once

#include "backends/api/memory.hpp"
#include "backends/api/rect.hpp"
#include "backends/api/reports.hpp"
#include "backends/api/timeline.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace volley::backend {

/// What the host does when the device has reached a point.
struct Epilogue {
    Point point = 0;
    // Rows to bring home, which lie side by side in staging memory; none where a row has no bytes.
    const std::byte* from = nullptr;
    std::byte* to = nullptr;
    RectPlace to_at;
    Rect rect;
    std::shared_ptr<const Memory> staging;  // held until then, where it is no part of a ring
    // Reports to read.
    ReportSource source;
    std::unique_ptr<ReportBuffer> reports;
    bool prints = false;  // may run a sink of the user's: not from completed()
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
    /// The first epilogue that may print, or 0: someone has to wait for it.
    [[nodiscard]] Point first_print() const;
    /// Waits and does what the host has to; false when the deadline passed first. Never throws a command's
    /// error. On a lost device everything has passed.
    bool await(Point point, Clock::time_point deadline);
    void add_error(Point point, std::exception_ptr error) noexcept;
    /// A device that was lost stays so: everything that was handed to it counts as over.
    [[nodiscard]] virtual bool lost() const noexcept = 0;
    /// Throws where the device is lost.
    virtual void check_lost() const = 0;

protected:
    explicit DeviceTimeline(ReportPool& reports);

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
    void wake() noexcept;
    void run_epilogues(Point reached, bool prints) noexcept;
    void run(Epilogue& epilogue) noexcept;
    void sleep(Point point, Clock::time_point deadline);
    void throw_error(Point point);

    ReportPool& reports_;
    std::atomic<Point> issued_{0};
    std::atomic<Point> handed_{0};
    mutable std::atomic<Point> reached_{0};  // the highest that is known of device and host
    std::atomic<Point> next_epilogue_{~Point{0}};

    std::atomic<bool> running_{false};  // some thread runs epilogues; others leave them to it
    mutable std::mutex mutex_;          // epilogues_, errors_
    std::condition_variable progress_;  // handed_ has grown
    std::deque<Epilogue> epilogues_;
    std::atomic<bool> failed_{false};  // errors_ is not empty
    std::vector<std::pair<Point, std::exception_ptr>> errors_;
};

}  // namespace volley::backend
