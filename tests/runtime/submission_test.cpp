// The command protocol: what a Submission locks, orders and records.
#include "runtime/submission.hpp"
#include "runtime/buffer_access.hpp"
#include "runtime/runtime_support.hpp"

#include <stdexcept>

namespace volley {
namespace {

using runtime::Footprint;
using runtime::Submission;
using runtime::Usage;
using testing::NullContext;

struct SubmissionTest : ::testing::Test {
    NullContext null{{.devices = {"null:0", "null:1"}, .queues_per_device = 2}};
    ContextScope scope = null.context.use();

    static runtime::ContextCore& core_of(const Buffer<int>& buffer) {
        return runtime::storage_of(buffer).core();
    }
    static Footprint all_of(const Buffer<int>& buffer, unsigned queue, Usage usage) {
        static_cast<void>(runtime::storage_of(buffer).allocate(queue));
        return runtime::footprint(runtime::storage_of(buffer), queue, {0, buffer.bytes()}, usage);
    }
    static runtime::CommandLabel label() { return {}; }
};

TEST_F(SubmissionTest, LocksTheOrderOnlyIfAReplicaServesSeveralQueues) {
    const Buffer<int> shared(4, {.placement = Placement::per_device});
    const Buffer<int> own(4);
    const Footprint both[] = {all_of(own, 0, Usage::Read), all_of(shared, 0, Usage::Read)};
    EXPECT_TRUE(Submission::lock_order(core_of(own), both).owns_lock());
    EXPECT_FALSE(Submission::lock_order(core_of(own), {both, 1}).owns_lock());
    EXPECT_FALSE(Submission::lock_order(core_of(own), {}).owns_lock());
}

TEST_F(SubmissionTest, RecordsThePointOfEveryFootprint) {
    const Buffer<int> written(4);
    const Buffer<int> read(4);
    const Buffer<int> held(4);
    const Footprint uses[] = {all_of(written, 1, Usage::Written), all_of(read, 1, Usage::Read),
                              all_of(held, 1, Usage::Held)};
    Submission submission(core_of(written), 1, uses, label);
    EXPECT_EQ(submission.point(), 0u);
    const backends::Point point = submission.submit([&] { return core_of(written).queue(1).mark(); });
    EXPECT_EQ(submission.point(), point);
    for (const Footprint& use : uses) EXPECT_EQ(use.replica->last_use(1), point);
    EXPECT_TRUE(uses[0].replica->written());
    EXPECT_FALSE(uses[1].replica->written());
    EXPECT_FALSE(uses[2].replica->written());
}

TEST_F(SubmissionTest, ACommandThatIsRefusedLeavesNoTrace) {
    const Buffer<int> buffer(4);
    const Footprint uses[] = {all_of(buffer, 0, Usage::Written)};
    Submission submission(core_of(buffer), 0, uses, label);
    EXPECT_THROW(submission.submit([]() -> backends::Point { throw std::runtime_error("refused"); }),
                 std::runtime_error);
    EXPECT_FALSE(uses[0].replica->written());
    EXPECT_EQ(uses[0].replica->last_use(0), 0u);
}

TEST_F(SubmissionTest, ACommandThatFailsHalfwayRecordsTheSubmittedPart) {
    const Buffer<int> buffer(4);
    const Footprint uses[] = {all_of(buffer, 0, Usage::Written)};
    backends::Queue& queue = core_of(buffer).queue(0);
    Submission submission(core_of(buffer), 0, uses, label);
    EXPECT_THROW(submission.submit([&]() -> backends::Point {
        queue.mark();
        throw std::runtime_error("refused");
    }),
                 std::runtime_error);
    EXPECT_TRUE(uses[0].replica->written());
    EXPECT_EQ(uses[0].replica->last_use(0), queue.last());
    EXPECT_EQ(submission.point(), queue.last());
}

TEST_F(SubmissionTest, OrdersItsQueueAfterConflictingCommandsOfOthers) {
    const Buffer<int> buffer(4);
    Footprint use = all_of(buffer, 0, Usage::Written);
    use.replica->used(2, core_of(buffer).queue(2).mark(), use.bytes);
    null.log->clear();
    {
        const Footprint reads[] = {{use.storage, use.replica, use.bytes, Usage::Read}};
        const Submission submission(core_of(buffer), 0, reads, label);
    }
    EXPECT_TRUE(null.log->lines().empty()) << "two reads do not conflict";
    const Footprint writes[] = {use};
    const Submission submission(core_of(buffer), 0, writes, label);
    ASSERT_EQ(null.log->lines().size(), 1u);
    testing::expect_contains(null.log->lines().front(), "q0 wait_for q2");
}

TEST_F(SubmissionTest, UnlockReleasesTheOrder) {
    const Buffer<int> shared(4, {.placement = Placement::per_device});
    const Footprint uses[] = {all_of(shared, 0, Usage::Written)};
    Submission submission(core_of(shared), 0, uses, label);
    submission.unlock();
    EXPECT_TRUE(Submission::lock_order(core_of(shared), uses).owns_lock());
}

}  // namespace
}  // namespace volley
