// A reference of our own keeps the driver's object until the memory ends.
#include "backends/opencl/opencl_import.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"

#include <string_view>
#include <utility>
#include <variant>

namespace volley::backends::opencl {
namespace {

[[noreturn]] void refuse(const LogicalDevice& device, std::string_view why, std::string_view advice) {
    fail(ErrorCode::InvalidArgument, cat("a cl_mem cannot be used as memory: ", why), device.name(), advice);
}

template <class T>
T info_of(LogicalDevice& device, cl_mem buffer, cl_mem_info what) {
    T value{};
    // NOLINTNEXTLINE(bugprone-sizeof-expression): handles are pointers, and it is their size
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
             cat("the caller's memory cannot be used without a copy: it has ", bytes.size(),
                 " bytes, and one buffer at most ", most),
             device->name(), "import it in parts, or write() it into buffers");
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
        fail(ErrorCode::Unsupported, "an object of another driver cannot be used as memory", device->name(),
             "import a cl_mem of the device's own cl_context");
    }
    if (given->buffer == nullptr) refuse(*device, "it is null", "make the buffer first");
    if (given->bytes == 0) refuse(*device, "0 bytes of it were asked for", "import at least one");
    auto* whole = static_cast<cl_mem>(given->buffer);
    if (info_of<cl_context>(*device, whole, CL_MEM_CONTEXT) != device->context())
        refuse(*device, "it is of another cl_context", "make it in the context that the device gives");
    if (info_of<cl_mem_object_type>(*device, whole, CL_MEM_TYPE) != CL_MEM_OBJECT_BUFFER)
        refuse(*device, "it is no buffer", "copy the image into a buffer");
    const auto size = info_of<std::size_t>(*device, whole, CL_MEM_SIZE);
    if (given->offset > size || given->bytes > size - given->offset) {
        refuse(*device, cat(given->bytes, " bytes at ", given->offset, " were asked for, and it has ", size),
               "import a part of it");
    }
    // A part of a buffer has no parts of its own, so what counts is the whole.
    ForeignBuffer foreign{whole, given->offset, nullptr};
    if (auto* parent = info_of<cl_mem>(*device, whole, CL_MEM_ASSOCIATED_MEMOBJECT); parent != nullptr) {
        foreign.buffer = parent;
        foreign.offset += info_of<std::size_t>(*device, whole, CL_MEM_OFFSET);
    }
    device->check(device->cl.RetainMemObject(foreign.buffer), "clRetainMemObject");
    return std::make_unique<OpenClMemory>(std::move(device), foreign, given->bytes);
}

}  // namespace volley::backends::opencl
