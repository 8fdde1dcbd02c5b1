// Vectors of 2 to 4 components of every type: operators, mixed operands with scalars, swizzles, construction,
// parts, geometry.
#include "support/device_fixture.hpp"
#include "support/device_map.hpp"
#include "support/edge_values.hpp"
#include "support/host_model.hpp"

namespace volley {
namespace {

namespace model = testing::model;
using testing::check_exact;
using testing::check_within;

template <class T, int N>
std::vector<vec<T, N>> vectors(std::size_t count, u64 seed, bool moderate = false) {
    testing::Random random(testing::seed_or(seed));
    std::vector<vec<T, N>> result(count);
    for (auto& v : result) {
        for (int k = 0; k < N; ++k) {
            v[k] = moderate ? testing::moderate_value<T>(random) : testing::random_value<T>(random);
        }
    }
    return result;
}

template <class T, int N, class F>
vec<T, N> each(vec<T, N> a, vec<T, N> b, F f) {
    vec<T, N> result;
    for (int k = 0; k < N; ++k) result[k] = f(a[k], b[k]);
    return result;
}

template <class T, int N>
void check_operators() {
    using X = vec<T, N>;
    using V = const Value<X>&;
    SCOPED_TRACE(dtype_of<X>().name());
    const auto a = vectors<T, N>(70, 81);
    const auto b = vectors<T, N>(70, 82);
    check_exact<X>(
        {{"a + b", [](V x, V y) { return x + y; }, [](X x, X y) { return each(x, y, model::add<T>); }},
         {"a - b", [](V x, V y) { return x - y; }, [](X x, X y) { return each(x, y, model::sub<T>); }},
         {"a * b", [](V x, V y) { return x * y; }, [](X x, X y) { return each(x, y, model::mul<T>); }},
         {"a / b", [](V x, V y) { return x / y; }, [](X x, X y) { return each(x, y, model::div<T>); }},
         {"-a", [](V x, V) { return -x; },
          [](X x, X) { return each(x, x, [](T p, T) { return model::neg(p); }); }},
         {"a.y * b", [](V x, V y) { return x.y * y; },
          [](X x, X y) { return each(X(x.y), y, model::mul<T>); }},
         {"a - 3", [](V x, V) { return x - 3; }, [](X x, X) { return each(x, X(T(3)), model::sub<T>); }},
         {"2 + b", [](V, V y) { return 2 + y; }, [](X, X y) { return each(X(T(2)), y, model::add<T>); }},
         {"select", [](V x, V y) { return select(x < y, x, y); },
          [](X x, X y) { return each(x, y, [](T p, T q) { return p < q ? p : q; }); }},
         {"select a scalar or a vector", [](V x, V y) { return select(x < y, x.y, y); },
          [](X x, X y) {
              for (int k = 0; k < N; ++k) y[k] = x[k] < y[k] ? x.y : y[k];
              return y;
          }},
         {"select one of two numbers", [](V x, V y) { return select(x < y, T(5), T(2)); },
          [](X x, X y) { return each(x, y, [](T p, T q) { return p < q ? T(5) : T(2); }); }}},
        a, b);
}

template <class T>
void check_all_sizes() {
    check_operators<T, 2>();
    check_operators<T, 3>();
    check_operators<T, 4>();
}

VOLLEY_DEVICE_TEST(Vector, OperatorsWorkByComponent) {
    each_type<i8, u16, i32, u64, f16, f32, f64>([]<class T>() { check_all_sizes<T>(); });
}

template <class T>
void check_bits_of_vectors() {
    using X = vec<T, 3>;
    using V = const Value<X>&;
    const auto a = vectors<T, 3>(70, 83);
    const auto b = vectors<T, 3>(70, 84);
    const auto bits = [](V x, V y) { return ((x & y) | (x ^ ~y)) >> 1; };
    check_exact<X>(
        {{"bits", bits,
          [](X x, X y) {
              return each(x, y, [](T p, T q) {
                  return model::shr(static_cast<T>((p & q) | (p ^ static_cast<T>(~q))), T(1));
              });
          }},
         {"a % b << c", [](V x, V y) { return (x % y) << x; },
          [](X x, X y) { return each(x, y, [](T p, T q) { return model::shl(model::rem(p, q), p); }); }},
         {"popcount", [](V x, V) { return popcount(x); },
          [](X x, X) { return each(x, x, [](T p, T) { return model::popcount(p); }); }},
         {"clz", [](V x, V) { return clz(x); },
          [](X x, X) { return each(x, x, [](T p, T) { return model::clz(p); }); }},
         {"max", [](V x, V y) { return max(x, y); }, [](X x, X y) { return each(x, y, model::max<T>); }},
         {"abs", [](V x, V) { return abs(x); },
          [](X x, X) { return each(x, x, [](T p, T) { return model::abs(p); }); }}},
        a, b);
}

VOLLEY_DEVICE_TEST(Vector, IntegerOperatorsWorkByComponent) {
    each_type<i8, u8, i32, u32, u64>([]<class T>() { check_bits_of_vectors<T>(); });
}

VOLLEY_DEVICE_TEST(Vector, ComparisonsReturnVectorsOfBool) {
    using V = const Value<vec3>&;
    auto a = vectors<float, 3>(100, 85, true);
    auto b = vectors<float, 3>(100, 86, true);
    a[3].x = b[3].x;
    b[4].z = NAN;
    check_exact<bvec3>(
        {{"a < b", [](V x, V y) { return x < y; },
          [](vec3 x, vec3 y) { return bvec3(x.x < y.x, x.y < y.y, x.z < y.z); }},
         {"a >= b", [](V x, V y) { return x >= y; },
          [](vec3 x, vec3 y) { return bvec3(x.x >= y.x, x.y >= y.y, x.z >= y.z); }},
         {"a == b", [](V x, V y) { return x == y; },
          [](vec3 x, vec3 y) { return bvec3(x.x == y.x, x.y == y.y, x.z == y.z); }},
         {"a != b", [](V x, V y) { return x != y; },
          [](vec3 x, vec3 y) { return bvec3(x.x != y.x, x.y != y.y, x.z != y.z); }},
         {"!(a > 1) && b < 2", [](V x, V y) { return !(x > 1) && (y < 2); },
          [](vec3 x, vec3 y) {
              return bvec3(!(x.x > 1) && y.x < 2, !(x.y > 1) && y.y < 2, !(x.z > 1) && y.z < 2);
          }},
         {"isnan", [](V, V y) { return isnan(y); },
          [](vec3, vec3 y) { return bvec3(std::isnan(y.x), std::isnan(y.y), std::isnan(y.z)); }}},
        a, b);
}

VOLLEY_DEVICE_TEST(Vector, SwizzlesAndConstructionPickComponents) {
    using V = const Value<ivec4>&;
    const auto a = vectors<i32, 4>(50, 87);
    check_exact<ivec4>(
        {{"wzyx", [](V x) { return x.wzyx(); }, [](ivec4 x) { return ivec4(x.w, x.z, x.y, x.x); }},
         {"xy, wx", [](V x) { return make_vec(x.xy(), x.wx()); },
          [](ivec4 x) { return ivec4(x.x, x.y, x.w, x.x); }},
         {"swizzle", [](V x) { return swizzle<3, 3, 0, 1>(x); },
          [](ivec4 x) { return ivec4(x.w, x.w, x.x, x.y); }},
         {"zyx and a number", [](V x) { return make<ivec4>(x.zyx(), 7); },
          [](ivec4 x) { return ivec4(x.z, x.y, x.x, 7); }},
         {"by index", [](V x) { return make_vec(x[3], x[0], x[1u], x[2]); },
          [](ivec4 x) { return ivec4(x.w, x.x, x.y, x.z); }},
         {"by a value",
          [](V x) {
              const auto k = cast<u32>(x.x) % 4u;
              return make_vec(x[k], x[(k + 1u) % 4u], x[(k + 2u) % 4u], x[(k + 3u) % 4u]);
          },
          [](ivec4 x) {
              const int k = static_cast<int>(static_cast<u32>(x.x) % 4u);
              return ivec4(x[k], x[(k + 1) % 4], x[(k + 2) % 4], x[(k + 3) % 4]);
          }}},
        a);
}

VOLLEY_DEVICE_TEST(Vector, ComponentsOfVariablesAndElementsAreAssigned) {
    auto data = vectors<i32, 3>(77, 88);
    const auto before = data;
    Buffer<ivec3> buffer = as_buffer(data);
    kernel("parts", [](Buff<ivec3> d) {
        const auto i = global_id().x;
        Var<ivec3> v = d[i];
        v.x += 5;
        v[1] = v.x;
        v[cast<u32>(v.z) % 3u] ^= 1;
        $if (i % 2u == 0u) {
            v.z = 9;
        }
        d[i].y = v.y;
        d[i].z -= v.z;
        d[i][0] = v.x;
    })(buffer);
    for (std::size_t i = 0; i < data.size(); ++i) {
        ivec3 v = before[i];
        v.x = model::add(v.x, 5);
        v.y = v.x;
        v[static_cast<int>(static_cast<u32>(v.z) % 3u)] ^= 1;
        if (i % 2 == 0) v.z = 9;
        data[i] = ivec3(v.x, v.y, model::sub(before[i].z, v.z));
    }
    testing::expect_same(buffer.read(0), data);
}

template <class T>
void check_geometry() {
    using X = vec<T, 3>;
    using V = const Value<X>&;
    const auto a = vectors<T, 3>(500, 89, true);
    const auto b = vectors<T, 3>(500, 90, true);
    const auto near = [](auto got, auto want, X, X) {
        double worst = 0;
        const auto difference = want - got;
        testing::each_component(difference, [&](auto d) { worst = std::max(worst, std::fabs(double(d))); });
        return worst <= 600 * double(std::numeric_limits<T>::epsilon());
    };
    testing::check_cases<T>(
        near,
        {{"dot", [](V x, V y) { return dot(x, y); },
          [](X x, X y) {
              return static_cast<T>(double(x.x) * double(y.x) + double(x.y) * double(y.y) +
                                    double(x.z) * double(y.z));
          }},
         {"length", [](V x, V) { return length(x); },
          [](X x, X) { return static_cast<T>(std::hypot(double(x.x), double(x.y), double(x.z))); }},
         {"distance", [](V x, V y) { return distance(x, y); },
          [](X x, X y) {
              return static_cast<T>(std::hypot(double(x.x) - double(y.x), double(x.y) - double(y.y),
                                               double(x.z) - double(y.z)));
          }}},
        a, b);
    testing::check_cases<X>(
        near,
        {{"cross", [](V x, V y) { return cross(x, y); },
          [](X x, X y) {
              const dvec3 p(x);
              const dvec3 q(y);
              return X(dvec3(p.y * q.z - p.z * q.y, p.z * q.x - p.x * q.z, p.x * q.y - p.y * q.x));
          }},
         {"normalize", [](V x, V) { return normalize(x); },
          [](X x, X) {
              const dvec3 p(x);
              return X(p / std::hypot(p.x, p.y, p.z));
          }},
         {"reflect", [](V x, V y) { return reflect(x, y * T(0.125f)); },
          [](X x, X y) {
              const dvec3 p(x);
              const dvec3 n = dvec3(y) * 0.125;
              return X(p - 2 * (n.x * p.x + n.y * p.y + n.z * p.z) * n);
          }}},
        a, b);
}

VOLLEY_DEVICE_TEST(Vector, Geometry) {
    each_type<f16, f32, f64>([]<class T>() { check_geometry<T>(); });
}

VOLLEY_DEVICE_TEST(Vector, IntegerDotWraps) {
    using V = const Value<ivec4>&;
    const auto a = vectors<i32, 4>(100, 91);
    const auto b = vectors<i32, 4>(100, 92);
    check_exact<i32>({{"dot", [](V x, V y) { return dot(x, y); },
                       [](ivec4 x, ivec4 y) {
                           i32 sum = 0;
                           for (int k = 0; k < 4; ++k) sum = model::add(sum, model::mul(x[k], y[k]));
                           return sum;
                       }}},
                     a, b);
}

VOLLEY_DEVICE_TEST(Vector, FunctionsWorkByComponent) {
    using V = const Value<vec4>&;
    const auto a = vectors<float, 4>(300, 93, true);
    check_within<vec4>(4,
                       {{"exp", [](V x) { return exp(x); },
                         [](vec4 x) {
                             for (int k = 0; k < 4; ++k) x[k] = static_cast<float>(std::exp(double(x[k])));
                             return x;
                         }},
                        {"pow", [](V x) { return pow(abs(x), 1.5f); },
                         [](vec4 x) {
                             for (int k = 0; k < 4; ++k)
                                 x[k] = static_cast<float>(std::pow(std::fabs(double(x[k])), 1.5));
                             return x;
                         }},
                        {"floor", [](V x) { return floor(x); },
                         [](vec4 x) {
                             for (int k = 0; k < 4; ++k) x[k] = std::floor(x[k]);
                             return x;
                         }}},
                       a);
}

}  // namespace
}  // namespace volley
