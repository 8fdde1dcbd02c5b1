// Access to the private parts of buffers and host arrays that only the runtime needs.
#pragma once

#include <volley/any_buffer.hpp>
#include <volley/host_array.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace volley {
namespace detail {

/// The friend of AnyBuffer and AnyHostArray. Use the functions of namespace runtime below.
struct BufferAccess {
    static runtime::Storage& storage(const AnyBuffer& buffer) { return buffer.storage(); }
    static runtime::Storage& storage(const AnyHostArray& array) { return array.storage(); }
    static const std::shared_ptr<runtime::Storage>& shared_storage(const AnyBuffer& buffer) noexcept {
        return buffer.storage_;
    }
    static const std::shared_ptr<runtime::Storage>& shared_storage(const AnyHostArray& array) noexcept {
        return array.storage_;
    }
    static bool owns_window(const AnyBuffer& buffer) noexcept { return buffer.owns_window_; }
    static bool is_part(const AnyHostArray& array) noexcept { return array.is_part_; }
    static std::int64_t offset(const AnyHostArray& array) noexcept { return array.offset_; }
    static AnyBuffer make_view(const AnyBuffer& of, DType dtype, const Shape& shape, const Strides& strides,
                               std::int64_t offset, std::int64_t window, bool owns_window) {
        return of.make_view(dtype, shape, strides, offset, window, owns_window);
    }
    static unsigned queue_index(const AnyBuffer& buffer, QueueRef queue) { return buffer.queue_index(queue); }
    static AnyBuffer make_buffer(std::shared_ptr<runtime::Storage> storage, DType dtype, const Shape& shape,
                                 const Strides& strides, std::string name, bool owns_window) {
        return {std::move(storage), dtype, shape, strides, std::move(name), owns_window};
    }
};

}  // namespace detail

namespace runtime {

/// Returns the storage. Throws for a default-constructed buffer or host array.
[[nodiscard]] inline Storage& storage_of(const AnyBuffer& buffer) {
    return detail::BufferAccess::storage(buffer);
}
[[nodiscard]] inline Storage& storage_of(const AnyHostArray& array) {
    return detail::BufferAccess::storage(array);
}

/// Returns the storage, or nullptr for a default-constructed buffer or host array.
[[nodiscard]] inline const std::shared_ptr<Storage>& shared_storage_of(const AnyBuffer& buffer) noexcept {
    return detail::BufferAccess::shared_storage(buffer);
}
[[nodiscard]] inline const std::shared_ptr<Storage>& shared_storage_of(const AnyHostArray& array) noexcept {
    return detail::BufferAccess::shared_storage(array);
}

/// Returns whether the bytes between the elements are the buffer's padding, not elements of other views.
[[nodiscard]] inline bool owns_window(const AnyBuffer& buffer) noexcept {
    return detail::BufferAccess::owns_window(buffer);
}

/// Returns the number of elements that a kernel may access.
[[nodiscard]] inline std::uint64_t window_elements(const AnyBuffer& buffer) noexcept {
    return buffer.dtype().size() == 0 ? 0 : buffer.window_bytes() / buffer.dtype().size();
}

/// Returns the number of a queue that has a replica. Throws as QueueRef documents.
[[nodiscard]] inline unsigned queue_index(const AnyBuffer& buffer, QueueRef queue) {
    return detail::BufferAccess::queue_index(buffer, queue);
}

/// Returns a buffer in an existing storage.
[[nodiscard]] inline AnyBuffer make_buffer(std::shared_ptr<Storage> storage, DType dtype, const Shape& shape,
                                           const Strides& strides, std::string name,
                                           bool owns_window = true) {
    return detail::BufferAccess::make_buffer(std::move(storage), dtype, shape, strides, std::move(name),
                                             owns_window);
}

}  // namespace runtime
}  // namespace volley
