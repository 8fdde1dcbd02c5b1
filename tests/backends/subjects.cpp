// Opens the test subjects.
#include "backends/subjects.hpp"

#include "backends/cpu_support.hpp"
#include "backends/opencl_faults.hpp"
#include "backends/opencl_support.hpp"
#include "backends/queue_support.hpp"
#include "backends/reference/reference_device.hpp"
#include "backends/vulkan_faults.hpp"
#include "backends/vulkan_support.hpp"

#include <vector>

namespace volley::testing {
namespace {

std::unique_ptr<backends::Device> open_vulkan(VkDriverId driver, bool mapped) {
    namespace vk = backends::vulkan;
    const auto instance = vk::Instance::open();
    const int index = instance ? vk::find_driver(*instance, driver) : -1;
    if (index < 0) return nullptr;
    vk::VulkanOptions options;
    options.heap.map = mapped;
    if (!mapped) options.queue = {.staging_bytes = 64 << 10, .chunk_bytes = 12 << 10};
    return std::make_unique<vk::VulkanDevice>(instance, static_cast<unsigned>(index), options);
}

std::unique_ptr<backends::Device> open_opencl(bool mapped) {
    backends::opencl::OpenClOptions options;
    options.heap.share = mapped;
    if (!mapped) options.queue = {.staging_bytes = 64 << 10, .chunk_bytes = 12 << 10};
    return backends::opencl::open_first(options);
}

template <unsigned Threads>
std::unique_ptr<backends::Device> open_cpu(bool /*mapped*/) {
    return backends::cpu::open_cpu({.cpu_threads = Threads});
}

std::unique_ptr<backends::Device> open_reference(bool /*mapped*/) {
    return std::make_unique<backends::reference::ReferenceDevice>();
}

std::unique_ptr<backends::Program> vulkan_program(backends::Device& device) {
    return backends::vulkan::multiply_add(static_cast<backends::vulkan::VulkanDevice&>(device));
}

std::unique_ptr<DriverFaults> vulkan_faults(backends::Device& device) {
    namespace vk = backends::vulkan;
    return std::make_unique<vk::VulkanFaults>(static_cast<vk::VulkanDevice&>(device));
}

std::unique_ptr<DriverFaults> opencl_faults(backends::Device& device) {
    namespace cl = backends::opencl;
    return std::make_unique<cl::OpenClFaults>(static_cast<cl::OpenClDevice&>(device));
}

std::unique_ptr<backends::Program> compiled(backends::Device& device) {
    return device.compile(multiply_add_kernel());
}

}  // namespace

std::span<const Subject> subjects() {
    static const Subject all[] = {
        {"lavapipe", [](bool mapped) { return open_vulkan(VK_DRIVER_ID_MESA_LLVMPIPE, mapped); },
         vulkan_program, vulkan_faults},
        {"swiftshader", [](bool mapped) { return open_vulkan(VK_DRIVER_ID_GOOGLE_SWIFTSHADER, mapped); },
         vulkan_program, vulkan_faults},
        {"pocl", open_opencl, compiled, opencl_faults}};
    return all;
}

std::span<const Subject> every_subject() {
    static const std::vector<Subject> all = [] {
        std::vector<Subject> list(subjects().begin(), subjects().end());
        list.push_back({"cpu", open_cpu<3>, compiled, nullptr, true});
        list.push_back({"cpu_of_one_thread", open_cpu<1>, compiled, nullptr, true});
        list.push_back({"reference", open_reference, compiled, nullptr, true});
        return list;
    }();
    return all;
}

}  // namespace volley::testing
