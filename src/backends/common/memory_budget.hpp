// What a device may have allocated at once, and has.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace volley::backends {

/// The limit that the user has set: a context's own, where it is not 0, else VOLLEY_MEMORY_LIMIT; 0: none.
[[nodiscard]] std::uint64_t memory_limit_of_user(std::uint64_t of_context);

/// Thread-safe; shared with the blocks, which may outlive their device.
class MemoryBudget {
public:
    /// A limit of 0 is none. `by_user`: it was set, and is not just what the machine has.
    MemoryBudget(std::string device, std::uint64_t limit, bool by_user)
        : device_(std::move(device)), limit_(limit), by_user_(by_user) {}

    /// Throws MemoryError (OutOfMemory) that names the sizes and the device.
    void take(std::uint64_t bytes);
    void give_back(std::uint64_t bytes) noexcept { live_.fetch_sub(bytes, std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t live() const noexcept { return live_.load(std::memory_order_relaxed); }
    /// Throws it for another reason.
    [[noreturn]] void refuse(std::uint64_t bytes, std::string_view why, std::string_view advice) const;

private:
    std::string device_;
    std::uint64_t limit_;
    bool by_user_;
    std::atomic<std::uint64_t> live_{0};
};

}  // namespace volley::backends
