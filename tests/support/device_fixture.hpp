// Tests that run on every device: VOLLEY_DEVICE_TEST(Suite, Name) { ... } defines one test for each entry of
// device_configurations(). In its body, a context of that device is current. Tests are skipped if the machine
// lacks the device.
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

/// One configuration to run the tests with; its label is the suffix of their names:
/// Barrier.OrdersAccesses/cpu_width_8.
struct DeviceConfiguration {
    std::string label;
    ContextOptions options;
    std::vector<std::string_view> suites = {};  // suites to run; empty: all
    bool unmapped = false;                      // unmapped memory: see unmapped_drivers.hpp

    [[nodiscard]] bool takes(std::string_view suite) const {
        return suites.empty() || std::find(suites.begin(), suites.end(), suite) != suites.end();
    }
};

/// Returns all configurations. A new backend adds an entry.
[[nodiscard]] const std::vector<DeviceConfiguration>& device_configurations();

class DeviceTest : public ::testing::Test {
public:
    void use(const DeviceConfiguration& configuration) { configuration_ = &configuration; }

    /// Returns the device's description.
    [[nodiscard]] const DeviceInfo& device() const { return device_; }
    [[nodiscard]] const DeviceConfiguration& configuration() const { return *configuration_; }
    /// Returns the number of lanes in a subgroup.
    [[nodiscard]] unsigned lanes() const { return device_.subgroup_size; }

    /// Returns whether the device computes with T, or with its components.
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

    /// Returns whether the device has all atomics of T. It has bit operations on every T that it supports.
    template <class T>
    [[nodiscard]] bool supports_atomics() const {
        return supports<T>() && (sizeof(T) < 8 || device_.int64_atomics);
    }
    /// Returns "vulkan:0 (its name)", for the reason of a skip.
    [[nodiscard]] std::string device_name() const { return device_.id() + " (" + device_.name + ")"; }

    /// Calls f.template operator()<T>() for each type that the device supports.
    template <class... T, class F>
    void each_type(F&& f) const {
        (one_type<T>(f, supports<T>()), ...);
    }
    /// Calls f for all types: every device loads and stores even those that it cannot compute with.
    template <class... T, class F>
    void every_type(F&& f) const {
        (one_type<T>(f, true), ...);
    }
    /// Calls f for the types that have atomics.
    template <class... T, class F>
    void each_atomic_type(F&& f) const {
        (one_type<T>(f, supports_atomics<T>()), ...);
    }
    /// Calls f with f64, or with f32 on a device without f64: for kernels that mix many types.
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
    std::uint64_t validation_messages_ = 0;  // count before the test; new messages fail it
    std::unique_ptr<ContextScope> scope_;
};

/// Registers a test for each configuration that runs its suite; returns true.
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
