// Placements: the replicas of a buffer, where launches run, and the order of queues that share a replica.
#include "runtime/buffer_access.hpp"
#include "runtime/context_core.hpp"
#include "runtime/runtime_support.hpp"
#include "runtime/storage.hpp"
#include "support/backend_test.hpp"

#include <string>
#include <thread>
#include <vector>

namespace volley {
namespace {

using runtime::Storage;
using testing::error_of;
using testing::expect_contains;
using testing::make_touch;
using testing::NullContext;
using Lines = std::vector<std::string>;

auto make_look() {
    return kernel("look", [](Buff<const int> data, Buff<int> to) { to[0u] = data[0u]; });
}
auto make_add() {
    return kernel("add", [](Buff<int> data, Buff<const int> more) {
        data[global_id().x] = data[global_id().x] + more[global_id().x];
    });
}
auto make_increment() {
    return kernel("count", [](Buff<int> data) { data[global_id().x] = data[global_id().x] + 1; });
}

/// Two devices with two queues each: q0 and q1, q2 and q3.
class PlacementTest : public ::testing::Test {
protected:
    NullContext null{{.devices = {"null:0", "null:1"}, .queues_per_device = 2}};
    ContextScope scope = null.context.use();

    /// Returns the queues with a launch since the last call, such as "0 2", and clears the log.
    std::string launched() {
        std::string queues;
        for (const std::string& line : null.log->lines()) {
            if (line.find(" launch ") == std::string::npos) continue;
            queues += queues.empty() ? "" : " ";
            queues += line.substr(1, line.find(' ') - 1);
        }
        null.log->clear();
        return queues;
    }
    static std::vector<unsigned> homes(const AnyBuffer& buffer) {
        std::vector<unsigned> queues;
        for (unsigned r = 0; r < runtime::storage_of(buffer).replica_count(); ++r)
            queues.push_back(runtime::storage_of(buffer).home(r));
        return queues;
    }
};

using Queues = std::vector<unsigned>;

TEST_F(PlacementTest, IsAValue) {
    EXPECT_EQ(Placement(), Placement::replicated);
    EXPECT_EQ(Placement::replicated.kind(), Placement::Kind::Replicated);
    EXPECT_EQ(Placement::per_device.kind(), Placement::Kind::PerDevice);
    EXPECT_FALSE(Placement::per_device.queue());
    const Placement on = Placement::on(queue(1));
    EXPECT_EQ(on.kind(), Placement::Kind::OnQueue);
    EXPECT_EQ(on.queue(), queue(1));
    EXPECT_NE(on, Placement::on(queue(2)));
}

TEST_F(PlacementTest, DeterminesTheNumberOfReplicas) {
    Buffer<int> replicated(4);
    EXPECT_EQ(homes(replicated), (Queues{0, 1, 2, 3}));
    EXPECT_FALSE(runtime::storage_of(replicated).shared());

    Buffer<int> per_device(4, {.placement = Placement::per_device});
    EXPECT_EQ(homes(per_device), (Queues{0, 2}));
    EXPECT_TRUE(runtime::storage_of(per_device).shared());
    EXPECT_EQ(runtime::storage_of(per_device).find(0), runtime::storage_of(per_device).find(1));
    EXPECT_NE(runtime::storage_of(per_device).find(1), runtime::storage_of(per_device).find(2));

    Buffer<int> one(4, {.placement = Placement::on(queue(3))});
    EXPECT_EQ(homes(one), (Queues{3}));
    EXPECT_FALSE(runtime::storage_of(one).shared());
    EXPECT_EQ(runtime::storage_of(one).find(2), nullptr);
    EXPECT_EQ(runtime::storage_of(one).find(17), nullptr);
}

TEST_F(PlacementTest, WithOneQueuePerDeviceNothingIsShared) {
    NullContext single({.devices = {"null:0", "null:1"}});
    const auto use = single.context.use();
    Buffer<int> buffer(4, {.placement = Placement::per_device});
    EXPECT_EQ(homes(buffer), (Queues{0, 1}));
    EXPECT_FALSE(runtime::storage_of(buffer).shared());
}

TEST_F(PlacementTest, OnAQueueOfAnotherContextThrows) {
    const NullContext other;
    const std::string text = error_of(ErrorCode::WrongContext, [&] {
        Buffer<int>(4, {.name = "lost", .placement = Placement::on(other.context.queue(0))});
    });
    expect_contains(text, "'lost'");
}

TEST_F(PlacementTest, ALaunchRunsOnceForEachSetOfReplicas) {
    Buffer<int> replicated(4), more(4);
    Buffer<int> per_device(4, {.placement = Placement::per_device});
    Buffer<int> on_1(4, {.placement = Placement::on(queue(1))});
    const auto add = make_add();
    add(replicated, more);
    EXPECT_EQ(launched(), "0 1 2 3");
    add(replicated, per_device);
    EXPECT_EQ(launched(), "0 2") << "the home queue of each device";
    add(per_device, on_1);
    EXPECT_EQ(launched(), "1") << "the other buffer is also on its device";
    add(on_1, replicated);
    EXPECT_EQ(launched(), "1");
    const auto nothing = kernel("nothing", [](Const<int>) {});
    nothing.over(4)(3);
    EXPECT_EQ(launched(), "0 1 2 3") << "no buffer restricts it";
}

TEST_F(PlacementTest, MemoryIsAllocatedOnlyWhereItIsUsed) {
    Buffer<int> per_device(4, {.placement = Placement::per_device});
    make_touch().on(queue(3))(per_device);
    EXPECT_EQ(null.log->live_blocks, 1u);
    EXPECT_TRUE(per_device.is_allocated(2)) << "queues 2 and 3 share it";
    EXPECT_FALSE(per_device.is_allocated(0));
}

TEST_F(PlacementTest, BuffersWithoutACommonQueueThrowAndAreNamed) {
    Buffer<int> a(4, {.name = "a", .placement = Placement::on(queue(1))});
    Buffer<int> b(4, {.name = "b", .placement = Placement::on(queue(2))});
    const std::string text = error_of(ErrorCode::InvalidLaunch, [&] { make_add()(a, b); });
    expect_contains(text, "buffer 'a' is on queue 1 (null:0)");
    expect_contains(text, "buffer 'b' on queue 2 (null:1)");
    expect_contains(text, "kernel 'add'");
    EXPECT_EQ(null.log->live_blocks, 0u) << "nothing was allocated";
}

TEST_F(PlacementTest, AQueueWithoutTheBufferThrowsAndNamesItsQueues) {
    Buffer<int> a(4, {.name = "a", .placement = Placement::on(queue(1))});
    const std::string text = error_of(ErrorCode::InvalidLaunch, [&] { make_touch().on(queue(2))(a); });
    expect_contains(text, "it is on queue 1 (null:0)");
    expect_contains(text, "'a'");
    expect_contains(error_of(ErrorCode::InvalidArgument, [&] { (void)runtime::storage_of(a).allocate(0); }),
                    "it is on queue 1");
}

TEST_F(PlacementTest, QueuesThatShareAReplicaWaitForEachOthersWrites) {
    Buffer<int> data(4, {.placement = Placement::per_device});
    make_touch().on(queue(0))(data);  // point 1 of q0
    make_touch().on(queue(1))(data);
    const Lines expected = {"q0 launch touch 4x1x1 local 64x1x1 -> 1", "q1 wait_for q0 1 -> 1",
                            "q1 launch touch 4x1x1 local 64x1x1 -> 2"};
    EXPECT_EQ(null.log->lines(), expected);
    null.log->clear();
    make_touch().on(queue(1))(data);
    EXPECT_EQ(null.log->lines(), Lines{"q1 launch touch 4x1x1 local 64x1x1 -> 3"})
        << "a queue runs in order, and has already waited";
    null.log->clear();
    make_touch().on(queue(0))(data);
    EXPECT_EQ(null.log->lines().front(), "q0 wait_for q1 3 -> 2");
}

TEST_F(PlacementTest, ReadersOfASharedReplicaDoNotWaitForEachOther) {
    Buffer<int> data(4, {.placement = Placement::per_device});
    Buffer<int> out(4);
    data.write(std::vector<int>(4));  // point 1 of q0 and of q2
    wait();
    null.log->clear();
    make_look().on(queue(0))(data, out);
    make_look().on(queue(1))(data, out);
    const Lines expected = {"q0 launch look 4x1x1 local 64x1x1 -> 2",
                            "q1 launch look 4x1x1 local 64x1x1 -> 1"};
    EXPECT_EQ(null.log->lines(), expected) << "the write has completed, and reads do not conflict";
    null.log->clear();
    make_touch().on(queue(1))(data);
    EXPECT_EQ(null.log->lines().front(), "q1 wait_for q0 2 -> 2") << "a writer waits for readers";
}

TEST_F(PlacementTest, AReplicaThatOnlyItsQueueUsesIsNeverWaitedFor) {
    Buffer<int> data(4);
    make_touch()(data);
    make_touch()(data);
    for (const std::string& line : null.log->lines())
        EXPECT_EQ(line.find("wait_for"), std::string::npos) << line;
}

TEST_F(PlacementTest, AReplicaThatAnotherQueueHasUsedIsWaitedFor) {
    Buffer<int> data(4);
    make_touch()(data);
    null.log->clear();
    runtime::storage_of(data).replica(0).used(1, 1, {0, 16});  // like a copy on queue 1 that reads replica 0
    make_touch().on(queue(0))(data);
    EXPECT_EQ(null.log->lines().front(), "q0 wait_for q1 1 -> 2");
}

TEST_F(PlacementTest, ALaunchWithAMappedBufferThrows) {
    Buffer<int> data(4, {.name = "shown"});
    data.write(std::vector<int>(4));
    null.log->clear();
    runtime::Replica& replica = runtime::storage_of(data).replica(2);
    replica.map();
    replica.map();
    const std::string text = error_of(ErrorCode::InvalidArgument, [&] { make_touch()(data); });
    expect_contains(text, "'shown'");
    expect_contains(text, "mapped");
    EXPECT_TRUE(null.log->lines().empty()) << "no queue has started";
    replica.unmap();
    EXPECT_THROW(make_touch()(data), ArgumentError) << "one guard still exists";
    make_touch().on(queue(0))(data);
    replica.unmap();
    EXPECT_FALSE(replica.mapped());
    make_touch()(data);
}

VOLLEY_BACKEND_TEST(SharedReplica, CarriesDataFromQueueToQueue) {
    Buffer<int> data(1000, {.placement = Placement::per_device});
    data.write(std::vector<int>(1000));
    const auto count = make_increment();
    for (unsigned i = 0; i < 100; ++i) count.on(queue(i % 2))(data);
    EXPECT_EQ(data.read(0), std::vector<int>(1000, 100));
    EXPECT_EQ(data.read(1), std::vector<int>(1000, 100)) << "the same replica";
    count(data);
    EXPECT_EQ(data.read(), (std::vector<std::vector<int>>{std::vector<int>(1000, 101)}));
}

VOLLEY_BACKEND_TEST(SharedReplica, ThreadsOnTwoQueuesKeepItsOrder) {
    constexpr int rounds = 200;
    Buffer<int> data(5000, {.placement = Placement::per_device});
    Buffer<int> other(5000, {.placement = Placement::per_device});
    data.fill(0);
    other.fill(1);
    const auto add = make_add();
    const Context context = current_context();
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 2; ++t) {
        threads.emplace_back([&, t] {
            const auto use = context.use();
            for (int i = 0; i < rounds; ++i) add.on(queue(t))(data, other);
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(data.read(0), std::vector<int>(5000, 2 * rounds));
}

VOLLEY_BACKEND_TEST(OneQueue, HoldsTheOnlyReplica) {
    Buffer<int> data(100, {.placement = Placement::on(queue(1))});
    data.fill(5);
    const auto count = make_increment();
    count(data);
    EXPECT_EQ(data.read(1), std::vector<int>(100, 6));
    EXPECT_EQ(data.replica_count(), 1u);
    error_of(ErrorCode::IndexError, [&] { (void)data.read(0); });
    error_of(ErrorCode::InvalidLaunch, [&] { count.on(queue(0))(data); });
}

}  // namespace
}  // namespace volley
