// Imports of host memory and of the application's cl_mem objects into an OpenCL device, and drivers that
// reject them.
#include "backends/opencl_support.hpp"
#include "support/expect_error.hpp"

#include <volley/native.hpp>

#include <array>
#include <chrono>
#include <thread>
#include <utility>
#include <variant>

namespace volley::backends::opencl {
namespace {

class OpenClImportTest : public OpenClTest {
protected:
    void SetUp() override {
        OpenClTest::SetUp();
        if (IsSkipped()) return;
        device = open_first();
        queue = device->make_queue();
        const auto native = std::get<OpenClDeviceHandles>(device->native());
        context = static_cast<cl_context>(native.context);
        handle = static_cast<cl_device_id>(native.device);
        cl = &device->logical().cl;
    }
    cl_mem make(std::size_t bytes, cl_context in = nullptr) {
        cl_int result = CL_SUCCESS;
        cl_mem buffer =
            cl->CreateBuffer(in != nullptr ? in : context, CL_MEM_READ_WRITE, bytes, nullptr, &result);
        EXPECT_EQ(result, CL_SUCCESS);
        return buffer;
    }
    cl_uint references(cl_mem buffer) {
        cl_uint count = 0;
        EXPECT_EQ(cl->GetMemObjectInfo(buffer, CL_MEM_REFERENCE_COUNT, sizeof count, &count, nullptr),
                  CL_SUCCESS);
        return count;
    }

