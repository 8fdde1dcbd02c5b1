// DeviceTimeline and HostCommands, with a device that the test controls.
#include "backends/common/device_timeline.hpp"
#include "backends/common/host_commands.hpp"
#include "backends/queue_support.hpp"
#include "support/sanitized.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace volley::backends {
namespace {

using namespace std::chrono_literals;

class ObedientTimeline final : public DeviceTimeline {
public:
    ObedientTimeline() : DeviceTimeline(pool_) {}
    [[nodiscard]] bool lost() const noexcept override { return gone; }
    void check_lost() const override {}

    std::atomic<Point> device{0};  // the last point reached
    std::atomic<bool> gone{false};

private:
    [[nodiscard]] Point ask() const noexcept override { return device; }
    void sleep_on_device(Point /*point*/, Clock::time_point /*deadline*/) override {
        std::this_thread::yield();
    }
    ReportPool pool_{[](std::uint64_t) { return std::unique_ptr<ReportBuffer>(); }};
};

/// Returns an epilogue that copies one byte.
Epilogue copying_epilogue(Point point, const std::byte& from, std::byte& to) {
    Epilogue epilogue;
    epilogue.point = point;
    epilogue.from = &from;
    epilogue.to = &to;
    epilogue.rect.row = 1;
    return epilogue;
}

TEST(DeviceTimelineTest, APointHasPassedWhenTheHostHasDoneItsPart) {
    ObedientTimeline timeline;
    const std::byte from{7};
    std::byte to{0};
    timeline.add(copying_epilogue(1, from, to));
    timeline.submitted(1);
    EXPECT_EQ(timeline.completed(), 0u);
    timeline.device = 1;
    EXPECT_EQ(timeline.completed(), 1u);
    EXPECT_EQ(to, from);
}

TEST(DeviceTimelineTest, EpiloguesAreTakenBackWhileOthersLook) {
    ObedientTimeline timeline;
    std::atomic<bool> stop{false};
    std::thread looking([&] {
        while (!stop) static_cast<void>(timeline.completed());
    });
    const std::byte from{7};
    std::byte to{0};
    timeline.device = 1;
    for (Point point = 1; point < 20'000; ++point) {
        timeline.add(copying_epilogue(point, from, to));
        timeline.cancel();  // the driver rejected it
        timeline.add(copying_epilogue(point, from, to));
        timeline.submitted(point);
        timeline.device = point;
    }
    timeline.wait(timeline.last());
    stop = true;
    looking.join();
    EXPECT_EQ(timeline.completed(), timeline.last());
}

TEST(DeviceTimelineTest, AReadIsAbandonedWhenNothingOfItIsBroughtHomeAnyMore) {
    ObedientTimeline timeline;
    const std::byte from{7};
    std::byte to[3] = {};
    testing::Gate gate;
    std::atomic<bool> begun{false}, abandoned{false};
    for (const Point point : {Point{1}, Point{2}, Point{3}}) {
        Epilogue epilogue = copying_epilogue(point, from, to[point - 1]);
        epilogue.read = point == 3 ? 3 : 1;  // two parts, and another read
        if (point == 1) {
            epilogue.report_times = [&] {
                begun = true;
                gate.pass();
            };
        }
        timeline.add(std::move(epilogue));
        timeline.submitted(point);
    }
    timeline.device = 3;
    std::thread looking([&] { static_cast<void>(timeline.completed()); });
    while (!begun) std::this_thread::yield();
    std::thread failing([&] {
        timeline.abandon_read(1);
        abandoned = true;
    });
    std::this_thread::sleep_for(20ms);
    EXPECT_FALSE(abandoned) << "the first part is being copied";
    gate.open();
    failing.join();
    looking.join();
    timeline.wait(3);
    EXPECT_EQ(to[1], std::byte{0});
    EXPECT_EQ(to[2], from) << "another read is not affected";
}

TEST(DeviceTimelineTest, OnALostDeviceOnlyWhatIsBeingBroughtHomeIsWaitedFor) {
    ObedientTimeline timeline;
    const std::byte from{7};
    std::byte to[2] = {};
    testing::Gate gate;
    std::atomic<bool> begun{false};
    Epilogue first = copying_epilogue(1, from, to[0]);
    first.report_times = [&] {
        begun = true;
        gate.pass();
    };
    timeline.add(std::move(first));
    timeline.add(copying_epilogue(2, from, to[1]));
    timeline.submitted(2);
    timeline.device = 2;
    std::thread looking([&] { static_cast<void>(timeline.completed()); });
    while (!begun) std::this_thread::yield();
    timeline.gone = true;
    EXPECT_EQ(timeline.completed(), 0u) << "its memory is in use";
    gate.open();
    looking.join();
    EXPECT_TRUE(timeline.wait_for(2, 10s));
    EXPECT_EQ(to[1], std::byte{0}) << "the caller may reuse its memory";
}

// ---- waits between queues ----

struct WaitingQueue {
    std::mutex mutex;
    ObedientTimeline timeline;
    HostCommands commands{mutex, timeline};
    bool on_device = false;

