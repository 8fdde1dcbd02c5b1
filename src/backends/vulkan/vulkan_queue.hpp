// An in-order queue of a Vulkan device. Calls record and submit their command before they return; small
// transfers on an idle queue are done by the calling thread if the host can address the memory.
//
// A command begins with a barrier only if it depends on an earlier command that no barrier has ordered yet;
// ordered_ is the last point that is ordered. Batches (vulkan_batch.hpp) are recorded beforehand.
//
// Host commands in the queue's order run on a thread (backends/common/host_commands.hpp), and commands after
// them are submitted when they have completed: several queues share the driver's queue, which must not block.
#pragma once

#include "backends/api/queue.hpp"
#include "backends/common/host_commands.hpp"
#include "backends/common/rect_kernel.hpp"
#include "backends/common/staging_ring.hpp"
#include "backends/vulkan/vulkan_commands.hpp"
#include "backends/vulkan/vulkan_recorder.hpp"
#include "backends/vulkan/vulkan_timeline.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <span>

namespace volley::backends::vulkan {

class RecordedRun;

struct QueueOptions {
    std::uint64_t staging_bytes = std::uint64_t{16} << 20;  // of the staging ring
    std::uint64_t chunk_bytes = std::uint64_t{4} << 20;     // of a transfer, staged at once
};

class VulkanQueue final : public backends::Queue {
public:
    /// `host` is the heap for staging, arguments and reports; `rects` has the kernels that copy rows.
    VulkanQueue(std::shared_ptr<LogicalDevice> device, std::shared_ptr<Heap> host,
                std::shared_ptr<backends::RectPrograms> rects, const QueueOptions& options);
    /// Waits for its work. Errors that no wait has thrown are lost.
    ~VulkanQueue() override;
    VulkanQueue(const VulkanQueue&) = delete;
    VulkanQueue& operator=(const VulkanQueue&) = delete;

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
    /// Counts the calls that record a copy. Writes and reads record as many for each chunk.
    [[nodiscard]] std::uint64_t driver_calls(const backends::RectMove& move) const noexcept override;
    backends::Point call(std::function<void()> callback) override;
    backends::Point wait_for(backends::Timeline& other, backends::Point point) override;
    backends::Point mark() override;
    [[nodiscard]] std::unique_ptr<backends::Batch> prepare(backends::BatchPlan plan) override;
    /// One submission, unless kernels report or there are very many instances.
    backends::Point submit(backends::Batch& batch, std::uint32_t instances,
                           std::span<const std::byte> values) override;
    [[nodiscard]] bool overlaps() const noexcept override { return true; }
    [[nodiscard]] backends::Timeline& timeline() noexcept override { return timeline_; }
    [[nodiscard]] backends::Point last() const noexcept override { return timeline_.last(); }

private:
    using Lock = std::unique_lock<std::mutex>;
    using StagingRing = backends::StagingRing<VulkanMemory, Heap>;

    // All with mutex_ held; those that take the lock may release it temporarily.
    [[nodiscard]] bool idle() const noexcept { return timeline_.completed() >= timeline_.last(); }
    void make_room(Lock& lock);
    /// Begins a command that depends on the queue's commands up to `after`.
    [[nodiscard]] VulkanCommand& begin(backends::Point after = backends::Launch::everything);
    /// Returns whether a new command needs a barrier to follow that point.
    [[nodiscard]] bool needs_barrier(backends::Point after) const noexcept;
    /// Ends the command, submits it now or after the pending host commands, and returns its point.
    backends::Point submit(VulkanCommand& command, backends::Epilogue* epilogue = nullptr);
    /// Submits recorded buffers in the same way. `ordered`: they begin with a barrier.
    backends::Point hand_over(std::span<const VkCommandBuffer> buffers, bool ordered);
    void submit_to_device(std::span<const VkCommandBuffer> buffers, backends::Point point,
                          VkSemaphore wait = VK_NULL_HANDLE, backends::Point wait_point = 0);
    /// Launches with the dynamic arguments in `values`.
    backends::Point launch(const backends::Launch& launch, const std::byte* values);
    /// Submits instances of a run.
    backends::Point submit_run(RecordedRun& run, std::uint32_t instances, const std::byte* values,
                               std::size_t stride);
    /// The same, timing all commands. `times` is the tag of the batch's first command.
    backends::Point submit_timed(RecordedRun& run, std::uint32_t instances, const std::byte* values,
                                 std::size_t stride, const backends::TimesTag& times);
    /// Has the device wait for another queue's point, with an epilogue if the host has work left there.
    backends::Point wait_on_device(const VulkanTimeline& other, backends::Point point,
                                   std::span<const VkCommandBuffer> buffers, backends::Epilogue* epilogue);
    /// The same, timed.
    backends::Point wait_timed(const VulkanTimeline& other, backends::Point point,
                               backends::Epilogue* epilogue);
    /// Calibrates the device's clock; called before a command is timed.
    void calibrate();
    /// Returns an epilogue that reports the times.
    [[nodiscard]] backends::Epilogue timing_epilogue(std::shared_ptr<TimedCommands> times);
    /// Copies the bytes before it returns.
    backends::Point write_now(Lock& lock, VulkanMemory& to, const std::byte* from,
                              const backends::RectMove& move);
    // Chunk by chunk through staging memory.
    backends::Point write_staged(Lock& lock, VulkanMemory& to, const std::byte* from,
                                 const backends::RectMove& move);
    backends::Point read_staged(Lock& lock, std::byte* to, const VulkanMemory& from,
                                const backends::RectMove& move);
    /// Begins a command, calls f(CommandRecorder&) to record it, and submits it.
    template <class F>
    backends::Point submit_recorded(F&& f, std::shared_ptr<VulkanMemory> staging = nullptr,
                                    backends::Epilogue* epilogue = nullptr);
    [[nodiscard]] bool is_software() const noexcept { return device_->physical().info.software; }
    /// Returns whether the calling thread should move the rows if the host can address them and the queue is
    /// idle.
    [[nodiscard]] bool suits_host(const backends::RectMove& move) const noexcept;
    /// Fills joined rows on the device.
    backends::Point fill_joined(Lock& lock, VulkanMemory& to, const backends::RectMove& move,
                                std::span<const std::byte> pattern);

    std::shared_ptr<LogicalDevice> device_;
    std::shared_ptr<Heap> host_;
    std::shared_ptr<backends::RectPrograms> rects_;
    QueueOptions options_;
    SharedQueue& queue_;
    backends::ReportPool reports_;
    VulkanTimeline timeline_;
    CommandPool commands_;
    backends::Point ordered_ = 0;  // new commands follow points up to here without a barrier
    std::mutex mutex_;
    backends::HostCommands host_commands_;
    StagingRing staging_;    // transfers
    StagingRing arguments_;  // of launches
};

template <class F>
backends::Point VulkanQueue::submit_recorded(F&& f, std::shared_ptr<VulkanMemory> staging,
                                             backends::Epilogue* epilogue) {
    VulkanCommand& command = begin();
    try {
        CommandRecorder recorder(*device_, *rects_, command.buffer);
        f(recorder);
    } catch (...) {
        commands_.abandon(command);
        throw;
    }
    command.staging = std::move(staging);
    return submit(command, epilogue);
}

}  // namespace volley::backends::vulkan
