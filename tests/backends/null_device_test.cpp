// The null device, which runs nothing: its log records all commands as text and as entries, and its host
// memory holds data.
#include "backends/queue_support.hpp"
#include "support/null/null_driver.hpp"
#include "support/null/null_queue.hpp"

#include <volley/error.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace volley::backends::null {
namespace {

using testing::copy_at;
using testing::fill_at;
using testing::read_at;
using testing::write_at;
using Lines = std::vector<std::string>;
using Uses = std::vector<NullUse>;

class NullDeviceTest : public ::testing::Test {
protected:
    std::shared_ptr<NullLog> log = std::make_shared<NullLog>();
    std::unique_ptr<backends::Device> device = make_driver(log)->open(0, {});
    std::unique_ptr<backends::Queue> queue = device->make_queue();
    std::unique_ptr<backends::Queue> other = device->make_queue();
    std::unique_ptr<backends::Memory> memory = device->allocate(1000);  // number 1 in the log
    std::unique_ptr<backends::Program> program = device->compile(testing::multiply_add_kernel());

    /// A launch of the kernel on ten elements, starting at byte `offset`.
    BatchCommand launch_at(std::uint64_t offset, std::vector<std::uint32_t> after = {},
                           std::uint32_t level = 0) {
        BatchCommand command;
        command.program = program.get();
        command.global = {10, 1, 1};
        command.local = {64, 1, 1};
        command.args = {{.memory = memory.get(), .offset = offset, .elements = 10}, {.value = &factor}};
        command.after = std::move(after);
        command.level = level;
        return command;
    }
    BatchCommand move(BatchKind kind, const backends::RectMove& how, std::vector<std::uint32_t> after = {},
                      std::uint32_t level = 0) {
        BatchCommand command;
        command.kind = kind;
        command.to = memory.get();
        command.from = memory.get();
        command.move = how;
        command.pattern.resize(4);
        command.after = std::move(after);
        command.level = level;
        return command;
    }

