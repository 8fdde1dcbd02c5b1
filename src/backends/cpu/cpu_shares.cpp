// Ranges only shrink, so a thread with a claim finds a piece in one of them.
#include "backends/cpu/cpu_shares.hpp"

namespace volley::backends::cpu {
namespace {

constexpr unsigned half = 32;

constexpr std::uint64_t share_of(std::uint64_t begin, std::uint64_t end) { return begin << half | end; }
constexpr std::uint32_t begin_of(std::uint64_t share) { return static_cast<std::uint32_t>(share >> half); }
constexpr std::uint32_t end_of(std::uint64_t share) { return static_cast<std::uint32_t>(share); }
constexpr std::uint32_t length_of(std::uint64_t share) { return end_of(share) - begin_of(share); }

}  // namespace

void deal(std::span<Share> shares, std::uint32_t pieces) noexcept {
    std::uint64_t begin = 0;
    for (std::size_t k = 0; k < shares.size(); ++k) {
        const std::uint64_t end = pieces * (k + 1) / shares.size();
        shares[k].store(share_of(begin, end), std::memory_order_relaxed);
        begin = end;
    }
}

std::optional<std::uint32_t> take_own(std::span<Share> shares, unsigned thread) noexcept {
    Share& own = shares[thread % shares.size()];
    std::uint64_t share = own.load(std::memory_order_relaxed);
    while (length_of(share) != 0) {
        const std::uint64_t rest = share_of(begin_of(share) + 1, end_of(share));
        if (own.compare_exchange_weak(share, rest, std::memory_order_relaxed)) return begin_of(share);
    }
    return std::nullopt;
}

std::uint32_t take_piece(std::span<Share> shares, unsigned thread) noexcept {
    if (const auto own = take_own(shares, thread)) return *own;
    for (;;) {
        Share* longest = &shares[0];
        std::uint64_t share = longest->load(std::memory_order_relaxed);
        for (Share& other : shares.subspan(1)) {
            const std::uint64_t now = other.load(std::memory_order_relaxed);
            if (length_of(now) <= length_of(share)) continue;
            longest = &other;
            share = now;
        }
        if (length_of(share) == 0) continue;  // another thread took it: look again
        const std::uint64_t rest = share_of(begin_of(share), end_of(share) - 1);
        if (longest->compare_exchange_strong(share, rest, std::memory_order_relaxed)) return end_of(rest);
    }
}

}  // namespace volley::backends::cpu
