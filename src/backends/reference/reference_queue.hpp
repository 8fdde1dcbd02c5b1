// The reference device's queue and timeline. A command has run when its call returns, except kernels that may
// take long, and callbacks and waits for points that have not passed, which may depend on the caller. They
// run on the queue's thread, and so do all commands after them until none is left. If a kernel fails (an
// access out of bounds), the wait for its point throws, as on any other device, not the launch.
//
// Invariant: while pending_ is not empty, the thread runs its first command, and no other thread runs any.
#pragma once

#include "backends/api/queue.hpp"
#include "backends/api/times.hpp"
#include "backends/common/error_list.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace volley::backends::reference {

class ReferenceTimeline final : public backends::Timeline {
public:
    [[nodiscard]] backends::Point completed() const noexcept override { return completed_.load(); }
    void wait(backends::Point point) override;
    bool wait_for(backends::Point point, std::chrono::nanoseconds timeout) override;

    /// Returns the newest point issued.
    [[nodiscard]] backends::Point last() const noexcept { return issued_.load(); }
    // For the queue, one call at a time:
    /// Issues the next point.
    backends::Point issue() noexcept { return ++issued_; }
    void forked();
    /// Completes the next point, with its command's error if that failed.
    void pass(std::exception_ptr error) noexcept;

private:
    std::atomic<backends::Point> issued_ = 0;
    std::atomic<backends::Point> completed_ = 0;
    std::mutex mutex_;
    std::condition_variable progress_;  // completed_ has grown
    backends::ErrorList errors_;
};

class ReferenceQueue final : public backends::Queue {
public:
    explicit ReferenceQueue(unsigned subgroup_size) : subgroup_size_(subgroup_size) {}
    /// Waits for its work. Errors that no wait has thrown are lost.
    ~ReferenceQueue() override;
    ReferenceQueue(const ReferenceQueue&) = delete;
    ReferenceQueue& operator=(const ReferenceQueue&) = delete;

    backends::Point launch(const backends::Launch& launch) override;
    backends::Point write(backends::Memory& to, const std::byte* from,
                          const backends::RectMove& move) override;
    backends::Point read(std::byte* to, const backends::Memory& from,
                         const backends::RectMove& move) override;
    backends::Point copy(backends::Memory& to, const backends::Memory& from,
                         const backends::RectMove& move) override;
    backends::Point copy_from_host(backends::Memory& to, const std::byte* from,
                                   const backends::RectMove& move) override;
    [[nodiscard]] bool copies_from_host() const noexcept override { return true; }
    backends::Point fill(backends::Memory& to, const backends::RectPlace& at, const backends::Rect& rect,
                         std::span<const std::byte> pattern) override;
    backends::Point call(std::function<void()> callback) override;
    backends::Point wait_for(backends::Timeline& other, backends::Point point) override;
    backends::Point mark() override;
    void forked() override;
    [[nodiscard]] backends::Timeline& timeline() noexcept override { return timeline_; }
    [[nodiscard]] backends::Point last() const noexcept override { return timeline_.last(); }

private:
    using Command = std::function<void()>;
    using Bytes = std::shared_ptr<const std::byte[]>;
    struct Pending {
        backends::TimesTag times;
        Command command;
    };

    // With mutex_ held:
    /// Returns the caller's bytes for a command: a copy unless it runs at once.
    [[nodiscard]] static Bytes keep(std::span<const std::byte> bytes, bool at_once);
    /// Runs a command on this thread, or after the pending ones.
    backends::Point enqueue(Command command);
    /// Has the queue's thread run the command.
    backends::Point hand_over(Command command);

    void run_thread();

    unsigned subgroup_size_;
    ReferenceTimeline timeline_;
    std::mutex mutex_;  // the order of commands; held while a caller runs one
    std::deque<Pending> pending_;
    std::condition_variable wake_;  // for the thread
    bool stop_ = false;
    std::thread thread_;
};

}  // namespace volley::backends::reference
