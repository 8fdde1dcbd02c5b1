// Makes the CPU's memory, programs and queues.
#include "backends/cpu/cpu_device.hpp"

#include "backends/cpu/cpu_program.hpp"
#include "backends/cpu/cpu_queue.hpp"

#include <algorithm>

namespace volley::backends::cpu {

CpuDevice::CpuDevice(DeviceInfo info, codegen::llvm::Target target, std::shared_ptr<CpuPool> pool,
                     std::shared_ptr<MemoryBudget> budget)
    : info_(std::move(info)), target_(std::move(target)), pool_(std::move(pool)), budget_(std::move(budget)) {}

std::unique_ptr<backend::Memory> CpuDevice::allocate(std::size_t bytes) {
    return std::make_unique<CpuMemory>(bytes, budget_);
}

std::unique_ptr<backend::Program> CpuDevice::compile(ir::Function fn) {
    return std::make_unique<CpuProgram>(std::move(fn), target_);
}

std::unique_ptr<backend::Queue> CpuDevice::make_queue() { return std::make_unique<CpuQueue>(pool_); }

ir::Dim3 CpuDevice::default_local(const ir::Function& fn, ir::Dim3 global) const {
    if (fn.local_size) return *fn.local_size;
    // A flat kernel runs the same whatever this says. Others share memory: big workgroups spread its cost, but
    // none bigger than the grid.
    const std::uint32_t line = codegen::llvm::is_flat(fn) ? 64 : 256;
    if (global[1] == 1 && global[2] == 1) return {std::clamp(global[0], 1u, line), 1, 1};
    return {std::clamp(global[0], 1u, 16u), std::clamp(global[1], 1u, 16u), 1};
}

}  // namespace volley::backends::cpu
