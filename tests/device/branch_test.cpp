// Branches: nests in which each lane takes its own path, uniform and divergent conditions within each other,
// deep nests, and state on both sides.
#include "support/device_fixture.hpp"
#include "support/device_map.hpp"

namespace volley {
namespace {

/// A decision tree of `$if`s over the bits of `path`; each leaf mixes in its own number.
void decide(const Value<u32>& path, Var<u32>& result, u32 depth, u32 leaf) {
    if (depth == 0) {
        result = result * 3u + leaf;
        return;
    }
    $if ((path >> (depth - 1u)) % 2u == 1u) {
        decide(path, result, depth - 1, leaf * 2 + 1);
    }
    $else { decide(path, result, depth - 1, leaf * 2); }
    result += 1u;
}

VOLLEY_DEVICE_TEST(Branch, EveryLaneTakesItsOwnPathThroughATree) {
    constexpr u32 n = 200;
    constexpr u32 depth = 6;
    Buffer<u32> out(n);
    kernel("tree", [](Buff<u32> to) {
        const auto i = global_id().x;
        Var<u32> result = i;
        decide((i * 37u) % 64u, result, depth, 0);
        to[i] = result;
    })(out);
    std::vector<u32> want;
    for (u32 i = 0; i < n; ++i) want.push_back(i * 3 + (i * 37) % 64 + depth);
    EXPECT_EQ(out.read(0), want);
}

VOLLEY_DEVICE_TEST(Branch, NestsMayBeDeep) {
    Buffer<u32> out(150);
    kernel("deep", [](Buff<u32> to) {
        const auto i = global_id().x;
        Var<u32> depth = 0u;
        const auto dig = [&](auto self, u32 left) -> void {
            if (left == 0) return;
            $if (i >= 101u - left) {
                ++depth;
                self(self, left - 1);
            }
        };
        dig(dig, 100);
        to[i] = depth;
    })(out);
    const auto got = out.read(0);
    for (u32 i = 0; i < 150; ++i) EXPECT_EQ(got[i], std::min(i, 100u)) << i;
}

VOLLEY_DEVICE_TEST(Branch, UniformAndDivergentConditionsNestInEachOther) {
    constexpr u32 n = 90;
    auto run = kernel("mixed", [](Buff<i32> to, Const<bool> flag, Const<i32> limit) {
        const auto i = cast<i32>(global_id().x);
        Var<i32> v = 0;
        $if (flag) {
            $if (i % 3 == 0) {
                $if (limit > 5) {
                    v = 1;
                }
                $else { v = 2; }
            }
            $elif (i > limit) {
                v = 3;
            }
            v += 10;
        }
        $else {
            $if (i < limit) {
                v = 4;
                $if (!flag) {
                    v *= 2;
                }
            }
        }
        $if (limit == 40) {
            v += 100;
        }
        to[global_id().x] = v;
    });
    for (const bool flag : {false, true}) {
        for (const i32 limit : {3, 40}) {
            Buffer<i32> out(n);
            run(out, flag, limit);
            std::vector<i32> want;
            for (i32 i = 0; i < static_cast<i32>(n); ++i) {
                i32 v = 0;
                if (flag) {
                    if (i % 3 == 0)
                        v = limit > 5 ? 1 : 2;
                    else if (i > limit)
                        v = 3;
                    v += 10;
                } else if (i < limit) {
                    v = 8;
                }
                want.push_back(v + (limit == 40 ? 100 : 0));
            }
            EXPECT_EQ(out.read(0), want) << flag << " " << limit;
        }
    }
}

VOLLEY_DEVICE_TEST(Branch, LongElifChainsTakeTheFirstThatIsTrue) {
    constexpr u32 n = 64;
    Buffer<float> out(n);
    kernel("chain", [](Buff<float> to) {
        const auto i = global_id().x;
        const auto x = cast<float>(i) * 0.25f - 4.0f;
        Var<float> y = -1.0f;
        $if (x < -3) {
            y = 1.0f;
        }
        $elif (x < -2) {
            y = x * 2.0f;
        }
        $elif (i % 7u == 0u) {
            y = 3.0f;
        }
        $elif (x * x < 1) {
            y = x * x;
        }
        $elif (i > 50u) {
        }
        $else { y = 0.5f; }
        to[i] = y;
    })(out);
    const auto got = out.read(0);
    for (u32 i = 0; i < n; ++i) {
        const float x = static_cast<float>(i) * 0.25f - 4.0f;
        const float want = x < -3       ? 1.0f
                           : x < -2     ? x * 2
                           : i % 7 == 0 ? 3.0f
                           : x * x < 1  ? x * x
                           : i > 50     ? -1.0f
                                        : 0.5f;
        EXPECT_EQ(got[i], want) << i;
    }
}

// Both sides store to memory, to variables of several types and into arrays; only the taken side's stores may
// be visible.
template <class Wide>
void check_effects() {
    constexpr u32 n = 70;
    Buffer<u8> bytes(n);
    Buffer<Wide> wides(n);
    Buffer<vec3> vectors(n);
    bytes.fill(200);
    wides.fill(-1);
    vectors.fill(vec3(9));
    kernel("effects", [](Buff<u8> b, Buff<Wide> d, Buff<vec3> v) {
        const auto i = global_id().x;
        Var<bool> odd = i % 2u == 1u;
        Array<i16, 4> a;
        Var<half> h = half(1.0f);
        $if (odd) {
            b[i] = cast<u8>(i);
            a[i % 4u] = 5;
            v[i].y = 2.0f;
            odd = i % 3u == 0u;
        }
        $else {
            d[i] = 3.5;
            a[0] = 7;
            h = half(4.0f);
            v[i] = vec3(1, 1, 1);
        }
        $if (odd) {
            d[i] = cast<Wide>(a[i % 4u]) + cast<Wide>(h);
        }
    })(bytes, wides, vectors);
    const auto b = bytes.read(0);
    const auto d = wides.read(0);
    const auto v = vectors.read(0);
    for (u32 i = 0; i < n; ++i) {
        const bool odd = i % 2 == 1;
        EXPECT_EQ(b[i], odd ? i : 200u) << i;
        EXPECT_EQ(d[i], !odd ? 3.5 : i % 3 == 0 ? 6.0 : -1.0) << i;
        EXPECT_TRUE(v[i] == (odd ? vec3(9, 2, 9) : vec3(1))) << i << ": " << testing::show(v[i]);
    }
}

VOLLEY_DEVICE_TEST(Branch, OnlyTheTakenSideHasEffects) {
    widest_float([]<class Wide>() { check_effects<Wide>(); });
}

VOLLEY_DEVICE_TEST(Branch, LogicalOperatorsJoinConditions) {
    constexpr u32 n = 40;
    Buffer<u32> out(n);
    kernel("logic", [](Buff<u32> to) {
        const auto i = global_id().x;
        const auto low = i < 10u;
        const auto even = i % 2u == 0u;
        Var<u32> v = 0u;
        $if (low && even) {
            v |= 1u;
        }
        $if (low || even) {
            v |= 2u;
        }
        $if (!(low ^ even)) {
            v |= 4u;
        }
        $if (low == even && i != 4u) {
            v |= 8u;
        }
        $if (true) {
            v |= 16u;
        }
        $if (false) {
            v |= 32u;
        }
        to[i] = v;
    })(out);
    const auto got = out.read(0);
    for (u32 i = 0; i < n; ++i) {
        const bool low = i < 10;
        const bool even = i % 2 == 0;
        const u32 want = (low && even ? 1u : 0u) | (low || even ? 2u : 0u) | (low == even ? 4u : 0u) |
                         (low == even && i != 4 ? 8u : 0u) | 16u;
        EXPECT_EQ(got[i], want) << i;
    }
}

// Division by zero, out-of-range indices and endless loops must not happen on a side that a lane does not
// take.
VOLLEY_DEVICE_TEST(Branch, GuardsInvalidOperations) {
    constexpr u32 n = 61;
    std::vector<i32> divisors;
    for (i32 i = 0; i < static_cast<i32>(n); ++i) divisors.push_back(i % 4 == 0 ? 0 : i);
    Buffer<i32> out(n);
    out.fill(-1);
    kernel("guard", [](Buff<const i32> d, Buff<i32> to) {
        const auto i = global_id().x;
        const auto wild = i * 1000003u * 5003u;
        $if (d[i] != 0) {
            to[i] = 1000 / d[i];
        }
        $else {
            $if (wild < 61u) {
                to[wild] = 3;
            }
        }
        $if (i == 60u) {
            Var<i32> k = d[1];
            $while (k > 0) {
                k -= d[1];
            }
        }
    })(as_buffer(divisors), out);
    const auto got = out.read(0);
    for (u32 i = 1; i < n; ++i) EXPECT_EQ(got[i], divisors[i] != 0 ? 1000 / divisors[i] : -1) << i;
    EXPECT_EQ(got[0], 3);
}

}  // namespace
}  // namespace volley
