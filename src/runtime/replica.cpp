// Tracks the uses of a replica. The hot path is one atomic exchange, a comparison of ranges and two stores.
#include "runtime/replica.hpp"

#include "runtime/context_core.hpp"

#include <algorithm>

namespace volley::runtime {

void Replica::add(unsigned queue, backends::Point point, const ByteRange& bytes, bool writes) {
    raise(uses_[queue], point);
    if (queue != home_ && !visited_.load(std::memory_order_relaxed))
        visited_.store(true, std::memory_order_release);
    const std::scoped_lock lock(lock_);
    map_.add(bytes, writes, {queue, point});
    if (map_.pieces() > many_) forget();
}

void Replica::forget() {
    map_.forget([&](const Use& use) {
        if (!core_->passed({use.lane, use.point})) return false;
        raise(forgotten_[use.lane], use.point);
        return true;
    });
    many_ = std::max<std::size_t>(64, 2 * map_.pieces());
}

void Replica::settled(const ByteRange& bytes) {
    const std::scoped_lock lock(lock_);
    map_.clear(bytes);
}

backends::Point Replica::last_conflict(unsigned queue, const ByteRange& bytes, bool writes) {
    backends::Point last = forgotten_[queue].load(std::memory_order_acquire);
    const std::scoped_lock lock(lock_);
    map_.conflicts(bytes, writes, [&](const Use& use) {
        if (use.lane == queue) last = std::max(last, use.point);
    });
    return last;
}

}  // namespace volley::runtime
