// Host matrices, tightly packed and column-major as in GLSL: mat<T, C, R> has C columns of type vec<T, R>, so
// mat2x3 has two columns and three rows.
#pragma once

#include <volley/vec.hpp>

namespace volley {

/// A matrix, initially zero. m[c] is a column and m[c][r] a component; neither index is checked.
template <class T, int C, int R>
struct mat {
    static_assert(C >= 2 && C <= 4 && R >= 2 && R <= 4,
                  "volley: a mat must have 2 to 4 columns and 2 to 4 rows: use std::array for other sizes");
    using value_type = T;
    using column_type = vec<T, R>;
    static constexpr int columns = C;
    static constexpr int rows = R;

    column_type column[C]{};

    constexpr column_type& operator[](int c) noexcept { return column[c]; }
    constexpr const column_type& operator[](int c) const noexcept { return column[c]; }

    /// Returns the matrix with ones on the diagonal. It need not be square.
    [[nodiscard]] static constexpr mat identity() {
        mat result;
        for (int i = 0; i < (C < R ? C : R); ++i) result[i][i] = T(1);
        return result;
    }
};

template <class T, int C, int R>
[[nodiscard]] constexpr bool operator==(const mat<T, C, R>& a, const mat<T, C, R>& b) {
    for (int c = 0; c < C; ++c) {
        if (!(a[c] == b[c])) return false;
    }
    return true;
}

template <class T, int C, int R>
[[nodiscard]] constexpr mat<T, C, R> operator+(const mat<T, C, R>& a, const mat<T, C, R>& b) {
    mat<T, C, R> result;
    for (int c = 0; c < C; ++c) result[c] = a[c] + b[c];
    return result;
}

template <class T, int C, int R>
[[nodiscard]] constexpr mat<T, C, R> operator-(const mat<T, C, R>& a, const mat<T, C, R>& b) {
    mat<T, C, R> result;
    for (int c = 0; c < C; ++c) result[c] = a[c] - b[c];
    return result;
}

template <class T, int C, int R>
[[nodiscard]] constexpr mat<T, C, R> operator*(const mat<T, C, R>& a, const std::type_identity_t<T>& s) {
    mat<T, C, R> result;
    for (int c = 0; c < C; ++c) result[c] = a[c] * s;
    return result;
}

template <class T, int C, int R>
[[nodiscard]] constexpr mat<T, C, R> operator*(const std::type_identity_t<T>& s, const mat<T, C, R>& a) {
    return a * s;
}

/// Returns the product of a matrix and a column vector.
template <class T, int C, int R>
[[nodiscard]] constexpr vec<T, R> operator*(const mat<T, C, R>& a, const vec<T, C>& v) {
    vec<T, R> result;
    for (int c = 0; c < C; ++c) result += a[c] * v[c];
    return result;
}

/// Returns the product of a row vector and a matrix.
template <class T, int C, int R>
[[nodiscard]] constexpr vec<T, C> operator*(const vec<T, R>& v, const mat<T, C, R>& a) {
    vec<T, C> result;
    for (int c = 0; c < C; ++c) {
        for (int r = 0; r < R; ++r) result[c] = static_cast<T>(result[c] + v[r] * a[c][r]);
    }
    return result;
}

/// Returns the matrix product.
template <class T, int K, int R, int C>
[[nodiscard]] constexpr mat<T, C, R> operator*(const mat<T, K, R>& a, const mat<T, C, K>& b) {
    mat<T, C, R> result;
    for (int c = 0; c < C; ++c) result[c] = a * b[c];
    return result;
}

template <class T, int C, int R>
[[nodiscard]] constexpr mat<T, R, C> transpose(const mat<T, C, R>& a) {
    mat<T, R, C> result;
    for (int c = 0; c < C; ++c) {
        for (int r = 0; r < R; ++r) result[r][c] = a[c][r];
    }
    return result;
}

#define VOLLEY_MAT_ALIASES(prefix, T)    \
    using prefix##mat2 = mat<T, 2, 2>;   \
    using prefix##mat3 = mat<T, 3, 3>;   \
    using prefix##mat4 = mat<T, 4, 4>;   \
    using prefix##mat2x2 = mat<T, 2, 2>; \
    using prefix##mat2x3 = mat<T, 2, 3>; \
    using prefix##mat2x4 = mat<T, 2, 4>; \
    using prefix##mat3x2 = mat<T, 3, 2>; \
    using prefix##mat3x3 = mat<T, 3, 3>; \
    using prefix##mat3x4 = mat<T, 3, 4>; \
    using prefix##mat4x2 = mat<T, 4, 2>; \
    using prefix##mat4x3 = mat<T, 4, 3>; \
    using prefix##mat4x4 = mat<T, 4, 4>;
VOLLEY_MAT_ALIASES(, float)
VOLLEY_MAT_ALIASES(h, half)
VOLLEY_MAT_ALIASES(d, double)
#undef VOLLEY_MAT_ALIASES

static_assert(sizeof(mat3) == 36 && alignof(mat3) == 4 && std::is_trivially_copyable_v<mat3>);

}  // namespace volley
