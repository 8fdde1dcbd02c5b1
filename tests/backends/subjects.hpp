// The drivers of asynchronous devices, for queue tests that must hold for all of them. Tests of transfers and
// memory also cover the CPU and reference devices.
#pragma once

#include "backends/api/device.hpp"
#include "backends/driver_faults.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <span>
#include <string>

namespace volley::testing {

struct Subject {
    const char* label;
    /// Opens the device, or returns null if the driver is missing. If not `mapped`, the host cannot access
    /// device memory, and the staging ring is so small that transfers wrap around it many times.
    std::function<std::unique_ptr<backends::Device>(bool mapped)> open;
    std::function<std::unique_ptr<backends::Program>(backends::Device&)> multiply_add;
    /// Makes the driver of an opened device fail on request; null for devices without a driver.
    std::function<std::unique_ptr<DriverFaults>(backends::Device&)> faults = nullptr;
    bool on_host = false;  // device memory is always host memory, so `mapped` has no effect
};

/// Returns the asynchronous devices.
[[nodiscard]] std::span<const Subject> subjects();
/// Returns these, the CPU (with several threads and with one) and the reference device.
[[nodiscard]] std::span<const Subject> every_subject();

class SubjectTest : public ::testing::TestWithParam<Subject> {
protected:
    void SetUp() override { use(true); }
    void use(bool mapped) {
        queue.reset();
        device = GetParam().open(mapped);
        if (!device) GTEST_SKIP() << "the driver " << GetParam().label << " is not installed";
        queue = device->make_queue();
    }
    void wait() { queue->timeline().wait(queue->last()); }
    /// Runs f on a device whose memory the host can access, and on one whose memory it cannot.
    template <class F>
    void with_each_memory(F&& f) {
        for (const bool mapped : {true, false}) {
            if (!mapped && GetParam().on_host) continue;
            SCOPED_TRACE(mapped ? "addressable memory" : "unmapped memory");
            use(mapped);
            f();
        }
    }

    std::unique_ptr<backends::Device> device;
    std::unique_ptr<backends::Queue> queue;
};

#define VOLLEY_SUITE_OF(Suite, list)                             \
    INSTANTIATE_TEST_SUITE_P(, Suite, ::testing::ValuesIn(list), \
                             [](const auto& subject) { return std::string(subject.param.label); })
#define VOLLEY_SUBJECT_SUITE(Suite) VOLLEY_SUITE_OF(Suite, subjects())
#define VOLLEY_EVERY_SUBJECT_SUITE(Suite) VOLLEY_SUITE_OF(Suite, every_subject())

}  // namespace volley::testing
