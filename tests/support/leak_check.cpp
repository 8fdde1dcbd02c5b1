// Looks for leaks after the last test, while the drivers are still loaded: whose leak it was, ours or a
// driver's, is known only as long as the code is there.
#include <gtest/gtest.h>

#include <dlfcn.h>
#include <sanitizer/lsan_interface.h>

namespace {

class LeakCheck final : public ::testing::Environment {
    // Vulkan's loader unloads these with the last instance. What is not installed is not used either.
    void SetUp() override {
        for (const char* library : {"libvulkan_lvp.so", "libVkLayer_khronos_validation.so",
                                    "libVkLayer_MESA_device_select.so", VOLLEY_SWIFTSHADER_LIBRARY}) {
            dlopen(library, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
        }
    }
    void TearDown() override { __lsan_do_leak_check(); }
};
[[maybe_unused]] const ::testing::Environment* const leak_check =
    ::testing::AddGlobalTestEnvironment(new LeakCheck);

}  // namespace
