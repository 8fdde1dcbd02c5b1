// An in-order queue of the CPU. A small command on an idle queue runs inside of the call that makes it;
// others become entries of a list, whose first one is open to be claimed piece by piece, by the pool's
// workers and by threads that wait for the queue.
//
// No thread that others may need sleeps in a wait, or is held up by a function of the user's. A wait for
// another CPU queue has no pieces: that queue says when its point has passed. Whatever else the host has to
// do is done by a thread of the queue's own.
//
// Invariants: the commands of the list have the points completed_ + 1 to submitted_; only the first has
// pieces to claim. No thread holds the locks of two queues.
#pragma once

#include "backends/api/queue.hpp"
#include "backends/common/error_list.hpp"
#include "backends/cpu/cpu_command.hpp"
#include "backends/cpu/cpu_pool.hpp"
#include "backends/cpu/cpu_turn.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace volley::backends::cpu {

class CpuQueue final : public backends::Queue, public backends::Timeline, private WorkSource {
public:
    explicit CpuQueue(std::shared_ptr<CpuPool> pool);
    /// Waits for its work. Errors that nobody waited for are lost.
    ~CpuQueue() override;
    CpuQueue(const CpuQueue&) = delete;
    CpuQueue& operator=(const CpuQueue&) = delete;

    // Queue
    backends::Point launch(const backends::Launch& launch) override;
    backends::Point write(backends::Memory& to, const std::byte* from,
                          const backends::RectMove& move) override;
    backends::Point read(std::byte* to, const backends::Memory& from,
                         const backends::RectMove& move) override;
    backends::Point copy(backends::Memory& to, const backends::Memory& from,
                         const backends::RectMove& move) override;
    backends::Point fill(backends::Memory& to, const backends::RectPlace& at, const backends::Rect& rect,
                         std::span<const std::byte> pattern) override;
    backends::Point call(std::function<void()> callback) override;
    backends::Point wait_for(backends::Timeline& other, backends::Point point) override;
    backends::Point mark() override;
    [[nodiscard]] std::unique_ptr<backends::Batch> prepare(backends::BatchPlan plan) override;
    backends::Point submit(backends::Batch& batch, std::uint32_t instances,
                           std::span<const std::byte> values) override;
    [[nodiscard]] backends::Timeline& timeline() noexcept override { return *this; }
    [[nodiscard]] backends::Point last() const noexcept override {
        return submitted_.load(std::memory_order_acquire);
    }

    // Timeline
    [[nodiscard]] backends::Point completed() const noexcept override {
        return completed_.load(std::memory_order_acquire);
    }
    void wait(backends::Point point) override;
    bool wait_for(backends::Point point, std::chrono::nanoseconds timeout) override;

private:
    using Deadline = Turn::Deadline;
    static constexpr auto forever = Turn::forever;

    // WorkSource
    [[nodiscard]] Claim claim(bool worker) noexcept override { return claim(worker, CpuCommand::everything); }
    [[nodiscard]] bool has_work() const noexcept override { return can_claim(CpuCommand::everything); }
    void run_claimed(Claim claim) override;

    [[nodiscard]] Claim claim(bool worker, backends::Point until) noexcept;
    [[nodiscard]] bool can_claim(backends::Point until) const noexcept;
    /// As can_claim, or the queue that this one waits for can be helped.
    [[nodiscard]] bool can_help(backends::Point until) const noexcept;

