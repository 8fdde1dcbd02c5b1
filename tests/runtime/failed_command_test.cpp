// A driver rejects a command, each one in turn: the operation throws, nothing hangs, and commands submitted
// before it stay ordered with all later ones.
#include "runtime/runtime_support.hpp"
#include "support/null_order.hpp"

#include <functional>

namespace volley {
namespace {

using testing::make_scale;
using testing::make_touch;
using testing::NullContext;
using testing::NullOrder;

constexpr int few_elements = 1024, many_elements = 1'500'000;  // many: copied between devices in two pieces

/// Two devices with two queues each, and buffers of all placements.
struct Work {
    NullContext null;
    ContextScope use;
    Buffer<int> shared, own, here, there;
    CommandGraph graph;

    Work(bool overlaps, int size)
        : null({.devices = {"null:0", "null:1"}, .queues_per_device = 2}, {.overlaps = overlaps}),
          use(null.context.use()),
          shared(size, {.placement = Placement::per_device}),
          own(size),
          here({size}, {.placement = Placement::on(queue(0))}),
          there({size}, {.placement = Placement::on(queue(2))}) {
        for (Buffer<int>* buffer : {&shared, &own, &here, &there}) buffer->fill(1);
        wait();
        null.log->clear();
    }
    /// Uses all buffers from all queues, starting with the last: transfers run on the first queue of a
    /// device, whose order would hide a missing dependency.
    void use_all() {
        for (unsigned k = 4; k-- > 0;) {
            make_touch().on(queue(k))(shared);
            make_touch().on(queue(k))(own);
        }
        here.copy_from(own);
        there.copy_from(shared);
        own.copy_from(there);
        shared.copy_from(here);
    }
};

/// Makes each command of `act` fail in turn, until `act` completes without a failure.
void fail_each_command(const std::function<void(Work&)>& prepare, const std::function<void(Work&)>& act,
                       int size = few_elements) {
    for (const bool overlaps : {false, true}) {
        for (std::uint64_t n = 1;; ++n) {
            ASSERT_LT(n, 200u) << "the commands do not come to an end";
            SCOPED_TRACE("command " + std::to_string(n) + (overlaps ? " of overlapping queues" : ""));
            Work work(overlaps, size);
            prepare(work);
            work.null.log->fail_at(n);
            bool failed = false;
            try {
                act(work);
            } catch (const MemoryError&) {
                failed = true;
            }
            ASSERT_EQ(work.null.log->has_failed(), failed) << "a failure was lost";
            work.null.log->fail_at(0);
            EXPECT_NO_THROW(work.use_all());
            EXPECT_NO_THROW(act(work)) << "a second attempt";
            for (unsigned k = 0; k < 4; ++k) EXPECT_EQ(work.own.view(0, 64).read(k).size(), 64u);
            EXPECT_NO_THROW(wait());
            const NullOrder order(work.null.log->entries());
            ASSERT_EQ(order.unordered(), "") << order.text();
            if (!failed) break;
        }
    }
}

void nothing(Work& /*work*/) {}

TEST(FailedCommand, OfALaunchOnAllQueuesLeavesAConsistentState) {
    fail_each_command(nothing, [](Work& work) { make_touch()(work.own); });
    fail_each_command(nothing, [](Work& work) {
        make_touch()(work.shared);
        make_touch().on(queue(1))(work.shared);
    });
}

TEST(FailedCommand, OfATransferLeavesAConsistentState) {
    fail_each_command(nothing, [](Work& work) { work.own.fill(2); });
    fail_each_command(nothing, [](Work& work) { work.own.view(0, 64).write(std::vector<int>(64)); });
    fail_each_command(nothing, [](Work& work) { static_cast<void>(work.own.view(0, 64).read()); });
    fail_each_command(nothing, [](Work& work) { work.own.copy_from(work.shared); });
}

/// Has more non-contiguous axes than one command supports.
Buffer<int> part(const Buffer<int>& buffer) {
    const Slice some = slice(0, 4, 2);
    return buffer.view(0, few_elements).reshape({4, 4, 4, 4, 4}).sub({some, some, some, some, some});
}

TEST(FailedCommand, OfATransferInSeveralCommandsLeavesAConsistentState) {
    fail_each_command(nothing, [](Work& work) { part(work.shared).fill(2); });
    fail_each_command(nothing, [](Work& work) { part(work.shared).write(std::vector<int>(32)); });
    fail_each_command(nothing, [](Work& work) { part(work.shared).copy_from(part(work.own)); });
    fail_each_command(nothing, [](Work& work) { static_cast<void>(part(work.shared).read(0)); });
    const auto with_host_array = [](Work& work) {
        const HostArray<int> array({2, 2, 2, 2, 2});
        part(work.shared).read_async(array, 1);
        part(work.shared).write_async(array);
    };
    fail_each_command(nothing, with_host_array);
}

TEST(FailedCommand, OfAReadLeavesNoPendingWritesToCallerMemory) {
    Work work(false, few_elements);
    work.null.log->fail_at(3);
    EXPECT_THROW(static_cast<void>(part(work.shared).read(0)), MemoryError);
    const std::vector<std::string> lines = work.null.log->lines();
    ASSERT_EQ(lines.size(), 3u) << ::testing::PrintToString(lines);
    EXPECT_TRUE(lines[1].starts_with("q0 read "));
    EXPECT_TRUE(lines[2].starts_with("q0 wait"));
}

TEST(FailedCommand, OfACopyBetweenDevicesLeavesAConsistentState) {
    fail_each_command(
        nothing,
        [](Work& work) {
            work.there.copy_from(work.shared);
            work.shared.copy_from(work.here);
            work.here.copy_from(work.there);
        },
        many_elements);
}

TEST(FailedCommand, OfAGraphOnSeveralQueuesLeavesAConsistentState) {
    const auto record_all = [](Work& work) {
        work.graph = record([&] {
            make_touch()(work.own);
            make_touch().on(queue(0))(work.shared);
            make_touch().on(queue(1))(work.shared);
            work.own.copy_from(work.shared);
            make_touch()(work.own);
        });
        work.graph.prepare();
    };
    fail_each_command(record_all, [](Work& work) { work.graph.submit({.instances = 2}); });
    const auto record_apart = [](Work& work) {
        work.graph = record([&] { make_touch()(work.own); });
        work.graph.prepare();
    };
    fail_each_command(record_apart, [](Work& work) { work.graph.submit({.instances = 4}); });
    fail_each_command(record_apart, [](Work& work) { work.graph.submit({.instances = 4, .spread = true}); });
}

TEST(FailedCommand, OfAGraphBetweenDevicesLeavesAConsistentState) {
    const auto record_hops = [](Work& work) {
        work.graph = record([&] {
            make_touch()(work.here);
            work.there.copy_from(work.shared);
            make_touch()(work.there);
            host_call([] {});
            work.shared.copy_from(work.here);
        });
        work.graph.prepare();
    };
    fail_each_command(
        record_hops, [](Work& work) { work.graph.submit(); }, many_elements);
}

}  // namespace
}  // namespace volley
