// An in-order queue of the CPU. A small command on an idle queue runs inside of the call that makes it;
// others become entries of a list, whose first one is open to be claimed piece by piece, by the pool's
// workers and by threads that wait for the queue.
//
// Invariant: the commands of the list have the points completed_ + 1 to submitted_; only the first has pieces
// to claim.
#pragma once

#include "backends/api/queue.hpp"
#include "backends/cpu/cpu_command.hpp"
#include "backends/cpu/cpu_pool.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace volley::backends::cpu {

class CpuQueue final : public backend::Queue, public backend::Timeline, private WorkSource {
public:
    explicit CpuQueue(std::shared_ptr<CpuPool> pool);
    /// Waits for its work. Errors that nobody waited for are lost.
    ~CpuQueue() override;
    CpuQueue(const CpuQueue&) = delete;
    CpuQueue& operator=(const CpuQueue&) = delete;

    // Queue
    backend::Point launch(const backend::Launch& launch) override;
    backend::Point write(backend::Memory& to, std::uint64_t offset, std::span<const std::byte> data) override;
    backend::Point read(const backend::Memory& from, std::uint64_t offset,
                        std::span<std::byte> data) override;
    backend::Point copy(backend::Memory& to, std::uint64_t to_offset, const backend::Memory& from,
                        std::uint64_t from_offset, std::uint64_t bytes) override;
    backend::Point fill(backend::Memory& to, std::uint64_t offset, std::uint64_t bytes,
                        std::span<const std::byte> pattern) override;
    backend::Point write_rect(backend::Memory& to, const backend::RectPlace& at, const std::byte* data,
                              const backend::RectPlace& data_at, const backend::Rect& rect) override;
    backend::Point read_rect(const backend::Memory& from, const backend::RectPlace& at, std::byte* data,
                             const backend::RectPlace& data_at, const backend::Rect& rect) override;
    backend::Point copy_rect(backend::Memory& to, const backend::RectPlace& to_at,
                             const backend::Memory& from, const backend::RectPlace& from_at,
                             const backend::Rect& rect) override;
    backend::Point fill_rect(backend::Memory& to, const backend::RectPlace& at, const backend::Rect& rect,
                             std::span<const std::byte> pattern) override;
    [[nodiscard]] std::uint64_t rect_calls(const backend::RectPlace& /*to*/,
                                           const backend::RectPlace& /*from*/,
                                           const backend::Rect& /*rect*/) const noexcept override {
        return 1;
    }
    backend::Point call(std::function<void()> callback) override;
    backend::Point wait_for(backend::Timeline& other, backend::Point point) override;
    [[nodiscard]] backend::Timeline& timeline() noexcept override { return *this; }
    [[nodiscard]] backend::Point last() const noexcept override {
        return submitted_.load(std::memory_order_acquire);
    }

    // Timeline
    [[nodiscard]] backend::Point completed() const noexcept override {
        return completed_.load(std::memory_order_acquire);
    }
    void wait(backend::Point point) override;
    bool wait_for(backend::Point point, std::chrono::nanoseconds timeout) override;

private:
    using Deadline = std::chrono::steady_clock::time_point;
    static constexpr auto forever = Deadline::max();

    // WorkSource
    [[nodiscard]] Claim claim(bool worker) noexcept override;
    [[nodiscard]] bool has_work() const noexcept override;
    void run_claimed(Claim claim) override;

    backend::Point transfer(Transfer transfer, CommandKind kind);
    /// Runs commands while waiting; false when the deadline passed first. Never throws a command's error.
    bool help_until(backend::Point point, Deadline deadline);
    // Both end early when there is a piece to claim, and give false when the time is over.
    [[nodiscard]] bool spin_until(backend::Point point, Deadline end, bool worker) const noexcept;
    bool sleep_until(backend::Point point, Deadline deadline);
    [[nodiscard]] bool can_claim(bool worker) const noexcept;
    void run(Claim claim, backend::Point until, int budget);
    void execute(Command& command, std::uint32_t piece) noexcept;
    [[nodiscard]] Claim finish(Command* command, bool go_on) noexcept;
    /// Whether this thread may run user code for the queue.
    [[nodiscard]] bool is_worker() const noexcept { return CpuPool::on_worker() || pool_->workers() == 0; }

    // With mutex_ held:
    [[nodiscard]] bool idle() const noexcept { return first_ == nullptr; }
    [[nodiscard]] Command* take_free();
    [[nodiscard]] backend::Point submit(Command* command, std::unique_lock<std::mutex>& lock);
    void open(Command* command) noexcept;
    backend::Point pass() noexcept;
    template <class F>
    backend::Point run_here(F&& f) noexcept;
    void add_error(backend::Point point, std::exception_ptr error) noexcept;

    void make_room();
    void throw_error(backend::Point point);

    std::shared_ptr<CpuPool> pool_;
    std::atomic<backend::Point> submitted_{0};
    std::atomic<backend::Point> completed_{0};
    std::atomic<Command*> open_{nullptr};  // the first command, or nullptr

    std::mutex mutex_;
    std::condition_variable progress_;  // a command has finished
    unsigned sleepers_ = 0;             // threads in progress_
    Command* first_ = nullptr;
    Command* last_ = nullptr;
    Command* free_ = nullptr;
    std::deque<Command> commands_;  // all that were ever needed at once; stable addresses

    std::atomic<bool> failed_{false};  // errors_ is not empty
    std::vector<std::pair<backend::Point, std::exception_ptr>> errors_;
};

// Here, as launches and transfers both do it.
template <class F>
backend::Point CpuQueue::run_here(F&& f) noexcept {
    std::exception_ptr error;
    try {
        f();
    } catch (...) {
        error = std::current_exception();
    }
    const backend::Point point = pass();
    if (error) add_error(point, std::move(error));
    return point;
}

/// How to cut a launch for that many threads: one piece if other threads are not worth it.
[[nodiscard]] Pieces cut(const CpuProgram& program, ir::Dim3 global, ir::Dim3 local, unsigned threads);

}  // namespace volley::backends::cpu
