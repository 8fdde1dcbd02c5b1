// Subgroup operations with only some lanes active: partial subgroups, branches, loops that lanes leave one by
// one. A host model computes which lanes are active and each lane's result.
#include "support/device_fixture.hpp"
#include "support/device_map.hpp"
#include "support/host_model.hpp"

#include <functional>

namespace volley {
namespace {

/// The lanes of each subgroup of a grid, in order: lanes(i) returns the invocations of i's subgroup.
class Subgroups {
public:
    Subgroups(u32 size, u32 local, u32 width) : size_(size), local_(local), width_(width) {}

    [[nodiscard]] std::vector<u32> lanes(u32 i) const {
        const u32 group = i / local_ * local_;
        const u32 first = group + (i - group) / width_ * width_;
        std::vector<u32> result;
        for (u32 k = first; k < std::min({first + width_, group + local_, size_}); ++k) result.push_back(k);
        return result;
    }
    [[nodiscard]] std::vector<u32> active(u32 i, const std::function<bool(u32)>& takes_part) const {
        std::vector<u32> result;
        for (const u32 k : lanes(i)) {
            if (takes_part(k)) result.push_back(k);
        }
        return result;
    }
    [[nodiscard]] u32 lane(u32 i) const { return i - lanes(i)[0]; }

private:
    u32 size_, local_, width_;
};

struct GridAndGroup {
    u32 size, local;
};
/// Full and partial subgroups, and a last workgroup that is partial itself.
constexpr GridAndGroup launches[] = {{64, 64}, {42, 21}, {50, 20}, {37, 16}, {9, 1}};

VOLLEY_DEVICE_TEST(DivergentSubgroup, OperationsSeeTheLanesOfTheirBranch) {
    auto run = kernel("branches", [](Buff<uvec4> out, Buff<uvec4> ballots) {
        const auto i = global_id().x;
        const auto v = i * 3u + 1u;
        $if (i % 3u == 0u) {
            out[i] = make_vec(subgroup_add(v), subgroup_max(v), subgroup_inclusive_add(v),
                              subgroup_exclusive_min(v));
            ballots[i] = subgroup_ballot(i % 2u == 0u);
        }
        $else {
            $if (i % 5u < 3u) {
                out[i] = make_vec(subgroup_min(v), subgroup_xor(v), subgroup_exclusive_add(v),
                                  subgroup_inclusive_max(v));
                ballots[i] = subgroup_ballot(true);
            }
            $else {
                out[i] = make_vec(subgroup_add(1u + 0u * v), cast<u32>(subgroup_elect()), subgroup_or(v),
                                  subgroup_and(v));
            }
        }
    });
    for (const GridAndGroup& s : launches) {
        SCOPED_TRACE(std::to_string(s.size) + " by " + std::to_string(s.local));
        const Subgroups groups(s.size, s.local, lanes());
        Buffer<uvec4> out(s.size);
        Buffer<uvec4> ballots(s.size);
        ballots.fill(uvec4(0));
        run.over(s.size).local(s.local)(out, ballots);
        const auto got = out.read(0);
        const auto votes = ballots.read(0);
        const auto branch = [](u32 k) { return k % 3 == 0 ? 0 : k % 5 < 3 ? 1 : 2; };
        for (u32 i = 0; i < s.size; ++i) {
            const auto active = groups.active(i, [&](u32 k) { return branch(k) == branch(i); });
            u32 sum = 0, most = 0, least = ~0u, before = 0, least_before = ~0u, all = ~0u, any = 0, odd = 0,
                most_so_far = 0;
            uvec4 ballot(0);
            for (const u32 k : active) {
                const u32 v = k * 3 + 1;
                sum += v;
                most = std::max(most, v);
                least = std::min(least, v);
                all &= v;
                any |= v;
                odd ^= v;
                if (k < i) {
                    before += v;
                    least_before = std::min(least_before, v);
                }
                if (k <= i) most_so_far = std::max(most_so_far, v);
                if (branch(i) == 1 || (branch(i) == 0 && k % 2 == 0)) {
                    ballot[static_cast<int>(groups.lane(k) / 32)] |= 1u << (groups.lane(k) % 32);
                }
            }
            const u32 own = i * 3 + 1;
            const uvec4 want = branch(i) == 0 ? uvec4(sum, most, before + own, least_before)
                               : branch(i) == 1
                                   ? uvec4(least, odd, before, most_so_far)
                                   : uvec4(static_cast<u32>(active.size()), active[0] == i ? 1 : 0, any, all);
            EXPECT_TRUE(got[i] == want)
                << i << ": " << testing::show(got[i]) << ", not " << testing::show(want);
            EXPECT_TRUE(votes[i] == ballot)
                << i << ": " << testing::show(votes[i]) << ", not " << testing::show(ballot);
        }
    }
}

VOLLEY_DEVICE_TEST(DivergentSubgroup, LanesLeaveLoopsOneByOne) {
    auto run = kernel("loops", [](Buff<u32> out) {
        const auto i = global_id().x;
        Var<u32> history = 0u;
        $for (k, 0u, i % 6u) {
            $if (k + i % 4u == 5u) {
                $break;
            }
            history = history * 31u + subgroup_add(Value<u32>(1u)) * 7u + subgroup_exclusive_add(k + i);
        }
        out[i] = history + subgroup_add(Value<u32>(1u)) * 1000003u;  // reconverged
    });
    for (const GridAndGroup& s : launches) {
        SCOPED_TRACE(std::to_string(s.size) + " by " + std::to_string(s.local));
        const Subgroups groups(s.size, s.local, lanes());
        Buffer<u32> out(s.size);
        run.over(s.size).local(s.local)(out);
        const auto got = out.read(0);
        const auto rounds = [](u32 i) {
            for (u32 k = 0; k < i % 6; ++k) {
                if (k + i % 4 == 5) return k;
            }
            return i % 6;
        };
        for (u32 i = 0; i < s.size; ++i) {
            u32 history = 0;
            for (u32 k = 0; k < rounds(i); ++k) {
                const auto active = groups.active(i, [&](u32 other) { return k < rounds(other); });
                u32 before = 0;
                for (const u32 other : active) before += other < i ? k + other : 0;
                history = history * 31 + static_cast<u32>(active.size()) * 7 + before;
            }
            EXPECT_EQ(got[i], history + static_cast<u32>(groups.lanes(i).size()) * 1000003) << i;
        }
    }
}

VOLLEY_DEVICE_TEST(DivergentSubgroup, LanesThatHaveReturnedTakeNoPart) {
    constexpr u32 n = 60;
    Buffer<u32> out(n);
    out.fill(0);
    kernel("returned",
           [](Buff<u32> to) {
               const auto i = global_id().x;
               $if (i % 4u == 1u) {
                   $return;
               }
               to[i] = subgroup_add(i) * 2u + cast<u32>(subgroup_any(i % 4u == 1u));
           })
        .over(n)
        .local(20)(out);
    const Subgroups groups(n, 20, lanes());
    const auto got = out.read(0);
    for (u32 i = 0; i < n; ++i) {
        u32 sum = 0;
        for (const u32 k : groups.active(i, [](u32 k) { return k % 4 != 1; })) sum += k;
        EXPECT_EQ(got[i], i % 4 == 1 ? 0 : sum * 2) << i;
    }
}

VOLLEY_DEVICE_TEST(DivergentSubgroup, ShufflesReadActiveLanes) {
    constexpr u32 n = 55;
    Buffer<float> out(n);
    Buffer<u32> leaders(n);
    out.fill(-1);
    leaders.fill(99);
    kernel("shuffle",
           [](Buff<float> to, Buff<u32> leader) {
               const auto i = global_id().x;
               const auto lane = subgroup_lane();
               $if (lane % 2u == 0u) {
                   // Reads the next lower active lane.
                   const auto v = cast<float>(i) * 0.5f;
                   to[i] = subgroup_shuffle(v, select(lane >= 2u, lane - 2u, lane));
               }
               $if (i % 3u != 2u) {
                   const auto ballot = subgroup_ballot(true);
                   leader[i] = subgroup_shuffle(i, ctz(ballot.x));
               }
           })
        .over(n)
        .local(22)(out, leaders);
    const Subgroups groups(n, 22, lanes());
    const auto got = out.read(0);
    const auto led = leaders.read(0);
    for (u32 i = 0; i < n; ++i) {
        const u32 lane = groups.lane(i);
        EXPECT_EQ(got[i], lane % 2 == 1 ? -1.0f : static_cast<float>(lane >= 2 ? i - 2 : i) * 0.5f) << i;
        EXPECT_EQ(led[i], i % 3 == 2 ? 99 : groups.active(i, [](u32 k) { return k % 3 != 2; })[0]) << i;
    }
}

// Bool, products of vectors, and the identities of empty prefixes, in the types that the other tests omit.
template <class Wide>
void check_other_folds(u32 lanes) {
    using Pair = vec<Wide, 2>;
    constexpr u32 n = 40;
    Buffer<u32> flags(n);
    Buffer<Pair> products(n);
    Buffer<i16vec3> lowest(n);
    kernel("folds",
           [](Buff<u32> f, Buff<Pair> p, Buff<i16vec3> m) {
               const auto i = global_id().x;
               const auto c = i % 7u < 5u;
               Var<u32> bits = 0u;
               $if (i % 8u != 3u) {
                   bits = cast<u32>(subgroup_and(c)) + 2u * cast<u32>(subgroup_or(!c)) +
                          4u * cast<u32>(subgroup_xor(c)) + 8u * cast<u32>(subgroup_inclusive_and(c)) +
                          16u * cast<u32>(subgroup_exclusive_and(c)) +
                          32u * cast<u32>(subgroup_exclusive_or(c)) +
                          64u * cast<u32>(subgroup_inclusive_xor(c));
                   p[i] = subgroup_exclusive_mul(make_vec(cast<Wide>(i % 3u + 1u), Wide(-1)));
               }
               f[i] = bits;
               m[i] = subgroup_exclusive_max(cast<i16vec3>(make_vec(cast<i32>(i), -cast<i32>(i), 5)));
           })
        .over(n)
        .local(n)(flags, products, lowest);
    const Subgroups groups(n, n, lanes);
    const auto f = flags.read(0);
    const auto p = products.read(0);
    const auto m = lowest.read(0);
    for (u32 i = 0; i < n; ++i) {
        if (i % 8 != 3) {
            bool all = true, any = false, odd = false, all_to = true, all_before = true, any_before = false,
                 odd_to = false;
            Pair product(1);
            for (const u32 k : groups.active(i, [](u32 other) { return other % 8 != 3; })) {
                const bool c = k % 7 < 5;
                all = all && c;
                any = any || !c;
                odd = odd != c;
                if (k <= i) {
                    all_to = all_to && c;
                    odd_to = odd_to != c;
                }
                if (k < i) {
                    all_before = all_before && c;
                    any_before = any_before || c;
                    product *= Pair(Wide(k % 3 + 1), Wide(-1));
                }
            }
            const u32 want = (all ? 1u : 0u) + (any ? 2u : 0u) + (odd ? 4u : 0u) + (all_to ? 8u : 0u) +
                             (all_before ? 16u : 0u) + (any_before ? 32u : 0u) + (odd_to ? 64u : 0u);
            EXPECT_EQ(f[i], want) << i;
            EXPECT_TRUE(p[i] == product) << i << ": " << testing::show(p[i]);
        }
        const u32 first = groups.lanes(i)[0];
        const i16vec3 want =
            i == first ? i16vec3(std::numeric_limits<i16>::min())
                       : i16vec3(static_cast<i16>(i - 1), static_cast<i16>(-static_cast<int>(first)), 5);
        EXPECT_TRUE(m[i] == want) << i << ": " << testing::show(m[i]);
    }
}

VOLLEY_DEVICE_TEST(DivergentSubgroup, FoldsOfBoolAndVectors) {
    widest_float([this]<class Wide>() { check_other_folds<Wide>(lanes()); });
}

// The typical use: reduces a workgroup by subgroups, then through shared memory.
VOLLEY_DEVICE_TEST(DivergentSubgroup, ReducesAWorkgroupOfAnySize) {
    for (const u32 local : {1u, 6u, 16u, 33u, 100u}) {
        Buffer<u32> out(3);
        kernel("reduce",
               [local](Buff<u32> to) {
                   Shared<u32> s(local);
                   const auto part = subgroup_add(global_id().x + 1u);
                   $if (subgroup_elect()) {
                       s[subgroup_id()] = part;
                   }
                   barrier();
                   $if (local_id().x == 0u) {
                       Var<u32> sum = 0u;
                       $for (k, 0u, subgroup_count()) {
                           sum += s[k];
                       }
                       to[group_id().x] = sum;
                   }
               })
            .over(local * 3)
            .local(local)(out);
        const auto got = out.read(0);
        for (u32 g = 0; g < 3; ++g) {
            u32 sum = 0;
            for (u32 k = 0; k < local; ++k) sum += g * local + k + 1;
            EXPECT_EQ(got[g], sum) << "workgroup " << g << " of " << local;
        }
    }
}

}  // namespace
}  // namespace volley
