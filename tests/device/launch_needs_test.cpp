// Launches that would leave a size to chance are refused: a workgroup size that a kernel depends on, and a
// grid of more than one dimension.
#include "support/device_fixture.hpp"

namespace volley {
namespace {

using testing::error_of;
using testing::expect_contains;

template <class F>
void expect_local_needed(std::string_view because, F body) {
    const auto needy = kernel("needy", body);
    Buffer<u32> data(128);
    data.fill(9);
    const auto refused = [&](auto&& launch) {
        const std::string text = error_of(ErrorCode::InvalidLaunch, launch);
        expect_contains(text, because);
        expect_contains(text, "kernel 'needy'");
        expect_contains(text, ".local(");
    };
    refused([&] { needy(data); });
    refused([&] { needy.over(64)(data); });
    refused([&] { needy.groups(2)(data); });
    refused([&] { (void)record([&] { needy(data); }); });
    EXPECT_EQ(data.read(0), std::vector<u32>(128, 9)) << "nothing ran";
    needy.local(32)(data);
    const std::vector<u32> at_launch = data.read(0);
    kernel("declared", {.local = {32}}, body)(data);
    EXPECT_EQ(data.read(0), at_launch);
}

VOLLEY_DEVICE_TEST(LaunchNeeds, AWorkgroupSizeForSharedMemory) {
    expect_local_needed("Shared memory", [](Buff<u32> d) {
        Shared<u32> tile(32);
        tile[local_id().x] = global_id().x;
        barrier();
        d[global_id().x] = tile[31u - local_id().x];
    });
    Buffer<u32> data(128);
    data.fill(0);
}

VOLLEY_DEVICE_TEST(LaunchNeeds, AWorkgroupSizeForIdsOfWorkgroups) {
    expect_local_needed("local_id()", [](Buff<u32> d) { d[global_id().x] = local_id().x; });
    expect_local_needed("local_index()", [](Buff<u32> d) { d[global_id().x] = local_index(); });
    expect_local_needed("group_id()", [](Buff<u32> d) { d[global_id().x] = group_id().x; });
    expect_local_needed("subgroup_id()", [](Buff<u32> d) { d[global_id().x] = subgroup_id(); });
}

VOLLEY_DEVICE_TEST(LaunchNeeds, NoWorkgroupSizeForSizesAndBarriers) {
    Buffer<u32> data(64);
    kernel("sizes", [](Buff<u32> d) {
        d[global_id().x] = min(local_size().x, 1u) + min(group_count().x, 1u) + min(subgroup_count(), 1u);
        (void)local_id();  // has no effect
    })(data);
    EXPECT_EQ(data.read(0), std::vector<u32>(64, 3));
    kernel("barrier", [](Buff<u32> d) {
        d[global_id().x] = 1u;
        barrier();
        d[global_id().x] += 1u;
    })(data);
    EXPECT_EQ(data.read(0), std::vector<u32>(64, 2));
}

template <class F>
void expect_grid_needed(std::string_view read, F body) {
    const auto flat = kernel("flat", body);
    Buffer<u32> data({4, 8});
    data.fill(0);
    const std::string text = error_of(ErrorCode::InvalidLaunch, [&] { flat(data); });
    expect_contains(text, read);
    expect_contains(text, "kernel 'flat'");
    expect_contains(text, ".over({nx, ny");
    error_of(ErrorCode::InvalidLaunch, [&] { (void)record([&] { flat(data); }); });
    EXPECT_EQ(data.read(0), std::vector<u32>(32, 0)) << "nothing ran";
    flat.over({8, 4})(data);
    EXPECT_EQ(data.read(0)[31], 31u);
    EXPECT_NO_THROW(flat.over(8)(data).wait()) << "a grid of one dimension that is meant";
}

VOLLEY_DEVICE_TEST(LaunchNeeds, AGridForTheSecondAndThirdDimension) {
    expect_grid_needed("global_id().y", [](Buff<u32> d) {
        const auto x = global_id().x, y = global_id().y;
        d(y, x) = y * 8u + x;
    });
    expect_grid_needed("global_id().z", [](Buff<u32> d) {
        const auto id = global_id();
        const auto i = (id.z * global_size().y + id.y) * 8u + id.x;
        d[i] = i;
    });
}

VOLLEY_DEVICE_TEST(LaunchNeeds, AGridForComponentsOfComputedVectors) {
    expect_grid_needed("global_id().y", [](Buff<u32> d) {
        const auto at = global_id().xy() * 2u;
        d[at.y * 4u + at.x / 2u] = at.y * 4u + at.x / 2u;
    });
    expect_grid_needed("global_id().y", [](Buff<u32> d) {
        Var<uvec2> at;
        $for (k, 0u, 2u) {
            $if (k == 1u) {
                d[at.y * 8u + at.x] = at.y * 8u + at.x;
            }
            at = global_id().xy();
        }
    });
    expect_grid_needed("global_id().y", [](Buff<u32> d) {
        const auto distance = dot(cast<float>(global_id().xy()), vec2(1, 8));
        d[cast<u32>(distance)] = cast<u32>(distance);
    });
}

VOLLEY_DEVICE_TEST(LaunchNeeds, NoGridForVectorsThatAreStoredWhole) {
    Buffer<uvec3> ids(10);
    kernel("ids", [](Buff<uvec3> d) { d[global_id().x] = global_id() + uvec3(1); })(ids);
    EXPECT_EQ(ids.read(0)[9], uvec3(10, 1, 1));
}

}  // namespace
}  // namespace volley
