// Allocates small blocks from the heap and large ones with mmap, aligned to huge pages.
#include "backends/cpu/cpu_memory.hpp"

#include <algorithm>
#include <cstdlib>

#include <sys/mman.h>

namespace volley::backends::cpu {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

}  // namespace

std::byte* CpuMemory::map(std::size_t bytes, std::size_t alignment, Mapping& mapping) {
    if (bytes < huge_page) {
        const std::size_t size = round_up(std::max<std::size_t>(bytes, 1), alignment);
        return static_cast<std::byte*>(std::aligned_alloc(alignment, size));
    }
    // Round the size up and align the start to whole huge pages; unmap the excess on both sides.
    const std::size_t size = round_up(bytes, huge_page);
    void* start =
        ::mmap(nullptr, size + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return nullptr;
    auto* raw = static_cast<std::byte*>(start);
    const std::size_t before = (huge_page - reinterpret_cast<std::uintptr_t>(raw) % huge_page) % huge_page;
    std::byte* aligned = raw + before;
    if (before != 0) ::munmap(raw, before);
    ::munmap(aligned + size, huge_page - before);
#if defined(MADV_HUGEPAGE)
    ::madvise(aligned, size, MADV_HUGEPAGE);  // a hint that the system may ignore
#endif
    mapping = {aligned, size};
    return aligned;
}

CpuMemory::CpuMemory(std::size_t bytes, std::size_t alignment, std::shared_ptr<backends::MemoryBudget> budget)
    : Memory(bytes, nullptr), budget_(std::move(budget)) {
    budget_->take(bytes);
    host_ = map(bytes, alignment, mapping_);
    if (host_ == nullptr) {
        budget_->give_back(bytes);
        budget_->refuse(bytes, "the system is out of memory", "free buffers or use smaller ones");
    }
}

CpuMemory::~CpuMemory() {
    if (mapping_.start != nullptr) {
        ::munmap(mapping_.start, mapping_.size);
    } else {
        std::free(host_);
    }
    budget_->give_back(size_);
}

}  // namespace volley::backends::cpu
