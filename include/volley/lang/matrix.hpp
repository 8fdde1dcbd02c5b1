// Functions of matrices. m[c] is a column, m[c][r] a component, and * is the matrix product.
#pragma once

#include <volley/lang/value.hpp>

namespace volley {

/// Returns the transpose.
template <class U, int C, int R>
[[nodiscard]] Value<mat<U, R, C>> transpose(const Value<mat<U, C, R>>& m,
                                            lang::Site at = lang::Site::here()) {
    return Value<mat<U, R, C>>(lang::emit(lang::Fn::Transpose, {lang::ref_of(m)}, at));
}

/// Returns the determinant of a square matrix.
template <class U, int N>
[[nodiscard]] Value<U> determinant(const Value<mat<U, N, N>>& m, lang::Site at = lang::Site::here()) {
    return Value<U>(lang::emit(lang::Fn::Determinant, {lang::ref_of(m)}, at));
}

/// Returns the inverse of a square matrix, computed by cofactors. The result for a singular matrix contains
/// infinities or NaN.
template <class U, int N>
[[nodiscard]] Value<mat<U, N, N>> inverse(const Value<mat<U, N, N>>& m, lang::Site at = lang::Site::here()) {
    return Value<mat<U, N, N>>(lang::emit(lang::Fn::Inverse, {lang::ref_of(m)}, at));
}

/// Returns column * transpose(row).
template <class U, int R, int C>
[[nodiscard]] Value<mat<U, C, R>> outer_product(const Value<vec<U, R>>& column, const Value<vec<U, C>>& row,
                                                lang::Site at = lang::Site::here()) {
    return Value<mat<U, C, R>>(
        lang::emit(lang::Fn::OuterProduct, {lang::ref_of(column), lang::ref_of(row)}, at));
}

/// Returns the componentwise product.
template <class U, int C, int R>
[[nodiscard]] Value<mat<U, C, R>> matrix_comp_mult(const Value<mat<U, C, R>>& a, const Value<mat<U, C, R>>& b,
                                                   lang::Site at = lang::Site::here()) {
    return Value<mat<U, C, R>>(lang::emit(lang::Fn::MatrixCompMult, {lang::ref_of(a), lang::ref_of(b)}, at));
}

/// Multiplies a host matrix by a vector.
template <class U, int C, int R>
[[nodiscard]] Value<vec<U, R>> operator*(const mat<U, C, R>& m, const Value<vec<U, C>>& v) {
    return Value<mat<U, C, R>>(m, lang::Site{}) * v;
}

}  // namespace volley
