// The operators on Values, as hidden friends of Value<T>'s base: found for operands of that type only, so
// that the compiler looks at few candidates. Each records one operation; what an operator does not take is a
// compile error that says what to write instead.
#pragma once

#include <volley/lang/operand.hpp>

namespace volley::lang {

// What an operator needs of T.
template <class T>
consteval void need_number() {
    static_assert(!is_bool<T>, "volley: bool has no arithmetic: use select(c, a, b), or cast<T>(c)");
}
template <class T>
consteval void need_order() {
    need_number<T>();
    static_assert(!is_complex<T>,
                  "volley: complex numbers have no order: compare real(z), imag(z) or abs(z)");
}
template <class T>
consteval void need_whole() {
    static_assert(
        is_whole<T> && !is_complex<T>,
        "volley: this operator takes integers: use mod(a, b) or fmod(a, b) for floats, bit_cast<T>(v) "
        "for their bits");
}
template <class T>
consteval void need_bits() {
    static_assert((is_whole<T> || is_bool<T>)&&!is_complex<T>,
                  "volley: this operator takes integers or bool: use bit_cast<T>(v) for the bits of a float");
}
template <class T>
consteval void need_bool() {
    static_assert(is_bool<T>, "volley: && || and ! take Value<bool>: compare the operand, as in x != 0");
}
template <class T>
consteval void need_any() {}

#define VOLLEY_BINARY_OPERATOR(op, node, need, Result)            \
    friend Value<Result> operator op(Left<T> a, In<T> b) {        \
        need<T>();                                                \
        return Value<Result>(emit(ir::Op::node, {a.ref, b.ref})); \
    }
#define VOLLEY_UNARY_OPERATOR(op, node, need)         \
    friend Value<T> operator op(Left<T> a) {          \
        need<T>();                                    \
        return Value<T>(emit(ir::Op::node, {a.ref})); \
    }

// Of Values as they are, not as In<T>: the built-in operators, by way of bool, would be as good a match.
#define VOLLEY_LOGICAL_OPERATOR(op, node)                               \
    friend Value<T> operator op(const Value<T>& a, const Value<T>& b) { \
        need_bool<T>();                                                 \
        return Value<T>(emit(ir::Op::node, {ref_of(a), ref_of(b)}));    \
    }                                                                   \
    friend Value<T> operator op(const Value<T>& a, bool b) {            \
        need_bool<T>();                                                 \
        return a op Value<T>(b, Site{});                                \
    }                                                                   \
    friend Value<T> operator op(bool a, const Value<T>& b) {            \
        need_bool<T>();                                                 \
        return Value<T>(a, Site{}) op b;                                \
    }

/// Structs and arrays have none.
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
    /// Both sides are always evaluated: nest $if to guard one with the other.
    VOLLEY_LOGICAL_OPERATOR(&&, And)
    VOLLEY_LOGICAL_OPERATOR(||, Or)
    VOLLEY_UNARY_OPERATOR(-, Neg, need_number)
    VOLLEY_UNARY_OPERATOR(~, Not, need_whole)
    friend Value<T> operator!(const Value<T>& a) {
        need_bool<T>();
        return Value<T>(emit(ir::Op::Not, {ref_of(a)}));
    }
    friend Value<T> operator+(Left<T> a) {
        need_number<T>();
        return Value<T>(a.ref);
    }
};

/// A value of exactly type T, or a host constant of it.
template <class T>
struct Only {
    Ref ref;
    // NOLINTBEGIN(google-explicit-constructor): the conversions are what it is for
    Only(const Value<T>& v, Site at = Site::here()) : ref(read(ref_of(v), at)) {}
    template <HostNumber N>
    requires Scalar<T> Only(N n, Site at = Site::here()) : ref(host_number<T>(n, at)) {}
    Only(const T& host, Site at = Site::here()) requires(!Scalar<T>)
        : ref(constant(dtype_of<T>(), &host, at)) {}
    // NOLINTEND(google-explicit-constructor)
};

/// Matrices: linear algebra for *, elementwise + and -, and scaling.
template <class U, int C, int R>
struct Operators<mat<U, C, R>> {
    using T = mat<U, C, R>;
    VOLLEY_UNARY_OPERATOR(-, Neg, need_number)
    friend Value<T> operator+(Only<T> a, In<T> b) { return Value<T>(emit(ir::Op::Add, {a.ref, b.ref})); }
    friend Value<T> operator-(Only<T> a, In<T> b) { return Value<T>(emit(ir::Op::Sub, {a.ref, b.ref})); }
    friend Value<T> operator*(Only<T> a, Only<U> b) { return Value<T>(emit(ir::Op::Mul, {a.ref, b.ref})); }
    friend Value<T> operator*(Only<U> a, Only<T> b) { return Value<T>(emit(ir::Op::Mul, {a.ref, b.ref})); }
    friend Value<T> operator/(Only<T> a, Only<U> b) { return Value<T>(emit(ir::Op::Div, {a.ref, b.ref})); }
    friend Value<vec<U, R>> operator*(const Value<T>& a, Only<vec<U, C>> b) {
        return Value<vec<U, R>>(emit(Fn::MatrixProduct, {ref_of(a), b.ref}));
    }
    friend Value<vec<U, C>> operator*(Only<vec<U, R>> a, const Value<T>& b) {
        return Value<vec<U, C>>(emit(Fn::MatrixProduct, {a.ref, ref_of(b)}));
    }
    friend Value<mat<U, 2, R>> operator*(const Value<T>& a, Only<mat<U, 2, C>> b) {
        return Value<mat<U, 2, R>>(emit(Fn::MatrixProduct, {ref_of(a), b.ref}));
    }
    friend Value<mat<U, 3, R>> operator*(const Value<T>& a, Only<mat<U, 3, C>> b) {
        return Value<mat<U, 3, R>>(emit(Fn::MatrixProduct, {ref_of(a), b.ref}));
    }
    friend Value<mat<U, 4, R>> operator*(const Value<T>& a, Only<mat<U, 4, C>> b) {
        return Value<mat<U, 4, R>>(emit(Fn::MatrixProduct, {ref_of(a), b.ref}));
    }
};

#undef VOLLEY_BINARY_OPERATOR
#undef VOLLEY_UNARY_OPERATOR
#undef VOLLEY_LOGICAL_OPERATOR

}  // namespace volley::lang
