// Creates a device's memory, programs and queues.
#include "backends/opencl/opencl_device.hpp"

#include "backends/common/memory_budget.hpp"
#include "backends/opencl/opencl_import.hpp"
#include "backends/opencl/opencl_program.hpp"
#include "core/settings.hpp"

#include <algorithm>
#include <bit>

namespace volley::backends::opencl {
namespace {

HeapOptions with_limit(const OpenClOptions& options, const DeviceInfo& info) {
    HeapOptions heap = options.heap;
    heap.limit = backends::memory_limit_of_user(options.memory_limit);
    heap.limit_by_user = heap.limit != 0;
    // Devices that use host memory overcommit it, so limit them to what the machine has.
    if (heap.limit == 0 && info.software) heap.limit = info.memory_bytes;
    return heap;
}

/// Returns the largest divisor of `size` that is at most `most`.
std::uint32_t divisor(std::uint32_t size, std::uint32_t most) {
    for (std::uint32_t d = std::min(size, most); d > 1; --d) {
        if (size % d == 0) return d;
    }
    return 1;
}

}  // namespace

OpenClDevice::OpenClDevice(const Api& api, const PhysicalDevice& physical, const OpenClOptions& options)
    : device_(std::make_shared<LogicalDevice>(api, physical)), info_(physical.info), options_(options) {
    heap_ = std::make_shared<Heap>(device_, HeapUse::Device, with_limit(options_, info_));
    scratch_ = std::make_shared<Heap>(device_, HeapUse::Device, HeapOptions{.share = options_.heap.share});
    host_ = std::make_shared<Heap>(device_, HeapUse::Host, HeapOptions{});
    info_.host_memory = heap_->shared();
    builder_ = std::make_shared<const ProgramBuilder>(
        device_, options_.cache_folder.value_or(settings().cache_folder()));
}

OpenClDevice::~OpenClDevice() = default;

std::unique_ptr<backends::Memory> OpenClDevice::allocate(std::size_t bytes) {
    return std::make_unique<OpenClMemory>(heap_, bytes);
}

std::unique_ptr<backends::Memory> OpenClDevice::allocate_host(std::size_t bytes) {
    return std::make_unique<OpenClMemory>(host_, bytes);
}

std::unique_ptr<backends::Memory> OpenClDevice::import_host(std::span<std::byte> bytes) {
    check_import(bytes);
    return opencl::import_host(device_, bytes, options_.heap.share);
}

std::unique_ptr<backends::Memory> OpenClDevice::import_native(const NativeBuffer& buffer) {
    return opencl::import_native(device_, buffer);
}

NativeDevice OpenClDevice::native() const {
    const PhysicalDevice& physical = device_->physical();
    return OpenClDeviceHandles{physical.platform, physical.handle, device_->context()};
}

std::unique_ptr<backends::Program> OpenClDevice::compile(ir::Function fn) {
    device_->check_lost();
    if (fn.foreign) return std::make_unique<OpenClProgram>(std::move(fn), builder_, device_);
    const ir::Dim3 local = default_local(fn, {~0u, 1, 1});
    return std::make_unique<OpenClProgram>(std::move(fn), builder_, device_, device_->physical().target,
                                           local);
}

std::unique_ptr<backends::Queue> OpenClDevice::make_queue() {
    device_->check_lost();
    return std::make_unique<OpenClQueue>(device_, scratch_, host_, options_.queue);
}

ir::Dim3 OpenClDevice::default_local(const ir::Function& fn, ir::Dim3 global) const {
    if (fn.local_size) return *fn.local_size;
    const std::uint32_t most = std::min(info_.max_local_size, 256u);
    if (fn.foreign) {
        // The source may rely on exactly the launched number of invocations.
        const std::uint32_t x = divisor(global[0], std::min(most, info_.max_local_dims[0]));
        const std::uint32_t y = divisor(global[1], std::min(most / x, info_.max_local_dims[1]));
        return {x, y, divisor(global[2], std::min(most / (x * y), info_.max_local_dims[2]))};
    }
    // Use few sizes, because drivers recompile for each (PoCL: 40 to 50 ms).
    const auto up_to = [&](std::uint32_t size, std::uint32_t limit, std::size_t d) {
        return std::bit_floor(std::clamp(std::bit_ceil(std::min(size, limit)), 1u,
                                         std::max(std::min(limit, info_.max_local_dims[d]), 1u)));
    };
    if (global[1] == 1 && global[2] == 1) {
        // On a CPU, workgroups are loops: fewer, longer ones cost less.
        constexpr std::uint32_t longer = 1024;
        const bool fits = info_.software && global[0] % longer == 0 && info_.max_local_size >= longer &&
                          info_.max_local_dims[0] >= longer;
        return {fits ? longer : up_to(std::max(global[0], most), most, 0), 1, 1};
    }
    const std::uint32_t x = up_to(global[0], 16, 0);
    const std::uint32_t y = up_to(global[1], std::max(most / x, 1u), 1);
    return {x, y, up_to(global[2], std::max(most / (x * y), 1u), 2)};
}

}  // namespace volley::backends::opencl
