// Memory that other programs and libraries know: DLPack tensors, the caller's own arrays, objects of the
// drivers. Nothing is copied; what cannot be shared is an error that says so.
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
    std::optional<Queue> queue = {};              ///< whose device uses the memory; else the context's first
    std::string name = {};                        ///< of the buffer, for messages
    std::shared_ptr<const void> owner = nullptr;  ///< kept until the last work that uses the memory is done
};

/// The caller's memory as a buffer of one device: always on the CPU; elsewhere where the driver can
/// (VK_EXT_external_memory_host, CL_MEM_USE_HOST_PTR), for memory that begins and ends with a page. It must
/// outlive the buffer's last use, or have an owner that keeps it. No memory at all is a buffer of nothing,
/// on every device. Throws ArgumentError (InvalidArgument: null, alignment; SizeMismatch), DeviceError
/// (Unsupported).
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

/// A replica as a tensor in host memory; waits for the work that touches it. The tensor shares the memory and
/// keeps it until its deleter is called, also when the buffer is destroyed or its context ends; the caller
/// synchronises from then on. Vectors become one more axis.
/// Throws MemoryError (NotHostAccessible, NotAllocated), ArgumentError (TypeMismatch) for structs and
/// matrices.
[[nodiscard]] VOLLEY_API DLManagedTensor* to_dlpack(const AnyBuffer& buffer, unsigned k = 0);
/// A tensor in host memory as a buffer. Takes the tensor over: its deleter is called after the last use. When
/// it throws, the tensor is still the caller's. Throws ArgumentError for types, ranks and strides that
/// buffers do not have (strides must be row-major, with or without gaps, which are not touched), null
/// pointers, and what import_host throws.
[[nodiscard]] VOLLEY_API AnyBuffer from_dlpack(DLManagedTensor* tensor, ImportOptions options = {});

/// What queue k's replica is to its driver; makes its memory if need be. From then on it counts as written,
/// as the caller may do so. The caller waits for Volley's work (Event::wait) and ends its own before Volley's
/// next.
[[nodiscard]] VOLLEY_API NativeBuffer native_buffer(const AnyBuffer& buffer, unsigned k = 0);
/// The driver's device behind a queue.
[[nodiscard]] VOLLEY_API NativeDevice native_device(const Queue& queue);
/// An object of the same driver's device as a buffer. It must outlive the buffer's last use, or have an
/// owner. Throws DeviceError (Unsupported), ArgumentError (SizeMismatch, InvalidArgument).
[[nodiscard]] VOLLEY_API AnyBuffer import_native(DType dtype, const Shape& shape, const NativeBuffer& object,
                                                 ImportOptions options = {});
template <class T>
[[nodiscard]] Buffer<T> import_native(const Shape& shape, const NativeBuffer& object,
                                      ImportOptions options = {}) {
    return Buffer<T>(import_native(dtype_of<T>(), shape, object, std::move(options)));
}

}  // namespace volley
