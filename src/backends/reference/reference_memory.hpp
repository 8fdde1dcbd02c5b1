// Host memory as the reference device's memory.
#pragma once

#include "backends/api/memory.hpp"
#include "backends/common/memory_budget.hpp"

#include <cstddef>
#include <memory>

namespace volley::backends::reference {

class ReferenceMemory final : public backends::Memory {
public:
    /// Throws OutOfMemory if the budget is exceeded or the host is out of memory.
    ReferenceMemory(std::size_t bytes, std::shared_ptr<backends::MemoryBudget> budget);
    ~ReferenceMemory() override;

private:
    std::shared_ptr<backends::MemoryBudget> budget_;
};

}  // namespace volley::backends::reference
