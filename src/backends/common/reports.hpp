// What kernels say while they run, read when they are done: prints, failed bounds checks, loops that met the
// driver's limit. For devices whose code cannot call the host (codegen/api/reports.hpp has the layout).
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

/// Who wrote the records of a launch. What it points to lives as long as the program.
struct ReportSource {
    const ir::Function* function = nullptr;
    std::span<const codegen::PrintSite> prints;
    std::string_view device;           // for messages
    std::uint32_t max_iterations = 0;  // of loops, where the driver has such a limit
};

/// What one invocation prints at most, if it prints each line once.
[[nodiscard]] std::uint64_t print_bytes(std::span<const codegen::PrintSite> prints) noexcept;

/// A ReportHeader and room for records. All zero but while a launch uses it.
class ReportBuffer {
public:
    /// `mapped` is where the host sees the memory. Null: it does not, and works on a copy, which the queue
    /// brings to the memory before the launch and back after it.
    ReportBuffer(std::unique_ptr<Memory> memory, std::byte* mapped);

    [[nodiscard]] Memory& memory() const noexcept { return *memory_; }
    [[nodiscard]] std::uint64_t capacity() const noexcept;
    /// The host's copy; empty where it sees the memory itself.
    [[nodiscard]] std::span<std::byte> copy() noexcept { return copy_; }
    /// Sets the header for a launch.
    void arm() noexcept;
    /// Delivers what one launch has written and clears it. Throws LaunchError for a failed check or a loop
    /// that was cut short, and what the print sink throws; nothing is printed after an error.
    void drain(const ReportSource& source);

private:
    std::unique_ptr<Memory> memory_;
    std::vector<std::byte> copy_;
    std::byte* bytes_;
};

/// Buffers to use again. Thread-safe.
class ReportPool {
public:
    /// Gives a buffer of so many bytes, header and all.
    using Make = std::function<std::unique_ptr<ReportBuffer>(std::uint64_t bytes)>;
    explicit ReportPool(Make make) : make_(std::move(make)) {}
    /// Large enough for a launch of so many invocations that print so much each, within reason.
    [[nodiscard]] std::unique_ptr<ReportBuffer> take(std::uint64_t print_bytes, std::uint64_t invocations);
    void give_back(std::unique_ptr<ReportBuffer> buffer) noexcept;

private:
    Make make_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<ReportBuffer>> free_;
};

}  // namespace volley::backends
