// The threads of the CPU backend. Workers take pieces of work from registered sources (queues). They spin for
// a short time after work, so that a dispatch soon after costs well under a microsecond, and then sleep.
//
// A piece of unknown length may hold its worker for any time. Then a guard, a thread that looks every few
// milliseconds while such pieces run, lets a spare worker run the work of other sources.
//
// Invariant: a worker accesses a source only under the pool's lock, or while it holds a claimed piece of it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace volley::backends::cpu {

struct CpuCommand;

using Clock = std::chrono::steady_clock;

/// A piece of work claimed by one thread, which must run it.
struct Claim {
    CpuCommand* command = nullptr;  // nullptr: no work was available
    std::uint32_t piece = 0;
    explicit operator bool() const noexcept { return command != nullptr; }
};

/// A source of work: a queue.
class WorkSource {
public:
    /// Claims one piece for the worker with that number, if any is available.
    [[nodiscard]] virtual Claim claim(unsigned worker) noexcept = 0;
    [[nodiscard]] virtual bool has_work() const noexcept = 0;
    /// Runs a claimed piece, then continues to claim and run pieces of this source until the deadline.
    virtual void run_claimed(Claim claim, unsigned worker, Clock::time_point deadline) = 0;

protected:
    ~WorkSource() = default;
};

class CpuPool {
public:
    /// `threads` includes the waiting thread, so the pool creates one fewer, but at least one, in start().
    explicit CpuPool(unsigned threads);
    /// Joins the threads. All sources must have been removed.
    ~CpuPool();
    CpuPool(const CpuPool&) = delete;
    CpuPool& operator=(const CpuPool&) = delete;

    /// Returns how many threads should compute at the same time.
    [[nodiscard]] unsigned threads() const noexcept { return threads_; }
    /// Returns how long a thread looks for new work before it sleeps: not at all if it has only one core.
    [[nodiscard]] std::chrono::microseconds spin_time() const noexcept {
        return std::chrono::microseconds(threads_ == 1 ? 0 : 50);
    }

    void add(WorkSource& source);
    void remove(WorkSource& source);

    /// Starts the threads, unless they run. Works with fewer if the system has no more; throws MemoryError if
    /// it has none. One load when they run.
    void start() {
        if (!started_.load(std::memory_order_acquire)) start_all();
    }
    /// Device::forked: start() starts new threads.
    void forked();

    /// Announces new work in a source. Costs some nanoseconds while a worker is awake, microseconds (a system
    /// call) if one must be woken. If several workers are needed, each wakes the next.
    void notify();
    /// Announces that a worker begins a piece of unknown length.
    void guard_workers() noexcept {
        if (guarding_.load(std::memory_order_relaxed) != Guarding::Active) start_guard();
    }

    /// Returns the number of the calling thread if it is a worker of any pool, from 1 on, or 0.
    [[nodiscard]] static unsigned thread_number() noexcept;

private:
    enum class Guarding : std::uint8_t { Asleep, Awake, Active };  // Active: guard_workers() was called since
    struct Worker {
        std::atomic<std::int64_t> since{0};  // when it began its turn, or 0
        std::thread thread;
    };

    void start_all();
    template <class F>
    void add_worker(F body);
    void work(Worker& self, unsigned number);
    bool run_one(Worker& self, unsigned number);
    bool spin(std::uint64_t seen);
    bool sleep(std::uint64_t seen);
    void wake_one();

    void start_guard() noexcept;
    void guard();
    void work_as_spare(Worker& self, unsigned number);
    // With mutex_ held:
    /// Returns how many workers, spare ones included, are not held by a piece.
    [[nodiscard]] std::size_t free_workers() const noexcept;
    [[nodiscard]] bool needs_spare() const noexcept;
    void call_spare();

    const unsigned threads_;
    const unsigned workers_;
    std::atomic<std::uint64_t> epoch_{0};  // counts notifications
    std::atomic<unsigned> spinning_{0};
    std::atomic<unsigned> sleeping_{0};
    std::atomic<bool> started_{false};
    std::atomic<Guarding> guarding_{Guarding::Asleep};

    std::mutex mutex_;  // guards the members below and the transition to sleep
    bool stop_ = false;
    std::condition_variable wake_;
    std::vector<WorkSource*> sources_;
    std::size_t next_ = 0;     // start of the next scan, so that no source starves
    std::deque<Worker> pool_;  // the workers, then the spare ones; stable addresses
    std::thread guard_;
    std::condition_variable guard_wake_;
    std::condition_variable spare_wake_;
    unsigned resting_ = 0;  // spare workers that sleep
    unsigned called_ = 0;   // how many of them to wake
};

/// Executes the processor's spin-wait hint.
void pause() noexcept;

}  // namespace volley::backends::cpu
