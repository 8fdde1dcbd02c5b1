// A Vulkan device of one context.
#pragma once

#include "backends/api/device.hpp"
#include "backends/common/rect_kernel.hpp"
#include "backends/vulkan/vulkan_memory.hpp"
#include "backends/vulkan/vulkan_pipeline_cache.hpp"
#include "backends/vulkan/vulkan_queue.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>

namespace volley::backends::vulkan {

/// Options set by the context, and options that tests set to reach otherwise unused code paths.
struct VulkanOptions {
    std::uint64_t memory_limit = 0;  // 0: the environment's setting, or no limit
    HeapOptions heap;
    QueueOptions queue;
    std::optional<std::string> cache_folder;  // for pipelines; defaults to the settings' folder
};

class VulkanDevice final : public backends::Device {
public:
    VulkanDevice(std::shared_ptr<Instance> instance, unsigned index, const VulkanOptions& options);
    ~VulkanDevice() override;

    [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
    [[nodiscard]] std::unique_ptr<backends::Memory> allocate(std::size_t bytes) override;
    [[nodiscard]] std::unique_ptr<backends::Memory> allocate_host(std::size_t bytes) override;
    [[nodiscard]] std::size_t import_alignment() const noexcept override {
        return device_->physical().import_alignment;
    }
    [[nodiscard]] std::unique_ptr<backends::Memory> import_host(std::span<std::byte> bytes) override;
    [[nodiscard]] std::unique_ptr<backends::Memory> import_native(const NativeBuffer& buffer) override;
    [[nodiscard]] NativeDevice native() const override;
    [[nodiscard]] bool runs(ir::Language language) const noexcept override {
        return language == ir::Language::SpirV;
    }
    [[nodiscard]] std::unique_ptr<backends::Program> compile(ir::Function fn) override;
    [[nodiscard]] std::unique_ptr<backends::Queue> make_queue() override;
    [[nodiscard]] ir::Dim3 default_local(const ir::Function& fn, ir::Dim3 global) const override;
    [[nodiscard]] bool uses_driver() const noexcept override { return true; }
    void before_exit() noexcept override;

    /// Creates a program from a foreign module (see VulkanProgram). Throws CompileError.
    [[nodiscard]] std::unique_ptr<backends::Program> adopt(ir::Function signature,
                                                           codegen::spirv::Module module, ir::Dim3 local);

    /// For tests: internals to inspect, or to make fail.
    [[nodiscard]] LogicalDevice& logical() noexcept { return *device_; }
    [[nodiscard]] const Heap& heap() const noexcept { return *heap_; }
    /// Runs a small kernel to determine whether Fma rounds once.
    [[nodiscard]] bool measures_fused_fma();

private:
    [[nodiscard]] bool is_fused(ScalarType type);

    std::shared_ptr<LogicalDevice> device_;
    DeviceInfo info_;
    VulkanOptions options_;
    std::shared_ptr<Heap> heap_;
    std::shared_ptr<Heap> host_;
    std::shared_ptr<PipelineCache> cache_;
    codegen::spirv::Target target_;
    std::shared_ptr<backends::RectPrograms> rects_;
};

}  // namespace volley::backends::vulkan
