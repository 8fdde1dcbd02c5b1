// Opening them.
#include "backends/subjects.hpp"

#include "backends/opencl_support.hpp"
#include "backends/queue_support.hpp"
#include "backends/vulkan_support.hpp"

namespace volley::testing {
namespace {

std::unique_ptr<backend::Device> open_vulkan(VkDriverId driver, bool mapped) {
    using namespace backends::vulkan;
    const auto instance = Instance::open();
    const int index = instance ? find_driver(*instance, driver) : -1;
    if (index < 0) return nullptr;
    VulkanOptions options;
    options.heap.map = mapped;
    if (!mapped) options.queue = {.staging_bytes = 64 << 10, .chunk_bytes = 12 << 10};
    return std::make_unique<VulkanDevice>(instance, static_cast<unsigned>(index), options);
}

std::unique_ptr<backend::Device> open_opencl(bool mapped) {
    backends::opencl::OpenClOptions options;
    options.heap.share = mapped;
    if (!mapped) options.queue = {.staging_bytes = 64 << 10, .chunk_bytes = 12 << 10};
    return backends::opencl::open_first(options);
}

std::unique_ptr<backend::Program> vulkan_program(backend::Device& device) {
    return backends::vulkan::multiply_add(static_cast<backends::vulkan::VulkanDevice&>(device));
}

std::unique_ptr<backend::Program> compiled(backend::Device& device) {
    return device.compile(multiply_add_kernel());
}

}  // namespace

std::span<const Subject> subjects() {
    static const Subject all[] = {
        {"lavapipe", [](bool mapped) { return open_vulkan(VK_DRIVER_ID_MESA_LLVMPIPE, mapped); },
         vulkan_program},
        {"swiftshader", [](bool mapped) { return open_vulkan(VK_DRIVER_ID_GOOGLE_SWIFTSHADER, mapped); },
         vulkan_program},
        {"pocl", open_opencl, compiled}};
    return all;
}

}  // namespace volley::testing
