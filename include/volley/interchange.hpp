// Zero-copy exchange with other libraries: host memory, DLPack tensors and native driver objects. Nothing
// here copies; memory that cannot be shared is an error.
#pragma once

#include <volley/buffer.hpp>
#include <volley/native.hpp>

#include <memory>
#include <optional>
#include <span>
#include <string>

struct DLManagedTensor;  // <dlpack/dlpack.h>

namespace volley {

struct ImportOptions {
    std::optional<Queue> queue = {};  ///< its device uses the memory; default: the context's first
    std::string name = {};            ///< the buffer's name in messages
    std::shared_ptr<const void> owner =
        nullptr;  ///< released when all work that uses the memory has completed
};

/// Returns a buffer in the caller's memory, with one replica on one device. The CPU takes any memory; other
/// devices take whole pages if their driver can import them (VK_EXT_external_memory_host,
/// CL_MEM_USE_HOST_PTR). The memory must exist until the last work that uses it has completed, or have an
/// owner. Empty memory works on every device. Throws ArgumentError (InvalidArgument for null pointers and
/// alignment; SizeMismatch) and DeviceError (Unsupported).
///
///     Buffer<float> shared = import_host(std::span(samples), {.queue = queue(0)});
[[nodiscard]] VOLLEY_API AnyBuffer import_host(DType dtype, const Shape& shape, std::span<std::byte> memory,
                                               ImportOptions options = {});
template <class T>
[[nodiscard]] Buffer<T> import_host(std::span<T> memory, ImportOptions options = {}) {
    return Buffer<T>(
        import_host(dtype_of<T>(), Shape(memory.size()), std::as_writable_bytes(memory), std::move(options)));
}
template <class T>
[[nodiscard]] Buffer<T> import_host(std::span<T> memory, const Shape& shape, ImportOptions options = {}) {
    return Buffer<T>(import_host(dtype_of<T>(), shape, std::as_writable_bytes(memory), std::move(options)));
}

/// Returns a replica as a tensor in host memory. Blocks until pending work that uses it has completed. The
/// tensor shares the memory and keeps it until its deleter is called, even if the buffer or its context is
/// destroyed; the caller synchronises later accesses. Vectors become an additional axis. Throws MemoryError
/// (NotHostAccessible, NotAllocated), ArgumentError (TypeMismatch) for structs and matrices.
[[nodiscard]] VOLLEY_API DLManagedTensor* to_dlpack(const AnyBuffer& buffer, QueueRef queue = 0);
/// Returns a buffer in a tensor's host memory and takes ownership of the tensor: its deleter is called after
/// the last use. If the call throws, the caller still owns the tensor. Throws ArgumentError for types, ranks
/// and null pointers that buffers do not support and for strides that are not row-major (gaps are allowed and
/// never accessed), and whatever import_host throws.
[[nodiscard]] VOLLEY_API AnyBuffer from_dlpack(DLManagedTensor* tensor, ImportOptions options = {});

/// Returns the driver's object that holds the queue's replica. Allocates the memory if necessary and marks
/// the replica as written, because the caller may write to it. The caller synchronises: it waits for Volley's
/// work (Event::wait) and completes its own before it submits more to Volley.
[[nodiscard]] VOLLEY_API NativeBuffer native_buffer(const AnyBuffer& buffer, QueueRef queue = 0);
/// Returns the driver's device of a queue.
[[nodiscard]] VOLLEY_API NativeDevice native_device(const Queue& queue);
/// Returns a buffer in an object of the same driver and device. The object must exist until the last work
/// that uses it has completed, or have an owner. Throws DeviceError (Unsupported), ArgumentError
/// (SizeMismatch, InvalidArgument).
[[nodiscard]] VOLLEY_API AnyBuffer import_native(DType dtype, const Shape& shape, const NativeBuffer& object,
                                                 ImportOptions options = {});
template <class T>
[[nodiscard]] Buffer<T> import_native(const Shape& shape, const NativeBuffer& object,
                                      ImportOptions options = {}) {
    return Buffer<T>(import_native(dtype_of<T>(), shape, object, std::move(options)));
}

}  // namespace volley
