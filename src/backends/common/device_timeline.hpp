// The timeline of a queue whose device runs asynchronously. The device reaches points, or the host does for
// commands that it runs itself. A point has passed only after its epilogue on the host has run too (copying
// bytes out of staging memory, reading reports).
//
// Invariant: completed() == min(last point reached by device or host, first point with a pending epilogue -
// 1), and it never decreases.
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

class DeviceTimeline;

/// Work of the host after the device has reached a point.
struct Epilogue {
    Point point = 0;
    // Rows to copy out of staging memory, where they are contiguous; none if a row has no bytes.
    const std::byte* from = nullptr;
    std::byte* to = nullptr;
    RectPlace to_at;
    Rect rect;
    Point read = 0;                         // for a read in several parts: the point of its first part
    std::shared_ptr<const Memory> staging;  // released afterwards; null for ring memory
    // Reports to read.
    ReportSource source;
    std::unique_ptr<ReportBuffer> reports;
    bool prints = false;  // may call the user's print sink: not run from completed()
    // Reports the command's times; empty unless it is timed.
    std::function<void()> report_times;
    // Set if the device waited for a point of another queue that has a pending epilogue.
    DeviceTimeline* other = nullptr;
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
    /// Runs no epilogues that print, which could take any time: the queue needs a thread for these
    /// (HostCommands).
    bool wait_for(Point point, std::chrono::nanoseconds timeout) final;

    // For the queue:
    [[nodiscard]] Point last() const noexcept { return issued_.load(std::memory_order_acquire); }
    /// Returns the last point up to which all commands were submitted to the device or have completed.
    [[nodiscard]] Point handed() const noexcept { return handed_.load(std::memory_order_acquire); }
    /// Returns whether the point was submitted to the device and is not known to be reached. Evaluated in
    /// this order, because the host reaches its points before it hands them over.
    [[nodiscard]] bool is_under_way(Point point) const noexcept {
        return handed() >= point && reached() < point;
    }
    /// Returns whether this point or an earlier one has a pending epilogue.
    [[nodiscard]] bool has_epilogue(Point point) const noexcept {
        return next_epilogue_.load(std::memory_order_acquire) <= point;
    }
    /// Issues a point whose command waits for the host.
    void issue(Point point) noexcept { issued_.store(point, std::memory_order_release); }
    /// Issues a point whose command was already submitted to the device. Hot path: no thread can wait for it
    /// yet.
    void submitted(Point point) noexcept {
        handed_.store(point, std::memory_order_release);
        issued_.store(point, std::memory_order_release);
    }
    /// Marks an issued point as submitted to the device and wakes the threads that wait for this.
    void hand(Point point) noexcept;
    /// Marks a point of a host command as passed.
    void pass(Point point) noexcept;
    /// Adds an epilogue, before its point is handed to the device. Points must increase.
    void add(Epilogue epilogue);
    /// Removes the last epilogue, because its command could not be submitted.
    void cancel() noexcept;
    /// Disables the epilogue of a command that waited for a host command and then could not be submitted: it
    /// copies and reports nothing.
    void drop(Point point) noexcept;
    /// Disables the epilogues of a read in several parts that failed midway. On return, no thread writes to
    /// the caller's memory. Does not wait for the device.
    void abandon_read(Point read) noexcept;
    /// Returns the point of the first epilogue that may print, which only a waiting thread runs, or 0.
    [[nodiscard]] Point first_print() const;
    /// Blocks until the point has passed, and runs epilogues; returns false on timeout, but late if a print
    /// sink blocks. Never throws a command's error. On a lost device every point has passed.
    bool await(Point point, Clock::time_point deadline) { return await(point, deadline, Running::Wait); }
    void add_error(Point point, std::exception_ptr error) noexcept { errors_.add(point, std::move(error)); }
    /// Returns the object that reports the times of the queue's commands.
    [[nodiscard]] TimeOrder& times() noexcept { return times_; }
    /// Returns whether the device is lost, which is permanent: every point submitted to it counts as passed.
    [[nodiscard]] bool lost() const noexcept override = 0;
    /// Throws if the device is lost.
    virtual void check_lost() const = 0;

protected:
    /// `on_host_cores`: the device's driver computes on the host's cores.
    explicit DeviceTimeline(ReportPool& reports, bool on_host_cores = false)
        : on_host_cores_(on_host_cores), reports_(reports) {}

    /// Queries the device: returns the last point that it has reached, or an earlier one.
    [[nodiscard]] virtual Point ask() const noexcept = 0;
    /// Sleeps until the device has reached the point, which was submitted to it, or the deadline. May return
    /// early.
    virtual void sleep_on_device(Point point, Clock::time_point deadline) = 0;
    /// Records that the device has reached the point.
    void reach(Point point) const noexcept;
    [[nodiscard]] Point reached() const noexcept { return reached_.load(std::memory_order_acquire); }

private:
    /// `Wait` runs all epilogues up to a point but no later ones, which may depend on a thread that waits for
    /// this one. `Look` skips those that print or would block, and returns if another thread is running
    /// epilogues.
    enum class Running : std::uint8_t { Look, Wait };

    /// Pauses a waiting thread between two polls.
    void pause() const noexcept;
    [[nodiscard]] Point completed_when_lost(Point issued) const noexcept;
    void wake() noexcept;
    /// Runs the epilogues up to the point.
    void run_epilogues(Point to, Running how) noexcept;
    void run(Epilogue& epilogue) noexcept;
    bool await(Point point, Clock::time_point deadline, Running how);
    void sleep(Point point, Clock::time_point deadline);
    /// Sleeps until a thread that runs epilogues has made progress. May return early.
    void sleep_on_epilogue(Clock::time_point deadline);

    const bool on_host_cores_;
    ReportPool& reports_;
    TimeOrder times_;
    std::atomic<Point> issued_{0};
    std::atomic<Point> handed_{0};
    mutable std::atomic<Point> reached_{0};  // the last point known to be reached by device or host
    std::atomic<Point> next_epilogue_{~Point{0}};

    std::atomic<bool> running_{false};  // a thread is running epilogues; others leave them to it
    mutable std::mutex mutex_;          // guards the members below
    std::condition_variable progress_;  // handed_ grew, an epilogue finished, or running_ was cleared
    std::deque<Epilogue> epilogues_;
    const Epilogue* busy_ = nullptr;  // the first epilogue, while it runs without the mutex
    ErrorList errors_;
};

}  // namespace volley::backends
