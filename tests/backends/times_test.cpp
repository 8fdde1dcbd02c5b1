// Queues report when commands ran: all of them, before their points pass, in queue order. Tested with and
// without mapped memory, so that transfers take all of their paths.
#include "backends/api/times.hpp"
#include "backends/batch_support.hpp"
#include "backends/common/device_clock.hpp"
#include "backends/subjects.hpp"
#include "support/sanitized.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <mutex>
#include <thread>

namespace volley::testing {
namespace {

using backends::CommandTimes;
using backends::Point;
using backends::Rect;
using backends::RectPlace;
using backends::TimesScope;

/// Records the reported times.
class ReportedTimes final : public CommandTimes {
public:
    struct Span {
        std::int64_t begin = std::numeric_limits<std::int64_t>::max();
        std::int64_t end = std::numeric_limits<std::int64_t>::min();
    };
    void ran(std::uint32_t index, std::int64_t begin, std::int64_t end) noexcept override {
        const std::scoped_lock lock(mutex_);
        EXPECT_LE(begin, end);
        Span& span = spans_[index];
        span.begin = std::min(span.begin, begin);
        span.end = std::max(span.end, end);
    }
    [[nodiscard]] std::map<std::uint32_t, Span> spans() const {
        const std::scoped_lock lock(mutex_);
        return spans_;
    }

private:
    mutable std::mutex mutex_;
    std::map<std::uint32_t, Span> spans_;
};

class TimesTest : public SubjectTest {
protected:
    using Submit = std::function<Point()>;

    std::shared_ptr<ReportedTimes> timed(const Submit& submit) {
        auto times = std::make_shared<ReportedTimes>();
        const TimesScope scope({times, 0});
        points_.push_back(submit());
        return times;
    }
    /// Expects each command to be reported once its point has passed, and to follow the previous ones.
    void expect_in_order(const std::vector<std::shared_ptr<ReportedTimes>>& commands, std::int64_t since) {
        std::int64_t last = since;
        for (std::size_t i = 0; i < commands.size(); ++i) {
            ASSERT_EQ(commands[i]->spans().size(), 1u) << "command " << i;
            const ReportedTimes::Span span = commands[i]->spans().at(0);
            EXPECT_GE(span.begin, last) << "command " << i;
            last = span.end;
        }
        EXPECT_LE(last, backends::steady_now());
    }
    std::unique_ptr<backends::Memory> filled(std::size_t count, int value) {
        auto memory = device->allocate(count * sizeof(int));
        write_at(*queue, *memory, 0, bytes_of(std::vector<int>(count, value)));
        return memory;
    }