    std::unique_ptr<OpenClDevice> device;
    std::unique_ptr<backends::Queue> queue;
    cl_context context = nullptr;
    cl_device_id handle = nullptr;
    Api* cl = nullptr;
};

TEST_F(OpenClImportTest, AKernelRunsOnAnImportedBuffer) {
    cl_mem buffer = make(4000);
    cl_int result = CL_SUCCESS;
    cl_command_queue own = cl->CreateCommandQueueWithProperties(context, handle, nullptr, &result);
    ASSERT_EQ(result, CL_SUCCESS);
    const std::vector<int> before = counting(1000, 5);
    ASSERT_EQ(cl->EnqueueWriteBuffer(own, buffer, CL_TRUE, 0, 4000, before.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    {
        const auto memory = device->import_native(OpenClBuffer{buffer, 0, 4000});
        EXPECT_EQ(references(buffer), 2u);
        EXPECT_EQ(memory->host(), nullptr);
        const auto program = device->compile(multiply_add_kernel());
        queue->timeline().wait(launch_multiply_add(*queue, *program, *memory, 3, 1000));
    }
    // The driver releases a launch's arguments some time after it completes.
    for (int i = 0; i < 5000 && references(buffer) != 1u; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(references(buffer), 1u);
    std::vector<int> after(1000);
    ASSERT_EQ(cl->EnqueueReadBuffer(own, buffer, CL_TRUE, 0, 4000, after.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(after[static_cast<std::size_t>(i)], 3 * (5 + i) + i);
    cl->ReleaseCommandQueue(own);
    cl->ReleaseMemObject(buffer);
    EXPECT_EQ(device->heap().live(), 0u) << "it does not count against the budget";
}

TEST_F(OpenClImportTest, ASubBufferIsARangeOfItsParent) {
    cl_mem whole = make(8192);
    const cl_buffer_region region{4096, 4096};
    cl_int result = CL_SUCCESS;
    cl_mem part =
        cl->CreateSubBuffer(whole, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &result);
    ASSERT_EQ(result, CL_SUCCESS);
    const auto memory = device->import_native(OpenClBuffer{part, 1024, 2048});
    const auto all = device->import_native(OpenClBuffer{whole, 0, 8192});
    write_at(*queue, *all, 0, bytes_of(counting(2048)));
    EXPECT_EQ(read_back(*queue, *memory, 512), counting(512, 1280));
    // Kernels written in OpenCL C receive a sub-buffer of the parent that starts there.
    const auto program = device->compile(
        raw_kernel("kernel void add(global int* data) { data[get_global_id(0)] += 100000; }", "add"));
    backends::Argument argument;
    argument.memory = memory.get();
    argument.elements = 512;
    queue->launch({program.get(), {512, 1, 1}, {64, 1, 1}, std::span(&argument, 1)});
    EXPECT_EQ(read_back(*queue, *memory, 512), counting(512, 101'280));
    EXPECT_EQ(read_back(*queue, *all, 2048)[1279], 1279);
    EXPECT_EQ(read_back(*queue, *all, 2048)[1280], 101'280);
    EXPECT_THROW((void)device->import_native(OpenClBuffer{part, 4000, 200}), ArgumentError);
    cl->ReleaseMemObject(part);
    cl->ReleaseMemObject(whole);
}

TEST_F(OpenClImportTest, ABufferOfAnotherContextIsRejected) {
    const auto other = open_first();
    cl_mem buffer =
        make(100, static_cast<cl_context>(std::get<OpenClDeviceHandles>(other->native()).context));
    const std::string text = error_of(ErrorCode::InvalidArgument, [&] {
        (void)device->import_native(OpenClBuffer{buffer, 0, 100});
    });
    EXPECT_NE(text.find("context"), std::string::npos) << text;
    cl->ReleaseMemObject(buffer);
}

cl_int CL_API_CALL refuse_info(cl_mem /*buffer*/, cl_mem_info /*what*/, std::size_t /*size*/, void* /*value*/,
                               std::size_t* /*written*/) {
    return CL_OUT_OF_HOST_MEMORY;
}
decltype(Api::GetMemObjectInfo) real_info = nullptr;
cl_int CL_API_CALL say_image(cl_mem buffer, cl_mem_info what, std::size_t size, void* value,
                             std::size_t* written) {
    const cl_int result = real_info(buffer, what, size, value, written);
    if (what == CL_MEM_TYPE) *static_cast<cl_mem_object_type*>(value) = CL_MEM_OBJECT_IMAGE2D;
    return result;
}
cl_int CL_API_CALL refuse_retain(cl_mem /*buffer*/) { return CL_OUT_OF_RESOURCES; }

TEST_F(OpenClImportTest, AnImageIsRejected) {
    cl_mem buffer = make(100);
    real_info = std::exchange(cl->GetMemObjectInfo, say_image);
    error_of(ErrorCode::InvalidArgument, [&] { (void)device->import_native(OpenClBuffer{buffer, 0, 100}); });
    cl->GetMemObjectInfo = real_info;
    cl->ReleaseMemObject(buffer);
}

TEST_F(OpenClImportTest, AFailingDriverIsAnErrorWithoutLeaks) {
    cl_mem buffer = make(100);
    const auto info = std::exchange(cl->GetMemObjectInfo, refuse_info);
    EXPECT_THROW((void)device->import_native(OpenClBuffer{buffer, 0, 100}), MemoryError);
    cl->GetMemObjectInfo = info;
    const auto retain = std::exchange(cl->RetainMemObject, refuse_retain);
    EXPECT_THROW((void)device->import_native(OpenClBuffer{buffer, 0, 100}), MemoryError);
    cl->RetainMemObject = retain;
    EXPECT_EQ(references(buffer), 1u);
    EXPECT_NO_THROW((void)device->import_native(OpenClBuffer{buffer, 0, 100}));
    EXPECT_EQ(references(buffer), 1u);
    cl->ReleaseMemObject(buffer);
}

cl_mem CL_API_CALL refuse_host(cl_context /*context*/, cl_mem_flags /*flags*/, std::size_t /*size*/,
                               void* /*host*/, cl_int* result) {
    *result = CL_INVALID_HOST_PTR;
    return nullptr;
}

TEST_F(OpenClImportTest, ADriverThatRejectsHostMemoryIsAnError) {
    alignas(4096) static std::array<std::byte, 4096> mine{};
    const auto real = std::exchange(cl->CreateBuffer, refuse_host);
    error_of(ErrorCode::Unsupported, [&] { (void)device->import_host(mine); });
    cl->CreateBuffer = real;
    EXPECT_NO_THROW((void)device->import_host(mine));
}

TEST_F(OpenClImportTest, ImportedMemoryDoesNotCountAgainstTheBudget) {
    OpenClOptions options;
    options.memory_limit = 100;
    const auto small = open_first(options);
    alignas(4096) static std::array<std::byte, 8192> mine{};
    const auto memory = small->import_host(mine);
    EXPECT_EQ(memory->size(), 8192u);
    EXPECT_EQ(small->heap().live(), 0u);
    const std::span<std::byte> huge(mine.data(), small->logical().physical().max_allocation + 1);
    error_of(ErrorCode::Unsupported, [&] { (void)small->import_host(huge); });
}

}  // namespace
}  // namespace volley::backends::opencl
