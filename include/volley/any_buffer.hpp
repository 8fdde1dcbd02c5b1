// A buffer whose element type is known at run time: what Buffer<T> is a thin face of.
#pragma once

#include <volley/api.hpp>
#include <volley/dtype.hpp>
#include <volley/event.hpp>
#include <volley/id.hpp>
#include <volley/native.hpp>
#include <volley/placement.hpp>
#include <volley/queue.hpp>
#include <volley/shape.hpp>
#include <volley/slice.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace volley {

namespace runtime {
class Storage;
}
class AnyHostArray;

namespace detail {

/// The shape that a buffer of that name (empty: none) is to have; errors name it.
[[nodiscard]] VOLLEY_API Shape shape_of_buffer(std::initializer_list<Extent> extents, std::string_view name);

/// Elements in host memory, of a buffer's type.
struct HostSide {
    std::byte* data = nullptr;  // written to by reads alone
    std::size_t count = 0;      // elements
    bool shaped = false;        // false: side by side in row-major order, whatever the buffer's shape
    Shape shape = {};           // else: this,
    Strides strides = {};       //   and bytes between neighbours
    const AnyHostArray* array = nullptr;  // page-locked
};

}  // namespace detail

using BufferId = Id<struct BufferTag>;
using StorageId = Id<struct StorageTag>;

struct BufferOptions {
    std::string name = {};  ///< for messages; empty: "buffer 12"
    Shape padded_shape =
        {};  ///< what is allocated, no smaller in any axis than the shape; empty: the shape itself
    Placement placement = {};  ///< which queues have a replica of their own
    bool zeroed = false;       ///< memory is cleared when it is made
};

/// A handle to an array in a storage, which has replicas for the queues of its context. Copies are the same
/// buffer; views are other buffers of the same storage. Nothing is allocated until it is written to or
/// launched with. A default-constructed one names no storage; using it is an error. Two threads may use one
/// buffer; whose write comes last is up to them, and a copy from one queue's replica to another queue, made
/// while another thread writes to it, may have some of each.
///
/// Arrays are row-major, of up to 8 dimensions. An array with a padded shape is the corner at the origin of
/// what is allocated; the padding may be read and written, and its contents are undefined. A kernel sees a
/// buffer's window: all elements from its first to its last one as they lie in memory, padding included.
class VOLLEY_API AnyBuffer {
public:
    AnyBuffer() noexcept = default;
    /// Makes a storage for the current context. Throws ArgumentError for a shape whose bytes overflow, a
    /// padded shape that does not fit, a void type, or a placement on a queue of another context.
    AnyBuffer(DType dtype, const Shape& shape, BufferOptions options = {});

    // What it is
    [[nodiscard]] DType dtype() const noexcept { return dtype_; }
    [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
    /// Bytes between neighbours along each axis.
    [[nodiscard]] const Strides& strides() const noexcept { return strides_; }
    /// As it was made with; the shape itself for views and for arrays without padding.
    [[nodiscard]] const Shape& padded_shape() const noexcept {
        return padded_.rank() == 0 ? shape_ : padded_;
    }
    /// In elements.
    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(size_); }
    [[nodiscard]] std::size_t bytes() const noexcept { return size() * dtype_.size(); }
    /// Of the whole storage.
    [[nodiscard]] std::size_t total_bytes() const;
    /// Where its first element lies in the storage, in bytes.
    [[nodiscard]] std::size_t offset() const noexcept { return static_cast<std::size_t>(offset_); }
    /// From its first element to behind its last, with the padding that is its own: what a kernel sees.
    [[nodiscard]] std::size_t window_bytes() const noexcept { return static_cast<std::size_t>(window_); }
    /// Whether its elements lie side by side.
    [[nodiscard]] bool is_contiguous() const noexcept;
    /// The name given, or "buffer" and its id; with the place for views.
    [[nodiscard]] std::string name() const;
    /// Of this handle: every view has its own; copies keep it.
    [[nodiscard]] BufferId id() const noexcept { return id_; }
    /// Of the memory behind it, the same for a buffer and its views.
    [[nodiscard]] StorageId storage_id() const noexcept;

    // Replicas
    /// How many copies of the data there are: one for each queue, unless it was placed otherwise.
    [[nodiscard]] unsigned replica_count() const;
    /// Whether queue k has a replica, or shares one.
    [[nodiscard]] bool exists_on(unsigned k) const;
    /// Whether the replica of queue k has memory. False where there is none.
    [[nodiscard]] bool is_allocated(unsigned k) const;
    /// Makes the memory of all replicas. Idempotent, safe from several threads. Throws MemoryError; then the
    /// replicas without memory can be tried again.
    void ensure_allocated() const;
    /// Frees the memory of all replicas once the work that uses it is done, also that of views. Using it, or
    /// a view, is an error from then on. Does not wait. Twice is once.
    void destroy() noexcept;

