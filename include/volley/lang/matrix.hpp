// Functions on matrices; m[c] is a column, m[c][r] a component, and * is linear algebra's product.
#pragma once

#include <volley/lang/value.hpp>

namespace volley {

template <class U, int C, int R>
[[nodiscard]] Value<mat<U, R, C>> transpose(const Value<mat<U, C, R>>& m,
                                            lang::Site at = lang::Site::here()) {
    return Value<mat<U, R, C>>(lang::emit(lang::Fn::Transpose, {lang::ref_of(m)}, at));
}

template <class U, int N>
[[nodiscard]] Value<U> determinant(const Value<mat<U, N, N>>& m, lang::Site at = lang::Site::here()) {
    return Value<U>(lang::emit(lang::Fn::Determinant, {lang::ref_of(m)}, at));
}

/// By cofactors; the inverse of a singular matrix has infinities or NaN.
template <class U, int N>
[[nodiscard]] Value<mat<U, N, N>> inverse(const Value<mat<U, N, N>>& m, lang::Site at = lang::Site::here()) {
    return Value<mat<U, N, N>>(lang::emit(lang::Fn::Inverse, {lang::ref_of(m)}, at));
}

/// column * transpose(row)
template <class U, int R, int C>
[[nodiscard]] Value<mat<U, C, R>> outer_product(const Value<vec<U, R>>& column, const Value<vec<U, C>>& row,
                                                lang::Site at = lang::Site::here()) {
    return Value<mat<U, C, R>>(
        lang::emit(lang::Fn::OuterProduct, {lang::ref_of(column), lang::ref_of(row)}, at));
}

/// Component by component.
template <class U, int C, int R>
[[nodiscard]] Value<mat<U, C, R>> matrix_comp_mult(const Value<mat<U, C, R>>& a, const Value<mat<U, C, R>>& b,
                                                   lang::Site at = lang::Site::here()) {
    return Value<mat<U, C, R>>(lang::emit(lang::Fn::MatrixCompMult, {lang::ref_of(a), lang::ref_of(b)}, at));
}

/// A matrix constant of the host on the left.
template <class U, int C, int R>
[[nodiscard]] Value<vec<U, R>> operator*(const mat<U, C, R>& m, const Value<vec<U, C>>& v) {
    return Value<mat<U, C, R>>(m, lang::Site{}) * v;
}

}  // namespace volley
