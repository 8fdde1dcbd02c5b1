// Helpers for tests of the Vulkan backend below the runtime. The tests run on each of the two software
// drivers; tests of a missing driver are skipped. Messages of the validation layer fail the test.
#pragma once

#include "backends/queue_support.hpp"
#include "backends/vulkan/vulkan_device.hpp"
#include "backends/vulkan_modules.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace volley::backends::vulkan {

using namespace volley::testing;  // NOLINT(google-build-using-namespace)

/// Returns the index of the driver's device, or -1 if it is missing.
inline int find_driver(const Instance& instance, VkDriverId driver) {
    for (std::size_t i = 0; i < instance.devices().size(); ++i) {
        if (instance.devices()[i].driver == driver) return static_cast<int>(i);
    }
    return -1;
}

struct DriverName {
    const char* label;
    VkDriverId id;
};
inline constexpr DriverName drivers[] = {{"lavapipe", VK_DRIVER_ID_MESA_LLVMPIPE},
                                         {"swiftshader", VK_DRIVER_ID_GOOGLE_SWIFTSHADER}};

class VulkanTest : public ::testing::TestWithParam<DriverName> {
protected:
    void SetUp() override {
        messages_ = validation_message_count();
        instance = Instance::open();
        if (instance) index = find_driver(*instance, GetParam().id);
        if (index < 0) GTEST_SKIP() << "the driver " << GetParam().label << " is not installed";
    }
    void TearDown() override {
        if (validation_message_count() != messages_) ADD_FAILURE() << last_validation_message();
    }

    std::unique_ptr<VulkanDevice> open(const VulkanOptions& options = {}) {
        return std::make_unique<VulkanDevice>(instance, static_cast<unsigned>(index), options);
    }

    std::shared_ptr<Instance> instance;
    int index = -1;

private:
    std::uint64_t messages_ = 0;
};

#define VOLLEY_VULKAN_SUITE(Suite)                                  \
    INSTANTIATE_TEST_SUITE_P(, Suite, ::testing::ValuesIn(drivers), \
                             [](const auto& driver) { return std::string(driver.param.label); })

/// Creates a program from the hand-written module.
inline std::unique_ptr<backends::Program> multiply_add(VulkanDevice& device) {
    using codegen::spirv::FieldKind;
    codegen::spirv::Module module;
    module.words.assign(std::begin(multiply_add_words), std::end(multiply_add_words));
    module.fields = {
        {FieldKind::GlobalSize, 0, 0, 12}, {FieldKind::Address, 0, 16, 8}, {FieldKind::Value, 1, 24, 4}};
    module.argument_bytes = 28;
    return device.adopt(multiply_add_signature(), std::move(module), {64, 1, 1});
}

}  // namespace volley::backends::vulkan
