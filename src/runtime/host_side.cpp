// Checks of host memory against buffers, and the order between devices and the host.
#include "runtime/host_side.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"
#include "runtime/buffer_access.hpp"
#include "runtime/storage.hpp"
#include "runtime/transfer.hpp"

namespace volley::runtime {

detail::HostSide bytes_side(std::span<const std::byte> data, const AnyBuffer& buffer) {
    static_cast<void>(storage_of(buffer));  // throws for an empty handle
    const std::size_t element = buffer.dtype().size();
    if (data.size() % element != 0) {
        fail(ErrorCode::SizeMismatch, cat(data.size(), " bytes are not a whole number of elements"),
             buffer.name(), cat("pass a multiple of ", element, " bytes, the size of its elements"));
    }
    return {.data = const_cast<std::byte*>(data.data()),
            .count = data.size() / element};  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

Layout host_layout(const detail::HostSide& host, const AnyBuffer& buffer, std::string_view doing) {
    if (host.array != nullptr && host.array->dtype() != buffer.dtype()) {
        fail(ErrorCode::TypeMismatch,
             cat(doing, " elements of type ", host.array->dtype().name(),
                 ", but the buffer has elements of type ", buffer.dtype().name()),
             buffer.name(), "use a host array of the buffer's type");
    }
    if (host.shaped) {
        check_same_shape(host.shape, buffer, doing);
    } else if (host.count != buffer.size()) {
        fail(ErrorCode::SizeMismatch,
             cat(doing, " ", host.count, " elements of ", buffer.dtype().size(),
                 " bytes, but the buffer has ", buffer.size()),
             buffer.name(), "pass exactly as many elements as the buffer has");
    }
    if (host.data == nullptr && buffer.size() != 0) {
        fail(ErrorCode::InvalidArgument, cat(doing, " a null pointer"), buffer.name(),
             "pass memory of the buffer's size");
    }
    return {0, buffer.shape(),
            host.shaped ? host.strides : row_major_byte_strides(buffer.shape(), element_of(buffer))};
}

bool is_regular(const Layout& layout, std::int64_t element) {
    std::int64_t inner = element;
    if (layout.shape.elements() == 0) return true;  // its strides may be 0
    for (int d = layout.shape.rank() - 1; d >= 0; --d) {
        if (layout.shape[d] <= 1) continue;
        if (layout.strides[d] < inner) return false;
        inner = (layout.shape[d] - 1) * layout.strides[d] + inner;
    }
    return true;
}

backends::Memory* pinned_memory(const detail::HostSide& host, const ContextCore& core, unsigned k) {
    Storage* const storage = tracked_array(host, core);
    if (storage == nullptr || core.device_of(storage->home(0)) != core.device_of(k)) return nullptr;
    return storage->find(storage->home(0))->memory();
}

Storage* tracked_array(const detail::HostSide& host, const ContextCore& core) {
    if (host.array == nullptr || &storage_of(*host.array).core() != &core) return nullptr;
    return &storage_of(*host.array);
}

void wait_for_array(const detail::HostSide& host, bool writes) {
    if (host.array == nullptr) return;
    Storage& storage = storage_of(*host.array);
    storage.wait_for_uses(storage.home(0), bytes_of(*host.array), writes);
}

Layout layout_of(const AnyHostArray& array) {
    return {detail::BufferAccess::offset(array), array.shape(), array.strides()};
}

ByteRange bytes_of(const AnyHostArray& array) {
    if (!detail::BufferAccess::is_part(array)) return {0, storage_of(array).bytes()};
    const Layout layout = layout_of(array);
    const std::int64_t bytes = extent(layout, static_cast<std::int64_t>(array.dtype().size()));
    return {static_cast<std::size_t>(layout.offset), static_cast<std::size_t>(layout.offset + bytes)};
}

bool owns_padding(const detail::HostSide& host) {
    return host.array != nullptr && !detail::BufferAccess::is_part(*host.array);
}

ArrayVisit::ArrayVisit(const detail::HostSide& host, const ContextCore& core) {
    if (host.array == nullptr || &storage_of(*host.array).core() == &core) return;
    visit_.emplace(storage_of(*host.array).core(), "a host array");
}

AnyBuffer as_any_buffer(const AnyHostArray& array) {
    const AnyBuffer whole =
        make_buffer(shared_storage_of(array), array.dtype(), array.shape(), array.strides(), "a host array");
    if (!detail::BufferAccess::is_part(array)) return whole;
    const Layout layout = layout_of(array);
    const auto element = static_cast<std::int64_t>(array.dtype().size());
    return detail::BufferAccess::make_view(whole, array.dtype(), layout.shape, layout.strides, layout.offset,
                                           extent(layout, element), is_dense(layout, element));
}

}  // namespace volley::runtime
