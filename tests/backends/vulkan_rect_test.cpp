// Transfers of separate rows on Vulkan: which driver commands they use, and that each of these ways
// moves the right bytes. tests/backends/rect_test.cpp has what holds for every backend.
#include "backends/vulkan_support.hpp"

#include "backends/rect_support.hpp"

#include <volley/error.hpp>

#include <atomic>
#include <utility>

namespace volley::backends::vulkan {
namespace {

std::atomic<unsigned> submissions{0}, copies{0}, fills{0}, dispatches{0};
PFN_vkQueueSubmit counted_submit = nullptr;
PFN_vkCmdCopyBuffer real_copy = nullptr;
PFN_vkCmdFillBuffer real_fill = nullptr;
PFN_vkCmdDispatch real_dispatch = nullptr;

VKAPI_ATTR VkResult VKAPI_CALL count_submit(VkQueue queue, std::uint32_t count, const VkSubmitInfo* infos,
                                            VkFence fence) {
    ++submissions;
    return counted_submit(queue, count, infos, fence);
}
VKAPI_ATTR void VKAPI_CALL count_copy(VkCommandBuffer buffer, VkBuffer from, VkBuffer to, std::uint32_t count,
                                      const VkBufferCopy* regions) {
    ++copies;
    real_copy(buffer, from, to, count, regions);
}
VKAPI_ATTR void VKAPI_CALL count_fill(VkCommandBuffer buffer, VkBuffer to, VkDeviceSize offset,
                                      VkDeviceSize bytes, std::uint32_t word) {
    ++fills;
    real_fill(buffer, to, offset, bytes, word);
}
VKAPI_ATTR void VKAPI_CALL count_dispatch(VkCommandBuffer buffer, std::uint32_t x, std::uint32_t y,
                                          std::uint32_t z) {
    ++dispatches;
    real_dispatch(buffer, x, y, z);
}

/// On memory that the host cannot address: the device does all of it.
class VulkanRectTest : public VulkanTest {
protected:
    void SetUp() override {
        VulkanTest::SetUp();
        if (IsSkipped()) return;
        VulkanOptions options;
        options.heap.map = false;
        device = open(options);
        VolkDeviceTable& vk = device->logical().vk;
        counted_submit = std::exchange(vk.vkQueueSubmit, count_submit);
        real_copy = std::exchange(vk.vkCmdCopyBuffer, count_copy);
        real_fill = std::exchange(vk.vkCmdFillBuffer, count_fill);
        real_dispatch = std::exchange(vk.vkCmdDispatch, count_dispatch);
        queue = device->make_queue();
    }
    void start_counting() { submissions = copies = fills = dispatches = 0; }

    /// All four on blocks that just hold the places, compared byte by byte.
    void expect_like_loops(const RectPlace& to_at, const RectPlace& from_at, const Rect& rect,
                           std::size_t pattern_bytes = 1) {
        Random random(5);
        Bytes from = random_bytes(random, end_of(from_at, rect) + 3);
        Bytes to = random_bytes(random, end_of(to_at, rect) + 3);
        const auto a = device->allocate(from.size());
        const auto b = device->allocate(to.size());
        write_at(*queue, *a, 0, from);
        write_at(*queue, *b, 0, to);
        const auto expect_same = [&](const char* what) {
            Bytes now(to.size());
            queue->timeline().wait(read_at(*queue, *b, 0, now));
            EXPECT_TRUE(now == to) << what << " of " << rect << " " << to_at << " from " << from_at;
        };
        queue->copy(*b, *a, {rect, to_at, from_at});
        copy_on_host(to.data(), to_at, from.data(), from_at, rect);
        expect_same("copy");

        const Bytes pattern = random_bytes(random, pattern_bytes);
        queue->fill(*b, to_at, rect, pattern);
        fill_on_host(to.data(), to_at, rect, pattern);
        expect_same("fill");

        const Bytes data = random_bytes(random, from.size());
        queue->write(*b, data.data(), {rect, to_at, from_at});
        copy_on_host(to.data(), to_at, data.data(), from_at, rect);
        expect_same("write");

        Bytes read(from.size(), std::byte{7});
        Bytes expected = read;
        queue->timeline().wait(queue->read(read.data(), *b, {rect, from_at, to_at}));
        copy_on_host(expected.data(), from_at, to.data(), to_at, rect);
        EXPECT_TRUE(read == expected) << "read of " << rect << " " << to_at << " to " << from_at;
    }

