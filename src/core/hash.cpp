// MurmurHash3 x64-128 by Austin Appleby (public domain), expressed over little-endian 64-bit words so that
// the result does not depend on the host's byte order.
#include "core/hash.hpp"

#include "core/text.hpp"

#include <bit>

namespace volley {
namespace {

constexpr std::uint64_t c1 = 0x87c37b91114253d5u;
constexpr std::uint64_t c2 = 0x4cf5ad432745937fu;

constexpr std::uint64_t mix_first(std::uint64_t k) noexcept { return std::rotl(k * c1, 31) * c2; }
constexpr std::uint64_t mix_second(std::uint64_t k) noexcept { return std::rotl(k * c2, 33) * c1; }

constexpr std::uint64_t finish(std::uint64_t k) noexcept {
    k = (k ^ (k >> 33)) * 0xff51afd7ed558ccdu;
    k = (k ^ (k >> 33)) * 0xc4ceb9fe1a85ec53u;
    return k ^ (k >> 33);
}

}  // namespace

std::string Hash128::to_string() const { return hex(high) + hex(low); }

void Hasher::block(std::uint64_t first, std::uint64_t second) noexcept {
    high_ ^= mix_first(first);
    high_ = (std::rotl(high_, 27) + low_) * 5 + 0x52dce729;
    low_ ^= mix_second(second);
    low_ = (std::rotl(low_, 31) + high_) * 5 + 0x38495ab5;
}

void Hasher::byte(std::uint8_t value) noexcept {
    const std::uint64_t at = total_ % 16;
    pending_[at / 8] |= static_cast<std::uint64_t>(value) << (8 * (at % 8));
    if (++total_ % 16 != 0) return;
    block(pending_[0], pending_[1]);
    pending_[0] = pending_[1] = 0;
}

Hasher& Hasher::word(std::uint64_t value) noexcept {
    const std::uint64_t at = total_ % 16;
    if (at % 8 != 0) {
        for (int i = 0; i < 8; ++i) byte(static_cast<std::uint8_t>(value >> (8 * i)));
        return *this;
    }
    total_ += 8;
    if (at == 0) {
        pending_[0] = value;
    } else {
        block(pending_[0], value);
        pending_[0] = 0;
    }
    return *this;
}

Hasher& Hasher::bytes(std::span<const std::byte> data) noexcept {
    for (const std::byte b : data) byte(std::to_integer<std::uint8_t>(b));
    return *this;
}

Hasher& Hasher::add(std::string_view text) noexcept {
    word(text.size());
    for (const char c : text) byte(static_cast<std::uint8_t>(c));
    return *this;
}

Hasher& Hasher::add(double value) noexcept { return word(std::bit_cast<std::uint64_t>(value)); }

Hash128 Hasher::digest() const noexcept {
    std::uint64_t high = high_;
    std::uint64_t low = low_;
    const std::uint64_t tail = total_ % 16;
    if (tail > 8) low ^= mix_second(pending_[1]);
    if (tail > 0) high ^= mix_first(pending_[0]);
    high ^= total_;
    low ^= total_;
    high += low;
    low += high;
    high = finish(high);
    low = finish(low);
    high += low;
    low += high;
    return {high, low};
}

}  // namespace volley
