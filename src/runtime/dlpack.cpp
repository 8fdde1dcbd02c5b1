// Conversion between buffers and DLPack tensors in host memory.
#include "core/fail.hpp"
#include "core/on_behalf_of.hpp"
#include "core/text.hpp"
#include "runtime/buffer_access.hpp"
#include "runtime/context_core.hpp"
#include "runtime/import.hpp"
#include "runtime/storage.hpp"

#include <volley/interchange.hpp>

#if VOLLEY_HAS_DLPACK

#include <dlpack/dlpack.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <vector>

namespace volley {
namespace {

// ---- export ----

/// A tensor and what it owns. The replica's memory stays valid even if the buffer or its context is
/// destroyed.
struct Exported {
    DLManagedTensor tensor{};
    std::shared_ptr<runtime::Storage> storage;
    runtime::Replica* replica = nullptr;
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> strides;

    Exported() = default;
    Exported(const Exported&) = delete;
    Exported& operator=(const Exported&) = delete;
    ~Exported() {
        if (replica != nullptr) replica->take_back();
    }
};

struct Code {
    ScalarType scalar;
    std::uint8_t code;
};
// Used in both directions: the code and the scalar's size determine the type. Bool is exported as a byte and
// never imported: U8 comes first.
constexpr Code codes[] = {
    {ScalarType::I8, kDLInt},    {ScalarType::I16, kDLInt},   {ScalarType::I32, kDLInt},
    {ScalarType::I64, kDLInt},   {ScalarType::U8, kDLUInt},   {ScalarType::U16, kDLUInt},
    {ScalarType::U32, kDLUInt},  {ScalarType::U64, kDLUInt},  {ScalarType::F16, kDLFloat},
    {ScalarType::F32, kDLFloat}, {ScalarType::F64, kDLFloat}, {ScalarType::Bool, kDLUInt},
};

DLDataType tensor_type(DType dtype) {
    const bool complex = dtype.is_complex();
    const auto known = std::find_if(std::begin(codes), std::end(codes),
                                    [&](const Code& entry) { return entry.scalar == dtype.scalar(); });
    DLDataType type{};
    type.code = complex ? std::uint8_t{kDLComplex} : known->code;
    type.bits = static_cast<std::uint8_t>(8 * size_of(dtype.scalar()) * (complex ? 2 : 1));
    type.lanes = 1;
    return type;
}

// ---- import ----

std::optional<DType> dtype_of_tensor(DLDataType type) {
    const bool complex = type.code == kDLComplex;
    const unsigned parts = complex ? 2 : 1;
    const std::uint8_t code = complex ? std::uint8_t{kDLFloat} : type.code;
    for (const Code& entry : codes) {
        if (entry.code != code || 8 * size_of(entry.scalar) * parts != type.bits || type.lanes != 1) continue;
        return complex ? DType::complex(entry.scalar) : DType(entry.scalar);
    }
    return std::nullopt;
}

/// A tensor that Volley owns.
struct Kept {
    std::shared_ptr<const void> owner;
    DLManagedTensor* tensor = nullptr;
    Kept() = default;
    Kept(const Kept&) = delete;
    Kept& operator=(const Kept&) = delete;
    ~Kept() {
        if (tensor != nullptr && tensor->deleter != nullptr) tensor->deleter(tensor);
    }
};

std::string subject_of(const ImportOptions& options) {
    return options.name.empty() ? std::string("a DLPack tensor") : cat("buffer '", options.name, "'");
}

[[noreturn]] void refuse(ErrorCode code, std::string_view what, const ImportOptions& options) {
    fail(code, what, subject_of(options), "make a dense copy in host memory, or write() it to a buffer");
}

/// Returns the tensor's strides in bytes.
Strides strides_of(const DLTensor& given, const Layout& dense, std::int64_t element,
                   const ImportOptions& options) {
    if (dense.shape.elements() == 0) return dense.strides;
    const auto checked = [&](auto&& f) { return on_behalf_of([&] { return subject_of(options); }, f); };
    std::array<std::int64_t, max_rank> strides{};
    std::int64_t inner = element;  // bytes that one entry of the axis spans
    const auto rank = static_cast<std::size_t>(given.ndim);
    for (std::size_t d = rank; d-- > 0;) {
        const std::int64_t extent = given.shape[d];
        strides[d] = inner;
        if (extent == 1) continue;
        const bool forward = given.strides[d] > 0;
        if (forward)
            strides[d] = checked([&] { return checked_multiply(given.strides[d], element, "a stride"); });
        if (!forward || strides[d] < inner)
            refuse(ErrorCode::InvalidArgument, "the tensor's strides are not row-major", options);
        constexpr std::string_view size = "the tensor's size";
        inner =
            checked([&] { return checked_add(checked_multiply(extent - 1, strides[d], size), inner, size); });
    }
    return Strides(std::span<const std::int64_t>(strides.data(), rank));
}

}  // namespace

DLManagedTensor* to_dlpack(const AnyBuffer& buffer, QueueRef queue) {
    AnyBuffer handle = buffer;
    const runtime::ContextCore::Visit visit(runtime::storage_of(handle).core(), runtime::storage_of(handle));
    const DType dtype = buffer.dtype();
    if (!dtype.is_scalar() && !dtype.is_complex() && !dtype.is_vector()) {
        fail(ErrorCode::TypeMismatch, cat("DLPack has no type for elements of ", dtype.name()), buffer.name(),
             "view it as its scalars: view_as<float>()");
    }
    auto exported = std::make_unique<Exported>();
    DLTensor& tensor = exported->tensor.dl_tensor;
    tensor.dtype = tensor_type(dtype);
    const auto unit = static_cast<std::int64_t>(tensor.dtype.bits / 8);
    exported->shape.assign(buffer.shape().begin(), buffer.shape().end());
    for (const std::int64_t stride : buffer.strides()) exported->strides.push_back(stride / unit);
    if (dtype.is_vector()) {
        exported->shape.push_back(static_cast<std::int64_t>(dtype.count()));
        exported->strides.push_back(1);
    }
    tensor.data = handle.as_host_bytes(queue).data();
    tensor.device.device_type = kDLCPU;
    tensor.ndim = static_cast<int>(exported->shape.size());
    tensor.shape = exported->shape.data();
    tensor.strides = exported->strides.data();
    exported->storage = runtime::shared_storage_of(handle);
    exported->replica = exported->storage->find(runtime::queue_index(handle, queue));
    exported->replica->lend();
    exported->tensor.manager_ctx = exported.get();
    exported->tensor.deleter = [](DLManagedTensor* self) {
        const std::unique_ptr<Exported> owner(static_cast<Exported*>(self->manager_ctx));
    };
    return &exported.release()->tensor;
}

AnyBuffer from_dlpack(DLManagedTensor* tensor, ImportOptions options) {
    if (tensor == nullptr) refuse(ErrorCode::InvalidArgument, "the tensor is a null pointer", options);
    const DLTensor& given = tensor->dl_tensor;
    if (given.device.device_type != kDLCPU)
        refuse(ErrorCode::NotHostAccessible, "the tensor is not in host memory", options);
    const std::optional<DType> dtype = dtype_of_tensor(given.dtype);
    if (!dtype) {
        refuse(ErrorCode::TypeMismatch,
               cat("the tensor has elements of code ", int{given.dtype.code}, " with ", int{given.dtype.bits},
                   " bits and ", given.dtype.lanes, " lanes, which buffers do not support"),
               options);
    }
    if (given.ndim < 0 || given.ndim > max_rank)
        refuse(ErrorCode::InvalidShape, cat("the tensor has ", given.ndim, " dimensions"), options);
    const auto element = static_cast<std::int64_t>(dtype->size());
    const auto rank = static_cast<std::size_t>(given.ndim);
    if (rank != 0 && given.shape == nullptr)
        refuse(ErrorCode::InvalidArgument, "the tensor's shape is a null pointer", options);
    Layout layout = on_behalf_of([&] { return subject_of(options); },
                                 [&] {
                                     const Shape shape(std::span<const std::int64_t>(given.shape, rank));
                                     return row_major(shape, shape, element);
                                 });
    if (given.strides != nullptr) layout.strides = strides_of(given, layout, element, options);
    const auto bytes = static_cast<std::size_t>(extent(layout, element));
    if (given.data == nullptr && bytes != 0)
        refuse(ErrorCode::InvalidArgument, "the tensor's data is a null pointer", options);
    auto* data = bytes == 0 ? nullptr : static_cast<std::byte*>(given.data) + given.byte_offset;
    const auto kept = std::make_shared<Kept>();
    kept->owner = std::move(options.owner);
    options.owner = kept;
    AnyBuffer buffer = runtime::import_bytes(*dtype, layout, {data, bytes}, std::move(options));
    kept->tensor = tensor;  // owned from here on
    return buffer;
}

}  // namespace volley

#else

namespace volley {
namespace {

[[noreturn]] void fail_without() {
    fail(ErrorCode::Unsupported, "this build has no DLPack support", "to_dlpack and from_dlpack",
         "install libdlpack-dev and rebuild Volley");
}

}  // namespace

DLManagedTensor* to_dlpack(const AnyBuffer& /*buffer*/, QueueRef /*queue*/) { fail_without(); }
AnyBuffer from_dlpack(DLManagedTensor* /*tensor*/, ImportOptions /*options*/) { fail_without(); }

}  // namespace volley

#endif
