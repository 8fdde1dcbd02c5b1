// print: one line per invocation that reaches it, formatted as on the host.
#include "support/device_fixture.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

namespace volley {
namespace {

/// Captures kernel output during its lifetime.
class PrintedLines {
public:
    PrintedLines() {
        set_print_sink([this](std::string_view line) { lines_.emplace_back(line); });
    }
    ~PrintedLines() { set_print_sink({}); }
    PrintedLines(const PrintedLines&) = delete;
    PrintedLines& operator=(const PrintedLines&) = delete;

    /// Returns all lines so far, sorted.
    std::vector<std::string> sorted() {
        wait();
        std::sort(lines_.begin(), lines_.end());
        return lines_;
    }

private:
    std::vector<std::string> lines_;
};

VOLLEY_DEVICE_TEST(Print, EmitsALineForEachInvocationThatReachesIt) {
    PrintedLines printed;
    kernel("say", [] {
        const auto i = global_id().x;
        $if (i % 10u == 3u) {
            print("i={} twice={}", i, i * 2u);
        }
        $elif (i == 25u) {
            print("here");
        }
    }).over(40)();
    EXPECT_EQ(printed.sorted(), (std::vector<std::string>{"here", "i=13 twice=26", "i=23 twice=46",
                                                          "i=3 twice=6", "i=33 twice=66"}));
}

VOLLEY_DEVICE_TEST(Print, DeliversLinesWithoutAWait) {
    std::atomic<int> lines{0};
    set_print_sink([&](std::string_view /*line*/) { ++lines; });
    const auto say = kernel("say", [] { print("here"); });
    for (int k = 1; k <= 3; ++k) {  // the first launch may start the thread that waits, later ones wake it
        say.over(1)();
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (lines < k && std::chrono::steady_clock::now() < end)
            std::this_thread::sleep_for(std::chrono::microseconds(100));
        ASSERT_EQ(lines, k);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));  // that thread sleeps again
    }
    wait();
    set_print_sink({});
}

VOLLEY_DEVICE_TEST(Print, FormatsEveryType) {
    PrintedLines printed;
    kernel("types", [](Const<i8> a, Const<u64> b, Const<float> c, Const<bool> d, Const<i64> e) {
        print("{} {} {} {} {}", a, b, c, d, e);
        print("{{}} {}", a + 1);
        print("{} {}", 42, 2.5);
    }).over(1)(i8{-128}, ~u64{0}, 0.1f, true, std::numeric_limits<i64>::min());
    EXPECT_EQ(printed.sorted(),
              (std::vector<std::string>{"-128 18446744073709551615 0.1 true -9223372036854775808", "42 2.5",
                                        "{} -127"}));
}

VOLLEY_DEVICE_TEST(Print, FormatsVaryingVectorsAndComplexNumbers) {
    PrintedLines printed;
    kernel("composites", [] {
        const auto i = global_id().x;
        print("{}: {} | {}", i, make_vec(cast<i32>(i), -1, 2), make_complex(cast<float>(i), 0.5f));
    }).over(3)();
    const auto lines = printed.sorted();
    ASSERT_EQ(lines.size(), 3u);
    for (u32 i = 0; i < 3; ++i) {
        EXPECT_EQ(lines[i].substr(0, 2), std::to_string(i) + ":");
        EXPECT_NE(lines[i].find(std::to_string(i) + ", -1, 2"), std::string::npos) << lines[i];
        EXPECT_NE(lines[i].find("0.5"), std::string::npos) << lines[i];
    }
}

VOLLEY_DEVICE_TEST(Print, WorksInLoopsAndBetweenBarriers) {
    PrintedLines printed;
    kernel("loop",
           [] {
               Shared<u32> s(6);
               const auto l = local_id().x;
               s[l] = l * l;
               barrier();
               $for (k, 0u, 2u) {
                   $if (s[5u - l] > 9u) {
                       print("round {} lane {} sees {}", k, l, s[5u - l]);
                   }
                   barrier();
               }
           })
        .over(6)
        .local(6)();
    EXPECT_EQ(printed.sorted(),
              (std::vector<std::string>{"round 0 lane 0 sees 25", "round 0 lane 1 sees 16",
                                        "round 1 lane 0 sees 25", "round 1 lane 1 sees 16"}));
}

VOLLEY_DEVICE_TEST(Print, LosesNoLineOfALargeGrid) {
    PrintedLines printed;
    kernel("many", [] {
        $if (global_id().x % 3u == 0u) {
            print("{}", global_id().x);
        }
    }).over(3000)();
    auto lines = printed.sorted();
    ASSERT_EQ(lines.size(), 1000u);
    EXPECT_EQ(std::unique(lines.begin(), lines.end()), lines.end());
}

VOLLEY_DEVICE_TEST(Print, RefusesAWrongNumberOfPlaces) {
    const std::string text = testing::error_of(
        ErrorCode::TraceError, [] { (void)kernel("wrong", [] { print("{} {}", global_id().x); }); });
    EXPECT_NE(text.find("print_test.cpp"), std::string::npos) << text;
}

}  // namespace
}  // namespace volley
