// What is special about batches on OpenCL devices: how often the driver is called, and launches that fail in
// the middle of many.
#include "backends/batch_support.hpp"
#include "backends/opencl_support.hpp"

#include <volley/error.hpp>

#include <atomic>
#include <chrono>
#include <utility>

namespace volley::backends::opencl {
namespace {

std::atomic<unsigned> enqueued{0};
std::atomic<unsigned> flushed{0};
std::atomic<unsigned> values_set{0};
std::atomic<unsigned> kernels_made{0};
std::atomic<int> enqueues_left{-1};                  // before one fails; never, where it is negative
std::atomic<cl_event> failing_event{nullptr};        // says that its command did
std::atomic<unsigned> fails_at{~0u};                 // which of the enqueued ones that is
std::atomic<bool> frozen{false};                     // no command appears to complete
std::atomic<cl_event> last_event{nullptr};           // of the last launch
std::atomic<unsigned> waits{0};                      // barriers with a wait list,
std::atomic<cl_event> awaited{nullptr};              // and the event in the last one
std::atomic<cl_command_queue> waiting{nullptr};      // and its queue
std::atomic<cl_command_queue> launched_on{nullptr};  // the queue of the last launch
const Api* watched = nullptr;

cl_int CL_API_CALL counted_enqueue(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                   const std::size_t* offset, const std::size_t* global,
                                   const std::size_t* local, cl_uint count, const cl_event* list,
                                   cl_event* event) {
    if (enqueues_left == 0) return CL_OUT_OF_HOST_MEMORY;
    if (enqueues_left > 0) --enqueues_left;
    const cl_int result =
        watched->EnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, count, list, event);
    if (enqueued++ == fails_at) failing_event = *event;
    last_event = event == nullptr ? nullptr : *event;
    launched_on = queue;
    return result;
}
cl_int CL_API_CALL counted_barrier(cl_command_queue queue, cl_uint count, const cl_event* list,
                                   cl_event* event) {
    if (count != 0) {
        ++waits;
        awaited = *list;
        waiting = queue;
    }
    return watched->EnqueueBarrierWithWaitList(queue, count, list, event);
}
cl_int CL_API_CALL counted_flush(cl_command_queue queue) {
    ++flushed;
    return watched->Flush(queue);
}
cl_int CL_API_CALL counted_set(cl_kernel kernel, cl_uint number, std::size_t size, const void* value) {
    ++values_set;
    return watched->SetKernelArg(kernel, number, size, value);
}
cl_kernel CL_API_CALL counted_create(cl_program program, const char* name, cl_int* result) {
    ++kernels_made;
    return watched->CreateKernel(program, name, result);
}
cl_int CL_API_CALL failing_event_info(cl_event event, cl_event_info what, std::size_t size, void* value,
                                      std::size_t* written) {
    const cl_int result = watched->GetEventInfo(event, what, size, value, written);
    auto& status = *static_cast<cl_int*>(value);
    if (what == CL_EVENT_COMMAND_EXECUTION_STATUS && frozen) status = CL_RUNNING;
    if (what == CL_EVENT_COMMAND_EXECUTION_STATUS && status == CL_COMPLETE && event == failing_event)
        status = CL_OUT_OF_RESOURCES;
    return result;
}

constexpr std::uint32_t elements = 64;

class OpenClBatchTest : public OpenClTest {
protected:
    void SetUp() override {
        OpenClTest::SetUp();
        if (IsSkipped()) return;
        device = open_first();
        Api& cl = device->logical().cl;
        api = cl;
        watched = &api;
        cl.EnqueueNDRangeKernel = counted_enqueue;
        cl.Flush = counted_flush;
        cl.SetKernelArg = counted_set;
        cl.CreateKernel = counted_create;
        cl.GetEventInfo = failing_event_info;
        cl.EnqueueBarrierWithWaitList = counted_barrier;
        queue = device->make_queue();
        program = device->compile(multiply_add_kernel());
        memory = ints();
        forget();
    }
    static void forget() {
        enqueued = flushed = values_set = kernels_made = waits = 0;
        frozen = false;
        enqueues_left = -1;
        failing_event = nullptr;
        fails_at = ~0u;
    }
    std::unique_ptr<backends::Memory> ints() {
        auto made = device->allocate(elements * sizeof(int));
        queue->timeline().wait(write_at(*queue, *made, 0, bytes_of(std::vector<int>(elements, 1))));
        return made;
    }
    /// So many launches that follow each other, with one dynamic factor.
    std::unique_ptr<backends::Batch> chain(std::uint32_t launches) {
        PlanMaker maker;
        for (std::uint32_t k = 0; k < launches; ++k)
            maker.add_in_line(multiply_add_command(*program, *memory, elements, dynamic_argument(0)));
        return queue->prepare(maker.finish(16));
    }
    Point submit(backends::Batch& batch, const std::vector<int>& factors) {
        std::vector<int> values;
        for (const int factor : factors) values.insert(values.end(), {factor, 0, 0, 0});
        return queue->submit(batch, static_cast<std::uint32_t>(factors.size()), bytes_of(values));
    }
    /// The last element after launches with these factors.
    static int expected(int element, const std::vector<int>& factors, std::uint32_t launches = 1) {
        auto value = static_cast<unsigned>(element);
        for (const int factor : factors) {
            for (std::uint32_t k = 0; k < launches; ++k)
                value = value * static_cast<unsigned>(factor) + (elements - 1);
        }
        return static_cast<int>(value);
    }
    int last_element() { return read_back(*queue, *memory, elements).back(); }

