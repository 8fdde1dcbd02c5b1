// Creating, using and destroying contexts.
#include "runtime/runtime_support.hpp"

#include <atomic>
#include <cstdlib>
#include <thread>

namespace volley {
namespace {

using testing::error_of;
using testing::expect_contains;
using testing::NullContext;

TEST(Context, TheDefaultContextIsCreatedOnFirstUseAndKept) {
    const Context first = current_context();
    EXPECT_EQ(first, current_context());
    EXPECT_GE(first.queue_count(), 1u);
    wait();
}

TEST(Context, UseMakesItCurrentInItsScope) {
    const Context outside = current_context();
    const Context a = make_context({.devices = {"cpu:0"}});
    const Context b = make_context({.devices = {"reference"}});
    EXPECT_NE(a.id(), b.id());
    {
        const auto use_a = a.use();
        EXPECT_EQ(current_context(), a);
        {
            const auto use_b = b.use();
            EXPECT_EQ(current_context(), b);
        }
        EXPECT_EQ(current_context(), a);
    }
    EXPECT_EQ(current_context(), outside);
}

TEST(Context, UseAffectsOnlyTheCallingThread) {
    const Context mine = make_context({.devices = {"cpu:0"}});
    const auto use = mine.use();
    Context theirs = mine;
    std::thread([&] { theirs = current_context(); }).join();
    EXPECT_NE(theirs, mine);
}

TEST(Context, NumbersQueuesAcrossItsDevices) {
    const Context context = make_context({.devices = {"cpu:0", "reference:0"}, .queues_per_device = 2});
    ASSERT_EQ(context.queue_count(), 4u);
    EXPECT_EQ(context.queue(1).device().id(), "cpu:0");
    EXPECT_EQ(context.queue(2).device().id(), "reference:0");
    EXPECT_EQ(context.devices().size(), 2u);
    const auto use = context.use();
    EXPECT_EQ(queue(3), context.queue(3));
    expect_contains(error_of(ErrorCode::IndexError, [] { (void)queue(4); }), "there is no queue 4");
}

TEST(Context, TakesAVectorWidthForTheCpu) {
    for (const unsigned width : {1u, 4u, 8u, 16u}) {
        EXPECT_EQ(make_context({.devices = {"cpu"}, .cpu_width = width}).devices()[0].subgroup_size, width);
    }
    expect_contains(error_of(ErrorCode::InvalidArgument, [] { (void)make_context({.cpu_width = 3}); }),
                    "3 lanes");
}

TEST(Context, RejectsInvalidOptions) {
    error_of(ErrorCode::InvalidArgument, [] { (void)make_context({.queues_per_device = 0}); });
    error_of(ErrorCode::InvalidArgument,
             [] { (void)make_context({.devices = {"cpu"}, .queues_per_device = 1'000'000}); });
    error_of(ErrorCode::UnknownDevice, [] { (void)make_context({.devices = {"cpu:0", "quantum:0"}}); });
}

TEST(Context, ClosesWithItsLastCopyAndWaitsForItsWork) {
    NullContext null;
    auto second = std::make_unique<Context>(null.context);
    Buffer<int> buffer;
    {
        const auto use = null.context.use();
        buffer = Buffer<int>(16);
        buffer.write(std::vector<int>(16));
    }
    null.context = current_context();
    EXPECT_EQ(null.log->live_blocks, 1u) << "a copy still exists";
    second.reset();
    EXPECT_EQ(null.log->live_blocks, 0u);
    EXPECT_EQ(null.log->lines().back(), "q0 wait 1");
}

TEST(Context, ItsObjectsThrowAfterItIsDestroyed) {
    auto context = std::make_unique<Context>(make_context({.devices = {"cpu:0"}}));
    auto copy = kernel("copy", [](Buff<int> data) { data[global_id().x] = 1; });
    Buffer<int> buffer;
    const Queue old_queue = context->queue(0);
    Event event;
    {
        const auto use = context->use();
        buffer = Buffer<int>(16, {.name = "grid"});
        event = copy(buffer);
    }
    context.reset();
    const std::string text = error_of(ErrorCode::WrongContext, [&] { (void)buffer.read(0); });
    expect_contains(text, "buffer 'grid'");
    expect_contains(text, "keep the Context alive");
    error_of(ErrorCode::WrongContext, [&] { buffer.write(std::vector<int>(16)); });
    error_of(ErrorCode::WrongContext, [&] { buffer.fill(1); });
    error_of(ErrorCode::WrongContext, [&] { copy(buffer); });
    error_of(ErrorCode::WrongContext, [&] { copy.on(old_queue)(buffer); });
    error_of(ErrorCode::WrongContext, [&] { old_queue.wait(); });
    EXPECT_TRUE(event.ready());
    EXPECT_NO_THROW(event.wait());
    // The kernel itself still works in other contexts.
    Buffer<int> fresh(16);
    copy(fresh);
    EXPECT_EQ(fresh.read(0)[15], 1);
}

TEST(Context, ManyThreadsCreateAndDestroyContexts) {
    std::atomic<int> right{0};
    auto set = kernel("set", [](Buff<int> data, Const<int> value) { data[global_id().x] = value; });
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 10; ++i) {
                const Context context = make_context({.devices = {"cpu:0"}, .queues_per_device = 2});
                const auto use = context.use();
                Buffer<int> buffer(1000);
                set(buffer, 10 * t + i);
                if (buffer.read(1)[999] == 10 * t + i) ++right;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(right, 40);
}

// Each runs in its own process, because the environment is read only once.
class ContextEnvironment : public ::testing::Test {
protected:
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

    [[noreturn]] static void report_default_context() {
        try {
            std::fprintf(stderr, "opened %s\n", current_context().devices()[0].id().c_str());
        } catch (const Error& error) {
            std::fprintf(stderr, "refused: %s\n", error.what());
        }
        std::exit(0);
    }
};

TEST_F(ContextEnvironment, NamesTheDefaultDevice) {
    EXPECT_EXIT(
        {
            ::setenv("VOLLEY_DEVICES", "reference", 1);
            report_default_context();
        },
        ::testing::ExitedWithCode(0), "opened reference:0");
}

TEST_F(ContextEnvironment, AnUnknownDeviceThrowsAndListsTheDevices) {
    EXPECT_EXIT(
        {
            ::setenv("VOLLEY_DEVICES", "cpu:0,warp:9", 1);
            report_default_context();
        },
        ::testing::ExitedWithCode(0), "refused: there is no such device; 'warp:9'; use one of: .*cpu:0");
}

TEST_F(ContextEnvironment, LimitsMemory) {
    EXPECT_EXIT(
        {
            ::setenv("VOLLEY_MEMORY_LIMIT", "1M", 1);
            try {
                Buffer<char> small(1000);
                small.fill(1);
                Buffer<char> big(2'000'000);
                big.fill(1);
            } catch (const MemoryError& error) {
                std::fprintf(stderr, "refused: %s\n", error.what());
            }
            std::exit(0);
        },
        ::testing::ExitedWithCode(0),
        "refused: an allocation of 2000000 bytes failed: the limit is 1048576 bytes");
}

}  // namespace
}  // namespace volley
