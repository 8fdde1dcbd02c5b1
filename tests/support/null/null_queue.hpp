// The queue and timeline of the null backend: commands get points and are logged. Work completes when a
// thread waits for it or finish() is called.
#pragma once

#include "backends/api/batch.hpp"
#include "support/null/null_log.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace volley::backends::null {

class NullTimeline final : public backends::Timeline {
public:
    /// A wait_for() with at least this timeout completes the work.
    static constexpr std::chrono::seconds patience{1};

    NullTimeline(std::shared_ptr<NullLog> log, unsigned queue) : log_(std::move(log)), queue_(queue) {}

    [[nodiscard]] backends::Point completed() const noexcept override { return completed_.load(); }
    void wait(backends::Point point) override;
    bool wait_for(backends::Point point, std::chrono::nanoseconds timeout) override;
    /// Completes all work up to the point, as if the device had reached it.
    void finish(backends::Point point) noexcept;
    /// Returns the number of the queue among all queues of the log.
    [[nodiscard]] unsigned queue() const noexcept { return queue_; }

private:
    std::shared_ptr<NullLog> log_;
    unsigned queue_;
    std::atomic<backends::Point> completed_{0};
};

class NullQueue final : public backends::Queue {
public:
    NullQueue(std::shared_ptr<NullLog> log, unsigned number, bool overlaps);

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
    /// A batch is one submission with one point, for any number of commands and instances.
    [[nodiscard]] std::unique_ptr<backends::Batch> prepare(backends::BatchPlan plan) override;
    backends::Point submit(backends::Batch& batch, std::uint32_t instances,
                           std::span<const std::byte> values) override;
    [[nodiscard]] bool overlaps() const noexcept override { return overlaps_; }
    backends::Point mark() override;
    [[nodiscard]] NullTimeline& timeline() noexcept override { return timeline_; }
    [[nodiscard]] backends::Point last() const noexcept override { return last_.load(); }

private:
    /// Logs the entry under the next point; `what` becomes its first line.
    backends::Point add(NullEntry entry, const std::string& what);
    backends::Point add(NullKind kind, std::vector<NullUse> uses, const std::string& what);

    std::shared_ptr<NullLog> log_;
    unsigned number_;
    bool overlaps_;
    std::mutex mutex_;
    std::atomic<backends::Point> last_{0};
    NullTimeline timeline_;
};

}  // namespace volley::backends::null