    Api api;
    std::unique_ptr<OpenClDevice> device;
    std::unique_ptr<backends::Program> program;
    std::unique_ptr<backends::Memory> memory;
    std::unique_ptr<backends::Queue> queue;  // ends first, and waits for its work
};

TEST_F(OpenClBatchTest, InstancesAreFlushedTogetherAndSetOnlyWhatChanges) {
    const auto batch = chain(1);
    EXPECT_EQ(kernels_made, 1u);
    std::vector<int> factors(200);
    for (std::size_t k = 0; k < factors.size(); ++k) factors[k] = k % 4 < 2 ? 3 : 5;
    forget();
    const Point before = queue->last();
    const Point point = submit(*batch, factors);
    EXPECT_EQ(point, before + 1) << "one command of the queue";
    EXPECT_EQ(enqueued, 200u);
    EXPECT_EQ(flushed, 1u);
    EXPECT_EQ(values_set, 100u) << "every other instance has the value of the one before";
    EXPECT_EQ(kernels_made, 0u);
    EXPECT_EQ(last_element(), expected(1, factors));
}

TEST_F(OpenClBatchTest, LongRunsReachTheDeviceInPieces) {
    const auto batch = chain(100);
    EXPECT_EQ(kernels_made, 1u) << "launches that differ in dynamic values alone share one";
    forget();
    const std::vector<int> factors = {3, -1, 5, 7, 2};
    submit(*batch, factors);
    EXPECT_EQ(enqueued, 500u);
    EXPECT_EQ(flushed, 2u);
    EXPECT_EQ(last_element(), expected(1, factors, 100));
}

TEST_F(OpenClBatchTest, MoreLaunchesThanMayWaitAreGivenAsEarlierOnesEnd) {
    const auto batch = chain(1);
    std::vector<int> factors(5000, 3);
    submit(*batch, factors);
    EXPECT_EQ(enqueued, 5000u);
    EXPECT_EQ(last_element(), expected(1, factors));
}

TEST_F(OpenClBatchTest, LaunchesWithOtherArgumentsKeepThem) {
    const auto other = ints();
    const int two = 2;
    PlanMaker maker;
    for (int k = 0; k < 10; ++k) {
        maker.add(multiply_add_command(*program, *memory, elements, dynamic_argument(4)), {0}, {0});
        maker.add(multiply_add_command(*program, *other, elements, value_argument(two)), {1}, {1});
    }
    const auto batch = queue->prepare(maker.finish(16));
    forget();
    const std::vector<int> values = {0, 7, 0, 0};
    queue->submit(*batch, 1, bytes_of(values));
    EXPECT_EQ(values_set, 1u) << "all but the dynamic value was set when the batch was made";
    EXPECT_EQ(flushed, 1u);
    EXPECT_EQ(last_element(), expected(1, {7}, 10));
    EXPECT_EQ(read_back(*queue, *other, elements).back(), expected(1, {2}, 10));
}

TEST_F(OpenClBatchTest, ALaunchThatFailsOnTheDeviceIsTheErrorOfItsBatch) {
    const auto batch = chain(10);
    fails_at = 4;
    const Point point = submit(*batch, {2});
    EXPECT_THROW(queue->timeline().wait(point), MemoryError);
    EXPECT_NO_THROW(queue->timeline().wait(point)) << "it is thrown once";
    forget();  // the event is gone, and another one may have its address
    EXPECT_NO_THROW(queue->timeline().wait(submit(*batch, {2})));
}

TEST_F(OpenClBatchTest, ALaunchThatIsRefusedLeavesTheQueueUsable) {
    const auto batch = chain(10);
    enqueues_left = 13;
    EXPECT_THROW(submit(*batch, {2, 3}), MemoryError);
    forget();
    const int now = last_element();
    EXPECT_NO_THROW(queue->timeline().wait(submit(*batch, {2, 3})));
    EXPECT_EQ(last_element(), expected(now, {2, 3}, 10));
    EXPECT_EQ(queue->timeline().completed(), queue->last());
}

TEST_F(OpenClBatchTest, AnotherQueueWaitsForTheLastLaunchOfARun) {
    const auto batch = chain(10);
    const auto other = device->make_queue();
    frozen = true;
    const Point point = submit(*batch, {2, 3});
    const cl_event last = last_event;
    other->wait_for(queue->timeline(), point);
    EXPECT_EQ(waits, 1u);
    EXPECT_EQ(awaited, last);
    frozen = false;
    EXPECT_EQ(last_element(), expected(1, {2, 3}, 10));
}

TEST_F(OpenClBatchTest, ARunHasPassedWhenItsLastLaunchHas) {
    const auto batch = chain(200);
    for (int k = 0; k < 20; ++k) {
        const Point point = submit(*batch, {1, 1});
        const cl_event last = last_event;
        watched->RetainEvent(last);
        while (queue->timeline().completed() < point) {
        }
        cl_int status = CL_QUEUED;
        watched->GetEventInfo(last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
        EXPECT_EQ(status, CL_COMPLETE);
        watched->ReleaseEvent(last);
    }
}

TEST_F(OpenClBatchTest, TimedAndPlainCommandsWaitForEachOther) {
    const int factor = 3;
    backends::Argument args[2];
    args[0].memory = memory.get();
    args[0].elements = elements;
    args[1].value = &factor;
    const auto launch = [&] { return queue->launch({program.get(), {elements, 1, 1}, {64, 1, 1}, args}); };
    struct NoTimes final : backends::CommandTimes {
        void ran(std::uint32_t /*index*/, std::int64_t /*begin*/, std::int64_t /*end*/) noexcept override {}
    };
    const auto launch_timed = [&] {
        const backends::TimesScope scope({std::make_shared<NoTimes>(), 0});
        return launch();
    };
    launch_timed();  // calibrates the clock
    launch();
    queue->timeline().wait(queue->last());
    forget();
    frozen = true;
    launch();
    EXPECT_EQ(waits, 0u);
    cl_event before = last_event;
    const cl_command_queue plain = launched_on;
    launch_timed();
    const cl_command_queue timed = launched_on;
    EXPECT_NE(timed, plain);
    EXPECT_EQ(waits, 1u);
    EXPECT_EQ(awaited, before);
    EXPECT_EQ(waiting, timed);
    before = last_event;
    launch_timed();
    EXPECT_EQ(waits, 1u) << "it is the same queue";
    before = last_event;
    launch();
    EXPECT_EQ(waits, 2u);
    EXPECT_EQ(awaited, before);
    EXPECT_EQ(waiting, plain);
    frozen = false;
    queue->timeline().wait(queue->last());
}

TEST_F(OpenClBatchTest, StaysBehindTheHostsCommands) {
    const auto batch = chain(3);
    Gate gate;
    queue->call([&] { gate.pass(); });
    const std::vector<int> factors = {2, 3, 4};
    const Point point = submit(*batch, factors);
    EXPECT_FALSE(queue->timeline().wait_for(point, std::chrono::milliseconds(5)));
    EXPECT_EQ(enqueued, 0u);
    gate.open();
    EXPECT_EQ(last_element(), expected(1, factors, 3));
}

}  // namespace
}  // namespace volley::backends::opencl