    backends::Point transfer(Transfer transfer, CpuCommandKind kind);
    /// Runs commands while waiting; false when the deadline passed first. Never throws a command's error.
    bool help_until(backends::Point point, Deadline deadline);
    /// Where the first command, not behind the point, waits for another queue: helps that, until the wait has
    /// passed. False: there is none.
    bool help_awaited(backends::Point until, Deadline deadline);
    // Both end early when there is something to help with, and give false when the time is over.
    [[nodiscard]] bool spin_until(backends::Point point, Deadline end) const noexcept;
    bool sleep_until(backends::Point point, Deadline deadline);
    void run(Claim claim, Turn turn);
    void execute(CpuCommand& command, std::uint32_t piece) noexcept;
    void execute_piece(CpuCommand& command, std::uint32_t piece);
    /// Runs what a claim of a batch gives, and what follows from it. True: the batch has ended, and with it
    /// the command; else this thread holds nothing of it any more.
    [[nodiscard]] bool run_batch(CpuCommand& command, Turn& turn) noexcept;
    /// More pieces of the open command can be claimed: by others, if this thread leaves.
    void publish(CpuCommand& command, std::uint32_t pieces, bool leaves) noexcept;
    [[nodiscard]] Claim finish(CpuCommand* command, Turn& turn) noexcept;
    /// There is no pool's worker but the queue's own thread.
    [[nodiscard]] bool is_alone() const noexcept { return pool_->workers() == 0; }

    // With mutex_ held:
    [[nodiscard]] bool idle() const noexcept { return first_ == nullptr; }
    [[nodiscard]] CpuCommand* take_free();
    [[nodiscard]] backends::Point submit(CpuCommand* command, std::unique_lock<std::mutex>& lock);
    [[nodiscard]] backends::Point submit_transfer(const Transfer& transfer, CpuCommandKind kind,
                                                  std::uint32_t pieces, std::unique_lock<std::mutex>& lock);
    /// False: it is a wait that has passed.
    [[nodiscard]] bool open(CpuCommand* command) noexcept;
    /// Opens the first command, if there is any, and ends waits that have passed.
    void open_first() noexcept;
    /// The first command has ended, and is no more.
    void retire_first() noexcept;
    backends::Point pass() noexcept;
    template <class F>
    backends::Point run_here(F&& f) noexcept;

    // Waits of other queues for this one's points.
    /// False: the point has passed.
    [[nodiscard]] bool add_wait(CpuCommand& command);
    /// Those whose points have passed, as a list, with mutex_ held. The queue stays until they are told.
    [[nodiscard]] CpuCommand* take_passed() noexcept;
    /// Tells them, and those that wait for them.
    static void tell_passed(CpuCommand* waits) noexcept;
    /// A wait of this queue's has passed. Gives the waits of others that have passed with it.
    [[nodiscard]] CpuCommand* end_wait(CpuCommand* command) noexcept;

    // The queue's own thread: calls functions of the host's, which may take any time and need any other
    // thread, waits for other devices and the host, and is the worker where there is no other.
    void need_keeper();                       // with mutex_ held,
    void keep(CpuCommand* command) noexcept;  //   both
    void run_keeper();
    void stop_keeper() noexcept;

    /// What it waits for may be the caller of this very queue.
    [[nodiscard]] static bool is_hosts(const CpuCommand& command) noexcept {
        return command.kind == CpuCommandKind::Call || command.kind == CpuCommandKind::Wait;
    }

    void make_room();

    std::shared_ptr<CpuPool> pool_;
    std::atomic<backends::Point> submitted_{0};
    std::atomic<backends::Point> completed_{0};
    std::atomic<CpuCommand*> open_{nullptr};  // the first command, or nullptr

    std::mutex mutex_;
    std::condition_variable progress_;  // a command has finished
    std::condition_variable keeper_wake_;
    CpuCommand* kept_ = nullptr;  // the first command, if it is the keeper's to run
    bool stop_keeper_ = false;
    std::thread keeper_;
    unsigned sleepers_ = 0;  // threads in progress_
    CpuCommand* first_ = nullptr;
    CpuCommand* last_ = nullptr;
    std::atomic<unsigned> hosts_{0};  // calls and waits in the list
    CpuCommand* waits_ = nullptr;     // of other queues for our points, in the order of these
    CpuCommand* last_wait_ = nullptr;
    std::atomic<unsigned> guests_{0};  // waits to be told, and threads that help here for another queue
    CpuCommand* free_ = nullptr;
    std::deque<CpuCommand> commands_;  // all that were ever needed at once; stable addresses

    backends::ErrorList errors_;
};

// Here, as launches and transfers both do it.
template <class F>
backends::Point CpuQueue::run_here(F&& f) noexcept {
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
