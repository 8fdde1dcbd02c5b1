// Barriers before commands of a Vulkan queue: a command starts with one unless it is already ordered after
// everything that it depends on.
#include "backends/vulkan/vulkan_batch.hpp"
#include "backends/vulkan_support.hpp"
#include "backends/vulkan_watch.hpp"

#include <volley/error.hpp>

#include <optional>
#include <thread>

namespace volley::backends::vulkan {
namespace {

class VulkanOrderTest : public VulkanTest {
protected:
    void SetUp() override {
        VulkanTest::SetUp();
        if (IsSkipped()) return;
        device = open();
        watch.emplace(device->logical());
        queue = device->make_queue();
        program = multiply_add(*device);
        memory = device->allocate(4 * 4096);
        // Held back, so that no earlier command has completed when the next one is submitted.
        queue->call([this] { gate.pass(); });
    }
    void TearDown() override {
        gate.open();
        queue.reset();
        watch.reset();
        VulkanTest::TearDown();
    }
    /// Multiplies one of four parts by the factor; returns the point.
    Point launch(unsigned part, Point after, int factor = 2) {
        backends::Argument args[2];
        args[0].memory = memory.get();
        args[0].offset = part * 4096;
        args[0].elements = 1024;
        args[1].value = &factor;
        return queue->launch({program.get(), {1024, 1, 1}, {64, 1, 1}, args, after});
    }
    /// Returns whether a launch after that point starts with a barrier.
    bool has_barrier(unsigned part, Point after) {
        return Watch::during(Watch::barriers, [&] { launch(part, after); }) == 1;
    }

