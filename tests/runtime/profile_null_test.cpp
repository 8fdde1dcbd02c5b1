// The commands that a device receives with profiling and timestamps, and the conversion of records to traces.
#include "runtime/command_times.hpp"
#include "runtime/runtime_support.hpp"

#include <volley/profile.hpp>
#include <volley/timing.hpp>

namespace volley {
namespace {

using runtime::CommandLabel;
using runtime::CommandRecord;
using testing::make_scale;
using testing::NullContext;

/// Submits commands of every kind.
void work() {
    Buffer<float> a(64), b(64);
    auto scale = make_scale();
    a.fill(1.0f);
    scale(a, 2.0f);
    scale.on(queue(1))(a, 2.0f);
    b.copy_from(a);
    auto g = record([&] {
        scale(a, 2.0f);
        scale(b, 2.0f);
        a.copy_from(b);
    });
    g.submit({.instances = 3});
    host_call([] {});
    a.write(std::vector<float>(64, 1.0f));
    wait();
}

std::vector<std::string> lines_of(void (*f)()) {
    NullContext null({.devices = {"null:0"}, .queues_per_device = 2});
    const auto use = null.context.use();
    f();
    return null.log->lines();
}

TEST(ProfileOnNull, ProfilingSubmitsTheSameCommands) {
    const std::vector<std::string> plain = lines_of(work);
    const std::vector<std::string> profiled = lines_of([] { static_cast<void>(profile(work)); });
    EXPECT_EQ(plain, profiled);
    const std::vector<std::string> after = lines_of([] {
        static_cast<void>(profile([] {}));
        work();
    });
    EXPECT_EQ(plain, after);
}

TEST(ProfileOnNull, ABatchIsOneSubmissionWithAllItsCommands) {
    NullContext null;
    const auto use = null.context.use();
    Buffer<float> a(64);
    auto scale = make_scale();
    auto g = record([&] {
        scale(a, 2.0f);
        scale(a, 3.0f);
    });
    const Profile p = profile([&] { g.submit({.instances = 4}); });
    EXPECT_EQ(p.commands().size(), 8u);
    EXPECT_EQ(p.totals().at(0).count, 8u);
}

TEST(ProfileOnNull, GraphTimestampsAreMarksAfterTheGraph) {
    NullContext null({.devices = {"null:0"}, .timestamps = true});
    const auto use = null.context.use();
    Buffer<float> a(64);
    auto scale = make_scale();
    auto g = record([&] { scale(a, 2.0f); });
    const Event first = scale(a, 1.0f);
    const Event last = g.submit({.instances = 2});
    EXPECT_GE(elapsed(first, last).count(), 0);
    const std::vector<std::string> lines = null.log->lines();
    EXPECT_EQ(std::count(lines.begin(), lines.end(), "q0 mark -> 3"), 1) << ::testing::PrintToString(lines);
}

TEST(ProfileRecords, OverlappingCommandsAreOnDifferentTracks) {
    NullContext null({.devices = {"null:0"}, .queues_per_device = 2});
    const auto use = null.context.use();
    runtime::Profiler profiler;
    const auto add = [&](unsigned queue, std::int64_t begin, std::int64_t end) {
        auto record =
            std::make_shared<CommandRecord>(queue, CommandLabel{.kind = CommandKind::Copy, .bytes = 5});
        record->ran(0, begin, end);
        profiler.add(record);
    };
    const std::int64_t now = backends::steady_now();
    add(0, now, now + 100);
    add(0, now + 50, now + 200);   // overlaps the first
    add(0, now + 100, now + 150);  // after the first
    add(0, now + 120, now + 130);  // overlaps both
    add(1, now, now + 500);
    profiler.add(std::make_shared<CommandRecord>(0, CommandLabel{}));  // never ran
    const Profile p = profiler.finish(*runtime::current_core());
    EXPECT_EQ(p.commands().size(), 5u);
    const std::string json = p.to_json();
    for (const char* track : {"\"queue 0\"", "\"queue 0, lane 1\"", "\"queue 0, lane 2\"", "\"queue 1\""})
        EXPECT_NE(json.find(track), std::string::npos) << track;
    EXPECT_EQ(json.find("lane 3"), std::string::npos);
    EXPECT_EQ(json.find("queue 1, lane"), std::string::npos);
}

TEST(ProfileRecords, PartsOfACommandAreJoined) {
    CommandRecord record(0, CommandLabel{});
    EXPECT_FALSE(record.times().known());
    record.ran(0, 50, 60);
    record.ran(0, 10, 20);
    record.ran(0, 30, 90);
    EXPECT_EQ(record.times().begin, 10);
    EXPECT_EQ(record.times().end, 90);
}

}  // namespace
}  // namespace volley
