// Stores of some lanes of a subgroup to consecutive elements.
#include "support/device_fixture.hpp"

#include <array>

namespace volley {
namespace {

/// Calls f(first element of the subgroup, invocations of the subgroup) for a grid of workgroups of one
/// subgroup.
template <class F>
void each_subgroup(u32 size, u32 width, F&& f) {
    for (u32 first = 0; first < size; first += width) {
        std::vector<u32> invocations;
        for (u32 i = first; i < std::min(first + width, size); ++i) invocations.push_back(i);
        f(first, invocations);
    }
}

bool is_active(u32 i) { return i % 5 != 0; }
bool is_taken(u32 i) { return i % 3 != 1 || i % 32 >= 20; }

VOLLEY_DEVICE_TEST(PackedStore, KeepsTheOrderOfLanes) {
    const u32 width = lanes(), size = 8 * width + width / 2;
    every_type<i8, u16, f16, float, i64, double, bool>([&]<class T>() {
        auto pack = kernel("pack", [](Buff<const T> in, Buff<T> out, Buff<u32> places, Const<u32> n) {
            const auto i = global_id().x;
            const auto first = group_id().x * n;
            $if (i % 5u != 0u) {
                const auto taken = i % 3u != 1u || i % 32u >= 20u;
                const auto at = first + subgroup_exclusive_add(select(taken, 1u, 0u));
                $if (taken) {
                    out[at] = in[i];
                    places[at + 1u] = i;
                }
            }
        });
        std::vector<T> data(size), expected(size);
        std::vector<u32> places(size + 1, 9999);
        for (u32 i = 0; i < size; ++i) data[i] = static_cast<T>(static_cast<float>(i % 97));
        each_subgroup(size, width, [&](u32 first, const std::vector<u32>& invocations) {
            u32 at = first;
            for (const u32 i : invocations) {
                if (!is_active(i) || !is_taken(i)) continue;
                expected[at] = data[i];
                places[++at] = i;
            }
        });
        const Buffer<T> in = as_buffer(data);
        Buffer<T> out(size);
        Buffer<u32> numbers(size + 1);
        out.fill(T{});
        numbers.fill(9999);
        pack.local(width).over(size)(in, out, numbers, width);
        EXPECT_EQ(out.read(0), expected);
        EXPECT_EQ(numbers.read(0), places);
    });
}

// Lanes that are counted, but do not store, leave gaps.
VOLLEY_DEVICE_TEST(PackedStore, LeavesGapsForLanesThatHaveReturned) {
    const u32 width = lanes(), size = 8 * width;
    auto pack = kernel("pack with gaps", [](Buff<u32> out, Buff<u32> sums, Const<u32> n) {
        const auto i = global_id().x;
        const auto first = group_id().x * n;
        const auto taken = i % 3u != 1u;
        const auto rank = subgroup_exclusive_add(cast<u32>(taken));
        $if (i % 7u == 2u) {
            $return;
        }
        $if (taken) {
            out[first + rank] = i;
        }
        $else { sums[first + rank + i % 2u] = i; }
    });
    Buffer<u32> out(size), sums(size + 1);
    out.fill(9999);
    pack.local(width).over(size)(out, sums, width);
    std::vector<u32> expected(size, 9999);
    each_subgroup(size, width, [&](u32 first, const std::vector<u32>& invocations) {
        u32 rank = 0;
        for (const u32 i : invocations) {
            if (i % 3 == 1) continue;
            if (i % 7 != 2) expected[first + rank] = i;
            ++rank;
        }
    });
    EXPECT_EQ(out.read(0), expected);
}

}  // namespace
}  // namespace volley
