// Faults of Vulkan drivers.
#pragma once

#include "backends/driver_faults.hpp"
#include "backends/vulkan/vulkan_device.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

namespace volley::backends::vulkan {

class VulkanFaults final : public testing::DriverFaults {
public:
    explicit VulkanFaults(VulkanDevice& device) {
        success = VK_SUCCESS;
        lost = VK_ERROR_DEVICE_LOST;
        out_of_memory = {VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_OUT_OF_DEVICE_MEMORY};
        submit_result = wait_result = VK_SUCCESS;
        frozen = false;
        VolkDeviceTable& vk = device.logical().vk;
        real_submit = std::exchange(vk.vkQueueSubmit, submit);
        real_wait = std::exchange(vk.vkWaitSemaphores, wait);
        real_value = std::exchange(vk.vkGetSemaphoreCounterValue, value);
    }
    void set_submit_result(int result) override { submit_result = static_cast<VkResult>(result); }
    void freeze() override { frozen = true; }
    void thaw() override { frozen = false; }

    /// Also injects the faults of submissions into another device of the same driver.
    static void add_submissions_of(VulkanDevice& device) {
        real_submit = std::exchange(device.logical().vk.vkQueueSubmit, submit);
    }

    static inline std::atomic<VkResult> wait_result{VK_SUCCESS};  // of a wait for a semaphore

private:
    static VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue queue, std::uint32_t count,
                                                 const VkSubmitInfo* infos, VkFence fence) {
        const VkResult result = submit_result.load();
        return result == VK_SUCCESS ? real_submit(queue, count, infos, fence) : result;
    }
    static VKAPI_ATTR VkResult VKAPI_CALL wait(VkDevice device, const VkSemaphoreWaitInfo* info,
                                               std::uint64_t timeout) {
        const VkResult result = wait_result.load();
        if (result != VK_SUCCESS) return result;
        if (!frozen) return real_wait(device, info, timeout);
        std::this_thread::sleep_for(std::chrono::nanoseconds(timeout));
        return VK_TIMEOUT;
    }
    static VKAPI_ATTR VkResult VKAPI_CALL value(VkDevice device, VkSemaphore semaphore, std::uint64_t* to) {
        if (!frozen) return real_value(device, semaphore, to);
        *to = 0;
        return VK_SUCCESS;
    }

    static inline std::atomic<VkResult> submit_result{VK_SUCCESS};
    static inline std::atomic<bool> frozen{false};
    static inline PFN_vkQueueSubmit real_submit = nullptr;
    static inline PFN_vkWaitSemaphores real_wait = nullptr;
    static inline PFN_vkGetSemaphoreCounterValue real_value = nullptr;
};

}  // namespace volley::backends::vulkan
