// What the host does in a queue's order (callbacks, waits for other devices), and the device's commands that
// wait behind it: the driver's queue is never blocked by the host. Done by a thread that starts with the
// first such command. Queue::call and Queue::wait_for of devices that work on their own are here.
//
// Invariant: the first of pending_ is a command of the host's. The queue's mutex guards all of it.
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

    /// Of the queue that has that mutex and timeline; both outlive it.
    HostCommands(std::mutex& mutex, DeviceTimeline& timeline) : mutex_(mutex), timeline_(timeline) {}
    ~HostCommands() { stop(); }
    HostCommands(const HostCommands&) = delete;
    HostCommands& operator=(const HostCommands&) = delete;

    // With the mutex held:
    [[nodiscard]] bool empty() const noexcept { return pending_.empty(); }
    /// A command of the host's: gives its point out. The caller wakes the thread when it has let go.
    Point add(std::function<void()> action);
    /// A command of the device's behind one of the host's: `submit` hands it over when its turn comes.
    void add_behind(Point point, std::function<void()> submit);
    /// Starts the thread: there is an epilogue that prints, which somebody has to wait for.
    void start();

    // Without it:
    /// Queue::call.
    Point call(std::function<void()> callback);
    /// Queue::wait_for. `sibling` is the other timeline where it is of the same device: then, if the point
    /// is under way there and nothing of the host's is pending here, `on_device` has the device wait and
    /// gives that command's point, with the mutex held; that command has the epilogue, if there is one,
    /// because the host has work left at the other. Else the host waits.
    Point wait_for(Timeline& other, Point point, const DeviceTimeline* sibling,
                   const std::function<Point(Epilogue*)>& on_device);
    void wake() noexcept { wake_.notify_all(); }
    /// Ends the thread; what is pending is dropped.
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
