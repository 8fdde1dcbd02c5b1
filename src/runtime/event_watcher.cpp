// The thread polls all watched events; when none has completed, it waits for the oldest for one millisecond.
#include "runtime/event_watcher.hpp"

#include "backends/common/thread.hpp"

#include <chrono>
#include <exception>
#include <utility>

namespace volley::runtime {

namespace {
constexpr auto moment = std::chrono::milliseconds(1);
}

constinit thread_local EventWatcher::State* EventWatcher::thread_state = nullptr;

bool EventWatcher::add(const Event& event, std::function<void()> function, std::shared_ptr<HostPoint> done) {
    const std::scoped_lock lock(state_->mutex);
    // Functions that run on the watcher thread may add others until the end.
    if (state_->stop && thread_state != state_.get()) return false;
    if (!thread_.joinable() && !state_->stop)
        thread_ = backends::start_thread("Event::then", [state = state_] { watch(state); });
    state_->watched.push_back({event, std::move(function), std::move(done)});
    ++state_->added;
    state_->wake.notify_one();
    return true;
}

std::optional<Event> EventWatcher::awaited(const HostPoint& done) const {
    const std::scoped_lock lock(state_->mutex);
    for (const Watched& watched : state_->watched) {
        if (watched.done.get() == &done) return watched.event;
    }
    return std::nullopt;
}

std::uint64_t EventWatcher::added() const noexcept {
    const std::scoped_lock lock(state_->mutex);
    return state_->added;
}

std::uint64_t EventWatcher::called() const noexcept {
    const std::scoped_lock lock(state_->mutex);
    return state_->called;
}

void EventWatcher::forked() {
    backends::forget_thread(thread_);
    // Its lock may be held for ever, and its functions wait for work of the parent.
    static_cast<void>(new std::shared_ptr<State>(std::exchange(state_, std::make_shared<State>())));
}

void EventWatcher::stop() noexcept {
    std::unique_lock lock(state_->mutex);
    state_->stop = true;
    state_->wake.notify_one();
    if (!thread_.joinable()) return;
    if (thread_.get_id() == std::this_thread::get_id()) {
        while (run_one(*state_, lock)) {
        }
        thread_.detach();  // a function on this thread released its own context
        return;
    }
    lock.unlock();
    thread_.join();
}

void EventWatcher::Watched::run() noexcept {
    std::exception_ptr error;
    try {
        function();
    } catch (...) {
        error = std::current_exception();
    }
    function = nullptr;  // destroys its captures before `done` wakes a waiting thread
    event = Event();
    done->pass(std::move(error));
}

bool EventWatcher::run_one(State& state, std::unique_lock<std::mutex>& lock) {
    std::deque<Watched>& watched = state.watched;
    std::size_t ready = 0;
    while (ready < watched.size() && !watched[ready].event.ready()) ++ready;
    if (ready == watched.size()) return false;
    Watched next = std::move(watched[ready]);
    watched.erase(watched.begin() + static_cast<std::ptrdiff_t>(ready));
    lock.unlock();
    next.run();
    next.done.reset();
    lock.lock();
    ++state.called;
    return true;
}

void EventWatcher::wait(HostPoint& point) {
    if (State* const state = thread_state) {
        std::unique_lock lock(state->mutex);
        while (point.completed() == 0) {
            if (run_one(*state, lock)) continue;
            lock.unlock();
            static_cast<void>(point.wait_for(1, moment));
            lock.lock();
        }
    }
    point.wait(1);
}

void EventWatcher::watch(const std::shared_ptr<State>& state) {
    thread_state = state.get();
    std::unique_lock lock(state->mutex);
    for (;;) {
        state->wake.wait(lock, [&] { return state->stop || !state->watched.empty(); });
        if (state->watched.empty()) return;
        if (run_one(*state, lock)) continue;
        if (state->watched.empty()) continue;
        const Event oldest = state->watched.front().event;
        lock.unlock();
        static_cast<void>(oldest.passes_within(moment));
        lock.lock();
    }
}

}  // namespace volley::runtime
