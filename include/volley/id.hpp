// Ids of objects. An id is never reused in a process. Each kind of object has its own id type, so that the id
// of a buffer cannot be passed as the id of a storage.
#pragma once

#include <volley/api.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>  // the lightest header that declares std::hash

namespace volley {
namespace detail {

/// Increments the counter that all kinds share, so an id is unique among all ids of the process. 64 bits do
/// not overflow in practice.
[[nodiscard]] VOLLEY_API std::uint64_t next_id() noexcept;

}  // namespace detail

/// The id of an object: `using StorageId = Id<struct StorageTag>;`
template <class Tag>
class Id {
public:
    /// Creates the null id, which no object has.
    constexpr Id() noexcept = default;

    /// Returns a new id.
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
