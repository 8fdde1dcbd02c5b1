// The operators of Values. They are hidden friends of a base class of Value<T>, so the compiler finds them
// only for operands of that type and considers few candidates. Each records one operation. An operand type
// that an operator does not support is a compile error that suggests an alternative.
#pragma once

#include <volley/lang/operand.hpp>

namespace volley::lang {

// Checks of the operand type.
template <class T>
consteval void need_number() {
    static_assert(!is_bool<T>,
                  "volley: arithmetic on bool is not supported: use select(c, a, b), or cast<T>(c)");
}
template <class T>
consteval void need_order() {
    need_number<T>();
    static_assert(!is_complex<T>,
                  "volley: complex numbers cannot be ordered: compare real(z), imag(z) or abs(z)");
}
template <class T>
consteval void need_whole() {
    static_assert(is_whole<T> && !is_complex<T>,
                  "volley: this operator takes only integers: use mod(a, b) or fmod(a, b) for floats, and "
                  "bit_cast<T>(v) "
                  "for their bits");
}
template <class T>
consteval void need_bits() {
    static_assert(
        (is_whole<T> || is_bool<T>)&&!is_complex<T>,
        "volley: this operator takes only integers and bool: use bit_cast<T>(v) for the bits of a float");
}
template <class T>
consteval void need_bool() {
    static_assert(is_bool<T>, "volley: && || and ! take Value<bool>: compare the operand, as in x != 0");
}
template <class T>
consteval void need_any() {}

#define VOLLEY_BINARY_OPERATOR(op, node, need, Result)                   \
    [[nodiscard]] friend Value<Result> operator op(Left<T> a, In<T> b) { \
        need<T>();                                                       \
        return Value<Result>(emit(ir::Op::node, {a.ref, b.ref}));        \
    }
#define VOLLEY_UNARY_OPERATOR(op, node, need)              \
    [[nodiscard]] friend Value<T> operator op(Left<T> a) { \
        need<T>();                                         \
        return Value<T>(emit(ir::Op::node, {a.ref}));      \
    }

// These take Value<T> instead of In<T>, because the built-in operators, through the conversion to bool, would
// be an equally good match.
#define VOLLEY_LOGICAL_OPERATOR(op, node)                                             \
    [[nodiscard]] friend Value<T> operator op(const Value<T>& a, const Value<T>& b) { \
        need_bool<T>();                                                               \
        return Value<T>(emit(ir::Op::node, {ref_of(a), ref_of(b)}));                  \
    }                                                                                 \
    [[nodiscard]] friend Value<T> operator op(const Value<T>& a, bool b) {            \
        need_bool<T>();                                                               \
        return a op Value<T>(b, Site{});                                              \
    }                                                                                 \
    [[nodiscard]] friend Value<T> operator op(bool a, const Value<T>& b) {            \
        need_bool<T>();                                                               \
        return Value<T>(a, Site{}) op b;                                              \
    }

/// Empty for structs and arrays, which have no operators.
template <class T>
struct Operators {};

template <class T>
requires(Numeric<T> && !is_matrix<T>) struct Operators<T> {
    VOLLEY_BINARY_OPERATOR(+, Add, need_number, T)
    VOLLEY_BINARY_OPERATOR(-, Sub, need_number, T)
    VOLLEY_BINARY_OPERATOR(*, Mul, need_number, T)
    VOLLEY_BINARY_OPERATOR(/, Div, need_number, T)
    VOLLEY_BINARY_OPERATOR(%, Rem, need_whole, T)
    VOLLEY_BINARY_OPERATOR(&, And, need_bits, T)
    VOLLEY_BINARY_OPERATOR(|, Or, need_bits, T)
    VOLLEY_BINARY_OPERATOR(^, Xor, need_bits, T)
    VOLLEY_BINARY_OPERATOR(<<, Shl, need_whole, T)
    VOLLEY_BINARY_OPERATOR(>>, Shr, need_whole, T)
    VOLLEY_BINARY_OPERATOR(==, Eq, need_any, boolean_t<T>)
    VOLLEY_BINARY_OPERATOR(!=, Ne, need_any, boolean_t<T>)
    VOLLEY_BINARY_OPERATOR(<, Lt, need_order, boolean_t<T>)
    VOLLEY_BINARY_OPERATOR(<=, Le, need_order, boolean_t<T>)
    VOLLEY_BINARY_OPERATOR(>, Gt, need_order, boolean_t<T>)
    VOLLEY_BINARY_OPERATOR(>=, Ge, need_order, boolean_t<T>)
    /// Both operands are always evaluated. Nest $if statements for short-circuit evaluation.
    VOLLEY_LOGICAL_OPERATOR(&&, And)
    VOLLEY_LOGICAL_OPERATOR(||, Or)
    VOLLEY_UNARY_OPERATOR(-, Neg, need_number)
    VOLLEY_UNARY_OPERATOR(~, Not, need_whole)
    [[nodiscard]] friend Value<T> operator!(const Value<T>& a) {
        need_bool<T>();
        return Value<T>(emit(ir::Op::Not, {ref_of(a)}));
    }
    [[nodiscard]] friend Value<T> operator+(Left<T> a) {
        need_number<T>();
        return Value<T>(a.ref);
    }
};

/// A value or host constant of exactly type T.
template <class T>
struct Only {
    Ref ref;
    // NOLINTBEGIN(google-explicit-constructor): the type exists for its conversions
    Only(const Value<T>& v, Site at = Site::here()) : ref(read(ref_of(v), at)) {}
    template <HostNumber N>
    requires Scalar<T> Only(N n, Site at = Site::here()) : ref(host_number<T>(n, at)) {}
    Only(const T& host, Site at = Site::here()) requires(!Scalar<T>)
        : ref(constant(dtype_of<T>(), &host, at)) {}
    // NOLINTEND(google-explicit-constructor)
};

/// Operators of matrices: the matrix product, elementwise + and -, and scaling by a scalar.
template <class U, int C, int R>
struct Operators<mat<U, C, R>> {
    using T = mat<U, C, R>;
    VOLLEY_UNARY_OPERATOR(-, Neg, need_number)
    [[nodiscard]] friend Value<T> operator+(Only<T> a, In<T> b) {
        return Value<T>(emit(ir::Op::Add, {a.ref, b.ref}));
    }
    [[nodiscard]] friend Value<T> operator-(Only<T> a, In<T> b) {
        return Value<T>(emit(ir::Op::Sub, {a.ref, b.ref}));
    }
    [[nodiscard]] friend Value<T> operator*(Only<T> a, Only<U> b) {
        return Value<T>(emit(ir::Op::Mul, {a.ref, b.ref}));
    }
    [[nodiscard]] friend Value<T> operator*(Only<U> a, Only<T> b) {
        return Value<T>(emit(ir::Op::Mul, {a.ref, b.ref}));
    }
    [[nodiscard]] friend Value<T> operator/(Only<T> a, Only<U> b) {
        return Value<T>(emit(ir::Op::Div, {a.ref, b.ref}));
    }
    [[nodiscard]] friend Value<vec<U, R>> operator*(const Value<T>& a, Only<vec<U, C>> b) {
        return Value<vec<U, R>>(emit(Fn::MatrixProduct, {ref_of(a), b.ref}));
    }
    [[nodiscard]] friend Value<vec<U, C>> operator*(Only<vec<U, R>> a, const Value<T>& b) {
        return Value<vec<U, C>>(emit(Fn::MatrixProduct, {a.ref, ref_of(b)}));
    }
    [[nodiscard]] friend Value<mat<U, 2, R>> operator*(const Value<T>& a, Only<mat<U, 2, C>> b) {
        return Value<mat<U, 2, R>>(emit(Fn::MatrixProduct, {ref_of(a), b.ref}));
    }
    [[nodiscard]] friend Value<mat<U, 3, R>> operator*(const Value<T>& a, Only<mat<U, 3, C>> b) {
        return Value<mat<U, 3, R>>(emit(Fn::MatrixProduct, {ref_of(a), b.ref}));
    }
    [[nodiscard]] friend Value<mat<U, 4, R>> operator*(const Value<T>& a, Only<mat<U, 4, C>> b) {
        return Value<mat<U, 4, R>>(emit(Fn::MatrixProduct, {ref_of(a), b.ref}));
    }
};

#undef VOLLEY_BINARY_OPERATOR
#undef VOLLEY_UNARY_OPERATOR
#undef VOLLEY_LOGICAL_OPERATOR

}  // namespace volley::lang
