// The process-wide counter of object ids.
#include <volley/id.hpp>

#include <atomic>

namespace volley::detail {

std::uint64_t next_id() noexcept {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace volley::detail
