// OpenCL declarations. Nothing is linked: the ICD loader is opened at run time, and its functions are stored
// in a table, which each device copies (opencl_logical.hpp).
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS  // clCreateCommandQueue: platforms before 2.0 have no other
#include <CL/cl.h>

#include <string>
#include <string_view>

namespace volley::backends::opencl {

// Functions that every loader has since OpenCL 1.2, and optional ones, whose entries may be null.
#define VOLLEY_OPENCL_CORE(F)     \
    F(GetPlatformIDs)             \
    F(GetPlatformInfo)            \
    F(GetDeviceIDs)               \
    F(GetDeviceInfo)              \
    F(CreateContext)              \
    F(ReleaseContext)             \
    F(CreateCommandQueue)         \
    F(ReleaseCommandQueue)        \
    F(CreateBuffer)               \
    F(CreateSubBuffer)            \
    F(RetainMemObject)            \
    F(ReleaseMemObject)           \
    F(GetMemObjectInfo)           \
    F(CreateProgramWithSource)    \
    F(CreateProgramWithBinary)    \
    F(BuildProgram)               \
    F(GetProgramBuildInfo)        \
    F(GetProgramInfo)             \
    F(ReleaseProgram)             \
    F(CreateKernel)               \
    F(ReleaseKernel)              \
    F(GetKernelInfo)              \
    F(GetKernelArgInfo)           \
    F(GetKernelWorkGroupInfo)     \
    F(SetKernelArg)               \
    F(EnqueueNDRangeKernel)       \
    F(EnqueueReadBuffer)          \
    F(EnqueueWriteBuffer)         \
    F(EnqueueCopyBuffer)          \
    F(EnqueueReadBufferRect)      \
    F(EnqueueWriteBufferRect)     \
    F(EnqueueCopyBufferRect)      \
    F(EnqueueFillBuffer)          \
    F(EnqueueMapBuffer)           \
    F(EnqueueUnmapMemObject)      \
    F(EnqueueMarkerWithWaitList)  \
    F(EnqueueBarrierWithWaitList) \
    F(GetEventInfo)               \
    F(GetEventProfilingInfo)      \
    F(RetainEvent)                \
    F(ReleaseEvent)               \
    F(SetEventCallback)           \
    F(WaitForEvents)              \
    F(Flush)                      \
    F(Finish)
#define VOLLEY_OPENCL_LATER(F)          \
    F(CreateCommandQueueWithProperties) \
    F(SVMAlloc)                         \
    F(SVMFree)                          \
    F(SetKernelArgSVMPointer)

struct Api {
#define VOLLEY_OPENCL_ENTRY(name) decltype(&::cl##name) name = nullptr;
    VOLLEY_OPENCL_CORE(VOLLEY_OPENCL_ENTRY)
    VOLLEY_OPENCL_LATER(VOLLEY_OPENCL_ENTRY)
#undef VOLLEY_OPENCL_ENTRY
};

/// Opens the loader, libOpenCL.so.1 or VOLLEY_OPENCL_LOADER, on the first call. It stays open because drivers
/// keep threads that run its code. Returns null if there is none and sets `why` to the reason.
[[nodiscard]] const Api* open_api(std::string& why);

/// Returns the name of an error code, such as "CL_OUT_OF_RESOURCES".
[[nodiscard]] std::string_view result_text(cl_int result) noexcept;

}  // namespace volley::backends::opencl
