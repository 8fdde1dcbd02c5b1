// A batch on a Vulkan device: command buffers that are recorded once and submitted many times.
//
// Where no value is dynamic, one recording serves for all instances. Else there are recordings of 1, 2, 4,
// ... instances, each with argument memory of its own, into which values are written before it is submitted;
// one that is still under way cannot be written to, so there are several of a size. Commands that need the
// host each time (kernels that report) are no part of a recording: they are launched, between recorded parts.
//
// Invariant: each instance begins with a barrier, and another stands before a command that follows one behind
// the last barrier, nowhere else.
//
// Not thread-safe: the queue's lock guards it.
#pragma once

#include "backends/api/batch.hpp"
#include "backends/api/times.hpp"
#include "backends/vulkan/vulkan_recorder.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace volley::backends::vulkan {

class TimedCommands;

/// Command buffers of one batch.
class RecordingPool {
public:
    explicit RecordingPool(std::shared_ptr<LogicalDevice> device);
    ~RecordingPool();
    RecordingPool(const RecordingPool&) = delete;
    RecordingPool& operator=(const RecordingPool&) = delete;

    [[nodiscard]] LogicalDevice& device() const noexcept { return *device_; }
    [[nodiscard]] const std::shared_ptr<LogicalDevice>& shared_device() const noexcept { return device_; }
    [[nodiscard]] VkCommandPool handle() const noexcept { return handle_; }

private:
    std::shared_ptr<LogicalDevice> device_;
    VkCommandPool handle_ = VK_NULL_HANDLE;
};

/// A command buffer with its argument memory.
class BatchRecording {
public:
    /// Open. `memory` may be null.
    BatchRecording(RecordingPool& pool, std::unique_ptr<VulkanMemory> memory,
                   VkCommandBufferUsageFlags usage);
    ~BatchRecording();
    BatchRecording(const BatchRecording&) = delete;
    BatchRecording& operator=(const BatchRecording&) = delete;
    /// Recorded to its end.
    void end();

    [[nodiscard]] VkCommandBuffer buffer() const noexcept { return buffer_; }
    [[nodiscard]] const VulkanMemory* memory() const noexcept { return memory_.get(); }

    backends::Point point = 0;  // of its last submission
    bool taken = false;         // for the next one

private:
    RecordingPool& pool_;
    VkCommandBuffer buffer_ = VK_NULL_HANDLE;
    std::unique_ptr<VulkanMemory> memory_;
};

/// A command that can be recorded, with all that does not change.
struct ReadyCommand {
    const backends::BatchCommand* command = nullptr;
    std::uint32_t index = 0;  // in its batch
    bool ordered = false;     // a barrier stands before it
    std::optional<PlannedLaunch> launch;
    std::unique_ptr<BoundSet> set;      // of a module that wants one
    bool patched = false;               // its arguments are each instance's own
    std::uint64_t memory = 0;           // where its arguments or patterns lie
    backends::RectMove rows;            // of a fill: joined,
    std::optional<std::uint32_t> word;  //   with this,
    std::vector<std::byte> seed;        //   or else with these
};

/// Commands in a row that are recorded together.
class RecordedRun {
public:
    /// Of a batch of so many commands. Throws what allocating and recording throw.
    RecordedRun(RecordingPool& pool, std::shared_ptr<Heap> host,
                std::shared_ptr<backends::RectPrograms> rects, std::vector<ReadyCommand> commands,
                std::uint32_t batch_size);

    /// Makes command buffers ready for the first of so many instances, and gives how many of them these are.
    /// 0: all recordings are under way, and oldest() has to pass first; never where there may be `many`.
    /// `passed` is the queue's last point that has.
    [[nodiscard]] std::uint32_t gather(std::uint32_t instances, const std::byte* values, std::size_t stride,
                                       backends::Point passed, bool many);
    [[nodiscard]] std::span<const VkCommandBuffer> gathered() const noexcept { return gathered_; }
    [[nodiscard]] backends::Point oldest() const noexcept { return oldest_; }
    /// What was gathered was submitted, or will be;
    void keep(backends::Point point) noexcept;
    /// or will not.
    void scatter() noexcept;

