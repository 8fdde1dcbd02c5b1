// The commands of a CPU queue and the threads that run them. Commands form a list, of which the first is
// open: the pool's workers, and threads that wait for the queue, claim its pieces and run them.
//
// No thread that others may need sleeps in a wait or runs a host callback. A wait for another CPU queue has
// no pieces: that queue's timeline reports when its point has passed. Callbacks, and waits for other devices,
// run on a thread that belongs to this timeline, the keeper.
//
// A thread with a time limit runs only pieces that are known to be short: one of unknown length might keep it
// for hours.
//
// Invariants: the commands of the list have the points completed_ + 1 to submitted_; only the first has
// pieces to claim. No thread holds the locks of two timelines.
#pragma once

#include "backends/api/timeline.hpp"
#include "backends/common/error_list.hpp"
#include "backends/cpu/cpu_command.hpp"
#include "backends/cpu/cpu_pool.hpp"
#include "backends/cpu/cpu_shares.hpp"
#include "backends/cpu/cpu_turn.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace volley::backends::cpu {

class CpuTimeline final : public backends::Timeline, private WorkSource {
public:
    using Lock = std::unique_lock<std::mutex>;
    using Deadline = Turn::Deadline;
    static constexpr auto forever = Turn::forever;

    explicit CpuTimeline(std::shared_ptr<CpuPool> pool);
    /// Waits for all commands, and runs their work meanwhile.
    ~CpuTimeline() override;
    CpuTimeline(const CpuTimeline&) = delete;
    CpuTimeline& operator=(const CpuTimeline&) = delete;

    // Timeline. A waiting thread runs pending work up to its point, never past it.
    [[nodiscard]] backends::Point completed() const noexcept override {
        return completed_.load(std::memory_order_acquire);
    }
    void wait(backends::Point point) override;
    bool wait_for(backends::Point point, std::chrono::nanoseconds timeout) override;

    // For the queue.
    [[nodiscard]] backends::Point last() const noexcept { return submitted_.load(std::memory_order_acquire); }
    [[nodiscard]] unsigned threads() const noexcept { return pool_->threads(); }
    [[nodiscard]] Lock lock() { return Lock(mutex_); }
    /// Runs pending work if very many commands are pending. May not help: callers need not check.
    void make_room();
    /// Runs commands until the point has passed; returns false if the deadline passed first. Never throws a
    /// command's error.
    bool help_until(backends::Point point, Deadline deadline);
    /// Queue::wait_for.
    backends::Point follow(backends::Timeline& other, backends::Point point);

    /// Queue::forked.
    void forked();

    // With the lock held:
    [[nodiscard]] bool idle() const noexcept { return first_ == nullptr; }
    /// Returns whether callbacks or waits are pending: these may depend on what the calling thread does next.
    [[nodiscard]] bool has_host_commands() const noexcept {
        return hosts_.load(std::memory_order_relaxed) != 0;
    }
    /// Returns a command to fill in and submit.
    [[nodiscard]] CpuCommand* take_free();
    /// Appends the command; releases the lock.
    [[nodiscard]] backends::Point submit(CpuCommand* command, Lock& lock);
    /// Runs f() as a command of an idle queue.
    template <class F>
    backends::Point run_here(F&& f) noexcept;
    /// Starts the keeper: a callback or a wait follows.
    void need_keeper();

private:
    // WorkSource
    [[nodiscard]] Claim claim(unsigned worker) noexcept override { return claim(Turn{.thread = worker}); }
    [[nodiscard]] bool has_work() const noexcept override;
    void run_claimed(Claim claim, unsigned worker, Clock::time_point deadline) override;

    [[nodiscard]] Claim claim(const Turn& turn) noexcept;
    /// Returns whether there is a piece to claim, or the queue that this one waits for can be helped.
    [[nodiscard]] bool can_help(const Turn& turn) const noexcept;

