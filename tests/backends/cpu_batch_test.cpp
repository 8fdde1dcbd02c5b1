// Batches on the CPU: who runs what, and what submitting costs.
#include "backends/cpu/cpu_batch.hpp"

#include "backends/batch_support.hpp"
#include "backends/cpu_support.hpp"
#include "support/allocations.hpp"

#include <volley/print_sink.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace volley::backends::cpu {
namespace {

using testing::buffer_argument;
using testing::copy_command;
using testing::dynamic_argument;
using testing::Gate;
using testing::launch_command;
using testing::multiply_add_command;
using testing::PlanMaker;
using testing::set_command;
using testing::value_argument;
using Kind = CpuBatch::Next::Kind;

/// Returns a kernel that sets words[0] |= mine, polls until words[0] equals `wanted`, a limited number of
/// times, and counts successes in words[1]. The number of polls is a parameter, so every cost estimate is
/// high.
ir::Function meet_kernel() {
    using ir::Op;
    ir::Function fn;
    fn.name = "meet";
    ir::Builder b(fn);
    const ir::NodeId words = b.buffer(ScalarType::I32, "words");
    const ir::NodeId mine = b.param(ScalarType::I32, "mine");
    const ir::NodeId wanted = b.param(ScalarType::I32, "wanted");
    const ir::NodeId looks = b.param(ScalarType::I32, "looks");
    const ir::NodeId zero = b.constant_i32(0);
    const ir::NodeId one = b.constant_i32(1);
    b.emit(Op::AtomicOr, {words, mine, zero});
    b.begin_for(zero, looks, one);
    const ir::NodeId seen = b.emit(Op::AtomicOr, {words, zero, zero});
    b.begin_if(b.emit(Op::Eq, {seen, wanted}));
    b.emit(Op::AtomicAdd, {words, one, one});
    b.jump(Op::Break);
    b.end_if();
    b.end_for();
    return fn;
}

/// Returns a slow kernel that counts in words[1] while words[0] is zero.
ir::Function dawdle_kernel() {
    using ir::Op;
    ir::Function fn;
    fn.name = "dawdle";
    ir::Builder b(fn);
    const ir::NodeId words = b.buffer(ScalarType::I32, "words");
    const ir::NodeId times = b.param(ScalarType::I32, "times");
    const ir::NodeId zero = b.constant_i32(0);
    const ir::NodeId one = b.constant_i32(1);
    b.begin_if(b.emit(Op::Eq, {b.emit(Op::AtomicOr, {words, zero, zero}), zero}));
    b.emit(Op::AtomicAdd, {words, one, one});
    b.begin_for(zero, times, one);
    b.emit(Op::AtomicAdd, {words, one, b.constant_i32(2)});
    b.end_for();
    b.end_if();
    return fn;
}

class CpuBatchTest : public ::testing::Test {
protected:
    static constexpr std::uint32_t lanes = 8;
    static constexpr int enough_looks =
        10'000'000;  // takes seconds: long enough for any expected thread to arrive

    std::unique_ptr<backends::Device> device = open_cpu({.cpu_threads = 2});
    std::unique_ptr<backends::Queue> queue = device->make_queue();
    std::unique_ptr<backends::Program> meet = device->compile(meet_kernel());
    std::unique_ptr<backends::Program> multiply_add = device->compile(multiply_add_kernel());
    std::unique_ptr<backends::Memory> words = device->allocate(64);
    const std::array<int, 4> bits = {1, 2, 4, 3};
    const int looks = enough_looks;

