// Memory of the null backend: a size and a number, with bytes only if the host accesses them.
#pragma once

#include "backends/api/memory.hpp"
#include "backends/common/memory_budget.hpp"
#include "support/null/null_log.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace volley::backends::null {

class NullMemory final : public backends::Memory {
public:
    /// Throws MemoryError if the budget is exceeded or the system is out of memory.
    NullMemory(std::size_t bytes, std::shared_ptr<NullLog> log,
               std::shared_ptr<backends::MemoryBudget> budget, bool on_host);
    ~NullMemory() override;

    /// Returns a range of the memory in the form used by the log.
    [[nodiscard]] NullUse use(std::uint64_t offset, std::uint64_t bytes, bool writes) const noexcept;

private:
    struct Free {
        void operator()(std::byte* bytes) const noexcept;
    };
    std::shared_ptr<NullLog> log_;
    std::shared_ptr<backends::MemoryBudget> budget_;
    std::uint64_t number_ = 0;
    std::unique_ptr<std::byte, Free> bytes_;
};

}  // namespace volley::backends::null
