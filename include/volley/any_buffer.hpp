// AnyBuffer: a buffer whose element type is known at run time. Buffer<T> (buffer.hpp) adds the type.
#pragma once

#include <volley/api.hpp>
#include <volley/dtype.hpp>
#include <volley/event.hpp>
#include <volley/id.hpp>
#include <volley/native.hpp>
#include <volley/placement.hpp>
#include <volley/queue.hpp>
#include <volley/queue_ref.hpp>
#include <volley/shape.hpp>
#include <volley/slice.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace volley {

namespace runtime {
class Storage;
}
class AnyHostArray;

namespace detail {

struct BufferAccess;  // src/runtime/buffer_access.hpp

/// Returns the extents as a shape. Throws as Shape does; the error names the buffer if `name` is not empty.
[[nodiscard]] VOLLEY_API Shape shape_of_buffer(std::initializer_list<Extent> extents, std::string_view name);

/// Host memory that a transfer reads or writes. Its elements have the buffer's type.
struct HostSide {
    std::byte* data = nullptr;            // only reads of a buffer write to it
    std::size_t count = 0;                // elements
    bool shaped = false;                  // false: dense and row-major, for a buffer of any shape
    Shape shape = {};                     // if shaped; must equal the buffer's
    Strides strides = {};                 // if shaped; in bytes
    const AnyHostArray* array = nullptr;  // the page-locked array that owns `data`, if one does
};

}  // namespace detail

using BufferId = Id<struct BufferTag>;
using StorageId = Id<struct StorageTag>;

struct BufferOptions {
    std::string name = {};     ///< used in messages; if empty, "buffer 12"
    Shape padded_shape = {};   ///< the allocated shape, no axis shorter than the shape's; empty: no padding
    Placement placement = {};  ///< which queues have a replica
    bool zeroed = false;       ///< clear the memory when it is allocated
};

/// A handle to an array in a storage, which has replicas for the queues of its context. Copies of a handle
/// refer to the same array; views are other arrays in the same storage. Memory is allocated by the first
/// write or launch. A default-constructed buffer has no storage; using it throws.
///
/// Arrays are row-major and have up to 8 dimensions. An array with a padded shape is the corner at the origin
/// of the allocated array; the padding may be read and written, and its contents are undefined. A kernel sees
/// the buffer's window: all memory from its first to its last element, padding included.
///
/// Several threads may use one buffer, but must order their writes themselves. If one thread writes to a
/// replica while another copies it to a different queue, the copy may contain old and new elements.
class VOLLEY_API AnyBuffer {
public:
    AnyBuffer() noexcept = default;
    /// Creates a storage in the current context. Throws ArgumentError if the size in bytes overflows, the
    /// padded shape is too small, the type is void, or the placement names a queue of another context.
    AnyBuffer(DType dtype, const Shape& shape, BufferOptions options = {});

    // ---- properties ----
    [[nodiscard]] DType dtype() const noexcept { return dtype_; }
    [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
    /// Returns the distance between neighbours along each axis, in bytes.
    [[nodiscard]] const Strides& strides() const noexcept { return strides_; }
    /// Returns the allocated shape; for views and for arrays without padding, the shape.
    [[nodiscard]] const Shape& padded_shape() const noexcept {
        return padded_.rank() == 0 ? shape_ : padded_;
    }
    /// Returns the number of elements.
    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(size_); }
    /// Returns the size of the elements in bytes, without padding.
    [[nodiscard]] std::size_t bytes() const noexcept { return size() * dtype_.size(); }
    /// Returns the position of the first element in the storage, in bytes.
    [[nodiscard]] std::size_t offset() const noexcept { return static_cast<std::size_t>(offset_); }
    /// Returns the size of the window that a kernel sees, in bytes: from the first element to the end of the
    /// last one and of the buffer's padding.
    [[nodiscard]] std::size_t window_bytes() const noexcept { return static_cast<std::size_t>(window_); }
    /// Returns whether the elements are contiguous in row-major order.
    [[nodiscard]] bool is_contiguous() const noexcept;
    /// Returns the name for messages: "buffer 'samples'" or "buffer 12"; for a view, followed by its
    /// position.
    [[nodiscard]] std::string name() const;
    /// Returns the id of this array. Each view has its own; copies of a handle share it.
    [[nodiscard]] BufferId id() const noexcept { return id_; }
    /// Returns the id of the storage, which a buffer shares with its views.
    [[nodiscard]] StorageId storage_id() const noexcept;

    // ---- replicas ----
    /// Returns the number of replicas: one per queue, unless the placement says otherwise.
    [[nodiscard]] unsigned replica_count() const;
    /// Returns where the replicas are; for imported memory, a placement with the same queues.
    [[nodiscard]] Placement placement() const;
    /// Returns whether the queue has a replica or shares one. Returns false for queues of other contexts.
    [[nodiscard]] bool exists_on(QueueRef queue) const;
    /// Returns whether the queue has a replica whose memory is allocated.
    [[nodiscard]] bool is_allocated(QueueRef queue) const;
    /// Allocates the memory of all replicas that have none. Thread-safe. Throws MemoryError; a later call
    /// tries the remaining replicas again.
    void ensure_allocated() const;
    /// Frees the memory of all replicas once pending work no longer uses it. Does not block. Later uses of
    /// the buffer or of its views throw ArgumentError; a second destroy() does nothing.
    void destroy() noexcept;

