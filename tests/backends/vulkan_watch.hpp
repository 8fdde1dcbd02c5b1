// Counts driver calls of one device, and makes single calls fail.
#pragma once

#include "backends/vulkan/vulkan_logical.hpp"

#include <atomic>
#include <thread>
#include <utility>

namespace volley::backends::vulkan {

/// Watches one device during its lifetime; only one may exist at a time.
class Watch {
public:
    explicit Watch(LogicalDevice& device) : device_(device), real_(device.vk) {
        table = &real_;
        submits = buffers = barriers = recordings = sets = waits = 0;
        host_barriers = copies = unordered_copies = 0;
        ordered = false;
        submit_result = allocate_result = begin_result = wait_submit_result = VK_SUCCESS;
        spared = 0;
        frozen = false;
        device.vk.vkQueueSubmit = submit;
        device.vk.vkCmdPipelineBarrier = barrier;
        device.vk.vkCmdCopyBuffer = copy;
        device.vk.vkBeginCommandBuffer = begin;
        device.vk.vkUpdateDescriptorSets = update;
        device.vk.vkAllocateMemory = allocate;
        device.vk.vkGetSemaphoreCounterValue = value;
        device.vk.vkWaitSemaphores = wait;
    }
    ~Watch() { device_.vk = real_; }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    static inline std::atomic<unsigned> submits{0};   // calls,
    static inline std::atomic<unsigned> buffers{0};   // and the command buffers in them
    static inline std::atomic<unsigned> barriers{0};  // recorded
    // Barriers that make the writes of shaders and copies visible to the host.
    static inline std::atomic<unsigned> host_barriers{0};
    static inline std::atomic<unsigned> copies{0};            // commands recorded,
    static inline std::atomic<unsigned> unordered_copies{0};  // of these, with no barrier since the last one
    static inline std::atomic<unsigned> recordings{0};        // started
    static inline std::atomic<unsigned> sets{0};              // descriptor sets written
    static inline std::atomic<unsigned> waits{0};             // by the host, that reached their value
    static inline std::atomic<VkResult> submit_result{VK_SUCCESS};
    static inline std::atomic<VkResult> allocate_result{VK_SUCCESS};
    static inline std::atomic<VkResult> begin_result{VK_SUCCESS};
    static inline std::atomic<VkResult> wait_submit_result{VK_SUCCESS};  // for submissions that wait
    static inline std::atomic<int> spared{0};       // calls that succeed before the first two results apply
    static inline std::atomic<bool> frozen{false};  // no point appears to pass

    /// Returns how much a counter grows while f runs.
    template <class F>
    static unsigned during(std::atomic<unsigned>& counter, F&& f) {
        const unsigned before = counter;
        f();
        return counter - before;
    }

private:
    static bool spare() noexcept { return spared > 0 && spared-- > 0; }
    static VKAPI_ATTR VkResult VKAPI_CALL value(VkDevice device, VkSemaphore semaphore,
                                                std::uint64_t* reached) {
        if (!frozen) return table->vkGetSemaphoreCounterValue(device, semaphore, reached);
        *reached = 0;
        return VK_SUCCESS;
    }
    static VKAPI_ATTR VkResult VKAPI_CALL wait(VkDevice device, const VkSemaphoreWaitInfo* info,
                                               std::uint64_t timeout) {
        if (frozen) {
            std::this_thread::yield();
            return VK_TIMEOUT;
        }
        const VkResult result = table->vkWaitSemaphores(device, info, timeout);
        if (result == VK_SUCCESS) ++waits;
        return result;
    }
    static VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue queue, std::uint32_t count,
                                                 const VkSubmitInfo* infos, VkFence fence) {
        if (submit_result != VK_SUCCESS && !spare()) return submit_result;
        if (wait_submit_result != VK_SUCCESS && infos->waitSemaphoreCount != 0) return wait_submit_result;
        ++submits;
        for (std::uint32_t i = 0; i < count; ++i) buffers += infos[i].commandBufferCount;
        return table->vkQueueSubmit(queue, count, infos, fence);
    }
    static VKAPI_ATTR void VKAPI_CALL barrier(VkCommandBuffer buffer, VkPipelineStageFlags before,
                                              VkPipelineStageFlags after, VkDependencyFlags flags,
                                              std::uint32_t memory_count, const VkMemoryBarrier* memory,
                                              std::uint32_t buffer_count,
                                              const VkBufferMemoryBarrier* buffer_barriers,
                                              std::uint32_t image_count, const VkImageMemoryBarrier* images) {
        ++barriers;
        ordered = true;
        constexpr VkAccessFlags writes = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
        constexpr VkPipelineStageFlags stages =
            VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
        if ((after & VK_PIPELINE_STAGE_HOST_BIT) != 0 && (before & stages) == stages && memory_count == 1 &&
            memory->srcAccessMask == writes && (memory->dstAccessMask & VK_ACCESS_HOST_READ_BIT) != 0)
            ++host_barriers;
        table->vkCmdPipelineBarrier(buffer, before, after, flags, memory_count, memory, buffer_count,
                                    buffer_barriers, image_count, images);
    }
    static VKAPI_ATTR void VKAPI_CALL copy(VkCommandBuffer buffer, VkBuffer from, VkBuffer to,
                                           std::uint32_t count, const VkBufferCopy* regions) {
        ++copies;
        if (!ordered.exchange(false)) ++unordered_copies;
        table->vkCmdCopyBuffer(buffer, from, to, count, regions);
    }
    static VKAPI_ATTR VkResult VKAPI_CALL begin(VkCommandBuffer buffer,
                                                const VkCommandBufferBeginInfo* info) {
        if (begin_result != VK_SUCCESS && !spare()) return begin_result;
        ++recordings;
        return table->vkBeginCommandBuffer(buffer, info);
    }
    static VKAPI_ATTR void VKAPI_CALL update(VkDevice device, std::uint32_t writes,
                                             const VkWriteDescriptorSet* write, std::uint32_t copies,
                                             const VkCopyDescriptorSet* copy) {
        ++sets;
        table->vkUpdateDescriptorSets(device, writes, write, copies, copy);
    }
    static VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice device, const VkMemoryAllocateInfo* info,
                                                   const VkAllocationCallbacks* callbacks,
                                                   VkDeviceMemory* memory) {
        if (allocate_result != VK_SUCCESS) return allocate_result;
        return table->vkAllocateMemory(device, info, callbacks, memory);
    }

    static inline std::atomic<bool> ordered{false};  // a barrier was recorded after the last copy
    static inline const VolkDeviceTable* table = nullptr;
    LogicalDevice& device_;
    VolkDeviceTable real_;
};

}  // namespace volley::backends::vulkan
