// Holds a reference to the driver's object until the memory is destroyed.
#include "backends/opencl/opencl_import.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"

#include <string_view>
#include <utility>
#include <variant>

namespace volley::backends::opencl {
namespace {

[[noreturn]] void refuse(const LogicalDevice& device, std::string_view why, std::string_view advice) {
    fail(ErrorCode::InvalidArgument, cat("the cl_mem cannot be imported: ", why), device.name(), advice);
}

template <class T>
T info_of(LogicalDevice& device, cl_mem buffer, cl_mem_info what) {
    T value{};
    // NOLINTNEXTLINE(bugprone-sizeof-expression): handles are pointers, and their size is intended
    device.check(device.cl.GetMemObjectInfo(buffer, what, sizeof value, &value, nullptr),
                 "clGetMemObjectInfo");
    return value;
}

}  // namespace

std::unique_ptr<OpenClMemory> import_host(std::shared_ptr<LogicalDevice> device, std::span<std::byte> bytes,
                                          bool share) {
    device->check_lost();
    if (const std::uint64_t most = device->physical().max_allocation; bytes.size() > most) {
        fail(ErrorCode::Unsupported,
             cat("host memory cannot be imported: it has ", bytes.size(),
                 " bytes, but a buffer can have at most ", most),
             device->name(), "import it in parts, or copy it into buffers with write()");
    }
    cl_int result = CL_SUCCESS;
    ForeignBuffer foreign;
    foreign.buffer = device->cl.CreateBuffer(device->context(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                             bytes.size(), bytes.data(), &result);
    device->check(result, "clCreateBuffer");
    if (share && device->physical().shares_any_memory) foreign.host = bytes.data();
    return std::make_unique<OpenClMemory>(std::move(device), foreign, bytes.size());
}

std::unique_ptr<OpenClMemory> import_native(std::shared_ptr<LogicalDevice> device,
                                            const NativeBuffer& buffer) {
    device->check_lost();
    const auto* given = std::get_if<OpenClBuffer>(&buffer);
    if (given == nullptr) {
        fail(ErrorCode::Unsupported, "buffers of another driver cannot be imported", device->name(),
             "import a cl_mem of this device's cl_context");
    }
    if (given->buffer == nullptr) refuse(*device, "it is null", "create the buffer first");
    if (given->bytes == 0) refuse(*device, "the requested range is empty", "request at least one byte");
    auto* whole = static_cast<cl_mem>(given->buffer);
    if (info_of<cl_context>(*device, whole, CL_MEM_CONTEXT) != device->context())
        refuse(*device, "it belongs to another cl_context",
               "create it in the context that native() of the device returns");
    if (info_of<cl_mem_object_type>(*device, whole, CL_MEM_TYPE) != CL_MEM_OBJECT_BUFFER)
        refuse(*device, "it is not a buffer", "copy the image into a buffer");
    const auto size = info_of<std::size_t>(*device, whole, CL_MEM_SIZE);
    if (given->offset > size || given->bytes > size - given->offset) {
        refuse(
            *device,
            cat("the range of ", given->bytes, " bytes at ", given->offset, " exceeds its ", size, " bytes"),
            "request a range inside it");
    }
    // Sub-buffers cannot be divided again, so use the parent buffer.
    ForeignBuffer foreign{whole, given->offset, nullptr};
    if (auto* parent = info_of<cl_mem>(*device, whole, CL_MEM_ASSOCIATED_MEMOBJECT); parent != nullptr) {
        foreign.buffer = parent;
        foreign.offset += info_of<std::size_t>(*device, whole, CL_MEM_OFFSET);
    }
    device->check(device->cl.RetainMemObject(foreign.buffer), "clRetainMemObject");
    return std::make_unique<OpenClMemory>(std::move(device), foreign, given->bytes);
}

}  // namespace volley::backends::opencl
