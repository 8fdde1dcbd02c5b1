// An array whose size is known when it is made, without an allocation when it is small.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

namespace volley {

/// `count` default-initialised elements; up to `Inline` of them are stored in the object. Elements that are
/// not used are not initialised, so a large `Inline` costs stack space but no time.
template <class T, std::size_t Inline>
class SmallArray {
    static_assert(std::is_trivially_destructible_v<T>);

public:
    explicit SmallArray(std::size_t count)
        : heap_(count > Inline ? std::make_unique<Slot[]>(count) : nullptr), count_(count) {
        T* elements = data();
        for (std::size_t i = 0; i < count; ++i) std::construct_at(elements + i);
    }

    [[nodiscard]] T& operator[](std::size_t i) noexcept { return data()[i]; }
    [[nodiscard]] std::span<T> span() noexcept { return {data(), count_}; }
    /// Returns the first `count` elements.
    [[nodiscard]] std::span<T> first(std::size_t count) noexcept { return {data(), count}; }

private:
    struct Slot {
        alignas(T) std::byte bytes[sizeof(T)];
    };
    [[nodiscard]] T* data() noexcept { return reinterpret_cast<T*>(heap_ ? heap_.get() : inline_); }

    std::unique_ptr<Slot[]> heap_;
    std::size_t count_;
    Slot inline_[Inline];  // NOLINT(cppcoreguidelines-pro-type-member-init): elements are made by the
                           // constructor
};

}  // namespace volley
