// An OpenCL device of one context.
#pragma once

#include "backends/api/device.hpp"
#include "backends/common/caller_memory.hpp"
#include "backends/opencl/opencl_builder.hpp"
#include "backends/opencl/opencl_memory.hpp"
#include "backends/opencl/opencl_queue.hpp"

#include <memory>
#include <optional>
#include <string>

namespace volley::backends::opencl {

/// Options set by the context, and options that tests set to reach otherwise unused code paths.
struct OpenClOptions {
    std::uint64_t memory_limit = 0;  // 0: the environment's setting, or no limit
    HeapOptions heap;
    QueueOptions queue;
    std::optional<std::string> cache_folder;  // for programs; defaults to the settings' folder
};

class OpenClDevice final : public backends::Device {
public:
    OpenClDevice(const Api& api, const PhysicalDevice& physical, const OpenClOptions& options);
    ~OpenClDevice() override;

    [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
    [[nodiscard]] std::unique_ptr<backends::Memory> allocate(std::size_t bytes) override;
    [[nodiscard]] std::unique_ptr<backends::Memory> allocate_host(std::size_t bytes) override;
    [[nodiscard]] std::size_t import_alignment() const noexcept override { return backends::host_page; }
    [[nodiscard]] std::unique_ptr<backends::Memory> import_host(std::span<std::byte> bytes) override;
    [[nodiscard]] std::unique_ptr<backends::Memory> import_native(const NativeBuffer& buffer) override;
    [[nodiscard]] NativeDevice native() const override;
    [[nodiscard]] bool runs(ir::Language language) const noexcept override {
        return language == ir::Language::OpenCL;
    }
    [[nodiscard]] std::unique_ptr<backends::Program> compile(ir::Function fn) override;
    [[nodiscard]] std::unique_ptr<backends::Queue> make_queue() override;
    [[nodiscard]] ir::Dim3 default_local(const ir::Function& fn, ir::Dim3 global) const override;
    [[nodiscard]] bool uses_driver() const noexcept override { return true; }

    /// For tests: internals to inspect, or to make fail.
    [[nodiscard]] LogicalDevice& logical() noexcept { return *device_; }
    [[nodiscard]] const Heap& heap() const noexcept { return *heap_; }
    [[nodiscard]] const ProgramBuilder& builder() const noexcept { return *builder_; }

private:
    std::shared_ptr<LogicalDevice> device_;
    DeviceInfo info_;
    OpenClOptions options_;
    std::shared_ptr<Heap> heap_;
    std::shared_ptr<Heap> scratch_;  // like heap_, but not limited: reports, internal memory of queues
    std::shared_ptr<Heap> host_;
    std::shared_ptr<const ProgramBuilder> builder_;
};

}  // namespace volley::backends::opencl
