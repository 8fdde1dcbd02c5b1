// The commands that graphs submit to queues, as logged by the null backend: as few submissions as possible,
// ordered only by conflicts.
#include "runtime/runtime_support.hpp"

#include <algorithm>

namespace volley {
namespace {

using testing::make_scale;
using testing::make_touch;
using testing::NullContext;
using Lines = std::vector<std::string>;

TEST(GraphOrder, AGraphIsOneSubmission) {
    NullContext null;
    const auto use = null.context.use();
    Buffer<int> data(128);
    auto g = record([&] {
        make_touch()(data);
        make_touch()(data);
    });
    g.prepare();
    null.log->clear();
    g.submit({.instances = 1000});
    g.submit();
    EXPECT_EQ(null.log->lines(),
              (Lines{"q0 batch 2 commands x 1000 -> 1", "  0: launch touch 128x1x1 local 64x1x1",
                     "  1: launch touch 128x1x1 local 64x1x1 after 0 (level 1)",
                     "q0 batch 2 commands x 1 -> 2", "  0: launch touch 128x1x1 local 64x1x1",
                     "  1: launch touch 128x1x1 local 64x1x1 after 0 (level 1)"}));
}

TEST(GraphOrder, IndependentBranchesAreNotOrdered) {
    NullContext null;
    const auto use = null.context.use();
    Buffer<int> data(128);
    Buffer<int> left = data.view(0, 64), right = data.view(64, 64);
    auto g = record([&] {
        make_touch()(left);
        make_touch()(left);
        make_touch()(right);
        make_touch()(right);
    });
    g.submit();
    const auto entries = null.log->entries();
    ASSERT_EQ(entries.size(), 1u);
    ASSERT_EQ(entries[0].commands.size(), 4u);
    std::vector<std::uint32_t> levels;
    for (const auto& command : entries[0].commands) levels.push_back(command.level);
    EXPECT_EQ(levels, (std::vector<std::uint32_t>{0, 0, 1, 1})) << "two independent chains";
    EXPECT_EQ(entries[0].commands[2].after, std::vector<std::uint32_t>{0});
    EXPECT_EQ(entries[0].commands[3].after, std::vector<std::uint32_t>{1});
}

TEST(GraphOrder, QueuesWaitForEachOtherOnlyOnConflicts) {
    NullContext null({.devices = {"null:0"}, .queues_per_device = 2});
    const auto use = null.context.use();
    Buffer<int> data({128}, {.placement = Placement::per_device});
    Buffer<int> left = data.view(0, 64), right = data.view(64, 64);
    auto apart = record([&] {
        make_touch().on(queue(0))(left);
        make_touch().on(queue(1))(right);
    });
    apart.submit();
    for (const std::string& line : null.log->lines())
        EXPECT_EQ(line.find("wait_for"), std::string::npos) << line;
    null.log->clear();
    auto meet = record([&] {
        make_touch().on(queue(0))(left);
        make_touch().on(queue(1))(data);
    });
    meet.submit();
    const Lines lines = null.log->lines();
    EXPECT_EQ(
        std::count_if(lines.begin(), lines.end(),
                      [](const std::string& line) { return line.find("wait_for") != std::string::npos; }),
        1);
}

TEST(GraphOrder, ReplayingCreatesNothing) {
    NullContext null;
    const auto use = null.context.use();
    Buffer<float> data(128);
    data.fill(1.0f);
    auto g = record([&] {
        Buffer<float> other = temporary<float>(Shape(128));
        other.copy_from(data);
        make_scale()(data, dyn<float>("x"));
        data.copy_from(other);
    });
    g.bind("x", 1.0f);
    g.submit();
    const auto blocks = null.log->blocks_made.load();
    const auto programs = null.log->programs_made.load();
    for (int i = 0; i < 100; ++i) {
        g.bind("x", static_cast<float>(i));
        g.submit({.instances = 1});
    }
    EXPECT_EQ(null.log->blocks_made.load(), blocks);
    EXPECT_EQ(null.log->programs_made.load(), programs);
    EXPECT_EQ(g.memory().planned, 512u);
}

TEST(GraphOrder, TemporariesThatShareMemoryAreOrdered) {
    NullContext null;
    const auto use = null.context.use();
    Buffer<int> in(64), out(64);
    in.fill(1);
    auto g = record([&] {
        Buffer<int> a = temporary<int>(Shape(64));
        a.copy_from(in);
        Buffer<int> b = temporary<int>(Shape(64));
        b.copy_from(a);
        Buffer<int> c = temporary<int>(Shape(64));  // at the offset of a
        c.copy_from(b);
        out.copy_from(c);
    });
    EXPECT_EQ(g.memory().planned, 512u);
    null.log->clear();
    g.submit();
    const auto entries = null.log->entries();
    ASSERT_EQ(entries.size(), 1u);
    for (std::uint32_t i = 1; i < 4; ++i)
        EXPECT_EQ(entries[0].commands[i].after, std::vector<std::uint32_t>{i - 1});
}

TEST(GraphOrder, EachSubmissionHasItsOwnEvent) {
    NullContext null({.devices = {"null:0"}, .queues_per_device = 2});
    const auto use = null.context.use();
    Buffer<int> data(64);
    auto g = record([&] { make_touch()(data); });
    const Event first = g.submit();
    const Event second = g.submit();
    null.log->clear();
    first.wait();
    EXPECT_FALSE(second.ready());
    EXPECT_EQ(null.log->lines(), (Lines{"q0 wait 1", "q1 wait 1"}));
}

TEST(GraphOrder, AnySelectsTheLeastBusyQueue) {
    NullContext null({.devices = {"null:0"}, .queues_per_device = 3});
    const auto use = null.context.use();
    Buffer<int> data(64);
    auto g = record([&] { make_touch()(data); });
    make_touch().on(queue(0))(data);
    make_touch().on(queue(0))(data);
    make_touch().on(queue(1))(data);
    null.log->clear();
    g.submit({.any = true});
    EXPECT_EQ(null.log->entries()[0].queue, 2u);
}

}  // namespace
}  // namespace volley
