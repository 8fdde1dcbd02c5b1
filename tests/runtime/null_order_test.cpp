// The order model, applied to hand-written logs.
#include "support/null_order.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace volley::testing {
namespace {

using backends::null::NullCommand;
using backends::null::NullEntry;
using backends::null::NullKind;
using backends::null::NullUse;

NullEntry command(NullKind kind, unsigned queue, backends::Point point, std::vector<NullUse> uses = {}) {
    NullEntry entry;
    entry.kind = kind;
    entry.queue = queue;
    entry.point = point;
    entry.uses = std::move(uses);
    entry.lines = {"q" + std::to_string(queue) + " " + std::to_string(point)};
    return entry;
}
NullEntry write_of(unsigned queue, backends::Point point, std::uint64_t offset) {
    return command(NullKind::Fill, queue, point, {{1, offset, 8, true}});
}
NullEntry read_of(unsigned queue, backends::Point point, std::uint64_t offset) {
    return command(NullKind::Launch, queue, point, {{1, offset, 8, false}});
}
NullEntry wait_for(unsigned queue, backends::Point point, unsigned other, backends::Point other_point) {
    NullEntry entry = command(NullKind::WaitFor, queue, point);
    entry.other_queue = other;
    entry.other_point = other_point;
    return entry;
}
NullEntry following(NullEntry launch, backends::Point after) {
    launch.kind = NullKind::Launch;
    launch.after = after;
    return launch;
}

TEST(NullOrder, ReportsConflictsBetweenQueues) {
    EXPECT_NE(NullOrder({write_of(0, 1, 0), write_of(1, 1, 4)}).unordered(), "");
    EXPECT_NE(NullOrder({read_of(0, 1, 0), write_of(1, 1, 4)}).unordered(), "");
    EXPECT_EQ(NullOrder({read_of(0, 1, 0), read_of(1, 1, 4)}).unordered(), "") << "reads need no order";
    EXPECT_EQ(NullOrder({write_of(0, 1, 0), write_of(1, 1, 8)}).unordered(), "") << "other bytes";
    EXPECT_EQ(NullOrder({write_of(0, 1, 0), write_of(0, 2, 0)}).unordered(), "") << "a queue is in order";
}

TEST(NullOrder, AccountsForWaitsOfQueues) {
    EXPECT_EQ(NullOrder({write_of(0, 1, 0), wait_for(1, 1, 0, 1), write_of(1, 2, 4)}).unordered(), "");
    EXPECT_NE(NullOrder({write_of(0, 1, 0), write_of(0, 2, 0), wait_for(1, 1, 0, 1), write_of(1, 2, 4)})
                  .unordered(),
              "")
        << "it waits only for the first of two";
    EXPECT_EQ(NullOrder({write_of(0, 1, 0), wait_for(1, 1, 0, 1), write_of(1, 2, 100), wait_for(2, 1, 1, 2),
                         write_of(2, 2, 0)})
                  .unordered(),
              "")
        << "waits are transitive";
}

TEST(NullOrder, AccountsForWaitsOfTheHost) {
    const NullEntry wait = command(NullKind::Wait, 0, 1);
    EXPECT_EQ(NullOrder({write_of(0, 1, 0), wait, write_of(1, 1, 0)}).unordered(), "");
    EXPECT_NE(NullOrder({write_of(0, 1, 0), write_of(1, 1, 0), wait}).unordered(), "") << "too late";
}

TEST(NullOrder, AllowsLaunchesToOverlap) {
    EXPECT_NE(
        NullOrder({write_of(0, 1, 0), write_of(0, 2, 100), following(write_of(0, 3, 0), 0)}).unordered(), "");
    EXPECT_EQ(
        NullOrder({write_of(0, 1, 0), write_of(0, 2, 100), following(write_of(0, 3, 0), 1)}).unordered(), "");
    EXPECT_NE(NullOrder({command(NullKind::Call, 0, 1), following(write_of(0, 2, 0), 0)}).unordered(), "")
        << "a callback follows earlier commands and precedes later ones";
    EXPECT_EQ(
        NullOrder({write_of(0, 1, 0), wait_for(1, 1, 0, 1), following(write_of(1, 2, 0), 0)}).unordered(), "")
        << "a wait for another queue applies to all later commands";
}

TEST(NullOrder, TreatsHostMemoryOfAWriteAsReadDuringSubmission) {
    const NullUse bytes{NullUse::host, 1000, 8, false};
    const NullUse filled{NullUse::host, 1000, 8, true};
    const NullEntry read = command(NullKind::Read, 0, 1, {{1, 0, 8, false}, filled});
    const NullEntry write = command(NullKind::Write, 0, 2, {bytes, {2, 0, 8, true}});
    EXPECT_NE(NullOrder({read, write}).unordered(), "")
        << "the order of the queue does not apply to the host";
    EXPECT_EQ(NullOrder({read, command(NullKind::Wait, 0, 1), write}).unordered(), "");
}

TEST(NullOrder, ChecksTheCommandsOfBatches) {
    const auto batch = [](std::vector<std::uint32_t> after, std::uint32_t instances) {
        NullEntry entry = command(NullKind::Batch, 0, 1);
        entry.commands = {NullCommand{NullKind::Fill, {{1, 0, 8, true}}, {}, 0},
                          NullCommand{NullKind::Launch, {{1, 4, 8, false}}, std::move(after), 1}};
        entry.instances = instances;
        entry.lines = {"batch", "0", "1"};
        return entry;
    };
    EXPECT_NE(NullOrder({batch({}, 1)}).unordered(), "");
    EXPECT_EQ(NullOrder({batch({0}, 1)}).unordered(), "");
    EXPECT_EQ(NullOrder({batch({0}, 3)}).unordered(), "") << "instances run in order";
    EXPECT_NE(NullOrder({batch({0}, 1), write_of(1, 1, 8)}).unordered(), "");
    EXPECT_EQ(NullOrder({batch({0}, 1), wait_for(1, 1, 0, 1), write_of(1, 2, 8)}).needless(), "");
    EXPECT_NE(NullOrder({batch({0}, 1), wait_for(1, 1, 0, 1), write_of(1, 2, 100)}).needless(), "");
}

TEST(NullOrder, ReportsNeedlessWaits) {
    const auto needless = [](std::vector<NullEntry> entries) {
        return NullOrder(std::move(entries)).needless() != "";
    };
    EXPECT_FALSE(needless({write_of(0, 1, 0), wait_for(1, 1, 0, 1), read_of(1, 2, 4)}));
    EXPECT_TRUE(needless({write_of(0, 1, 0), wait_for(1, 1, 0, 1), read_of(1, 2, 8)})) << "other bytes";
    EXPECT_TRUE(needless({read_of(0, 1, 0), wait_for(1, 1, 0, 1), read_of(1, 2, 0)})) << "two reads";
    EXPECT_TRUE(needless({write_of(0, 1, 0), wait_for(1, 1, 0, 1)})) << "no command follows it";
    EXPECT_TRUE(needless(
        {write_of(0, 1, 0), wait_for(1, 1, 0, 1), read_of(1, 2, 0), wait_for(1, 3, 0, 1), read_of(1, 4, 0)}))
        << "it has already waited";
    EXPECT_TRUE(
        needless({write_of(0, 1, 0), command(NullKind::Wait, 0, 1), wait_for(1, 1, 0, 1), read_of(1, 2, 0)}))
        << "the host has already waited";
    EXPECT_TRUE(needless({write_of(0, 1, 0), following(read_of(0, 2, 8), 1)}))
        << "a launch that could overlap";
    EXPECT_FALSE(needless({write_of(0, 1, 0), following(read_of(0, 2, 4), 1)}));
}

TEST(NullOrder, ReportsWhichCommandsPrecedeOthers) {
    const NullOrder order({write_of(0, 1, 0), write_of(1, 1, 8), wait_for(1, 2, 0, 1), write_of(1, 3, 0)});
    EXPECT_TRUE(order.is_before(0, 3));
    EXPECT_TRUE(order.is_before(1, 3));
    EXPECT_FALSE(order.is_before(0, 1));
    EXPECT_EQ(order.commands(), 4u);
}

}  // namespace
}  // namespace volley::testing
