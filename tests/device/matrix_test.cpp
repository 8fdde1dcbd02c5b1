// Matrices of 2 to 4 columns and rows: sums, products, columns and components, transpose, determinant and
// inverse.
#include "support/device_fixture.hpp"
#include "support/device_map.hpp"
#include "support/edge_values.hpp"

namespace volley {
namespace {

using testing::check_cases;
using testing::check_exact;

template <class M>
std::vector<M> matrices(std::size_t count, u64 seed) {
    testing::Random random(testing::seed_or(seed));
    std::vector<M> result(count);
    for (M& m : result) {
        for (int c = 0; c < M::columns; ++c) {
            for (int r = 0; r < M::rows; ++r)
                m[c][r] = static_cast<typename M::value_type>(random.uniform(-3, 3));
        }
    }
    return result;
}

template <class T, int C, int R>
mat<double, C, R> wide(const mat<T, C, R>& m) {
    mat<double, C, R> result;
    for (int c = 0; c < C; ++c) {
        for (int r = 0; r < R; ++r) result[c][r] = static_cast<double>(m[c][r]);
    }
    return result;
}
template <class T, int C, int R>
mat<T, C, R> narrow(const mat<double, C, R>& m) {
    mat<T, C, R> result;
    for (int c = 0; c < C; ++c) {
        for (int r = 0; r < R; ++r) result[c][r] = static_cast<T>(m[c][r]);
    }
    return result;
}

/// Returns true if every component is within `scale` times the type's epsilon.
template <class X>
[[nodiscard]] bool close(const X& got, const X& want, double scale) {
    bool fits = true;
    std::vector<double> expected;
    testing::each_component(want, [&](auto v) { expected.push_back(static_cast<double>(v)); });
    std::size_t k = 0;
    testing::each_component(got, [&](auto v) {
        const double error = std::fabs(static_cast<double>(v) - expected[k++]);
        fits &= error <= scale * static_cast<double>(std::numeric_limits<decltype(v)>::epsilon());
    });
    return fits;
}

template <class T, int C, int R>
void check_shape() {
    using M = mat<T, C, R>;
    using V = const Value<M>&;
    SCOPED_TRACE(dtype_of<M>().name());
    const auto a = matrices<M>(60, 111);
    const auto b = matrices<M>(60, 112);
    check_exact<M>({{"a + b", [](V x, V y) { return x + y; }, [](M x, M y) { return x + y; }},
                    {"a - b", [](V x, V y) { return x - y; }, [](M x, M y) { return x - y; }},
                    {"a * 2", [](V x, V) { return x * 2; }, [](M x, M) { return x * T(2.0f); }},
                    {"2 * b", [](V, V y) { return 2 * y; }, [](M, M y) { return T(2.0f) * y; }},
                    {"x * b", [](V x, V y) { return x[0].x * y; }, [](M x, M y) { return x[0].x * y; }},
                    {"a / 4", [](V x, V) { return x / 4; }, [](M x, M) { return x * T(0.25f); }},
                    {"-a", [](V x, V) { return -x; }, [](M x, M) { return x * T(-1.0f); }},
                    {"component product", [](V x, V y) { return matrix_comp_mult(x, y); },
                     [](M x, M y) {
                         for (int c = 0; c < C; ++c) x[c] *= y[c];
                         return x;
                     }}},
                   a, b);
    check_exact<mat<T, R, C>>(
        {{"transpose", [](V x) { return transpose(x); }, [](M x) { return transpose(x); }}}, a);
    const auto near = [](const auto& got, const auto& want, const M&, const M&) {
        return close(got, want, 60);
    };
    check_cases<vec<T, R>>(near,
                           {{"a * v", [](V x, V y) { return x * transpose(y)[0]; },
                             [](M x, M y) { return vec<T, R>(wide(x) * transpose(wide(y))[0]); }}},
                           a, b);
    check_cases<vec<T, C>>(near,
                           {{"v * a", [](V x, V y) { return y[1] * x; },
                             [](M x, M y) { return vec<T, C>(wide(y)[1] * wide(x)); }}},
                           a, b);
    check_cases<mat<T, R, R>>(near,
                              {{"a * transpose(b)", [](V x, V y) { return x * transpose(y); },
                                [](M x, M y) { return narrow<T>(wide(x) * transpose(wide(y))); }}},
                              a, b);
    check_cases<mat<T, C, R>>(
        near,
        {{"outer product", [](V x, V y) { return outer_product(x[0], transpose(y)[1]); },
          [](M x, M y) {
              mat<double, C, R> result;
              for (int c = 0; c < C; ++c) result[c] = wide(x)[0] * double(y[c][1]);
              return narrow<T>(result);
          }}},
        a, b);
}

template <class T>
void check_shapes() {
    check_shape<T, 2, 2>();
    check_shape<T, 3, 2>();
    check_shape<T, 2, 4>();
    check_shape<T, 3, 3>();
    check_shape<T, 4, 3>();
    check_shape<T, 4, 4>();
}

VOLLEY_DEVICE_TEST(Matrix, MultipliesAndAdds) { check_shapes<f32>(); }
VOLLEY_DEVICE_TEST(Matrix, MultipliesAndAddsInOtherTypes) {
    if (supports<f64>()) check_shape<f64, 3, 4>();
    if (supports<f16>()) check_shape<f16, 4, 2>();
}

template <class T, int N>
double host_determinant(mat<T, N, N> m) {
    if constexpr (N == 2) {
        return m[0][0] * m[1][1] - m[0][1] * m[1][0];
    } else {
        double sum = 0;
        for (int c = 0; c < N; ++c) {
            mat<T, N - 1, N - 1> minor;
            for (int k = 0, to = 0; k < N; ++k) {
                if (k == c) continue;
                for (int r = 1; r < N; ++r) minor[to][r - 1] = m[k][r];
                ++to;
            }
            sum += (c % 2 == 0 ? 1 : -1) * m[c][0] * host_determinant<T, N - 1>(minor);
        }
        return sum;
    }
}

template <int N>
void check_inverse() {
    using M = mat<float, N, N>;
    using V = const Value<M>&;
    SCOPED_TRACE(N);
    auto a = matrices<M>(100, 113);
    for (M& m : a) {
        for (int k = 0; k < N; ++k) m[k][k] += m[k][k] < 0 ? -12.0f : 12.0f;  // far from singular
    }
    check_cases<float>(
        [](float got, float want, const M&) { return std::fabs(got - want) <= 2e-6f * std::fabs(want); },
        {{"determinant", [](V x) { return determinant(x); },
          [](M x) { return static_cast<float>(host_determinant<double, N>(wide(x))); }}},
        a);
    check_cases<M>([](const M& got, const M& want, const M&) { return close(got, want, 40); },
                   {{"a * inverse(a)", [](V x) { return x * inverse(x); }, [](M) { return M::identity(); }},
                    {"inverse(a) * a", [](V x) { return inverse(x) * x; }, [](M) { return M::identity(); }}},
                   a);
}

VOLLEY_DEVICE_TEST(Matrix, HasDeterminantAndInverse) {
    check_inverse<2>();
    check_inverse<3>();
    check_inverse<4>();
}

VOLLEY_DEVICE_TEST(Matrix, ColumnsAndComponentsAreAssigned) {
    auto a = matrices<mat3x2>(53, 114);
    Buffer<mat3x2> data = as_buffer(a);
    kernel("columns", [](Buff<mat3x2> d) {
        const auto i = global_id().x;
        Var<mat3x2> m = d[i];
        m[0] = m[2];
        m[i % 3u][1] = 7.0f;
        m[1].x += 1.0f;
        d[i] = m;
        d[i][2][i % 2u] = -1.0f;
        d[i][0].y *= 2.0f;
        m *= 3;
        $if (i % 4u == 1u) {
            d[i] = make<mat3x2>(m[0], vec2(1, 2), m[1]);
        }
    })(data);
    for (std::size_t i = 0; i < a.size(); ++i) {
        mat3x2 m = a[i];
        m[0] = m[2];
        m[static_cast<int>(i % 3)][1] = 7.0f;
        m[1].x += 1.0f;
        a[i] = m;
        a[i][2][static_cast<int>(i % 2)] = -1.0f;
        a[i][0].y *= 2.0f;
        m = m * 3.0f;
        if (i % 4 == 1) {
            a[i][0] = m[0];
            a[i][1] = vec2(1, 2);
            a[i][2] = m[1];
        }
    }
    testing::expect_same(data.read(0), a);
}

VOLLEY_DEVICE_TEST(Matrix, FromTheHostTransformsVectors) {
    mat3 turn;
    turn[0] = vec3(0, 1, 0);
    turn[1] = vec3(-1, 0, 0);
    turn[2] = vec3(0, 0, 2);
    const std::vector<vec3> points = {{1, 2, 3}, {4, 5, 6}, {-1, 0, 0.5f}, {0, 0, 0}, {7, 8, 9}};
    Buffer<vec3> out(points.size());
    kernel("turn", [turn](Buff<const vec3> p, Buff<vec3> q, Const<mat3> again) {
        const auto i = global_id().x;
        q[i] = again * (turn * p[i]);
    })(as_buffer(points), out, turn);
    std::vector<vec3> want;
    for (const vec3& p : points) want.push_back(turn * (turn * p));
    // The sign of a zero depends on whether products are fused.
    testing::expect_each(
        out.read(0), want, [](const vec3& g, const vec3& w, std::size_t) { return g == w; },
        [](std::size_t) { return std::string(); });
}

}  // namespace
}  // namespace volley
