// Limits of workgroups, on a device that limits each dimension apart from the number of invocations.
#include "runtime/runtime_support.hpp"
#include "support/expect_error.hpp"

namespace volley {
namespace {

using testing::error_of;
using testing::expect_contains;

class LaunchLimits : public ::testing::Test {
protected:
    testing::NullContext null;  // 256 invocations in at most 256 x 256 x 64
    ContextScope scope = null.context.use();
    Buffer<int> data{Shape(1024)};
};

TEST_F(LaunchLimits, EachDimensionOfAWorkgroupIsLimited) {
    const auto touch = testing::make_touch();
    EXPECT_NO_THROW(touch.over({1, 1, 64}).local({1, 1, 64})(data));
    EXPECT_NO_THROW(touch.over({2, 2, 64}).local({2, 2, 64})(data));
    expect_contains(error_of(ErrorCode::InvalidLaunch,
                             [&] {
                                 touch.over({1, 1, 65}).local({1, 1, 65})(data);
                             }),
                    "1 x 1 x 65");
    expect_contains(error_of(ErrorCode::InvalidLaunch,
                             [&] {
                                 touch.over({4, 2, 64}).local({4, 2, 64})(data);
                             }),
                    "at most 256 invocations");
}

TEST_F(LaunchLimits, ASmallGridWithBarriersIsOneWorkgroupIfEachDimensionFits) {
    const auto meet = kernel("meet", [](Buff<int> numbers) {
        auto i = global_id().z;
        numbers[i] = 1;
        barrier();
        numbers[i] = 2;
    });
    EXPECT_NO_THROW(meet.over({1, 1, 60})(data));
    expect_contains(error_of(ErrorCode::InvalidLaunch,
                             [&] {
                                 meet.over({1, 1, 100})(data);
                             }),
                    "the last workgroup is incomplete");
}

}  // namespace
}  // namespace volley
