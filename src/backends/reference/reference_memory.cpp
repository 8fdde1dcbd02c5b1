// Allocates and frees, within the budget.
#include "backends/reference/reference_memory.hpp"

#include "backends/api/caller_memory.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <new>

namespace volley::backends::reference {
namespace {

constexpr std::align_val_t alignment{backend::host_page};  // as host memory has it

[[noreturn]] void out_of_memory(std::size_t bytes) {
    fail(ErrorCode::OutOfMemory, cat("could not allocate ", bytes, " bytes"), "reference:0",
         "free buffers, use smaller ones or raise the memory limit");
}

std::byte* allocate(std::size_t bytes, MemoryBudget& budget) {
    const std::uint64_t used = budget.used.fetch_add(bytes) + bytes;
    void* memory = nullptr;
    if (budget.limit == 0 || used <= budget.limit) {
        memory = ::operator new(bytes == 0 ? 1 : bytes, alignment, std::nothrow);
    }
    if (memory == nullptr) {
        budget.used.fetch_sub(bytes);
        out_of_memory(bytes);
    }
    return static_cast<std::byte*>(memory);
}

}  // namespace

ReferenceMemory::ReferenceMemory(std::size_t bytes, std::shared_ptr<MemoryBudget> budget)
    : Memory(bytes, allocate(bytes, *budget)), budget_(std::move(budget)) {}

ReferenceMemory::~ReferenceMemory() {
    ::operator delete(host_, alignment);
    budget_->used.fetch_sub(size_);
}

}  // namespace volley::backends::reference
