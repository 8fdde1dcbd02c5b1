// Tests of behaviour that does not depend on how a device computes: VOLLEY_BACKEND_TEST(Suite, Name) { ... }
// defines one test for each backend. In its body, a context with two queues of the device is current.
#pragma once

#include "support/device_fixture.hpp"

namespace volley::testing {

/// Returns one entry for each backend and driver.
[[nodiscard]] const std::vector<DeviceConfiguration>& backend_configurations();

}  // namespace volley::testing

#define VOLLEY_BACKEND_TEST(Suite, Name) \
    VOLLEY_DEVICE_TEST_IN(::volley::testing::backend_configurations(), Suite, Name)
