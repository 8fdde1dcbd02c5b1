// Commands that fail after a part of them was submitted, and commands that fail when they are submitted after
// pending host commands: they must have no effects later.
#include "backends/api/times.hpp"
#include "backends/vulkan_support.hpp"
#include "backends/vulkan_watch.hpp"

#include <volley/error.hpp>

#include <algorithm>
#include <functional>
#include <optional>

namespace volley::backends::vulkan {
namespace {

using namespace std::chrono_literals;

/// Counts reported times.
class Told final : public backends::CommandTimes {
public:
    void ran(std::uint32_t /*index*/, std::int64_t /*begin*/, std::int64_t /*end*/) noexcept override {
        ++count;
    }
    std::atomic<int> count{0};
};

class VulkanMidwayTest : public VulkanTest {
protected:
    static constexpr std::size_t chunk = 1024;  // ints
    static constexpr std::size_t all = 4 * chunk;

    void SetUp() override {
        VulkanTest::SetUp();
        if (IsSkipped()) return;
        VulkanOptions options;
        options.heap.map = false;
        options.queue = {.staging_bytes = 16 * chunk * sizeof(int), .chunk_bytes = chunk * sizeof(int)};
        device = open(options);
        watch.emplace(device->logical());
        queue = device->make_queue();
        program = multiply_add(*device);
        memory = device->allocate(all * sizeof(int));
        queue->timeline().wait(write_at(*queue, *memory, 0, bytes_of(data)));
    }
    void TearDown() override {
        Watch::frozen = false;
        Watch::submit_result = Watch::begin_result = Watch::wait_submit_result = VK_SUCCESS;
        queue.reset();
        memory.reset();
        program.reset();
        watch.reset();
        device.reset();
        VulkanTest::TearDown();
    }
    Point launch() { return launch_multiply_add(*queue, *program, *memory, 2, all); }
    static std::byte* bytes_in(std::vector<int>& home) {
        return std::as_writable_bytes(std::span(home)).data();
    }
    /// The ways to read the whole buffer.
    using Read = std::function<Point(std::vector<int>& home)>;
    std::vector<Read> ways() {
        return {[this](std::vector<int>& home) {
                    return read_at(*queue, *memory, 0, std::as_writable_bytes(std::span(home)));
                },
                [this](std::vector<int>& home) {
                    const backends::RectPlace at{0, {64, 0}};
                    return queue->read(bytes_in(home), *memory, {{64, {all / 16, 1}}, at, at});
                }};
    }
    void wait() { queue->timeline().wait(queue->last()); }

    const std::vector<int> data = counting(all, 1);
    const std::vector<int> untouched = std::vector<int>(all, -1);
    std::unique_ptr<VulkanDevice> device;
    std::optional<Watch> watch;
    std::unique_ptr<backends::Program> program;
    std::unique_ptr<backends::Memory> memory;
    std::unique_ptr<backends::Queue> queue;
};
VOLLEY_VULKAN_SUITE(VulkanMidwayTest);

// ---- reads in chunks ----

TEST_P(VulkanMidwayTest, AReadWhoseThirdChunkFailsDoesNotWriteToTheHostLater) {
    for (const Read& read : ways()) {
        std::vector<int> home(all);
        Watch::spared = 2;
        Watch::submit_result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
        EXPECT_THROW(read(home), MemoryError);
        Watch::submit_result = VK_SUCCESS;
        home = untouched;
        wait();
        EXPECT_EQ(home, untouched) << "the caller owns the memory again";
        queue->timeline().wait(read(home));
        EXPECT_EQ(home, data) << "the queue continues";
    }
}

TEST_P(VulkanMidwayTest, AReadAfterACallbackWhoseThirdChunkFailsReturnsAndDoesNotWriteToTheHostLater) {
    for (const Read& read : ways()) {
        std::vector<int> home = untouched;
        Gate gate;
        queue->call([&] { gate.pass(); });
        Watch::spared = 2;
        Watch::begin_result = VK_ERROR_OUT_OF_HOST_MEMORY;
        EXPECT_THROW(read(home), MemoryError) << "without waiting for the callback";
        Watch::begin_result = VK_SUCCESS;
        gate.open();
        wait();
        EXPECT_EQ(home, untouched);
    }
}

TEST_P(VulkanMidwayTest, AReadThatFailsMidwayDoesNotAffectOthers) {
    for (const Read& read : ways()) {
        std::vector<int> home = untouched, failed = untouched;
        const Point point = read(home);
        Watch::spared = 2;
        Watch::submit_result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
        EXPECT_THROW(read(failed), MemoryError);
        Watch::submit_result = VK_SUCCESS;
        queue->timeline().wait(point);
        EXPECT_EQ(home, data);
    }
}

// ---- commands that fail when they are submitted later ----

TEST_P(VulkanMidwayTest, AReadThatFailsAfterACallbackDoesNotWriteToTheHost) {
    for (const Read& read : ways()) {
        std::vector<int> home = untouched;
        Gate gate;
        queue->call([&] { gate.pass(); });
        const Point bad = read(home);
        Watch::submit_result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
        gate.open();
        EXPECT_THROW(queue->timeline().wait(bad), MemoryError);
        Watch::submit_result = VK_SUCCESS;
        EXPECT_EQ(home, untouched);
    }
}

TEST_P(VulkanMidwayTest, ATimedCommandThatFailsAfterACallbackIsNotReported) {
    const auto bad_times = std::make_shared<Told>(), good_times = std::make_shared<Told>();
    Gate gate;
    queue->call([&] { gate.pass(); });
    Point bad = 0;
    {
        const TimesScope timed({bad_times, 0});
        bad = launch();
    }
    Watch::submit_result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    gate.open();
    EXPECT_THROW(queue->timeline().wait(bad), MemoryError);
    Watch::submit_result = VK_SUCCESS;
    {
        const TimesScope timed({good_times, 0});
        queue->timeline().wait(launch());
    }
    EXPECT_EQ(bad_times->count, 0);
    EXPECT_EQ(good_times->count, 1);
}

// ---- waits for another queue ----

TEST_P(VulkanMidwayTest, ATimedWaitThatFailsKeepsItsTimestampsWhileTheDeviceUsesThem) {
    const auto other = device->make_queue();
    const auto times = std::make_shared<Told>();
    {
        const TimesScope timed({times, 0});
        queue->timeline().wait(launch());  // calibrates the clock
    }
    Watch::frozen = true;
    const Point point = launch_multiply_add(*other, *program, *memory, 2, all);
    Watch::wait_submit_result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    {
        const TimesScope timed({times, 0});
        EXPECT_THROW(queue->wait_for(other->timeline(), point), MemoryError);
    }
    Watch::wait_submit_result = VK_SUCCESS;
    Watch::frozen = false;
    EXPECT_NO_THROW(queue->timeline().wait(launch()));
    EXPECT_EQ(times->count, 1) << "a wait that was not submitted has no times";
}

}  // namespace
}  // namespace volley::backends::vulkan
