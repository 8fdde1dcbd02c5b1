// A scope in which the host has a buffer's memory for itself.
#pragma once

#include <volley/any_buffer.hpp>
#include <volley/array_view.hpp>

#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace volley {

namespace detail {

template <class T>
[[nodiscard]] std::span<T> elements(
    std::span<std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>> bytes, std::size_t count) {
    return {reinterpret_cast<T*>(bytes.data()), count};
}

template <class T>
[[nodiscard]] ArrayView<T> array_of(
    std::span<std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>> bytes, const Shape& shape,
    const Strides& strides) {
    return ArrayView<T>(reinterpret_cast<T*>(bytes.data()), shape, strides.divided(sizeof(T)));
}

/// Marks a replica as the host's from its construction to its end.
class VOLLEY_API MapGuard {
public:
    MapGuard(const AnyBuffer& buffer, unsigned k);
    ~MapGuard();
    MapGuard(MapGuard&& other) noexcept
        : storage_(std::exchange(other.storage_, nullptr)), queue_(other.queue_) {}
    MapGuard& operator=(MapGuard&& other) noexcept;

private:
    std::shared_ptr<runtime::Storage> storage_;
    unsigned queue_ = 0;
};

}  // namespace detail

/// Host access to a replica of a buffer without a copy, where the host shares the memory. Making one waits
/// for the work that touches the buffer (for its writers alone, if T is const); until its end, launches and
/// transfers that use the replica are refused with an error, and the memory stays, whatever becomes of buffer
/// and context. T is const for reading.
///
///     { auto mapped = buf.map();  mapped(2, 3) = 1.0f; }
///     scale(buf, 2.0f);
template <class T>
class [[nodiscard]] Mapping {
    using Handle = std::conditional_t<std::is_const_v<T>, const AnyBuffer, AnyBuffer>;

public:
    Mapping(Handle& buffer, unsigned k)
        : guard_(buffer, k),  // first: work that comes while this waits is refused too
          bytes_(buffer.as_host_bytes(k)),
          array_(detail::array_of<T>(bytes_, buffer.shape(), buffer.strides())) {}

    /// The array with its shape and strides.
    [[nodiscard]] const ArrayView<T>& array() const noexcept { return array_; }
    [[nodiscard]] T* data() const noexcept { return array_.data(); }
    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(array_.size()); }
    /// All of the window, padding included.
    [[nodiscard]] auto bytes() const noexcept { return bytes_; }
    /// Unchecked.
    template <class... I>
    [[nodiscard]] T& operator()(I... index) const {
        return array_(index...);
    }

private:
    detail::MapGuard guard_;
    std::span<std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>> bytes_;
    ArrayView<T> array_;
};

}  // namespace volley