    // ---- views, which share the storage ----
    /// Returns elements [offset, offset + count) of the window as a one-dimensional buffer. Throws
    /// ArgumentError (InvalidView) outside the window.
    [[nodiscard]] AnyBuffer view(std::size_t offset, std::size_t count) const;
    /// Returns the same bytes as elements of another type. If the types differ in size, the last axis of a
    /// contiguous buffer grows or shrinks, and the window of any other buffer becomes one-dimensional. Throws
    /// ArgumentError (InvalidView) for misaligned elements and for sizes that are not a multiple.
    [[nodiscard]] AnyBuffer view_as(DType dtype) const;
    /// Returns a part of the array, selected by slices, integers and new axes (slice.hpp).
    [[nodiscard]] AnyBuffer sub(const Selection& selection) const;
    /// Returns the same elements in another shape. Throws ArgumentError: SizeMismatch if the number of
    /// elements differs, InvalidView if the buffer is not contiguous.
    [[nodiscard]] AnyBuffer reshape(const Shape& shape) const;

    // ---- transfers ----
    // Each of them checks all of its arguments before it allocates or writes anything. The queue is the last
    // argument; QueueRef documents its errors.

    /// Copies bytes, the elements in row-major order, to the queue's replica or to all. The data may change
    /// when the call returns; it blocks only if the device cannot take the data at once. Throws ArgumentError
    /// (SizeMismatch) unless the sizes are equal, MemoryError.
    void write_bytes(std::span<const std::byte> data, std::optional<QueueRef> queue = {});
    /// Blocks until the last write to the replica has completed, but not for later work, and copies the
    /// elements. Throws MemoryError (NotAllocated) if nothing was ever written to the replica.
    void read_bytes(std::span<std::byte> data, QueueRef queue = 0) const;
    /// Copies page-locked memory (host_array.hpp) of the same type and shape to the queue's replica or to
    /// all. Does not block. The host array stays alive until the event and must not change before it.
    Event write_async(const AnyHostArray& from, std::optional<QueueRef> queue = {});
    /// Copies the queue's replica to page-locked memory of the same type and shape. Does not block.
    Event read_async(const AnyHostArray& to, QueueRef queue = 0) const;
    /// Sets every element to the given bytes, which must be one element. Does not block.
    Event fill_bytes(std::span<const std::byte> element, std::optional<QueueRef> queue = {});
    /// Sets all bytes of the elements to zero. Does not block.
    Event zero(std::optional<QueueRef> queue = {});
    /// Copies the elements of a buffer of the same type, shape and context; each replica copies from the
    /// nearest one that was written. Copies between devices are pipelined through page-locked memory. Does
    /// not block. Throws ArgumentError (InvalidView) for overlapping views, MemoryError (NotAllocated) if
    /// `other` was never written.
    Event copy_from(const AnyBuffer& other, std::optional<QueueRef> queue = {});

    // ---- host access without a copy ----
    /// Returns the window of the replica, padding included, if the host can address the device's memory
    /// (DeviceInfo::host_memory). Blocks until pending work that uses it has completed; the const overload
    /// waits for writes only. The span is valid while the buffer and its context exist; work submitted later
    /// may change its elements at any time, which map() prevents.
    ///
    /// Throws MemoryError: NotHostAccessible, then NotAllocated; ArgumentError (InvalidView) if the element
    /// type needs a stricter alignment than the memory has.
    [[nodiscard]] std::span<const std::byte> as_host_bytes(QueueRef queue = 0) const;
    [[nodiscard]] std::span<std::byte> as_host_bytes(QueueRef queue = 0);

protected:
    /// Copies host memory to the queue's replica or to all. Unless `async`, the memory may change when the
    /// call returns; else it must not change before the event, and `owner` is kept until then.
    Event write_from(const detail::HostSide& from, std::optional<QueueRef> queue, bool async,
                     std::shared_ptr<const void> owner = nullptr);
    /// Copies the queue's replica to host memory. Blocks unless `async`.
    Event read_to(const detail::HostSide& to, QueueRef queue, bool async) const;
    /// Returns the first queue that uses replica r.
    [[nodiscard]] unsigned queue_of_replica(unsigned r) const;

    // These throw an error that names the buffer.
    void check_readable(QueueRef queue) const;  ///< as read_bytes does before it blocks
    void check_contiguous() const;              ///< ArgumentError (InvalidView)
    void check_single() const;                  ///< ArgumentError (SizeMismatch) unless it has one element
    void check_type(DType expected) const;      ///< ArgumentError (TypeMismatch)

private:
    friend struct detail::BufferAccess;

    /// Creates a buffer in an existing storage.
    AnyBuffer(std::shared_ptr<runtime::Storage> storage, DType dtype, const Shape& shape,
              const Strides& strides, std::string name, bool owns_window);
    /// Throws for a default-constructed buffer.
    [[nodiscard]] runtime::Storage& storage() const {
        if (storage_ == nullptr) fail_empty();
        return *storage_;
    }
    /// Returns the number of a queue that has a replica. Throws as QueueRef documents.
    [[nodiscard]] unsigned queue_index(QueueRef queue) const;
    [[nodiscard]] AnyBuffer make_view(DType dtype, const Shape& shape, const Strides& strides,
                                      std::int64_t offset, std::int64_t window, bool owns_window) const;
    [[noreturn]] static void fail_empty();

    std::shared_ptr<runtime::Storage> storage_;
    DType dtype_;
    Shape shape_;
    Shape padded_;
    Strides strides_;
    std::int64_t size_ = 0;
    std::int64_t offset_ = 0;
    std::int64_t window_ = 0;
    bool owns_window_ = true;  // the bytes between its elements are its padding
    bool is_view_ = false;
    BufferId id_;
    std::string name_;
};

}  // namespace volley
