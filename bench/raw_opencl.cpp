// Calls OpenCL through its C API.
#include "raw_opencl.hpp"

#if defined(VOLLEY_BENCH_OPENCL)

#include <CL/cl.h>

#include <memory>
#include <stdexcept>
#include <vector>

namespace volley::bench {
namespace {

void need(cl_int status, const char* call) {
    if (status != CL_SUCCESS)
        throw std::runtime_error(std::string(call) + " failed with " + std::to_string(status));
}

std::string text_of(cl_platform_id platform, cl_platform_info what) {
    std::size_t size = 0;
    need(clGetPlatformInfo(platform, what, 0, nullptr, &size), "clGetPlatformInfo");
    std::string text(size, '\0');
    need(clGetPlatformInfo(platform, what, size, text.data(), nullptr), "clGetPlatformInfo");
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
}

cl_device_id find_device() {
    cl_uint count = 0;
    if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0) return nullptr;
    std::vector<cl_platform_id> platforms(count);
    need(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
    for (const cl_platform_id platform : platforms) {
        if (text_of(platform, CL_PLATFORM_NAME) != "Portable Computing Language") continue;
        cl_device_id device = nullptr;
        if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, nullptr) == CL_SUCCESS) return device;
    }
    return nullptr;
}

}  // namespace

void ClKernel::set(unsigned number, const ClBuffer& buffer) {
    cl_mem memory = buffer.get();
    set_bytes(number, sizeof memory, &memory);
}

void ClKernel::set_bytes(unsigned number, std::size_t size, const void* value) {
    need(clSetKernelArg(kernel_.get(), number, size, value), "clSetKernelArg");
}

ClDevice::ClDevice(cl_device_id device) : device_(device) {
    cl_int status = 0;
    context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &status);
    need(status, "clCreateContext");
    queue_ = clCreateCommandQueueWithProperties(context_, device_, nullptr, &status);
    need(status, "clCreateCommandQueueWithProperties");
}

ClDevice::~ClDevice() {
    clReleaseCommandQueue(queue_);
    clReleaseContext(context_);
}

std::string ClDevice::version() const {
    cl_platform_id platform = nullptr;
    need(clGetDeviceInfo(device_, CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr),
         "clGetDeviceInfo");
    return text_of(platform, CL_PLATFORM_VERSION);
}

ClBuffer ClDevice::wrap(void* memory, std::size_t bytes) {
    cl_int status = 0;
    cl_mem buffer = clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, memory, &status);
    need(status, "clCreateBuffer");
    return {buffer, [](_cl_mem* one) { clReleaseMemObject(one); }};
}

ClBuffer ClDevice::pinned(std::size_t bytes, void** host) {
    cl_int status = 0;
    cl_mem buffer =
        clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, nullptr, &status);
    need(status, "clCreateBuffer");
    ClBuffer owned(buffer, [](_cl_mem* one) { clReleaseMemObject(one); });
    *host = clEnqueueMapBuffer(queue_, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, nullptr,
                               nullptr, &status);
    need(status, "clEnqueueMapBuffer");
    return owned;
}

void ClDevice::write(const ClBuffer& to, const void* from, std::size_t bytes) {
    need(clEnqueueWriteBuffer(queue_, to.get(), CL_TRUE, 0, bytes, from, 0, nullptr, nullptr),
         "clEnqueueWriteBuffer");
}

void ClDevice::read(void* to, const ClBuffer& from, std::size_t bytes) {
    need(clEnqueueReadBuffer(queue_, from.get(), CL_TRUE, 0, bytes, to, 0, nullptr, nullptr),
         "clEnqueueReadBuffer");
}

void ClDevice::copy_rect(const ClBuffer& to, const ClBuffer& from, const ClRect& rect) {
    need(clEnqueueCopyBufferRect(queue_, from.get(), to.get(), rect.from.data(), rect.to.data(),
                                 rect.region.data(), rect.from_pitch[0], rect.from_pitch[1], rect.to_pitch[0],
                                 rect.to_pitch[1], 0, nullptr, nullptr),
         "clEnqueueCopyBufferRect");
    finish();
}

