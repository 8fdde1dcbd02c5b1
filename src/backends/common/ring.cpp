// A ring of offsets, with one entry per point in use.
#include "backends/common/ring.hpp"

#include <algorithm>

namespace volley::backends {

std::optional<std::uint64_t> Ring::find(std::uint64_t bytes) {
    constexpr std::uint64_t align = 256;
    const std::uint64_t size = size_;
    if (bytes > size) return std::nullopt;
    if (count_ == 0) head_ = tail_ = 0;
    std::uint64_t at = (head_ + align - 1) / align * align;
    if (at % size + bytes > size) at = (at / size + 1) * size;  // an allocation never wraps around
    if (at + bytes - tail_ > size) return std::nullopt;
    if (count_ == entries_.size()) {
        std::vector<Entry> more(std::max<std::size_t>(64, 2 * count_));
        for (std::size_t i = 0; i < count_; ++i) more[i] = entries_[(first_ + i) % entries_.size()];
        entries_ = std::move(more);
        first_ = 0;
    }
    found_ = at + bytes;
    return at % size;
}

void Ring::commit(Point point) noexcept {
    if (count_ > 0) {
        Entry& newest = entries_[(first_ + count_ - 1) % entries_.size()];
        if (newest.point == point) {
            newest.end = head_ = found_;
            return;
        }
    }
    entries_[(first_ + count_) % entries_.size()] = {found_, point};
    ++count_;
    head_ = found_;
}

void Ring::pass(Point completed) noexcept {
    while (count_ > 0 && entries_[first_].point <= completed) {
        tail_ = entries_[first_].end;
        first_ = (first_ + 1) % entries_.size();
        --count_;
    }
}

}  // namespace volley::backends
