// The buffer handle: its properties, views and replicas. transfer.cpp moves its data.
#include "core/fail.hpp"
#include "core/layout.hpp"
#include "core/on_behalf_of.hpp"
#include "core/text.hpp"
#include "runtime/buffer_access.hpp"
#include "runtime/context_core.hpp"
#include "runtime/storage.hpp"

#include <volley/any_buffer.hpp>

#include <algorithm>
#include <array>
#include <span>

namespace volley {

using runtime::ContextCore;
using runtime::Storage;

namespace {

std::int64_t element_of(DType dtype) { return static_cast<std::int64_t>(dtype.size()); }

bool has_context_of(const Storage& storage, QueueRef queue) {
    return queue.queue() == nullptr || ContextCore::core_of(*queue.queue()).get() == &storage.core();
}

bool is_number_below(unsigned count, QueueRef queue) { return queue.index() >= 0 && queue.index() < count; }

/// Returns nullptr if the context has no such queue, or the queue no replica.
runtime::Replica* find_replica(Storage& storage, QueueRef queue) {
    if (!is_number_below(storage.core().queue_count(), queue)) return nullptr;
    return storage.find(static_cast<unsigned>(queue.index()));
}

}  // namespace

Shape detail::shape_of_buffer(std::initializer_list<Extent> extents, std::string_view name) {
    return on_behalf_of([&] { return name.empty() ? std::string("a buffer") : cat("buffer '", name, "'"); },
                        [&] { return Shape(extents); });
}

AnyBuffer::AnyBuffer(DType dtype, const Shape& shape, BufferOptions options)
    : dtype_(dtype), shape_(shape), id_(BufferId::mint()), name_(std::move(options.name)) {
    if (dtype.is_void()) {
        fail(ErrorCode::TypeMismatch, "a buffer needs an element type", name(), "use dtype_of<T>()");
    }
    on_behalf_of([this] { return name(); },
                 [&] {
                     if (options.padded_shape.rank() != 0) {
                         check_padding(shape, options.padded_shape);
                         padded_ = options.padded_shape;
                     }
                     size_ = shape.elements();
                     strides_ = row_major(shape, padded_shape(), element_of(dtype)).strides;
                     window_ = padded_shape().bytes(element_of(dtype));
                 });
    const std::shared_ptr<ContextCore>& core = runtime::current_core();
    core->check_open(name());
    storage_ = std::make_shared<Storage>(
        core, static_cast<std::uint64_t>(window_),
        runtime::StorageOptions{std::move(options.placement), options.zeroed, name()});
}

AnyBuffer::AnyBuffer(std::shared_ptr<runtime::Storage> storage, DType dtype, const Shape& shape,
                     const Strides& strides, std::string name, bool owns_window)
    : storage_(std::move(storage)),
      dtype_(dtype),
      shape_(shape),
      strides_(strides),
      size_(shape.elements()),
      window_(extent(Layout{0, shape, strides}, element_of(dtype))),
      owns_window_(owns_window),
      id_(BufferId::mint()),
      name_(std::move(name)) {}

void AnyBuffer::fail_empty() {
    fail(ErrorCode::InvalidArgument, "a buffer without storage was used",
         "a default-constructed or moved-from Buffer", "construct it with a shape first");
}

// ---- properties ----

std::string AnyBuffer::name() const {
    std::string base = name_.empty() ? cat("buffer ", id_.value()) : cat("buffer '", name_, "'");
    if (is_view_) base += cat(" (view of ", size_, " elements at byte ", offset_, ")");
    return base;
}

StorageId AnyBuffer::storage_id() const noexcept { return storage_ ? storage_->id() : StorageId(); }

bool AnyBuffer::is_contiguous() const noexcept {
    return is_dense(Layout{offset_, shape_, strides_}, element_of(dtype_));
}

void AnyBuffer::check_contiguous() const {
    if (is_contiguous()) return;
    fail(ErrorCode::InvalidView, "its elements are not contiguous",
         cat(name(), ", shape ", shape_.to_string(), ", strides ", strides_.to_string(), " bytes"),
         "use as_array(), or copy it into a buffer without padding");
}

void AnyBuffer::check_single() const {
    if (size_ == 1) return;
    fail(ErrorCode::SizeMismatch, cat("item() was called on a buffer of ", size_, " elements"), name(),
         "it requires exactly one: use read(), or item() of a view");
}

void AnyBuffer::check_type(DType expected) const {
    if (dtype_ == expected) return;
    fail(ErrorCode::TypeMismatch,
         cat("elements of type ", expected.name(), " were requested, but its type is ", dtype_.name()),
         name(), "use the buffer's type, or view_as() to reinterpret its bytes");
}

// ---- replicas ----

Placement AnyBuffer::placement() const { return storage().placement(); }
unsigned AnyBuffer::replica_count() const { return storage().replica_count(); }

unsigned AnyBuffer::queue_of_replica(unsigned r) const { return storage().home(r); }

bool AnyBuffer::exists_on(QueueRef queue) const {
    return has_context_of(storage(), queue) && find_replica(storage(), queue) != nullptr;
}

bool AnyBuffer::is_allocated(QueueRef queue) const {
    return exists_on(queue) && find_replica(storage(), queue)->memory() != nullptr;
}

unsigned AnyBuffer::queue_index(QueueRef queue) const {
    if (!has_context_of(storage(), queue)) {
        fail(ErrorCode::WrongContext, "a buffer was used through a queue of another context", name(),
             "use a queue of the context in which the buffer was created");
    }
    if (find_replica(storage(), queue) == nullptr) {
        const auto queues = storage().core().queue_count();
        fail(ErrorCode::IndexError, cat("there is no replica on queue ", queue.index()), name(),
             is_number_below(queues, queue)
                 ? cat("use a queue that has one: it has replicas on ", storage().place())
                 : cat("the context has ", queues, " queues, numbered from 0"));
    }
    return static_cast<unsigned>(queue.index());
}

void AnyBuffer::ensure_allocated() const {
    Storage& own = storage();
    const ContextCore::Visit visit(own.core(), own);
    own.check_usable();
    for (unsigned r = 0; r < own.replica_count(); ++r) static_cast<void>(own.allocate(own.home(r)));
}

void AnyBuffer::destroy() noexcept {
    if (storage_) storage_->destroy();
}

// ---- views ----

AnyBuffer AnyBuffer::make_view(DType dtype, const Shape& shape, const Strides& strides, std::int64_t offset,
                               std::int64_t window, bool owns_window) const {
    AnyBuffer view = *this;
    view.dtype_ = dtype;
    view.shape_ = shape;
    view.padded_ = Shape();
    view.strides_ = strides;
    view.size_ = shape.elements();
    view.offset_ = offset;
    view.window_ = window;
    view.owns_window_ = owns_window;
    view.is_view_ = true;
    view.id_ = BufferId::mint();
    return view;
}

AnyBuffer AnyBuffer::view(std::size_t offset, std::size_t count) const {
    static_cast<void>(storage());
    const std::uint64_t elements = runtime::window_elements(*this);
    if (offset > elements || count > elements - offset) {
        fail(ErrorCode::InvalidView, cat("a view of ", count, " elements at ", offset, " does not fit"),
             cat(name(), " of ", elements, " elements"), "offset + count must not exceed the buffer");
    }
    const Shape shape(count);
    const std::int64_t element = element_of(dtype_);
    return make_view(dtype_, shape, row_major_byte_strides(shape, element),
                     offset_ + static_cast<std::int64_t>(offset) * element,
                     static_cast<std::int64_t>(count) * element, true);
}

AnyBuffer AnyBuffer::view_as(DType dtype) const {
    static_cast<void>(storage());
    if (dtype.is_void()) {
        fail(ErrorCode::TypeMismatch, "a view needs an element type", name(), "use dtype_of<T>()");
    }
    const std::size_t past = storage().misalignment();
    if ((past + offset()) % dtype.align() != 0) {
        fail(ErrorCode::InvalidView,
             cat("a view as ", dtype.name(), " would be misaligned: it starts at byte ", offset_,
                 past == 0 ? "" : cat(" of memory that starts ", past, " bytes after a multiple of 64")),
             name(),
             cat("choose an offset at which elements start at a multiple of ", dtype.align(), " bytes"));
    }
    const std::int64_t old_size = element_of(dtype_);
    const std::int64_t new_size = element_of(dtype);
    // Strides are kept if they are multiples of the new type's alignment. Length-1 axes do not matter.
    if (old_size == new_size) {
        for (int d = 0; d < strides_.rank(); ++d) {
            if (shape_[d] > 1 && strides_[d] % static_cast<std::int64_t>(dtype.align()) != 0) {
                fail(ErrorCode::InvalidView, cat("a view as ", dtype.name(), " would be misaligned"), name(),
                     "use a buffer whose strides are multiples of that type's alignment");
            }
        }
        AnyBuffer view = make_view(dtype, shape_, strides_, offset_, window_, owns_window_);
        view.padded_ = padded_;
        return view;
    }
    const auto fail_size = [&](std::int64_t bytes) {
        fail(ErrorCode::InvalidView,
             cat(bytes, " bytes are not a whole number of elements of type ", dtype.name()), name(),
             cat("take a view of a multiple of ", new_size, " bytes first"));
    };
    if (is_contiguous() && shape_.rank() > 0) {
        std::array<std::int64_t, max_rank> extents{};
        std::copy(shape_.begin(), shape_.end(), extents.begin());
        const std::span<std::int64_t> used(extents.data(), static_cast<std::size_t>(shape_.rank()));
        const std::int64_t bytes = used.back() * old_size;
        if (bytes % new_size != 0) fail_size(bytes);
        used.back() = bytes / new_size;
        const Shape shape(used);
        return make_view(dtype, shape, row_major_byte_strides(shape, new_size), offset_,
                         static_cast<std::int64_t>(this->bytes()), owns_window_);
    }
    if (window_ % new_size != 0) fail_size(window_);
    const Shape shape(window_ / new_size);
    return make_view(dtype, shape, row_major_byte_strides(shape, new_size), offset_, window_, true);
}

AnyBuffer AnyBuffer::sub(const Selection& selection) const {
    static_cast<void>(storage());
    const Layout part = select(Layout{offset_, shape_, strides_}, selection, name());
    const bool dense = is_dense(part, element_of(dtype_));
    return make_view(dtype_, part.shape, part.strides, part.offset, extent(part, element_of(dtype_)), dense);
}

AnyBuffer AnyBuffer::reshape(const Shape& shape) const {
    static_cast<void>(storage());
    const std::int64_t elements = on_behalf_of([this] { return name(); }, [&] { return shape.elements(); });
    if (elements != size_) {
        fail(ErrorCode::SizeMismatch,
             cat("shape ", shape.to_string(), " has ", elements, " elements, but the buffer has ", size_),
             name(), "use a shape with the same number of elements");
    }
    check_contiguous();
    return make_view(dtype_, shape, row_major_byte_strides(shape, element_of(dtype_)), offset_,
                     static_cast<std::int64_t>(bytes()), owns_window_);
}

}  // namespace volley
