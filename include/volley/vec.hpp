// Host vectors of 2 to 4 components. They are tightly packed (sizeof == N * sizeof(T), alignof ==
// alignof(T)), so an array of them has the same bytes on the host and on every device.
#pragma once

#include <volley/half.hpp>

#include <cmath>
#include <cstdint>
#include <iosfwd>
#include <type_traits>

namespace volley {

/// A vector with the components x, y, z, w, initially zero. operator[] does not check its index. vec<T, N>(s)
/// sets all components to s. Conversions between component types are explicit.
template <class T, int N>
struct vec;

template <class T>
struct vec<T, 2> {
    using value_type = T;
    static constexpr int size = 2;
    T x{}, y{};

    constexpr vec() = default;
    constexpr explicit vec(T all) : x(all), y(all) {}
    constexpr vec(T x_, T y_) : x(x_), y(y_) {}
    template <class U>
    constexpr explicit vec(const vec<U, 2>& v) : x(static_cast<T>(v.x)), y(static_cast<T>(v.y)) {}

    constexpr T& operator[](int i) noexcept { return i == 0 ? x : y; }
    constexpr const T& operator[](int i) const noexcept { return i == 0 ? x : y; }
};

template <class T>
struct vec<T, 3> {
    using value_type = T;
    static constexpr int size = 3;
    T x{}, y{}, z{};

    constexpr vec() = default;
    constexpr explicit vec(T all) : x(all), y(all), z(all) {}
    constexpr vec(T x_, T y_, T z_) : x(x_), y(y_), z(z_) {}
    constexpr vec(const vec<T, 2>& xy, T z_) : x(xy.x), y(xy.y), z(z_) {}
    template <class U>
    constexpr explicit vec(const vec<U, 3>& v)
        : x(static_cast<T>(v.x)), y(static_cast<T>(v.y)), z(static_cast<T>(v.z)) {}

    constexpr T& operator[](int i) noexcept { return i == 0 ? x : i == 1 ? y : z; }
    constexpr const T& operator[](int i) const noexcept { return i == 0 ? x : i == 1 ? y : z; }
};

template <class T>
struct vec<T, 4> {
    using value_type = T;
    static constexpr int size = 4;
    T x{}, y{}, z{}, w{};

    constexpr vec() = default;
    constexpr explicit vec(T all) : x(all), y(all), z(all), w(all) {}
    constexpr vec(T x_, T y_, T z_, T w_) : x(x_), y(y_), z(z_), w(w_) {}
    constexpr vec(const vec<T, 3>& xyz, T w_) : x(xyz.x), y(xyz.y), z(xyz.z), w(w_) {}
    template <class U>
    constexpr explicit vec(const vec<U, 4>& v)
        : x(static_cast<T>(v.x)), y(static_cast<T>(v.y)), z(static_cast<T>(v.z)), w(static_cast<T>(v.w)) {}

    constexpr T& operator[](int i) noexcept { return i == 0 ? x : i == 1 ? y : i == 2 ? z : w; }
    constexpr const T& operator[](int i) const noexcept { return i == 0 ? x : i == 1 ? y : i == 2 ? z : w; }
};

namespace detail {

template <class T, int N, class F>
[[nodiscard]] constexpr vec<T, N> zip(const vec<T, N>& a, const vec<T, N>& b, F f) {
    vec<T, N> result;
    for (int i = 0; i < N; ++i) result[i] = static_cast<T>(f(a[i], b[i]));
    return result;
}

}  // namespace detail

template <class T, int N>
[[nodiscard]] constexpr bool operator==(const vec<T, N>& a, const vec<T, N>& b) {
    for (int i = 0; i < N; ++i) {
        if (!(a[i] == b[i])) return false;
    }
    return true;
}

template <class T, int N>
[[nodiscard]] constexpr vec<T, N> operator-(const vec<T, N>& a) {
    vec<T, N> result;
    for (int i = 0; i < N; ++i) result[i] = static_cast<T>(-a[i]);
    return result;
}

// Componentwise operators of two vectors, or of a vector and a scalar, which converts to T.
#define VOLLEY_VEC_OPERATOR(op)                                                                           \
    template <class T, int N>                                                                             \
    [[nodiscard]] constexpr vec<T, N> operator op(const vec<T, N>& a, const vec<T, N>& b) {               \
        return detail::zip(a, b, [](T x, T y) { return x op y; });                                        \
    }                                                                                                     \
    template <class T, int N>                                                                             \
    [[nodiscard]] constexpr vec<T, N> operator op(const vec<T, N>& a, const std::type_identity_t<T>& b) { \
        return a op vec<T, N>(b);                                                                         \
    }                                                                                                     \
    template <class T, int N>                                                                             \
    [[nodiscard]] constexpr vec<T, N> operator op(const std::type_identity_t<T>& a, const vec<T, N>& b) { \
        return vec<T, N>(a) op b;                                                                         \
    }                                                                                                     \
    template <class T, int N>                                                                             \
    constexpr vec<T, N>& operator op##=(vec<T, N>& a, const vec<T, N>& b) {                               \
        return a = a op b;                                                                                \
    }                                                                                                     \
    template <class T, int N>                                                                             \
    constexpr vec<T, N>& operator op##=(vec<T, N>& a, const std::type_identity_t<T>& b) {                 \
        return a = a op b;                                                                                \
    }
