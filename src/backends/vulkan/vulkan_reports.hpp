// What kernels say while they run, read when they are done: prints, failed bounds checks, loops that met the
// driver's limit.
#pragma once

#include "backends/vulkan/vulkan_memory.hpp"
#include "backends/vulkan/vulkan_program.hpp"

#include <memory>
#include <mutex>
#include <vector>

namespace volley::backends::vulkan {

/// A ReportHeader and room for records, in memory that the host reads. All zero but while a launch uses it.
class ReportBuffer {
public:
    ReportBuffer(std::shared_ptr<Heap> heap, std::uint64_t record_bytes);

    [[nodiscard]] std::uint64_t address() const noexcept { return memory_.address(); }
    [[nodiscard]] std::uint64_t capacity() const noexcept;
    /// Sets the header for a launch.
    void arm() noexcept;
    /// Delivers what one launch has written and clears it. Throws LaunchError for a failed check or a loop
    /// that was cut short, and what the print sink throws; nothing is printed after an error.
    void drain(const VulkanProgram& program, const Kernel& kernel, std::string_view device);

private:
    VulkanMemory memory_;
};

/// Buffers to use again. Thread-safe.
class ReportPool {
public:
    explicit ReportPool(std::shared_ptr<Heap> heap) : heap_(std::move(heap)) {}
    /// Large enough for a launch of so many invocations, within reason.
    [[nodiscard]] std::unique_ptr<ReportBuffer> take(const Kernel& kernel, std::uint64_t invocations);
    void give_back(std::unique_ptr<ReportBuffer> buffer) noexcept;

private:
    std::shared_ptr<Heap> heap_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<ReportBuffer>> free_;
};

}  // namespace volley::backends::vulkan
