// Accounting of allocations, and the errors for exceeding the limit.
#include "backends/common/memory_budget.hpp"

#include "core/fail.hpp"
#include "core/settings.hpp"
#include "core/text.hpp"

namespace volley::backends {

std::uint64_t memory_limit_of_user(std::uint64_t of_context) {
    return of_context != 0 ? of_context : static_cast<std::uint64_t>(settings().memory_limit.value_or(0));
}

void MemoryBudget::refuse(std::uint64_t bytes, std::string_view why, std::string_view advice) const {
    fail(ErrorCode::OutOfMemory, cat("an allocation of ", bytes, " bytes failed: ", why),
         cat("device ", device_, ", ", live(), " bytes in use"), advice);
}

void MemoryBudget::take(std::uint64_t bytes) {
    std::uint64_t live = live_.load(std::memory_order_relaxed);
    do {
        if (limit_ != 0 && (bytes > limit_ || live > limit_ - bytes)) {
            refuse(bytes, cat("the limit is ", limit_, " bytes"),
                   by_user_ ? "free buffers, use smaller ones, or raise memory_limit or VOLLEY_MEMORY_LIMIT"
                            : "free buffers or use smaller ones; the limit is the machine's memory");
        }
    } while (!live_.compare_exchange_weak(live, live + bytes, std::memory_order_relaxed));
}

}  // namespace volley::backends
