// Memory of the CPU device: 64-byte aligned host memory, in huge pages from 2 MiB. The operating system
// provides pages on first access, so the cost of an allocation does not depend on its size.
#pragma once

#include "backends/api/memory.hpp"
#include "backends/common/memory_budget.hpp"

#include <cstddef>
#include <memory>

namespace volley::backends::cpu {

class CpuMemory final : public backends::Memory {
public:
    /// `alignment` is a power of two, at most a page.
    CpuMemory(std::size_t bytes, std::size_t alignment, std::shared_ptr<backends::MemoryBudget> budget);
    ~CpuMemory() override;

private:
    struct Mapping {
        void* start = nullptr;
        std::size_t size = 0;
    };
    static std::byte* map(std::size_t bytes, std::size_t alignment, Mapping& mapping);

    std::shared_ptr<backends::MemoryBudget> budget_;
    Mapping mapping_;  // empty for small blocks
};

}  // namespace volley::backends::cpu
