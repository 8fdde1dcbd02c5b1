// The host processor as a device of one context.
#pragma once

#include "backends/api/device.hpp"
#include "backends/common/caller_memory.hpp"
#include "backends/cpu/cpu_memory.hpp"
#include "backends/cpu/cpu_pool.hpp"
#include "codegen/llvm/compiler.hpp"

#include <memory>

namespace volley::backends::cpu {

class CpuDevice final : public backends::Device {
public:
    CpuDevice(DeviceInfo info, codegen::llvm::Target target, std::shared_ptr<CpuPool> pool,
              std::shared_ptr<backends::MemoryBudget> budget);

    [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
    [[nodiscard]] std::unique_ptr<backends::Memory> allocate(std::size_t bytes) override;
    [[nodiscard]] std::unique_ptr<backends::Memory> allocate_host(std::size_t bytes) override;
    [[nodiscard]] std::size_t import_alignment() const noexcept override { return 1; }
    [[nodiscard]] std::unique_ptr<backends::Memory> import_host(std::span<std::byte> bytes) override;
    [[nodiscard]] std::unique_ptr<backends::Program> compile(ir::Function fn) override;
    [[nodiscard]] std::unique_ptr<backends::Queue> make_queue() override;
    [[nodiscard]] ir::Dim3 default_local(const ir::Function& fn, ir::Dim3 global) const override;
    void forked() override { pool_->forked(); }

private:
    DeviceInfo info_;
    codegen::llvm::Target target_;
    std::shared_ptr<CpuPool> pool_;
    std::shared_ptr<backends::MemoryBudget> budget_;
};

}  // namespace volley::backends::cpu
