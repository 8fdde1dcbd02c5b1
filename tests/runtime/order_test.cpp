// The commands that the runtime submits to queues, as logged by the null backend: there are no needless
// waits.
#include "runtime/runtime_support.hpp"

#include <chrono>

namespace volley {
namespace {

using testing::make_touch;
using testing::NullContext;
using Lines = std::vector<std::string>;
using namespace std::chrono_literals;

auto make_copy() {
    return kernel("copy",
                  [](Buff<const int> from, Buff<int> to) { to[global_id().x] = from[global_id().x]; });
}

TEST(Order, LaunchesWaitForNothing) {
    NullContext null;
    const auto use = null.context.use();
    Buffer<int> data(128);
    data.write(std::vector<int>(128));
    make_touch()(data);
    make_touch().over(64).local(32)(data);
    EXPECT_EQ(null.log->lines(), (Lines{"q0 write 512 -> 1", "q0 launch touch 128x1x1 local 64x1x1 -> 2",
                                        "q0 launch touch 64x1x1 local 32x1x1 -> 3"}));
}

TEST(Order, AReadOfHostMemoryWaitsForItsLastWriterOnly) {
    NullContext null({.devices = {"null:1"}});
    const auto use = null.context.use();
    Buffer<int> a(64), b(64), c(64);
    make_touch()(a);    // 1
    make_touch()(b);    // 2
    make_copy()(a, c);  // 3 reads a
    null.log->clear();
    (void)a.read(0);
    EXPECT_EQ(null.log->lines(), Lines{"q0 wait 1"})
        << "b and c are not needed, and a read of a is not a conflict";
    (void)a.read(0);
    EXPECT_EQ(null.log->lines().size(), 1u) << "no further wait is needed";
    (void)c.read(0);
    EXPECT_EQ(null.log->lines().back(), "q0 wait 3");
}

TEST(Order, AReadOfDeviceMemoryIsACommandOfItsQueue) {
    NullContext null({.devices = {"null:0"}, .queues_per_device = 2});
    const auto use = null.context.use();
    Buffer<int> a(64);
    make_touch()(a);
    null.log->clear();
    (void)a.read(1);
    EXPECT_EQ(null.log->lines(), (Lines{"q1 read 256 -> 2", "q1 wait 2"})) << "the other queue is not used";
}

TEST(Order, ReadingAllReplicasReadsEachQueue) {
    NullContext null({.devices = {"null:0", "null:1"}});
    const auto use = null.context.use();
    Buffer<int> a(64);
    a.write(std::vector<int>(64));
    null.log->clear();
    EXPECT_EQ(a.read().size(), 2u);
    EXPECT_EQ(null.log->lines(), (Lines{"q0 read 256 -> 2", "q0 wait 2", "q1 wait 1"}));
}

TEST(Order, AnEventWaitsOnlyForItsOwnPoint) {
    NullContext null({.devices = {"null:0"}, .queues_per_device = 2});
    const auto use = null.context.use();
    Buffer<int> a(64);
    const Event both = make_touch()(a);
    const Event one = make_touch().on(queue(1))(a);
    null.log->clear();
    EXPECT_FALSE(both.ready());
    EXPECT_FALSE(one.wait_for(1ms));
    both.wait();
    EXPECT_TRUE(both.ready());
    EXPECT_FALSE(one.ready());
    one.wait();
    EXPECT_EQ(null.log->lines(), (Lines{"q0 wait 1", "q1 wait 1", "q1 wait 2"}));
    EXPECT_TRUE(Event().ready());
    EXPECT_NO_THROW(Event().wait());
}

TEST(Order, WaitWaitsForEveryQueue) {
    NullContext null({.devices = {"null:0"}, .queues_per_device = 3});
    const auto use = null.context.use();
    Buffer<int> a(64);
    make_touch()(a);
    make_touch().on(queue(2))(a);
    null.log->clear();
    queue(0).wait();
    EXPECT_EQ(null.log->lines(), Lines{"q0 wait 1"});
    wait();
    EXPECT_EQ(null.log->lines(), (Lines{"q0 wait 1", "q1 wait 1", "q2 wait 2"}));
}

TEST(Order, WaitingForADeviceWaitsForAllItsQueuesAndNoOthers) {
    NullContext null({.devices = {"null:0", "null:1"}, .queues_per_device = 2});
    const auto use = null.context.use();
    Buffer<int> a(64);
    make_touch()(a);
    make_touch().on(queue(3))(a);
    null.log->clear();
    null.context.wait(1);
    EXPECT_EQ(null.log->lines(), (Lines{"q2 wait 1", "q3 wait 2"}));
    null.context.wait(1);
    EXPECT_EQ(null.log->lines().size(), 2u) << "there is nothing left to wait for";
    null.context.wait(0);
    EXPECT_EQ(null.log->lines(), (Lines{"q2 wait 1", "q3 wait 2", "q0 wait 1", "q1 wait 1"}));
}

TEST(Order, ALaunchThatOneDeviceRejectsRunsOnNone) {
    NullContext null({.devices = {"null:0", "cpu"}});
    const auto use = null.context.use();
    Buffer<int> a(4096);
    EXPECT_THROW(make_touch().local(512)(a), LaunchError) << "null allows 256, the CPU 1024";
    EXPECT_TRUE(null.log->lines().empty());
    EXPECT_FALSE(a.is_allocated(1));
}

}  // namespace
}  // namespace volley
