// Marks, events with timestamps, and the time between them.
#include "graphs/graph_support.hpp"

#include <thread>

namespace volley {
namespace {

using std::chrono::nanoseconds;
using testing::add_number;
using testing::scale_by;
using testing::slow;

VOLLEY_BACKEND_TEST(Timing, MarksAroundAKernelTakeAtLeastItsTime) {
    Buffer<float> data = as_buffer(std::vector<float>(2000, 1.0f));
    slow()(data, 200u);
    Event before, after;
    const Profile p = profile([&] {
        before = mark(queue(0));
        slow().on(queue(0))(data, 200u);
        after = mark(queue(0));
    });
    const nanoseconds time = elapsed(before, after);
    EXPECT_GT(time.count(), 0);
    EXPECT_EQ(elapsed(after, before), -time);
    EXPECT_EQ(elapsed(after, after).count(), 0);
    EXPECT_DOUBLE_EQ(elapsed_seconds(before, after), static_cast<double>(time.count()) * 1e-9);
    for (const ProfiledCommand& command : p.commands()) {
        if (command.name == "slow") {
            EXPECT_GE(time, command.time());
        }
    }
}

VOLLEY_BACKEND_TEST(Timing, MarksOfAQueueAreMonotonic) {
    Buffer<float> data = as_buffer(std::vector<float>(1000, 1.0f));
    std::vector<Event> marks = {mark(queue(1))};
    for (int i = 0; i < 20; ++i) {
        scale_by().on(queue(1))(data, 1.0f);
        if (i % 5 == 4) host_call([] {}, queue(1));
        marks.push_back(mark(queue(1)));
    }
    for (std::size_t i = 1; i < marks.size(); ++i) EXPECT_GE(elapsed(marks[i - 1], marks[i]).count(), 0) << i;
}

VOLLEY_BACKEND_TEST(Timing, AMarkOfAllQueuesFollowsAllWork) {
    Buffer<float> data = as_buffer(std::vector<float>(1000, 1.0f));
    const Event start = mark();
    slow()(data, 50u);
    const Event of_first = mark(queue(0));
    const Event of_second = mark(queue(1));
    const Event end = mark();
    EXPECT_GE(elapsed(start, end), elapsed(start, of_first));
    EXPECT_GE(elapsed(start, end), elapsed(start, of_second));
    EXPECT_TRUE(end.ready());
}

VOLLEY_BACKEND_TEST(Timing, MarksMeasureGraphs) {
    Buffer<float> data = as_buffer(std::vector<float>(1000, 0.0f));
    auto g = record([&] {
        slow()(data, 20u);
        add_number()(data, 1.0f);
    });
    const Event before = mark();
    g.submit({.instances = 10});
    const Event after = mark();
    EXPECT_GT(elapsed(before, after).count(), 0);
}

VOLLEY_BACKEND_TEST(Timing, EventsWithoutATimeFailWithAdvice) {
    Buffer<float> data = as_buffer(std::vector<float>(10, 1.0f));
    const Event launched = scale_by()(data, 1.0f);
    const Event marked = mark();
    testing::expect_contains(
        testing::error_of(ErrorCode::InvalidArgument, [&] { static_cast<void>(elapsed(marked, launched)); }),
        "mark()");
    testing::expect_contains(
        testing::error_of(ErrorCode::InvalidArgument, [&] { static_cast<void>(elapsed(launched, marked)); }),
        "timestamps");
    testing::expect_contains(
        testing::error_of(ErrorCode::InvalidArgument, [&] { static_cast<void>(elapsed(Event(), marked)); }),
        "has no timestamp");
    const auto recorded = [&] { CommandGraph g = record([&] { static_cast<void>(mark()); }); };
    testing::expect_contains(testing::error_of(ErrorCode::InvalidArgument, recorded),
                             "before and after submit()");
}

VOLLEY_BACKEND_TEST(Timing, AllEventsOfAContextWithTimestampsHaveTimes) {
    ContextOptions options = configuration().options;
    options.timestamps = true;
    const Context context = make_context(options);
    const auto scope = context.use();
    Buffer<float> a = as_buffer(std::vector<float>(2000, 1.0f)), b(2000);
    const HostArray<float> host = a.empty_like();
    auto g = record([&] {
        scale_by()(a, 1.0f);
        scale_by()(b, 1.0f);
    });
    std::vector<Event> events = {mark()};
    events.push_back(scale_by()(a, 2.0f));
    events.push_back(b.copy_from(a));
    events.push_back(b.fill(1.0f));
    events.push_back(a.write_async(host));
    events.push_back(a.read_async(host, 0));
    events.push_back(host_call([] {}));
    events.push_back(g.submit({.instances = 3}));
    events.push_back(g.submit({.instances = 3, .spread = true}));
    events.push_back(mark());
    for (std::size_t i = 1; i < events.size(); ++i)
        EXPECT_GE(elapsed(events[0], events[i]).count(), 0) << "event " << i;
    for (std::size_t i = 0; i < events.size(); ++i)
        EXPECT_GE(elapsed(events[i], events.back()).count(), 0) << "event " << i;
    // Events of one queue are in its order.
    const Event first = scale_by().on(queue(0))(a, 2.0f);
    const Event second = scale_by().on(queue(0))(a, 2.0f);
    EXPECT_GE(elapsed(first, second).count(), 0);
    const Profile p = profile([&] { scale_by()(a, 2.0f); });
    EXPECT_EQ(p.commands().size(), 2u) << "profiles are unaffected";
}

TEST(TimingMarks, EventsOutliveTheirContext) {
    Event before, after;
    {
        const Context context = make_context({.devices = {"cpu:0"}});
        const auto scope = context.use();
        Buffer<float> data = as_buffer(std::vector<float>(100, 1.0f));
        before = mark();
        scale_by()(data, 2.0f);
        after = mark();
    }
    EXPECT_GE(elapsed(before, after).count(), 0);
}

TEST(TimingMarks, MarksOfTwoDevicesCanBeCompared) {
    const Context one = make_context({.devices = {"reference:0"}});
    const Context other = make_context({.devices = {"cpu:0"}});
    const Event first = mark(one.queue(0));
    first.wait();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const Event second = mark(other.queue(0));
    EXPECT_GT(elapsed(first, second).count(), 0);
}

}  // namespace
}  // namespace volley
