// Creates and releases a context, and maps error codes to exceptions.
#include "backends/opencl/opencl_logical.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/log.hpp>

#include <bit>

namespace volley::backends::opencl {

LogicalDevice::LogicalDevice(const Api& api, const PhysicalDevice& physical) : cl(api), physical_(physical) {
    const cl_context_properties properties[] = {
        CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(physical_.platform), 0};
    cl_int result = CL_SUCCESS;
    context_ = cl.CreateContext(static_cast<const cl_context_properties*>(properties), 1, &physical_.handle,
                                nullptr, nullptr, &result);
    check(result, "clCreateContext");
}

LogicalDevice::~LogicalDevice() { cl.ReleaseContext(context_); }

cl_command_queue LogicalDevice::make_queue(bool timed) {
    check_lost();
    cl_int result = CL_SUCCESS;
    cl_command_queue queue = nullptr;
    if (physical_.version >= 200 && cl.CreateCommandQueueWithProperties != nullptr) {
        const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
        queue = cl.CreateCommandQueueWithProperties(context_, physical_.handle,
                                                    timed ? &properties[0] : nullptr, &result);
        check(result, "clCreateCommandQueueWithProperties");
    } else {
        queue =
            cl.CreateCommandQueue(context_, physical_.handle, timed ? CL_QUEUE_PROFILING_ENABLE : 0, &result);
        check(result, "clCreateCommandQueue");
    }
    return queue;
}

unsigned LogicalDevice::take_slot() {
    const std::scoped_lock lock(mutex_);
    const auto slot = static_cast<unsigned>(std::countr_one(slots_));
    if (slot >= max_queues) {
        fail(ErrorCode::InvalidArgument, "too many queues are in use", name(),
             cat("destroy unused ones; a device supports at most ", max_queues, " at a time"));
    }
    slots_ |= std::uint64_t{1} << slot;
    return slot;
}

void LogicalDevice::give_back_slot(unsigned slot) noexcept {
    const std::scoped_lock lock(mutex_);
    slots_ &= ~(std::uint64_t{1} << slot);
}

void LogicalDevice::fail_lost() const {
    fail(ErrorCode::DeviceLost, "the driver reported the device as lost", name(),
         "create a new context, and check the system log for the reason; other devices are unaffected");
}

void LogicalDevice::fail_call(cl_int result, std::string_view call) {
    if (means_lost(result)) {
        if (!lost()) log_message(LogLevel::Error, cat(name(), " was lost during ", call));
        mark_lost();
        fail_lost();
    }
    const std::string what = cat(call, " failed with ", result_text(result), " (", result, ")");
    if (result == CL_OUT_OF_HOST_MEMORY || result == CL_MEM_OBJECT_ALLOCATION_FAILURE ||
        result == CL_OUT_OF_RESOURCES)
        fail(ErrorCode::OutOfMemory, what, name(), "free buffers, or wait for pending work");
    fail(ErrorCode::Unsupported, what, name(), "update the driver, or use another device");
}

}  // namespace volley::backends::opencl
