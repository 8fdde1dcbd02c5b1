// Threads that record, submit and wait concurrently: the work of each runs in its order, and no command of
// one thread appears in the recording of another.
#include "graphs/graph_support.hpp"

#include <thread>

namespace volley {
namespace {

using testing::add_number;
using testing::scale_by;

#ifdef VOLLEY_SANITIZED
constexpr int thread_rounds = 20;
#else
constexpr int thread_rounds = 100;
#endif

template <class F>
void on_threads(int count, F&& f) {
    std::vector<std::thread> threads;
    for (int t = 0; t < count; ++t) threads.emplace_back([&f, t] { f(t); });
    for (std::thread& thread : threads) thread.join();
}

VOLLEY_BACKEND_TEST(GraphThreads, RecordTheirOwnGraphs) {
    const Context context = current_context();
    on_threads(4, [&](int t) {
        const auto use = context.use();
        Buffer<float> data = as_buffer(std::vector<float>(50, 1.0f));
        for (int i = 0; i < 5; ++i) {
            auto g = record([&] {
                for (int k = 0; k <= t; ++k) add_number()(data, 1.0f);
            });
            EXPECT_EQ(g.size(), static_cast<std::size_t>(t) + 1);
            g.submit();
        }
        EXPECT_EQ(data.read(0)[49], 1.0f + 5.0f * static_cast<float>(t + 1));
    });
}

VOLLEY_BACKEND_TEST(GraphThreads, SubmitOneGraphConcurrently) {
    const Context context = current_context();
    Buffer<float> data = as_buffer(std::vector<float>(50, 0.0f));
    CommandGraph g = record([&] { add_number()(data, 1.0f); });
    on_threads(4, [&](int) {
        const auto use = context.use();
        for (int i = 0; i < thread_rounds; ++i) {
            const Event done = g.submit();
            if (i % 8 == 0) done.wait();
        }
    });
    EXPECT_EQ(data.read(0)[0], 4.0f * thread_rounds);
    EXPECT_EQ(data.read(1)[49], 4.0f * thread_rounds);
}

VOLLEY_BACKEND_TEST(GraphThreads, SubmitToSharedMemoryFromSeveralQueues) {
    const Context context = current_context();
    Buffer<float> shared({64}, {.placement = Placement::per_device});
    shared.fill(0.0f);
    on_threads(4, [&](int t) {
        const auto use = context.use();
        const Queue mine = queue(static_cast<unsigned>(t % 2));
        Buffer<float> own({64}, {.placement = Placement::on(mine)});
        own.fill(0.0f);
        auto g = record([&] {
            add_number().on(mine)(shared, 1.0f);
            add_number().on(mine)(own, 1.0f);
        });
        for (int i = 0; i < thread_rounds; ++i) {
            if (i % 2 == 0) {
                g.submit();
            } else {
                add_number().on(mine)(shared, 1.0f);
            }
        }
        EXPECT_EQ(own.read(mine.index())[0], thread_rounds / 2.0f);
    });
    EXPECT_EQ(shared.read(0), std::vector<float>(64, 4.0f * thread_rounds));
}

VOLLEY_BACKEND_TEST(GraphThreads, BindAndSubmitConcurrently) {
    const Context context = current_context();
    Buffer<float> data = as_buffer(std::vector<float>(8, 0.0f));
    CommandGraph g = record([&] { add_number()(data, dyn<float>("x")); });
    g.bind("x", 1.0f);
    on_threads(3, [&](int) {
        const auto use = context.use();
        for (int i = 0; i < thread_rounds / 2; ++i) {
            g.bind("x", {1.0f, 1.0f});
            g.submit({.instances = 2});
        }
    });
    EXPECT_EQ(data.read(0)[7], 3.0f * thread_rounds);
}

VOLLEY_BACKEND_TEST(GraphThreads, MixLaunchesGraphsAndCallbacks) {
    const Context context = current_context();
    std::atomic<int> called = 0;
    on_threads(3, [&](int t) {
        const auto use = context.use();
        Buffer<float> data = as_buffer(std::vector<float>(3000, 1.0f));
        auto g = record([&] {
            scale_by()(data, 2.0f);
            host_call([&] { ++called; });
            scale_by()(data, 0.5f);
        });
        Event last;
        for (int i = 0; i < 10; ++i) {
            last = g.submit({.queue = queue(static_cast<unsigned>(t % 2))});
            add_number().on(queue(static_cast<unsigned>(t % 2)))(data, 1.0f);
            last = last.then([&] { ++called; });
        }
        last.wait();
        EXPECT_EQ(data.read(static_cast<unsigned>(t % 2))[2999], 11.0f);
    });
    wait();
    EXPECT_GE(called, 30 + 3);
}

VOLLEY_BACKEND_TEST(GraphThreads, AHostCallMaySubmitItsOwnGraph) {
    const Context context = current_context();
    Buffer<float> shared({8}, {.placement = Placement::per_device});
    shared.fill(1.0f);
    CommandGraph g;
    Signal done;
    int left = 3;
    g.append([&] {
        scale_by().on(queue(0))(shared, 2.0f);
        host_call(
            [&] {
                const auto use = context.use();
                if (--left > 0) {
                    g.submit();
                } else {
                    done.raise();
                }
            },
            queue(0));
    });
    g.submit();
    done.wait();
    wait();
    EXPECT_EQ(shared.read(0)[7], 8.0f);
}

}  // namespace
}  // namespace volley
