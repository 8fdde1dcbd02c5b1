// Looks for leaks after the last test, while drivers' threads are still. At the end of the process these end,
// and the search crashes where it meets one at that moment.
#include <gtest/gtest.h>

#include <sanitizer/lsan_interface.h>

namespace {

class LeakCheck final : public ::testing::Environment {
    void TearDown() override { __lsan_do_leak_check(); }
};
[[maybe_unused]] const ::testing::Environment* const leak_check =
    ::testing::AddGlobalTestEnvironment(new LeakCheck);

}  // namespace