VOLLEY_VEC_OPERATOR(+)
VOLLEY_VEC_OPERATOR(-)
VOLLEY_VEC_OPERATOR(*)
VOLLEY_VEC_OPERATOR(/)
#undef VOLLEY_VEC_OPERATOR

/// Returns the dot product, summed from x to w.
template <class T, int N>
[[nodiscard]] constexpr T dot(const vec<T, N>& a, const vec<T, N>& b) {
    T sum = static_cast<T>(a[0] * b[0]);
    for (int i = 1; i < N; ++i) sum = static_cast<T>(sum + a[i] * b[i]);
    return sum;
}

template <class T>
[[nodiscard]] constexpr vec<T, 3> cross(const vec<T, 3>& a, const vec<T, 3>& b) {
    return {static_cast<T>(a.y * b.z - a.z * b.y), static_cast<T>(a.z * b.x - a.x * b.z),
            static_cast<T>(a.x * b.y - a.y * b.x)};
}

namespace detail {

template <class T>
concept VecFloat = std::is_floating_point_v<T> || std::is_same_v<T, half>;

}  // namespace detail

/// Returns sqrt(dot(v, v)).
template <detail::VecFloat T, int N>
[[nodiscard]] T length(const vec<T, N>& v) {
    return static_cast<T>(std::sqrt(dot(v, v)));
}

/// Returns v / length(v), which is NaN for the zero vector.
template <detail::VecFloat T, int N>
[[nodiscard]] vec<T, N> normalize(const vec<T, N>& v) {
    return v / length(v);
}

/// Writes "(1, 2, 3)". Components of 8 bits are written as numbers.
template <class Char, class Traits, class T, int N>
std::basic_ostream<Char, Traits>& operator<<(std::basic_ostream<Char, Traits>& out, const vec<T, N>& v) {
    out << '(' << +v[0];
    for (int i = 1; i < N; ++i) out << ',' << ' ' << +v[i];
    return out << ')';
}

// The GLSL and OpenCL names: vec3 and float3, ivec2 and int2, u8vec4 and uchar4.
#define VOLLEY_VEC_ALIASES(prefix, name, T) \
    using prefix##vec2 = vec<T, 2>;         \
    using prefix##vec3 = vec<T, 3>;         \
    using prefix##vec4 = vec<T, 4>;         \
    using name##2 = vec<T, 2>;              \
    using name##3 = vec<T, 3>;              \
    using name##4 = vec<T, 4>;
VOLLEY_VEC_ALIASES(, float, float)
VOLLEY_VEC_ALIASES(h, half, half)
VOLLEY_VEC_ALIASES(d, double, double)
VOLLEY_VEC_ALIASES(b, bool, bool)
VOLLEY_VEC_ALIASES(i8, char, std::int8_t)
VOLLEY_VEC_ALIASES(u8, uchar, std::uint8_t)
VOLLEY_VEC_ALIASES(i16, short, std::int16_t)
VOLLEY_VEC_ALIASES(u16, ushort, std::uint16_t)
VOLLEY_VEC_ALIASES(i, int, std::int32_t)
VOLLEY_VEC_ALIASES(u, uint, std::uint32_t)
VOLLEY_VEC_ALIASES(i64, long, std::int64_t)
VOLLEY_VEC_ALIASES(u64, ulong, std::uint64_t)
#undef VOLLEY_VEC_ALIASES

static_assert(sizeof(vec3) == 12 && alignof(vec3) == 4 && std::is_trivially_copyable_v<vec3>);
static_assert(sizeof(half3) == 6 && sizeof(bvec4) == 4 && sizeof(dvec3) == 24);

}  // namespace volley
