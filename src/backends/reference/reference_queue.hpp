// The reference device's queue and timeline: a command has run when its call returns, so that a point has
// passed as soon as it is given out. A kernel that fails (an access out of bounds) fails the wait for its
// point, as on any other device, not the launch.
#pragma once

#include "backends/api/queue.hpp"

#include <atomic>
#include <exception>
#include <mutex>

namespace volley::backends::reference {

class ReferenceTimeline final : public backend::Timeline {
public:
    [[nodiscard]] backend::Point completed() const noexcept override { return completed_.load(); }
    void wait(backend::Point point) override;
    bool wait_for(backend::Point point, std::chrono::nanoseconds timeout) override;

    /// Counts one more command as done, with its error if it failed. An older error that nobody has seen
    /// stays.
    backend::Point pass(std::exception_ptr error = nullptr);

private:
    std::atomic<backend::Point> completed_ = 0;
    std::mutex mutex_;
    std::exception_ptr error_;
    backend::Point error_point_ = 0;
};

class ReferenceQueue final : public backend::Queue {
public:
    explicit ReferenceQueue(unsigned subgroup_size) : subgroup_size_(subgroup_size) {}

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
    [[nodiscard]] backend::Timeline& timeline() noexcept override { return timeline_; }
    [[nodiscard]] backend::Point last() const noexcept override { return timeline_.completed(); }

private:
    // Runs the command in order with those of other threads and catches what it throws.
    template <class F>
    backend::Point run(F&& command);

    unsigned subgroup_size_;
    std::mutex order_;
    ReferenceTimeline timeline_;
};

}  // namespace volley::backends::reference
