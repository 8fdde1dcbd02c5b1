// Records driver commands. Long rows are copied as regions of a copy command, many short ones by a kernel
// (backends/common/rect_kernel.hpp).
#include "backends/vulkan/vulkan_recorder.hpp"

#include "backends/common/pattern.hpp"
#include "backends/vulkan/vulkan_commands.hpp"
#include "core/fail.hpp"

#include <algorithm>
#include <array>

namespace volley::backends::vulkan {

namespace {

constexpr std::size_t region_batch = 256;  // regions per call
constexpr std::uint64_t few_rows = 64;     // always copied as regions
// The row length in bytes from which regions are faster than a kernel. A driver on host cores copies a region
// in half a microsecond, the time of a handful of invocations.
constexpr std::uint64_t long_row = 4096, long_row_software = 128;

template <class F>
void for_each_row(const Rect& rect, F&& f) {
    for (std::uint64_t plane = 0; plane < rect.count[1]; ++plane) {
        for (std::uint64_t row = 0; row < rect.count[0]; ++row) f(row, plane);
    }
}

std::uint64_t start_of(const RectPlace& place, std::uint64_t row, std::uint64_t plane) {
    return place.offset + row * place.stride[0] + plane * place.stride[1];
}

bool is_in_words(const RectPlace& at, const Rect& rect, std::uint64_t offset) {
    return ((at.offset + offset) | at.stride[0] | at.stride[1] | rect.row) % 4 == 0;
}

std::uint64_t parts_in(const Rect& rect, const Rect& most) {
    const auto ceil_div = [](std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; };
    return ceil_div(rect.row, most.row) * ceil_div(rect.count[0], most.count[0]) *
           ceil_div(rect.count[1], most.count[1]);
}

}  // namespace

bool by_regions(const Rect& rect, bool software) noexcept {
    return rect.rows() <= few_rows || rect.row >= (software ? long_row_software : long_row);
}

std::uint64_t calls_for(const RectMove& move, bool software) noexcept {
    if (by_regions(move.rect, software)) return (move.rect.rows() + region_batch - 1) / region_batch;
    // Memory starts at a multiple of the largest word.
    return parts_in(move.rect, backends::rect_launch_limit(move, backends::word_of(move, 0, 0)));
}

std::optional<std::uint32_t> fill_word(const VulkanMemory& to, const RectMove& move,
                                       std::span<const std::byte> pattern, bool software) {
    if (!by_regions(move.rect, software) || !is_in_words(move.to, move.rect, to.offset())) return {};
    return backends::as_word(pattern);
}

void CommandRecorder::launch(const PlannedLaunch& launch, const ArgumentSource& source, VkDescriptorSet set) {
    if (set != VK_NULL_HANDLE) {
        device_.vk.vkCmdBindDescriptorSets(buffer_, VK_PIPELINE_BIND_POINT_COMPUTE, launch.kernel().layout, 0,
                                           1, &set, 0, nullptr);
    }
    launch.for_each_dispatch(
        source, [&](const KernelVariant& kernel, ir::Dim3 groups, std::span<const std::byte> push) {
            if (bound_ != kernel.pipeline)
                device_.vk.vkCmdBindPipeline(buffer_, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.pipeline);
            bound_ = kernel.pipeline;
            // The specification requires multiples of 4 bytes.
            const auto bytes = static_cast<std::uint32_t>((push.size() + 3) / 4 * 4);
            if (bytes != 0) {
                device_.vk.vkCmdPushConstants(buffer_, kernel.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, bytes,
                                              push.data());
            }
            device_.vk.vkCmdDispatch(buffer_, groups[0], groups[1], groups[2]);
        });
}

void CommandRecorder::copy(VulkanMemory& to, const VulkanMemory& from, const RectMove& requested) {
    const RectMove move = backends::joined(requested);
    if (!by_regions(move.rect, device_.physical().info.software)) {
        const std::uint32_t word = backends::word_of(move, to.address(), from.address());
        backends::Program& program = rects_.of(word);
        backends::for_each_part(
            move.rect, backends::rect_launch_limit(move, word), [&](const RectPart& part) {
                const backends::RectLaunch rows(program, word, to, from,
                                                {part.rect, part.in(move.to), part.in(move.from)});
                const PlannedLaunch planned(device_.physical(), rows.launch(), {.any_grid = true});
                if (planned.memory_bytes() != 0 || planned.kernel().module.reports)
                    fail_internal("an internal kernel needs argument memory or reports",
                                  program.function().name);
                launch(planned, {}, VK_NULL_HANDLE);
            });
        return;
    }
    std::array<VkBufferCopy, region_batch> regions;
    std::uint32_t count = 0;
    const auto flush = [&] {
        if (count != 0)
            device_.vk.vkCmdCopyBuffer(buffer_, from.buffer(), to.buffer(), count, regions.data());
        count = 0;
    };
    for_each_row(move.rect, [&](std::uint64_t row, std::uint64_t plane) {
        regions[count++] = {from.offset() + start_of(move.from, row, plane),
                            to.offset() + start_of(move.to, row, plane), move.rect.row};
        if (count == regions.size()) flush();
    });
    flush();
}

void CommandRecorder::fill(VulkanMemory& to, const RectMove& move, std::uint32_t word) {
    for_each_row(move.rect, [&](std::uint64_t row, std::uint64_t plane) {
        device_.vk.vkCmdFillBuffer(buffer_, to.buffer(), to.offset() + start_of(move.to, row, plane),
                                   move.rect.row, word);
    });
}

void CommandRecorder::fill(VulkanMemory& to, const RectMove& move, const FillSeed& seed) {
    const Rect& rect = move.rect;
    if (rect.rows() > 1) {
        backends::for_each_part(rect, {seed.bytes, rect.count}, [&](const RectPart& part) {
            copy(to, *seed.memory, {part.rect, part.in(move.to), {seed.offset, {0, 0}}});
        });
        return;
    }
    // Double the filled part by copying it after itself.
    const std::uint64_t first = to.offset() + move.to.offset;
    const VkBufferCopy start{seed.memory->offset() + seed.offset, first, seed.bytes};
    device_.vk.vkCmdCopyBuffer(buffer_, seed.memory->buffer(), to.buffer(), 1, &start);
    for (std::uint64_t done = seed.bytes; done < rect.row;) {
        order_device(device_, buffer_);
        const VkBufferCopy region{first, first + done, std::min(done, rect.row - done)};
        device_.vk.vkCmdCopyBuffer(buffer_, to.buffer(), to.buffer(), 1, &region);
        done += region.size;
    }
}

}  // namespace volley::backends::vulkan
