// The list has room for all errors from the start.
#include "backends/common/error_list.hpp"

#include <algorithm>
#include <cstddef>

namespace volley::backends {
namespace {

constexpr std::size_t most_errors = 64;

}  // namespace

ErrorList::ErrorList() { errors_.reserve(most_errors); }

void ErrorList::add(Point point, std::exception_ptr error) noexcept {
    const std::scoped_lock lock(mutex_);
    const auto same = [point](const auto& known) { return known.first == point; };
    if (std::any_of(errors_.begin(), errors_.end(), same)) return;
    if (errors_.size() == most_errors) errors_.erase(errors_.begin());
    errors_.emplace_back(point, std::move(error));
    failed_.store(true, std::memory_order_release);
}

void ErrorList::rethrow_first(Point point) {
    std::exception_ptr error;
    {
        const std::scoped_lock lock(mutex_);
        const auto found =
            std::find_if(errors_.begin(), errors_.end(), [&](const auto& e) { return e.first <= point; });
        if (found == errors_.end()) return;
        error = std::move(found->second);
        errors_.erase(found);
        failed_.store(!errors_.empty(), std::memory_order_release);
    }
    std::rethrow_exception(error);
}

}  // namespace volley::backends
