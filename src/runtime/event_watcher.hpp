// Functions of the host's that run when work is done, without being in any queue's way: Event::then.
#pragma once

#include "runtime/host_point.hpp"

#include <volley/event.hpp>

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace volley::runtime {

/// One a context. Its thread starts with the first function. Thread-safe.
class EventWatcher {
public:
    EventWatcher() = default;
    ~EventWatcher() { stop(); }
    EventWatcher(const EventWatcher&) = delete;
    EventWatcher& operator=(const EventWatcher&) = delete;

    /// Calls `function` when the event has passed, whether its work failed or not, and then passes `done`.
    /// False, and nothing is called, when it was stopped.
    [[nodiscard]] bool add(const Event& event, std::function<void()> function,
                           std::shared_ptr<HostPoint> done);
    /// The event that a function waits for which has not been called: it passes `done`. None: it was, or
    /// there is no such function.
    [[nodiscard]] std::optional<Event> awaited(const HostPoint& done) const;
    /// Runs what is left, when its events have passed, and ends.
    void stop() noexcept;

    /// point.wait(1); on a watcher's own thread, which may be the one that has to reach the point, with its
    /// other functions meanwhile.
    static void wait(HostPoint& point);

    struct Watched {
        Event event;
        std::function<void()> function;
        std::shared_ptr<HostPoint> done;
        void run() noexcept;
    };

private:
    /// Outlives the watcher where its thread is what ends it.
    struct State {
        std::mutex mutex;
        std::condition_variable wake;
        std::deque<Watched> watched;  // nearly always the first is the next to run
        bool stop = false;
    };
    static void watch(const std::shared_ptr<State>& state);
    /// Runs one function whose event has passed; false where there is none. Holds the lock before and after.
    static bool run_one(State& state, std::unique_lock<std::mutex>& lock);

    static constinit thread_local State* thread_state;  // of the watcher whose thread this is
    std::shared_ptr<State> state_ = std::make_shared<State>();
    std::thread thread_;  // guarded by the state's mutex
};

}  // namespace volley::runtime
