// Several threads trace, compile and launch concurrently in one context.
#include "support/device_fixture.hpp"

#include <atomic>
#include <thread>

namespace volley {
namespace {

/// Runs f(0) to f(count - 1) concurrently, each in a thread in which this test's context is current.
template <class F>
void in_threads(unsigned count, F f) {
    const Context context = current_context();
    std::vector<std::thread> threads;
    std::atomic<unsigned> ready{0};
    for (unsigned t = 0; t < count; ++t) {
        threads.emplace_back([&, t] {
            const auto scope = context.use();
            ++ready;
            while (ready < count) std::this_thread::yield();
            try {
                f(t);
            } catch (const std::exception& error) {
                ADD_FAILURE() << "thread " << t << ": " << error.what();
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
}

VOLLEY_DEVICE_TEST(Thread, TraceAndLaunchTheirOwnKernelsConcurrently) {
    in_threads(4, [](unsigned t) {
        for (u32 round = 0; round < 5; ++round) {
            const u32 factor = t * 10 + round + 1;
            Buffer<u32> data(100 + t);
            data.fill(round);
            auto run = kernel("own", [factor](Buff<u32> d) {
                const auto i = global_id().x;
                $if (i % 2u == 0u) {
                    d[i] = d[i] * factor + i;
                }
            });
            run(data);
            run(data);
            const auto got = data.read(0);
            for (u32 i = 0; i < got.size(); ++i) {
                const u32 want = i % 2 == 0 ? (round * factor + i) * factor + i : round;
                if (got[i] != want) {
                    ADD_FAILURE() << "thread " << t << " round " << round << " element " << i << ": "
                                  << got[i];
                    break;
                }
            }
        }
    });
}

VOLLEY_DEVICE_TEST(Thread, ShareAKernelThatIsNotTracedYet) {
    std::atomic<int> traced{0};
    auto shared = kernel("shared", [&traced](Buff<u32> d, Const<u32> v) {
        ++traced;
        d[global_id().x] += v;
    });
    in_threads(4, [&](unsigned t) {
        Buffer<u32> data(257);
        data.fill(t);
        for (u32 k = 0; k < 20; ++k) shared(data, k);
        for (const u32 v : data.read(0)) {
            if (v != t + 190) {
                ADD_FAILURE() << "thread " << t << ": " << v;
                break;
            }
        }
    });
    EXPECT_EQ(traced, 1);
}

VOLLEY_DEVICE_TEST(Thread, AddToOneBufferByAtomics) {
    Buffer<u32> total(1);
    total.fill(0);
    auto add = kernel("add", [](Buff<u32> t) { t.atomic(0).add(1u); });
    in_threads(3, [&](unsigned) {
        for (int k = 0; k < 10; ++k) add.over(100)(total);
        wait();
    });
    EXPECT_EQ(total.read(0), std::vector<u32>{3000});
}

VOLLEY_DEVICE_TEST(Thread, LaunchesOfOneBufferStayInOrder) {
    Buffer<u32> data(500);
    data.fill(0);
    const auto step = kernel("step", [](Buff<u32> d, Const<u32> k) {
        const auto i = global_id().x;
        d[i] = d[i] * 3u + k;
    });
    u32 want = 0;
    for (u32 k = 0; k < 200; ++k) {
        step(data, k);
        want = want * 3 + k;
    }
    EXPECT_EQ(data.read(0), std::vector<u32>(500, want));
}

}  // namespace
}  // namespace volley
