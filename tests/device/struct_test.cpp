// Structs in the host's layout: holes, odd alignments, members of every kind, nesting, arrays, and partial
// updates.
#include "support/device_fixture.hpp"

#include <volley/volley.hpp>

#include <bit>
#include <cstring>
#include <type_traits>

namespace volley::testing {

struct Odd {
    i8 a;
    double b;
    i16 c;
    vec3 d;
    bool e;
    u64 f;
    half g;
};
VOLLEY_STRUCT(Odd, a, b, c, d, e, f, g)

struct Inner {
    u8 tag;
    vec<float, 2> at;
    std::complex<float> z;
};
VOLLEY_STRUCT(Inner, tag, at, z)

struct Outer {
    Inner first;
    i32 values[5];
    Inner pair[2];
    mat2x3 m;
    i8 last;
};
VOLLEY_STRUCT(Outer, first, values, pair, m, last)

struct alignas(32) Wide {
    float x;
    u8 y;
};
VOLLEY_STRUCT(Wide, x, y)

struct Packed {
    u8 r, g, b;
};
VOLLEY_STRUCT(Packed, r, g, b)

// Has a member that kernels do not declare.
struct Partial {
    i32 seen;
    i32 hidden;
    float also;
};
VOLLEY_STRUCT(Partial, seen, also)

namespace {

// Sums all members; a device without f64 only copies that member.
template <class Wide>
void check_members() {
    constexpr u32 n = 37;
    std::vector<Odd> values(n);
    for (u32 i = 0; i < n; ++i) {
        const auto f = static_cast<float>(i);
        values[i] = {static_cast<i8>(-static_cast<int>(i)),
                     f * 1.5,
                     static_cast<i16>(i * 100),
                     {f, f + 1, f + 2},
                     i % 2 == 0,
                     u64{i} << 40,
                     half(f)};
    }
    Buffer<Odd> data = as_buffer(values);
    Buffer<Wide> sums(n);
    Buffer<u64> bits(n);
    kernel("members", [](Buff<Odd> d, Buff<Wide> s, Buff<u64> b) {
        const auto i = global_id().x;
        const auto o = d[i];
        s[i] = cast<Wide>(o.a) + cast<Wide>(o.c) + cast<Wide>(o.d.x + o.d.y + o.d.z) + cast<Wide>(o.e) +
               cast<Wide>(o.f >> 40u) + cast<Wide>(o.g);
        if constexpr (std::is_same_v<Wide, f64>) s[i] += o.b;
        b[i] = bit_cast<u64>(o.b);
        d[i].d.y = -1.0f;
        d[i].e = !o.e;
        d[i].c += 1;
        d[i].g = o.g * half(2.0f);
    }).over(n)(data, sums, bits);
    const auto actual = data.read(0);
    const auto s = sums.read(0);
    const auto b = bits.read(0);
    for (u32 i = 0; i < n; ++i) {
        const double f = i;
        const double f64_member = std::is_same_v<Wide, f64> ? values[i].b : 0;
        EXPECT_EQ(s[i], -f + f64_member + f * 100 + 3 * f + 3 + (i % 2 == 0 ? 1 : 0) + f + f) << i;
        EXPECT_EQ(b[i], std::bit_cast<u64>(values[i].b)) << i;
        EXPECT_EQ(actual[i].a, values[i].a);
        EXPECT_EQ(actual[i].b, values[i].b);
        EXPECT_EQ(actual[i].c, values[i].c + 1);
        EXPECT_EQ(actual[i].d, vec3(values[i].d.x, -1, values[i].d.z));
        EXPECT_EQ(actual[i].e, !values[i].e);
        EXPECT_EQ(actual[i].f, values[i].f);
        EXPECT_EQ(float(actual[i].g), 2 * float(values[i].g));
    }
}

VOLLEY_DEVICE_TEST(Struct, MembersHaveTheHostsOffsets) {
    widest_float([]<class Wide>() { check_members<Wide>(); });
}

VOLLEY_DEVICE_TEST(Struct, NestedStructsArraysAndMatrices) {
    constexpr u32 n = 9;
    std::vector<Outer> values(n);
    for (u32 i = 0; i < n; ++i) {
        Outer& o = values[i];
        const auto f = static_cast<float>(i);
        o.first = {static_cast<u8>(i), {f, -f}, {f, 1}};
        for (int k = 0; k < 5; ++k) o.values[k] = static_cast<int>(i) * 10 + k;
        o.pair[0] = {1, {f, 1}, {0, f}};
        o.pair[1] = {2, {f, 2}, {1, f}};
        o.m[0] = {f, 1, 2};
        o.m[1] = {3, 4, f};
        o.last = static_cast<i8>(i);
    }
    Buffer<Outer> data = as_buffer(values);
    kernel("nested", [](Buff<Outer> d) {
        const auto i = global_id().x;
        const auto k = i % 5;
        d[i].values[k] = d[i].values[4 - k] + 1000;
        d[i].pair[i % 2].at.y = 99.0f;
        d[i].pair[1 - i % 2].z = d[i].first.z * 2.0f;
        d[i].m[1] = d[i].m[0] + d[i].m[1];
        d[i].first = d[i].pair[0];
        d[i].last = d[i].last + 1;
    }).over(n)(data);
    const auto actual = data.read(0);
    for (u32 i = 0; i < n; ++i) {
        Outer o = values[i];
        o.values[i % 5] = o.values[4 - i % 5] + 1000;
        o.pair[i % 2].at.y = 99;
        o.pair[1 - i % 2].z = o.first.z * 2.0f;
        o.m[1] = o.m[0] + o.m[1];
        o.first = o.pair[0];
        o.last = static_cast<i8>(o.last + 1);
        for (int k = 0; k < 5; ++k) ASSERT_EQ(actual[i].values[k], o.values[k]) << i;
        for (int k = 0; k < 2; ++k) {
            ASSERT_EQ(actual[i].pair[k].tag, o.pair[k].tag) << i;
            ASSERT_EQ(actual[i].pair[k].at, o.pair[k].at) << i;
            ASSERT_EQ(actual[i].pair[k].z, o.pair[k].z) << i;
        }
        ASSERT_EQ(actual[i].m, o.m) << i;
        ASSERT_EQ(actual[i].first.at, o.first.at) << i;
        ASSERT_EQ(actual[i].last, o.last) << i;
    }
}

VOLLEY_DEVICE_TEST(Struct, WholeStructsAreCopiedSelectedAndConstructed) {
    Buffer<Packed> data =
        as_buffer(std::vector<Packed>{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}, {13, 14, 15}});
    Buffer<Packed> out(5);
    kernel("whole", [](Buff<const Packed> d, Buff<Packed> result) {
        const auto i = global_id().x;
        Var<Packed> p = d[i];
        p.g = cast<u8>(i);
        const auto made = make<Packed>(p.b, p.g, p.r);
        result[i] = select(i % 2 == 0, Value<Packed>(p), made);
    })(data, out);
    const auto actual = out.read(0);
    for (u32 i = 0; i < 5; ++i) {
        const auto r = static_cast<u8>(i * 3 + 1), b = static_cast<u8>(i * 3 + 3);
        EXPECT_EQ(actual[i].r, i % 2 == 0 ? r : b) << i;
        EXPECT_EQ(actual[i].g, i) << i;
        EXPECT_EQ(actual[i].b, i % 2 == 0 ? b : r) << i;
    }
}

VOLLEY_DEVICE_TEST(Struct, OveralignedStructsKeepTheirStride) {
    static_assert(sizeof(Wide) == 32);
    std::vector<Wide> values(19);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = {static_cast<float>(i), static_cast<u8>(i)};
    Buffer<Wide> data = as_buffer(values);
    kernel("wide", [](Buff<Wide> d) {
        const auto i = global_id().x;
        d[i].x = d[i].x * 2.0f;
        d[i].y = d[i].y + 1;
    })(data);
    const auto actual = data.read(0);
    for (std::size_t i = 0; i < values.size(); ++i) {
        EXPECT_EQ(actual[i].x, 2 * values[i].x);
        EXPECT_EQ(actual[i].y, values[i].y + 1);
    }
}

VOLLEY_DEVICE_TEST(Struct, UndeclaredMembersKeepTheirBytes) {
    Buffer<Partial> data = as_buffer(std::vector<Partial>(11, Partial{1, 12345, 2.0f}));
    kernel("partial", [](Buff<Partial> d) {
        const auto i = global_id().x;
        d[i].seen = 7;
        d[i].also = 8.0f;
    })(data);
    for (const Partial& p : data.read(0)) {
        EXPECT_EQ(p.seen, 7);
        EXPECT_EQ(p.hidden, 12345);
        EXPECT_EQ(p.also, 8.0f);
    }
}

VOLLEY_DEVICE_TEST(Struct, StructsAreArguments) {
    Outer o{};
    o.first.at = {3, 4};
    for (int k = 0; k < 5; ++k) o.values[k] = k * k;
    o.m[1] = {1, 2, 3};
    Buffer<float> out(5);
    kernel("argument", [](Buff<float> d, Const<Outer> p) {
        const auto i = global_id().x;
        d[i] = cast<float>(p.values[i]) + p.first.at.y + p.m[1].z;
    })(out, o);
    EXPECT_EQ(out.read(0), (std::vector<float>{7, 8, 11, 16, 23}));
}

VOLLEY_DEVICE_TEST(Struct, AtomicsActOnMembers) {
    Buffer<Partial> data = as_buffer(std::vector<Partial>(2, Partial{0, 5, 0.0f}));
    kernel("members", [](Buff<Partial> d) {
        const auto i = global_id().x;
        atomic(d[i % 2].seen).add(1);
        atomic(d[i % 2].also).add(0.5f);
    }).over(1000)(data);
    for (const Partial& p : data.read(0)) {
        EXPECT_EQ(p.seen, 500);
        EXPECT_EQ(p.hidden, 5);
        EXPECT_EQ(p.also, 250.0f);
    }
}

VOLLEY_DEVICE_TEST(Struct, ValueIsAParameterTypeLikeConst) {
    constexpr u32 n = 20;
    Buffer<float> by_value(n), by_const(n);
    auto value = kernel("value", [](Buff<float> out, Value<float> a, Value<vec3> v, const Value<Packed>& p) {
        const auto i = global_id().x;
        out[i] = a * cast<float>(i) + v.y + cast<float>(p.b);
    });
    auto constant = kernel("constant", [](Buff<float> out, Const<float> a, Const<vec3> v, Const<Packed> p) {
        const auto i = global_id().x;
        out[i] = a * cast<float>(i) + v.y + cast<float>(p.b);
    });
    value(by_value, 2, vec3(1.0f, 4.0f, 9.0f), Packed{1, 2, 3});
    constant(by_const, 2, vec3(1.0f, 4.0f, 9.0f), Packed{1, 2, 3});
    std::vector<float> expected(n);
    for (u32 i = 0; i < n; ++i) expected[i] = 2.0f * static_cast<float>(i) + 7.0f;
    EXPECT_EQ(by_value.read(0), expected);
    EXPECT_EQ(by_const.read(0), expected);
}

VOLLEY_DEVICE_TEST(Struct, AValueParameterTakesADynamicValue) {
    Buffer<u32> out(8);
    out.zero();
    auto add = kernel("add", [](Buff<u32> data, Value<u32> x) { data[global_id().x] += x; });
    auto graph = record([&] {
        add(out, dyn<u32>("x"));
        add(out, 100u);
    });
    graph.bind("x", {1u, 20u});
    graph.submit({.instances = 2});
    EXPECT_EQ(out.read(0), std::vector<u32>(8, 221));
}

}  // namespace
}  // namespace volley::testing