    // The same with times: recordings of their own, each for one submission.
    struct Timed {
        VkCommandBuffer buffer = VK_NULL_HANDLE;
        std::shared_ptr<TimedCommands> times;
    };
    /// So many instances in one; `first` is of the first instance's first command in the batch.
    [[nodiscard]] Timed record_timed(std::uint32_t instances, const std::byte* values, std::size_t stride,
                                     backends::Point passed, const backends::TimesTag& first);
    /// It was submitted.
    void keep_timed(backends::Point point) noexcept { timed_.back()->point = point; }
    [[nodiscard]] std::uint32_t most_timed() const noexcept;
    [[nodiscard]] std::uint32_t batch_size() const noexcept { return batch_size_; }

    [[nodiscard]] std::uint32_t barriers() const noexcept { return barriers_; }
    [[nodiscard]] std::size_t recordings() const noexcept;

private:
    /// Where a dynamic value goes to in an instance's argument memory, and comes from in its values.
    struct Patch {
        std::uint64_t to = 0;
        std::uint32_t from = 0;
        std::uint32_t bytes = 0;
    };
    static constexpr unsigned sizes = 14;

    void place_arguments();
    /// Whom to tell about the commands of a recording.
    struct Telling {
        TimedCommands* times = nullptr;  // nobody
        backends::TimesTag first;
    };
    [[nodiscard]] std::unique_ptr<BatchRecording> record(std::uint32_t instances, const Telling& telling);
    void record_instance(CommandRecorder& recorder, VkCommandBuffer buffer, std::uint64_t address,
                         const Telling& telling);
    void record_command(CommandRecorder& recorder, const ReadyCommand& ready, std::uint64_t address);
    [[nodiscard]] BatchRecording* find(unsigned size, backends::Point passed, bool many);
    void patch(const BatchRecording& recording, std::uint32_t instances, const std::byte* values,
               std::size_t stride) const noexcept;

    RecordingPool& pool_;
    std::shared_ptr<Heap> host_;
    std::shared_ptr<backends::RectPrograms> rects_;
    std::vector<ReadyCommand> commands_;
    std::unique_ptr<VulkanMemory> constants_;  // arguments and patterns that never change
    std::vector<Patch> patches_;
    std::uint64_t instance_bytes_ = 0;  // of argument memory; 0: no value is dynamic
    unsigned largest_ = 0;              // the logarithm of a recording's most instances
    std::uint32_t barriers_ = 0;        // of an instance

    std::array<std::vector<std::unique_ptr<BatchRecording>>, sizes> recordings_;  // by that logarithm
    std::vector<VkCommandBuffer> gathered_;
    std::vector<BatchRecording*> taken_;
    backends::Point oldest_ = 0;
    std::uint32_t batch_size_;
    std::vector<std::unique_ptr<BatchRecording>> timed_;  // under way
};

class VulkanBatch final : public backends::Batch {
public:
    /// Commands that are recorded, or a launch that is not.
    struct Part {
        std::unique_ptr<RecordedRun> run;
        backends::Launch direct;
        std::uint32_t index = 0;  // of the launch in the batch
    };

    VulkanBatch(std::shared_ptr<LogicalDevice> device, std::shared_ptr<Heap> host,
                std::shared_ptr<backends::RectPrograms> rects, backends::BatchPlan plan);
    ~VulkanBatch() override;

    /// The whole batch, where all of it is recorded; else nullptr.
    [[nodiscard]] RecordedRun* whole() const noexcept;
    [[nodiscard]] std::span<const Part> parts() const noexcept { return parts_; }

    [[nodiscard]] std::uint32_t size() const noexcept {
        return static_cast<std::uint32_t>(plan_.commands.size());
    }

    /// For tests: barriers of one instance, those at the beginning of recorded parts included;
    [[nodiscard]] std::uint32_t barriers() const noexcept;
    /// command buffers that there are.
    [[nodiscard]] std::size_t recordings() const noexcept;

private:
    std::shared_ptr<LogicalDevice> device_;
    backends::BatchPlan plan_;
    backends::KeptValues kept_;
    RecordingPool pool_;
    std::vector<Part> parts_;
};

}  // namespace volley::backends::vulkan
