// Buffer accesses of every element type and pattern: contiguous, strided, reversed, interleaved, gathered and
// scattered, with indices of every type, guarded at the edges, and with one buffer bound twice.
#include "support/device_fixture.hpp"
#include "support/device_map.hpp"
#include "support/edge_values.hpp"

#include <algorithm>
#include <numeric>

namespace volley {
namespace {

using testing::expect_same;

/// Returns a different value for each k, in any type.
template <class T>
T nth(std::size_t k) {
    using S = lang::scalar_t<T>;
    const auto scalar = [](std::size_t v) -> S {
        if constexpr (std::is_same_v<S, bool>)
            return v % 3 == 1;
        else if constexpr (std::is_same_v<S, half>)
            return half(static_cast<float>(v % 2048));
        else
            return static_cast<S>(v);
    };
    if constexpr (lang::Scalar<T>)
        return scalar(k);
    else if constexpr (lang::is_complex<T>)
        return T(scalar(k), scalar(k + 1));
    else if constexpr (lang::is_matrix<T>) {
        T m;
        for (int c = 0; c < T::columns; ++c) {
            for (int r = 0; r < T::rows; ++r) m[c][r] = scalar(k + static_cast<std::size_t>(10 * c + r));
        }
        return m;
    } else {
        T v;
        for (int c = 0; c < T::size; ++c) v[c] = scalar(k + static_cast<std::size_t>(50 * c));
        return v;
    }
}

template <class T>
std::vector<T> sequence(std::size_t n) {
    std::vector<T> values;
    for (std::size_t k = 0; k < n; ++k) values.push_back(nth<T>(k));
    return values;
}

template <class T>
void check_patterns() {
    SCOPED_TRACE(dtype_of<T>().name());
    constexpr u32 n = 101;
    const auto in = sequence<T>(8 * n);
    constexpr u32 cases = 11;
    Buffer<T> out(cases * n);
    auto run = kernel("patterns", [](Buff<const T> x, Buff<T> y, Const<u32> count, Const<u32> offset) {
        const auto i = global_id().x;
        const auto put = [&](u32 k, const Value<T>& v) { y[i + count * k] = v; };
        put(0, x[i]);
        put(1, x[i + 5u]);
        put(2, x[i + offset]);
        put(3, x[count - 1u - i]);
        put(4, x[i * 2u + 1u]);
        put(5, x[i * 3u]);
        put(6, x[i * 7u + 2u]);
        put(7, x[offset]);
        put(8, x[3]);
        put(9, x[i / 4u]);
        put(10, x[(i * 37u) % count]);
    });
    run.over(n)(as_buffer(in), out, n, 13u);
    std::vector<T> want;
    const auto add = [&](auto index) {
        for (std::size_t i = 0; i < n; ++i) want.push_back(in[index(i)]);
    };
    add([](std::size_t i) { return i; });
    add([](std::size_t i) { return i + 5; });
    add([](std::size_t i) { return i + 13; });
    add([&](std::size_t i) { return n - 1 - i; });
    add([](std::size_t i) { return i * 2 + 1; });
    add([](std::size_t i) { return i * 3; });
    add([](std::size_t i) { return i * 7 + 2; });
    add([](std::size_t) { return 13; });
    add([](std::size_t) { return 3; });
    add([](std::size_t i) { return i / 4; });
    add([&](std::size_t i) { return i * 37 % n; });
    expect_same(out.read(0), want);
}

VOLLEY_DEVICE_TEST(Access, LoadsInEveryPatternOfScalars) {
    every_type<bool, i8, u16, i32, u64, f16, f32, f64>([]<class T>() { check_patterns<T>(); });
}
VOLLEY_DEVICE_TEST(Access, LoadsInEveryPatternOfComposites) {
    every_type<vec2, vec3, vec4, u8vec3, dvec2, c64, mat2x3>([]<class T>() { check_patterns<T>(); });
}

template <class T>
void check_stores() {
    SCOPED_TRACE(dtype_of<T>().name());
    constexpr u32 n = 89;
    const auto in = sequence<T>(n);
    const T mark = nth<T>(7);
    auto run = kernel(
        "stores", [](Buff<const T> x, Buff<T> reversed, Buff<T> strided, Buff<T> interleaved, Buff<T> some) {
            const auto i = global_id().x;
            const auto count = global_size().x;
            const auto v = Value<T>(x[i]);
            reversed[count - 1u - i] = v;
            strided[i * 3u + 1u] = v;
            interleaved[2u * i] = v;
            interleaved[2u * i + 1u] = x[count - 1u - i];
            $if (i % 3u != 1u) {
                some[(i * 5u) % count] = v;
            }
        });
    Buffer<T> reversed(n);
    Buffer<T> strided(3 * n);
    Buffer<T> interleaved(2 * n);
    Buffer<T> some(n);
    strided.fill(mark);
    some.fill(mark);
    run.over(n)(as_buffer(in), reversed, strided, interleaved, some);
    std::vector<T> a(n, mark), b(3 * n, mark), c(2 * n, mark), d(n, mark);
    for (std::size_t i = 0; i < n; ++i) {
        a[n - 1 - i] = in[i];
        b[3 * i + 1] = in[i];
        c[2 * i] = in[i];
        c[2 * i + 1] = in[n - 1 - i];
        if (i % 3 != 1) d[i * 5 % n] = in[i];
    }
    expect_same(reversed.read(0), a, "reversed");
    expect_same(strided.read(0), b, "strided");
    expect_same(interleaved.read(0), c, "interleaved");
    expect_same(some.read(0), d, "scattered");
}

VOLLEY_DEVICE_TEST(Access, StoresInEveryPatternOfScalars) {
    every_type<bool, u8, i16, f16, u32, f64>([]<class T>() { check_stores<T>(); });
}
VOLLEY_DEVICE_TEST(Access, StoresInEveryPatternOfComposites) {
    every_type<vec2, vec3, vec4, u8vec3, c128, mat3>([]<class T>() { check_stores<T>(); });
}

template <class I>
void check_index_type() {
    constexpr u32 n = 120;
    const auto in = sequence<u32>(n);
    std::vector<I> indices;
    for (u32 k = 0; k < n; ++k) indices.push_back(static_cast<I>((k * 77 + 5) % n));
    Buffer<u32> out(2 * n);
    kernel("indices", [](Buff<const u32> x, Buff<const I> index, Buff<u32> y) {
        const auto i = global_id().x;
        y[i] = x[index[i]];
        y[cast<I>(i) + 0] += 1u;
        y[i + 120u] = x[cast<I>(i)];
    }).over(n)(as_buffer(in), as_buffer(indices), out);
    std::vector<u32> want;
    for (u32 k = 0; k < n; ++k) want.push_back(in[static_cast<std::size_t>(indices[k])] + 1);
    for (u32 k = 0; k < n; ++k) want.push_back(k);
    expect_same(out.read(0), want);
}

VOLLEY_DEVICE_TEST(Access, TakesIndicesOfEveryType) {
    each_type<u8, i8, u16, i16, u32, i32, u64, i64>([]<class I>() { check_index_type<I>(); });
}

// Intermediate signed indices may be negative; unsigned ones wrap at their own width.
VOLLEY_DEVICE_TEST(Access, SignedIndicesAreSignExtended) {
    constexpr i32 n = 70;
    const auto in = sequence<u32>(n);
    Buffer<u32> out(n);
    out.fill(1000);
    kernel("signed", [](Buff<const u32> x, Buff<u32> y) {
        const auto i = cast<i32>(global_id().x);
        const auto before = i - 3;
        $if (before >= 0) {
            y[i] = x[before];
        }
        $elif (i == 1) {
            y[cast<i64>(i) - 1] = x[cast<i8>(i) + 4];
        }
    }).over(n)(as_buffer(in), out);
    std::vector<u32> want(n, 1000);
    want[0] = 5;
    for (std::size_t i = 3; i < n; ++i) want[i] = static_cast<u32>(i - 3);
    expect_same(out.read(0), want);
}

// The parts of a sum may be added to an address separately only if that gives the same element.
VOLLEY_DEVICE_TEST(Access, SumsOfIndicesWrapInAnyOrder) {
    constexpr u32 n = 200;
    const auto in = sequence<u32>(n);
    Buffer<u32> out(n), lines(n);
    out.fill(1000);
    static auto shift =
        kernel("shift", [](Buff<const u32> x, Buff<u32> y, Const<u32> back, Const<u32> forth) {
            const auto i = global_id().x;
            $if (i >= 37u && i < 190u) {
                // back and forth are -40 and 3, or less than a vector apart.
                y[i] = x[i + back + forth] + x[(i + 5u) + (back + 4u)] + x[back + (forth + (i - 1u)) + 30u];
            }
        });
    shift.over(n)(as_buffer(in), out, 0U - 40U, 3U);
    std::vector<u32> want(n, 1000);
    for (std::size_t i = 37; i < 190; ++i) want[i] = in[i - 37] + in[i - 31] + in[i - 8];
    expect_same(out.read(0), want);

    // Sums that are computed before a barrier, and used in a loop after it.
    static auto reverse =
        kernel("reverse", {.local = {40}}, [](Buff<const u32> x, Buff<u32> y, Const<u32> back) {
            Shared<u32> tile(40);
            const auto l = local_id().x;
            const auto first = group_id().x * 40u + 50u;
            const auto at = first + back + l;
            tile[l] = x[at];
            barrier();
            Var<u32> sum = 0u;
            $for (k, 0u, 5u) {
                sum += tile[39u - l] + x[at + k * 0u];
                barrier();
            }
            y[at] = sum;
        });
    reverse.groups(n / 40)(as_buffer(in), lines, 0U - 50U);
    for (u32 i = 0; i < n; ++i) want[i] = 5 * (in[i / 40 * 40 + 39 - i % 40] + in[i]);
    expect_same(lines.read(0), want);
}

VOLLEY_DEVICE_TEST(Access, ShiftsByOneAreGuardedAtTheEdges) {
    for (const u32 n : {1u, 2u, 3u, 7u, 8u, 9u, 31u, 100u, 1000u}) {
        const auto in = sequence<float>(n);
        Buffer<float> right(n);
        Buffer<float> left(n);
        Buffer<float> blur(n);
        right.fill(-1);
        left.fill(-1);
        static auto shift =
            kernel("shift", [](Buff<const float> x, Buff<float> r, Buff<float> l, Buff<float> b) {
                const auto i = global_id().x;
                const auto count = x.size();
                $if (i > 0u) {
                    r[i] = x[i - 1u];
                }
                $if (i + 1u < count) {
                    l[i] = x[i + 1u];
                }
                Var<float> sum = x[i];
                $if (i >= 2u) {
                    sum += x[i - 2u];
                }
                $if (i < count - 1u) {
                    sum += x[i + 1u];
                }
                b[i] = sum;
            });
        shift.over(n)(as_buffer(in), right, left, blur);
        std::vector<float> r(n, -1), l(n, -1), b(n);
        for (std::size_t i = 0; i < n; ++i) {
            if (i > 0) r[i] = in[i - 1];
            if (i + 1 < n) l[i] = in[i + 1];
            b[i] = in[i] + (i >= 2 ? in[i - 2] : 0) + (i + 1 < n ? in[i + 1] : 0);
        }
        expect_same(right.read(0), r, "right");
        expect_same(left.read(0), l, "left");
        expect_same(blur.read(0), b, "sum");
    }
}

VOLLEY_DEVICE_TEST(Access, NothingIsTouchedBeyondTheGrid) {
    auto increase = kernel("increase", [](Buff<u8> a, Buff<u32> b, Buff<vec3> c) {
        const auto i = global_id().x + 3u;
        a[i] += 1;
        b[i] = b[i] * 2u;
        c[i].y = 5.0f;
    });
    for (u32 n = 0; n < 70; n = n < 20 ? n + 1 : n + 7) {
        Buffer<u8> a(80);
        Buffer<u32> b(80);
        Buffer<vec3> c(80);
        a.fill(10);
        b.fill(20);
        c.fill(vec3(1));
        increase.over(n)(a, b, c);
        const auto x = a.read(0);
        const auto y = b.read(0);
        const auto z = c.read(0);
        for (u32 i = 0; i < 80; ++i) {
            const bool inside = i >= 3 && i < n + 3;
            ASSERT_EQ(x[i], inside ? 11 : 10) << i << " of " << n;
            ASSERT_EQ(y[i], inside ? 40u : 20u) << i << " of " << n;
            ASSERT_TRUE(z[i] == vec3(1, inside ? 5.0f : 1.0f, 1)) << i << " of " << n;
        }
    }
}

VOLLEY_DEVICE_TEST(Access, OneBufferBoundTwiceIsTheSameMemory) {
    constexpr u32 n = 67;
    Buffer<i32> data = as_buffer(std::vector<i32>(sequence<i32>(n)));
    Buffer<i32> out(n);
    kernel("alias", [](Buff<i32> a, Buff<i32> b, Buff<const i32> c, Buff<i32> y) {
        const auto i = global_id().x;
        const auto old = Value<i32>(b[i]);
        a[i] = old + 100;
        const auto fresh = Value<i32>(b[i]);
        b[i] = fresh * 2;
        a[i] += 1;
        y[i] = old + fresh * 1000 + c[i] * 1000000;
    })(data, data, data, out);
    std::vector<i32> want, left;
    for (i32 i = 0; i < static_cast<i32>(n); ++i) {
        const i32 fresh = i + 100;
        left.push_back(fresh * 2 + 1);
        want.push_back(i + fresh * 1000 + (fresh * 2 + 1) * 1000000);
    }
    expect_same(data.read(0), left);
    expect_same(out.read(0), want);
}

// Accesses both halves of one buffer through two parameters: reads of one lane next to writes of another.
VOLLEY_DEVICE_TEST(Access, HalvesOfOneBufferAreReadAndWritten) {
    constexpr u32 n = 64;
    Buffer<u32> data = as_buffer(sequence<u32>(2 * n));
    kernel("halves", [](Buff<const u32> x, Buff<u32> y) {
        const auto i = global_id().x;
        y[i + 64u] = x[63u - i] * 10u;
    }).over(n)(data, data);
    std::vector<u32> want = sequence<u32>(n);
    for (u32 i = 0; i < n; ++i) want.push_back((63 - i) * 10);
    expect_same(data.read(0), want);
}

VOLLEY_DEVICE_TEST(Access, ReadsSeeTheWritesBeforeThem) {
    constexpr u32 n = 45;
    Buffer<u32> data = as_buffer(sequence<u32>(n));
    Buffer<u32> out(n);
    kernel("order", [](Buff<u32> d, Buff<u32> y) {
        const auto i = global_id().x;
        const auto first = d[i];
        d[i] = 5u;
        const auto second = d[i];
        d[i] += i;
        $if (i % 2u == 0u) {
            d[i] *= 2u;
        }
        y[i] = first + 100u * second + 1000u * d[i];
    })(data, out);
    std::vector<u32> want;
    for (u32 i = 0; i < n; ++i) want.push_back(i + 500 + 1000 * ((5 + i) * (i % 2 == 0 ? 2 : 1)));
    expect_same(out.read(0), want);
}

VOLLEY_DEVICE_TEST(Access, KernelsReadTheSizeOfTheirBuffers) {
    Buffer<vec3> a(37);
    Buffer<u8> b({5, 9});
    a.fill(vec3(0));
    b.fill(0);
    Buffer<u64> out(4);
    kernel("sizes", [](Buff<vec3> x, Buff<const u8> y, Buff<u64> to) {
        to[0] = x.size64();
        to[1] = cast<u64>(x.size());
        to[2] = y.size64();
        to[3] = cast<u64>(y.size());
    }).over(1)(a, b, out);
    EXPECT_EQ(out.read(0), (std::vector<u64>{37, 37, 45, 45}));
}

VOLLEY_DEVICE_TEST(Access, RowsAndColumnsOfAGrid) {
    constexpr u32 w = 37;
    constexpr u32 h = 23;
    const auto in = sequence<float>(w * h);
    Buffer<float> transposed(w * h);
    Buffer<float> flipped(w * h);
    kernel("grid", [](Buff<const float> x, Buff<float> t, Buff<float> f) {
        const auto id = global_id();
        const auto size = global_size();
        const auto v = x[id.y * size.x + id.x];
        t[id.x * size.y + id.y] = v;
        f[id.y * size.x + (size.x - 1u - id.x)] = v;
    }).over({w, h})(as_buffer(in), transposed, flipped);
    std::vector<float> t(w * h), f(w * h);
    for (std::size_t y = 0; y < h; ++y) {
        for (std::size_t x = 0; x < w; ++x) {
            t[x * h + y] = in[y * w + x];
            f[y * w + w - 1 - x] = in[y * w + x];
        }
    }
    expect_same(transposed.read(0), t);
    expect_same(flipped.read(0), f);
}

// Sizes around those at which grids are split for threads and vectors.
VOLLEY_DEVICE_TEST(Access, LargeGridsAreCoveredOnce) {
    auto count = kernel("count", [](Buff<u32> d) { d[global_id().x] += global_id().x; });
    for (const u32 n : {4095u, 4096u, 65537u, device().backend == "reference" ? 70000u : 1000003u}) {
        Buffer<u32> data(n);
        data.fill(1);
        count(data);
        const auto got = data.read(0);
        std::size_t wrong = 0;
        for (u32 i = 0; i < n; ++i) wrong += got[i] != i + 1;
        EXPECT_EQ(wrong, 0u) << n;
    }
}

}  // namespace
}  // namespace volley
