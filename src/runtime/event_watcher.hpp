// Runs the host functions of Event::then() once their event has completed, without blocking a queue.
#pragma once

#include "runtime/host_point.hpp"

#include <volley/event.hpp>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace volley::runtime {

/// One per context. Its thread starts with the first function. Thread-safe.
class EventWatcher {
public:
    EventWatcher() = default;
    ~EventWatcher() { stop(); }
    EventWatcher(const EventWatcher&) = delete;
    EventWatcher& operator=(const EventWatcher&) = delete;

    /// Schedules `function` to run once the event has completed, even if its work failed, and passes `done`
    /// afterwards. Returns false, without scheduling anything, if the watcher was stopped.
    [[nodiscard]] bool add(const Event& event, std::function<void()> function,
                           std::shared_ptr<HostPoint> done);
    /// Returns the event awaited by the pending function that will pass `done`, or nullopt if that function
    /// has been called or does not exist.
    [[nodiscard]] std::optional<Event> awaited(const HostPoint& done) const;
    /// Runs the remaining functions as their events complete, then stops the thread.
    void stop() noexcept;

    /// Return how many functions were added, and how many have been called.
    [[nodiscard]] std::uint64_t added() const noexcept;
    [[nodiscard]] std::uint64_t called() const noexcept;
    /// Forgets the thread and its functions, which stayed in the parent process.
    void forked();

    /// Blocks until the point has passed. On a watcher thread, which may itself have to pass the point, runs
    /// other ready functions meanwhile.
    static void wait(HostPoint& point);

    struct Watched {
        Event event;
        std::function<void()> function;
        std::shared_ptr<HostPoint> done;
        void run() noexcept;
    };

private:
    /// Shared with the thread; outlives the watcher if that thread destroys it.
    struct State {
        std::mutex mutex;
        std::condition_variable wake;
        std::deque<Watched> watched;  // usually the first is the next to run
        std::uint64_t added = 0;
        std::uint64_t called = 0;
        bool stop = false;
    };
    static void watch(const std::shared_ptr<State>& state);
    /// Runs one function whose event has completed; returns false if there is none. Called with the lock
    /// held; releases it while the function runs.
    static bool run_one(State& state, std::unique_lock<std::mutex>& lock);

    static constinit thread_local State* thread_state;  // on a watcher thread: its state
    std::shared_ptr<State> state_ = std::make_shared<State>();
    std::thread thread_;  // guarded by the state's mutex
};

}  // namespace volley::runtime
