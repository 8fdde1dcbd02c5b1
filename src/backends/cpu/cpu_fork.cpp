// The child process of a fork: it has a copy of the pool and of the queues, but none of their threads. Locks
// may be held and condition variables waited for by threads that do not exist, so both are constructed again.
#include "backends/common/thread.hpp"
#include "backends/cpu/cpu_timeline.hpp"
#include "core/fail.hpp"

#include <memory>

namespace volley::backends::cpu {

void CpuPool::forked() {
    std::construct_at(&mutex_);
    std::construct_at(&wake_);
    std::construct_at(&guard_wake_);
    std::construct_at(&spare_wake_);
    for (Worker& worker : pool_) backends::forget_thread(worker.thread);
    pool_.clear();
    backends::forget_thread(guard_);
    guarding_.store(Guarding::Asleep);
    resting_ = 0;
    called_ = 0;
    spinning_.store(0);
    sleeping_.store(0);
    started_.store(false);
}

void CpuTimeline::forked() {
    std::construct_at(&mutex_);
    std::construct_at(&progress_);
    std::construct_at(&keeper_wake_);
    backends::forget_thread(keeper_);
    kept_ = nullptr;
    stop_keeper_ = false;
    sleepers_ = 0;
    guests_.store(0);
    waits_ = last_wait_ = nullptr;
    const backends::Point last = submitted_.load();
    if (completed_.load() == last) return;
    // The threads that had claimed pieces of the open command are gone. Their commands keep their places in
    // commands_.
    open_.store(nullptr);
    first_ = last_ = nullptr;
    hosts_.store(0);
    completed_.store(last);
    try {
        fail(ErrorCode::WrongContext, "the process was forked while commands were running", "a CPU queue",
             "wait for the work before fork(), and submit it again in the child if its results are needed "
             "there");
    } catch (...) {
        errors_.add(last, std::current_exception());
    }
}

}  // namespace volley::backends::cpu
