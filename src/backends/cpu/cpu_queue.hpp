// An in-order queue of the CPU: turns calls into commands. A small command on an idle queue runs within the
// call that creates it; other commands go to the queue's timeline (cpu_timeline.hpp), whose threads run them.
#pragma once

#include "backends/api/queue.hpp"
#include "backends/cpu/cpu_timeline.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

namespace volley::backends::cpu {

class CpuQueue final : public backends::Queue {
public:
    /// The destructor waits for the queue's work. Errors that no wait has thrown are lost.
    explicit CpuQueue(std::shared_ptr<CpuPool> pool) : timeline_(std::move(pool)) {}

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
    [[nodiscard]] std::unique_ptr<backends::Batch> prepare(backends::BatchPlan plan) override;
    backends::Point submit(backends::Batch& batch, std::uint32_t instances,
                           std::span<const std::byte> values) override;
    void forked() override { timeline_.forked(); }
    [[nodiscard]] backends::Timeline& timeline() noexcept override { return timeline_; }
    [[nodiscard]] backends::Point last() const noexcept override { return timeline_.last(); }

private:
    backends::Point transfer(Transfer transfer, CpuCommandKind kind);
    /// Runs the transfer here if the queue is idle and it is one piece; otherwise submits it.
    [[nodiscard]] backends::Point submit_transfer(const Transfer& transfer, CpuCommandKind kind,
                                                  std::uint32_t pieces, CpuTimeline::Lock& lock);

    CpuTimeline timeline_;
};

}  // namespace volley::backends::cpu
