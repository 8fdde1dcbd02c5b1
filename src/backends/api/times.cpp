// Reports the times at which commands ran.
#include "backends/api/times.hpp"

#include <algorithm>

namespace volley::backends {

constinit std::atomic<std::uint32_t> TimesScope::live_scopes{0};
constinit thread_local const TimesTag* TimesScope::thread_tag = nullptr;

bool TimesScope::is_requested_here() noexcept { return thread_tag != nullptr && *thread_tag; }

void TimeOrder::report(const TimesTag& tag, std::int64_t begin, std::int64_t end, bool overlaps) noexcept {
    {
        const std::scoped_lock lock(mutex_);
        if (!overlaps) floor_ = end_;
        // The command has ended by now, even if the translated clock is ahead.
        const std::int64_t now = steady_now();
        begin = std::min(std::max(begin, floor_), now);
        // The queue passes its points in order, so a later command never ends before an earlier one.
        end = std::max({begin, std::min(end, now), end_});
        end_ = end;
    }
    tag.ran(begin, end);
}

void TimedHere::report() const noexcept {
    const std::int64_t end = steady_now();
    if (order_ != nullptr) {
        order_->report(tag_, begin_, end);
    } else {
        tag_.ran(begin_, end);
    }
}

}  // namespace volley::backends
