#include "soak/faults.hpp"

#include "backends/opencl/opencl_device.hpp"
#include "backends/vulkan/vulkan_device.hpp"
#include "runtime/context_owner.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>

namespace volley::soak {
namespace {

constexpr std::size_t kinds = 3;

/// Calls until the failure; 0: none is due.
thread_local std::array<unsigned, kinds> countdown{};

bool strikes(FaultKind kind) noexcept {
    unsigned& left = countdown[static_cast<std::size_t>(kind)];
    return left > 0 && --left == 0;
}

// OpenCL's functions are the loader's, the same for all devices.
std::atomic<decltype(backends::opencl::Api::EnqueueNDRangeKernel)> cl_launch = nullptr;
std::atomic<decltype(backends::opencl::Api::CreateBuffer)> cl_create = nullptr;

cl_int CL_API_CALL tapped_launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                 const std::size_t* offset, const std::size_t* global,
                                 const std::size_t* local, cl_uint count, const cl_event* list,
                                 cl_event* event) {
    if (strikes(FaultKind::Driver)) return CL_OUT_OF_RESOURCES;
    return cl_launch.load()(queue, kernel, dimensions, offset, global, local, count, list, event);
}

cl_mem CL_API_CALL tapped_create(cl_context context, cl_mem_flags flags, std::size_t bytes, void* host,
                                 cl_int* error) {
    if (!strikes(FaultKind::Driver)) return cl_create.load()(context, flags, bytes, host, error);
    if (error != nullptr) *error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return nullptr;
}

/// The functions of Vulkan's drivers, by device.
struct VulkanCalls {
    PFN_vkAllocateMemory allocate = nullptr;
    PFN_vkCreateComputePipelines create_pipelines = nullptr;
};
std::mutex vulkan_mutex;
std::unordered_map<VkDevice, VulkanCalls> vulkan_calls;

VulkanCalls calls_of(VkDevice device) {
    const std::scoped_lock lock(vulkan_mutex);
    return vulkan_calls.at(device);
}

VKAPI_ATTR VkResult VKAPI_CALL tapped_allocate(VkDevice device, const VkMemoryAllocateInfo* info,
                                               const VkAllocationCallbacks* callbacks, VkDeviceMemory* made) {
    if (strikes(FaultKind::Driver)) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    return calls_of(device).allocate(device, info, callbacks, made);
}

VKAPI_ATTR VkResult VKAPI_CALL tapped_pipelines(VkDevice device, VkPipelineCache cache, std::uint32_t count,
                                                const VkComputePipelineCreateInfo* infos,
                                                const VkAllocationCallbacks* callbacks, VkPipeline* made) {
    if (!strikes(FaultKind::Driver))
        return calls_of(device).create_pipelines(device, cache, count, infos, callbacks, made);
    for (std::uint32_t k = 0; k < count; ++k) made[k] = VK_NULL_HANDLE;
    return VK_ERROR_OUT_OF_HOST_MEMORY;
}

}  // namespace

std::string_view to_string(FaultKind kind) {
    constexpr std::array<std::string_view, kinds> names = {"allocation", "thread", "driver"};
    return names[static_cast<std::size_t>(kind)];
}

bool can_inject([[maybe_unused]] FaultKind kind) {
#ifdef VOLLEY_SANITIZED
    return kind == FaultKind::Driver;
#else
    return true;
#endif
}

Fault::Fault(FaultKind kind, unsigned n) noexcept : kind_(kind) {
    countdown[static_cast<std::size_t>(kind)] = n;
}

Fault::~Fault() { countdown[static_cast<std::size_t>(kind_)] = 0; }

bool Fault::struck() const noexcept { return countdown[static_cast<std::size_t>(kind_)] == 0; }

void tap_drivers(const Context& context) {
    const auto& core = runtime::ContextOwner::core_of(context);
    for (unsigned d = 0; d < core->device_count(); ++d) {
        if (core->info(d).backend == "opencl") {
            auto& cl = static_cast<backends::opencl::OpenClDevice&>(core->device(d)).logical().cl;
            cl_launch = std::exchange(cl.EnqueueNDRangeKernel, tapped_launch);
            cl_create = std::exchange(cl.CreateBuffer, tapped_create);
        } else if (core->info(d).backend == "vulkan") {
            auto& logical = static_cast<backends::vulkan::VulkanDevice&>(core->device(d)).logical();
            const std::scoped_lock lock(vulkan_mutex);
            vulkan_calls[logical.handle()] = {
                std::exchange(logical.vk.vkAllocateMemory, tapped_allocate),
                std::exchange(logical.vk.vkCreateComputePipelines, tapped_pipelines)};
        }
    }
}

}  // namespace volley::soak

#ifndef VOLLEY_SANITIZED

void* operator new(std::size_t bytes) {
    using volley::soak::FaultKind;
    void* const memory =
        volley::soak::strikes(FaultKind::Allocation) ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                              void* argument) {
    using volley::soak::FaultKind;
    if (volley::soak::strikes(FaultKind::Thread)) return EAGAIN;
    using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
    static const auto create = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
    return create(thread, attributes, start, argument);
}

#endif
