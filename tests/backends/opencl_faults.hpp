// Faults of OpenCL drivers.
#pragma once

#include "backends/driver_faults.hpp"
#include "backends/opencl/opencl_device.hpp"

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

namespace volley::backends::opencl {

class OpenClFaults final : public testing::DriverFaults {
public:
    explicit OpenClFaults(OpenClDevice& device) {
        success = CL_SUCCESS;
        lost = CL_DEVICE_NOT_AVAILABLE;
        out_of_memory = {CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY, CL_MEM_OBJECT_ALLOCATION_FAILURE};
        enqueue_result = marker_result = CL_SUCCESS;
        event_status = CL_COMPLETE;
        frozen = false;
        Api& cl = device.logical().cl;
        real_enqueue = std::exchange(cl.EnqueueNDRangeKernel, enqueue);
        real_marker = std::exchange(cl.EnqueueMarkerWithWaitList, marker);
        real_event_info = std::exchange(cl.GetEventInfo, event_info);
        real_set_callback = std::exchange(cl.SetEventCallback, set_callback);
    }
    ~OpenClFaults() override { OpenClFaults::thaw(); }
    void set_submit_result(int result) override { enqueue_result = result; }
    void freeze() override { frozen = true; }
    void thaw() override {
        frozen = false;
        const std::scoped_lock lock(callbacks_mutex);
        for (const auto& [function, data] : callbacks) function(nullptr, CL_COMPLETE, data);
        callbacks.clear();
    }

    static inline std::atomic<cl_int> marker_result{CL_SUCCESS};
    static inline std::atomic<cl_int> event_status{CL_COMPLETE};  // of events of completed commands

private:
    using Callback = void(CL_CALLBACK*)(cl_event, cl_int, void*);

    static cl_int CL_API_CALL enqueue(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                      const std::size_t* offset, const std::size_t* global,
                                      const std::size_t* local, cl_uint count, const cl_event* list,
                                      cl_event* event) {
        const cl_int result = enqueue_result.load();
        if (result != CL_SUCCESS) return result;
        return real_enqueue(queue, kernel, dimensions, offset, global, local, count, list, event);
    }
    static cl_int CL_API_CALL marker(cl_command_queue queue, cl_uint count, const cl_event* list,
                                     cl_event* event) {
        const cl_int result = marker_result.load();
        return result == CL_SUCCESS ? real_marker(queue, count, list, event) : result;
    }
    static cl_int CL_API_CALL event_info(cl_event event, cl_event_info what, std::size_t size, void* value,
                                         std::size_t* written) {
        const cl_int result = real_event_info(event, what, size, value, written);
        if (what != CL_EVENT_COMMAND_EXECUTION_STATUS || result != CL_SUCCESS) return result;
        auto& status = *static_cast<cl_int*>(value);
        if (frozen) {
            status = CL_RUNNING;
        } else if (status == CL_COMPLETE) {
            status = event_status;
        }
        return result;
    }
    /// While frozen, keeps callbacks uncalled, like a driver whose device has stopped.
    static cl_int CL_API_CALL set_callback(cl_event event, cl_int status, Callback function, void* data) {
        if (!frozen) return real_set_callback(event, status, function, data);
        const std::scoped_lock lock(callbacks_mutex);
        callbacks.emplace_back(function, data);
        return CL_SUCCESS;
    }

    static inline std::atomic<cl_int> enqueue_result{CL_SUCCESS};
    static inline std::atomic<bool> frozen{false};
    static inline std::mutex callbacks_mutex;
    static inline std::vector<std::pair<Callback, void*>> callbacks;
    static inline decltype(Api::EnqueueNDRangeKernel) real_enqueue = nullptr;
    static inline decltype(Api::EnqueueMarkerWithWaitList) real_marker = nullptr;
    static inline decltype(Api::GetEventInfo) real_event_info = nullptr;
    static inline decltype(Api::SetEventCallback) real_set_callback = nullptr;
};

}  // namespace volley::backends::opencl