    const int factor = 3;
};

TEST_F(NullDeviceTest, LogsEachRectAsOneCommand) {
    const backends::Rect rect{40, {3, 4}};
    const backends::RectPlace at{0, {60, 240}};
    std::array<std::byte, 1000> data;
    data.fill(std::byte{1});
    queue->write(*memory, data.data(), {rect, at, at});
    queue->read(data.data(), *memory, {rect, at, at});
    queue->copy(*memory, *memory, {rect, at, {40, at.stride}});
    queue->fill(*memory, at, rect, std::vector<std::byte>(4));
    const Lines expected = {"q0 write 3x4 rows of 40 -> 1", "q0 read 3x4 rows of 40 -> 2",
                            "q0 copy 3x4 rows of 40 -> 3", "q0 fill 3x4 rows of 40 -> 4"};
    EXPECT_EQ(log->lines(), expected);
    EXPECT_EQ(data[39], std::byte{0}) << "reads return zeros";
    EXPECT_EQ(data[40], std::byte{1});
    EXPECT_EQ(queue->driver_calls({rect, at, at}), 1u);
}

TEST_F(NullDeviceTest, HasHostMemoryEvenIfDeviceMemoryIsUnmapped) {
    EXPECT_EQ(memory->host(), nullptr);
    const auto on_host = device->allocate_host(5000);
    ASSERT_NE(on_host->host(), nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(on_host->host()) % 4096, 0u);
    std::memset(on_host->host(), 1, 5000);
    EXPECT_EQ(log->live_bytes, 6000u);
}

TEST_F(NullDeviceTest, LogsTheQueueThatIsWaitedFor) {
    fill_at(*queue, *memory, 0, 100, std::vector<std::byte>(4));
    other->wait_for(queue->timeline(), 1);
    queue->timeline().wait(1);
    EXPECT_EQ(log->lines(), (Lines{"q0 fill 100 -> 1", "q1 wait_for q0 1 -> 1", "q0 wait 1"}));
    const std::vector<NullEntry> entries = log->entries();
    EXPECT_EQ(entries[1].kind, NullKind::WaitFor);
    EXPECT_EQ(entries[1].queue, 1u);
    EXPECT_EQ(entries[1].other_queue, 0u);
    EXPECT_EQ(entries[1].other_point, 1u);
    EXPECT_EQ(entries[2].kind, NullKind::Wait);
    EXPECT_EQ(entries[2].point, 1u);
}

TEST_F(NullDeviceTest, LogsWaitsForOtherDevicesWithoutAQueue) {
    class Other final : public backends::Timeline {
        [[nodiscard]] backends::Point completed() const noexcept override { return 0; }
        void wait(backends::Point /*point*/) override {}
        bool wait_for(backends::Point /*point*/, std::chrono::nanoseconds /*timeout*/) override {
            return true;
        }
    } elsewhere;
    queue->wait_for(elsewhere, 7);
    EXPECT_EQ(log->lines(), Lines{"q0 wait_for another device's 7 -> 1"});
    EXPECT_EQ(log->entries()[0].other_queue, NullEntry::unknown);
}

TEST_F(NullDeviceTest, LogsTheBytesThatEachCommandUses) {
    const auto second = device->allocate(1000);
    const auto on_host = device->allocate_host(1000);
    const auto address = [](const void* data) { return reinterpret_cast<std::uintptr_t>(data); };
    std::array<std::byte, 100> data{};
    write_at(*queue, *memory, 10, data);
    read_at(*queue, *memory, 20, data);
    copy_at(*queue, *second, 30, *memory, 40, 50);
    copy_at(*queue, *on_host, 60, *memory, 0, 10);
    queue->fill(*memory, {5, {20, 100}}, {10, {2, 2}}, std::vector<std::byte>(1));
    queue->fill(*memory, {5, {10, 20}}, {10, {2, 2}}, std::vector<std::byte>(1));
    queue->launch(launch_at(80).launch());
    const std::vector<NullEntry> entries = log->entries();
    EXPECT_EQ(entries[0].uses, (Uses{{NullUse::host, address(data.data()), 100, false}, {1, 10, 100, true}}));
    EXPECT_EQ(entries[1].uses, (Uses{{1, 20, 100, false}, {NullUse::host, address(data.data()), 100, true}}));
    EXPECT_EQ(entries[2].uses, (Uses{{1, 40, 50, false}, {2, 30, 50, true}}));
    EXPECT_EQ(entries[3].uses,
              (Uses{{1, 0, 10, false}, {NullUse::host, address(on_host->host() + 60), 10, true}}));
    EXPECT_EQ(entries[4].uses,
              (Uses{{1, 5, 10, true}, {1, 25, 10, true}, {1, 105, 10, true}, {1, 125, 10, true}}));
    EXPECT_EQ(entries[5].uses, (Uses{{1, 5, 40, true}})) << "contiguous rows are one range";
    EXPECT_EQ(entries[6].uses, (Uses{{1, 80, 40, true}})) << "the ten elements that the kernel writes";
}

TEST_F(NullDeviceTest, LogsLaunchDependenciesOnQueuesThatOverlap) {
    const BatchCommand command = launch_at(0);
    backends::Launch launch = command.launch();
    launch.after = 2;
    queue->launch(launch);
    EXPECT_EQ(log->lines(), Lines{"q0 launch multiply_add 10x1x1 local 64x1x1 -> 1"})
        << "this queue is in order";
    EXPECT_EQ(log->entries()[0].after, NullEntry::everything);
    log->clear();
    const auto free_device = make_driver(log, {.overlaps = true})->open(0, {});
    const auto free_queue = free_device->make_queue();
    EXPECT_TRUE(free_queue->overlaps());
    free_queue->launch(launch);
    free_queue->launch(command.launch());
    EXPECT_EQ(log->lines(), (Lines{"q2 launch multiply_add 10x1x1 local 64x1x1 after 2 -> 1",
                                   "q2 launch multiply_add 10x1x1 local 64x1x1 -> 2"}));
    EXPECT_EQ(log->entries()[0].after, 2u);
}

TEST_F(NullDeviceTest, LogsABatchAsOneSubmission) {
    BatchPlan plan;
    plan.value_bytes = 16;
    plan.commands.push_back(launch_at(0));
    plan.commands.push_back(launch_at(100));
    plan.commands[1].args[1] = {.dynamic = 12};
    plan.commands.push_back(move(BatchKind::Copy, {{40, {1, 1}}, {200, {}}, {0, {}}}, {0}, 1));
    plan.commands.push_back(move(BatchKind::Fill, {{4, {2, 3}}, {100, {8, 100}}, {}}, {0, 1}, 1));
    const auto batch = queue->prepare(std::move(plan));
    EXPECT_TRUE(log->lines().empty()) << "preparing a batch is not a command";
    fill_at(*queue, *memory, 0, 4, std::vector<std::byte>(4));
    EXPECT_EQ(queue->submit(*batch, 2, std::vector<std::byte>(32, std::byte{7})), 2u);
    EXPECT_EQ(queue->last(), 2u) << "one point";
    EXPECT_EQ(
        log->lines(),
        (Lines{"q0 fill 4 -> 1", "q0 batch 4 commands x 2 -> 2",
               "  0: launch multiply_add 10x1x1 local 64x1x1", "  1: launch multiply_add 10x1x1 local 64x1x1",
               "  2: copy 40 after 0 (level 1)", "  3: fill 2x3 rows of 4 after 0 1 (level 1)"}));
    const NullEntry entry = log->entries().back();
    EXPECT_EQ(entry.kind, NullKind::Batch);
    EXPECT_EQ(entry.instances, 2u);
    EXPECT_EQ(entry.values, std::vector<std::byte>(32, std::byte{7}));
    ASSERT_EQ(entry.commands.size(), 4u);
    EXPECT_EQ(entry.commands[1].uses, (Uses{{1, 100, 40, true}}));
    EXPECT_EQ(entry.commands[2].kind, NullKind::Copy);
    EXPECT_EQ(entry.commands[2].uses, (Uses{{1, 0, 40, false}, {1, 200, 40, true}}));
    EXPECT_EQ(entry.commands[3].after, (std::vector<std::uint32_t>{0, 1}));
    EXPECT_EQ(entry.commands[3].level, 1u);
    EXPECT_EQ(queue->submit(*batch, 0, {}), 2u) << "zero instances are not a command";
}

TEST_F(NullDeviceTest, RejectsInvalidBatches) {
    const auto refused = [&](std::vector<BatchCommand> commands, std::uint32_t value_bytes = 0) {
        try {
            static_cast<void>(queue->prepare({std::move(commands), value_bytes}));
            return false;
        } catch (const Error& error) {
            return error.code() == ErrorCode::Internal;
        }
    };
    EXPECT_FALSE(refused({launch_at(0), launch_at(0, {0}, 1)}));
    EXPECT_TRUE(refused({launch_at(0), launch_at(0, {1}, 1)})) << "it depends on itself";
    EXPECT_TRUE(refused({launch_at(0), launch_at(0, {0}, 0)})) << "the level is wrong";
    EXPECT_TRUE(refused({launch_at(0), launch_at(0, {0}, 1), launch_at(100)})) << "levels must not decrease";
    EXPECT_TRUE(refused({launch_at(0), launch_at(80), launch_at(0, {1, 0}, 1)})) << "`after` is not sorted";
    EXPECT_TRUE(refused({launch_at(0)}, 8)) << "the size of values must be a multiple of 16 bytes";
    BatchCommand dynamic = launch_at(0);
    dynamic.args[1] = {.dynamic = 16};
    EXPECT_FALSE(refused({dynamic}, 32));
    EXPECT_TRUE(refused({dynamic}, 16)) << "the dynamic argument is outside the values";
    dynamic.args.pop_back();
    EXPECT_TRUE(refused({dynamic}, 16)) << "an argument is missing";
    const auto batch = queue->prepare({{launch_at(0)}, 16});
    EXPECT_THROW(queue->submit(*batch, 2, std::vector<std::byte>(16)), Error)
        << "values of only one of two instances";
}

}  // namespace
}  // namespace volley::backends::null