    /// Waits for a point of a queue of the same device.
    Point wait_for(ObedientTimeline& other, Point point) {
        return commands.wait_for(other, point, &other, [&](Epilogue* epilogue) {
            on_device = true;
            const Point own = timeline.last() + 1;
            if (epilogue != nullptr) {
                epilogue->point = own;
                timeline.add(std::move(*epilogue));
            }
            timeline.submitted(own);
            return own;
        });
    }
};

/// A queue that waits for another queue's read.
struct WaitForRead {
    WaitForRead() {
        other.add(copying_epilogue(1, from, to));
        other.submitted(1);
        point = queue.wait_for(other, 1);
    }
    const std::byte from{7};
    std::byte to{0};
    ObedientTimeline other;
    WaitingQueue queue;
    Point point = 0;
};

TEST(HostCommandsTest, WhatTheDeviceWasGivenIsWaitedForByTheDevice) {
    ObedientTimeline other;
    other.submitted(1);
    WaitingQueue queue;
    queue.wait_for(other, 1);
    EXPECT_TRUE(queue.on_device);
}

TEST(HostCommandsTest, ADeviceThatWaitedIsFollowedByWhatTheHostDoesForTheOther) {
    WaitForRead read;
    ASSERT_TRUE(read.queue.on_device);
    read.queue.timeline.device = read.point;
    EXPECT_LT(read.queue.timeline.completed(), read.point) << "the epilogue of the other queue is pending";
    read.other.device = 1;
    EXPECT_EQ(read.queue.timeline.completed(), read.point);
    EXPECT_EQ(read.to, read.from);
}

TEST(HostCommandsTest, LookingNeverRunsWhatPrintsForTheOther) {
    std::atomic<bool> reported{false};
    Epilogue epilogue;
    epilogue.point = 1;
    epilogue.prints = true;
    epilogue.report_times = [&] { reported = true; };
    ObedientTimeline other;
    other.add(std::move(epilogue));
    other.submitted(1);
    WaitingQueue queue;
    const Point point = queue.wait_for(other, 1);
    other.device = 1;
    queue.timeline.device = point;
    EXPECT_LT(queue.timeline.completed(), point);
    EXPECT_FALSE(reported);
    EXPECT_FALSE(queue.timeline.wait_for(point, 5ms)) << "a print sink might take longer";
    EXPECT_FALSE(reported);
    queue.timeline.wait(point);
    EXPECT_TRUE(reported);
}

TEST(HostCommandsTest, APrintSinkThatBlocksDelaysNoTimedWait) {
    ObedientTimeline timeline;
    std::mutex mutex;
    HostCommands commands(mutex, timeline);
    testing::Gate gate;
    std::atomic<bool> begun{false};
    Epilogue epilogue;
    epilogue.point = 1;
    epilogue.prints = true;
    epilogue.report_times = [&] {
        begun = true;
        gate.pass();
    };
    {
        const std::scoped_lock lock(mutex);
        commands.start();
    }
    timeline.add(std::move(epilogue));
    timeline.submitted(1);
    timeline.device = 1;
    EXPECT_FALSE(timeline.wait_for(1, 0ms));
    commands.wake();
    while (!begun) std::this_thread::yield();
    EXPECT_FALSE(timeline.wait_for(1, 5ms));
    gate.open();
    EXPECT_TRUE(timeline.wait_for(1, 60s)) << "the queue's thread prints";
    commands.stop();
}

TEST(HostCommandsTest, AnotherQueueWhoseDeviceIsGoneHoldsNobodyUp) {
    WaitForRead read;
    read.other.gone = true;
    read.queue.timeline.device = read.point;
    EXPECT_TRUE(read.queue.timeline.wait_for(read.point, 10s));
    EXPECT_EQ(read.to, std::byte{0});
}

/// Returns an epilogue that waits for a point of another queue.
Epilogue waiting_epilogue(Point point, ObedientTimeline& other, Point other_point) {
    Epilogue epilogue;
    epilogue.point = point;
    epilogue.other = &other;
    epilogue.other_point = other_point;
    return epilogue;
}

TEST(DeviceTimelineTest, WaitingForAPointDoesNothingThatIsBehindIt) {
    // Point 2 of `a` depends on point 2 of `b`, which depends on point 1 of `a`.
    ObedientTimeline a, b;
    a.add(waiting_epilogue(1, b, 1));
    a.add(waiting_epilogue(2, b, 2));
    Epilogue printing;
    printing.point = 1;
    printing.prints = true;
    b.add(std::move(printing));
    b.add(waiting_epilogue(2, a, 1));
    for (ObedientTimeline* timeline : {&a, &b}) {
        timeline->submitted(2);
        timeline->device = 2;
    }
    a.wait(1);
    a.wait(2);
    EXPECT_EQ(b.completed(), 2u);
}

TEST(DeviceTimelineTest, ThreadsThatWaitForQueuesThatFollowEachOtherMakeProgress) {
    for (int round = 0; round < testing::unless_sanitized(300, 50); ++round) {
        ObedientTimeline a, b;
        constexpr Point count = 40;
        for (Point k = 1; k <= count; ++k) {
            a.add(waiting_epilogue(k, b, k - 1));
            b.add(waiting_epilogue(k, a, k));
        }
        for (ObedientTimeline* timeline : {&a, &b}) {
            timeline->submitted(count);
            timeline->device = count;
        }
        std::thread other([&] { EXPECT_TRUE(a.wait_for(count, 60s)); });
        EXPECT_TRUE(b.wait_for(count, 60s));
        other.join();
    }
}

TEST(HostCommandsTest, WhatTheHostPassedIsNeverWaitedForByTheDevice) {
    ObedientTimeline other;
    // The command failed when it was submitted later; its epilogue is still pending.
    Epilogue epilogue;
    epilogue.point = 1;
    epilogue.prints = true;
    other.add(std::move(epilogue));
    other.issue(1);
    other.pass(1);
    ASSERT_EQ(other.completed(), 0u);
    WaitingQueue queue;
    const Point point = queue.wait_for(other, 1);
    EXPECT_FALSE(queue.on_device) << "no device command would complete this point";
    EXPECT_TRUE(queue.timeline.wait_for(point, 10s));
    EXPECT_EQ(other.completed(), 1u);
}

TEST(HostCommandsTest, ACommandThatFailsWhenItsTurnComesLeavesNothingToDoBehindIt) {
    ObedientTimeline timeline;
    std::mutex mutex;
    HostCommands commands(mutex, timeline);
    const std::byte from{7};
    std::byte to{0};
    std::atomic<bool> reported{false};
    {
        const std::scoped_lock lock(mutex);
        commands.add([] {});
        Epilogue epilogue = copying_epilogue(2, from, to);
        epilogue.report_times = [&] { reported = true; };
        epilogue.prints = true;
        timeline.add(std::move(epilogue));
        commands.defer(2, [] { throw std::runtime_error("refused"); });
        timeline.issue(2);
    }
    commands.wake();
    EXPECT_THROW(timeline.wait(2), std::runtime_error);
    EXPECT_EQ(to, std::byte{0});
    EXPECT_FALSE(reported);
    EXPECT_EQ(timeline.completed(), 2u);
}

}  // namespace
}  // namespace volley::backends
