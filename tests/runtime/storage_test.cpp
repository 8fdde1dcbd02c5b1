// Storage: when memory is allocated, shared, zeroed, reused and freed, on every backend, and programs under a
// small memory limit.
#include "runtime/storage.hpp"
#include "runtime/buffer_access.hpp"
#include "runtime/context_core.hpp"
#include "runtime/runtime_support.hpp"
#include "support/backend_test.hpp"
#include "support/held_queue.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace volley {
namespace {

using runtime::ContextCore;
using runtime::Storage;
using testing::error_of;
using testing::expect_contains;
using testing::HeldQueue;
using testing::NullContext;

auto make_set() {
    return kernel("set", [](Buff<int> data, Const<int> value) { data[global_id().x] = value; });
}

/// Blocks a queue until it is opened.
class Gate {
public:
    explicit Gate(const Queue& queue) {
        ContextCore& core = *ContextCore::core_of(queue);
        core.queue(queue.index()).call([opened = opened_.get_future().share()] { opened.wait(); });
    }
    ~Gate() { open(); }
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;
    void open() {
        if (!std::exchange(is_open_, true)) opened_.set_value();
    }

private:
    std::promise<void> opened_;
    bool is_open_ = false;
};

/// A separate context on the device of the test, with other options.
class OwnContext {
public:
    explicit OwnContext(const testing::DeviceTest& test, std::uint64_t limit = 0,
                        std::optional<std::uint64_t> cache = {})
        : context_(make(test, limit, cache)), scope_(context_.use()) {}
    [[nodiscard]] static DeviceMemoryStats stats() { return memory_stats().devices.at(0); }

private:
    static Context make(const testing::DeviceTest& test, std::uint64_t limit,
                        std::optional<std::uint64_t> cache) {
        ContextOptions options = test.configuration().options;
        options.memory_limit = limit;
        options.cache_bytes = cache;
        return make_context(options);
    }
    Context context_;
    ContextScope scope_;
};

// ---- allocation ----

VOLLEY_BACKEND_TEST(Storage, AllocatesNothingUntilItIsUsed) {
    const OwnContext own(*this);
    Buffer<int> never(1000), scalar(Shape{});
    EXPECT_EQ(scalar.bytes(), sizeof(int)) << "rank 0 is one element";
    EXPECT_EQ(own.stats().allocations, 0u);
    never.write(std::vector<int>(1000), queue(1));
    EXPECT_EQ(own.stats().allocations, 1u) << "only one of two replicas";
    make_set()(never, 1);
    EXPECT_EQ(own.stats().allocations, 2u);
    EXPECT_EQ(own.stats().live, 8000u);
}

VOLLEY_BACKEND_TEST(Storage, IsAllocatedOnceForAllItsViews) {
    Buffer<int> base(100);
    const Buffer<int> view = base.view(10, 20);
    Buffer<int> other = base.view(50, 10);
    EXPECT_FALSE(base.is_allocated(0) || view.is_allocated(0));
    other.fill(3);
    EXPECT_TRUE(base.is_allocated(0) && view.is_allocated(0));
    EXPECT_EQ(&runtime::storage_of(base).allocate(0), &runtime::storage_of(view).allocate(0));
}

VOLLEY_BACKEND_TEST(Storage, ConcurrentFirstUsesAllocateOnce) {
    const OwnContext own(*this);
    for (int round = 0; round < 20; ++round) {
        const Buffer<int> buffer(1000);
        std::atomic<int> ready{0};
        std::vector<const backends::Memory*> found(4);
        std::vector<std::thread> threads;
        for (std::size_t t = 0; t < found.size(); ++t) {
            threads.emplace_back([&, t] {
                ++ready;
                while (ready != 4) std::this_thread::yield();
                found[t] = &runtime::storage_of(buffer).allocate(0);
            });
        }
        for (std::thread& thread : threads) thread.join();
        for (const backends::Memory* memory : found) EXPECT_EQ(memory, found[0]);
    }
    EXPECT_EQ(own.stats().allocations, 20u);
    EXPECT_EQ(own.stats().live, 0u);
}

VOLLEY_BACKEND_TEST(Storage, EmptyStorageIsAllocated) {
    Buffer<int> none(0);
    none.ensure_allocated();
    EXPECT_TRUE(none.is_allocated(0));
    none.write(std::vector<int>());
    EXPECT_TRUE(none.read(0).empty());
}

VOLLEY_BACKEND_TEST(Storage, ReadingAnUnwrittenBufferThrows) {
    Buffer<int> buffer(10, {.name = "unwritten"});
    buffer.ensure_allocated();
    expect_contains(error_of(ErrorCode::NotAllocated, [&] { (void)buffer.read(0); }), "'unwritten'");
}

VOLLEY_BACKEND_TEST(Storage, IsZeroedOnRequest) {
    const OwnContext own(*this);
    for (int round = 0; round < 3; ++round) {
        Buffer<int> zeroed(1000, {.zeroed = true});
        zeroed.ensure_allocated();
        EXPECT_EQ(zeroed.read(0), std::vector<int>(1000)) << "round " << round;
        EXPECT_EQ(zeroed.read(1), std::vector<int>(1000));
        zeroed.fill(-1);  // must not be visible in the next round
    }
    EXPECT_EQ(own.stats().cache_hits, 4u) << "the same two blocks";
    Buffer<int>(0, {.zeroed = true}).ensure_allocated();
}

VOLLEY_BACKEND_TEST(Storage, LivesAsLongAsAnyView) {
    const OwnContext own(*this);
    Buffer<int> part;
    {
        Buffer<int> base(1000);
        base.fill(7);
        part = base.view(900, 50).view(10, 5);
    }
    EXPECT_EQ(part.read(1), std::vector<int>(5, 7));
    EXPECT_EQ(own.stats().live, 8000u);
    part = Buffer<int>();
    EXPECT_EQ(own.stats().live, 0u);
}

// ---- destruction ----

VOLLEY_BACKEND_TEST(Storage, ThrowsWhenUsedAfterDestroy) {
    const OwnContext own(*this);
    Buffer<int> buffer(100, {.name = "gone"});
    Buffer<int> view = buffer.view(0, 10);
    buffer.fill(1);
    make_set()(buffer, 2);
    view.destroy();
    view.destroy();
    EXPECT_EQ(own.stats().live, 0u);
    for (const auto& use : std::vector<std::function<void()>>{
             [&] { buffer.fill(1); }, [&] { (void)buffer.read(0); }, [&] { make_set()(buffer, 1); },
             [&] { make_set().on(queue(1))(view, 1); }, [&] { buffer.write(std::vector<int>(100)); },
             [&] { buffer.ensure_allocated(); }, [&] { (void)runtime::storage_of(buffer).allocate(0); }}) {
        const std::string text = error_of(ErrorCode::InvalidArgument, use);
        expect_contains(text, "destroyed");
        expect_contains(text, "'gone'");
    }
    Buffer<int> never(10);
    never.destroy();
    error_of(ErrorCode::InvalidArgument, [&] { never.fill(1); });
}

VOLLEY_BACKEND_TEST(Storage, DestroyedUnderAGuardKeepsItsMemory) {
    if (!device().host_memory) GTEST_SKIP() << device_name() << " has no host-addressable memory";
    const OwnContext own(*this);
    Buffer<int> buffer(100);
    buffer.fill(1);
    {
        const auto span = std::as_const(buffer).as_span(0);
        runtime::storage_of(buffer).replica(0).map();
        buffer.destroy();
        EXPECT_EQ(own.stats().live, 400u) << "the other replica was freed";
        EXPECT_EQ(span[99], 1);
        runtime::storage_of(buffer).replica(0).unmap();
    }
    buffer = Buffer<int>();
    EXPECT_EQ(own.stats().live, 0u);
}

TEST(StorageEnd, AdoptedMemoryIsKeptUntilItsWorkCompletes) {
    const Context context = make_context({.devices = {"cpu"}, .queues_per_device = 2});
    const auto use = context.use();
    const std::shared_ptr<ContextCore> core = ContextCore::core_of(queue(0));
    auto owner = std::make_shared<int>(0);
    const std::weak_ptr<int> watched = owner;
    std::shared_ptr<Storage> storage =
        Storage::adopt(core, 1, core->device(0).allocate(400), std::move(owner), {.name = "import"});
    EXPECT_EQ(storage->replica_count(), 1u);
    EXPECT_TRUE(storage->shared()) << "the queues of the device share it";
    EXPECT_EQ(storage->find(0), storage->find(1));
    EXPECT_TRUE(storage->replica(0).written());
    EXPECT_EQ(storage->bytes(), 400u);
    EXPECT_EQ(storage->name(), "import");
    EXPECT_EQ(memory_stats().total.live, 0u) << "adopted memory is not counted";
    Event done;
    {
        Gate gate(queue(1));
        const backends::Point point =
            core->queue(1).fill(storage->allocate(1), {0}, {400}, std::as_bytes(std::span("\1\1\1", 4)));
        storage->replica(1).wrote(1, point, {0, 400});
        done = core->make_event(1, point, "call");
        storage.reset();
        EXPECT_FALSE(watched.expired());
    }
    done.wait();
    EXPECT_TRUE(watched.expired()) << "wait() releases it";
}

TEST(StorageEnd, UnusedAdoptedMemoryIsReleasedAtOnce) {
    const Context context = make_context({.devices = {"cpu"}});
    const std::shared_ptr<ContextCore> core = ContextCore::core_of(context.queue(0));
    auto owner = std::make_shared<int>(0);
    const std::weak_ptr<int> watched = owner;
    Storage::adopt(core, 0, core->device(0).allocate(400), std::move(owner)).reset();
    EXPECT_TRUE(watched.expired());
    EXPECT_EQ(context.memory_stats().total.cached, 0u);
}

TEST(StorageEnd, DestroyingAContextFreesAllItsMemory) {
    NullContext null;
    Buffer<int> buffer, cached;
    std::weak_ptr<int> watched;
    std::shared_ptr<Storage> adopted;
    {
        const auto use = null.context.use();
        buffer = Buffer<int>(10);
        buffer.fill(1);
        Buffer<int>(20).fill(1);
        const std::shared_ptr<ContextCore> core = ContextCore::core_of(queue(0));
        auto owner = std::make_shared<int>(0);
        watched = owner;
        adopted = Storage::adopt(core, 0, core->device(0).allocate(400), std::move(owner));
    }
    EXPECT_EQ(null.log->live_blocks, 3u);
    null.context = current_context();
    EXPECT_EQ(null.log->live_blocks, 0u);
    EXPECT_TRUE(watched.expired());
    error_of(ErrorCode::WrongContext, [&] { buffer.fill(1); });
    error_of(ErrorCode::WrongContext, [&] { adopted->check_usable(); });
}

// ---- reuse ----

VOLLEY_BACKEND_TEST(Reuse, NeverMixesTheContentsOfTemporaries) {
    Buffer<int> results({64, 1000});
    const auto set = make_set();
    const auto copy = kernel("copy", [](Buff<const int> from, Buff<int> to, Const<int> row) {
        to[1000u * cast<std::uint32_t>(row) + global_id().x] = from[global_id().x];
    });
    for (int i = 0; i < 64; ++i) {
        Buffer<int> temporary(1000);
        set(temporary, i);
        copy.over(1000)(temporary, results, i);
    }
    const std::vector<int> got = results.read(1);
    for (int i = 0; i < 64; ++i) {
        EXPECT_EQ(got[static_cast<std::size_t>(i) * 1000], i);
        EXPECT_EQ(got[static_cast<std::size_t>(i) * 1000 + 999], i);
    }
}

VOLLEY_BACKEND_TEST(Reuse, OfMemoryWithPendingWorkIsLimitedToItsQueue) {
    const OwnContext own(*this);
    const backends::Memory* held = nullptr;
    {
        Gate gate(queue(0));
        {
            Buffer<int> slow(1000, {.placement = Placement::on(queue(0))});
            make_set().on(queue(0))(slow, 1);
            held = runtime::storage_of(slow).replica(0).memory();
        }
        Buffer<int> theirs(1000, {.placement = Placement::on(queue(1))});
        theirs.fill(2);
        EXPECT_NE(runtime::storage_of(theirs).replica(1).memory(), held);
        EXPECT_EQ(theirs.read(1)[999], 2);

        Buffer<int> ours(1000, {.placement = Placement::on(queue(0))});
        ours.ensure_allocated();
        EXPECT_EQ(runtime::storage_of(ours).replica(0).memory(), held) << "reused in queue order";
        EXPECT_NE(runtime::storage_of(ours).replica(0).last_use(0), 0u) << "the host waits for earlier uses";
        make_set().on(queue(0))(ours, 3);
        gate.open();
        EXPECT_EQ(ours.read(0), std::vector<int>(1000, 3));
    }
    Buffer<int> theirs(1000, {.placement = Placement::on(queue(1))});
    theirs.ensure_allocated();
    wait();
    EXPECT_EQ(memory_stats().total.live, 4000u);
}

// ---- statistics ----

VOLLEY_BACKEND_TEST(MemoryStatistics, CountLiveAndCachedBytes) {
    const OwnContext own(*this);
    {
        Buffer<char> a(1'000'000), b(500'000);
        a.fill(1);
        EXPECT_EQ(own.stats().live, 2'000'000u);
        b.fill(1);
        EXPECT_EQ(own.stats().peak, 3'000'000u);
    }
    wait();
    EXPECT_EQ(own.stats().live, 0u);
    EXPECT_GE(own.stats().cached, 3'000'000u);
    EXPECT_LE(own.stats().cached, 3'400'000u) << "sizes are rounded by an eighth at most";
    EXPECT_GT(own.stats().limit, 0u);
    trim();
    EXPECT_EQ(own.stats().cached, 0u);
    EXPECT_EQ(own.stats().peak, 3'000'000u);
    Buffer<char> c(1'000'000);
    c.fill(2);
    EXPECT_EQ(own.stats().allocations, 6u);
    EXPECT_EQ(own.stats().cache_hits, 0u) << "trim() emptied the cache";
    EXPECT_EQ(current_context().statistics().memory, memory_stats());
}

TEST(MemoryStatisticsNull, AddUpAndPrint) {
    NullContext null({.devices = {"null:0", "null:1"}, .memory_limit = 10'000});
    const auto use = null.context.use();
    Buffer<char> a(1000);
    a.fill(1);
    const MemoryStats stats = null.context.memory_stats();
    ASSERT_EQ(stats.devices.size(), 2u);
    EXPECT_EQ(stats.devices[1].id, "null:1");
    EXPECT_EQ(stats.total.live, 2000u);
    EXPECT_EQ(stats.total.limit, 20'000u);
    EXPECT_EQ(stats.total.allocations, 2u);
    std::ostringstream out;
    out << null.context.statistics();
    expect_contains(out.str(), "null:1: 1000 bytes live (peak 1000, limit 10000), 0 cached");
    expect_contains(out.str(), "total: 2000 bytes live");
    expect_contains(out.str(), "transfers: ");
}

TEST(MemoryStatisticsNull, TheCacheCanBeTurnedOff) {
    NullContext null({.devices = {"null:0"}, .cache_bytes = 0});
    const auto use = null.context.use();
    Buffer<int>(100).fill(1);
    EXPECT_EQ(null.log->live_blocks, 1u) << "the fill may still run";
    EXPECT_EQ(memory_stats().total.cached, 400u);
    wait();
    EXPECT_EQ(null.log->live_blocks, 0u);
}

// ---- too little memory ----

VOLLEY_BACKEND_TEST(SmallLimit, OutOfMemoryNamesTheBufferAndTheSizes) {
    const OwnContext own(*this, 1 << 20);
    Buffer<char> held(300'000, {.name = "held", .placement = Placement::on(queue(0))});
    held.fill(1);
    {
        Buffer<char> former(300'000, {.placement = Placement::on(queue(0))});
        former.fill(1);
    }
    Buffer<char> wish(900'000, {.name = "wish", .placement = Placement::on(queue(0))});
    const std::string text = error_of(ErrorCode::OutOfMemory, [&] { wish.fill(1); });
    expect_contains(text, "900000 bytes");
    expect_contains(text, "buffer 'wish'");
    expect_contains(text, "the limit is 1048576");
    expect_contains(text, device().id());
    expect_contains(text, "VOLLEY_MEMORY_LIMIT");
    // Only memory in use, rounded, is left; cached blocks have been freed.
    expect_contains(text, cat(runtime::SizeClass::size(runtime::SizeClass::above(300'000)), " bytes in use"));
    EXPECT_FALSE(wish.is_allocated(0)) << "it can be retried";
    held.destroy();
    wish.fill(1);
    EXPECT_EQ(wish.read(0).back(), 1);
    EXPECT_EQ(own.stats().live, 900'000u);
}

VOLLEY_BACKEND_TEST(SmallLimit, AllocationWaitsForFreedMemory) {
    const OwnContext own(*this, 1 << 20);
    const auto set = kernel("set", [](Buff<std::uint8_t> data) { data[global_id().x] = std::uint8_t{1}; });
    for (int i = 0; i < 20; ++i) {
        // Different sizes, so that no block can be reused.
        Buffer<std::uint8_t> temporary(600'000 + 10'000 * i, {.placement = Placement::on(queue(i % 2))});
        set.over(100)(temporary);
    }
    EXPECT_EQ(own.stats().live, 0u);
}

VOLLEY_BACKEND_TEST(SmallLimit, AHundredThousandFailuresLeakNothing) {
    const bool cpu = device().backend == "cpu";
#ifdef VOLLEY_SANITIZED
    const int rounds = cpu ? 10'000 : 200;
#else
    const int rounds = cpu ? 100'000 : 2'000;
#endif
    const OwnContext own(*this, 100'000);
    Buffer<char> kept;
    int failed = 0;
    for (int i = 0; i < rounds; ++i) {
        const auto place = Placement::on(queue(static_cast<unsigned>(i) % 2));
        Buffer<char> a(20'000 + i % 977 * 20, {.placement = place});
        static_cast<void>(runtime::storage_of(a).allocate(static_cast<unsigned>(i) % 2));
        if (i % 16 == 0) a.fill(1);
        if (i % 3 == 0) {
            Buffer<char> b(90'000, {.placement = place});
            try {
                b.ensure_allocated();
            } catch (const MemoryError&) {
                ++failed;
            }
            EXPECT_FALSE(b.is_allocated(0) || b.is_allocated(1));
        }
        if (i % 5 == 0) kept = a;
        ASSERT_LE(own.stats().live, 100'000u);
    }
    kept = Buffer<char>();
    EXPECT_EQ(failed, (rounds + 2) / 3);
    wait();
    EXPECT_EQ(own.stats().live, 0u);
    trim();
    EXPECT_EQ(own.stats().cached, 0u);
    Buffer<char> all(100'000, {.placement = Placement::on(queue(0))});
    all.fill(1);
}

TEST(SmallLimitNull, TheDriverHoldsNothingAtTheEnd) {
    NullContext null({.devices = {"null:0"}, .queues_per_device = 2, .memory_limit = 10'000});
    const auto use = null.context.use();
    for (int i = 0; i < 10'000; ++i) {
        Buffer<char> a(3000 + i % 1000);
        a.ensure_allocated();
        if (i % 4 == 0) a.fill(1);
        Buffer<char> b(9500);
        EXPECT_THROW(b.ensure_allocated(), MemoryError);
        if (i % 100 == 0) null.log->clear();
    }
    wait();
    trim();
    EXPECT_EQ(null.log->live_blocks, 0u);
    EXPECT_EQ(null.log->live_bytes, 0u);
}

VOLLEY_BACKEND_TEST(SmallLimit, ThreadsAllocateAndFreeConcurrently) {
    const OwnContext own(*this, 1 << 20);
#ifdef VOLLEY_SANITIZED
    constexpr int rounds = 300;
#else
    constexpr int rounds = 1000;
#endif
    const Context context = current_context();
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            const auto use = context.use();
            const unsigned k = static_cast<unsigned>(t) % 2;
            for (int i = 0; i < rounds; ++i) {
                const auto size = static_cast<std::size_t>(100 + i * 37 % 50'000);
                Buffer<int> buffer(size, {.placement = Placement::on(queue(k))});
                try {
                    buffer.fill(t * rounds + i);
                    if (i % 10 == 0 && buffer.read(k) != std::vector<int>(size, t * rounds + i)) ++wrong;
                } catch (const MemoryError&) {
                    // Expected while other threads hold too much memory.
                }
                if (i % 100 == 0) trim();
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(own.stats().live, 0u);
    wait();
    trim();
    EXPECT_EQ(own.stats().cached, 0u);
}

TEST(SmallLimitErrors, AHostFunctionDoesNotWaitForWorkThatWaitsForIt) {
    const Context context =
        make_context({.devices = {"cpu:0"}, .queues_per_device = 2, .memory_limit = 1 << 20});
    const ContextScope scope = context.use();
    Buffer<int> small(4, {.placement = Placement::on(queue(1))});
    bool refused_buffer = false, refused_array = false;
    Event done;
    {
        HeldQueue held(queue(1));
        done = small.fill(1).then([&] {
            try {
                Buffer<char>(600 * 1024).fill('a');
            } catch (const MemoryError&) {
                refused_buffer = true;
            }
            try {
                static_cast<void>(HostArray<char>({600 * 1024}));
            } catch (const MemoryError&) {
                refused_array = true;
            }
        });
        queue(0).depends_on(done);
        Buffer<char>(800 * 1024, {.placement = Placement::on(queue(0))}).fill('b');  // after the function
    }
    ASSERT_TRUE(done.wait_for(std::chrono::seconds(20)));
    EXPECT_TRUE(refused_buffer);
    EXPECT_TRUE(refused_array);
    EXPECT_NO_THROW(static_cast<void>(HostArray<char>({600 * 1024})));
}

TEST(SmallLimitErrors, ErrorsOfWorkThatWasWaitedForAreNotLost) {
    const Context context = make_context({.devices = {"cpu"}, .memory_limit = 1 << 20});
    const auto use = context.use();
    Event failing;
    {
        Gate gate(queue(0));
        const std::shared_ptr<ContextCore> core = ContextCore::core_of(queue(0));
        const backends::Point point =
            core->queue(0).call([] { throw ArgumentError("it failed", "a test", "expect it"); });
        failing = core->make_event(0, point, "call");
        Buffer<char> former(700'000);
        former.fill(1);  // after both
    }
    Buffer<char> next(800'000);
    next.fill(1);  // waits for the memory of `former`
    EXPECT_THROW(failing.wait(), ArgumentError);
}

// Each runs in its own process, because the environment is read only once.
class MemoryLimit : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Backends, MemoryLimit,
                         ::testing::Values("cpu", "reference", "vulkan:llvmpipe", "vulkan:swiftshader",
                                           "opencl:0"));

TEST_P(MemoryLimit, FromTheEnvironmentAppliesToEveryBackend) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            ::setenv("VOLLEY_MEMORY_LIMIT", "1M", 1);
            try {
                const Context context = make_context({.devices = {GetParam()}});
                const auto use = context.use();
                Buffer<char>(900'000).fill(1);  // cached, then evicted
                Buffer<char> fits(1'000'000);
                fits.fill(1);
                fits.destroy();
                Buffer<char>(2'000'000).fill(1);
                std::fprintf(stderr, "nothing was refused\n");
            } catch (const MemoryError& error) {
                std::fprintf(stderr, "refused: %s\n", error.what());
            } catch (const DeviceError& error) {
                std::fprintf(stderr, "no such device\n");
            }
            std::exit(0);
        },
        ::testing::ExitedWithCode(0),
        "refused: an allocation of 2000000 bytes failed: the limit is 1048576 bytes|no such device");
}

}  // namespace
}  // namespace volley
