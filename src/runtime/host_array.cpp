// A host array is a storage whose only replica is page-locked host memory. Like every storage, it is freed
// when the transfers that use it have completed.
#include "core/fail.hpp"
#include "core/layout.hpp"
#include "core/on_behalf_of.hpp"
#include "core/text.hpp"
#include "runtime/buffer_access.hpp"
#include "runtime/context_core.hpp"
#include "runtime/storage.hpp"

#include <volley/host_array.hpp>

namespace volley {

using runtime::ContextCore;
using runtime::Storage;

AnyHostArray::AnyHostArray(DType dtype, const Shape& shape, const HostArrayOptions& options)
    : dtype_(dtype), shape_(shape), padded_(options.padded_shape.rank() == 0 ? shape : options.padded_shape) {
    if (dtype.is_void()) {
        fail(ErrorCode::TypeMismatch, "a host array needs an element type", "a HostArray",
             "use dtype_of<T>()");
    }
    const auto element = static_cast<std::int64_t>(dtype.size());
    const auto bytes = on_behalf_of([] { return "a host array"; },
                                    [&] {
                                        check_padding(shape, padded_);
                                        size_ = shape.elements();
                                        strides_ = row_major(shape, padded_, element).strides;
                                        return static_cast<std::size_t>(padded_.bytes(element));
                                    });
    const std::shared_ptr<ContextCore> core =
        options.queue ? ContextCore::core_of(*options.queue) : runtime::current_core();
    const ContextCore::Visit visit(*core, "a host array");
    const unsigned queue = options.queue ? options.queue->index() : 0;
    storage_ = Storage::adopt(core, queue, core->allocate_host(core->device_of(queue), bytes), nullptr,
                              {.name = "a host array"});
}

AnyHostArray AnyHostArray::like(const AnyBuffer& buffer) {
    Storage& storage = runtime::storage_of(buffer);
    const ContextCore::Visit visit(storage.core(), storage);
    storage.check_usable();
    return AnyHostArray(
        buffer.dtype(), buffer.shape(),
        {.padded_shape = buffer.padded_shape(), .queue = storage.core().make_queue(storage.home(0))});
}

Storage& AnyHostArray::storage() const {
    if (storage_ == nullptr) {
        fail(ErrorCode::InvalidArgument, "a host array without memory was used",
             "a default-constructed or moved-from HostArray", "construct it with a shape first");
    }
    return *storage_;
}

std::byte* AnyHostArray::bytes() const {
    const ContextCore::Visit visit(storage().core(), storage());
    storage_->check_usable();
    return storage_->find(storage_->home(0))->memory()->host() + offset_;
}

AnyHostArray AnyHostArray::sub(const Selection& selection) const {
    static_cast<void>(storage());
    const Layout chosen = select(Layout{offset_, shape_, strides_}, selection, "a host array");
    AnyHostArray part = *this;
    part.shape_ = part.padded_ = chosen.shape;
    part.strides_ = chosen.strides;
    part.size_ = chosen.shape.elements();
    part.offset_ = chosen.offset;
    part.is_part_ = true;
    return part;
}

void AnyHostArray::check_type(DType expected) const {
    if (dtype_ == expected) return;
    fail(ErrorCode::TypeMismatch,
         cat("elements of type ", expected.name(), " were requested, but its type is ", dtype_.name()),
         "a host array", "use the array's type");
}

}  // namespace volley
