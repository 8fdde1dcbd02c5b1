// The reference backend: one device, "reference:0", which interprets kernels. Commands run before their call
// returns, unless they follow pending host commands (reference_queue.hpp).
#pragma once

#include "backends/api/device.hpp"
#include "backends/common/caller_memory.hpp"
#include "backends/reference/reference_memory.hpp"

namespace volley::backends::reference {

inline constexpr unsigned default_subgroup_size = 8;

/// Returns the description without opening the device.
[[nodiscard]] DeviceInfo describe_reference(unsigned subgroup_size = default_subgroup_size);

class ReferenceDevice final : public backends::Device {
public:
    /// `subgroup_size` is 1 to 128. `memory_limit` is the maximum of allocated bytes; 0 selects the
    /// environment's setting, or no limit.
    explicit ReferenceDevice(unsigned subgroup_size = default_subgroup_size, std::uint64_t memory_limit = 0);

    [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
    [[nodiscard]] std::unique_ptr<backends::Memory> allocate(std::size_t bytes) override;
    [[nodiscard]] std::size_t import_alignment() const noexcept override { return 1; }
    [[nodiscard]] std::unique_ptr<backends::Memory> import_host(std::span<std::byte> bytes) override;
    [[nodiscard]] std::unique_ptr<backends::Program> compile(ir::Function fn) override;
    [[nodiscard]] std::unique_ptr<backends::Queue> make_queue() override;
    [[nodiscard]] ir::Dim3 default_local(const ir::Function& fn, ir::Dim3 global) const override;

private:
    DeviceInfo info_;
    std::shared_ptr<backends::MemoryBudget> budget_;  // allocations, which share it, may outlive the device
};

}  // namespace volley::backends::reference
