// A buffer whose element type is known at run time: what Buffer<T> is a thin face of.
#pragma once

#include <volley/api.hpp>
#include <volley/dtype.hpp>
#include <volley/id.hpp>
#include <volley/queue.hpp>
#include <volley/shape.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace volley {

namespace runtime {
class Storage;
}

using BufferId = Id<struct BufferTag>;
using StorageId = Id<struct StorageTag>;

struct BufferOptions {
    std::string name = {};  ///< for messages; empty: "buffer 12"
};

/// A handle to elements in a storage, which has one replica for each queue of its context. Copies are the
/// same buffer. Nothing is allocated until it is written to or launched with. A default-constructed one names
/// no storage; using it is an error. Two threads may use one buffer; whose write comes last is up to them.
class VOLLEY_API AnyBuffer {
public:
    AnyBuffer() noexcept = default;
    /// Makes a storage for the current context. Throws ArgumentError for a shape whose bytes overflow, or a
    /// void type.
    AnyBuffer(DType dtype, const Shape& shape, BufferOptions options = {});

    [[nodiscard]] DType dtype() const noexcept { return dtype_; }
    [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
    /// In elements.
    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(size_); }
    [[nodiscard]] std::size_t bytes() const noexcept { return size() * dtype_.size(); }
    /// Where its first element lies in the storage, in bytes.
    [[nodiscard]] std::size_t offset() const noexcept { return static_cast<std::size_t>(offset_); }
    /// The name given, or "buffer" and its id.
    [[nodiscard]] std::string name() const;
    /// Of this handle; copies keep it.
    [[nodiscard]] BufferId id() const noexcept { return id_; }
    /// Of the memory behind it.
    [[nodiscard]] StorageId storage_id() const noexcept;
    /// Whether the replica of queue k has memory.
    [[nodiscard]] bool is_allocated(unsigned k) const;

    /// Copies host bytes to all replicas, or to the one of a queue. The host's data can be changed when the
    /// call returns; it waits only where it must. Throws ArgumentError (SizeMismatch) unless the sizes are
    /// equal.
    void write_bytes(std::span<const std::byte> data);
    void write_bytes(std::span<const std::byte> data, const Queue& queue);
    /// Waits for the last writer of queue k's replica, not for later work, and copies its bytes. Throws
    /// MemoryError (NotAllocated) when nothing was ever written to it.
    void read_bytes(std::span<std::byte> data, unsigned k) const;
    /// What read_bytes checks before it waits: that replica k exists and has been written to.
    void check_readable(unsigned k) const;
    /// Repeats the bytes of one element over all replicas. Does not wait.
    void fill_bytes(std::span<const std::byte> element);

    /// The storage, for the runtime; throws for a default-constructed buffer.
    [[nodiscard]] runtime::Storage& storage() const {
        if (storage_ == nullptr) fail_empty();
        return *storage_;
    }
    [[nodiscard]] unsigned replica_count() const;

private:
    [[noreturn]] static void fail_empty();
    void check_size(std::size_t given, const char* doing) const;
    void write_replica(std::span<const std::byte> data, unsigned k);

    std::shared_ptr<runtime::Storage> storage_;
    DType dtype_;
    Shape shape_;
    std::int64_t size_ = 0;
    std::int64_t offset_ = 0;
    BufferId id_;
    std::string name_;
};

}  // namespace volley
