// The functions of the language: their operations, and the results of those that consist of several
// operations.
#include "ir/hash.hpp"
#include "ir/parser.hpp"
#include "lang/evaluate.hpp"

#include <volley/slice.hpp>

#include <complex>
#include <numbers>
#include <random>

namespace elsewhere {

// Argument-dependent lookup finds `all` without a using directive.
volley::Value<bool> whether_all(const volley::Value<volley::bvec3>& v) { return all(v); }

}  // namespace elsewhere

namespace volley::test {
namespace {

using F = Value<double>;
using C = std::complex<double>;

void expect_near(const std::vector<double>& values, const std::vector<double>& expected,
                 double tolerance = 1e-12) {
    ASSERT_EQ(values.size(), expected.size());
    for (std::size_t k = 0; k < values.size(); ++k) {
        if (std::isnan(expected[k])) {
            EXPECT_TRUE(std::isnan(values[k])) << k;
        } else {
            EXPECT_NEAR(values[k], expected[k], tolerance * (1 + std::abs(expected[k]))) << k;
        }
    }
}

void expect_complex(const std::vector<double>& value, C expected) {
    expect_near(value, {expected.real(), expected.imag()});
}

TEST(Functions, OneOperationEach) {
    const std::string text = body_of([](Const<float> x, Const<vec3> v, Const<u32> n, Buff<float> out) {
        out[0] = abs(x) + sign(x) + floor(x) + ceil(x) + trunc(x) + round(x) + round_even(x) + sqrt(x);
        out[1] = rsqrt(x) + inversesqrt(x) + cbrt(x) + sin(x) + cos(x) + tan(x) + asin(x) + acos(x) + atan(x);
        out[2] = sinh(x) + cosh(x) + tanh(x) + asinh(x) + acosh(x) + atanh(x) + exp(x) + exp2(x) + exp10(x);
        out[3] = expm1(x) + log(x) + log2(x) + log10(x) + log1p(x) + atan2(x, 1) + hypot(1, x) + pow(x, 3);
        out[4] = fma(x, 2, 1) + min(x, 0) + max(0, x) + fmod(x, 3);
        out[5] = cast<float>(popcount(n) + clz(n) + ctz(n) + reverse_bits(n));
        out[6] = select(isnan(x) || isinf(x), 1.f, 0.f);
        out[7] = sin(v).x + min(v, 1).y + pow(v, x).z;
    });
    for (const char* op :
         {"abs",  "sign",     "floor", "ceil",  "trunc",        "round", "round_even", "sqrt",  "rsqrt",
          "cbrt", "sin",      "cos",   "tan",   "asin",         "acos",  "atan",       "sinh",  "cosh",
          "tanh", "asinh",    "acosh", "atanh", "exp",          "exp2",  "exp10",      "expm1", "log",
          "log2", "log10",    "log1p", "atan2", "hypot",        "pow",   "fma",        "min",   "max",
          "rem",  "popcount", "clz",   "ctz",   "reverse_bits", "isnan", "isinf"}) {
        EXPECT_THAT(text, HasSubstr(std::string(" = ") + op + " ")) << op;
    }
    EXPECT_THAT(text, HasSubstr(": vec3<f32>"));
}

TEST(Functions, OfRealNumbers) {
    expect_near(evaluate([] { return fract(F(-1.25)); }), {0.75});
    expect_near(evaluate([] { return mod(F(-1.25), 1); }), {0.75});
    expect_near(evaluate([] { return mod(F(5.5), -2); }), {-0.5});
    expect_near(evaluate([] { return clamp(F(5), 0, 1); }), {1});
    expect_near(evaluate([] { return clip(F(-5), 0, 1); }), {0});
    expect_near(evaluate([] { return mix(F(2), 4, 0.25); }), {2.5});
    expect_near(evaluate([] { return step(1, F(0.5)); }), {0});
    expect_near(evaluate([] { return step(F(1), 1); }), {1});
    expect_near(evaluate([] { return smoothstep(0, 2, F(0.5)); }), {0.15625});
    expect_near(evaluate([] { return radians(F(180)); }), {std::numbers::pi});
    expect_near(evaluate([] { return degrees(F(std::numbers::pi)); }), {180});
    expect_near(evaluate([] { return isfinite(F(inf<double>())); }), {0});
    expect_near(evaluate([] { return isfinite(F(nan<double>())); }), {0});
    expect_near(evaluate([] { return isfinite(F(1e300)); }), {1});
}

TEST(Functions, ModOfIntegersHasTheSignOfTheDivisor) {
    for (const int x : {-7, -6, -1, 0, 1, 6, 7}) {
        for (const int y : {-3, 3}) {
            const int expected = ((x % y) + y) % y;
            expect_near(evaluate([&] { return mod(Value<int>(x), y); }), {double(expected)});
        }
    }
    expect_near(evaluate([] { return mod(Value<u32>(7u), 4u); }), {3});
}

TEST(Functions, ModfReturnsBothParts) {
    for (const double x : {2.75, -2.75, 0.0, 5.0, inf<double>(), -inf<double>()}) {
        double whole = 0;
        const double fraction = std::modf(x, &whole);
        expect_near(evaluate([&] { return modf(F(x)).fraction; }), {fraction});
        EXPECT_EQ(evaluate([&] { return modf(F(x)).whole; }), std::vector<double>{whole});
    }
}

TEST(Functions, OfVectors) {
    const dvec3 a(1, 2, 3);
    const dvec3 b(-4, 5, 0.5);
    using V = Value<dvec3>;
    expect_near(evaluate([&] { return dot(V(a), b); }), {7.5});
    expect_near(evaluate([&] { return length(V(a)); }), {std::sqrt(14.0)});
    expect_near(evaluate([&] { return distance(a, V(b)); }), {std::sqrt(25 + 9 + 6.25)});
    expect_near(evaluate([&] { return cross(V(a), V(b)); }),
                {2 * 0.5 - 3 * 5, 3 * -4 - 1 * 0.5, 1 * 5 - 2 * -4});
    const double n = std::sqrt(14.0);
    expect_near(evaluate([&] { return normalize(V(a)); }), {1 / n, 2 / n, 3 / n});
    expect_near(evaluate([&] { return reflect(V(a), dvec3(0, 1, 0)); }), {1, -2, 3});
    expect_near(evaluate([&] { return any(V(a) > 2); }), {1});
    expect_near(evaluate([&] { return all(V(a) > 2); }), {0});
    expect_near(evaluate([&] { return V(a).zyx(); }), {3, 2, 1});
    expect_near(evaluate([&] { return V(a).xz(); }), {1, 3});
    expect_near(evaluate([&] { return swizzle<2, 2, 0, 1>(V(a)); }), {3, 3, 1, 2});
    expect_near(evaluate([&] { return swizzle<1>(V(a)); }), {2});
    expect_near(evaluate([&] { return make_vec(V(a).xy(), 7, V(b).x); }), {1, 2, 7, -4});
    expect_near(evaluate([&] { return make<dvec4>(9, V(a)); }), {9, 1, 2, 3});
    expect_near(evaluate([&] { return V(a)[2]; }), {3});
    expect_near(evaluate([&] { return mix(V(a), V(b), 0.5); }), {-1.5, 3.5, 1.75});
    expect_near(evaluate([&] { return Value<dvec3>(2.5); }), {2.5, 2.5, 2.5});
    expect_near(evaluate([&] { return make<std::array<double, 3>>(1, V(a).y, 3)[1]; }), {2});
    expect_near(evaluate([&] { return length(F(-3)); }), {3});
}

TEST(Functions, OfComplexNumbers) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> number(-3, 3);
    for (int round = 0; round < 50; ++round) {
        const C z(number(random), number(random));
        const C w(number(random), number(random));
        const double x = number(random);
        using V = Value<C>;
        expect_complex(evaluate([&] { return V(z) + w; }), z + w);
        expect_complex(evaluate([&] { return V(z) - F(x); }), z - x);
        expect_complex(evaluate([&] { return V(z) * V(w); }), z * w);
        expect_complex(evaluate([&] { return F(x) * V(w); }), x * w);
        expect_complex(evaluate([&] { return F(x) * w; }), x * w);
        expect_complex(evaluate([&] { return V(z) * 2; }), z * 2.0);
        expect_complex(evaluate([&] { return V(z) / V(w); }), z / w);
        expect_complex(evaluate([&] { return F(x) / V(w); }), x / w);
        expect_complex(evaluate([&] { return V(z) / x; }), z / x);
        expect_complex(evaluate([&] { return V(z) * std::complex<float>(0, 2); }), z * C(0, 2));
        expect_complex(evaluate([&] { return -V(z); }), -z);
        expect_complex(evaluate([&] { return conj(V(z)); }), std::conj(z));
        expect_near(evaluate([&] { return abs(V(z)); }), {std::abs(z)});
        expect_near(evaluate([&] { return arg(V(z)); }), {std::arg(z)});
        expect_near(evaluate([&] { return norm(V(z)); }), {std::norm(z)});
        expect_near(evaluate([&] { return real(V(z)); }), {z.real()});
        expect_near(evaluate([&] { return imag(V(z)); }), {z.imag()});
        expect_complex(evaluate([&] { return polar(F(std::abs(x)), 0.5); }), std::polar(std::abs(x), 0.5));
        expect_complex(evaluate([&] { return cis(F(x)); }), std::polar(1.0, x));
        expect_complex(evaluate([&] { return exp(V(z)); }), std::exp(z));
        expect_complex(evaluate([&] { return log(V(z)); }), std::log(z));
        expect_complex(evaluate([&] { return sqrt(V(z)); }), std::sqrt(z));
        expect_complex(evaluate([&] { return pow(V(z), V(w)); }), std::pow(z, w));
        expect_complex(evaluate([&] { return pow(V(z), x); }), std::pow(z, x));
        expect_near(evaluate([&] { return V(z) == z; }), {1});
        expect_near(evaluate([&] { return V(z) != w; }), {1});
    }
}

TEST(Functions, ComplexEdges) {
    using V = Value<C>;
    const C huge(1e300, 1e300);
    expect_complex(evaluate([&] { return V(huge) / V(huge); }), C(1, 0));
    const C huger(1.7e308, -1.7e308);
    expect_complex(evaluate([&] { return V(huger) / V(huger); }), C(1, 0));
    expect_complex(evaluate([&] { return V(huger) / V(C(4, 3)); }), C(6.8e306, -4.76e307));
    expect_complex(evaluate([&] { return V(C(1e-300, 1e-300)) / V(C(1e-300, 0)); }), C(1, 1));
    expect_complex(evaluate([&] { return V(C(5e-324, 0)) / V(C(0, 5e-324)); }), C(0, -1));
    expect_complex(evaluate([&] { return sqrt(V(C(0, 0))); }), C(0, 0));
    expect_complex(evaluate([&] { return sqrt(V(C(-4, 0))); }), C(0, 2));
    expect_complex(evaluate([&] { return sqrt(V(C(-4, -1e-30))); }), std::sqrt(C(-4, -1e-30)));
    expect_complex(evaluate([&] { return sqrt(V(C(-4, -0.0))); }), C(0, -2));
    expect_complex(evaluate([&] { return sqrt(V(huger)); }), std::sqrt(huger));
    expect_complex(evaluate([&] { return log(V(huger)); }), std::log(huger));
    expect_complex(evaluate([&] { return pow(V(C(0, 0)), V(C(2, 1))); }), C(0, 0));
    expect_complex(evaluate([&] { return pow(V(C(0, 0)), 0); }), C(1, 0));
}

template <int C0, int R0>
mat<double, C0, R0> random_matrix(std::mt19937& random) {
    std::uniform_real_distribution<double> number(-2, 2);
    mat<double, C0, R0> m;
    for (int c = 0; c < C0; ++c) {
        for (int r = 0; r < R0; ++r) m[c][r] = number(random);
    }
    return m;
}

template <class T>
std::vector<double> leaves(const T& host) {
    const auto* first = reinterpret_cast<const double*>(&host);
    return {first, first + sizeof(T) / sizeof(double)};
}

template <int N>
void check_square(std::mt19937& random) {
    using M = mat<double, N, N>;
    const M m = random_matrix<N, N>(random);
    expect_near(evaluate([&] { return Value<M>(m) * inverse(Value<M>(m)); }), leaves(M::identity()), 1e-9);
    // The determinant of a product is the product of the determinants.
    const M k = random_matrix<N, N>(random);
    const double dm = evaluate([&] { return determinant(Value<M>(m)); })[0];
    const double dk = evaluate([&] { return determinant(Value<M>(k)); })[0];
    expect_near(evaluate([&] { return determinant(Value<M>(m) * k); }), {dm * dk}, 1e-9);
    expect_near(evaluate([&] { return determinant(Value<M>(M::identity())); }), {1});
}

TEST(Functions, OfMatrices) {
    std::mt19937 random(11);
    const auto a = random_matrix<2, 3>(random);
    const auto b = random_matrix<4, 2>(random);
    const auto c = random_matrix<2, 3>(random);
    const dvec2 v(1.5, -2);
    const dvec3 w(1, 2, 3);
    using A = Value<mat<double, 2, 3>>;
    expect_near(evaluate([&] { return A(a) * Value<mat<double, 4, 2>>(b); }), leaves(a * b));
    expect_near(evaluate([&] { return A(a) * v; }), leaves(a * v));
    expect_near(evaluate([&] { return a * Value<dvec2>(v); }), leaves(a * v));
    expect_near(evaluate([&] { return Value<dvec3>(w) * A(a); }), leaves(w * a));
    expect_near(evaluate([&] { return A(a) * 2; }), leaves(a * 2.0));
    expect_near(evaluate([&] { return F(2) * A(a); }), leaves(a * 2.0));
    expect_near(evaluate([&] { return A(a) / 2; }), leaves(a * 0.5));
    expect_near(evaluate([&] { return A(a) + c; }), leaves(a + c));
    expect_near(evaluate([&] { return A(a) - A(c); }), leaves(a - c));
    expect_near(evaluate([&] { return -A(a); }), leaves(a * -1.0));
    expect_near(evaluate([&] { return transpose(A(a)); }), leaves(transpose(a)));
    expect_near(evaluate([&] { return A(a)[1]; }), leaves(a[1]));
    expect_near(evaluate([&] { return A(a)[1].z; }), {a[1][2]});
    expect_near(evaluate([&] { return make<dmat2>(dvec2(1, 2), Value<dvec2>(v)); }), {1, 2, 1.5, -2});
    expect_near(evaluate([&] { return outer_product(Value<dvec2>(v), Value<dvec3>(w)); }),
                {1.5, -2, 3, -4, 4.5, -6});
    expect_near(evaluate([&] { return matrix_comp_mult(A(a), A(a))[0].x; }), {a[0][0] * a[0][0]});
    check_square<2>(random);
    check_square<3>(random);
    check_square<4>(random);
}

TEST(Functions, RavelAndUnravel) {
    std::mt19937 random(3);
    for (int round = 0; round < 30; ++round) {
        const std::array shape = {u32(random() % 9 + 1), u32(random() % 9 + 1), u32(random() % 9 + 1)};
        const u32 i = u32(random() % (shape[0] * shape[1] * shape[2]));
        const u32 expected[] = {i / (shape[1] * shape[2]), i / shape[2] % shape[1], i % shape[2]};
        expect_near(evaluate([&] {
                        const auto [z, y, x] = unravel_index(Value<u32>(i), shape[0], shape[1], shape[2]);
                        return make_vec(z, y, x);
                    }),
                    {double(expected[0]), double(expected[1]), double(expected[2])});
        expect_near(evaluate([&] { return ravel_index(unravel_index(Value<u32>(i), shape), shape); }),
                    {double(i)});
        expect_near(
            evaluate([&] {
                // extents that are known only in the kernel
                const std::array extents = {Value<u32>(shape[0]), Value<u32>(shape[1]), Value<u32>(shape[2])};
                return ravel_index(unravel_index(Value<u32>(i), extents), shape[0], extents[1], extents[2]);
            }),
            {double(i)});
    }
}

TEST(Functions, IdsAndTheirOtherNames) {
    const auto one = [](Buff<u32> out) {
        out[0] = global_id().x + local_id().y + group_id().z + global_size().x;
        out[1] = local_size().x + group_count().y + local_index();
        out[2] = subgroup_id() + subgroup_size() + subgroup_count() + subgroup_lane();
    };
    const auto other = [](Buff<u32> out) {
        out[0] = global_id().x + local_id().y + group_id().z + global_size().x;
        out[1] = local_size().x + group_count().y + local_index();
        out[2] = subgroup_id() + subgroup_size() + subgroup_count() + subgroup_lane();
    };
    EXPECT_EQ(body_of(one), body_of(other));
}

TEST(Functions, SubgroupsAndFences) {
    const std::string text = body_of([](Const<float> x, Const<u32> n, Const<bool> c, Const<complex<float>> z,
                                        Buff<float> out, Buff<u32> bits) {
        out[0] = subgroup_add(x) + subgroup_mul(x) + subgroup_min(x) + subgroup_max(x);
        out[1] = subgroup_inclusive_add(x) + subgroup_exclusive_max(x);
        bits[0] = subgroup_and(n) + subgroup_or(n) + subgroup_xor(n) + subgroup_exclusive_and(n);
        out[2] = real(subgroup_add(z));
        out[3] = subgroup_broadcast(x, 0) + subgroup_shuffle(x, n) + subgroup_shuffle_xor(x, 1);
        $if (subgroup_any(c) && subgroup_all(c) && subgroup_elect()) {
            bits[1] = subgroup_ballot(c).x;
        }
        barrier();
        memory_barrier();
        memory_barrier_buffer();
        memory_barrier_shared();
        group_memory_barrier();
        subgroup_barrier();
    });
    EXPECT_EQ(count_of(text, "fence"), 4u);
    EXPECT_THAT(text, HasSubstr("subgroup_add %3 : complex<f32>"));
    EXPECT_THAT(text, HasSubstr("subgroup_ballot"));
}

TEST(Functions, AllIsAlsoASelectorOfSelections) {
    const dvec3 a(1, 2, 3);
    expect_near(evaluate([&] { return elsewhere::whether_all(Value<dvec3>(a) > 0); }), {1});
    expect_near(evaluate([&] { return volley::all(Value<dvec3>(a) > 1); }), {0});
    const Selection part = {slice(1, 3), all, volley::all};
    EXPECT_EQ(part.to_string(), "{slice(1, 3), all, all}");
    auto all = 3;  // and a variable of the user
    EXPECT_EQ(Selection{all}.to_string(), "{3}");
}

TEST(Functions, CommentsPrecedeTheFollowingOperations) {
    const auto kernel = lang::trace_kernel("k", [](Buff<float> out, Const<float> x) {
        comment("the square,\nof x");
        out[0] = x * x;
        comment("and its half");
        out[1] = x * x * 0.5f;
    });
    const std::string text = kernel.to_string();
    const std::size_t first = text.find("  ; the square,\n  ; of x\n  ");
    const std::size_t second = text.find("  ; and its half\n  ");
    EXPECT_LT(text.find("kernel"), first) << text;
    EXPECT_LT(first, second);
    EXPECT_LT(second, text.size());
    EXPECT_EQ(ir::hash(ir::parse(text)), ir::hash(kernel.function()))
        << "comments are not part of the kernel";
    EXPECT_THROW(comment("nowhere"), TraceError);
}

}  // namespace
}  // namespace volley::test