    std::vector<Point> points_;
};
VOLLEY_EVERY_SUBJECT_SUITE(TimesTest);

TEST_P(TimesTest, ReportsEveryKindOfCommandInOrder) {
    const auto program = GetParam().multiply_add(*device);
    with_each_memory([&] {
        constexpr std::size_t n = 100'000;
        const auto own = GetParam().multiply_add(*device);
        const auto a = filled(n, 1), b = filled(n, 2);
        std::vector<int> host(n, 3), back(n);
        const std::byte pattern[] = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
        const Rect rect{1000, {30, 5}};
        const RectPlace spread{8, {2000, 70'000}}, dense{0, {1000, 30'000}};
        const auto* in = reinterpret_cast<const std::byte*>(host.data());
        auto* out = reinterpret_cast<std::byte*>(back.data());
        const std::vector<Submit> commands = {
            [&] { return queue->mark(); },
            [&] { return launch_multiply_add(*queue, *own, *a, 3, n); },
            [&] { return write_at(*queue, *a, 0, bytes_of(host)); },
            [&] { return copy_at(*queue, *b, 0, *a, 0, n * sizeof(int)); },
            [&] { return queue->call([] {}); },
            [&] { return fill_at(*queue, *b, 0, n * sizeof(int), pattern); },
            [&] { return fill_at(*queue, *b, 0, 300'000, std::span(pattern).first(3)); },
            [&] { return launch_multiply_add(*queue, *own, *a, 1, 100); },
            [&] {
                return queue->write(*a, in, {rect, spread, dense});
            },
            [&] {
                return queue->copy(*b, *a, {rect, spread, spread});
            },
            [&] { return queue->fill(*b, spread, rect, pattern); },
            [&] {
                return queue->read(out, *b, {rect, dense, spread});
            },
            [&] { return read_at(*queue, *a, 0, std::as_writable_bytes(std::span(back))); },
            [&] { return queue->mark(); },
        };
        for (const bool wait_between : {false, true}) {
            SCOPED_TRACE(wait_between ? "each on an idle queue" : "back to back");
            wait();
            const std::int64_t since = 0;
            std::vector<std::shared_ptr<ReportedTimes>> reported;
            for (const Submit& submit : commands) {
                reported.push_back(timed(submit));
                if (!wait_between) continue;
                queue->timeline().wait(points_.back());
                EXPECT_EQ(reported.back()->spans().size(), 1u)
                    << "before its point passes: command " << reported.size() - 1;
            }
            wait();
            expect_in_order(reported, since);
        }
    });
}

TEST_P(TimesTest, ReportsCommandsAfterHostCommands) {
    const auto program = GetParam().multiply_add(*device);
    constexpr std::size_t n = 10'000;
    const auto a = filled(n, 1), b = filled(n, 1);
    wait();
    Gate gate;
    std::vector<std::shared_ptr<ReportedTimes>> reported;
    reported.push_back(timed([&] { return queue->call([&] { gate.pass(); }); }));
    const std::vector<int> host(n, 4);
    reported.push_back(timed([&] { return launch_multiply_add(*queue, *program, *a, 2, n); }));
    reported.push_back(timed([&] { return write_at(*queue, *b, 0, bytes_of(host)); }));
    reported.push_back(timed([&] { return copy_at(*queue, *b, 0, *a, 0, n * sizeof(int)); }));
    reported.push_back(timed([&] { return queue->mark(); }));
    EXPECT_TRUE(reported[1]->spans().empty());
    gate.open();
    wait();
    expect_in_order(reported, 0);
    EXPECT_EQ(read_back(*queue, *b, n)[7], 9);
}

TEST_P(TimesTest, DoesNotAttributeACallbacksCommandsToIt) {
    const auto a = filled(100, 1);
    wait();
    const auto reported = timed([&] { return queue->call([&] { queue->mark(); }); });
    wait();
    wait();
    ASSERT_EQ(reported->spans().size(), 1u);
}

TEST_P(TimesTest, ReportsWaitsForOtherQueues) {
    const auto other = device->make_queue();
    const auto program = GetParam().multiply_add(*device);
    constexpr std::size_t n = 50'000;
    const auto a = filled(n, 1);
    wait();
    for (int i = 0; i < 20; ++i) {
        const Point point = launch_multiply_add(*other, *program, *a, 1, n);
        const Point before = queue->last();
        const auto reported = timed([&] { return queue->wait_for(other->timeline(), point); });
        const bool was_over = queue->last() == before;
        const auto marked = timed([&] { return queue->mark(); });
        wait();
        if (was_over) continue;  // nothing to report
        expect_in_order({reported, marked}, 0);
    }
    other->timeline().wait(other->last());
}

TEST_P(TimesTest, ReportsEachCommandOfEachInstanceOfABatch) {
    const auto program = GetParam().multiply_add(*device);
    const std::uint32_t n = unless_sanitized(20'000, 3000);
    const auto a = filled(n, 1), b = filled(n, 2), c = filled(n, 0);
    const int two = 2;
    PlanMaker maker;
    maker.add(multiply_add_command(*program, *a, n, value_argument(two)), {0}, {0});
    maker.add(multiply_add_command(*program, *b, n, dynamic_argument(0)), {1}, {1});
    maker.add(copy_command(*c, *b, {{n * sizeof(int), {1, 1}}, {}, {}}), {1}, {2});
    maker.add(set_command(*b, n, 5), {}, {1});
    maker.add(multiply_add_command(*program, *a, n, value_argument(two)), {0}, {0});
    const BatchPlan plan = maker.finish(16);
    std::vector<std::vector<std::uint32_t>> after;
    for (const BatchCommand& command : plan.commands) after.push_back(command.after);
    const auto batch = queue->prepare(plan);
    for (const std::uint32_t instances : {1u, 3u, 13u}) {
        const std::vector<int> values(4 * instances, 3);
        const auto before = timed([&] { return queue->mark(); });
        const auto reported = timed([&] { return queue->submit(*batch, instances, bytes_of(values)); });
        const auto marked = timed([&] { return queue->mark(); });
        queue->submit(*batch, 1, bytes_of(values));  // untimed submissions in between
        wait();
        const auto spans = reported->spans();
        ASSERT_EQ(spans.size(), instances * plan.commands.size());
        for (std::uint32_t i = 0; i < instances; ++i) {
            for (std::uint32_t k = 0; k < plan.commands.size(); ++k) {
                const auto& span = spans.at(static_cast<std::uint32_t>(i * plan.commands.size() + k));
                EXPECT_GE(span.begin, before->spans().at(0).end);
                EXPECT_LE(span.end, marked->spans().at(0).begin);
                for (const std::uint32_t other : after[k]) {
                    EXPECT_GE(span.begin,
                              spans.at(static_cast<std::uint32_t>(i * plan.commands.size() + other)).end);
                }
            }
        }
    }
    EXPECT_EQ(read_back(*queue, *b, n)[9], 5);
}

TEST_P(TimesTest, AcceptsUntimedMarks) {
    const Point first = queue->mark();
    const Point second = queue->mark();
    EXPECT_LE(first, second);
    wait();
    EXPECT_GE(queue->timeline().completed(), second);
}

TEST(TimeOrder, KeepsCommandsInOrder) {
    backends::TimeOrder order;
    const auto report = [&](std::int64_t begin, std::int64_t end, bool overlaps) {
        auto times = std::make_shared<ReportedTimes>();
        order.report({times, 0}, begin, end, overlaps);
        const ReportedTimes::Span span = times->spans().at(0);
        return std::pair(span.begin, span.end);
    };
    EXPECT_EQ(report(10, 20, false), std::pair(std::int64_t{10}, std::int64_t{20}));
    EXPECT_EQ(report(15, 30, true), std::pair(std::int64_t{15}, std::int64_t{30})) << "overlaps the first";
    EXPECT_EQ(report(25, 40, false), std::pair(std::int64_t{30}, std::int64_t{40})) << "after both";
    EXPECT_EQ(report(20, 50, true), std::pair(std::int64_t{30}, std::int64_t{50}))
        << "not before completed commands";
    EXPECT_EQ(report(0, 10, false), std::pair(std::int64_t{50}, std::int64_t{50}));
    const auto [begin, end] = report(60, std::numeric_limits<std::int64_t>::max(), false);
    EXPECT_EQ(begin, 60);
    EXPECT_LE(end, backends::steady_now()) << "a reported command has ended";
}

TEST(DeviceClock, FindsTheOffsetOfAnotherClock) {
    for (const std::int64_t offset : {std::int64_t{1} << 50, -(std::int64_t{1} << 40)}) {
        backends::DeviceClock clock;
        EXPECT_TRUE(clock.is_due());
        EXPECT_FALSE(clock.is_calibrated());
        clock.calibrate([&] { return backends::steady_now() + offset; });
        EXPECT_FALSE(clock.is_due());
        const std::int64_t before = backends::steady_now();
        const std::int64_t reported = clock.to_host(before + offset);
        EXPECT_LT(std::abs(reported - before), 50'000'000);
    }
    backends::DeviceClock same;
    same.calibrate([] { return backends::steady_now(); });
    EXPECT_EQ(same.to_host(12345), 12345) << "the host's clock needs no offset";
}

TEST(TimesScope, IsPerThreadAndNests) {
    EXPECT_FALSE(TimesScope::requested());
    const auto times = std::make_shared<ReportedTimes>();
    {
        const TimesScope outer({times, 3});
        EXPECT_TRUE(TimesScope::requested());
        EXPECT_EQ(TimesScope::tag().index, 3u);
        {
            const TimesScope nobody({});
            EXPECT_FALSE(TimesScope::requested());
        }
        EXPECT_TRUE(TimesScope::requested());
        std::thread([] { EXPECT_FALSE(TimesScope::requested()); }).join();
    }
    EXPECT_FALSE(TimesScope::requested());
}

}  // namespace
}  // namespace volley::testing
