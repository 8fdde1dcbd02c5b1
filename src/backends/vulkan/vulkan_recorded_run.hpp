// Consecutive commands of a batch that are recorded together.
//
// If no value is dynamic, one recording serves all instances. Otherwise there are recordings of 1, 2, 4, ...
// instances, each with its own argument memory, into which values are written before a submission. A pending
// recording cannot be written to, so there are several of each size.
//
// Invariant: each instance begins with a barrier. A command has another one before it only if it depends on a
// command after the last barrier.
//
// Not thread-safe: the queue's lock guards it.
#pragma once

#include "backends/api/batch.hpp"
#include "backends/api/times.hpp"
#include "backends/vulkan/vulkan_recorder.hpp"
#include "backends/vulkan/vulkan_recording.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace volley::backends::vulkan {

class TimedCommands;

/// A command that can be recorded, with everything that is the same for all instances.
struct ReadyCommand {
    const backends::BatchCommand* command = nullptr;
    std::uint32_t index = 0;  // in its batch
    bool ordered = false;     // recorded after a barrier
    std::optional<PlannedLaunch> launch;
    std::unique_ptr<BoundSet> set;      // of a module that expects one
    bool patched = false;               // its arguments differ per instance
    std::uint64_t memory = 0;           // offset of its arguments or patterns
    backends::RectMove rows;            // of a fill: joined rows,
    std::optional<std::uint32_t> word;  //   with this,
    std::vector<std::byte> seed;        //   or else with these
};

class RecordedRun {
public:
    /// For a batch of `batch_size` commands. Throws what allocating and recording throw.
    RecordedRun(RecordingPool& pool, std::shared_ptr<Heap> host,
                std::shared_ptr<backends::RectPrograms> rects, std::vector<ReadyCommand> commands,
                std::uint32_t batch_size);

    /// Prepares command buffers for the first of `instances`, and returns how many instances they cover. 0 if
    /// all recordings are pending and oldest() has to pass first; never 0 with `many`, which allows any
    /// number of recordings. `passed` is the queue's last completed point.
    [[nodiscard]] std::uint32_t gather(std::uint32_t instances, const std::byte* values, std::size_t stride,
                                       backends::Point passed, bool many);
    [[nodiscard]] std::span<const VkCommandBuffer> gathered() const noexcept { return gathered_; }
    [[nodiscard]] backends::Point oldest() const noexcept { return oldest_; }
    /// The gathered recordings were submitted, or will be.
    void keep(backends::Point point) noexcept;
    /// They will not be submitted.
    void scatter() noexcept;

    // Timed instances use separate recordings, each for one submission.
    struct Timed {
        VkCommandBuffer buffer = VK_NULL_HANDLE;
        std::shared_ptr<TimedCommands> times;
    };
    /// Records `instances` together. `first` is the tag of the first command of the batch's first instance.
    [[nodiscard]] Timed record_timed(std::uint32_t instances, const std::byte* values, std::size_t stride,
                                     backends::Point passed, const backends::TimesTag& first);
    /// The last timed recording was submitted.
    void keep_timed(backends::Point point) noexcept { timed_.back()->point = point; }
    [[nodiscard]] std::uint32_t most_timed() const noexcept;
    [[nodiscard]] std::uint32_t batch_size() const noexcept { return batch_size_; }

    [[nodiscard]] std::uint32_t barriers() const noexcept { return barriers_; }
    [[nodiscard]] std::size_t recordings() const noexcept;

private:
    /// Copies a dynamic value from an instance's values to its argument memory.
    struct Patch {
        std::uint64_t to = 0;
        std::uint32_t from = 0;
        std::uint32_t bytes = 0;
    };
    static constexpr unsigned sizes = 14;

    void place_arguments();
    /// Which times the commands of a recording report.
    struct Timing {
        TimedCommands* times = nullptr;  // null: none
        backends::TimesTag first;
    };
    [[nodiscard]] std::unique_ptr<BatchRecording> record(std::uint32_t instances, const Timing& timing);
    void record_instance(CommandRecorder& recorder, VkCommandBuffer buffer, std::uint64_t address,
                         const Timing& timing);
    void record_command(CommandRecorder& recorder, const ReadyCommand& ready, std::uint64_t address);
    [[nodiscard]] BatchRecording* find(unsigned size, backends::Point passed, bool many);
    void patch(const BatchRecording& recording, std::uint32_t instances, const std::byte* values,
               std::size_t stride) const noexcept;

    RecordingPool& pool_;
    std::shared_ptr<Heap> host_;
    std::shared_ptr<backends::RectPrograms> rects_;
    std::vector<ReadyCommand> commands_;
    std::unique_ptr<VulkanMemory> constants_;  // constant arguments and patterns
    std::vector<Patch> patches_;
    std::uint64_t instance_bytes_ = 0;  // of argument memory; 0: no value is dynamic
    unsigned largest_ = 0;              // log2 of the largest number of instances in a recording
    std::uint32_t barriers_ = 0;        // of an instance

    std::array<std::vector<std::unique_ptr<BatchRecording>>, sizes>
        recordings_;  // by log2 of their instances
    std::vector<VkCommandBuffer> gathered_;
    std::vector<BatchRecording*> taken_;
    backends::Point oldest_ = 0;
    std::uint32_t batch_size_;
    std::vector<std::unique_ptr<BatchRecording>> timed_;  // pending
};

}  // namespace volley::backends::vulkan
