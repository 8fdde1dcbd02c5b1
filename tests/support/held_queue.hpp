// Holds back a queue's work, to test that other operations do not wait for it.
#pragma once

#include <volley/queue.hpp>
#include <volley/signal.hpp>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace volley::testing {

/// Blocks later work of the queue until release() or the end of the scope. So that a test that waits for it
/// by mistake terminates, the queue continues after some seconds, and released_by_itself() returns true.
class HeldQueue {
public:
    explicit HeldQueue(const Queue& queue) : watcher_([this] { watch(); }) {
        queue.depends_on(signal_.event());
    }
    ~HeldQueue() {
        release();
        watcher_.join();
    }
    HeldQueue(const HeldQueue&) = delete;
    HeldQueue& operator=(const HeldQueue&) = delete;

    void release() {
        {
            const std::scoped_lock lock(mutex_);
            released_ = true;
        }
        signal_.raise();
        changed_.notify_all();
    }
    [[nodiscard]] bool released_by_itself() const {
        const std::scoped_lock lock(mutex_);
        return out_of_patience_;
    }

private:
    void watch() {
        std::unique_lock lock(mutex_);
        if (changed_.wait_for(lock, std::chrono::seconds(10), [this] { return released_; })) return;
        out_of_patience_ = true;
        lock.unlock();
        signal_.raise();
    }

    Signal signal_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool released_ = false;
    bool out_of_patience_ = false;
    std::thread watcher_;
};

}  // namespace volley::testing
