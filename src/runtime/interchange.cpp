// Imports: memory that Volley did not allocate becomes a storage with one replica, on its device.
#include "core/fail.hpp"
#include "core/layout.hpp"
#include "core/on_behalf_of.hpp"
#include "core/text.hpp"
#include "runtime/buffer_access.hpp"
#include "runtime/context_core.hpp"
#include "runtime/import.hpp"
#include "runtime/storage.hpp"

#include <volley/interchange.hpp>

namespace volley {
namespace runtime {

ImportTarget target_of(const ImportOptions& options) {
    ImportTarget target;
    target.core = options.queue ? ContextCore::core_of(*options.queue) : current_core();
    target.core->check_open("an import");
    target.queue = options.queue ? options.queue->index() : 0;
    target.subject =
        options.name.empty() ? std::string("imported memory") : cat("buffer '", options.name, "'");
    return target;
}

namespace {

void check_import_aligned(std::uint64_t place, DType dtype, const ImportTarget& target) {
    if (place % dtype.align() == 0) return;
    fail(ErrorCode::InvalidArgument, cat("the memory is not aligned for elements of type ", dtype.name()),
         target.subject, cat("pass memory that starts at a multiple of ", dtype.align(), " bytes"));
}

/// Returns a buffer in the memory that make(device) returns.
template <class Make>
AnyBuffer adopt_import(const ImportTarget& target, DType dtype, const Layout& layout, bool owns_window,
                       ImportOptions options, Make&& make) {
    const ContextCore::Visit visit(*target.core, target.subject);
    backends::Device& device = target.core->device(target.core->device_of(target.queue));
    auto memory =
        on_behalf_of([&] { return std::string_view(target.subject); }, [&] { return make(device); });
    auto storage = Storage::adopt(target.core, target.queue, std::move(memory), std::move(options.owner),
                                  {.name = target.subject});
    return make_buffer(std::move(storage), dtype, layout.shape, layout.strides, std::move(options.name),
                       owns_window);
}

}  // namespace

AnyBuffer import_bytes(DType dtype, const Layout& layout, std::span<std::byte> memory,
                       ImportOptions options) {
    const ImportTarget target = target_of(options);
    if (memory.data() == nullptr && !memory.empty()) {
        fail(ErrorCode::InvalidArgument, "the memory is a null pointer", target.subject,
             "pass memory of the shape's size");
    }
    if (!memory.empty()) check_import_aligned(reinterpret_cast<std::uintptr_t>(memory.data()), dtype, target);
    // The gaps between the elements of a foreign array are not padding: they may hold other data.
    const bool dense = is_dense(layout, static_cast<std::int64_t>(dtype.size()));
    return adopt_import(target, dtype, layout, dense, std::move(options), [&](backends::Device& device) {
        // Empty memory cannot be imported.
        return memory.empty() ? device.allocate(0) : device.import_host(memory);
    });
}

}  // namespace runtime

using runtime::ContextCore;
using runtime::ImportTarget;
using runtime::Storage;

namespace {

/// Returns the size of a dense array in bytes. Throws ArgumentError (TypeMismatch, Overflow).
std::uint64_t bytes_of(DType dtype, const Shape& shape, const ImportTarget& target) {
    if (dtype.is_void()) {
        fail(ErrorCode::TypeMismatch, "a buffer needs an element type", target.subject, "use dtype_of<T>()");
    }
    return static_cast<std::uint64_t>(
        on_behalf_of([&] { return std::string_view(target.subject); },
                     [&] { return shape.bytes(static_cast<std::int64_t>(dtype.size())); }));
}

Layout dense(DType dtype, const Shape& shape) {
    return row_major(shape, shape, static_cast<std::int64_t>(dtype.size()));
}

void check_bytes(std::uint64_t given, std::uint64_t needed, const Shape& shape, const ImportTarget& target) {
    if (given == needed) return;
    fail(ErrorCode::SizeMismatch, cat("the memory has ", given, " bytes, but the shape needs ", needed),
         cat(target.subject, ", shape ", shape.to_string()), "pass exactly the memory of the shape");
}

std::uint64_t size_of(const NativeBuffer& object) {
    if (const auto* vulkan = std::get_if<VulkanBuffer>(&object)) return vulkan->bytes;
    if (const auto* opencl = std::get_if<OpenClBuffer>(&object)) return opencl->bytes;
    return 0;
}

}  // namespace

AnyBuffer import_host(DType dtype, const Shape& shape, std::span<std::byte> memory, ImportOptions options) {
    const ImportTarget target = runtime::target_of(options);
    check_bytes(memory.size(), bytes_of(dtype, shape, target), shape, target);
    return runtime::import_bytes(dtype, dense(dtype, shape), memory, std::move(options));
}

NativeBuffer native_buffer(const AnyBuffer& buffer, QueueRef queue) {
    Storage& storage = runtime::storage_of(buffer);
    const ContextCore::Visit visit(storage.core(), storage);
    storage.check_usable();
    const unsigned k = runtime::queue_index(buffer, queue);
    NativeBuffer native = storage.allocate(k).native();
    storage.replica(k).wrote();
    if (auto* vulkan = std::get_if<VulkanBuffer>(&native)) {
        vulkan->offset += buffer.offset();
        vulkan->bytes = buffer.window_bytes();
    } else if (auto* opencl = std::get_if<OpenClBuffer>(&native)) {
        opencl->offset += buffer.offset();
        opencl->bytes = buffer.window_bytes();
    }
    return native;
}

NativeDevice native_device(const Queue& queue) {
    const std::shared_ptr<ContextCore>& core = ContextCore::core_of(queue);
    const ContextCore::Visit visit(*core, "a queue");
    return core->device(core->device_of(queue.index())).native();
}

AnyBuffer import_native(DType dtype, const Shape& shape, const NativeBuffer& object, ImportOptions options) {
    const ImportTarget target = runtime::target_of(options);
    if (std::holds_alternative<std::monostate>(object)) {
        fail(ErrorCode::InvalidArgument, "the native object is empty", target.subject,
             "fill in a VulkanBuffer or an OpenClBuffer");
    }
    check_bytes(size_of(object), bytes_of(dtype, shape, target), shape, target);
    if (const auto* opencl = std::get_if<OpenClBuffer>(&object))
        runtime::check_import_aligned(opencl->offset, dtype, target);
    return runtime::adopt_import(target, dtype, dense(dtype, shape), true, std::move(options),
                                 [&](backends::Device& device) { return device.import_native(object); });
}

}  // namespace volley
