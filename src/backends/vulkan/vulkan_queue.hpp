// An in-order queue of a Vulkan device. A command is recorded and submitted inside of the call that makes it;
// small transfers on an idle queue whose memory the host can address are done by the host right there.
//
// Commands begin with a barrier only where something before them is not ordered yet: each remembers whether
// it does, and ordered_ how far back that reaches. Batches (vulkan_batch.hpp) are recorded beforehand.
//
// What the host must do in the queue's order is done by a thread (backends/api/host_commands.hpp), and
// commands behind it are submitted when it is done: the driver's queue is shared by several of ours.
#pragma once

#include "backends/api/host_commands.hpp"
#include "backends/api/queue.hpp"
#include "backends/api/rect_kernel.hpp"
#include "backends/api/ring.hpp"
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
    std::uint64_t staging_bytes = std::uint64_t{16} << 20;  // the ring of transfers
    std::uint64_t chunk_bytes = std::uint64_t{4} << 20;     // a transfer's piece
};

class VulkanQueue final : public backend::Queue {
public:
    /// `host` is the heap for staging, arguments and reports, `rects` the kernels that move rows.
    VulkanQueue(std::shared_ptr<LogicalDevice> device, std::shared_ptr<Heap> host,
                std::shared_ptr<backend::RectPrograms> rects, const QueueOptions& options);
    /// Waits for its work. Errors that nobody waited for are lost.
    ~VulkanQueue() override;
    VulkanQueue(const VulkanQueue&) = delete;
    VulkanQueue& operator=(const VulkanQueue&) = delete;

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
    /// Of the commands that are recorded for a copy; writes and reads record them for each chunk.
    [[nodiscard]] std::uint64_t rect_calls(const backend::RectPlace& to, const backend::RectPlace& from,
                                           const backend::Rect& rect) const noexcept override;
    backend::Point call(std::function<void()> callback) override;
    backend::Point wait_for(backend::Timeline& other, backend::Point point) override;
    backend::Point mark() override;
    [[nodiscard]] std::unique_ptr<backend::Batch> prepare(backend::BatchPlan plan) override;
    /// One submission, unless kernels report or there are very many instances.
    backend::Point submit(backend::Batch& batch, std::uint32_t instances,
                          std::span<const std::byte> values) override;
    [[nodiscard]] bool overlaps() const noexcept override { return true; }
    [[nodiscard]] backend::Timeline& timeline() noexcept override { return timeline_; }
    [[nodiscard]] backend::Point last() const noexcept override { return timeline_.last(); }

private:
    using Lock = std::unique_lock<std::mutex>;
    /// Places in host memory that the device reads and writes.
    struct StagingRing {
        StagingRing(std::shared_ptr<Heap> heap, std::uint64_t bytes)
            : memory(std::move(heap), bytes), places(bytes) {}
        VulkanMemory memory;
        backend::Ring places;
    };
    /// A part of the staging ring, or memory of its own where the ring is full and waiting is no choice.
    struct Staging {
        VulkanMemory* memory = nullptr;
        std::uint64_t offset = 0;  // in the memory
        std::byte* mapped = nullptr;
        std::unique_ptr<VulkanMemory> own;
    };

    static constexpr std::uint64_t nowhere = ~std::uint64_t{0};