    std::unique_ptr<VulkanDevice> device;
    std::unique_ptr<backends::Queue> queue;
};
VOLLEY_VULKAN_SUITE(VulkanRectTest);

TEST_P(VulkanRectTest, ShortRowsAreMovedByAKernelOfEachWordSize) {
    for (const std::uint64_t word : {1u, 2u, 4u, 8u, 16u}) {
        for (const std::uint64_t words : {1u, 3u, 5u, 17u}) {
            if (word * words >= 128) continue;  // long enough for a region
            const Rect rect{word * words, {301, 3}};
            const RectPlace narrow{word, {word * (words + 1), word * (words + 1) * 310}};
            const RectPlace wide{3 * word, {word * (words + 6), word * (words + 6) * 301}};
            start_counting();
            expect_like_loops(narrow, wide, rect, word);
            EXPECT_EQ(dispatches, 4u) << "one for each of the four";
        }
    }
}

TEST_P(VulkanRectTest, WordsAreAsWideAsTheLeastAlignedNumberAllows) {
    const Rect rect{16, {200, 2}};
    expect_like_loops({1, {16, 4000}}, {0, {32, 6400}}, rect, 8);
    expect_like_loops({0, {17, 4000}}, {0, {32, 6400}}, rect, 16);
    expect_like_loops({0, {32, 6402}}, {4, {48, 9600}}, rect, 4);
    expect_like_loops({0, {32, 6416}}, {8, {16, 3201}}, rect, 2);
}

TEST_P(VulkanRectTest, GridsBeyondTheDriversLimitAreCut) {
    expect_like_loops({0, {8, 20}}, {0, {4, 12}}, {4, {2, 70'000}}, 4);
    expect_like_loops({0, {3, 8}}, {0, {2, 5}}, {1, {2, 140'000}});
}

TEST_P(VulkanRectTest, FewRowsAndLongOnesAreRegions) {
    start_counting();
    expect_like_loops({12, {5000, 60'000}}, {0, {4096, 45'056}}, {4096, {11, 20}}, 12);
    EXPECT_EQ(dispatches, 0u);
    expect_like_loops({3, {11, 0}}, {1, {13, 0}}, {7, {60, 1}}, 7);
    EXPECT_EQ(dispatches, 0u);
}

TEST_P(VulkanRectTest, LongRowsTakeLongPatterns) {
    expect_like_loops({4, {400'000, 0}}, {0, {300'000, 0}}, {300'000, {3, 1}}, 3);
    expect_like_loops({4, {400'000, 0}}, {0, {300'000, 0}}, {300'000, {3, 1}}, 150'000);
    expect_like_loops({4, {400'000, 0}}, {0, {300'000, 0}}, {300'000, {2, 1}}, 4);
}

TEST_P(VulkanRectTest, EachIsOneSubmissionAndTheCallsThatItTells) {
    struct Case {
        RectPlace to, from;
        Rect rect;
        unsigned calls;
    };
    const Case all[] = {
        {{0, {8, 0}}, {0, {12, 0}}, {4, {100'000, 1}}, 1},        // a kernel
        {{0, {4, 4000}}, {0, {4, 4000}}, {4, {1000, 50}}, 1},     // they touch: one region
        {{0, {5000, 0}}, {0, {6000, 0}}, {4096, {600, 1}}, 3},    // regions
        {{0, {10, 200}}, {0, {10, 300}}, {6, {3, 4}}, 1},         // a few
        {{0, {8, 16'000}}, {0, {8, 16'004}}, {4, {2000, 1}}, 1},  // one plane of them
    };
    for (const Case& c : all) {
        const auto a = device->allocate(end_of(c.from, c.rect));
        const auto b = device->allocate(end_of(c.to, c.rect));
        queue->timeline().wait(queue->last());
        start_counting();
        const backends::Point before = queue->last();
        const backends::Point point = queue->copy(*b, *a, {c.rect, c.to, c.from});
        EXPECT_EQ(point, before + 1);
        EXPECT_EQ(submissions, 1u);
        EXPECT_EQ(copies + dispatches, c.calls);
        EXPECT_EQ(queue->driver_calls({c.rect, c.to, c.from}), c.calls);
        start_counting();
        queue->fill(*b, c.to, c.rect, std::vector<std::byte>(2, std::byte{1}));
        EXPECT_EQ(submissions, 1u);
        queue->timeline().wait(queue->last());
    }
}

TEST_P(VulkanRectTest, AKernelThatTheDriverRefusesFailsAloneAndTheQueueGoesOn) {
    const Rect rect{4, {1000, 1}};
    const auto a = device->allocate(8000);
    VolkDeviceTable& vk = device->logical().vk;
    const auto real =
        std::exchange(vk.vkCreateComputePipelines,
                      [](VkDevice, VkPipelineCache, std::uint32_t, const VkComputePipelineCreateInfo*,
                         const VkAllocationCallbacks*, VkPipeline* made) -> VkResult {
                          *made = VK_NULL_HANDLE;
                          return VK_ERROR_OUT_OF_HOST_MEMORY;
                      });
    EXPECT_THROW(queue->copy(*a, *a, {rect, {4, {8, 0}}, {0, {8, 0}}}), MemoryError);
    const std::vector<int> data = counting(2000);
    EXPECT_THROW(queue->write(*a, bytes_of(data).data(), {rect, {0, {8, 0}}, {0, {8, 0}}}), MemoryError);
    vk.vkCreateComputePipelines = real;
    queue->write(*a, bytes_of(data).data(), {rect, {0, {8, 0}}, {0, {8, 0}}});
    queue->copy(*a, *a, {rect, {4, {8, 0}}, {0, {8, 0}}});
    const std::vector<int> result = read_back(*queue, *a, 2000);
    EXPECT_EQ(result[1998], 1998);
    EXPECT_EQ(result[1999], 1998) << "copied between the rows of one block";
}

TEST_P(VulkanRectTest, ManyQueuesShareTheKernels) {
    std::vector<std::unique_ptr<backends::Queue>> queues;
    std::vector<std::unique_ptr<backends::Memory>> blocks;
    for (int q = 0; q < 4; ++q) {
        queues.push_back(device->make_queue());
        blocks.push_back(device->allocate(8000));
    }
    std::vector<std::thread> threads;
    for (std::size_t q = 0; q < 4; ++q) {
        threads.emplace_back([&, q] {
            const std::vector<int> data = counting(2000, static_cast<int>(q));
            for (int k = 0; k < 20; ++k) {
                write_at(*queues[q], *blocks[q], 0, bytes_of(data));
                queues[q]->copy(*blocks[q], *blocks[q], {{4, {1000, 1}}, {4, {8, 0}}, {0, {8, 0}}});
                const std::vector<int> result = read_back(*queues[q], *blocks[q], 2000);
                EXPECT_EQ(result[1999], 1998 + static_cast<int>(q));
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace volley::backends::vulkan
