// Looks for leaks after the last test, while the drivers are still loaded: whose leak it was, ours or a
// driver's, is known only as long as the code is there.
#include <gtest/gtest.h>

#include <dlfcn.h>
#include <sanitizer/lsan_interface.h>

namespace {

class LeakCheck final : public ::testing::Environment {
    // The one driver that is unloaded with the last context.
    void SetUp() override { dlopen("libvulkan_lvp.so", RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE); }
    void TearDown() override { __lsan_do_leak_check(); }
};
[[maybe_unused]] const ::testing::Environment* const leak_check =
    ::testing::AddGlobalTestEnvironment(new LeakCheck);

}  // namespace
