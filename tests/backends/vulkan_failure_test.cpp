// Simulates failing drivers by replacing entries of a device's function table.
#include "backends/vulkan_support.hpp"

#include <volley/error.hpp>
#include <volley/log.hpp>

#include <thread>

namespace volley::backends::vulkan {
namespace {

using backends::Point;
using namespace std::chrono_literals;

std::atomic<VkResult> submit_result{VK_SUCCESS};
std::atomic<VkResult> wait_result{VK_SUCCESS};
std::atomic<bool> frozen{false};
PFN_vkQueueSubmit real_submit = nullptr;
PFN_vkWaitSemaphores real_wait = nullptr;
PFN_vkGetSemaphoreCounterValue real_value = nullptr;

VKAPI_ATTR VkResult VKAPI_CALL fake_submit(VkQueue queue, std::uint32_t count, const VkSubmitInfo* infos,
                                           VkFence fence) {
    const VkResult result = submit_result.load();
    return result == VK_SUCCESS ? real_submit(queue, count, infos, fence) : result;
}
VKAPI_ATTR VkResult VKAPI_CALL fake_wait(VkDevice device, const VkSemaphoreWaitInfo* info,
                                         std::uint64_t timeout) {
    const VkResult result = wait_result.load();
    if (result != VK_SUCCESS) return result;
    if (!frozen) return real_wait(device, info, timeout);
    std::this_thread::sleep_for(std::chrono::nanoseconds(timeout));
    return VK_TIMEOUT;
}
VKAPI_ATTR VkResult VKAPI_CALL fake_value(VkDevice device, VkSemaphore semaphore, std::uint64_t* value) {
    if (!frozen) return real_value(device, semaphore, value);
    *value = 0;
    return VK_SUCCESS;
}

class VulkanFailureTest : public VulkanTest {
protected:
    void SetUp() override {
        VulkanTest::SetUp();
        if (IsSkipped()) return;
        submit_result = wait_result = VK_SUCCESS;
        frozen = false;
        device = open();
        VolkDeviceTable& vk = device->logical().vk;
        real_submit = std::exchange(vk.vkQueueSubmit, fake_submit);
        real_wait = std::exchange(vk.vkWaitSemaphores, fake_wait);
        real_value = std::exchange(vk.vkGetSemaphoreCounterValue, fake_value);
        queue = device->make_queue();
        program = multiply_add(*device);
        memory = device->allocate(4000);
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
            EXPECT_EQ(error.code(), ErrorCode::DeviceLost);
            EXPECT_NE(error.subject().find(device->info().name), std::string_view::npos) << error.what();
            EXPECT_FALSE(error.advice().empty());
        }
    }

