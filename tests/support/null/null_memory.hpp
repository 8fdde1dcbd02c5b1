// The null backend's memory: a size and a number, and bytes only where the host is to reach them.
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
    /// Throws MemoryError when the budget, or the system, has no more.
    NullMemory(std::size_t bytes, std::shared_ptr<NullLog> log,
               std::shared_ptr<backends::MemoryBudget> budget, bool on_host);
    ~NullMemory() override;

    /// What the log calls a part of it.
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
