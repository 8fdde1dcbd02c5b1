// Destroying a context that threads, callbacks and graphs still use.
#include "graphs/graph_support.hpp"
#include "support/sanitized.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

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

/// The calls that a thread may make while another one releases the last handle.
std::vector<std::function<void()>> calls_on(const Context& context) {
    const ContextScope scope = context.use();
    const auto queue = std::make_shared<Queue>(context.queue(1));
    const Buffer<float> a(1024, {.zeroed = true});
    const Buffer<float> b(1024, {.zeroed = true});
    const HostArray<float> array(1024);
    const CommandGraph graph = record([&] {
        scale_by()(a, 2.0f);
        Buffer<float>(b).copy_from(a);
    });
    a.ensure_allocated();
    b.ensure_allocated();
    context.wait();
    const bool host_memory = queue->device().host_memory;
    std::vector<std::function<void()>> calls = {
        [=] { scale_by().on (*queue)(a, 2.0f); },
        [=] { Buffer<float>(a).fill(1.0f).wait(); },
        [=] { Buffer<float>(b).copy_from(a); },
        [=] { CommandGraph(graph).submit(); },
        [=] { queue->wait(); },
        [=] { Buffer<float>(a).write(std::vector<float>(1024, 2.0f)); },
        [=] { static_cast<void>(a.read(0)); },
        [=] { Buffer<float>(a).write_async(array); },
        [=] { a.read_async(array, 1).wait(); },
        [=] { host_call([] {}, *queue); },
        [=] { mark(*queue).then([] {}).wait(); },
        [=] {
            Signal signal;
            queue->depends_on(signal.event());
            signal.raise();
        },
        [=] { CommandGraph(graph).prepare(); },
    };
    if (host_memory) {
        calls.emplace_back([=] { static_cast<void>(a.map(0)); });
        calls.emplace_back([=] { static_cast<void>(a.as_span(0)); });
    }
    return calls;
}

VOLLEY_BACKEND_TEST(ContextEnd, EveryCallOfAnotherThreadCompletesOrThrowsWrongContext) {
    const int rounds = testing::unless_sanitized(12, 4);
    for (int round = 0; round < rounds; ++round) {
        std::optional<Context> context = another(device().id());
        // Each thread has its own buffers: the library does not order the writes of several threads.
        std::array<std::vector<std::function<void()>>, 3> calls_of;
        for (auto& calls : calls_of) calls = calls_on(*context);
        std::atomic<unsigned> started{0};
        std::vector<std::thread> threads;
        for (unsigned t = 0; t < 3; ++t) {
            threads.emplace_back([&, t] {
                const auto& calls = calls_of[t];
                for (std::size_t k = t * 5 + static_cast<std::size_t>(round);; ++k) {
                    try {
                        calls[k % calls.size()]();
                    } catch (const Error& error) {
                        EXPECT_EQ(error.code(), ErrorCode::WrongContext) << error.what();
                        return;
                    }
                    ++started;
                }
            });
        }
        while (started < 3u + 4u * static_cast<unsigned>(round)) std::this_thread::yield();
        context.reset();
        for (std::thread& thread : threads) thread.join();
        for (const auto& call : calls_of[0]) EXPECT_THROW(call(), Error);
    }
}

VOLLEY_BACKEND_TEST(ContextEnd, TheOwnerOfAnImportMayReleaseTheLastHandleDuringACall) {
    const auto context = std::make_shared<std::optional<Context>>(another(device().id()));
    const Queue queue = (*context)->queue(0);
    const auto memory = std::make_shared<std::vector<float>>(4096);
    std::shared_ptr<const void> owner(memory.get(), [memory, context](const void*) { context->reset(); });
    Event event;
    try {
        Buffer<float> buffer = import_host(std::span(*memory), {.queue = queue, .owner = owner});
        Signal go;
        host_call([go] { go.wait(); }, queue);
        buffer.fill(1.0f);
        event = host_call([] {}, queue);
        go.raise();
    } catch (const Error& error) {
        GTEST_SKIP() << "the device cannot use this memory: " << error.what();
    }
    owner.reset();
    EXPECT_NO_THROW(event.wait());
    for (int k = 0; k < 10'000 && context->has_value(); ++k) {
        try {
            queue.wait();  // frees the memory, and with it the context, when its last command has completed
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::WrongContext);
        }
    }
    EXPECT_FALSE(context->has_value());
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
