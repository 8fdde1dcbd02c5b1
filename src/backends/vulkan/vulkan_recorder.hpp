// Records launches, copies of rows and fills into an open command buffer, for commands submitted once and for
// batches. Submits nothing, and adds barriers only within a fill.
#pragma once

#include "backends/api/rect_parts.hpp"
#include "backends/common/rect_kernel.hpp"
#include "backends/vulkan/vulkan_launch.hpp"
#include "backends/vulkan/vulkan_memory.hpp"

#include <cstdint>
#include <optional>
#include <span>

namespace volley::backends::vulkan {

/// Returns whether rows are copied as regions of a copy command; otherwise a kernel copies them.
[[nodiscard]] bool by_regions(const backends::Rect& rect, bool software) noexcept;
/// Returns how many driver calls record a copy of joined rows.
[[nodiscard]] std::uint64_t calls_for(const backends::RectMove& move, bool software) noexcept;
/// Returns the word for vkCmdFillBuffer to fill joined rows with, or nothing if it cannot.
[[nodiscard]] std::optional<std::uint32_t> fill_word(const VulkanMemory& to, const backends::RectMove& move,
                                                     std::span<const std::byte> pattern, bool software);

/// Some whole patterns (backends::seed_of) in memory.
struct FillSeed {
    const VulkanMemory* memory = nullptr;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};

class CommandRecorder {
public:
    CommandRecorder(LogicalDevice& device, backends::RectPrograms& rects, VkCommandBuffer buffer)
        : device_(device), rects_(rects), buffer_(buffer) {}

    /// `set` is the descriptor set if the module expects one.
    void launch(const PlannedLaunch& launch, const ArgumentSource& source, VkDescriptorSet set);
    /// Copies rows, as regions or with a kernel.
    void copy(VulkanMemory& to, const VulkanMemory& from, const backends::RectMove& move);
    /// Fills joined rows with the word from fill_word().
    void fill(VulkanMemory& to, const backends::RectMove& move, std::uint32_t word);
    /// Fills joined rows by copying the seed repeatedly.
    void fill(VulkanMemory& to, const backends::RectMove& move, const FillSeed& seed);

private:
    LogicalDevice& device_;
    backends::RectPrograms& rects_;
    VkCommandBuffer buffer_;
    VkPipeline bound_ = VK_NULL_HANDLE;
};

}  // namespace volley::backends::vulkan
