// Identities: minted once for each thing, never reused in a process, and of a type of their own for each kind
// of thing, so that a buffer's id cannot be passed for a storage's.
#pragma once

#include <volley/api.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>  // the lightest header that declares std::hash

namespace volley {
namespace detail {

/// One counter for all kinds: an id is unique among all ids of the process. 64 bits are never used up.
[[nodiscard]] VOLLEY_API std::uint64_t next_id() noexcept;

}  // namespace detail

/// `using StorageId = Id<struct StorageTag>;`
template <class Tag>
class Id {
public:
    /// The null id, which names nothing.
    constexpr Id() noexcept = default;

    [[nodiscard]] static Id mint() noexcept { return Id(detail::next_id()); }

    [[nodiscard]] constexpr std::uint64_t value() const noexcept { return value_; }
    [[nodiscard]] constexpr explicit operator bool() const noexcept { return value_ != 0; }
    friend constexpr bool operator==(Id, Id) noexcept = default;
    friend constexpr auto operator<=>(Id, Id) noexcept = default;

private:
    constexpr explicit Id(std::uint64_t value) noexcept : value_(value) {}
    std::uint64_t value_ = 0;
};

}  // namespace volley

namespace std {

template <class Tag>
struct hash<volley::Id<Tag>> {
    std::size_t operator()(volley::Id<Tag> id) const noexcept { return static_cast<std::size_t>(id.value()); }
};

}  // namespace std