    // All with mutex_ held; those that take the lock may let go of it meanwhile.
    [[nodiscard]] bool idle() const noexcept { return timeline_.completed() >= timeline_.last(); }
    void make_room(Lock& lock);
    /// An open command that follows that point of this queue's.
    [[nodiscard]] Command& begin(backend::Point after = backend::Launch::everything);
    /// Whether only a barrier makes what comes now follow that point.
    [[nodiscard]] bool needs_barrier(backend::Point after) const noexcept;
    /// Ends the command, submits it or puts it behind the host's, and gives its point out.
    backend::Point submit(Command& command, backend::Epilogue* epilogue = nullptr);
    /// The same for recorded buffers; `ordered`: they begin with a barrier.
    backend::Point hand_over(std::span<const VkCommandBuffer> buffers, bool ordered);
    void give_to_device(std::span<const VkCommandBuffer> buffers, backend::Point point,
                        VkSemaphore wait = VK_NULL_HANDLE, backend::Point wait_point = 0);
    /// A launch whose dynamic arguments are in `values`.
    backend::Point launch(const backend::Launch& launch, const std::byte* values);
    /// Instances of a batch's part.
    backend::Point give(RecordedRun& run, std::uint32_t instances, const std::byte* values,
                        std::size_t stride);
    /// The same with the times of all commands told. `times` is of the batch's first command.
    backend::Point give_timed(RecordedRun& run, std::uint32_t instances, const std::byte* values,
                              std::size_t stride, const backend::TimesTag& times);
    /// The device waits for another queue; with an epilogue, where that is not all.
    backend::Point wait_on_device(const VulkanTimeline& other, backend::Point point,
                                  std::span<const VkCommandBuffer> buffers, backend::Epilogue* epilogue);
    /// The same, and tells how long.
    backend::Point wait_timed(const VulkanTimeline& other, backend::Point point, backend::Epilogue* epilogue);
    /// Before something is timed.
    void calibrate();
    [[nodiscard]] backend::Epilogue telling(std::shared_ptr<TimedCommands> times);
    [[nodiscard]] Staging stage(Lock& lock, std::uint64_t bytes);
    backend::Point write_staged(Lock& lock, VulkanMemory& to, std::uint64_t offset,
                                std::span<const std::byte> data);
    /// Chunk by chunk through staging memory.
    backend::Point read_staged(Lock& lock, const VulkanMemory& from, const backend::RectPlace& at,
                               std::byte* data, const backend::RectPlace& data_at, const backend::Rect& rect);
    /// Begins a command, has f(Recorder&) record, and submits it.
    template <class F>
    backend::Point submit_recorded(F&& f, std::unique_ptr<VulkanMemory> staging = nullptr,
                                   backend::Epilogue* epilogue = nullptr);
    [[nodiscard]] bool is_software() const noexcept { return device_->physical().info.software; }
    /// Whether rows that the host can address are its own to move, if the queue is idle.
    [[nodiscard]] bool suits_host(const backend::RectMove& move) const noexcept;
    /// The device's part of a fill; the rows are joined.
    backend::Point fill_joined(Lock& lock, VulkanMemory& to, const backend::RectMove& move,
                               std::span<const std::byte> pattern);
    /// Waits for room. Nowhere, if that might never come: then memory of its own has to do.
    [[nodiscard]] std::uint64_t find_in(backend::Ring& ring, Lock& lock, std::uint64_t bytes);

    std::shared_ptr<LogicalDevice> device_;
    std::shared_ptr<Heap> host_;
    std::shared_ptr<backend::RectPrograms> rects_;
    QueueOptions options_;
    SharedQueue& queue_;
    backend::ReportPool reports_;
    VulkanTimeline timeline_;
    CommandPool commands_;
    backend::Point ordered_ = 0;              // what comes now follows all up to there without a barrier
    std::unique_ptr<StagingRing> staging_;    // made when first needed,
    std::unique_ptr<StagingRing> arguments_;  //   both

    std::mutex mutex_;
    backend::HostCommands host_commands_;
};

template <class F>
backend::Point VulkanQueue::submit_recorded(F&& f, std::unique_ptr<VulkanMemory> staging,
                                            backend::Epilogue* epilogue) {
    Command& command = begin();
    try {
        Recorder recorder(*device_, *rects_, command.buffer);
        f(recorder);
    } catch (...) {
        commands_.abandon(command);
        throw;
    }
    command.staging = std::move(staging);
    return submit(command, epilogue);
}

}  // namespace volley::backends::vulkan
