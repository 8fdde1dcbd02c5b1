// What an event reports that it waits for after a wait timed out: the queue, the device, its progress, and
// the kind of work.
#include "graphs/graph_support.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace volley {
namespace {

using namespace std::chrono_literals;
using testing::expect_contains;
using testing::scale_by;

/// Blocks queues until it is opened or destroyed, so that a failing test does not hang.
class PendingGate {
public:
    explicit PendingGate(std::vector<unsigned> queues) {
        for (const unsigned k : queues) queue(k).depends_on(signal_.event());
    }
    ~PendingGate() { signal_.raise(); }
    PendingGate(const PendingGate&) = delete;
    PendingGate& operator=(const PendingGate&) = delete;
    void open() { signal_.raise(); }
    [[nodiscard]] Event event() const { return signal_.event(); }

private:
    Signal signal_;
};

VOLLEY_BACKEND_TEST(EventPending, NamesQueueDeviceAndKernel) {
    Buffer<float> data = as_buffer(std::vector<float>(8, 1.0f));
    wait();
    PendingGate gate({1});
    const Event done = scale_by()(data, 2.0f);
    EXPECT_FALSE(done.wait_for(1ms));
    queue(0).wait();
    const std::vector<PendingWork> pending = done.pending();
    ASSERT_EQ(pending.size(), 1u) << "queue 0 has completed";
    EXPECT_EQ(pending[0].what, "kernel 'scale_by'");
    EXPECT_EQ(pending[0].queue, 1u);
    EXPECT_EQ(pending[0].device, device().id());
    EXPECT_GT(pending[0].command, pending[0].done);
    EXPECT_EQ(done.to_string(), "waits for " + pending[0].to_string());
    expect_contains(done.to_string(), "kernel 'scale_by' on queue 1 (" + device().id() + "): command " +
                                          std::to_string(pending[0].command) + ", " +
                                          std::to_string(pending[0].done) + " completed");
    gate.open();
    done.wait();
    EXPECT_TRUE(done.pending().empty());
    EXPECT_EQ(done.to_string(), "done");
}

VOLLEY_BACKEND_TEST(EventPending, HasOneEntryPerQueue) {
    Buffer<float> data = as_buffer(std::vector<float>(8, 1.0f));
    wait();
    const PendingGate gate({0, 1});
    const Event done = data.fill(2.0f);
    const std::vector<PendingWork> pending = done.pending();
    ASSERT_EQ(pending.size(), 2u);
    EXPECT_EQ(pending[0].queue, 0u);
    EXPECT_EQ(pending[1].queue, 1u);
    expect_contains(done.to_string(), "; fill on queue 1");
}

VOLLEY_BACKEND_TEST(EventPending, NamesTheKindOfWork) {
    Buffer<float> a = as_buffer(std::vector<float>(8, 1.0f)), b = as_buffer(std::vector<float>(8, 1.0f));
    HostArray<float> host = a.empty_like();
    auto g = record([&] { scale_by()(a, 2.0f); });
    g.submit().wait();
    const PendingGate gate({0, 1});
    const auto what = [](const Event& event) {
        const std::vector<PendingWork> pending = event.pending();
        return pending.empty() ? "done" : pending[0].what;
    };
    EXPECT_EQ(what(b.zero()), "fill");
    EXPECT_EQ(what(b.copy_from(a)), "copy");
    EXPECT_EQ(what(b.write_async(host)), "write");
    EXPECT_EQ(what(b.read_async(host, 0)), "read");
    EXPECT_EQ(what(host_call([] {})), "host call");
    EXPECT_EQ(what(mark()), "mark");
    EXPECT_EQ(what(g.submit()), "command graph");
    EXPECT_EQ(what(g.submit({.instances = 2, .spread = true})), "command graph");
}

VOLLEY_BACKEND_TEST(EventPending, ReportsWhatAPendingFunctionWaitsFor) {
    Buffer<float> data = as_buffer(std::vector<float>(8, 1.0f));
    wait();
    PendingGate gate({0});
    Signal go;
    const Event work = scale_by().on(queue(0))(data, 2.0f);
    const Event first = work.then([&] { go.wait(); });
    const Event second = first.then([] {});
    EXPECT_FALSE(second.wait_for(1ms));
    expect_contains(second.to_string(), "kernel 'scale_by' on queue 0");
    gate.open();
    work.wait();
    EXPECT_FALSE(second.wait_for(1ms));
    EXPECT_EQ(second.to_string(), "waits for then() function");
    ASSERT_EQ(second.pending().size(), 1u);
    EXPECT_FALSE(second.pending()[0].queue.has_value());
    go.raise();
    second.wait();
    EXPECT_EQ(second.to_string(), "done");
}

VOLLEY_BACKEND_TEST(EventPending, WorksInContextsWithTimestamps) {
    const Context context = make_context({.devices = {device().id()}, .timestamps = true});
    const auto use = context.use();
    Buffer<float> data = as_buffer(std::vector<float>(8, 1.0f));
    auto g = record([&] { scale_by()(data, 2.0f); });
    wait();
    const PendingGate gate({0});
    expect_contains(scale_by()(data, 2.0f).to_string(), "kernel 'scale_by' on queue 0");
    expect_contains(g.submit().to_string(), "command graph on queue 0");
}

VOLLEY_BACKEND_TEST(EventPending, IsEmptyAfterTheContextIsDestroyed) {
    Event done;
    {
        const Context context = make_context({.devices = {device().id()}});
        const auto use = context.use();
        Buffer<float> data = as_buffer(std::vector<float>(8, 1.0f));
        done = scale_by()(data, 2.0f);
    }
    EXPECT_TRUE(done.pending().empty());
    EXPECT_EQ(done.to_string(), "done");
}

VOLLEY_BACKEND_TEST(EventPending, NamesRecordedCommands) {
    Buffer<float> data = as_buffer(std::vector<float>(8, 1.0f));
    Event recorded;
    (void)record([&] { recorded = scale_by()(data, 2.0f); });
    expect_contains(recorded.to_string(), "recorded command");
}

TEST(EventPendingSignals, AreNamed) {
    EXPECT_EQ(Event().to_string(), "done");
    Signal signal;
    const Event after = signal.event().then([] {});
    EXPECT_EQ(signal.event().to_string(), "waits for signal");
    expect_contains(after.to_string(), "after a signal");
    signal.raise();
    EXPECT_EQ(signal.event().to_string(), "done");
    EXPECT_EQ(after.to_string(), "done");
}

}  // namespace
}  // namespace volley