    void SetUp() override { std::memset(words->host(), 0, words->size()); }
    void wait() { queue->timeline().wait(queue->last()); }
    static std::atomic_ref<int> first_word(backends::Memory& memory) {
        return std::atomic_ref<int>(*reinterpret_cast<int*>(memory.host()));
    }
    backends::BatchCommand meet_command(const int& mine, const int& wanted, const int& times) {
        return launch_command(*meet, lanes,
                              {buffer_argument(*words, 16), value_argument(mine), value_argument(wanted),
                               value_argument(times)});
    }
};

TEST_F(CpuBatchTest, CommandsThatDoNotDependOnEachOtherRunAtTheSameTime) {
    PlanMaker maker;
    maker.add(meet_command(bits[0], bits[3], looks), {0}, {0});
    maker.add(meet_command(bits[1], bits[3], looks), {1}, {1});
    const auto batch = queue->prepare(maker.finish());
    queue->submit(*batch, 1, {});
    wait();
    EXPECT_EQ(contents<int>(*words)[1], 2 * static_cast<int>(lanes)) << "each has seen the other";
}

TEST_F(CpuBatchTest, AThreadThatSleepsComesWhenThereIsWorkForIt) {
    const int some_looks = 300'000;  // takes milliseconds: a thread that waits meanwhile has stopped spinning
    PlanMaker maker;
    maker.add(meet_command(bits[2], bits[0], some_looks), {0, 1}, {0, 1});
    const int all = 7;
    maker.add(meet_command(bits[0], all, looks), {0}, {0});
    maker.add(meet_command(bits[1], all, looks), {1}, {1});
    const auto batch = queue->prepare(maker.finish());
    queue->submit(*batch, 1, {});
    // Only when the worker has begun does this thread wait.
    while (first_word(*words).load() == 0) std::this_thread::yield();
    wait();
    EXPECT_EQ(contents<int>(*words)[1], 2 * static_cast<int>(lanes)) << "each has seen the other";
}

TEST_F(CpuBatchTest, HandsOutWhatIsReadyAndNothingElse) {
    const auto other = device->allocate(64);
    PlanMaker maker;  // two that are ready at once, and one that follows both
    maker.add(meet_command(bits[0], bits[3], looks), {0}, {0});
    maker.add(meet_command(bits[1], bits[3], looks), {1}, {1});
    maker.add(meet_command(bits[2], bits[3], looks), {0, 1}, {0, 1});
    CpuBatch batch(maker.finish(), 2);
    ASSERT_FALSE(batch.runs_at_once(1));
    for (int round = 0; round < 2; ++round) {
        CpuBatch::Next first = batch.take(0, nullptr, 2);
        for (int instance = 0; instance < 2; ++instance) {
            ASSERT_EQ(first.kind, Kind::Run);
            ASSERT_EQ(first.claimable, 1u) << "one for another thread";
            const CpuBatch::Next second = batch.take(0, nullptr, 2);
            ASSERT_EQ(second.kind, Kind::Run);
            EXPECT_NE(first.piece.task, second.piece.task);
            EXPECT_EQ(batch.give_back(0, second.piece).kind, Kind::Nothing);
            const CpuBatch::Next last = batch.give_back(0, first.piece);
            ASSERT_EQ(last.kind, Kind::Run)
                << "the thread that finishes the second piece continues with the command after both";
            EXPECT_EQ(last.claimable, 0u);
            first = batch.give_back(0, last.piece);
        }
        EXPECT_EQ(first.kind, Kind::End);
    }
}

TEST_F(CpuBatchTest, APieceThatIsPutBackIsTakenByAnother) {
    const std::uint32_t count = 1'000'000;
    const auto memory = device->allocate(count * sizeof(int));
    const int one = 1;
    PlanMaker maker;
    maker.add_in_line(multiply_add_command(*multiply_add, *memory, count, value_argument(one)));
    CpuBatch batch(maker.finish(), 2);
    const CpuBatch::Next first = batch.take(0, nullptr, 1);
    ASSERT_GT(first.claimable, 1u);
    batch.put_back(first.piece);
    std::vector<int> taken(first.claimable + 1, 0);
    for (std::uint32_t k = 0; k <= first.claimable; ++k) {
        const CpuBatch::Next next = batch.take(0, nullptr, 1);
        ++taken[next.piece.index];
        EXPECT_EQ(batch.give_back(0, next.piece).kind, k == first.claimable ? Kind::End : Kind::Nothing);
    }
    EXPECT_EQ(taken, std::vector<int>(taken.size(), 1));
}

TEST_F(CpuBatchTest, EachThreadTakesItsOwnPartOfEveryCommand) {
    const std::uint32_t count = 1'000'000;
    const auto memory = device->allocate(count * sizeof(int));
    const int one = 1;
    PlanMaker maker;
    maker.add_in_line(multiply_add_command(*multiply_add, *memory, count, value_argument(one)));
    maker.add_in_line(multiply_add_command(*multiply_add, *memory, count, value_argument(one)));
    CpuBatch batch(maker.finish(), 2);
    CpuBatch::Next next = batch.take(1, nullptr, 1);  // the worker begins, and is done first every time
    const std::uint32_t pieces = next.claimable + 1;
    ASSERT_EQ(pieces % 2, 0u);
    for (int command = 0; command < 2; ++command) {
        ASSERT_EQ(next.kind, Kind::Run);
        EXPECT_EQ(next.claimable, pieces - 1);
        for (std::uint32_t k = 0; k < pieces / 2; ++k) {
            const CpuBatch::Next others = batch.take(0, nullptr, 1);
            EXPECT_EQ(others.piece.index, k);
            EXPECT_EQ(batch.give_back(0, others.piece).kind, Kind::Nothing);
            EXPECT_EQ(next.piece.index, pieces / 2 + k);
            const CpuBatch::Piece mine = next.piece;
            if (k + 1 < pieces / 2) next = batch.take(1, nullptr, 1);
            const CpuBatch::Next after = batch.give_back(1, mine);
            if (k + 1 == pieces / 2) next = after;
        }
    }
    EXPECT_EQ(next.kind, Kind::End);
}

TEST_F(CpuBatchTest, ASmallOneRunsInsideOfTheCall) {
    const int three = 3;
    PlanMaker maker;
    maker.add_in_line(set_command(*words, 16, 2));
    maker.add_in_line(multiply_add_command(*multiply_add, *words, 16, value_argument(three)));
    const auto batch = queue->prepare(maker.finish());
    const Point point = queue->submit(*batch, 3, {});
    EXPECT_EQ(queue->timeline().completed(), point);
    EXPECT_EQ(contents<int>(*words)[15], 2 * 3 + 15);
}

TEST_F(CpuBatchTest, TransfersOfNothingAreLeftOut) {
    PlanMaker maker;
    maker.add_in_line(copy_command(*words, *words, {}));
    maker.add_in_line(set_command(*words, 16, 2));
    maker.add_in_line(copy_command(*words, *words, {}));
    const auto batch = queue->prepare(maker.finish());
    queue->timeline().wait(queue->submit(*batch, 1, {}));
    EXPECT_EQ(contents<int>(*words)[15], 2);
    PlanMaker of_nothing;
    of_nothing.add_in_line(copy_command(*words, *words, {}));
    const auto nothing = queue->prepare(of_nothing.finish());
    const Point before = queue->last();
    EXPECT_EQ(queue->submit(*nothing, 3, {}), before);
}

TEST_F(CpuBatchTest, ALongOneDoesNotHoldTheCallerUp) {
    PlanMaker maker;
    for (int k = 0; k < 3; ++k) maker.add_in_line(meet_command(bits[0], bits[3], looks));
    const auto batch = queue->prepare(maker.finish());
    const Point point = queue->submit(*batch, 1, {});
    EXPECT_LT(queue->timeline().completed(), point) << "it waits for this thread";
    first_word(*words).fetch_or(bits[1]);
    queue->timeline().wait(point);
    EXPECT_EQ(contents<int>(*words)[1], 3 * static_cast<int>(lanes));
}

TEST_F(CpuBatchTest, ALongOneLeavesOtherQueuesTheirTurn) {
    const auto dawdle = device->compile(dawdle_kernel());
    const auto other = device->make_queue();
    constexpr std::uint32_t instances = 300'000;
    const int times = 1000;  // microseconds
    PlanMaker maker;
    maker.add_in_line(launch_command(*dawdle, 1, {buffer_argument(*words, 16), value_argument(times)}));
    const auto batch = queue->prepare(maker.finish());
    queue->submit(*batch, instances, {});
    const Point called = other->call([&] {
        first_word(*words).store(1);  // the others are quick
    });
    other->timeline().wait(called);
    wait();
    EXPECT_LT(contents<int>(*words)[1], static_cast<int>(instances))
        << "the worker has run the callback before";
}

TEST_F(CpuBatchTest, ATimeoutEndsInTheMiddleOfALongOne) {
    // The only worker is held by another queue's batch.
    const auto other = device->make_queue();
    const auto others_words = device->allocate(64);
    std::memset(others_words->host(), 0, others_words->size());
    PlanMaker holding;
    holding.add_in_line(meet_command(bits[0], bits[3], looks));
    holding.add_in_line(meet_command(bits[0], bits[3], looks));
    BatchPlan held = holding.finish();
    for (backends::BatchCommand& command : held.commands)
        command.args[0] = buffer_argument(*others_words, 16);
    const auto held_batch = other->prepare(std::move(held));
    other->submit(*held_batch, 1, {});
    while (first_word(*others_words).load() == 0) std::this_thread::yield();
    const auto dawdle = device->compile(dawdle_kernel());
    constexpr std::uint32_t instances = 300'000;
    const int times = 1000;  // microseconds
    PlanMaker maker;
    maker.add_in_line(launch_command(*dawdle, 1, {buffer_argument(*words, 16), value_argument(times)}));
    const auto batch = queue->prepare(maker.finish());
    const Point point = queue->submit(*batch, instances, {});
    EXPECT_FALSE(queue->timeline().wait_for(point, std::chrono::milliseconds(5)));
    // A spare worker begins, because the kernel that holds the worker is of unknown length.
    while (std::atomic_ref<int>(contents<int>(*words)[1]).load() == 0)
        EXPECT_FALSE(queue->timeline().wait_for(point, std::chrono::milliseconds(1)));
    first_word(*words).store(1);  // the others are quick
    EXPECT_LT(contents<int>(*words)[1], static_cast<int>(instances));
    first_word(*others_words).fetch_or(bits[1]);
    queue->timeline().wait(point);
    other->timeline().wait(other->last());
}

TEST_F(CpuBatchTest, PiecesThatFailTogetherAreOneError) {
    ir::Function fn;
    fn.name = "print_many";
    ir::Builder b(fn);
    b.print("word", {});
    const auto word = device->compile(std::move(fn));
    PlanMaker maker;
    for (int k = 0; k < 3; ++k) maker.add(launch_command(*word, 2000, {}), {k}, {k});
    const auto batch = queue->prepare(maker.finish());
    set_print_sink([](std::string_view) { throw std::runtime_error("no more paper"); });
    const Point point = queue->submit(*batch, 2, {});
    EXPECT_THROW(queue->timeline().wait(point), std::runtime_error);
    EXPECT_NO_THROW(queue->timeline().wait(point));
    set_print_sink({});
}

#ifndef VOLLEY_SANITIZED
TEST_F(CpuBatchTest, SubmittingAllocatesNothing) {
    const std::uint32_t count = 200'000;
    const auto large = device->allocate(count * sizeof(int));
    const int one = 1;
    PlanMaker small;
    small.add_in_line(multiply_add_command(*multiply_add, *words, 16, dynamic_argument(0)));
    const auto small_batch = queue->prepare(small.finish(16));
    PlanMaker wide;
    wide.add(multiply_add_command(*multiply_add, *large, count, dynamic_argument(16)), {0}, {0});
    wide.add(multiply_add_command(*multiply_add, *words, 16, value_argument(one)), {1}, {1});
    wide.add(set_command(*large, count, 3), {}, {0});
    const auto wide_batch = queue->prepare(wide.finish(32));
    const std::vector<int> values(std::size_t{8} * 20, 1);
    const auto round = [&] {
        Gate gate;  // so that as many wait at a time in every round
        queue->call([&] { gate.pass(); });
        for (int k = 0; k < 20; ++k) {
            queue->submit(*small_batch, 2, bytes_of(values));
            queue->submit(*wide_batch, 20, bytes_of(values));
            queue->submit(*wide_batch, 1, bytes_of(values));
        }
        gate.open();
        wait();
        queue->submit(*small_batch, 2, bytes_of(values));
    };
    EXPECT_EQ(testing::allocations_when_repeated(round), 0u);
}
#endif

}  // namespace
}  // namespace volley::backends::cpu
