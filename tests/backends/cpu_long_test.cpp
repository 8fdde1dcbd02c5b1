// Kernels of unknown length on the CPU: they hold up neither their caller, nor a timed wait, nor other
// queues.
#include "backends/batch_support.hpp"
#include "backends/cpu_support.hpp"
#include "backends/held_kernel.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace volley::backends::cpu {
namespace {

using testing::HeldKernel;
using namespace std::chrono_literals;

class CpuLongTest : public ::testing::TestWithParam<unsigned> {
protected:
    std::unique_ptr<backends::Device> device = open_cpu({.cpu_threads = GetParam()});
    std::unique_ptr<backends::Queue> queue = device->make_queue();
    std::unique_ptr<backends::Queue> other = device->make_queue();
    HeldKernel held{*device};

    /// Waits without helping; returns false if nothing happens for a long time.
    static bool passes(backends::Queue& of, Point point) {
        const auto end = std::chrono::steady_clock::now() + 20s;
        while (of.timeline().completed() < point) {
            if (std::chrono::steady_clock::now() > end) return false;
            std::this_thread::sleep_for(1ms);
        }
        return true;
    }
    static void wait(backends::Queue& of) { of.timeline().wait(of.last()); }
    /// Occupies as many workers as the pool has.
    std::vector<std::unique_ptr<backends::Queue>> hold_all_workers() {
        std::vector<std::unique_ptr<backends::Queue>> queues;
        for (unsigned k = 0; k < GetParam(); ++k) {
            queues.push_back(device->make_queue());
            held.launch(*queues.back());
        }
        return queues;
    }
};

INSTANTIATE_TEST_SUITE_P(Cpu, CpuLongTest, ::testing::Values(1u, 2u, 3u), [](const auto& threads) {
    return "With" + std::to_string(threads.param) + (threads.param == 1 ? "Thread" : "Threads");
});

TEST_P(CpuLongTest, DoesNotRunInItsLaunch) {
    for (const std::uint32_t invocations : {1u, 64u, 65u, 1000u}) {
        HeldKernel one(*device);
        const Point point = one.launch(*queue, invocations);
        EXPECT_LT(queue->timeline().completed(), point) << invocations << " invocations ran in the call";
        one.release();
        queue->timeline().wait(point);
        EXPECT_EQ(one.released(), static_cast<int>(invocations));
    }
}

TEST_P(CpuLongTest, StaysOutOfTheLaunchAfterShortRuns) {
    HeldKernel quick(*device);
    quick.release();
    for (int k = 0; k < 20; ++k) queue->timeline().wait(quick.launch(*queue));
    HeldKernel one(*device);  // the same machine code, measured as very quick
    const Point point = one.launch(*queue);
    EXPECT_LT(queue->timeline().completed(), point);
    one.release();
    queue->timeline().wait(point);
    EXPECT_EQ(one.released(), 1);
}

TEST_P(CpuLongTest, DoesNotDelayATimedWait) {
    const Point point = held.launch(*queue, 64);
    EXPECT_FALSE(queue->timeline().wait_for(point, 0ms));
    EXPECT_FALSE(queue->timeline().wait_for(point, 20ms)) << "the waiting thread ran the kernel to its end";
    held.release();
    EXPECT_TRUE(queue->timeline().wait_for(point, 20s));
    EXPECT_EQ(held.released(), 64);
}

TEST_P(CpuLongTest, DoesNotDelayATimedWaitOfAQueueThatFollows) {
    held.launch(*queue, 64);
    const Point point = other->wait_for(queue->timeline(), queue->last());
    EXPECT_FALSE(other->timeline().wait_for(point, 20ms));
    held.release();
    EXPECT_TRUE(other->timeline().wait_for(point, 20s));
    EXPECT_EQ(held.released(), 64);
}

TEST_P(CpuLongTest, DoesNotDelayATimedWaitInABatch) {
    const auto program = device->compile(testing::held_kernel());
    const auto words = device->allocate(64);
    std::memset(words->host(), 0, words->size());
    const std::atomic_ref<int> flag(*reinterpret_cast<int*>(words->host()));
    const int looks = 100'000'000;
    testing::PlanMaker maker;
    for (int k = 0; k < 3; ++k) {
        maker.add_in_line(testing::launch_command(
            *program, 1, {testing::buffer_argument(*words, 16), testing::value_argument(looks)}));
    }
    const auto batch = queue->prepare(maker.finish());
    const Point point = queue->submit(*batch, 1, {});
    EXPECT_LT(queue->timeline().completed(), point) << "it ran in the call";
    EXPECT_FALSE(queue->timeline().wait_for(point, 20ms));
    flag.store(1);
    EXPECT_TRUE(queue->timeline().wait_for(point, 20s));
    EXPECT_EQ(contents<int>(*words)[1], 3);
}

TEST_P(CpuLongTest, LeavesOtherQueuesATurnWithoutAWait) {
    const auto holding = hold_all_workers();
    const auto memory = device->allocate(std::size_t{4} << 20);
    const std::byte pattern[] = {std::byte{7}};
    const Point filled = fill_at(*other, *memory, 0, memory->size(), pattern);
    EXPECT_TRUE(passes(*other, filled));
    EXPECT_EQ(contents<std::byte>(*memory).back(), std::byte{7});
    held.release();
    for (const auto& one : holding) wait(*one);
    EXPECT_EQ(held.released(), static_cast<int>(GetParam()));
}

TEST_P(CpuLongTest, LeavesKernelsOfUnknownLengthATurn) {
    const auto holding = hold_all_workers();
    HeldKernel quick(*device);
    quick.release();
    for (int k = 0; k < 3; ++k) {
        const Point point = quick.launch(*other, 1000);
        EXPECT_TRUE(k == 0 ? passes(*other, point) : other->timeline().wait_for(point, 20s));
    }
    EXPECT_EQ(quick.released(), 3000);
    held.release();
    for (const auto& one : holding) wait(*one);
}

TEST_P(CpuLongTest, MayHoldMoreThreadsThanThePoolHas) {
    std::vector<std::unique_ptr<backends::Queue>> queues;
    for (int k = 0; k < 8; ++k) {
        queues.push_back(device->make_queue());
        held.launch(*queues.back());
    }
    const auto program = device->compile(testing::multiply_add_kernel());
    const std::uint32_t count = 1'000'000;
    const auto memory = device->allocate(count * sizeof(int));
    std::memset(memory->host(), 0, memory->size());
    EXPECT_TRUE(passes(*other, launch_multiply_add(*other, *program, *memory, 1, count)));
    EXPECT_EQ(contents<int>(*memory).back(), static_cast<int>(count) - 1);
    held.release();
    for (const auto& one : queues) wait(*one);
    EXPECT_EQ(held.released(), 8);
}

}  // namespace
}  // namespace volley::backends::cpu
