// Vulkan as one would write it by hand: the peer of the Vulkan backend. One device, one queue, buffers in
// mapped memory bound as storage buffers, one pipeline from SPIR-V, a command buffer that is recorded once or
// for each run.
#pragma once

#include "backends/vulkan/vulkan_instance.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace volley::bench {

class RawVulkan {
public:
    /// The device whose name contains the text; nullptr where there is none.
    [[nodiscard]] static std::unique_ptr<RawVulkan> open(std::string_view name);
    ~RawVulkan();
    RawVulkan(const RawVulkan&) = delete;
    RawVulkan& operator=(const RawVulkan&) = delete;

    struct Buffer {
        VkBuffer buffer = VK_NULL_HANDLE;
        VkDeviceMemory memory = VK_NULL_HANDLE;
        float* data = nullptr;
        std::size_t count = 0;
    };
    [[nodiscard]] Buffer make_buffer(std::size_t count, float value);

    /// Set 0 holds the buffers at bindings 0, 1, ...; the push constants follow.
    void make_kernel(std::span<const std::uint32_t> spirv, std::span<const Buffer> buffers,
                     std::uint32_t push_bytes);
    /// Into the one command buffer that run() submits: a dispatch, and a barrier for what follows and the
    /// host.
    void record(std::span<const std::byte> push, std::uint32_t groups);
    /// Submits what was recorded last and waits for it, spinning as Volley does before it sleeps.
    void run();
    /// Records into one of many command buffers and submits it; waits for nothing but a free one.
    void record_and_submit(std::span<const std::byte> push, std::uint32_t groups);
    void wait();

private:
    explicit RawVulkan(std::shared_ptr<backends::vulkan::Instance> instance)
        : instance_(std::move(instance)) {}
    void create(const backends::vulkan::PhysicalDevice& physical);
    void write(VkCommandBuffer buffer, std::span<const std::byte> push, std::uint32_t groups);
    void submit(VkCommandBuffer buffer);

    std::shared_ptr<backends::vulkan::Instance> instance_;
    VolkDeviceTable vk_{};
    VkDevice device_ = VK_NULL_HANDLE;
    VkQueue queue_ = VK_NULL_HANDLE;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    VkSemaphore timeline_ = VK_NULL_HANDLE;
    std::uint64_t submitted_ = 0;
    std::uint32_t memory_type_ = 0;
    VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
    VkDescriptorPool descriptors_ = VK_NULL_HANDLE;
    VkDescriptorSet set_ = VK_NULL_HANDLE;
    VkPipelineLayout layout_ = VK_NULL_HANDLE;
    VkPipeline pipeline_ = VK_NULL_HANDLE;
    std::vector<VkCommandBuffer> commands_;  // [0]: run()'s
    std::vector<Buffer> buffers_;
};

}  // namespace volley::bench