    std::unique_ptr<VulkanDevice> device;
    std::optional<Watch> watch;
    std::unique_ptr<backends::Program> program;
    std::unique_ptr<backends::Memory> memory;
    Gate gate;
    std::unique_ptr<backends::Queue> queue;
};
VOLLEY_VULKAN_SUITE(VulkanOrderTest);

TEST_P(VulkanOrderTest, LaunchesWithoutDependenciesHaveNoBarrier) {
    for (unsigned part = 0; part < 4; ++part) EXPECT_FALSE(has_barrier(part, 0));
}

TEST_P(VulkanOrderTest, ALaunchThatFollowsAnotherHasABarrier) {
    const Point first = launch(0, 0);
    EXPECT_TRUE(has_barrier(0, first));
}

TEST_P(VulkanOrderTest, OneBarrierOrdersAllEarlierCommands) {
    Point points[4];
    for (unsigned part = 0; part < 4; ++part) points[part] = launch(part, 0);
    EXPECT_TRUE(has_barrier(2, points[2]));
    for (const unsigned part : {0u, 1u, 3u}) EXPECT_FALSE(has_barrier(part, points[part])) << part;
    EXPECT_TRUE(has_barrier(0, queue->last() - 2)) << "commands after that barrier are not ordered by it";
}

TEST_P(VulkanOrderTest, ALaunchFollowsEverythingByDefault) {
    launch(0, 0);
    EXPECT_TRUE(has_barrier(1, Launch::everything));
    EXPECT_TRUE(has_barrier(2, Launch::everything));
}

TEST_P(VulkanOrderTest, TransfersFollowEverything) {
    launch(0, 0);
    EXPECT_EQ(Watch::during(Watch::barriers, [&] { copy_at(*queue, *memory, 0, *memory, 4096, 4096); }), 1u);
    EXPECT_EQ(Watch::during(Watch::barriers,
                            [&] { fill_at(*queue, *memory, 8192, 4096, std::vector<std::byte>(4)); }),
              1u);
}

TEST_P(VulkanOrderTest, EachDoublingOfAFillFollowsTheOneBefore) {
    constexpr std::size_t size = 960'000;
    const auto target = device->allocate(size);
    std::vector<std::byte> pattern(12);
    for (std::size_t i = 0; i < pattern.size(); ++i) pattern[i] = static_cast<std::byte>(i + 1);
    fill_at(*queue, *target, 0, size, pattern);
    EXPECT_EQ(Watch::copies, 5u) << "64 KiB, doubled four times";
    EXPECT_EQ(Watch::unordered_copies, 0u);
    gate.open();
    std::vector<std::byte> back(size);
    queue->timeline().wait(read_at(*queue, *target, 0, back));
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(back[i], pattern[i % 12]) << i;
}

TEST_P(VulkanOrderTest, CommandsOfRealDevicesEndWithABarrierForTheHost) {
    gate.open();
    queue->timeline().wait(queue->last());
    launch(0, Launch::everything);
    EXPECT_EQ(Watch::host_barriers, 0u) << "drivers on host cores would wait for it";
    // Pretends that the driver has a device. The member that this changes is not const.
    const_cast<PhysicalDevice&>(device->logical().physical()).info.software = false;
    EXPECT_EQ(Watch::during(Watch::host_barriers, [&] { launch(0, Launch::everything); }), 1u);
    backends::BatchCommand command;
    command.program = program.get();
    command.global = {1024, 1, 1};
    command.local = {64, 1, 1};
    command.args.resize(2);
    command.args[0].memory = memory.get();
    command.args[0].elements = 1024;
    const int factor = 3;
    command.args[1].value = &factor;
    std::unique_ptr<backends::Batch> batch;
    const auto submit_batch = [&] {
        batch = queue->prepare({{command}, 0});
        queue->submit(*batch, 1, {});
    };
    EXPECT_EQ(Watch::during(Watch::host_barriers, submit_batch), 1u);
    queue->timeline().wait(queue->last());
    const_cast<PhysicalDevice&>(device->logical().physical()).info.software = true;
}

TEST_P(VulkanOrderTest, AFailedCommandOrdersNothing) {
    gate.open();
    queue->timeline().wait(queue->last());
    const Point first = launch(0, 0);
    Watch::submit_result = VK_ERROR_OUT_OF_HOST_MEMORY;
    EXPECT_THROW(launch(0, Launch::everything), MemoryError);
    Watch::submit_result = VK_SUCCESS;
    // Unless it is known to have completed by now.
    const bool done = static_cast<VulkanTimeline&>(queue->timeline()).reached() >= first;
    EXPECT_TRUE(has_barrier(0, first) || done);
}

TEST_P(VulkanOrderTest, CompletedWorkNeedsNoBarrierOnHostCores) {
    gate.open();
    launch(0, Launch::everything);
    queue->timeline().wait(queue->last());
    EXPECT_FALSE(has_barrier(0, Launch::everything));
    EXPECT_FALSE(has_barrier(1, 0));
}

TEST_P(VulkanOrderTest, ObservingCompletionWaitsOnTheHost) {
    gate.open();
    const Point point = launch(0, Launch::everything);
    const auto see = [&] {
        while (queue->timeline().completed() < point) std::this_thread::yield();
    };
    EXPECT_GE(Watch::during(Watch::waits, see), 1u) << "reading the counter does not synchronise";
    EXPECT_EQ(Watch::during(Watch::waits, see), 0u);
    const auto other = device->make_queue();
    EXPECT_EQ(Watch::during(Watch::submits, [&] { other->wait_for(queue->timeline(), point); }), 0u);
}

TEST_P(VulkanOrderTest, ResultsMatchTheOrder) {
    gate.open();
    queue->timeline().wait(queue->last());
    write_at(*queue, *memory, 0, bytes_of(std::vector<int>(4096, 1)));
    Point last[4] = {};
    unsigned expected[4] = {1, 1, 1, 1};
    for (int k = 0; k < 400; ++k) {
        const auto part = static_cast<unsigned>(k * k % 7 % 4);
        last[part] = launch(part, last[part], k | 1);
        expected[part] = expected[part] * static_cast<unsigned>(k | 1) + 1023;
    }
    const std::vector<int> result = read_back(*queue, *memory, 4096);
    for (unsigned part = 0; part < 4; ++part)
        EXPECT_EQ(static_cast<unsigned>(result[part * 1024 + 1023]), expected[part]) << part;
}

}  // namespace
}  // namespace volley::backends::vulkan
