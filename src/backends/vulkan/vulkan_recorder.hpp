// What an open command buffer is given: launches, rows that are copied, fills. Used for commands that are
// submitted once and for those that are kept. Submits nothing, and adds no barrier but inside of a fill.
#pragma once

#include "backends/api/rect_parts.hpp"
#include "backends/common/rect_kernel.hpp"
#include "backends/vulkan/vulkan_launch.hpp"
#include "backends/vulkan/vulkan_memory.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace volley::backends::vulkan {

/// Whether rows are worth regions of a copy; else a kernel moves them.
[[nodiscard]] bool by_regions(const backends::Rect& rect, bool software) noexcept;
/// How many calls of the driver record a copy of joined rows.
[[nodiscard]] std::uint64_t calls_for(const backends::RectMove& move, bool software) noexcept;
/// The word that the driver's own command fills joined rows with, where it can.
[[nodiscard]] std::optional<std::uint32_t> fill_word(const VulkanMemory& to, const backends::RectMove& move,
                                                     std::span<const std::byte> pattern, bool software);

/// Some whole patterns (backends::seed_of) in memory.
struct FillSeed {
    const VulkanMemory* memory = nullptr;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};

class Recorder {
public:
    Recorder(LogicalDevice& device, backends::RectPrograms& rects, VkCommandBuffer buffer)
        : device_(device), rects_(rects), buffer_(buffer) {}

    /// `set` is the descriptor set of a module that wants one.
    void launch(const PlannedLaunch& launch, const ArgumentSource& source, VkDescriptorSet set);
    /// Regions of a copy, or a kernel.
    void copy(VulkanMemory& to, const VulkanMemory& from, const backends::RectMove& move);
    /// Joined rows, with the word that fill_word() gave.
    void fill(VulkanMemory& to, const backends::RectMove& move, std::uint32_t word);
    /// Joined rows, with patterns that are copied as often as it takes.
    void fill(VulkanMemory& to, const backends::RectMove& move, const FillSeed& seed);

private:
    LogicalDevice& device_;
    backends::RectPrograms& rects_;
    VkCommandBuffer buffer_;
    VkPipeline bound_ = VK_NULL_HANDLE;
};

}  // namespace volley::backends::vulkan
