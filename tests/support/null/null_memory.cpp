// Counts allocations, and provides zeros for host memory.
#include "support/null/null_memory.hpp"

#include "backends/common/caller_memory.hpp"

#include <algorithm>
#include <cstring>

namespace volley::backends::null {
namespace {

constexpr std::align_val_t alignment{backends::host_page};

}  // namespace

NullMemory::NullMemory(std::size_t bytes, std::shared_ptr<NullLog> log,
                       std::shared_ptr<backends::MemoryBudget> budget, bool on_host)
    : Memory(bytes, nullptr), log_(std::move(log)), budget_(std::move(budget)) {
    budget_->take(bytes);
    if (on_host) {
        void* memory = ::operator new(std::max<std::size_t>(bytes, 1), alignment, std::nothrow);
        if (memory == nullptr) {
            budget_->give_back(bytes);
            budget_->refuse(bytes, "the system is out of memory", "free buffers or use smaller ones");
        }
        bytes_.reset(static_cast<std::byte*>(memory));
        host_ = bytes_.get();
        std::memset(host_, 0, bytes);
    }
    log_->live_bytes += bytes;
    ++log_->live_blocks;
    number_ = ++log_->blocks_made;
}

NullMemory::~NullMemory() {
    log_->live_bytes -= size_;
    --log_->live_blocks;
    budget_->give_back(size_);
}

void NullMemory::Free::operator()(std::byte* bytes) const noexcept { ::operator delete(bytes, alignment); }

NullUse NullMemory::use(std::uint64_t offset, std::uint64_t bytes, bool writes) const noexcept {
    if (host_ != nullptr)
        return {NullUse::host, reinterpret_cast<std::uintptr_t>(host_) + offset, bytes, writes};
    return {number_, offset, bytes, writes};
}

}  // namespace volley::backends::null