    // Views: share the storage
    /// Bytes [offset, offset + bytes) of the window, as an array of u8. Throws ArgumentError (InvalidView).
    [[nodiscard]] AnyBuffer view_bytes(std::size_t offset, std::size_t bytes) const;
    /// Elements [offset, offset + count) of the window, one-dimensional.
    [[nodiscard]] AnyBuffer view(std::size_t offset, std::size_t count) const;
    /// The same bytes as another type, misaligned ones an error (InvalidView). Of the same size: the same
    /// array. Else a contiguous buffer's last axis grows or shrinks, and any other's window becomes
    /// one-dimensional.
    [[nodiscard]] AnyBuffer view_as(DType dtype) const;
    /// A part of the array: slices, integers, new axes. See slice.hpp.
    [[nodiscard]] AnyBuffer sub(const Selection& selection) const;
    /// The same elements in another shape. Contiguous buffers only.
    [[nodiscard]] AnyBuffer reshape(const Shape& shape) const;

    // Host data. All of these check everything before they allocate or write anything.
    /// Copies host bytes, the array's elements in row-major order, to all replicas, or to the one of a queue.
    /// The host's data can be changed when the call returns; it waits only where it must. Throws
    /// ArgumentError (SizeMismatch) unless the sizes are equal.
    void write_bytes(std::span<const std::byte> data);
    void write_bytes(std::span<const std::byte> data, const Queue& queue);
    /// Waits for the last writer of queue k's replica, not for later work, and copies its elements. Throws
    /// MemoryError (NotAllocated) when nothing was ever written to it.
    void read_bytes(std::span<std::byte> data, unsigned k) const;
    /// What read_bytes checks before it waits: that queue k has a replica that has been written to.
    void check_readable(unsigned k) const;

    /// From and to page-locked memory (host_array.hpp), which is kept alive until it is done. Shapes and
    /// types must agree.
    Event write_async(const AnyHostArray& from);
    Event write_async(const AnyHostArray& from, const Queue& queue);
    Event read_async(unsigned k, const AnyHostArray& to) const;

    /// From any host memory, to the replica of one queue, or to all. Not `async`: the data can be changed
    /// when it returns. Async: it must stay as it is until the event; `owner`, if given, is kept until then.
    Event write_from(const detail::HostSide& from, const Queue* queue, bool async,
                     std::shared_ptr<const void> owner = nullptr);
    /// Into any host memory. Not `async`: waits.
    Event read_to(const detail::HostSide& to, unsigned k, bool async) const;

    /// Repeats the bytes of one element over all replicas. Does not wait.
    Event fill_bytes(std::span<const std::byte> element);
    /// Sets all bytes of its elements to zero. Does not wait.
    Event zero();
    /// Copies another buffer's elements, of the same type and shape: each replica from the nearest one.
    /// Inside a device directly, between devices through page-locked memory in a pipeline. Throws
    /// ArgumentError for overlapping views of one storage. Does not wait.
    Event copy_from(const AnyBuffer& other);
    /// `count` elements of the window from one place to another. Refuses ranges that overlap (InvalidView).
    Event copy_within(std::size_t to, std::size_t from, std::size_t count);

    // Where the host shares the device's memory
    /// The window of queue k's replica, padding included, without a copy. Waits for the work that touches it:
    /// const, for its writers alone. Valid while the buffer and its context live and no later work changes
    /// it. Throws MemoryError: NotHostAccessible, then NotAllocated; ArgumentError (InvalidView) for types
    /// that are aligned to more than 64 bytes where the memory is not.
    [[nodiscard]] std::span<const std::byte> as_host_bytes(unsigned k) const;
    [[nodiscard]] std::span<std::byte> as_host_bytes(unsigned k);

    /// The storage, for the runtime; throws for a default-constructed buffer.
    [[nodiscard]] runtime::Storage& storage() const {
        if (storage_ == nullptr) fail_empty();
        return *storage_;
    }
    [[nodiscard]] const std::shared_ptr<runtime::Storage>& shared_storage() const noexcept {
        return storage_;
    }
    /// Elements that a kernel may touch.
    [[nodiscard]] std::uint64_t window_elements() const noexcept {
        return dtype_.size() == 0 ? 0 : window_bytes() / dtype_.size();
    }
    /// Whether the bytes between its elements are padding of its own, not other views' elements.
    [[nodiscard]] bool owns_window() const noexcept { return owns_window_; }

    // Checks: each throws ArgumentError naming the buffer
    void check_contiguous() const;               ///< InvalidView
    void check_single() const;                   ///< SizeMismatch unless it has one element
    void check_queue(const Queue& queue) const;  ///< WrongContext
    /// The queue by which replica r is known: the first that works on it.
    [[nodiscard]] unsigned queue_of_replica(unsigned r) const;
    /// Throws ArgumentError (TypeMismatch) unless the elements are of that type.
    void check_type(DType wanted) const;
    /// A buffer on a storage that exists already, for the runtime.
    AnyBuffer(std::shared_ptr<runtime::Storage> storage, DType dtype, const Shape& shape,
              const Strides& strides, std::string name, bool owns_window = true);

private:
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
    bool owns_window_ = true;
    bool is_view_ = false;
    BufferId id_;
    std::string name_;
};

}  // namespace volley
