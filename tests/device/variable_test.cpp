// Variables and local arrays: zero until stored to, reset at each declaration, of every type, with per-lane
// indices.
#include "support/device_fixture.hpp"
#include "support/device_map.hpp"

#include <numeric>
#include <utility>

namespace volley {
namespace {

using testing::expect_same;

VOLLEY_DEVICE_TEST(Variable, IsResetAtEachDeclaration) {
    constexpr u32 n = 41;
    Buffer<u32> out(n);
    kernel("anew", [](Buff<u32> to) {
        const auto i = global_id().x;
        Var<u32> v;
        $for (k, 0u, 4u) {
            Var<u32> fresh;
            Array<u32, 3> array;
            $if (i % 2u == 0u) {
                fresh += 1u;
                array[k % 3u] += 5u;
            }
            v = v * 100u + fresh + k + array[k % 3u];
        }
        to[i] = v;
    })(out);
    std::vector<u32> want;
    for (u32 i = 0; i < n; ++i) {
        u32 v = 0;
        for (u32 k = 0; k < 4; ++k) v = v * 100 + (i % 2 == 0 ? 6 : 0) + k;
        want.push_back(v);
    }
    expect_same(out.read(0), want);
}

VOLLEY_DEVICE_TEST(Variable, CopiesAreIndependent) {
    constexpr i32 n = 20;
    Buffer<i32> out(n);
    kernel("copies", [](Buff<i32> to) {
        const auto i = cast<i32>(global_id().x);
        Var<i32> a = i;
        Var<i32> b = a;          // another variable
        const Value<i32> c = a;  // the current value
        const auto d = a + 0;
        a = 100;
        b += 1;
        Var<i32> e = b;
        e = a;
        a = b;
        to[i] = a + b * 10 + c * 1000 + d * 100000 + e;
    }).over(n)(out);
    std::vector<i32> want;
    for (i32 i = 0; i < n; ++i) want.push_back((i + 1) * 11 + i * 101000 + 100);
    expect_same(out.read(0), want);
}

// A sorting network that uses std::swap in divergent control flow.
VOLLEY_DEVICE_TEST(Variable, TheStandardLibrarySwapsAndExchangesThem) {
    constexpr u32 n = 41;
    std::vector<vec3> values;
    for (u32 i = 0; i < n; ++i) values.emplace_back(float(i * 7 % 5), float(i * 3 % 7), float(i * 5 % 11));
    const Buffer<vec3> in = as_buffer(values);
    Buffer<vec3> out(n);
    Buffer<u32> turns(n);
    kernel("sort", [](Buff<const vec3> from, Buff<vec3> to, Buff<u32> turned) {
        const auto i = global_id().x;
        Var<vec3> v = from[i];
        Var<u32> now = 0u;
        const auto order = [](Var<float>& a, Var<float>& b) {
            $if (a > b) {
                std::swap(a, b);
            }
        };
        order(v.x, v.y);
        order(v.y, v.z);
        order(v.x, v.y);
        to[i] = v;
        const Value<u32> before = std::exchange(now, i);
        turned[i] = before * 100u + now;
    })(in, out, turns);
    std::vector<vec3> want = values;
    for (vec3& v : want) {
        if (v.x > v.y) std::swap(v.x, v.y);
        if (v.y > v.z) std::swap(v.y, v.z);
        if (v.x > v.y) std::swap(v.x, v.y);
    }
    expect_same(out.read(0), want);
    std::vector<u32> own(n);
    std::iota(own.begin(), own.end(), 0u);
    expect_same(turns.read(0), own);
}

struct Ray {
    Var<vec3> origin;
    Var<float> reach;
};

VOLLEY_DEVICE_TEST(Variable, StructsOfThemAreCopiedAndAssigned) {
    constexpr u32 n = 20;
    Buffer<float> out(n);
    kernel("rays", [](Buff<float> to) {
        const auto x = cast<float>(global_id().x);
        const auto from = [](const Value<float>& where) { return Ray{where * vec3(1, 2, 3), where + 1}; };
        Ray a = from(x);
        const Ray start = a;
        Ray b = a;
        b.reach += 100;
        a = from(x * 2);
        $if (x > 5) {
            a = b;
        }
        b = start;
        to[global_id().x] = a.reach + a.origin.z * 1000 + b.reach * 0.5;
    })(out);
    std::vector<float> want;
    for (u32 i = 0; i < n; ++i) {
        const auto x = static_cast<float>(i);
        want.push_back((i > 5 ? x + 101 + 3000 * x : 2 * x + 1 + 6000 * x) + (x + 1) * 0.5f);
    }
    expect_same(out.read(0), want);
}

template <class T>
void check_array() {
    constexpr u32 n = 75;
    Buffer<T> out(n);
    Buffer<T> sums(n);
    kernel("array", [](Buff<T> to, Buff<T> sum) {
        const auto i = global_id().x;
        Array<T, 7> a;
        $for (k, 0u, 6u) {
            a[(k * 3u + i) % 7u] = cast<T>(k + 1u);
        }
        to[i] = a[i * 5u % 7u];
        Array<T, 7> copy = a;
        a[3] = cast<T>(0);
        copy[i % 7u] += 1;
        Var<T> s = 0;
        $for (k, 0, 7) {
            s += copy[k];
        }
        for (u32 k = 0; k < 7; ++k) s += a[k];
        sum[i] = s;
    })(out, sums);
    std::vector<T> want, want_sums;
    for (u32 i = 0; i < n; ++i) {
        u32 a[7] = {};
        for (u32 k = 0; k < 6; ++k) a[(k * 3 + i) % 7] = k + 1;
        want.push_back(static_cast<T>(a[i * 5 % 7]));
        want_sums.push_back(static_cast<T>(21 + 1 + 21 - a[3]));
    }
    expect_same(out.read(0), want);
    expect_same(sums.read(0), want_sums);
}

VOLLEY_DEVICE_TEST(Variable, ArraysOfEveryScalarTakeComputedIndices) {
    each_type<i8, u16, u32, i64, f16, f32, f64>([]<class T>() { check_array<T>(); });
}

struct Item {
    u8 kind;
    vec2 place;
    u16 marks[3];
};
VOLLEY_STRUCT(Item, kind, place, marks)

VOLLEY_DEVICE_TEST(Variable, ArraysOfStructsAndVectorsAreChangedInPart) {
    constexpr u32 n = 33;
    Buffer<Item> out(n);
    Buffer<vec3> turned(n);
    kernel("parts", [](Buff<Item> to, Buff<vec3> t) {
        const auto i = global_id().x;
        Array<Item, 4> items;
        items[i % 4u].kind = cast<u8>(i);
        items[i % 4u].marks[i % 3u] = cast<u16>(i + 1u);
        items[2].place.y = 5.0f;
        $if (i % 2u == 1u) {
            items[(i + 1u) % 4u] = items[i % 4u];
        }
        to[i] = items[(i + 1u) % 4u];
        Array<vec3, 3> rows;
        $for (k, 0u, 3u) {
            rows[k][(k + i) % 3u] = cast<float>(k + 1u);
        }
        t[i] = rows[0] + rows[1] * 10.0f + rows[2] * 100.0f;
    })(out, turned);
    const auto got = out.read(0);
    const auto rows = turned.read(0);
    for (u32 i = 0; i < n; ++i) {
        Item items[4] = {};
        items[i % 4].kind = static_cast<u8>(i);
        items[i % 4].marks[i % 3] = static_cast<u16>(i + 1);
        items[2].place.y = 5;
        if (i % 2 == 1) items[(i + 1) % 4] = items[i % 4];
        const Item& want = items[(i + 1) % 4];
        EXPECT_EQ(got[i].kind, want.kind) << i;
        EXPECT_TRUE(got[i].place == want.place) << i;
        for (int k = 0; k < 3; ++k) EXPECT_EQ(got[i].marks[k], want.marks[k]) << i;
        vec3 row(0);
        row[static_cast<int>(i % 3)] += 1;
        row[static_cast<int>((i + 1) % 3)] += 20;
        row[static_cast<int>((i + 2) % 3)] += 300;
        EXPECT_TRUE(rows[i] == row) << i << ": " << testing::show(rows[i]);
    }
}

VOLLEY_DEVICE_TEST(Variable, ArraysMayBeLargeAndNested) {
    constexpr u32 n = 19;
    Buffer<u32> out(n);
    kernel("sieve", [](Buff<u32> to) {
        const auto i = global_id().x;
        Array<bool, 300> composite;
        Var<u32> primes = 0u;
        $for (k, 2u, 300u) {
            $if (!composite[k]) {
                ++primes;
                $for (m, k * 2u, 300u, k) {
                    composite[m] = true;
                }
            }
            $if (k >= i * 15u + 10u) {
                $break;
            }
        }
        Array<std::array<u32, 4>, 3> grid;
        $for (k, 0u, 12u) {
            grid[k / 4u][k % 4u] = k * i;
        }
        to[i] = primes * 1000u + grid[2][i % 4u];
    })(out);
    std::vector<u32> want;
    for (u32 i = 0; i < n; ++i) {
        u32 primes = 0;
        for (u32 k = 2; k < 300 && k <= i * 15 + 10; ++k) {
            bool prime = true;
            for (u32 d = 2; d * d <= k; ++d) prime = prime && k % d != 0;
            primes += prime ? 1 : 0;
        }
        want.push_back(primes * 1000 + (8 + i % 4) * i);
    }
    expect_same(out.read(0), want);
}

// Uniform, constant and varying indices access one array in divergent control flow.
VOLLEY_DEVICE_TEST(Variable, IndicesOfAllKindsAccessOneArray) {
    constexpr u32 n = 50;
    Buffer<u32> out(n);
    kernel("kinds", [](Buff<u32> to, Const<u32> u) {
        const auto i = global_id().x;
        Array<u32, 5> a = std::array<u32, 5>{10, 20, 30, 40, 50};
        a[u] += 1u;
        $if (i % 3u == 0u) {
            a[i % 5u] = 7u;
        }
        $else {
            a[0] = 8u;
            a[u] *= 2u;
        }
        to[i] = a[0] + a[u] * 1000u + a[(i + u) % 5u] * 1000000u;
    })(out, 3u);
    std::vector<u32> want;
    for (u32 i = 0; i < n; ++i) {
        u32 a[5] = {10, 20, 30, 41, 50};
        if (i % 3 == 0) {
            a[i % 5] = 7;
        } else {
            a[0] = 8;
            a[3] *= 2;
        }
        want.push_back(a[0] + a[3] * 1000 + a[(i + 3) % 5] * 1000000);
    }
    expect_same(out.read(0), want);
}

struct OnlyPlace {
    vec3 place;
};
VOLLEY_STRUCT(OnlyPlace, place)

// The first component is the same in all invocations, the others are not.
VOLLEY_DEVICE_TEST(Variable, OfAStructWithOneCompositeMember) {
    constexpr u32 n = 70;
    Buffer<float> out(n), copy(n);
    kernel("only_place", [](Buff<float> to, Buff<float> copied, Const<u32> u) {
        const auto i = global_id().x;
        Var<OnlyPlace> v = make<OnlyPlace>(make<vec3>(0.F, cast<float>(i), 1.F));
        to[i] = v.place[u % 3u];
        const Var<OnlyPlace> w = v;
        copied[i] = w.place.y;
    })(out, copy, 4u);
    std::vector<float> want;
    for (u32 i = 0; i < n; ++i) want.push_back(static_cast<float>(i));
    expect_same(out.read(0), want);
    expect_same(copy.read(0), want);
}

}  // namespace
}  // namespace volley
