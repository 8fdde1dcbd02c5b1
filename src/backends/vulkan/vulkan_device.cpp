// Creates a device's memory, programs and queues.
#include "backends/vulkan/vulkan_device.hpp"

#include "backends/common/memory_budget.hpp"
#include "backends/vulkan/vulkan_import.hpp"
#include "backends/vulkan/vulkan_program.hpp"
#include "core/settings.hpp"
#include "core/text.hpp"
#include "ir/builder.hpp"

#include <volley/error.hpp>
#include <volley/log.hpp>

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace volley::backends::vulkan {
namespace {

HeapOptions with_limit(const VulkanOptions& options, const DeviceInfo& info) {
    HeapOptions heap = options.heap;
    heap.limit = backends::memory_limit_of_user(options.memory_limit);
    heap.limit_by_user = heap.limit != 0;
    if (heap.limit == 0 && info.software) {
        // These drivers overcommit, so limit them to the machine's memory.
        heap.limit = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                     static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    }
    return heap;
}

/// Computes data[0] = fma(data[0], data[1], data[2]).
ir::Function fma_kernel(ScalarType type) {
    ir::Function fn;
    fn.name = "fma_probe";
    ir::Builder b(fn);
    const ir::NodeId data = b.buffer(type, "data");
    ir::NodeId values[3];
    for (std::uint32_t k = 0; k < 3; ++k) {
        const ir::NodeId index = b.constant_u32(k);
        values[k] = b.load(data, std::span(&index, 1));
    }
    const ir::NodeId first = b.constant_u32(0);
    b.store(data, b.emit(ir::Op::Fma, {values[0], values[1], values[2]}), std::span(&first, 1));
    return fn;
}

}  // namespace

VulkanDevice::VulkanDevice(std::shared_ptr<Instance> instance, unsigned index, const VulkanOptions& options)
    : options_(options) {
    const PhysicalDevice& physical = instance->devices()[index];
    device_ = std::make_shared<LogicalDevice>(std::move(instance), physical);
    info_ = physical.info;
    target_ = physical.target;
    heap_ = std::make_shared<Heap>(device_, HeapUse::Device, with_limit(options_, info_));
    host_ = std::make_shared<Heap>(device_, HeapUse::Host, HeapOptions{});
    info_.host_memory = heap_->cached() && info_.type != DeviceType::DiscreteGpu;
    cache_ =
        std::make_shared<PipelineCache>(device_, options_.cache_folder.value_or(settings().cache_folder()));
    rects_ = std::make_shared<backends::RectPrograms>(
        [cache = cache_, device = device_, target = target_](ir::Function fn) {
            return std::make_unique<VulkanProgram>(std::move(fn), cache, device, target, ir::Dim3{64, 1, 1});
        });
}

VulkanDevice::~VulkanDevice() = default;

void VulkanDevice::before_exit() noexcept { cache_->save(); }

std::unique_ptr<backends::Memory> VulkanDevice::allocate(std::size_t bytes) {
    return std::make_unique<VulkanMemory>(heap_, bytes);
}

std::unique_ptr<backends::Memory> VulkanDevice::allocate_host(std::size_t bytes) {
    return VulkanMemory::in_pages(host_, bytes);
}

std::unique_ptr<backends::Memory> VulkanDevice::import_host(std::span<std::byte> bytes) {
    return vulkan::import_host(device_, bytes);
}

std::unique_ptr<backends::Memory> VulkanDevice::import_native(const NativeBuffer& buffer) {
    return vulkan::import_native(device_, buffer);
}

NativeDevice VulkanDevice::native() const {
    return VulkanDeviceHandles{device_->instance().handle(), device_->physical().handle, device_->handle(),
                               device_->physical().queue_family};
}

std::unique_ptr<backends::Program> VulkanDevice::compile(ir::Function fn) {
    if (fn.foreign) {
        codegen::spirv::Module module = codegen::spirv::adopt(fn, target_);
        const ir::Dim3 own = fn.local_size.value_or(ir::Dim3{1, 1, 1});
        return adopt(std::move(fn), std::move(module), own);
    }
    const ir::Dim3 local = default_local(fn, {~0u, 1, 1});
    return std::make_unique<VulkanProgram>(std::move(fn), cache_, device_, target_, local);
}

std::unique_ptr<backends::Program> VulkanDevice::adopt(ir::Function signature, codegen::spirv::Module module,
                                                       ir::Dim3 local) {
    return std::make_unique<VulkanProgram>(std::move(signature), cache_, device_, std::move(module), local);
}

std::unique_ptr<backends::Queue> VulkanDevice::make_queue() {
    device_->check_lost();
    return std::make_unique<VulkanQueue>(device_, host_, rects_, options_.queue);
}

bool VulkanDevice::measures_fused_fma() {
    try {
        return is_fused(ScalarType::F32) && (!target_.f64 || is_fused(ScalarType::F64));
    } catch (const Error& error) {
        // Assume that it is not fused, which is always correct: code then emulates it.
        log_message(LogLevel::Debug, cat(device_->name(), ": fma could not be measured: ", error.what()));
        return false;
    }
}

bool VulkanDevice::is_fused(ScalarType type) {
    codegen::spirv::Target target = target_;
    target.fused_fma = true;
    const VulkanProgram program(fma_kernel(type), cache_, device_, target, {1, 1, 1});
    // (1 + e)^2 - (1 + 2e) is e^2 if rounded once, and 0 if the product is rounded.
    const auto run = [&](auto e) {
        using T = decltype(e);
        const T values[3] = {1 + e, 1 + e, -(1 + 2 * e)};
        T result = 0;
        VulkanMemory memory(heap_, sizeof values);
        VulkanQueue queue(device_, host_, rects_, options_.queue);
        queue.write(memory, reinterpret_cast<const std::byte*>(values),
                    backends::RectMove::contiguous(0, 0, sizeof values));
        backends::Argument argument;
        argument.memory = &memory;
        argument.elements = 3;
        queue.launch({const_cast<VulkanProgram*>(&program), {1, 1, 1}, {1, 1, 1}, std::span(&argument, 1)});
        queue.timeline().wait(queue.read(reinterpret_cast<std::byte*>(&result), memory,
                                         backends::RectMove::contiguous(0, 0, sizeof result)));
        return result == e * e;
    };
    return type == ScalarType::F64 ? run(0x1p-40) : run(0x1p-20f);
}

ir::Dim3 VulkanDevice::default_local(const ir::Function& fn, ir::Dim3 global) const {
    if (fn.local_size) return *fn.local_size;
    // Use powers of two, so that grids of many sizes share pipelines, and whole subgroups.
    const std::uint32_t most = std::min(info_.max_local_size, 256u);
    const std::uint32_t lanes = std::max(info_.subgroup_size, 1u);
    const auto up_to = [&](std::uint32_t size, std::uint32_t limit, std::size_t d) {
        return std::bit_ceil(std::clamp(size, 1u, std::min(limit, info_.max_local_dims[d])));
    };
    if (global[1] == 1 && global[2] == 1) {
        const std::uint32_t small = std::max(lanes, 32u);
        return {std::max(up_to(global[0], most, 0), std::min(small, most)), 1, 1};
    }
    const std::uint32_t x = up_to(global[0], std::max(16u, lanes), 0);
    const std::uint32_t y = up_to(global[1], std::max(most / x, 1u), 1);
    const std::uint32_t z = up_to(global[2], std::max(most / (x * y), 1u), 2);
    return {x, std::bit_floor(y), std::bit_floor(z)};
}

}  // namespace volley::backends::vulkan
