// Batches on Vulkan devices after host commands, on several threads, and with failing drivers.
#include "backends/vulkan_batch_support.hpp"

#include <volley/error.hpp>

#include <thread>

namespace volley::backends::vulkan {
namespace {

class VulkanBatchFailureTest : public VulkanBatchFixture {};
VOLLEY_VULKAN_SUITE(VulkanBatchFailureTest);

// ---- the host's commands, threads ----

TEST_P(VulkanBatchFailureTest, IsSubmittedManyTimesBehindACallback) {
    const auto a = filled(64, 1);
    VulkanBatch& own = prepare({multiply_dynamic(*a, 64)}, 16);
    std::vector<int> factors;
    {
        Gate gate;
        queue->call([&] { gate.pass(); });
        for (int k = 0; k < 30; ++k) {
            const std::vector<int> values = odd_numbers(3, k);
            submit(values);  // would never return if it waited
            factors.insert(factors.end(), values.begin(), values.end());
        }
        EXPECT_LT(queue->timeline().completed(), 2u);
        EXPECT_EQ(own.recordings(), 60u);
        gate.open();
        queue->timeline().wait(queue->last());
    }
    EXPECT_EQ(last_of(*a), after_all(1, factors, 63));
    submit(odd_numbers(3));
    EXPECT_LE(own.recordings(), 8u) << "what was needed once is not kept";
}

TEST_P(VulkanBatchFailureTest, IsSubmittedFromACallback) {
    const auto a = filled(64, 1);
    prepare({multiply_dynamic(*a, 64)}, 16);
    queue->call([&] {
        for (int k = 0; k < 20; ++k) submit(std::vector<int>{3});
    });
    queue->timeline().wait(queue->last());
    queue->timeline().wait(queue->last());
    EXPECT_EQ(last_of(*a), after_all(1, std::vector<int>(20, 3), 63));
}

TEST_P(VulkanBatchFailureTest, IsSubmittedFromSeveralThreads) {
    const auto a = filled(64, 0);
    prepare({multiply_dynamic(*a, 64)}, 16);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int k = 0; k < 50; ++k) submit(std::vector<int>{1, 1, 1});
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(last_of(*a), 600u * 63u);
}

TEST_P(VulkanBatchFailureTest, LaunchesAndTransfersAroundItKeepTheirOrder) {
    const auto a = filled(64, 1);
    prepare({multiply_dynamic(*a, 64), multiply(*a, 64, {0})}, 16);
    std::vector<int> factors;
    for (int k = 0; k < 20; ++k) {
        launch_multiply_add(*queue, *program, *a, k, 64);
        submit(std::vector<int>{k + 1, k + 2});
        factors.insert(factors.end(), {k, k + 1, 2, k + 2, 2});
    }
    EXPECT_EQ(last_of(*a), after_all(1, factors, 63));
}

// ---- failures ----

TEST_P(VulkanBatchFailureTest, ASubmissionThatFailsLeavesTheBatchUsable) {
    const auto a = filled(64, 1);
    for (const bool dynamic : {false, true}) {
        dynamic ? prepare({multiply_dynamic(*a, 64)}, 16) : prepare({multiply(*a, 64)});
        const auto submit_again = [&] { return dynamic ? submit(std::vector<int>(5, 2)) : submit(5); };
        const Point before = queue->last();
        Watch::submit_result = VK_ERROR_OUT_OF_HOST_MEMORY;
        for (int k = 0; k < 10; ++k) EXPECT_THROW(submit_again(), MemoryError);
        EXPECT_EQ(queue->last(), before);
        Watch::submit_result = VK_SUCCESS;
        write_at(*queue, *a, 0, bytes_of(std::vector<int>(64, 1)));
        EXPECT_EQ(submit_again(), before + 1);
        EXPECT_EQ(last_of(*a), after_all(1, std::vector<int>(5, 2), 63));
        EXPECT_LE(static_cast<VulkanBatch&>(*batch).recordings(), 2u) << "of four and of one";
    }
}

TEST_P(VulkanBatchFailureTest, AFailureBehindACallbackIsTheQueuesError) {
    const auto a = filled(64, 1);
    prepare({multiply_dynamic(*a, 64)}, 16);
    Point bad = 0;
    {
        Gate gate;
        queue->call([&] { gate.pass(); });
        bad = submit(std::vector<int>{3, 3});
        Watch::submit_result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
        gate.open();
        EXPECT_THROW(queue->timeline().wait(bad), MemoryError);
    }
    Watch::submit_result = VK_SUCCESS;
    EXPECT_NO_THROW(queue->timeline().wait(submit(std::vector<int>{5, 7})));
    EXPECT_EQ(last_of(*a), after_all(1, {5, 7}, 63));
}

TEST_P(VulkanBatchFailureTest, ARecordingThatFailsLeavesNothingBehind) {
    const auto a = filled(64, 1);
    Watch::begin_result = VK_ERROR_OUT_OF_HOST_MEMORY;
    EXPECT_THROW(prepare({multiply(*a, 64)}), MemoryError);
    Watch::begin_result = VK_SUCCESS;
    VulkanBatch& own = prepare({multiply_dynamic(*a, 64)}, 16);
    submit(std::vector<int>{3});
    Watch::begin_result = VK_ERROR_OUT_OF_HOST_MEMORY;
    EXPECT_THROW(submit(std::vector<int>{3, 3, 3}), MemoryError);
    EXPECT_EQ(own.recordings(), 1u);
    Watch::begin_result = VK_SUCCESS;
    submit(std::vector<int>{5, 7, 11});
    EXPECT_EQ(last_of(*a), after_all(1, {3, 5, 7, 11}, 63));
}

TEST_P(VulkanBatchFailureTest, NoMemoryForArgumentsIsAnError) {
    const auto a = filled(64, 1);
    prepare({multiply_dynamic(*a, 64)}, 16);
    Watch::allocate_result = VK_ERROR_OUT_OF_HOST_MEMORY;  // the host's heap has no block yet
    EXPECT_THROW(submit(std::vector<int>{3}), MemoryError);
    Watch::allocate_result = VK_SUCCESS;
    submit(std::vector<int>{5});
    EXPECT_EQ(last_of(*a), after_all(1, {5}, 63));
}

TEST_P(VulkanBatchFailureTest, ALostDeviceSaysSo) {
    const auto a = filled(64, 1);
    prepare({multiply_dynamic(*a, 64)}, 16);
    submit(std::vector<int>{3});
    Watch::submit_result = VK_ERROR_DEVICE_LOST;
    const auto code_of = [](const auto& f) {
        try {
            f();
        } catch (const DeviceError& error) {
            return error.code();
        }
        return ErrorCode::InvalidArgument;
    };
    EXPECT_EQ(code_of([&] { submit(std::vector<int>{3}); }), ErrorCode::DeviceLost);
    Watch::submit_result = VK_SUCCESS;
    EXPECT_EQ(code_of([&] { submit(std::vector<int>{3}); }), ErrorCode::DeviceLost);
    EXPECT_EQ(code_of([&] { static_cast<void>(queue->prepare({})); }), ErrorCode::DeviceLost);
    EXPECT_EQ(queue->timeline().completed(), queue->last());
}

TEST_P(VulkanBatchFailureTest, AKernelThatCannotBeMadeFailsWhenTheBatchIsPrepared) {
    const auto a = filled(64, 1);
    BatchCommand command = multiply(*a, 64);
    const auto raw = vulkan::multiply_add(*device);
    command.program = raw.get();
    command.local = {32, 1, 1};
    EXPECT_THROW(prepare({command}), LaunchError);
}

}  // namespace
}  // namespace volley::backends::vulkan
