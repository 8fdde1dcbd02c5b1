// Host memory as the reference device's memory.
#pragma once

#include "backends/api/memory.hpp"

#include <atomic>
#include <memory>

namespace volley::backends::reference {

/// How much of a device's memory is in use.
struct MemoryBudget {
    std::uint64_t limit = 0;  // 0: none
    std::atomic<std::uint64_t> used = 0;
};

class ReferenceMemory final : public backend::Memory {
public:
    /// Throws OutOfMemory when the budget or the host has not so much left.
    ReferenceMemory(std::size_t bytes, std::shared_ptr<MemoryBudget> budget);
    ~ReferenceMemory() override;

private:
    std::shared_ptr<MemoryBudget> budget_;
};

}  // namespace volley::backends::reference
