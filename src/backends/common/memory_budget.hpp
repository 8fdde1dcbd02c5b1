// Tracks the bytes allocated on a device against its limit.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace volley::backends {

/// Returns the user's limit: the context's if it is not 0, else VOLLEY_MEMORY_LIMIT, else 0 (no limit).
[[nodiscard]] std::uint64_t memory_limit_of_user(std::uint64_t of_context);

/// Thread-safe. Shared with the allocations, which may outlive their device.
class MemoryBudget {
public:
    /// A limit of 0 means no limit. `by_user`: the user set the limit; otherwise it is the machine's memory.
    MemoryBudget(std::string device, std::uint64_t limit, bool by_user)
        : device_(std::move(device)), limit_(limit), by_user_(by_user) {}

    /// Reserves bytes. Throws MemoryError (OutOfMemory) with the sizes and the device if the limit is
    /// exceeded.
    void take(std::uint64_t bytes);
    void give_back(std::uint64_t bytes) noexcept { live_.fetch_sub(bytes, std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t live() const noexcept { return live_.load(std::memory_order_relaxed); }
    /// Throws MemoryError (OutOfMemory) for another reason.
    [[noreturn]] void refuse(std::uint64_t bytes, std::string_view why, std::string_view advice) const;

private:
    std::string device_;
    std::uint64_t limit_;
    bool by_user_;
    std::atomic<std::uint64_t> live_{0};
};

}  // namespace volley::backends