    std::unique_ptr<VulkanDevice> device;
    std::unique_ptr<backends::Program> program;
    std::unique_ptr<backends::Memory> memory;
    std::unique_ptr<backends::Queue> queue;  // destroyed first, after waiting for its work
};
VOLLEY_VULKAN_SUITE(VulkanFailureTest);

TEST_P(VulkanFailureTest, ALostDeviceFailsEveryLaterCall) {
    launch();
    submit_result = VK_ERROR_DEVICE_LOST;
    expect_lost([&] { launch(); });
    submit_result = VK_SUCCESS;
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
    EXPECT_EQ(queue->timeline().completed(), queue->last()) << "nothing is left to wait for";
    EXPECT_TRUE(queue->timeline().wait_for(queue->last(), 1s));
}

TEST_P(VulkanFailureTest, AWaitThatDetectsTheLossThrows) {
    frozen = true;
    const Point point = launch();
    wait_result = VK_ERROR_DEVICE_LOST;
    expect_lost([&] { queue->timeline().wait(point); });
}

TEST_P(VulkanFailureTest, WaitingThreadsWakeWhenTheDeviceIsLost) {
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
    submit_result = VK_ERROR_DEVICE_LOST;
    expect_lost([&] { launch(); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(woken, 3);
}

TEST_P(VulkanFailureTest, PendingCommandsAfterACallbackAreDroppedWhenTheDeviceIsLost) {
    Gate gate;
    queue->call([&] { gate.pass(); });
    bool called = false;
    launch();
    queue->call([&] { called = true; });
    submit_result = VK_ERROR_DEVICE_LOST;
    gate.open();
    expect_lost([&] { queue->timeline().wait(queue->last()); });
    queue.reset();  // does not hang
    EXPECT_FALSE(called);
}

TEST_P(VulkanFailureTest, OtherDevicesAreUnaffected) {
    submit_result = VK_ERROR_DEVICE_LOST;
    expect_lost([&] { launch(); });
    const auto other = open();
    const auto other_queue = other->make_queue();
    const auto other_program = multiply_add(*other);
    const auto other_memory = other->allocate(400);
    write_at(*other_queue, *other_memory, 0, bytes_of(counting(100)));
    launch_multiply_add(*other_queue, *other_program, *other_memory, 1, 100);
    EXPECT_EQ(read_back(*other_queue, *other_memory, 100)[99], 198);
}

TEST_P(VulkanFailureTest, ASubmissionWithoutMemoryFailsAndTheQueueContinues) {
    write_at(*queue, *memory, 0, bytes_of(counting(1000)));
    submit_result = VK_ERROR_OUT_OF_HOST_MEMORY;
    EXPECT_THROW(launch(), MemoryError);
    const Point before = queue->last();
    submit_result = VK_SUCCESS;
    EXPECT_EQ(launch(), before + 1);
    EXPECT_EQ(read_back(*queue, *memory, 1000)[999], 3 * 999);
}

PFN_vkAllocateMemory real_staging_allocate = nullptr;
std::atomic<bool> out_of_memory{false};
VKAPI_ATTR VkResult VKAPI_CALL fake_staging_allocate(VkDevice device, const VkMemoryAllocateInfo* info,
                                                     const VkAllocationCallbacks* callbacks,
                                                     VkDeviceMemory* made) {
    return out_of_memory ? VK_ERROR_OUT_OF_HOST_MEMORY : real_staging_allocate(device, info, callbacks, made);
}

TEST_P(VulkanFailureTest, RowsWithoutMemoryForStagingFailAndTheQueueContinues) {
    const std::vector<int> data = counting(1000);
    write_at(*queue, *memory, 0, bytes_of(data));
    real_staging_allocate = std::exchange(device->logical().vk.vkAllocateMemory, fake_staging_allocate);
    Gate gate;
    queue->call([&] { gate.pass(); });  // busy, so rows must be staged, and the ring does not exist yet
    const backends::Rect rect{4, {500, 1}};
    const backends::RectPlace at{0, {8, 0}};
    std::vector<int> result(1000, -1);
    out_of_memory = true;
    EXPECT_THROW(queue->write(*memory, bytes_of(data).data(), {rect, at, at}), MemoryError);
    EXPECT_THROW(queue->read(std::as_writable_bytes(std::span(result)).data(), *memory, {rect, at, at}),
                 MemoryError);
    EXPECT_THROW(queue->fill(*memory, at, rect, std::vector<std::byte>(2)), MemoryError);
    out_of_memory = false;
    queue->copy(*memory, *memory, {rect, {4, {8, 0}}, at});
    queue->read(std::as_writable_bytes(std::span(result)).data(), *memory, {rect, at, {4, {8, 0}}});
    gate.open();
    queue->timeline().wait(queue->last());
    EXPECT_EQ(result[998], 998);
    EXPECT_EQ(result[999], -1);
}

TEST_P(VulkanFailureTest, RowsThatCannotBeSubmittedFailAndTheQueueContinues) {
    VulkanOptions options;
    options.heap.map = false;
    const auto other = open(options);
    real_submit = std::exchange(other->logical().vk.vkQueueSubmit, fake_submit);
    const auto other_queue = other->make_queue();
    const auto block = other->allocate(4000);
    const std::vector<int> data = counting(1000);
    std::vector<int> result(1000, -1);
    std::byte* home = std::as_writable_bytes(std::span(result)).data();
    const backends::Rect rect{4, {500, 1}};
    const backends::RectPlace at{0, {8, 0}};
    write_at(*other_queue, *block, 0, bytes_of(data));
    submit_result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    const Point before = other_queue->last();
    for (int k = 0; k < 3; ++k) {
        EXPECT_THROW(other_queue->write(*block, bytes_of(data).data(), {rect, at, {4, {8, 0}}}), MemoryError);
        EXPECT_THROW(other_queue->read(home, *block, {rect, at, at}), MemoryError);
        EXPECT_THROW(other_queue->copy(*block, *block, {rect, {4, {8, 0}}, at}), MemoryError);
        EXPECT_THROW(other_queue->fill(*block, at, rect, std::vector<std::byte>(2)), MemoryError);
    }
    EXPECT_EQ(other_queue->last(), before);
    submit_result = VK_SUCCESS;
    other_queue->timeline().wait(other_queue->read(home, *block, {rect, at, at}));
    EXPECT_EQ(result[998], 998) << "failed commands have no effect";
    EXPECT_EQ(result[999], -1);
}

TEST_P(VulkanFailureTest, AFailedSubmissionAfterACallbackFailsTheWait) {
    write_at(*queue, *memory, 0, bytes_of(counting(1000)));
    Gate gate;
    queue->call([&] { gate.pass(); });
    const Point bad = launch();
    submit_result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    gate.open();
    EXPECT_THROW(queue->timeline().wait(bad), MemoryError);
    submit_result = VK_SUCCESS;
    const Point good = launch();
    EXPECT_NO_THROW(queue->timeline().wait(good));
    EXPECT_EQ(read_back(*queue, *memory, 1000)[999], 3 * 999) << "one launch has run";
}

TEST_P(VulkanFailureTest, ATimedWaitReturnsOnTimeout) {
    frozen = true;
    const Point point = launch();
    const auto start = std::chrono::steady_clock::now();
    EXPECT_FALSE(queue->timeline().wait_for(point, 30ms));
    EXPECT_GE(std::chrono::steady_clock::now() - start, 30ms);
    frozen = false;
    EXPECT_TRUE(queue->timeline().wait_for(point, 10s));
}

VKAPI_ATTR VkResult VKAPI_CALL refuse_pipeline(VkDevice /*device*/, VkPipelineCache /*cache*/,
                                               std::uint32_t /*count*/,
                                               const VkComputePipelineCreateInfo* /*infos*/,
                                               const VkAllocationCallbacks* /*callbacks*/,
                                               VkPipeline* pipelines) {
    *pipelines = VK_NULL_HANDLE;
    return VK_ERROR_UNKNOWN;
}

TEST_P(VulkanFailureTest, AKernelThatTheDriverRejectsIsACompileError) {
    VolkDeviceTable& vk = device->logical().vk;
    const auto real = std::exchange(vk.vkCreateComputePipelines, refuse_pipeline);
    try {
        (void)multiply_add(*device);
        ADD_FAILURE() << "nothing was thrown";
    } catch (const CompileError& error) {
        EXPECT_NE(error.subject().find("multiply_add"), std::string_view::npos) << error.what();
        EXPECT_NE(error.subject().find(device->info().name), std::string_view::npos) << error.what();
        EXPECT_FALSE(error.advice().empty());
    }
    vk.vkCreateComputePipelines = real;
    EXPECT_TRUE(multiply_add(*device));
}

}  // namespace
}  // namespace volley::backends::vulkan
