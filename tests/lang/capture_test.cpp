// Local constants that a lambda uses without capturing them, in every function of the language that takes a
// host number. That this compiles is the test: a function that took the number by reference would need a
// capture.
#include "traced.hpp"

namespace volley::test {
namespace {

struct Pair {
    float a;
    vec2 b;
};
VOLLEY_STRUCT(Pair, a, b)

TEST(Capture, IsNotNeededForLocalConstants) {
    constexpr u32 n = 4;
    constexpr int i = 3;
    constexpr float f = 2.0f;
    constexpr bool yes = true;
    const auto traced = lang::trace_kernel("numbers", [](Buff<float> x, Buff<u32> y, Buff<c64> z,
                                                         Buff<Pair> p, Const<float> v, Const<u32> w) {
        const auto g = global_id().x;
        // operators and indices
        x[n] = v * f + f / v - i;
        y[g] = (w & n) | (n ^ w) | (w % n) | (w >> n) | (n << w);
        $if (g < n && yes) {
            x[i] = f;
        }
        $elif (yes) {
            x[i] = -f;
        }
        // control flow
        $for (k, 0u, n) {
            x[k] = f;
        }
        $for (k, n, g) {
            x[k] = f;
        }
        $for (k, g, n) {
            x[k] = f;
        }
        $for (k, i, i) {
            x[k] = f;
        }
        $for (k, n, g, n) {
            x[k] = f;
        }
        $for (k, g, n, n) {
            x[k] = f;
        }
        $for (k, g, g, n) {
            x[k] = f;
        }
        $for (k, n, n, g) {
            x[k] = f;
        }
        $for (k, i, i, i) {
            x[k] = f;
        }
        $while (yes) {
            $break;
        }
        // functions of two and three arguments
        x[g] = min(v, f) + max(f, v) + atan2(v, f) + hypot(f, v) + fmod(v, f) + mod(v, f) + step(f, v);
        x[g] = pow(v, f) + pow(f, v);
        x[g] = fma(v, v, f) + fma(v, f, v) + fma(f, v, v) + fma(v, f, f) + fma(f, v, f) + fma(f, f, v);
        x[g] = clamp(v, f, f) + clip(v, f, v) + mix(v, v, f) + smoothstep(f, f, v);
        x[g] = select(g < n, f, f) + select(g < n, v, f) + select(g < n, f, v);
        x[g] = cast<float>(n) + cast<float>(i);
        // vectors, complex numbers and structs
        const auto pair = make_vec(v, f);
        x[g] = dot(pair, f) + distance(pair, f) + length(reflect(pair, f)) + pair[i - 2];
        x[g] = cross(make<vec3>(pair, f), make_vec(f, pair)).x;
        z[g] = make_complex(v, f) + polar(f, v) + pow(z[g], f) + pow(f, z[g]) + make<c64>(f, v) + z[g] * f;
        p[g] = make<Pair>(f, pair);
        // variables
        Var<u32> a = n;
        Var<float> b(f);
        Var c = n;
        const Value<u32> d = n;
        Var<vec2> e = f;
        a = n;
        a += n + c + d;
        b *= f;
        e = f;
        Array<float, n> array;
        array[n - 1] = b + e.x;
        array[i] = cast<float>(a);
        // memory
        Shared<float> row(n), plane(n, n), block(n, n, n);
        row[i] = f;
        plane[i][i] = f;
        plane(i, i) = f;
        block(i, i, i) = f;
        Shared<u32> counts(n);
        counts.atomic(i).add(n);
        y[n] = n;
        y(n, i) = n;
        y.atomic(n).compare_exchange(n, n);
        y.atomic(i, n).max(n);
        y[g] = y.extent(i);
        const auto [row_of, column_of] = unravel_index(g, n, n);
        y[ravel_index(std::array{row_of, column_of}, n, n)] = n;
        // subgroups and output
        y[g] = subgroup_broadcast(w, n) + subgroup_shuffle(w, n) + subgroup_shuffle_xor(w, n);
        print("{} {} {} {} {}", n, i, f, v, yes);
    });
    EXPECT_THAT(traced.to_string(), HasSubstr("print"));
}

TEST(Capture, OfAVariableBesideANumberDoesNotChangeTheResult) {
    const auto text = body_of([](Buff<vec2> out) {
        Var<float> v = 3.0f;
        out[0] = make_vec(v, 1.0f);
        v = 4.0f;
        out[1] = make<vec2>(v, 1.0f);
    });
    EXPECT_EQ(count_of(text, "store %0"), 2u) << text;
}

}  // namespace
}  // namespace volley::test
