// The threads of the CPU backend. Workers take pieces of work from registered sources (queues). They spin for
// a short time after work, so that a dispatch soon after costs well under a microsecond, and then sleep.
//
// Invariant: a worker accesses a source only under the pool's lock, or while it holds a claimed piece of it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace volley::backends::cpu {

struct CpuCommand;

using Clock = std::chrono::steady_clock;
/// How long a thread looks for new work before it sleeps.
constexpr auto spin_time = std::chrono::microseconds(50);

/// A piece of work claimed by one thread, which must run it.
struct Claim {
    CpuCommand* command = nullptr;  // nullptr: no work was available
    std::uint32_t piece = 0;
    explicit operator bool() const noexcept { return command != nullptr; }
};

/// A source of work: a queue.
class WorkSource {
public:
    /// Claims one piece, if any is available. `worker`: the caller is a pool worker, rather than a thread
    /// that helps while it waits.
    [[nodiscard]] virtual Claim claim(bool worker) noexcept = 0;
    [[nodiscard]] virtual bool has_work() const noexcept = 0;
    /// Runs a claimed piece, then continues to claim and run pieces of this source for a while.
    virtual void run_claimed(Claim claim) = 0;

protected:
    ~WorkSource() = default;
};

class CpuPool {
public:
    /// `threads` includes the waiting thread, so the pool creates one fewer. They start on the first
    /// notify().
    explicit CpuPool(unsigned threads);
    /// Joins the threads. All sources must have been removed.
    ~CpuPool();
    CpuPool(const CpuPool&) = delete;
    CpuPool& operator=(const CpuPool&) = delete;

    [[nodiscard]] unsigned threads() const noexcept { return workers_ + 1; }
    [[nodiscard]] unsigned workers() const noexcept { return workers_; }

    void add(WorkSource& source);
    void remove(WorkSource& source);

    /// Announces new work in a source. Costs some nanoseconds while a worker is awake, microseconds (a system
    /// call) if one must be woken. If several workers are needed, each wakes the next.
    void notify();

    /// Returns whether the calling thread is a worker of any pool.
    [[nodiscard]] static bool on_worker() noexcept;

private:
    void start();
    void work();
    bool run_one();
    bool spin(std::uint64_t seen);
    bool sleep(std::uint64_t seen);
    void wake_one();

    const unsigned workers_;
    std::atomic<std::uint64_t> epoch_{0};  // counts notifications
    std::atomic<unsigned> spinning_{0};
    std::atomic<unsigned> sleeping_{0};
    std::atomic<bool> started_{false};
    bool stop_ = false;

    std::mutex mutex_;  // guards sources_, next_, stop_, threads_ and the transition to sleep
    std::condition_variable wake_;
    std::vector<WorkSource*> sources_;
    std::size_t next_ = 0;  // start of the next scan, so that no source starves
    std::vector<std::thread> threads_;
};

/// Executes the processor's spin-wait hint.
void pause() noexcept;

}  // namespace volley::backends::cpu
