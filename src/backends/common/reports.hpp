// Reports of kernels, read after they complete: prints, failed bounds checks, and loops stopped by a driver's
// limit. For devices whose code cannot call the host (codegen/api/reports.hpp defines the layout).
#pragma once

#include "backends/api/memory.hpp"
#include "codegen/api/reports.hpp"
#include "ir/function.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

namespace volley::backends {

/// The kernel that wrote a launch's records. The pointers stay valid as long as the program.
struct ReportSource {
    const ir::Function* function = nullptr;
    std::span<const codegen::PrintSite> prints;
    std::string_view device;           // for messages
    std::uint32_t max_iterations = 0;  // the driver's limit on loop iterations; 0: none
};

/// Returns the bytes that one invocation needs if it prints each line once.
[[nodiscard]] std::uint64_t print_bytes(std::span<const codegen::PrintSite> prints) noexcept;

/// A ReportHeader followed by space for records. All zero except while a launch uses it.
class ReportBuffer {
public:
    /// `mapped` is the host address of the memory. If null, the host works on a copy that the queue writes to
    /// the memory before the launch and reads back after it.
    ReportBuffer(std::unique_ptr<Memory> memory, std::byte* mapped);

    [[nodiscard]] Memory& memory() const noexcept { return *memory_; }
    [[nodiscard]] std::uint64_t capacity() const noexcept;
    /// Returns the host's copy, or empty if the memory is mapped.
    [[nodiscard]] std::span<std::byte> copy() noexcept { return copy_; }
    /// Initialises the header for a launch.
    void arm() noexcept;
    /// Delivers the records of one launch and clears them. Throws LaunchError for a failed check or a loop
    /// that was cut short, and whatever the print sink throws; records after an error are discarded.
    void drain(const ReportSource& source);

private:
    std::unique_ptr<Memory> memory_;
    std::vector<std::byte> copy_;
    std::byte* bytes_;
};

/// Reuses buffers. Thread-safe.
class ReportPool {
public:
    /// Creates a buffer of `bytes` bytes, including the header.
    using Make = std::function<std::unique_ptr<ReportBuffer>(std::uint64_t bytes)>;
    explicit ReportPool(Make make) : make_(std::move(make)) {}
    /// Returns a buffer with space for a launch in which each invocation prints `print_bytes`, between 64 KiB
    /// and 64 MiB.
    [[nodiscard]] std::unique_ptr<ReportBuffer> take(std::uint64_t print_bytes, std::uint64_t invocations);
    void give_back(std::unique_ptr<ReportBuffer> buffer) noexcept;

private:
    Make make_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<ReportBuffer>> free_;
};

}  // namespace volley::backends
