// Creates the CPU's memory, programs and queues.
#include "backends/cpu/cpu_device.hpp"

#include "backends/cpu/cpu_program.hpp"
#include "backends/cpu/cpu_queue.hpp"

#include <algorithm>
#include <bit>

namespace volley::backends::cpu {

CpuDevice::CpuDevice(DeviceInfo info, codegen::llvm::Target target, std::shared_ptr<CpuPool> pool,
                     std::shared_ptr<backends::MemoryBudget> budget)
    : info_(std::move(info)),
      target_(std::move(target)),
      pool_(std::move(pool)),
      budget_(std::move(budget)) {}

std::unique_ptr<backends::Memory> CpuDevice::allocate(std::size_t bytes) {
    return std::make_unique<CpuMemory>(bytes, backends::host_alignment, budget_);
}

std::unique_ptr<backends::Memory> CpuDevice::allocate_host(std::size_t bytes) {
    return std::make_unique<CpuMemory>(bytes, backends::host_page, budget_);
}

std::unique_ptr<backends::Memory> CpuDevice::import_host(std::span<std::byte> bytes) {
    check_import(bytes);
    return std::make_unique<backends::CallerMemory>(bytes);
}

std::unique_ptr<backends::Program> CpuDevice::compile(ir::Function fn) {
    return std::make_unique<CpuProgram>(std::move(fn), target_);
}

std::unique_ptr<backends::Queue> CpuDevice::make_queue() { return std::make_unique<CpuQueue>(pool_); }

ir::Dim3 CpuDevice::default_local(const ir::Function& fn, ir::Dim3 global) const {
    if (fn.local_size) return *fn.local_size;
    // The size does not affect flat kernels. Others are compiled for it, so use powers of two: grids of many
    // sizes then share code. Called on every launch, so it must be cheap.
    const auto up_to = [](std::uint32_t size, std::uint32_t limit) {
        return std::bit_ceil(std::clamp(size, 1u, limit));
    };
    if (global[1] == 1 && global[2] == 1) return {up_to(global[0], 256), 1, 1};
    return {up_to(global[0], 16), up_to(global[1], 16), 1};
}

}  // namespace volley::backends::cpu
