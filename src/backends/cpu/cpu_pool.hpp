// The threads of the CPU backend. Workers take pieces of work from the sources (queues) that are registered;
// they stay awake for a short while after work, so that a dispatch soon after costs well under a microsecond,
// and then sleep.
//
// Invariant: a source is touched by a worker only under the pool's lock, or while the worker holds a claimed
// piece.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace volley::backends::cpu {

struct Command;

using Clock = std::chrono::steady_clock;
/// How long a thread that may soon have work looks for it before it sleeps.
constexpr auto spin_time = std::chrono::microseconds(50);

/// A piece of work that this thread, and no other, is to run.
struct Claim {
    Command* command = nullptr;  // nullptr: there was none
    std::uint32_t piece = 0;
    explicit operator bool() const noexcept { return command != nullptr; }
};

/// Whatever has pieces of work to give: a queue.
class WorkSource {
public:
    /// Claims one piece, if there is any. `worker` tells whether the caller is a pool's worker or only helps
    /// while it waits.
    [[nodiscard]] virtual Claim claim(bool worker) noexcept = 0;
    [[nodiscard]] virtual bool has_work() const noexcept = 0;
    /// Runs a claimed piece, and then whatever more it can claim here, for a while.
    virtual void run_claimed(Claim claim) = 0;

protected:
    ~WorkSource() = default;
};

class CpuPool {
public:
    /// `threads` compute: the pool makes one fewer, as the thread that waits computes too. They start with
    /// the first notify().
    explicit CpuPool(unsigned threads);
    /// Sources are gone by now. Waits for the threads to end.
    ~CpuPool();
    CpuPool(const CpuPool&) = delete;
    CpuPool& operator=(const CpuPool&) = delete;

    [[nodiscard]] unsigned threads() const noexcept { return workers_ + 1; }
    [[nodiscard]] unsigned workers() const noexcept { return workers_; }

    void add(WorkSource& source);
    void remove(WorkSource& source);

    /// Some source has new work. Costs some nanoseconds while a worker is awake, microseconds (a system call)
    /// when one has to be woken. Work that needs several workers wakes them one by one, each waking the next.
    void notify();

    /// Whether this thread is a worker of any pool.
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

    std::mutex mutex_;  // sources_, next_, stop_, threads_; sleeping
    std::condition_variable wake_;
    std::vector<WorkSource*> sources_;
    std::size_t next_ = 0;  // where the next scan begins, so that no source starves
    std::vector<std::thread> threads_;
};

/// Tells the processor that the thread spins.
void pause() noexcept;

}  // namespace volley::backends::cpu
