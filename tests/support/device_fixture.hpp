// Tests that run on every device: VOLLEY_DEVICE_TEST(Suite, Name) { ... } is one test for each configuration
// of device_configurations(), with a context of that device current in the body. A device that this machine
// lacks is a skip.
#pragma once

#include "support/expect_error.hpp"

#include <volley/volley.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace volley::testing {

/// One way to run the tests; its label ends their names: Barrier.OrdersAccesses/cpu_width_8.
struct DeviceConfiguration {
    std::string label;
    ContextOptions options;
    std::vector<std::string_view> suites = {};  // those that run; empty: all
    bool unmapped = false;                      // memory out of the host's reach: see unmapped_drivers.hpp

    [[nodiscard]] bool takes(std::string_view suite) const {
        return suites.empty() || std::find(suites.begin(), suites.end(), suite) != suites.end();
    }
};

/// All of them. A new backend is one more entry.
[[nodiscard]] const std::vector<DeviceConfiguration>& device_configurations();

class DeviceTest : public ::testing::Test {
public:
    void use(const DeviceConfiguration& configuration) { configuration_ = &configuration; }

    /// What the device can do.
    [[nodiscard]] const DeviceInfo& device() const { return device_; }
    [[nodiscard]] const DeviceConfiguration& configuration() const { return *configuration_; }
    /// How many lanes a subgroup has.
    [[nodiscard]] unsigned lanes() const { return device_.subgroup_size; }

    /// Whether the device computes with T, or with its components.
    template <class T>
    [[nodiscard]] bool supports() const {
        using S = lang::scalar_t<T>;
        if constexpr (std::is_same_v<S, half>)
            return device_.f16;
        else if constexpr (std::is_same_v<S, double>)
            return device_.f64;
        else if constexpr (std::is_same_v<S, bool>)
            return true;
        else if constexpr (sizeof(S) == 1)
            return device_.i8;
        else if constexpr (sizeof(S) == 2)
            return device_.i16;
        else if constexpr (sizeof(S) == 8)
            return device_.i64;
        else
            return true;
    }

    /// Whether it has all atomics of T; bit operations it has where it has T.
    template <class T>
    [[nodiscard]] bool supports_atomics() const {
        return supports<T>() && (sizeof(T) < 8 || device_.int64_atomics);
    }
    /// "vulkan:0 (its name)", for the reason of a skip.
    [[nodiscard]] std::string device_name() const { return device_.id() + " (" + device_.name + ")"; }

    /// Calls f.template operator()<T>() for each of the types that the device has.
    template <class... T, class F>
    void each_type(F&& f) const {
        (one_type<T>(f, supports<T>()), ...);
    }
    /// For all the types: every device loads and stores them, those too with which it cannot compute.
    template <class... T, class F>
    void every_type(F&& f) const {
        (one_type<T>(f, true), ...);
    }
    /// For the types that have atomics.
    template <class... T, class F>
    void each_atomic_type(F&& f) const {
        (one_type<T>(f, supports_atomics<T>()), ...);
    }
    /// Calls f with f64, or on a device that has none with f32: for kernels that mix many types.
    template <class F>
    void widest_float(F&& f) const {
        one_type<f64>(f, supports<f64>());
        one_type<f32>(f, !supports<f64>());
    }

protected:
    void SetUp() override;
    void TearDown() override;

private:
    template <class T, class F>
    void one_type(F& f, bool wanted) const {
        if (!wanted) return;
        const ::testing::ScopedTrace trace(__FILE__, __LINE__, dtype_of<T>().name());
        f.template operator()<T>();
    }

    const DeviceConfiguration* configuration_ = nullptr;
    DeviceInfo device_;
    std::uint64_t validation_messages_ = 0;  // what the validation layer says during a test fails it
    std::unique_ptr<ContextScope> scope_;
};

/// Registers a test for each of the configurations that takes its suite; true.
bool register_device_test(const std::vector<DeviceConfiguration>& configurations, const char* suite,
                          const char* name, const char* file, int line,
                          std::unique_ptr<DeviceTest> (*make)());

}  // namespace volley::testing

#define VOLLEY_DEVICE_TEST_IN(configurations, Suite, Name)                                  \
    class Suite##_##Name final : public ::volley::testing::DeviceTest {                     \
        void TestBody() override;                                                           \
        [[maybe_unused]] static const bool registered_;                                     \
    };                                                                                      \
    const bool Suite##_##Name::registered_ = ::volley::testing::register_device_test(       \
        configurations, #Suite, #Name, __FILE__, __LINE__,                                  \
        [] { return std::unique_ptr<::volley::testing::DeviceTest>(new Suite##_##Name); }); \
    void Suite##_##Name::TestBody()

#define VOLLEY_DEVICE_TEST(Suite, Name) \
    VOLLEY_DEVICE_TEST_IN(::volley::testing::device_configurations(), Suite, Name)
