// The drivers of devices that work on their own: what holds for the queue of one holds for all. Transfers and
// memory also on the devices of the library's own.
#pragma once

#include "backends/api/device.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <span>
#include <string>

namespace volley::testing {

struct Subject {
    const char* label;
    /// Null where the driver is missing. Not mapped: the host cannot address memory, and the staging ring is
    /// so small that transfers go around it many times.
    std::function<std::unique_ptr<backends::Device>(bool mapped)> open;
    std::function<std::unique_ptr<backends::Program>(backends::Device&)> multiply_add;
    bool on_host = false;  // memory is always the host's: `mapped` makes no difference
};

/// Those that work on their own.
[[nodiscard]] std::span<const Subject> subjects();
/// These, the CPU (with several threads and with one) and the reference.
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
    /// Runs f on a device whose memory the host can address, and on one whose memory it cannot.
    template <class F>
    void with_each_memory(F&& f) {
        for (const bool mapped : {true, false}) {
            if (!mapped && GetParam().on_host) continue;
            SCOPED_TRACE(mapped ? "addressable memory" : "memory out of the host's reach");
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
