// Failures of OpenCL drivers; failure_test.cpp has those of any driver.
#include "backends/opencl_faults.hpp"
#include "backends/opencl_support.hpp"

#include <volley/error.hpp>

#include <atomic>
#include <optional>
#include <utility>

namespace volley::backends::opencl {
namespace {

class OpenClFailureTest : public OpenClTest {
protected:
    void SetUp() override {
        OpenClTest::SetUp();
        if (IsSkipped()) return;
        device = open_first();
        faults.emplace(*device);
        queue = device->make_queue();
        program = device->compile(multiply_add_kernel());
        memory = device->allocate(4000);
    }
    void TearDown() override { OpenClFaults::event_status = CL_COMPLETE; }
    Point launch(std::uint32_t count = 1000) {
        return launch_multiply_add(*queue, *program, *memory, 2, count);
    }
    template <class F>
    void expect_lost(F&& f) {
        testing::expect_lost(device->info().name, f);
    }

    std::unique_ptr<OpenClDevice> device;
    std::optional<OpenClFaults> faults;
    std::unique_ptr<backends::Program> program;
    std::unique_ptr<backends::Memory> memory;
    std::unique_ptr<backends::Queue> queue;  // destroyed first, after waiting for its work
};

TEST_F(OpenClFailureTest, AnEventThatReportsALostDeviceLosesIt) {
    OpenClFaults::event_status = CL_DEVICE_NOT_AVAILABLE;
    const Point point = launch();
    expect_lost([&] { queue->timeline().wait(point); });
}

TEST_F(OpenClFailureTest, AFailedCommandFailsItsWait) {
    OpenClFaults::event_status = CL_OUT_OF_RESOURCES;
    const Point bad = launch();
    EXPECT_THROW(queue->timeline().wait(bad), MemoryError);
    EXPECT_NO_THROW(queue->timeline().wait(bad)) << "it is thrown once";
    OpenClFaults::event_status = CL_COMPLETE;
    EXPECT_NO_THROW(queue->timeline().wait(launch()));
}

TEST_F(OpenClFailureTest, ADeviceWithoutAnyResourcesIsLost) {
    faults->set_submit_result(CL_OUT_OF_RESOURCES);
    OpenClFaults::marker_result = CL_OUT_OF_RESOURCES;
    expect_lost([&] { launch(); });
}

TEST_F(OpenClFailureTest, AWorkgroupTooLargeForTheKernelIsALaunchError) {
    faults->set_submit_result(CL_INVALID_WORK_GROUP_SIZE);
    try {
        launch();
        ADD_FAILURE() << "nothing was thrown";
    } catch (const LaunchError& error) {
        EXPECT_NE(error.what_failed().find("64 x 1 x 1"), std::string_view::npos) << error.what();
        EXPECT_NE(error.subject().find("multiply_add"), std::string_view::npos) << error.what();
        EXPECT_FALSE(error.advice().empty());
    }
}

decltype(Api::EnqueueReadBuffer) real_read = nullptr;
std::atomic<int> reads_left{0};
/// Succeeds a limited number of times, then reports that memory is exhausted.
cl_int CL_API_CALL fake_read(cl_command_queue on, cl_mem buffer, cl_bool blocking, std::size_t offset,
                             std::size_t size, void* to, cl_uint count, const cl_event* list,
                             cl_event* event) {
    if (--reads_left < 0) return CL_OUT_OF_HOST_MEMORY;
    return real_read(on, buffer, blocking, offset, size, to, count, list, event);
}

TEST_F(OpenClFailureTest, AReadWhoseThirdChunkFailsDoesNotWriteToTheHostLater) {
    OpenClOptions options;
    options.heap.share = false;
    options.queue.chunk_bytes = 1000;
    const auto other = open_first(options);
    const auto other_queue = other->make_queue();
    const auto block = other->allocate(4000);
    const std::vector<int> data = counting(1000, 1), untouched(1000, -1);
    std::vector<int> home(1000);
    other_queue->timeline().wait(write_at(*other_queue, *block, 0, bytes_of(data)));
    real_read = std::exchange(other->logical().cl.EnqueueReadBuffer, fake_read);
    reads_left = 2;
    EXPECT_THROW(read_at(*other_queue, *block, 0, std::as_writable_bytes(std::span(home))), MemoryError);
    home = untouched;
    other_queue->timeline().wait(other_queue->last());
    EXPECT_EQ(home, untouched) << "the caller owns the memory again";
    reads_left = 100;
    EXPECT_EQ(read_back(*other_queue, *block, 1000), data) << "the queue continues";
}

cl_int CL_API_CALL refuse_build(cl_program /*program*/, cl_uint /*count*/, const cl_device_id* /*devices*/,
                                const char* /*options*/, void(CL_CALLBACK* /*notify*/)(cl_program, void*),
                                void* /*data*/) {
    return CL_BUILD_PROGRAM_FAILURE;
}

TEST_F(OpenClFailureTest, AKernelThatTheDriverRejectsIsACompileErrorAtItsFirstLaunch) {
    Api& cl = device->logical().cl;
    const auto real = std::exchange(cl.BuildProgram, refuse_build);
    try {
        launch();
        ADD_FAILURE() << "nothing was thrown";
    } catch (const CompileError& error) {
        EXPECT_NE(error.subject().find("multiply_add"), std::string_view::npos) << error.what();
        EXPECT_NE(error.subject().find(device->info().name), std::string_view::npos) << error.what();
        EXPECT_FALSE(error.advice().empty());
    }
    cl.BuildProgram = real;
    EXPECT_NO_THROW(launch());
}

}  // namespace
}  // namespace volley::backends::opencl
