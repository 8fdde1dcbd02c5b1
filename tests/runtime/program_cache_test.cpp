// How long compiled code lives: kernels in use, in graphs, in pending commands and in profiles keep theirs,
// and what is cached beyond the limit goes in the order of its release.
#include "runtime/context_core.hpp"
#include "runtime/runtime_support.hpp"
#include "support/backend_test.hpp"
#include "support/held_queue.hpp"
#include "support/sanitized.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace volley {
namespace {

using namespace std::chrono_literals;
using testing::expect_contains;
using testing::HeldQueue;
using testing::NullContext;

/// Each number makes a kernel of its own, which adds that number.
auto make_adder(int number) {
    return kernel("add", [number](Buff<int> data) {
        auto i = global_id().x;
        data[i] = data[i] + number;
    });
}

/// A context on the device of the test that keeps no code of kernels that are not in use.
class ForgetfulContext {
public:
    explicit ForgetfulContext(const testing::DeviceTest& test, std::uint64_t limit = 0)
        : context_(make(test, limit)), scope_(context_.use()) {}
    [[nodiscard]] const Context& get() const { return context_; }

private:
    static Context make(const testing::DeviceTest& test, std::uint64_t limit) {
        ContextOptions options = test.configuration().options;
        options.program_cache_bytes = limit;
        return make_context(options);
    }
    Context context_;
    ContextScope scope_;
};

ProgramStats programs() { return memory_stats().programs; }

VOLLEY_BACKEND_TEST(ProgramCache, RemovesKernelsThatNothingUses) {
    const ForgetfulContext own(*this);
    Buffer<int> data(4);
    data.zero();
    constexpr int count = 5;
    for (int k = 1; k <= count; ++k) make_adder(k)(data);
    wait();
    EXPECT_EQ(data.read()[0][3], count * (count + 1) / 2);
    const ProgramStats stats = programs();
    EXPECT_EQ(stats.compilations, static_cast<std::uint64_t>(count));
    EXPECT_EQ(stats.evictions, static_cast<std::uint64_t>(count));
    EXPECT_EQ(stats.kernels, 0u);
    EXPECT_EQ(stats.bytes, 0u);
    EXPECT_EQ(stats.cached, 0u);
    make_adder(1)(data);
    EXPECT_EQ(data.read()[0][0], count * (count + 1) / 2 + 1) << "a removed kernel is compiled again";
    EXPECT_EQ(programs().compilations, count + 1u);
}

VOLLEY_BACKEND_TEST(ProgramCache, KeepsKernelsThatExist) {
    const ForgetfulContext own(*this);
    Buffer<int> data(4);
    data.zero();
    std::optional add = make_adder(7);
    for (int k = 0; k < 3; ++k) {
        (*add)(data);
        wait();
        trim();
    }
    EXPECT_EQ(data.read()[0][0], 21);
    const ProgramStats stats = programs();
    EXPECT_EQ(stats.kernels, 1u);
    EXPECT_GT(stats.bytes, 0u);
    EXPECT_EQ(stats.cached, 0u) << "it is in use";
    EXPECT_EQ(stats.compilations, 1u);
    const auto copy = *add;
    add.reset();
    EXPECT_EQ(programs().kernels, 1u) << "the copy uses it";
}

VOLLEY_BACKEND_TEST(ProgramCache, UsesCachedKernelsAgain) {
    const ForgetfulContext own(*this, std::uint64_t{16} << 20);
    Buffer<int> data(4);
    data.zero();
    for (int k = 0; k < 20; ++k) make_adder(3)(data);
    EXPECT_EQ(data.read()[0][2], 60);
    ProgramStats stats = programs();
    EXPECT_EQ(stats.compilations, 1u);
    EXPECT_EQ(stats.evictions, 0u);
    EXPECT_EQ(stats.kernels, 1u);
    EXPECT_GT(stats.cached, 0u);
    EXPECT_EQ(stats.cached, stats.bytes);
    trim();
    stats = programs();
    EXPECT_EQ(stats.kernels, 0u) << "trim() removes what is cached";
    EXPECT_EQ(stats.evictions, 1u);
}

VOLLEY_BACKEND_TEST(ProgramCache, PendingCommandsKeepTheirKernels) {
    const ForgetfulContext own(*this);
    Buffer<int> data(4, {.placement = Placement::on(queue(0))});
    data.zero();
    wait();
    HeldQueue held(queue(0));
    const Event done = make_adder(5)(data);
    trim();
    ProgramStats stats = programs();
    EXPECT_EQ(stats.kernels, 1u) << "a command on queue 0 may use it";
    EXPECT_EQ(stats.cached, stats.bytes);
    EXPECT_FALSE(done.wait_for(1ms));
    expect_contains(done.to_string(), "kernel 'add'");
    EXPECT_FALSE(held.released_by_itself());
    held.release();
    done.wait();
    wait();
    stats = programs();
    EXPECT_EQ(stats.kernels, 0u) << "wait() removes what exceeds the limit";
    EXPECT_EQ(done.to_string(), "done");
    EXPECT_EQ(data.read()[0][1], 5);
}

VOLLEY_BACKEND_TEST(ProgramCache, GraphsKeepTheirKernels) {
    const ForgetfulContext own(*this);
    Buffer<int> data(4, {.placement = Placement::on(queue(0))});
    data.zero();
    {
        CommandGraph graph = record([&] {
            make_adder(1)(data);
            make_adder(10)(data);
        });
        graph.submit();
        for (int k = 2; k < 5; ++k) make_adder(100 * k)(data);
        wait();
        trim();
        EXPECT_EQ(programs().kernels, 2u) << "those of the graph";
        graph.submit();
        EXPECT_EQ(data.read()[0][0], 2 * 11 + 900);
        EXPECT_EQ(programs().compilations, 5u);
        graph.submit();
    }
    wait();
    EXPECT_EQ(data.read()[0][0], 3 * 11 + 900) << "the graph was dropped while its commands were pending";
    trim();
    EXPECT_EQ(programs().kernels, 0u);
}

VOLLEY_BACKEND_TEST(ProgramCache, ProfilesNameKernelsThatWereRemoved) {
    const ForgetfulContext own(*this);
    Buffer<int> data(4);
    data.zero();
    const Profile result = profile([&] {
        for (int k = 0; k < 3; ++k) {
            make_adder(k)(data);
            wait();
            trim();
        }
    });
    EXPECT_EQ(programs().kernels, 0u);
    int launches = 0;
    for (const ProfiledCommand& command : result.commands()) {
        if (command.kind != CommandKind::Launch) continue;
        ++launches;
        EXPECT_EQ(command.name, "add");
        expect_contains(command.file, "program_cache_test.cpp");
    }
    EXPECT_GE(launches, 3);
}

VOLLEY_BACKEND_TEST(ProgramCache, ThreadsLaunchWhileKernelsAreRemoved) {
    const ForgetfulContext own(*this);
    const bool slow = device().backend == "opencl" || device().backend == "vulkan";
    const int rounds = slow ? 4 : testing::unless_sanitized(200, 20);
    std::atomic<bool> running{true};
    std::vector<std::thread> threads;
    std::vector<int> results(2);
    const auto shared = make_adder(1);
    for (int t = 0; t < 2; ++t) {
        threads.emplace_back([&, t] {
            const ContextScope scope = own.get().use();
            Buffer<int> data(64);
            data.zero();
            for (int k = 0; k < rounds; ++k) {
                make_adder(2 + k % 3)(data);  // both threads make the same kernels
                shared(data);
            }
            results[static_cast<std::size_t>(t)] = data.read()[0][63];
        });
    }
    std::thread remover([&] {
        const ContextScope scope = own.get().use();
        while (running) {
            trim();
            static_cast<void>(memory_stats());
            std::this_thread::yield();
        }
    });
    for (std::thread& thread : threads) thread.join();
    running = false;
    remover.join();
    int expected = 0;
    for (int k = 0; k < rounds; ++k) expected += 3 + k % 3;
    EXPECT_EQ(results, (std::vector<int>{expected, expected}));
    wait();
    trim();
    EXPECT_EQ(programs().kernels, 1u);
}

// ---- order and limit ----

/// Launches a kernel and drops it, once its commands have completed.
void use_once(int number) {
    Buffer<int> data(4);
    make_adder(number)(data);
    wait();
}

TEST(ProgramCacheNull, RemovesTheKernelThatWasReleasedFirst) {
    std::uint64_t one = 0;
    {
        const NullContext null;
        const auto use = null.context.use();
        use_once(1);
        one = programs().cached;
    }
    ASSERT_GT(one, 0u);
    const NullContext null({.devices = {"null:0"}, .program_cache_bytes = 2 * one + one / 2});
    const auto use = null.context.use();
    use_once(1);
    use_once(2);
    use_once(1);
    use_once(3);  // removes 2
    EXPECT_EQ(programs().kernels, 2u);
    EXPECT_EQ(programs().cached, 2 * one);
    EXPECT_EQ(null.log->programs_made, 3u);
    use_once(1);
    use_once(3);
    EXPECT_EQ(null.log->programs_made, 3u);
    use_once(2);
    EXPECT_EQ(null.log->programs_made, 4u);
    EXPECT_EQ(programs().evictions, 2u);
    EXPECT_EQ(programs().limit, 2 * one + one / 2);
    std::ostringstream out;
    out << memory_stats();
    expect_contains(out.str(), "kernels: 2 with ");
    expect_contains(out.str(), "4 compilations, 2 evictions");
}

TEST(ProgramCacheNull, AKernelServesManyContexts) {
    const auto touch = testing::make_touch();
    const NullContext first;
    for (int k = 0; k < 50; ++k) {
        const NullContext null;
        for (const Context& context : {null.context, first.context, null.context}) {
            const auto use = context.use();
            Buffer<int> data(4);
            touch(data);
            wait();
            EXPECT_EQ(programs().compilations, 1u);
            EXPECT_EQ(programs().kernels, 1u);
        }
        EXPECT_EQ(null.log->programs_made, 1u);
    }
    EXPECT_EQ(first.log->programs_made, 1u);
}

TEST(ProgramCacheNull, AKernelOutlivesItsContexts) {
    auto kept = testing::make_touch();
    {
        const NullContext null;
        const auto use = null.context.use();
        Buffer<int> data(4);
        kept(data);
    }
    const NullContext null;
    const auto use = null.context.use();
    Buffer<int> data(4);
    kept(data);
    EXPECT_EQ(programs().kernels, 1u);
    kept = testing::make_touch();
    EXPECT_EQ(programs().cached, programs().bytes) << "nothing refers to it any more";
}

}  // namespace
}  // namespace volley
