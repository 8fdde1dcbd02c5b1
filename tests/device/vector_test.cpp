// Vectors, matrices and complex numbers: operators, functions, components and swizzles.
#include "support/compare.hpp"
#include "support/device_test.hpp"

#include <volley/volley.hpp>

#include <complex>

namespace volley::testing {
namespace {

constexpr u32 count = 21;

template <class T, int N>
std::vector<vec<T, N>> inputs(int shift) {
    std::vector<vec<T, N>> values(count);
    for (u32 i = 0; i < count; ++i) {
        for (int c = 0; c < N; ++c) {
            values[i][c] = T(static_cast<float>((static_cast<int>(i) * (c + 2) + shift) % 13 -
                                                (std::is_unsigned_v<T> ? 0 : 6)));
        }
    }
    return values;
}

// Componentwise operators, with vectors, scalars and host numbers beside them.
template <class T, int N>
void check_vector() {
    using V = vec<T, N>;
    const auto first = inputs<T, N>(1);
    const auto second = inputs<T, N>(5);
    Buffer<V> a = as_buffer(first), b = as_buffer(second);
    Buffer<V> out(count * 7);
    kernel("vectors", [](Buff<const V> x, Buff<const V> y, Buff<V> result) {
        const auto i = global_id().x;
        const Value<V> p = x[i], q = y[i];
        result[i] = p + q;
        result[i + count] = p - q;
        result[i + 2 * count] = p * q;
        result[i + 3 * count] = p * p[0] + 1;
        result[i + 4 * count] = min(p, q) + max(p, q);
        result[i + 5 * count] = select(p < q, p, q);
        Var<V> w = p;
        w[i % N] = q[(i + 1) % N];
        result[i + 6 * count] = w;
    }).over(count)(a, b, out);
    const auto all = out.read(0);
    for (u32 i = 0; i < count; ++i) {
        const V p = first[i], q = second[i];
        SCOPED_TRACE(dtype_of<V>().name() + ", invocation " + std::to_string(i));
        V scaled, sum, chosen, changed = p;
        for (int c = 0; c < N; ++c) {
            scaled[c] = T(p[c] * p[0] + T(1));
            sum[c] = T(p[c] + q[c]);
            chosen[c] = p[c] < q[c] ? p[c] : q[c];
        }
        changed[static_cast<int>(i) % N] = q[static_cast<int>(i + 1) % N];
        ASSERT_EQ(all[i], p + q);
        ASSERT_EQ(all[i + count], p - q);
        ASSERT_EQ(all[i + 2 * count], p * q);
        ASSERT_EQ(all[i + 3 * count], scaled);
        ASSERT_EQ(all[i + 4 * count], sum);
        ASSERT_EQ(all[i + 5 * count], chosen);
        ASSERT_EQ(all[i + 6 * count], changed);
    }
}

VOLLEY_DEVICE_TEST(Vector, OperatorsAreComponentwise) {
    check_vector<float, 2>();
    check_vector<float, 3>();
    check_vector<float, 4>();
    check_vector<i32, 3>();
    check_vector<u8, 4>();
    check_vector<i64, 2>();
    check_vector<half, 3>();
    check_vector<double, 4>();
    check_vector<i16, 3>();
}

VOLLEY_DEVICE_TEST(Vector, SwizzlesAndConstruction) {
    Buffer<vec4> data = as_buffer({vec4(1, 2, 3, 4)});
    Buffer<vec4> out(4);
    kernel("swizzles", [](Buff<const vec4> d, Buff<vec4> result) {
        const auto v = d[0];
        result[0] = v.wzyx();
        result[1] = make_vec(v.xy(), v.zz());
        result[2] = make_vec(v.zyx(), 9.0f);
        result[3] = make<vec4>(v.w, v.yz(), v.x * 10.0f);
    }).over(1)(data, out);
    const std::vector<vec4> expected = {{4, 3, 2, 1}, {1, 2, 3, 3}, {3, 2, 1, 9}, {4, 2, 3, 10}};
    expect_same(out.read(0), expected);
}

VOLLEY_DEVICE_TEST(Vector, GeometricFunctions) {
    Buffer<vec3> a = as_buffer({vec3(1, 2, 2)}), b = as_buffer({vec3(3, 0, -4)});
    Buffer<float> out(4);
    Buffer<vec3> vectors(2);
    kernel("geometry", [](Buff<const vec3> x, Buff<const vec3> y, Buff<float> s, Buff<vec3> v) {
        s[0] = dot(x[0], y[0]);
        s[1] = length(x[0]);
        s[2] = distance(x[0], y[0]);
        s[3] = length(normalize(y[0]));
        v[0] = cross(x[0], y[0]);
        v[1] = normalize(y[0]);
    }).over(1)(a, b, out, vectors);
    const auto s = out.read(0);
    EXPECT_FLOAT_EQ(s[0], -5);
    EXPECT_FLOAT_EQ(s[1], 3);
    EXPECT_FLOAT_EQ(s[2], std::sqrt(4.0f + 4 + 36));
    EXPECT_NEAR(s[3], 1, 1e-6f);
    const auto v = vectors.read(0);
    EXPECT_EQ(v[0], vec3(-8, 10, -6));
    EXPECT_NEAR(v[1].x, 0.6f, 1e-6f);
    EXPECT_NEAR(v[1].z, -0.8f, 1e-6f);
}

VOLLEY_DEVICE_TEST(Matrix, ProductsTransposesAndInverses) {
    mat<float, 3, 2> a;  // 3 columns of 2 rows
    mat<float, 2, 3> b;
    for (int c = 0; c < 3; ++c) {
        for (int r = 0; r < 2; ++r) {
            a[c][r] = static_cast<float>(c * 2 + r + 1);
            b[r][c] = static_cast<float>(c - r * 2);
        }
    }
    Buffer<mat<float, 3, 2>> first = as_buffer({a});
    Buffer<mat<float, 2, 3>> second = as_buffer({b});
    Buffer<mat2> product(1), inverted(1);
    Buffer<mat<float, 2, 3>> transposed(1);
    Buffer<vec2> image(1);
    Buffer<float> det(1);
    kernel("matrices", [](Buff<const mat<float, 3, 2>> x, Buff<const mat<float, 2, 3>> y, Buff<mat2> p,
                          Buff<mat2> q, Buff<mat<float, 2, 3>> t, Buff<vec2> v, Buff<float> d) {
        const auto m = x[0] * y[0];
        p[0] = m;
        q[0] = inverse(m) * m;
        t[0] = transpose(x[0]) + transpose(x[0]) * 2.0f;
        v[0] = x[0] * vec3(1, 2, 3);
        d[0] = determinant(m);
    }).over(1)(first, second, product, inverted, transposed, image, det);
    const mat2 m = a * b;
    EXPECT_EQ(product.read(0)[0], m);
    const mat2 identity = inverted.read(0)[0];
    for (int c = 0; c < 2; ++c) {
        for (int r = 0; r < 2; ++r) EXPECT_NEAR(identity[c][r], c == r ? 1 : 0, 1e-5f);
    }
    EXPECT_EQ(transposed.read(0)[0], transpose(a) * 3.0f);
    EXPECT_EQ(image.read(0)[0], a * vec3(1, 2, 3));
    EXPECT_FLOAT_EQ(det.read(0)[0], m[0][0] * m[1][1] - m[1][0] * m[0][1]);
}

template <class F>
void check_complex(double tolerance) {
    using C = std::complex<F>;
    std::vector<C> first, second;
    for (u32 i = 0; i < count; ++i) {
        first.emplace_back(F(static_cast<float>(i) * 0.5f - 5), F(static_cast<float>(i % 5) - 2.25f));
        second.emplace_back(F(static_cast<float>(i % 3) + 0.5f), F(static_cast<float>(i % 7) * 0.25f - 1));
    }
    Buffer<C> a = as_buffer(first), b = as_buffer(second);
    constexpr u32 operations = 9;
    Buffer<C> out(count * operations);
    Buffer<F> reals(count * 2);
    kernel("complex", [](Buff<const C> x, Buff<const C> y, Buff<C> z, Buff<F> r) {
        const auto i = global_id().x;
        const Value<C> p = x[i], q = y[i];
        z[i] = p + q;
        z[i + count] = p - q;
        z[i + 2 * count] = p * q;
        z[i + 3 * count] = p / q;
        z[i + 4 * count] = conj(p) * 2 + real(q);
        z[i + 5 * count] = exp(q);
        z[i + 6 * count] = sqrt(p);
        z[i + 7 * count] = log(q);
        z[i + 8 * count] = polar(real(q), imag(q));
        r[i] = abs(p);
        r[i + count] = arg(p);
    }).over(count)(a, b, out, reals);
    const auto z = out.read(0);
    const auto r = reals.read(0);
    using D = std::complex<double>;
    for (u32 i = 0; i < count; ++i) {
        const D p(first[i].real(), first[i].imag()), q(second[i].real(), second[i].imag());
        const D expected[operations] = {p + q,
                                        p - q,
                                        p * q,
                                        p / q,
                                        std::conj(p) * 2.0 + q.real(),
                                        std::exp(q),
                                        std::sqrt(p),
                                        std::log(q),
                                        q.real() * D(std::cos(q.imag()), std::sin(q.imag()))};
        for (u32 k = 0; k < operations; ++k) {
            const C got = z[i + k * count];
            const D actual(got.real(), got.imag());
            ASSERT_LE(std::abs(actual - expected[k]), tolerance * (1 + std::abs(expected[k])))
                << i << ", operation " << k;
        }
        ASSERT_NEAR(r[i], std::abs(p), tolerance * (1 + std::abs(p)));
        ASSERT_NEAR(r[i + count], std::arg(p), 4 * tolerance);
    }
}

VOLLEY_DEVICE_TEST(Complex, ArithmeticAndFunctionsAgreeWithTheHost) {
    check_complex<float>(1e-6);
    check_complex<double>(1e-14);
    check_complex<half>(4e-3);
}

VOLLEY_DEVICE_TEST(Complex, DivisionDoesNotOverflowWhereTheQuotientDoesNot) {
    Buffer<std::complex<float>> data =
        as_buffer({std::complex<float>(1e30f, 1e30f), std::complex<float>(2e30f, 2e30f)});
    kernel("quotient", [](Buff<std::complex<float>> d) { d[0] = d[1] / d[0]; }).over(1)(data);
    const auto q = data.read(0)[0];
    EXPECT_NEAR(q.real(), 2, 1e-5);
    EXPECT_NEAR(q.imag(), 0, 1e-5);
}

}  // namespace
}  // namespace volley::testing
