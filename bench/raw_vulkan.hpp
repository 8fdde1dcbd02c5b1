// Hand-written Vulkan, as a peer: storage buffers in a descriptor set, a GLSL pipeline, command buffers that
// are recorded once or for each launch, and a timeline semaphore. Waiting is as in Volley: polling for a
// while, then sleeping. Without Vulkan or shaderc, raw_vulkan() returns null and missing_vulkan() names the
// packages.
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

/// Host-visible, mapped memory. Its constructor is the peer of an allocation.
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

    /// Records the commands of one launch.
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
    /// Opens the device whose name contains `name`. Throws std::runtime_error if there is none.
    explicit RawVulkan(std::string_view name);
    ~RawVulkan();
    RawVulkan(const RawVulkan&) = delete;
    RawVulkan& operator=(const RawVulkan&) = delete;

    [[nodiscard]] VkCommandBuffer make_commands();
    /// Records `launches` launches into a command buffer, with a barrier before each that orders it after
    /// earlier work.
    void record(VkCommandBuffer to, const RawKernel& kernel, float value, std::uint32_t groups,
                int launches = 1) const;
    /// Records a copy between two buffers.
    void record_copy(VkCommandBuffer to, const RawBuffer& target, const RawBuffer& source,
                     std::span<const VkBufferCopy> regions) const;
    /// Submits the commands as the next point of the timeline.
    std::uint64_t submit(VkCommandBuffer commands);
    void wait(std::uint64_t point) const;

    VolkDeviceTable vk{};
    VkDevice device = VK_NULL_HANDLE;
    std::uint32_t host_memory = 0;  // the memory type of all allocations

private:
    VkInstance instance_ = VK_NULL_HANDLE;
    VkQueue queue_ = VK_NULL_HANDLE;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    VkSemaphore timeline_ = VK_NULL_HANDLE;
    std::uint64_t last_ = 0;
};

/// Returns lavapipe, opened directly; null if this machine lacks it.
[[nodiscard]] RawVulkan* raw_vulkan();
[[nodiscard]] std::string missing_vulkan();

}  // namespace volley::bench
