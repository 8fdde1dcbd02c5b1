// Failures of Vulkan drivers; failure_test.cpp has those of any driver.
#include "backends/vulkan_faults.hpp"
#include "backends/vulkan_support.hpp"

#include <volley/error.hpp>
#include <volley/log.hpp>

#include <optional>

namespace volley::backends::vulkan {
namespace {

class VulkanFailureTest : public VulkanTest {
protected:
    void SetUp() override {
        VulkanTest::SetUp();
        if (IsSkipped()) return;
        device = open();
        faults.emplace(*device);
        queue = device->make_queue();
        program = multiply_add(*device);
        memory = device->allocate(4000);
    }
    Point launch(std::uint32_t count = 1000) {
        return launch_multiply_add(*queue, *program, *memory, 2, count);
    }

    template <class F>
    void expect_lost(F&& f) {
        testing::expect_lost(device->info().name, f);
    }

    std::unique_ptr<VulkanDevice> device;
    std::optional<VulkanFaults> faults;
    std::unique_ptr<backends::Program> program;
    std::unique_ptr<backends::Memory> memory;
    std::unique_ptr<backends::Queue> queue;  // destroyed first, after waiting for its work
};
VOLLEY_VULKAN_SUITE(VulkanFailureTest);

TEST_P(VulkanFailureTest, AWaitThatDetectsTheLossThrows) {
    faults->freeze();
    const Point point = launch();
    VulkanFaults::wait_result = VK_ERROR_DEVICE_LOST;
    expect_lost([&] { queue->timeline().wait(point); });
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
    VulkanFaults::add_submissions_of(*other);
    const auto other_queue = other->make_queue();
    const auto block = other->allocate(4000);
    const std::vector<int> data = counting(1000);
    std::vector<int> result(1000, -1);
    std::byte* home = std::as_writable_bytes(std::span(result)).data();
    const backends::Rect rect{4, {500, 1}};
    const backends::RectPlace at{0, {8, 0}};
    write_at(*other_queue, *block, 0, bytes_of(data));
    faults->set_submit_result(VK_ERROR_OUT_OF_DEVICE_MEMORY);
    const Point before = other_queue->last();
    for (int k = 0; k < 3; ++k) {
        EXPECT_THROW(other_queue->write(*block, bytes_of(data).data(), {rect, at, {4, {8, 0}}}), MemoryError);
        EXPECT_THROW(other_queue->read(home, *block, {rect, at, at}), MemoryError);
        EXPECT_THROW(other_queue->copy(*block, *block, {rect, {4, {8, 0}}, at}), MemoryError);
        EXPECT_THROW(other_queue->fill(*block, at, rect, std::vector<std::byte>(2)), MemoryError);
    }
    EXPECT_EQ(other_queue->last(), before);
    faults->set_submit_result(VK_SUCCESS);
    other_queue->timeline().wait(other_queue->read(home, *block, {rect, at, at}));
    EXPECT_EQ(result[998], 998) << "failed commands have no effect";
    EXPECT_EQ(result[999], -1);
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
