// Failing drivers: lost devices, exhausted memory, and devices that do not complete their work. Each test
// runs on every driver.
#include "backends/driver_faults.hpp"
#include "backends/queue_support.hpp"
#include "backends/subjects.hpp"

#include <volley/error.hpp>

#include <atomic>
#include <chrono>
#include <thread>

namespace volley::testing {
namespace {

using backends::Point;
using namespace std::chrono_literals;

class FailureTest : public SubjectTest {
protected:
    void SetUp() override {
        SubjectTest::SetUp();
        if (IsSkipped()) return;
        queue.reset();
        faults = GetParam().faults(*device);
        queue = device->make_queue();
        program = GetParam().multiply_add(*device);
        memory = device->allocate(4000);
    }
    void TearDown() override {
        if (faults) faults->thaw();
        queue.reset();  // first, after waiting for its work
        memory.reset();
        program.reset();
    }
    Point launch() { return launch_multiply_add(*queue, *program, *memory, 2, 1000); }

    template <class F>
    void expect_lost(F&& f) {
        testing::expect_lost(device->info().name, f);
    }

    std::unique_ptr<DriverFaults> faults;
    std::unique_ptr<backends::Program> program;
    std::unique_ptr<backends::Memory> memory;
};
VOLLEY_SUBJECT_SUITE(FailureTest);

TEST_P(FailureTest, ALostDeviceFailsEveryLaterCall) {
    launch();
    faults->set_submit_result(faults->lost);
    expect_lost([&] { launch(); });
    faults->set_submit_result(faults->success);
    std::vector<std::byte> bytes(16);
    expect_lost([&] { launch(); });
    expect_lost([&] { write_at(*queue, *memory, 0, bytes); });
    expect_lost([&] { read_at(*queue, *memory, 0, bytes); });
    expect_lost([&] { copy_at(*queue, *memory, 0, *memory, 100, 16); });
    expect_lost([&] { fill_at(*queue, *memory, 0, 16, bytes); });
    const backends::Rect rect{4, {2, 2}};
    const backends::RectPlace at{0, {8, 16}};
    expect_lost([&] { queue->write(*memory, bytes.data(), {rect, at, {0, {4, 8}}}); });
    expect_lost([&] { queue->read(bytes.data(), *memory, {rect, {0, {4, 8}}, at}); });
    expect_lost([&] { queue->copy(*memory, *memory, {rect, {100, {8, 16}}, at}); });
    expect_lost([&] { queue->fill(*memory, at, rect, std::span(bytes).first(4)); });
    expect_lost([&] { queue->call([] {}); });
    expect_lost([&] { queue->timeline().wait(queue->last()); });
    expect_lost([&] { (void)device->allocate(16); });
    expect_lost([&] { (void)device->allocate_host(16); });
    expect_lost([&] { (void)device->import_native(memory->native()); });
    expect_lost([&] { (void)device->make_queue(); });
    if (device->info().backend == "opencl")
        expect_lost([&] { (void)device->compile(multiply_add_kernel()); });
    EXPECT_EQ(queue->timeline().completed(), queue->last()) << "nothing is left to wait for";
    EXPECT_TRUE(queue->timeline().wait_for(queue->last(), 1s));
}

TEST_P(FailureTest, WaitingThreadsWakeWhenTheDeviceIsLost) {
    faults->freeze();
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
    faults->set_submit_result(faults->lost);
    expect_lost([&] { launch(); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(woken, 3);
}

TEST_P(FailureTest, PendingCommandsAfterACallbackAreDroppedWhenTheDeviceIsLost) {
    launch();  // compiles the variant
    Gate gate;
    queue->call([&] { gate.pass(); });
    bool called = false;
    launch();
    queue->call([&] { called = true; });
    faults->set_submit_result(faults->lost);
    gate.open();
    expect_lost([&] { queue->timeline().wait(queue->last()); });
    queue.reset();  // does not hang
    EXPECT_FALSE(called);
}

TEST_P(FailureTest, OtherDevicesAreUnaffected) {
    faults->set_submit_result(faults->lost);
    expect_lost([&] { launch(); });
    const auto other = GetParam().open(true);
    const auto other_queue = other->make_queue();
    const auto other_program = GetParam().multiply_add(*other);
    const auto other_memory = other->allocate(400);
    write_at(*other_queue, *other_memory, 0, bytes_of(counting(100)));
    launch_multiply_add(*other_queue, *other_program, *other_memory, 1, 100);
    EXPECT_EQ(read_back(*other_queue, *other_memory, 100)[99], 198);
}

TEST_P(FailureTest, ASubmissionWithoutMemoryFailsAndTheQueueContinues) {
    write_at(*queue, *memory, 0, bytes_of(counting(1000)));
    for (const int result : faults->out_of_memory) {
        faults->set_submit_result(result);
        EXPECT_THROW(launch(), MemoryError) << result;
    }
    const Point before = queue->last();
    faults->set_submit_result(faults->success);
    EXPECT_EQ(launch(), before + 1);
    EXPECT_EQ(read_back(*queue, *memory, 1000)[999], 3 * 999);
}

TEST_P(FailureTest, AFailedSubmissionAfterACallbackFailsTheWait) {
    launch();  // compiles the variant
    for (const int result : faults->out_of_memory) {
        SCOPED_TRACE(result);
        write_at(*queue, *memory, 0, bytes_of(counting(1000)));
        Gate gate;
        queue->call([&] { gate.pass(); });
        const Point bad = launch();
        faults->set_submit_result(result);
        gate.open();
        EXPECT_THROW(queue->timeline().wait(bad), MemoryError);
        faults->set_submit_result(faults->success);
        const Point good = launch();
        EXPECT_NO_THROW(queue->timeline().wait(good));
        EXPECT_EQ(read_back(*queue, *memory, 1000)[999], 3 * 999) << "one launch has run";
    }
}

TEST_P(FailureTest, ATimedWaitReturnsOnTimeout) {
    faults->freeze();
    const Point point = launch();
    const auto start = std::chrono::steady_clock::now();
    EXPECT_FALSE(queue->timeline().wait_for(point, 30ms));
    EXPECT_GE(std::chrono::steady_clock::now() - start, 30ms);
    faults->thaw();
    EXPECT_TRUE(queue->timeline().wait_for(point, 10s));
}

}  // namespace
}  // namespace volley::testing
