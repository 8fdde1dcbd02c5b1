// Guards protect loads, as in C++: `a && b`, `a || b` and select(c, a, b) load only what they need. The
// indices are far out of bounds where the guard is false, so that an unguarded load crashes.
#include "support/device_fixture.hpp"

#include <numeric>

namespace volley {
namespace {

constexpr u32 guard_elements = 1000;  // not a multiple of any width

std::vector<float> ramp() {
    std::vector<float> values(guard_elements);
    std::iota(values.begin(), values.end(), 1.0f);
    return values;
}

template <class T>
Buffer<T> filled(const std::vector<T>& values) {
    Buffer<T> buffer(values.size());
    buffer.write(values);
    return buffer;
}

VOLLEY_DEVICE_TEST(Guard, SelectLoadsTheChosenArmOnly) {
    const Buffer<float> y = filled(ramp());
    Buffer<float> out(guard_elements);
    kernel("guards", [](Buff<const float> a, Buff<float> o) {
        const auto i = global_id().x;
        const auto left = select(i > 0u, a[i - 1u], 0.0f);
        const auto right = select(i + 1u < guard_elements, a[i + 1u], 0.0f);
        const auto far = select(i >= guard_elements / 2u, 1.0f,
                                a[i * 1000000u % (guard_elements + 1u) + select(i < 500u, 0u, 1u << 29u)]);
        o[i] = left + right + far * 0.0f;
    }).over(guard_elements)(y, out);
    const auto got = out.read(0);
    for (u32 i = 0; i < guard_elements; ++i) {
        const float left = i > 0 ? static_cast<float>(i) : 0.0f;
        const float right = i + 1 < guard_elements ? static_cast<float>(i + 2) : 0.0f;
        EXPECT_EQ(got[i], left + right) << i;
    }
}

VOLLEY_DEVICE_TEST(Guard, AndAndOrLoadTheRightSideOnlyIfNeeded) {
    const Buffer<float> y = filled(ramp());
    Buffer<u32> out(guard_elements);
    kernel("guards", [](Buff<const float> a, Buff<u32> o) {
        const auto i = global_id().x;
        Var<u32> bits = 0u;
        $if (i > 0u && a[i - 1u] > 10.0f) {
            bits |= 1u;
        }
        $if (i == 0u || a[(i - 1u) * 1u] > 20.0f) {
            bits |= 2u;
        }
        $if (i > 1u && a[i - 1u] > 30.0f && a[cast<u32>(a[i - 2u]) - 1u] > 31.0f) {
            bits |= 4u;
        }
        o[i] = bits;
    }).over(guard_elements)(y, out);
    const auto got = out.read(0);
    for (u32 i = 0; i < guard_elements; ++i) {
        const u32 expected = (i > 10 ? 1u : 0u) | (i == 0 || i > 20 ? 2u : 0u) | (i > 32 ? 4u : 0u);
        EXPECT_EQ(got[i], expected) << i;
    }
}

VOLLEY_DEVICE_TEST(Guard, ANamedLoadHasTheValueOfItsPlace) {
    const Buffer<float> y = filled(ramp());
    Buffer<float> out(guard_elements);
    kernel("guards", [](Buff<float> a, Buff<float> o) {
        const auto i = global_id().x;
        const auto old = a[i];
        a[i] = -1.0f;
        o[i] = select(i % 2u == 0u, old, 0.0f);
    }).over(guard_elements)(y, out);
    const auto got = out.read(0);
    for (u32 i = 0; i < guard_elements; ++i)
        EXPECT_EQ(got[i], i % 2 == 0 ? static_cast<float>(i + 1) : 0.0f) << i;
}

VOLLEY_DEVICE_TEST(Guard, WorksInLoops) {
    const Buffer<float> y = filled(ramp());
    Buffer<float> out(guard_elements);
    kernel("guards", [](Buff<const float> a, Buff<float> o) {
        const auto i = cast<i32>(global_id().x);
        Var<float> sum = 0.0f;
        $for (k, -20, 21) {
            const auto at = i + k * 1000;
            sum += select(at >= 0 && at < static_cast<i32>(guard_elements), a[at], 0.5f);
        }
        o[i] = sum;
    }).over(guard_elements)(y, out);
    const auto got = out.read(0);
    for (u32 i = 0; i < guard_elements; ++i) EXPECT_EQ(got[i], static_cast<float>(i + 1) + 20.0f) << i;
}

VOLLEY_DEVICE_TEST(Guard, LoadsOfAWhileConditionStopInTime) {
    const Buffer<float> y = filled(ramp());
    Buffer<u32> out(guard_elements);
    kernel("guards", [](Buff<const float> a, Buff<u32> o) {
        const auto i = global_id().x;
        Var<u32> at = i;
        $while (at < guard_elements && a[at] < 990.0f) {
            at += 100000u;
        }
        o[i] = at;
    }).over(guard_elements)(y, out);
    const auto got = out.read(0);
    for (u32 i = 0; i < guard_elements; ++i) EXPECT_EQ(got[i], i + 1 < 990 ? i + 100000 : i) << i;
}

VOLLEY_DEVICE_TEST(Guard, CoversVectorsAndComplexNumbers) {
    std::vector<vec4> points(guard_elements);
    std::vector<c64> numbers(guard_elements);
    for (u32 i = 0; i < guard_elements; ++i) {
        const auto f = static_cast<float>(i);
        points[i] = vec4(f, f + 1, f + 2, f + 3);
        numbers[i] = c64(f, -f);
    }
    const Buffer<vec4> p = filled(points);
    const Buffer<c64> z = filled(numbers);
    Buffer<vec4> out(guard_elements);
    kernel("guards", [](Buff<const vec4> a, Buff<const c64> b, Buff<vec4> o) {
        const auto i = global_id().x;
        const auto v = select(i > 2u, a[i - 3u], Value<vec4>(vec4(0, 0, 0, 0)));
        const auto c = select(i + 4u < guard_elements, b[i + 4u], Value<c64>(c64(0, 0)));
        const auto part = select(i >= 100u, a[i - 100u].z, 0.0f);
        o[i] = v + make_vec(real(c), imag(c), part, 0.0f);
    }).over(guard_elements)(p, z, out);
    const auto got = out.read(0);
    for (u32 i = 0; i < guard_elements; ++i) {
        vec4 v = i > 2 ? points[i - 3] : vec4(0, 0, 0, 0);
        const float c = i + 4 < guard_elements ? static_cast<float>(i + 4) : 0.0f;
        v = vec4(v.x + c, v.y - c, v.z + (i >= 100 ? points[i - 100].z : 0.0f), v.w);
        EXPECT_TRUE(got[i] == v) << i << ": " << testing::show(got[i]);
    }
}

VOLLEY_DEVICE_TEST(Guard, CoversPositions) {
    constexpr u32 h = 37;
    constexpr u32 w = 53;
    Buffer<float> image({h, w});
    Buffer<float> out({h, w});
    std::vector<float> values(h * w);
    std::iota(values.begin(), values.end(), 0.0f);
    image.write(values);
    kernel("guards", [](Buff<const float> a, Buff<float> o) {
        const auto x = global_id().x;
        const auto y = global_id().y;
        const auto up = select(y > 0u, a(y - 1u, x), 0.0f);
        const auto down = select(y + 1u < h, a(y + 1u, x), 0.0f);
        const auto left = select(x > 0u, a(y, x - 1u), 0.0f);
        const auto right = select(x + 1u < w, a(y, x + 1u), 0.0f);
        o(y, x) = up + down + left + right;
    }).over(out)(image, out);
    const auto got = out.read(0);
    for (u32 y = 0; y < h; ++y) {
        for (u32 x = 0; x < w; ++x) {
            const auto at = [&](u32 r, u32 c) { return r < h && c < w ? values[r * w + c] : 0.0f; };
            EXPECT_EQ(got[y * w + x], at(y - 1, x) + at(y + 1, x) + at(y, x - 1) + at(y, x + 1))
                << y << " " << x;
        }
    }
}

VOLLEY_DEVICE_TEST(Guard, CoversSharedMemoryAndArrays) {
    constexpr u32 group = 64;
    Buffer<float> out(group * 4);
    kernel("guards",
           [](Buff<float> o) {
               Shared<float> line(group);
               const auto l = local_id().x;
               line[l] = cast<float>(l);
               barrier();
               const auto left = select(l > 0u, line[(l - 1u) * 1u], 100.0f);
               const auto far = select(l + 32u < group, line[l + 32u], 0.0f);
               Array<float, 4> mine;
               $for (k, 0u, 4u) {
                   mine[k] = cast<float>(k);
               }
               o[global_id().x] = left + far + select(l < 4u, mine[l], 0.0f);
           })
        .local(group)
        .over(group * 4)(out);
    const auto got = out.read(0);
    for (u32 i = 0; i < group * 4; ++i) {
        const u32 l = i % group;
        const float expected = (l > 0 ? static_cast<float>(l - 1) : 100.0f) +
                               (l + 32 < group ? static_cast<float>(l + 32) : 0.0f) +
                               (l < 4 ? static_cast<float>(l) : 0.0f);
        EXPECT_EQ(got[i], expected) << i;
    }
}

}  // namespace
}  // namespace volley
