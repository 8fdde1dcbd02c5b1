// Mapping<T>: a guard for exclusive host access to a buffer's memory.
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

/// Marks a replica as mapped while the guard exists. Throws like AnyBuffer::as_host_bytes.
class VOLLEY_API MapGuard {
public:
    MapGuard(const AnyBuffer& buffer, QueueRef queue);
    ~MapGuard();
    MapGuard(MapGuard&& other) noexcept
        : storage_(std::exchange(other.storage_, nullptr)), queue_(other.queue_) {}
    MapGuard& operator=(MapGuard&& other) noexcept;

private:
    std::shared_ptr<runtime::Storage> storage_;
    unsigned queue_ = 0;
};

}  // namespace detail

/// Host access to a replica without a copy, if the host can address the device's memory. The constructor
/// blocks until pending work that uses the buffer has completed (writes only, if T is const). While the
/// mapping exists, launches and transfers that use the replica throw, and the memory stays valid even if the
/// buffer or its context is destroyed. T is const for read-only access.
///
///     { auto mapped = buf.map();  mapped(2, 3) = 1.0f; }
///     scale(buf, 2.0f);
template <class T>
class [[nodiscard]] Mapping {
    using Handle = std::conditional_t<std::is_const_v<T>, const AnyBuffer, AnyBuffer>;

public:
    Mapping(Handle& buffer, QueueRef queue)
        : guard_(buffer, queue),  // first, so that work submitted while this blocks throws too
          bytes_(buffer.as_host_bytes(queue)),
          array_(detail::array_of<T>(bytes_, buffer.shape(), buffer.strides())) {}

    /// Returns the array with its shape and strides.
    [[nodiscard]] const ArrayView<T>& array() const noexcept { return array_; }
    [[nodiscard]] T* data() const noexcept { return array_.data(); }
    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(array_.size()); }
    /// Returns the buffer's window, padding included.
    [[nodiscard]] auto bytes() const noexcept { return bytes_; }
    /// Returns the element at an index, which is not checked.
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
