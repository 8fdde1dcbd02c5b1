// Simulates failing drivers by replacing entries of a device's function table.
#include "backends/opencl_support.hpp"

#include <volley/error.hpp>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

namespace volley::backends::opencl {
namespace {

using backends::Point;
using namespace std::chrono_literals;

std::atomic<cl_int> enqueue_result{CL_SUCCESS};
std::atomic<cl_int> marker_result{CL_SUCCESS};
std::atomic<cl_int> event_status{CL_COMPLETE};
std::atomic<bool> frozen{false};
decltype(Api::EnqueueNDRangeKernel) real_enqueue = nullptr;
decltype(Api::EnqueueMarkerWithWaitList) real_marker = nullptr;
decltype(Api::GetEventInfo) real_event_info = nullptr;

cl_int CL_API_CALL fake_enqueue(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                const std::size_t* offset, const std::size_t* global,
                                const std::size_t* local, cl_uint count, const cl_event* list,
                                cl_event* event) {
    const cl_int result = enqueue_result.load();
    if (result != CL_SUCCESS) return result;
    return real_enqueue(queue, kernel, dimensions, offset, global, local, count, list, event);
}
cl_int CL_API_CALL fake_marker(cl_command_queue queue, cl_uint count, const cl_event* list, cl_event* event) {
    const cl_int result = marker_result.load();
    return result == CL_SUCCESS ? real_marker(queue, count, list, event) : result;
}
/// Reports events as pending while frozen; otherwise as complete, or failed with event_status.
cl_int CL_API_CALL fake_event_info(cl_event event, cl_event_info what, std::size_t size, void* value,
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
using Callback = void(CL_CALLBACK*)(cl_event, cl_int, void*);
std::mutex callbacks_mutex;
std::vector<std::pair<Callback, void*>> callbacks;
/// Keeps callbacks uncalled, like a driver whose device has stopped; the test calls them at its end.
cl_int CL_API_CALL keep_callback(cl_event /*event*/, cl_int /*status*/, Callback function, void* data) {
    const std::scoped_lock lock(callbacks_mutex);
    callbacks.emplace_back(function, data);
    return CL_SUCCESS;
}

class OpenClFailureTest : public OpenClTest {
protected:
    void SetUp() override {
        OpenClTest::SetUp();
        if (IsSkipped()) return;
        enqueue_result = marker_result = CL_SUCCESS;
        event_status = CL_COMPLETE;
        frozen = false;
        device = open_first();
        Api& cl = device->logical().cl;
        real_enqueue = std::exchange(cl.EnqueueNDRangeKernel, fake_enqueue);
        real_marker = std::exchange(cl.EnqueueMarkerWithWaitList, fake_marker);
        real_event_info = std::exchange(cl.GetEventInfo, fake_event_info);
        queue = device->make_queue();
        program = device->compile(multiply_add_kernel());
        memory = device->allocate(4000);
    }
    void TearDown() override {
        frozen = false;
        event_status = CL_COMPLETE;
        for (const auto& [function, data] : callbacks) function(nullptr, CL_COMPLETE, data);
        callbacks.clear();
    }
    Point launch(std::uint32_t count = 1000) {
        return launch_multiply_add(*queue, *program, *memory, 2, count);
    }
    template <class F>
    void expect_lost(F&& f) {
        try {
            f();
            ADD_FAILURE() << "nothing was thrown";
        } catch (const DeviceError& error) {
            EXPECT_EQ(error.code(), ErrorCode::DeviceLost) << error.what();
            EXPECT_NE(error.subject().find(device->info().name), std::string_view::npos) << error.what();
            EXPECT_FALSE(error.advice().empty());
        }
    }

    std::unique_ptr<OpenClDevice> device;
    std::unique_ptr<backends::Program> program;
    std::unique_ptr<backends::Memory> memory;
    std::unique_ptr<backends::Queue> queue;  // destroyed first, after waiting for its work
};

TEST_F(OpenClFailureTest, ALostDeviceFailsEveryLaterCall) {
    launch();
    enqueue_result = CL_DEVICE_NOT_AVAILABLE;
    expect_lost([&] { launch(); });
    enqueue_result = CL_SUCCESS;
    std::vector<std::byte> bytes(16);
    expect_lost([&] { launch(); });
    expect_lost([&] { write_at(*queue, *memory, 0, bytes); });
    expect_lost([&] { read_at(*queue, *memory, 0, bytes); });
    expect_lost([&] { copy_at(*queue, *memory, 0, *memory, 100, 16); });
    expect_lost([&] { fill_at(*queue, *memory, 0, 16, bytes); });
    expect_lost([&] { queue->call([] {}); });
    expect_lost([&] { queue->timeline().wait(queue->last()); });
    expect_lost([&] { (void)device->allocate(16); });
    expect_lost([&] { (void)device->make_queue(); });
    expect_lost([&] { (void)device->compile(multiply_add_kernel()); });
    EXPECT_EQ(queue->timeline().completed(), queue->last()) << "nothing is left to wait for";
    EXPECT_TRUE(queue->timeline().wait_for(queue->last(), 1s));
}

TEST_F(OpenClFailureTest, AnEventThatReportsALostDeviceLosesIt) {
    event_status = CL_DEVICE_NOT_AVAILABLE;
    const Point point = launch();
    expect_lost([&] { queue->timeline().wait(point); });
}

TEST_F(OpenClFailureTest, AFailedCommandFailsItsWait) {
    event_status = CL_OUT_OF_RESOURCES;
    const Point bad = launch();
    EXPECT_THROW(queue->timeline().wait(bad), MemoryError);
    EXPECT_NO_THROW(queue->timeline().wait(bad)) << "it is thrown once";
    event_status = CL_COMPLETE;
    EXPECT_NO_THROW(queue->timeline().wait(launch()));
}

TEST_F(OpenClFailureTest, WaitingThreadsWakeWhenTheDeviceIsLost) {
    device->logical().cl.SetEventCallback = keep_callback;
    frozen = true;
    const Point point = launch();
    std::atomic<int> woken{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&] {
            expect_lost([&] { queue->timeline().wait(point); });
            ++woken;
        });
    }
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(woken, 0);
    enqueue_result = CL_DEVICE_NOT_AVAILABLE;
    expect_lost([&] { launch(); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(woken, 3);
}

TEST_F(OpenClFailureTest, PendingCommandsAfterACallbackAreDroppedWhenTheDeviceIsLost) {
    launch();  // compiles the variant
    Gate gate;
    queue->call([&] { gate.pass(); });
    bool called = false;
    launch();
    queue->call([&] { called = true; });
    enqueue_result = CL_DEVICE_NOT_AVAILABLE;
    gate.open();
    expect_lost([&] { queue->timeline().wait(queue->last()); });
    queue.reset();  // does not hang
    EXPECT_FALSE(called);
}

TEST_F(OpenClFailureTest, OtherDevicesAreUnaffected) {
    enqueue_result = CL_DEVICE_NOT_AVAILABLE;
    expect_lost([&] { launch(); });
    const auto other = open_first();
    const auto other_queue = other->make_queue();
    const auto other_program = other->compile(multiply_add_kernel());
    const auto other_memory = other->allocate(400);
    write_at(*other_queue, *other_memory, 0, bytes_of(counting(100)));
    launch_multiply_add(*other_queue, *other_program, *other_memory, 1, 100);
    EXPECT_EQ(read_back(*other_queue, *other_memory, 100)[99], 198);
}

TEST_F(OpenClFailureTest, ALaunchWithoutResourcesFailsAndTheQueueContinues) {
    write_at(*queue, *memory, 0, bytes_of(counting(1000)));
    for (const cl_int result :
         {CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY, CL_MEM_OBJECT_ALLOCATION_FAILURE}) {
        enqueue_result = result;
        EXPECT_THROW(launch(), MemoryError) << result_text(result);
    }
    const Point before = queue->last();
    enqueue_result = CL_SUCCESS;
    EXPECT_EQ(launch(), before + 1);
    EXPECT_EQ(read_back(*queue, *memory, 1000)[999], 3 * 999);
}

TEST_F(OpenClFailureTest, ADeviceWithoutAnyResourcesIsLost) {
    enqueue_result = CL_OUT_OF_RESOURCES;
    marker_result = CL_OUT_OF_RESOURCES;
    expect_lost([&] { launch(); });
}

TEST_F(OpenClFailureTest, AWorkgroupTooLargeForTheKernelIsALaunchError) {
    enqueue_result = CL_INVALID_WORK_GROUP_SIZE;
    try {
        launch();
        ADD_FAILURE() << "nothing was thrown";
    } catch (const LaunchError& error) {
        EXPECT_NE(error.what_failed().find("64 x 1 x 1"), std::string_view::npos) << error.what();
        EXPECT_NE(error.subject().find("multiply_add"), std::string_view::npos) << error.what();
        EXPECT_FALSE(error.advice().empty());
    }
}

TEST_F(OpenClFailureTest, AFailedSubmissionAfterACallbackFailsTheWait) {
    launch();
    write_at(*queue, *memory, 0, bytes_of(counting(1000)));
    Gate gate;
    queue->call([&] { gate.pass(); });
    const Point bad = launch();
    enqueue_result = CL_OUT_OF_HOST_MEMORY;
    gate.open();
    EXPECT_THROW(queue->timeline().wait(bad), MemoryError);
    enqueue_result = CL_SUCCESS;
    const Point good = launch();
    EXPECT_NO_THROW(queue->timeline().wait(good));
    EXPECT_EQ(read_back(*queue, *memory, 1000)[999], 3 * 999) << "one launch has run";
}

TEST_F(OpenClFailureTest, ATimedWaitReturnsOnTimeout) {
    frozen = true;
    const Point point = launch();
    const auto start = std::chrono::steady_clock::now();
    EXPECT_FALSE(queue->timeline().wait_for(point, 30ms));
    EXPECT_GE(std::chrono::steady_clock::now() - start, 30ms);
    frozen = false;
    EXPECT_TRUE(queue->timeline().wait_for(point, 10s));
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
