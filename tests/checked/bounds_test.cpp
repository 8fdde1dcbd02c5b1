// VOLLEY_CHECK=bounds (set for this program by ctest): an out-of-bounds access is an error that names its
// source line, and no other memory is touched.
#include <volley/volley.hpp>

#include "core/settings.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace volley {
namespace {

class Bounds : public ::testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        ASSERT_TRUE(settings().check_bounds) << "run with VOLLEY_CHECK=bounds";
        context_ = make_context({.devices = {GetParam()}});
    }
    std::optional<Context> context_;
};

template <class F>
std::string message_of(F&& f) {
    try {
        f();
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), ErrorCode::IndexError) << e.what();
        return e.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

TEST_P(Bounds, AreReportedWithIndexSizeKernelAndLine) {
    const auto scope = context_->use();
    Buffer<float> data = as_buffer(std::vector<float>(100, 1.0f));
    auto shift = kernel("shift", [](Buff<float> d) { d[global_id().x] = d[global_id().x + 1u]; });
    const std::string text = message_of([&] {
        shift(data);
        wait();
    });
    EXPECT_NE(text.find("100"), std::string::npos) << text;
    EXPECT_NE(text.find("kernel 'shift'"), std::string::npos) << text;
    EXPECT_NE(text.find("bounds_test.cpp:"), std::string::npos) << text;
    EXPECT_NE(text.find("$if"), std::string::npos) << text;
}

TEST_P(Bounds, AreReportedWithTheParameterAndTheInvocation) {
    const auto scope = context_->use();
    Buffer<int> to = as_buffer(std::vector<int>(64, 1)), from = as_buffer(std::vector<int>(60, 1));
    auto copy = kernel("copy", [](Buff<int> t, Buff<const int> f) {
        const auto i = global_id().y * 8u + global_id().x;
        $if (i != 60u && i < 62u) {
            t[i] = f[i];
        }
    });
    const std::string text = message_of([&] {
        copy.over({8, 8})(to, from);
        wait();
    });
    EXPECT_NE(text.find("index 61 of parameter 2, which has 60 elements"), std::string::npos) << text;
    EXPECT_NE(text.find("in invocation (5, 7, 0)"), std::string::npos) << text;
}

TEST_P(Bounds, NegativeIndicesAreDetected) {
    const auto scope = context_->use();
    Buffer<int> data = as_buffer(std::vector<int>(64, 1));
    auto back = kernel("back", [](Buff<int> d) {
        const auto i = cast<int>(global_id().x);
        d[i - 1] = i;
    });
    const std::string text = message_of([&] {
        back(data);
        wait();
    });
    EXPECT_NE(text.find("index -1"), std::string::npos) << text;
}

TEST_P(Bounds, GuardedAccessesPassAndTheContextRemainsUsable) {
    const auto scope = context_->use();
    std::vector<int> host(77);
    std::iota(host.begin(), host.end(), 0);
    Buffer<int> data = as_buffer(host);
    Buffer<int> out({77});
    auto shift = kernel("guarded", [](Buff<const int> in, Buff<int> o) {
        const auto i = global_id().x;
        o[i] = 0;
        $if (i > 0u) {
            o[i] = in[i - 1u];
        }
    });
    shift.over(77)(data, out);
    const std::vector<int> result = out.read(0);
    for (int i = 1; i < 77; ++i) EXPECT_EQ(result[static_cast<std::size_t>(i)], i - 1);
}

TEST_P(Bounds, SharedArraysAreChecked) {
    const auto scope = context_->use();
    Buffer<int> data = as_buffer(std::vector<int>(64, 1));
    auto k = kernel("tile", {.local = {64}}, [](Buff<int> d) {
        Shared<int> tile(32);
        const auto l = local_id().x;
        tile[l] = d[global_id().x];
        barrier();
        d[global_id().x] = tile[l];
    });
    const std::string text = message_of([&] {
        k(data);
        wait();
    });
    EXPECT_NE(text.find("32"), std::string::npos) << text;
}

TEST_P(Bounds, AGraphWithAFailingCommandCompletesAndCanBeSubmittedAgain) {
    const auto scope = context_->use();
    Buffer<float> data = as_buffer(std::vector<float>(100, 1.0f)),
                  other = as_buffer(std::vector<float>(8, 1.0f));
    auto shift = kernel("shift", [](Buff<float> d) { d[global_id().x] = d[global_id().x + 1u]; });
    auto twice = kernel("twice", [](Buff<float> d) { d[global_id().x] = d[global_id().x] * 2.0f; });
    auto g = record([&] {
        twice(other);
        shift(data);
        twice(other);
    });
    for (const float expected : {4.0f, 16.0f}) {
        const Event done = g.submit();
        EXPECT_NE(message_of([&] { done.wait(); }).find("kernel 'shift'"), std::string::npos);
        EXPECT_EQ(other.read(0)[7], expected) << "what does not depend on it is done";
        EXPECT_NO_THROW(done.wait()) << "the error is reported once";
    }
    auto good = record([&] { twice(other); });
    good.submit().wait();
    EXPECT_EQ(other.read(0)[0], 32.0f);
}

INSTANTIATE_TEST_SUITE_P(Devices, Bounds, ::testing::Values("reference:0", "cpu:0"), [](const auto& device) {
    return std::string(device.param, std::string_view(device.param).find(':'));
});

}  // namespace
}  // namespace volley
