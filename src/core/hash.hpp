// A stable, incremental 128-bit hash (MurmurHash3 x64-128). It is the same on every machine and in every
// release, so it can name files in a disk cache. It is not cryptographic.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace volley {

template <class T>
concept Hashable = std::integral<T> || std::is_enum_v<T>;

struct Hash128 {
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    friend constexpr auto operator<=>(const Hash128&, const Hash128&) noexcept = default;
    /// Returns 32 hexadecimal digits.
    [[nodiscard]] std::string to_string() const;
};

/// Hashes a sequence of values. Integers are hashed as 64 bits and strings with their length, so that ("ab",
/// "c") and ("a", "bc") differ.
class Hasher {
public:
    explicit Hasher(std::uint64_t seed = 0) noexcept : high_(seed), low_(seed) {}

    Hasher& bytes(std::span<const std::byte> data) noexcept;
    Hasher& add(std::string_view text) noexcept;
    /// Hashes the bits: -0.0 and 0.0 differ, as do NaNs with different payloads.
    Hasher& add(double value) noexcept;
    Hasher& add(const Hash128& hash) noexcept { return word(hash.high).word(hash.low); }
    template <Hashable T>
    Hasher& add(T value) noexcept {
        return word(static_cast<std::uint64_t>(value));
    }
    template <class First, class Second, class... Rest>
    Hasher& add(const First& first, const Second& second, const Rest&... rest) noexcept {
        add(first).add(second);
        (add(rest), ...);
        return *this;
    }

    /// Returns the hash of everything added so far. More values may be added afterwards.
    [[nodiscard]] Hash128 digest() const noexcept;

private:
    Hasher& word(std::uint64_t value) noexcept;
    void byte(std::uint8_t value) noexcept;
    void block(std::uint64_t first, std::uint64_t second) noexcept;

    std::uint64_t high_;
    std::uint64_t low_;
    std::uint64_t total_ = 0;     // bytes added
    std::uint64_t pending_[2]{};  // total_ % 16 bytes, little-endian
};

}  // namespace volley

template <>
struct std::hash<volley::Hash128> {
    std::size_t operator()(const volley::Hash128& value) const noexcept {
        return static_cast<std::size_t>(value.low);
    }
};