void ClDevice::write_rect(const ClBuffer& to, const void* from, const ClRect& rect) {
    need(clEnqueueWriteBufferRect(queue_, to.get(), CL_TRUE, rect.to.data(), rect.from.data(),
                                  rect.region.data(), rect.to_pitch[0], rect.to_pitch[1], rect.from_pitch[0],
                                  rect.from_pitch[1], from, 0, nullptr, nullptr),
         "clEnqueueWriteBufferRect");
}

void ClDevice::read_rect(void* to, const ClBuffer& from, const ClRect& rect) {
    need(clEnqueueReadBufferRect(queue_, from.get(), CL_TRUE, rect.from.data(), rect.to.data(),
                                 rect.region.data(), rect.from_pitch[0], rect.from_pitch[1], rect.to_pitch[0],
                                 rect.to_pitch[1], to, 0, nullptr, nullptr),
         "clEnqueueReadBufferRect");
}

ClProgram ClDevice::build(const std::string& source, const std::string& options) {
    const char* text = source.c_str();
    cl_int status = 0;
    cl_program program = clCreateProgramWithSource(context_, 1, &text, nullptr, &status);
    need(status, "clCreateProgramWithSource");
    ClProgram owned(program, [](_cl_program* one) { clReleaseProgram(one); });
    need(clBuildProgram(program, 1, &device_, options.c_str(), nullptr, nullptr), "clBuildProgram");
    return owned;
}

ClKernel ClDevice::kernel(const std::string& source, const std::string& name, const std::string& options) {
    ClKernel made;
    made.program_ = build(source, options);
    cl_int status = 0;
    cl_kernel kernel = clCreateKernel(made.program_.get(), name.c_str(), &status);
    need(status, "clCreateKernel");
    made.kernel_ = {kernel, [](_cl_kernel* one) { clReleaseKernel(one); }};
    return made;
}

void ClDevice::enqueue(const ClKernel& kernel, std::size_t global, std::size_t local) {
    need(clEnqueueNDRangeKernel(queue_, kernel.get(), 1, nullptr, &global, local == 0 ? nullptr : &local, 0,
                                nullptr, nullptr),
         "clEnqueueNDRangeKernel");
}

void ClDevice::finish() { need(clFinish(queue_), "clFinish"); }

ClDevice* pocl() {
    static const std::unique_ptr<ClDevice> device = [] {
        cl_device_id found = find_device();
        return found == nullptr ? nullptr : std::make_unique<ClDevice>(found);
    }();
    return device.get();
}

std::string_view missing_pocl() { return "PoCL was not found: install pocl-opencl-icd"; }

}  // namespace volley::bench

#else

namespace volley::bench {

void ClKernel::set(unsigned, const ClBuffer&) {}
void ClKernel::set_bytes(unsigned, std::size_t, const void*) {}
ClDevice::ClDevice(_cl_device_id* device) : device_(device) {}
ClDevice::~ClDevice() = default;
std::string ClDevice::version() const { return {}; }
ClBuffer ClDevice::wrap(void*, std::size_t) { return {}; }
ClBuffer ClDevice::pinned(std::size_t, void**) { return {}; }
void ClDevice::write(const ClBuffer&, const void*, std::size_t) {}
void ClDevice::read(void*, const ClBuffer&, std::size_t) {}
void ClDevice::copy_rect(const ClBuffer&, const ClBuffer&, const ClRect&) {}
void ClDevice::write_rect(const ClBuffer&, const void*, const ClRect&) {}
void ClDevice::read_rect(void*, const ClBuffer&, const ClRect&) {}
ClProgram ClDevice::build(const std::string&, const std::string&) { return {}; }
ClKernel ClDevice::kernel(const std::string&, const std::string&, const std::string&) { return {}; }
void ClDevice::enqueue(const ClKernel&, std::size_t, std::size_t) {}
void ClDevice::finish() {}
ClDevice* pocl() { return nullptr; }
std::string_view missing_pocl() {
    return "built without OpenCL: install ocl-icd-opencl-dev and pocl-opencl-icd";
}

}  // namespace volley::bench

#endif
