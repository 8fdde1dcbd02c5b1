// The null backend's queue and timeline: commands get points and are written down. Work is done when somebody
// waits for it, or finish() is called.
#pragma once

#include "backends/api/batch.hpp"
#include "backends/null/null_log.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace volley::backends::null {

class NullTimeline final : public backend::Timeline {
public:
    /// Who waits so long sees the work done.
    static constexpr std::chrono::seconds patience{1};

    NullTimeline(std::shared_ptr<NullLog> log, unsigned queue) : log_(std::move(log)), queue_(queue) {}

    [[nodiscard]] backend::Point completed() const noexcept override { return completed_.load(); }
    void wait(backend::Point point) override;
    bool wait_for(backend::Point point, std::chrono::nanoseconds timeout) override;
    /// All work up to the point is done, as if the device had got so far.
    void finish(backend::Point point) noexcept;
    /// Its queue's number, among all of the log's.
    [[nodiscard]] unsigned queue() const noexcept { return queue_; }

private:
    std::shared_ptr<NullLog> log_;
    unsigned queue_;
    std::atomic<backend::Point> completed_{0};
};

class NullQueue final : public backend::Queue {
public:
    NullQueue(std::shared_ptr<NullLog> log, unsigned number, bool overlaps);

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
    /// One submission, one point, however many commands and instances.
    [[nodiscard]] std::unique_ptr<backend::Batch> prepare(backend::BatchPlan plan) override;
    backend::Point submit(backend::Batch& batch, std::uint32_t instances,
                          std::span<const std::byte> values) override;
    [[nodiscard]] bool overlaps() const noexcept override { return overlaps_; }
    backend::Point mark() override;
    [[nodiscard]] NullTimeline& timeline() noexcept override { return timeline_; }
    [[nodiscard]] backend::Point last() const noexcept override { return last_.load(); }

private:
    /// Gives it the next point; its first line says what it is.
    backend::Point add(NullEntry entry, const std::string& what);
    backend::Point add(NullKind kind, std::vector<NullUse> uses, const std::string& what);

    std::shared_ptr<NullLog> log_;
    unsigned number_;
    bool overlaps_;
    std::mutex mutex_;
    std::atomic<backend::Point> last_{0};
    NullTimeline timeline_;
};

}  // namespace volley::backends::null
