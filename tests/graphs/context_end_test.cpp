// Destroying a context that threads, callbacks and graphs still use.
#include "graphs/graph_support.hpp"
#include "support/sanitized.hpp"

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>

namespace volley {
namespace {

using namespace std::chrono_literals;
using testing::add_number;
using testing::scale_by;

/// Creates a second context on the device, which the test may destroy.
std::optional<Context> another(const std::string& device) {
    return make_context({.devices = {device}, .queues_per_device = 2});
}

VOLLEY_BACKEND_TEST(ContextEnd, DestructionWaitsForThreadsThatWaitForItsEvents) {
    const int rounds = testing::unless_sanitized(20, 5);
    for (int round = 0; round < rounds; ++round) {
        std::optional<Context> context = another(device().id());
        Event event;
        {
            const ContextScope scope = context->use();
            event = host_call([] { std::this_thread::sleep_for(1ms); });
        }
        std::vector<std::thread> threads;
        for (int k = 0; k < 4; ++k) {
            threads.emplace_back([event, k] {
                if (k % 2 == 0) {
                    event.wait();
                } else {
                    while (!event.ready()) std::this_thread::yield();
                }
            });
        }
        context.reset();
        for (std::thread& thread : threads) thread.join();
        EXPECT_TRUE(event.ready());
    }
}

VOLLEY_BACKEND_TEST(ContextEnd, PendingCallbacksCanStillUseBuffers) {
    std::optional<Context> context = another(device().id());
    std::vector<float> read;
    Event done;
    {
        const ContextScope scope = context->use();
        Buffer<float> data = as_buffer(std::vector<float>(4, 1.0f));
        host_call([] { std::this_thread::sleep_for(5ms); });
        done = scale_by()(data, 2.0f).then([&read, data]() mutable {
            for (int k = 0; k < 100; ++k) data.fill(static_cast<float>(k));
            read = data.read(1);
        });
    }
    context.reset();
    EXPECT_NO_THROW(done.wait());
    EXPECT_EQ(read, std::vector<float>(4, 99.0f));
}

VOLLEY_BACKEND_TEST(ContextEnd, AHostFunctionMayReleaseTheLastHandle) {
    for (const bool behind_event : {false, true}) {
        auto context = std::make_shared<std::optional<Context>>(another(device().id()));
        Signal dropped;
        Event event;
        {
            const ContextScope scope = (*context)->use();
            const auto drop = [context, dropped]() mutable {
                context->reset();
                dropped.raise();
            };
            event = behind_event ? mark().then(drop) : host_call(drop);
        }
        // Waits until the function has released the handle.
        dropped.wait();
        EXPECT_TRUE(event.wait_for(60s)) << behind_event;
    }
}

VOLLEY_BACKEND_TEST(ContextEnd, AGraphCanStillBeInspected) {
    std::optional<Context> context = another(device().id());
    std::optional<CommandGraph> graph;
    {
        const ContextScope scope = context->use();
        Buffer<float> data(8);
        graph = record([&] {
            scale_by()(data, 2.0f);
            data.fill(1.0f);
        });
    }
    context.reset();
    EXPECT_EQ(graph->size(), 2u);
    EXPECT_NE(graph->to_string().find("scale_by"), std::string::npos);
    EXPECT_THROW(static_cast<void>(graph->memory()), Error);
    EXPECT_THROW(graph->submit(), Error);
}

VOLLEY_BACKEND_TEST(ContextEnd, AKernelWithoutBuffersIsRecordedInTheContextOfTheGraph) {
    const auto say = kernel("say", [](Const<float> x) {
        $if (x > 1.0f) {
            print("x {}", x);
        }
    });
    CommandGraph graph;
    {
        const std::optional<Context> other = another(device().id());
        const ContextScope scope = other->use();
        graph.append([&] {
            say.over(1)(0.5f);
            host_call([] {});
        });
    }
    EXPECT_NO_THROW(graph.submit().wait());
}

}  // namespace
}  // namespace volley
