// Vulkan as one writes it by hand, for the rows that compare with it: storage buffers in a descriptor set, a
// pipeline of GLSL, command buffers that are recorded once or for each launch, and a timeline semaphore that
// is waited for as Volley waits: by looking at it for a while, then sleeping. Without Vulkan or shaderc,
// raw_vulkan() is null and missing_vulkan() says what would bring it.
#pragma once

#include <volk.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace volley::bench {

class RawVulkan;

/// Host-visible memory, mapped. Making it is what an allocation by hand is.
class RawBuffer {
public:
    RawBuffer(RawVulkan& vulkan, std::size_t bytes);
    ~RawBuffer();
    RawBuffer(const RawBuffer&) = delete;
    RawBuffer& operator=(const RawBuffer&) = delete;

    [[nodiscard]] VkBuffer handle() const noexcept { return buffer_; }
    [[nodiscard]] float* data() const noexcept { return static_cast<float*>(mapped_); }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

private:
    RawVulkan& vulkan_;
    std::size_t bytes_;
    VkBuffer buffer_ = VK_NULL_HANDLE;
    VkDeviceMemory memory_ = VK_NULL_HANDLE;
    void* mapped_ = nullptr;
};

/// A compute shader with its buffers bound, and one float as a push constant.
class RawKernel {
public:
    RawKernel(RawVulkan& vulkan, std::string_view glsl, const std::vector<const RawBuffer*>& buffers);
    ~RawKernel();
    RawKernel(const RawKernel&) = delete;
    RawKernel& operator=(const RawKernel&) = delete;

    /// Writes the commands of one launch.
    void record(VkCommandBuffer to, float value, std::uint32_t groups) const;

private:
    RawVulkan& vulkan_;
    VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
    VkDescriptorPool pool_ = VK_NULL_HANDLE;
    VkDescriptorSet set_ = VK_NULL_HANDLE;
    VkPipelineLayout layout_ = VK_NULL_HANDLE;
    VkShaderModule module_ = VK_NULL_HANDLE;
    VkPipeline pipeline_ = VK_NULL_HANDLE;
};

class RawVulkan {
public:
    /// The device whose name contains `name`; throws std::runtime_error when there is none.
    explicit RawVulkan(std::string_view name);
    ~RawVulkan();
    RawVulkan(const RawVulkan&) = delete;
    RawVulkan& operator=(const RawVulkan&) = delete;

    [[nodiscard]] VkCommandBuffer make_commands();
    /// Begins, lets the kernel record itself, ends; with a barrier that orders it after what came before.
    /// `launches`: one after the other, with a barrier before each.
    void record(VkCommandBuffer to, const RawKernel& kernel, float value, std::uint32_t groups,
                int launches = 1) const;
    /// The same for a copy from one buffer to another.
    void record_copy(VkCommandBuffer to, const RawBuffer& target, const RawBuffer& source,
                     std::span<const VkBufferCopy> regions) const;
    /// Hands it to the device as the timeline's next point.
    std::uint64_t submit(VkCommandBuffer commands);
    void wait(std::uint64_t point) const;

    VolkDeviceTable vk{};
    VkDevice device = VK_NULL_HANDLE;
    std::uint32_t host_memory = 0;  // the memory type that everything is in

private:
    VkInstance instance_ = VK_NULL_HANDLE;
    VkQueue queue_ = VK_NULL_HANDLE;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    VkSemaphore timeline_ = VK_NULL_HANDLE;
    std::uint64_t last_ = 0;
};

/// lavapipe by hand; null where this machine cannot.
[[nodiscard]] RawVulkan* raw_vulkan();
[[nodiscard]] std::string missing_vulkan();

}  // namespace volley::bench