    /// If the first command, not after the point, waits for another queue: helps that queue until the wait
    /// has passed. Otherwise returns false.
    bool help_awaited(const Turn& turn);
    // Both wait for the turn's last point. They return early if there is something to help with, and false if
    // the time is over.
    [[nodiscard]] bool spin_until(const Turn& turn, Deadline end) const noexcept;
    bool sleep_until(const Turn& turn);
    void run(Claim claim, Turn turn);
    void execute(CpuCommand& command, std::uint32_t piece) noexcept;
    void execute_piece(CpuCommand& command, std::uint32_t piece);
    /// Runs a claimed piece of a batch and the pieces that it makes ready. Returns true if the batch, and
    /// with it the command, has ended; otherwise this thread holds nothing of it any more.
    [[nodiscard]] bool run_batch(CpuCommand& command, Turn& turn) noexcept;
    /// Adds pieces of the open command that can be claimed.
    void publish(CpuCommand& command, std::uint32_t pieces) noexcept;
    [[nodiscard]] Claim finish(CpuCommand* command, Turn& turn) noexcept;

    // With mutex_ held:
    /// Returns false for a wait that has passed.
    [[nodiscard]] bool open(CpuCommand* command) noexcept;
    /// Opens the first command, if there is one, and retires waits that have passed.
    void open_first() noexcept;
    /// Removes the first command, which has ended.
    void retire_first() noexcept;
    /// Issues a point that has passed already.
    backends::Point pass() noexcept;
    /// Has the keeper run the command.
    void keep(CpuCommand* command) noexcept;

    // Waits of other queues for this one's points.
    /// Returns false if the point has passed.
    [[nodiscard]] bool add_wait(CpuCommand& command);
    /// Takes the waits whose points have passed, with mutex_ held. The timeline lives until they are
    /// notified.
    [[nodiscard]] CpuCommand* take_passed() noexcept;
    /// Notifies them, and the waits that depend on them.
    static void notify_passed(CpuCommand* waits) noexcept;
    /// Ends a wait of this queue, and returns the waits of other queues that have passed with it.
    [[nodiscard]] CpuCommand* end_wait(CpuCommand* command) noexcept;

    // The keeper runs host callbacks, which may take any time and need any other thread, and waits for other
    // devices.
    void run_keeper();
    void stop_keeper() noexcept;

    /// Returns whether the command may depend on the thread that submits to this very queue.
    [[nodiscard]] static bool is_hosts(const CpuCommand& command) noexcept {
        return command.kind == CpuCommandKind::Call || command.kind == CpuCommandKind::Wait;
    }

    std::shared_ptr<CpuPool> pool_;
    std::atomic<backends::Point> submitted_{0};
    std::atomic<backends::Point> completed_{0};
    std::atomic<CpuCommand*> open_{nullptr};  // the first command, or nullptr
    std::vector<Share> shares_;               // of its pieces, one per thread; a batch has its own

    std::mutex mutex_;
    std::condition_variable progress_;  // a command has finished
    std::condition_variable keeper_wake_;
    CpuCommand* kept_ = nullptr;  // the first command, if the keeper runs it
    bool stop_keeper_ = false;
    std::thread keeper_;
    unsigned sleepers_ = 0;  // threads in progress_
    CpuCommand* first_ = nullptr;
    CpuCommand* last_ = nullptr;
    std::atomic<unsigned> hosts_{0};  // calls and waits in the list
    CpuCommand* waits_ = nullptr;     // of other queues for our points, in the order of the points
    CpuCommand* last_wait_ = nullptr;
    std::atomic<unsigned> guests_{0};  // waits to be notified, and threads that help here for another queue
    CpuCommand* free_ = nullptr;
    std::deque<CpuCommand> commands_;  // as many as were ever pending at once; stable addresses

    backends::ErrorList errors_;
};

// In the header because launches and transfers pass their own callables.
template <class F>
backends::Point CpuTimeline::run_here(F&& f) noexcept {
    std::exception_ptr error;
    try {
        f();
    } catch (...) {
        error = std::current_exception();
    }
    const backends::Point point = pass();
    if (error) errors_.add(point, std::move(error));
    return point;
}

}  // namespace volley::backends::cpu
