// Host commands in a queue's order (callbacks, waits for other devices), and the device commands submitted
// after them. A thread, started on first use, runs the host commands, so the driver's queue never blocks on
// the host. Implements Queue::call and Queue::wait_for for devices with a queue of their own.
//
// Invariant: the first entry of pending_ is a host command. The queue's mutex guards all state.
#pragma once

#include "backends/common/device_timeline.hpp"

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace volley::backends {

class HostCommands {
public:
    using Lock = std::unique_lock<std::mutex>;

    /// The queue owns both the mutex and the timeline, which outlive this object.
    HostCommands(std::mutex& mutex, DeviceTimeline& timeline) : mutex_(mutex), timeline_(timeline) {}
    ~HostCommands() { stop(); }
    HostCommands(const HostCommands&) = delete;
    HostCommands& operator=(const HostCommands&) = delete;

    // Require that the mutex is held:
    [[nodiscard]] bool empty() const noexcept { return pending_.empty(); }
    /// Appends a host command and issues its point. The caller calls wake() after it releases the mutex.
    Point add(std::function<void()> action);
    /// Appends a device command after pending host commands; `submit` submits it when its turn comes.
    void defer(Point point, std::function<void()> submit);
    /// Starts the thread. Needed when an epilogue prints, because a thread has to wait for it.
    void start();

    // Require that the mutex is not held:
    /// Implements Queue::call.
    Point call(std::function<void()> callback);
    /// Implements Queue::wait_for. `sibling` is the other timeline if it belongs to the same device, else
    /// null. If the point is in flight there and no host command is pending here, calls `on_device` with the
    /// mutex held; it makes the device wait and returns that command's point. The epilogue passed to it, if
    /// any, completes the host work still left on the other timeline. In all other cases the host waits.
    Point wait_for(Timeline& other, Point point, DeviceTimeline* sibling,
                   const std::function<Point(Epilogue*)>& on_device);
    void wake() noexcept { wake_.notify_all(); }
    /// Stops the thread and drops pending commands.
    void stop();

private:
    struct Pending {
        Point point = 0;
        bool host = false;
        std::function<void()> run;
    };
    void run_thread();
    void run_first(Lock& lock);
    void submit_pending();

    std::mutex& mutex_;
    DeviceTimeline& timeline_;
    std::condition_variable wake_;
    std::deque<Pending> pending_;
    bool stop_ = false;
    std::thread thread_;
};

}  // namespace volley::backends
