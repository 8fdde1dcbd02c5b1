// The drivers of devices that work on their own: what holds for the queue of one holds for all.
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
    std::function<std::unique_ptr<backend::Device>(bool mapped)> open;
    std::function<std::unique_ptr<backend::Program>(backend::Device&)> multiply_add;
};

[[nodiscard]] std::span<const Subject> subjects();

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

    std::unique_ptr<backend::Device> device;
    std::unique_ptr<backend::Queue> queue;
};

#define VOLLEY_SUBJECT_SUITE(Suite)                                    \
    INSTANTIATE_TEST_SUITE_P(, Suite, ::testing::ValuesIn(subjects()), \
                             [](const auto& subject) { return std::string(subject.param.label); })

}  // namespace volley::testing
