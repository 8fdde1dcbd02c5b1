// Makes messages of the Vulkan validation layer fail the program that includes this (in one file), including
// messages after the last test, when devices are destroyed.
#pragma once

#include "backends/vulkan/vulkan_instance.hpp"

#include <gtest/gtest.h>

namespace volley::testing {

class ValidationEnvironment final : public ::testing::Environment {
    void TearDown() override {
        EXPECT_EQ(backends::vulkan::validation_message_count(), 0u)
            << backends::vulkan::last_validation_message();
    }
};

}  // namespace volley::testing

/// Use once per test program.
#define VOLLEY_EXPECT_NO_VALIDATION_MESSAGES()                                           \
    [[maybe_unused]] static const ::testing::Environment* const validation_environment = \
        ::testing::AddGlobalTestEnvironment(new ::volley::testing::ValidationEnvironment)
