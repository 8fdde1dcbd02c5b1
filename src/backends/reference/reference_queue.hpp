// The reference device's queue and timeline: a command has run when its call returns. Not so callbacks and
// waits for what has not happened yet: the caller may hold what they need, or be what they wait for. These
// run on a thread of the queue's, and so does all that is given behind them, until nothing is left. A kernel
// that fails (an access out of bounds) fails the wait for its point, as on any other device, not the launch.
//
// Invariant: while pending_ is not empty, its first command is the thread's, and nobody else runs any.
#pragma once

#include "backends/api/queue.hpp"
#include "backends/api/times.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace volley::backends::reference {

class ReferenceTimeline final : public backend::Timeline {
public:
    [[nodiscard]] backend::Point completed() const noexcept override { return completed_.load(); }
    void wait(backend::Point point) override;
    bool wait_for(backend::Point point, std::chrono::nanoseconds timeout) override;

    /// The newest point given out.
    [[nodiscard]] backend::Point last() const noexcept { return issued_.load(); }
    // For the queue, one call at a time:
    /// Gives out the next point.
    backend::Point issue() noexcept { return ++issued_; }
    /// The next point has passed, with its command's error if that failed.
    void pass(std::exception_ptr error) noexcept;

private:
    std::atomic<backend::Point> issued_ = 0;
    std::atomic<backend::Point> completed_ = 0;
    std::mutex mutex_;
    std::condition_variable progress_;  // completed_ has grown
    // Those that nobody has seen, in order.
    std::deque<std::pair<backend::Point, std::exception_ptr>> errors_;
};

class ReferenceQueue final : public backend::Queue {
public:
    explicit ReferenceQueue(unsigned subgroup_size) : subgroup_size_(subgroup_size) {}
    /// Waits for its work. Errors that nobody waited for are lost.
    ~ReferenceQueue() override;
    ReferenceQueue(const ReferenceQueue&) = delete;
    ReferenceQueue& operator=(const ReferenceQueue&) = delete;

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
    backend::Point mark() override;
    [[nodiscard]] backend::Timeline& timeline() noexcept override { return timeline_; }
    [[nodiscard]] backend::Point last() const noexcept override { return timeline_.last(); }

private:
    using Command = std::function<void()>;
    using Bytes = std::shared_ptr<const std::byte[]>;
    struct Pending {
        backend::TimesTag times;
        Command command;
    };

    // With mutex_ held:
    /// Bytes of the caller's, for the command that is given next: copied where it has to wait.
    [[nodiscard]] Bytes keep(std::span<const std::byte> bytes) const;
    /// Runs a command here, or behind those that are pending.
    backend::Point give(Command command);
    /// Has the thread run it.
    backend::Point hand_over(Command command);

    void run_thread();

    unsigned subgroup_size_;
    ReferenceTimeline timeline_;
    std::mutex mutex_;  // the order of commands; held while one runs in its caller
    std::deque<Pending> pending_;
    std::condition_variable wake_;  // for the thread
    bool stop_ = false;
    std::thread thread_;
};

}  // namespace volley::backends::reference
