// Checks for leaks after the last test, while the drivers are still loaded: leaks can be attributed to us or
// to a driver only as long as the code is loaded.
#include <gtest/gtest.h>

#include <dlfcn.h>
#include <sanitizer/lsan_interface.h>

namespace {

class LeakCheck final : public ::testing::Environment {
    // The Vulkan loader unloads these with the last instance. Libraries that are not installed are not used
    // either.
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
