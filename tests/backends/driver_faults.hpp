// Simulates a failing driver by replacing entries of a device's function table.
#pragma once

#include <volley/error.hpp>

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace volley::testing {

/// Faults of one device's driver. Create it before the queues of the device, and destroy it after them. Only
/// one object of a backend exists at a time, because driver functions are plain function pointers.
class DriverFaults {
public:
    DriverFaults() = default;
    virtual ~DriverFaults() = default;
    DriverFaults(const DriverFaults&) = delete;
    DriverFaults& operator=(const DriverFaults&) = delete;

    /// Results of the driver (VkResult, cl_int) that mean success, a lost device, and exhausted memory.
    int success = 0;
    int lost = 0;
    std::vector<int> out_of_memory;

    /// From now on, the driver refuses launches with this result.
    virtual void set_submit_result(int result) = 0;
    /// The driver reports no command as complete until thaw().
    virtual void freeze() = 0;
    virtual void thaw() = 0;
};

/// Expects f to throw DeviceLost, with the device's name and advice.
template <class F>
void expect_lost(std::string_view device, F&& f) {
    try {
        f();
        ADD_FAILURE() << "nothing was thrown";
    } catch (const DeviceError& error) {
        EXPECT_EQ(error.code(), ErrorCode::DeviceLost) << error.what();
        EXPECT_NE(error.subject().find(device), std::string_view::npos) << error.what();
        EXPECT_FALSE(error.advice().empty());
    }
}

}  // namespace volley::testing
