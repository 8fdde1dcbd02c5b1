// A batch on a Vulkan device: runs of recorded commands. Commands that need the host for each instance
// (kernels that report) are launched between the runs.
//
// Not thread-safe: the queue's lock guards it.
#pragma once

#include "backends/api/batch.hpp"
#include "backends/vulkan/vulkan_recorded_run.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace volley::backends::vulkan {

class VulkanBatch final : public backends::Batch {
public:
    /// A run of recorded commands, or a single launch.
    struct Part {
        std::unique_ptr<RecordedRun> run;
        backends::Launch direct;
        std::uint32_t index = 0;  // of the launch in the batch
    };

    VulkanBatch(std::shared_ptr<LogicalDevice> device, std::shared_ptr<Heap> host,
                std::shared_ptr<backends::RectPrograms> rects, backends::BatchPlan plan);
    ~VulkanBatch() override;

    /// Returns the run if it is the whole batch, else nullptr.
    [[nodiscard]] RecordedRun* whole() const noexcept;
    [[nodiscard]] std::span<const Part> parts() const noexcept { return parts_; }

    [[nodiscard]] std::uint32_t size() const noexcept {
        return static_cast<std::uint32_t>(plan_.commands.size());
    }

    // For tests:
    /// Barriers of one instance, including those at the beginning of runs.
    [[nodiscard]] std::uint32_t barriers() const noexcept;
    /// Command buffers recorded so far.
    [[nodiscard]] std::size_t recordings() const noexcept;

private:
    std::shared_ptr<LogicalDevice> device_;
    backends::BatchPlan plan_;
    backends::KeptValues kept_;
    RecordingPool pool_;
    std::vector<Part> parts_;
};

}  // namespace volley::backends::vulkan
