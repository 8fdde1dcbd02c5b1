// Misuse of graphs: each error says what failed, on what, and what to do, and the context stays usable.
#include "graphs/graph_support.hpp"

#include <optional>
#include <stdexcept>

namespace volley {
namespace {

using testing::add_number;
using testing::error_of;
using testing::expect_contains;
using testing::scale_by;

VOLLEY_BACKEND_TEST(GraphMisuse, MissingOrMismatchedValues) {
    Buffer<float> data = as_buffer(std::vector<float>(8, 1.0f));
    auto g = record([&] { add_number()(data, dyn<float>("x")); });
    expect_contains(error_of(ErrorCode::InvalidArgument, [&] { g.submit(); }), "bind(\"x\"");
    g.bind("x", {1.0f, 2.0f});
    expect_contains(error_of(ErrorCode::SizeMismatch, [&] { g.submit({.instances = 3}); }), "has 2 value(s)");
    expect_contains(error_of(ErrorCode::InvalidArgument, [&] { g.bind("y", 1.0f); }), "use one of: 'x'");
    expect_contains(error_of(ErrorCode::TypeMismatch, [&] { g.bind("x", 1.0); }), "f64");
    EXPECT_EQ(data.read(0)[0], 1.0f) << "nothing ran";
    g.submit({.instances = 2});
    EXPECT_EQ(data.read(0)[0], 4.0f);
}

VOLLEY_BACKEND_TEST(GraphMisuse, ANameWithTwoTypes) {
    Buffer<float> data(8);
    auto integer =
        kernel("integer", [](Buff<float> out, Const<int> x) { out[global_id().x] = cast<float>(x); });
    error_of(ErrorCode::TypeMismatch, [&] {
        (void)record([&] {
            add_number()(data, dyn<float>("x"));
            integer(data, dyn<int>("x"));
        });
    });
}

VOLLEY_BACKEND_TEST(GraphMisuse, ANameOutsideARecording) {
    Buffer<float> data(8);
    expect_contains(error_of(ErrorCode::InvalidLaunch, [&] { add_number()(data, dyn<float>("x")); }),
                    "record");
}

VOLLEY_BACKEND_TEST(GraphMisuse, QueuesThatDoNotExistOrLackTheBuffers) {
    Buffer<float> data = as_buffer(std::vector<float>(8, 1.0f));
    auto g = record([&] { scale_by()(data, 2.0f); });
    error_of(ErrorCode::IndexError, [&] { g.submit({.queue = queue(7)}); });
    const Context other = make_context({.devices = {"cpu:0"}});
    error_of(ErrorCode::WrongContext, [&] { g.submit({.queue = other.queue(0)}); });
    error_of(ErrorCode::InvalidArgument, [&] { g.submit({.queue = queue(0), .any = true}); });
    Buffer<float> placed({8}, {.placement = Placement::on(queue(1))});
    auto h = record([&] { placed.fill(1.0f); });
    error_of(ErrorCode::InvalidLaunch, [&] { h.submit({.queue = queue(0)}); });
    h.submit();
    g.submit();
    EXPECT_EQ(placed.read(1)[0], 1.0f);
    EXPECT_EQ(data.read(0)[0], 2.0f);
}

VOLLEY_BACKEND_TEST(GraphMisuse, AGraphUsedAfterItsContextIsDestroyed) {
    std::optional<CommandGraph> g;
    {
        const Context context = make_context({.devices = {device().id()}});
        const auto use = context.use();
        Buffer<float> data = as_buffer(std::vector<float>(8, 1.0f));
        g = record([&] { scale_by()(data, 2.0f); });
        g->submit();
    }
    error_of(ErrorCode::WrongContext, [&] { g->submit(); });
    error_of(ErrorCode::WrongContext, [&] { g->append([] {}); });
    g.reset();
}

VOLLEY_BACKEND_TEST(GraphMisuse, AnExceptionDiscardsTheRecording) {
    Buffer<float> data = as_buffer(std::vector<float>(8, 1.0f));
    EXPECT_THROW((void)record([&] {
                     scale_by()(data, 2.0f);
                     throw std::runtime_error("user error");
                 }),
                 std::runtime_error);
    EXPECT_FALSE(is_recording());
    auto g = record([&] { scale_by()(data, 2.0f); });
    EXPECT_THROW(g.append([&] {
        add_number()(data, dyn<float>("x"));
        throw std::runtime_error("user error");
    }),
                 std::runtime_error);
    EXPECT_EQ(g.size(), 1u);
    EXPECT_THROW(g.bind("x", 1.0f), ArgumentError);
    g.submit();
    EXPECT_EQ(data.read(0)[0], 2.0f);
    scale_by()(data, 2.0f);
    EXPECT_EQ(data.read(0)[0], 4.0f) << "calls are no longer recorded";
}

VOLLEY_BACKEND_TEST(GraphMisuse, RecordingInAKernelBody) {
    Buffer<float> data(8);
    const auto records = [](Buff<float> x) {
        (void)record([] {});
        x[global_id().x] = 1.0f;
    };
    error_of(ErrorCode::TraceError, [&] { (void)kernel("bad", records); });
    scale_by()(data, 2.0f);
}

VOLLEY_BACKEND_TEST(GraphMisuse, ImmediateResultsInARecording) {
    Buffer<float> data = as_buffer(std::vector<float>(8, 1.0f));
    CommandGraph g;
    g.append([&] {
        error_of(ErrorCode::InvalidArgument, [&] { (void)data.read(0); });
        if (device().host_memory) error_of(ErrorCode::InvalidArgument, [&] { (void)data.as_span(0); });
        const Event event = scale_by()(data, 2.0f);
        EXPECT_FALSE(event.ready());
        expect_contains(error_of(ErrorCode::InvalidArgument, [&] { event.wait(); }), "submit()");
        error_of(ErrorCode::InvalidArgument, [&] { (void)event.then([] {}); });
        expect_contains(error_of(ErrorCode::InvalidArgument, [&] { queue(0).depends_on(Event()); }),
                        "host_call");
    });
    g.submit();
    EXPECT_EQ(data.read(0)[0], 2.0f);
}

VOLLEY_BACKEND_TEST(GraphMisuse, TemporariesOutsideTheirGraph) {
    Buffer<float> kept, data = as_buffer(std::vector<float>(8, 1.0f));
    auto g = record([&] {
        kept = temporary<float>(Shape(8));
        kept.copy_from(data);
        data.copy_from(kept);
    });
    error_of(ErrorCode::InvalidArgument, [&] { scale_by()(kept, 2.0f); });
    error_of(ErrorCode::InvalidArgument, [&] { kept.fill(1.0f); });
    error_of(ErrorCode::InvalidArgument, [&] { (void)record([&] { kept.fill(1.0f); }); });
    error_of(ErrorCode::InvalidArgument, [&] { g.rebind(kept, data); });
    g.append([&] { kept.fill(3.0f); });  // the same graph
    g.submit();
    EXPECT_EQ(data.read(0)[0], 1.0f);
    EXPECT_NO_THROW(temporary<float>(Shape(8)).fill(1.0f)) << "outside a recording it is an ordinary buffer";
}

VOLLEY_BACKEND_TEST(GraphMisuse, BuffersOfAnotherContextOrDestroyed) {
    const Context other = make_context({.devices = {"cpu:0"}});
    Buffer<float> theirs;
    {
        const auto use = other.use();
        theirs = Buffer<float>(8);
    }
    error_of(ErrorCode::WrongContext, [&] { (void)record([&] { scale_by()(theirs, 1.0f); }); });
    error_of(ErrorCode::WrongContext, [&] { (void)record([&] { theirs.fill(1.0f); }); });
    Buffer<float> gone = as_buffer(std::vector<float>(8, 1.0f));
    gone.destroy();
    error_of(ErrorCode::InvalidArgument, [&] { (void)record([&] { scale_by()(gone, 1.0f); }); });
}

VOLLEY_BACKEND_TEST(GraphMisuse, RebindingBuffersThatDoNotFit) {
    Buffer<float> a = as_buffer(std::vector<float>(8, 1.0f)), b(8), c(9);
    auto g = record([&] { b.copy_from(a); });
    error_of(ErrorCode::SizeMismatch, [&] { g.rebind(a, c); });
    error_of(ErrorCode::InvalidArgument, [&] { g.rebind(Buffer<float>(8), b); });
    error_of(ErrorCode::InvalidView, [&] { g.rebind(b, a); });
    g.submit();
    EXPECT_EQ(b.read(0)[0], 1.0f) << "the graph is unchanged";
}

VOLLEY_BACKEND_TEST(GraphMisuse, MappedBuffersFailBeforeAnyCommandRuns) {
    if (!device().host_memory) GTEST_SKIP() << "the host cannot address the memory of " << device_name();
    Buffer<float> a = as_buffer(std::vector<float>(8, 1.0f)), b = as_buffer(std::vector<float>(8, 1.0f));
    auto g = record([&] {
        scale_by()(a, 2.0f);
        scale_by()(b, 2.0f);
    });
    {
        const auto guard = b.map(0);
        error_of(ErrorCode::InvalidArgument, [&] { g.submit(); });
    }
    EXPECT_EQ(a.read(0)[0], 1.0f);
    g.submit();
    EXPECT_EQ(a.read(0)[0], 2.0f);
}

VOLLEY_BACKEND_TEST(GraphMisuse, WaitRethrowsAnExceptionOfAHostCallAndTheRestRuns) {
    Buffer<float> data = as_buffer(std::vector<float>(8, 1.0f));
    auto g = record([&] {
        scale_by()(data, 2.0f);
        host_call([] { throw std::runtime_error("user error"); });
        scale_by()(data, 2.0f);
    });
    EXPECT_THROW(g.submit().wait(), std::runtime_error);
    EXPECT_EQ(data.read(0)[0], 4.0f);
    error_of(ErrorCode::InvalidArgument, [&] { (void)host_call(nullptr); });
}

}  // namespace
}  // namespace volley
