// Log messages go to the configured sink, and nowhere by default.
#include <gtest/gtest.h>
#include <volley/log.hpp>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace volley {
namespace {

class Log : public ::testing::Test {
protected:
    void TearDown() override {
        set_log_sink({});
        set_log_level(LogLevel::Off);
    }

    void collect() {
        set_log_sink([this](LogLevel level, std::string_view text) {
            messages.push_back(std::string(to_string(level)) + ": " + std::string(text));
        });
    }

    std::vector<std::string> messages;
};

TEST_F(Log, PrintsNothingByDefault) {
    set_log_level(LogLevel::Off);
    ::testing::internal::CaptureStderr();
    log_message(LogLevel::Error, "unheard");
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
    EXPECT_FALSE(log_enabled(LogLevel::Error));
    EXPECT_FALSE(log_enabled(LogLevel::Off));
}

TEST_F(Log, GoesToStderrWhenALevelIsSet) {
    set_log_level(LogLevel::Info);
    ::testing::internal::CaptureStderr();
    log_message(LogLevel::Debug, "too fine");
    log_message(LogLevel::Info, "hello");
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "[volley] info: hello\n");
}

TEST_F(Log, GoesToTheUsersSink) {
    collect();
    set_log_level(LogLevel::Warning);
    log_message(LogLevel::Info, "dropped");
    log_message(LogLevel::Warning, "kept");
    log_message(LogLevel::Error, "kept too");
    EXPECT_EQ(messages, (std::vector<std::string>{"warning: kept", "error: kept too"}));
    EXPECT_EQ(log_level(), LogLevel::Warning);
}

TEST_F(Log, CallsASinkOneMessageAtATime) {
    collect();
    set_log_level(LogLevel::Debug);
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; ++t) {
            threads.emplace_back([] {
                for (int i = 0; i < 250; ++i) log_message(LogLevel::Info, "x");
            });
        }
    }
    EXPECT_EQ(messages.size(), 1000u);
}

TEST_F(Log, ASinkMayReplaceItself) {
    set_log_level(LogLevel::Debug);
    set_log_sink([this](LogLevel, std::string_view) {
        collect();
        log_message(LogLevel::Info, "from inside");
    });
    log_message(LogLevel::Info, "first");
    log_message(LogLevel::Info, "second");
    EXPECT_EQ(messages, (std::vector<std::string>{"info: from inside", "info: second"}));
}

TEST_F(Log, ASinkThatThrowsLosesOnlyItsMessage) {
    set_log_level(LogLevel::Debug);
    set_log_sink([](LogLevel, std::string_view) { throw std::runtime_error("no"); });
    EXPECT_NO_THROW(log_message(LogLevel::Info, "lost"));
}

}  // namespace
}  // namespace volley
