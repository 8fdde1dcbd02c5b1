// Allocates and frees host memory within the budget.
#include "backends/reference/reference_memory.hpp"

#include "backends/common/caller_memory.hpp"

#include <new>
#include <utility>

namespace volley::backends::reference {
namespace {

constexpr std::align_val_t alignment{backends::host_page};  // required of host memory

std::byte* allocate(std::size_t bytes, backends::MemoryBudget& budget) {
    budget.take(bytes);
    void* memory = ::operator new(bytes == 0 ? 1 : bytes, alignment, std::nothrow);
    if (memory == nullptr) {
        budget.give_back(bytes);
        budget.refuse(bytes, "the system is out of memory", "free buffers or use smaller ones");
    }
    return static_cast<std::byte*>(memory);
}

}  // namespace

ReferenceMemory::ReferenceMemory(std::size_t bytes, std::shared_ptr<backends::MemoryBudget> budget)
    : Memory(bytes, allocate(bytes, *budget)), budget_(std::move(budget)) {}

ReferenceMemory::~ReferenceMemory() {
    ::operator delete(host_, alignment);
    budget_->give_back(size_);
}

}  // namespace volley::backends::reference
