// Grids of one to three dimensions, with full and partial last workgroups, and the ids that invocations see
// in them.
#include "support/device_fixture.hpp"
#include "support/device_map.hpp"

namespace volley {
namespace {

struct Ids {
    uvec3 global, local, group, global_size, local_size, group_count;
    u32 local_index, visits;
};
VOLLEY_STRUCT(Ids, global, local, group, global_size, local_size, group_count, local_index, visits)

struct Extents {
    u32 size[3];
    u32 local[3];
};

void check_grid(const Extents& e) {
    SCOPED_TRACE(::testing::PrintToString(e.size) + " by " + ::testing::PrintToString(e.local));
    static auto run = kernel("ids", [](Buff<Ids> out) {
        const auto id = global_id();
        const auto size = global_size();
        const auto at = (id.z * size.y + id.y) * size.x + id.x;
        out[at].global = id;
        out[at].local = local_id();
        out[at].group = group_id();
        out[at].global_size = size;
        out[at].local_size = local_size();
        out[at].group_count = group_count();
        out[at].local_index = local_index();
        atomic(out[at].visits).add(1u);
    });
    const std::size_t n = std::size_t{e.size[0]} * e.size[1] * e.size[2];
    Buffer<Ids> out(n + 16);
    out.fill(Ids{});
    run.over({e.size[0], e.size[1], e.size[2]}).local({e.local[0], e.local[1], e.local[2]})(out);
    const auto got = out.read(0);
    const uvec3 local(e.local[0], e.local[1], e.local[2]);
    const uvec3 size(e.size[0], e.size[1], e.size[2]);
    std::size_t wrong = 0;
    for (u32 z = 0, at = 0; z < size.z; ++z) {
        for (u32 y = 0; y < size.y; ++y) {
            for (u32 x = 0; x < size.x; ++x, ++at) {
                const Ids& i = got[at];
                const uvec3 here(x, y, z);
                const uvec3 inside(x % local.x, y % local.y, z % local.z);
                const bool fits = i.global == here && i.local == inside && i.group == here / local &&
                                  i.global_size == size && i.local_size == local &&
                                  i.group_count == (size + local - uvec3(1)) / local &&
                                  i.local_index == (inside.z * local.y + inside.y) * local.x + inside.x &&
                                  i.visits == 1;
                if (!fits && ++wrong <= 2) {
                    ADD_FAILURE() << "at " << testing::show(here) << ": global " << testing::show(i.global)
                                  << ", local " << testing::show(i.local) << ", group "
                                  << testing::show(i.group) << ", sizes " << testing::show(i.global_size)
                                  << " / " << testing::show(i.local_size) << ", "
                                  << testing::show(i.group_count) << " groups, index " << i.local_index
                                  << ", " << i.visits << " visits";
                }
            }
        }
    }
    EXPECT_EQ(wrong, 0u);
    for (std::size_t k = n; k < got.size(); ++k) EXPECT_EQ(got[k].visits, 0u) << "beyond the grid";
}

VOLLEY_DEVICE_TEST(Grid, OfOneDimensionWithPartialWorkgroups) {
    for (const u32 n : {1u, 5u, 8u, 63u, 64u, 65u, 200u}) check_grid({{n, 1, 1}, {64, 1, 1}});
    check_grid({{100, 1, 1}, {1, 1, 1}});
    check_grid({{100, 1, 1}, {7, 1, 1}});
    check_grid({{1000, 1, 1}, {256, 1, 1}});
}

VOLLEY_DEVICE_TEST(Grid, OfTwoDimensionsWithPartialWorkgroups) {
    check_grid({{16, 16, 1}, {8, 8, 1}});
    check_grid({{17, 9, 1}, {8, 4, 1}});
    check_grid({{3, 50, 1}, {16, 2, 1}});
    check_grid({{1, 33, 1}, {1, 16, 1}});
    check_grid({{30, 7, 1}, {5, 3, 1}});
}

VOLLEY_DEVICE_TEST(Grid, OfThreeDimensionsWithPartialWorkgroups) {
    check_grid({{8, 8, 8}, {4, 4, 4}});
    check_grid({{9, 5, 7}, {4, 2, 3}});
    check_grid({{2, 3, 19}, {1, 1, 8}});
    check_grid({{13, 1, 3}, {3, 5, 2}});
}

VOLLEY_DEVICE_TEST(Grid, OfGroupsIsNeverPartial) {
    Buffer<u32> out(6 * 32);
    out.fill(0);
    kernel("groups",
           [](Buff<u32> d) {
               d[global_id().x] = group_id().x * 1000u + local_id().x + group_count().x * 100000u;
           })
        .groups(6)
        .local(32)(out);
    const auto got = out.read(0);
    for (u32 i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], i / 32 * 1000 + i % 32 + 600000) << i;
}

VOLLEY_DEVICE_TEST(Grid, ADeclaredLocalSizeHoldsForEveryLaunch) {
    Buffer<u32> out(100);
    auto run = kernel("declared", {.local = {16, 2}}, [](Buff<u32> d) {
        const auto id = global_id();
        d[id.y * global_size().x + id.x] = local_size().x * 100u + local_size().y * 10u + local_size().z;
    });
    run.over({25, 4})(out);
    EXPECT_EQ(out.read(0), std::vector<u32>(100, 1621));
    run.groups({1, 1})(out);
    EXPECT_EQ(out.read(0)[31], 1621u);
}

VOLLEY_DEVICE_TEST(Grid, OfZeroSizeDoesNothing) {
    Buffer<u32> out(10);
    out.fill(7);
    auto set = kernel("set", [](Buff<u32> d) { d[global_id().x] = 1u; });
    set.over(0)(out).wait();
    set.over({5, 0})(out).wait();
    set.over({0, 0, 0})(out).wait();
    set.groups(0).local(8)(out).wait();
    EXPECT_EQ(out.read(0), std::vector<u32>(10, 7));
    Buffer<u32> empty(0);
    set(empty).wait();
    set.over(10)(out);
    EXPECT_EQ(out.read(0), std::vector<u32>(10, 1));
}

}  // namespace
}  // namespace volley
