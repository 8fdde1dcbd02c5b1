// A backend that runs nothing: it issues points, counts memory and logs each command, so that the runtime's
// ordering, waits and lifetimes can be tested without a device.
#pragma once

#include "backends/api/device.hpp"
#include "backends/common/memory_budget.hpp"
#include "support/null/null_log.hpp"

#include <memory>

namespace volley::backends::null {

class NullDevice final : public backends::Device {
public:
    NullDevice(unsigned index, std::shared_ptr<NullLog> log, std::uint64_t memory_limit,
               bool overlaps = false);

    [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
    [[nodiscard]] std::unique_ptr<backends::Memory> allocate(std::size_t bytes) override;
    [[nodiscard]] std::unique_ptr<backends::Memory> allocate_host(std::size_t bytes) override;
    [[nodiscard]] std::unique_ptr<backends::Program> compile(ir::Function fn) override;
    [[nodiscard]] std::unique_ptr<backends::Queue> make_queue() override;
    [[nodiscard]] ir::Dim3 default_local(const ir::Function& fn, ir::Dim3 global) const override;

private:
    [[nodiscard]] std::unique_ptr<backends::Memory> make_memory(std::size_t bytes, bool on_host);

    DeviceInfo info_;
    bool overlaps_;
    std::shared_ptr<NullLog> log_;
    std::shared_ptr<backends::MemoryBudget> budget_;
};

/// Returns the description of "null:index". Memory of null:1 is host memory; the host cannot access that of
/// the others.
[[nodiscard]] DeviceInfo describe_null(unsigned index);

}  // namespace volley::backends::null
