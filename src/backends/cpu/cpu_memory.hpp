// Memory of the CPU device: host memory, 64-byte aligned, in huge pages from 2 MiB up. The operating system
// gives pages when they are first touched, so an allocation costs the same whatever its size.
#pragma once

#include "backends/api/memory.hpp"

#include <atomic>
#include <memory>
#include <string>

namespace volley::backends::cpu {

/// What a device may have live at once, and has.
class MemoryBudget {
public:
    MemoryBudget(std::string device, std::uint64_t limit, bool by_user)
        : device_(std::move(device)), limit_(limit), by_user_(by_user) {}

    /// Throws MemoryError (OutOfMemory) that names the sizes and the device.
    void take(std::uint64_t bytes);
    void give_back(std::uint64_t bytes) noexcept { live_.fetch_sub(bytes, std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t live() const noexcept { return live_.load(std::memory_order_relaxed); }
    [[nodiscard]] const std::string& device() const noexcept { return device_; }

private:
    std::string device_;
    std::uint64_t limit_;
    bool by_user_;
    std::atomic<std::uint64_t> live_{0};
};

class CpuMemory final : public backend::Memory {
public:
    CpuMemory(std::size_t bytes, std::shared_ptr<MemoryBudget> budget);
    ~CpuMemory() override;

private:
    struct Mapping {
        void* start = nullptr;
        std::size_t size = 0;
    };
    static std::byte* map(std::size_t bytes, Mapping& mapping);

    std::shared_ptr<MemoryBudget> budget_;
    Mapping mapping_;  // empty for small blocks
};

}  // namespace volley::backends::cpu
