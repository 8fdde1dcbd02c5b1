// Tests that run on every device: one macro makes a test for each configuration (the reference interpreter,
// the CPU at widths 1, 4, 8 and 16), with its context current.
//
//     VOLLEY_DEVICE_TEST(Launch, ScalesEveryElement) {
//         Buffer<float> data = as_buffer({1.f, 2.f});
//         kernel("scale", [](Buff<float> d) { d[global_id().x] *= 2.f; })(data);
//         EXPECT_EQ(data.read(0), (std::vector<float>{2, 4}));
//     }
#pragma once

#include <volley/context.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace volley::testing {

/// One way to run the suite.
struct DeviceConfiguration {
    std::string name;  // "cpu8"
    ContextOptions options;
};

[[nodiscard]] const std::vector<DeviceConfiguration>& device_configurations();

/// The context of a configuration: made at its first use and shared by all its tests.
[[nodiscard]] Context context_for(const DeviceConfiguration& configuration);

/// What the running test's device says of itself.
[[nodiscard]] DeviceInfo this_device();

/// Registers a test for each configuration; gives a dummy, so that it can stand in an initialiser.
int register_device_test(const char* suite, const char* name, const char* file, int line, void (*body)());

}  // namespace volley::testing

#define VOLLEY_DEVICE_TEST(Suite, name)                                               \
    static void volley_device_test_##Suite##_##name();                                \
    [[maybe_unused]] static const int volley_registered_##Suite##_##name =            \
        ::volley::testing::register_device_test(#Suite, #name, __FILE__, __LINE__,    \
                                                volley_device_test_##Suite##_##name); \
    static void volley_device_test_##Suite##_##name()
