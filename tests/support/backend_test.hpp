// Tests of what does not depend on how a device computes: VOLLEY_BACKEND_TEST(Suite, Name) { ... } is one
// test for each backend, with a context of two queues of its device current in the body.
#pragma once

#include "support/device_fixture.hpp"

namespace volley::testing {

/// One entry for each backend and driver.
[[nodiscard]] const std::vector<DeviceConfiguration>& backend_configurations();

}  // namespace volley::testing

#define VOLLEY_BACKEND_TEST(Suite, Name) \
    VOLLEY_DEVICE_TEST_IN(::volley::testing::backend_configurations(), Suite, Name)
