// Conversions between types of Values (cast by value, bit_cast by bits) and select.
#pragma once

#include <volley/lang/value.hpp>

namespace volley {
namespace lang {

template <class T, class From>
struct CastResult {
    using type = T;
};
// cast<float>(v) of a vector or matrix converts each component.
template <Scalar T, class From>
requires(Numeric<From> && !is_complex<From>) struct CastResult<T, From> {
    using type = typename Type<From>::template with<T>;
};

template <class T, class From>
consteval void need_castable() {
    static_assert(
        Numeric<T> && Numeric<From>,
        "volley: cast<T>(v) converts only scalars, vectors, matrices and complex numbers: convert the "
        "members of a struct or array");
    static_assert(!(is_complex<From> && !is_complex<T>),
                  "volley: a complex value cannot be cast to a real type: use real(v), imag(v) or abs(v)");
    static_assert(!is_complex<T> || is_complex<From> || Scalar<From>,
                  "volley: only a scalar can be cast to a complex number: use make_complex(re, im)");
    static_assert(
        Type<T>::rank == Type<From>::rank || (is_complex<T> && Scalar<From>),
        "volley: cast<T>(v) cannot change the shape of a value: use make<T>(...) to build a vector");
}

}  // namespace lang

/// Converts a value to another type: cast<float>(i), cast<vec<int, 3>>(v), cast<complex<float>>(x). A scalar
/// type converts each component of a vector: cast<int>(v). Floats are truncated and saturated to integers,
/// integers wrap, and conversion to bool is `!= 0`.
template <class T, class From>
[[nodiscard]] auto cast(const Value<From>& v, lang::Site at = lang::Site::here()) {
    using Result = typename lang::CastResult<T, From>::type;
    lang::need_castable<Result, From>();
    return Value<Result>(lang::convert(lang::ref_of(v), dtype_of<Result>(), at));
}

/// Converts a host number to a Value, for generic code.
template <class T, lang::HostNumber N>
[[nodiscard]] Value<T> cast(N n, lang::Site at = lang::Site::here()) {
    return Value<T>(static_cast<T>(n), at);
}

/// Reinterprets the bits of a value as another type of the same size: bit_cast<u32>(x).
template <class T, class From>
[[nodiscard]] Value<T> bit_cast(const Value<From>& v, lang::Site at = lang::Site::here()) {
    static_assert(lang::Numeric<T> && lang::Numeric<From> && sizeof(T) == sizeof(From) && !lang::is_bool<T> &&
                      !lang::is_bool<From>,
                  "volley: bit_cast<T>(v) needs two numeric types of the same size, other than bool");
    return Value<T>(lang::bitcast(lang::ref_of(v), dtype_of<T>(), at));
}

namespace lang {

/// The type of select(c, a, b): the wider of the types of a and b. Two host numbers have their common type,
/// and a vector of conditions turns scalars into vectors.
template <class C, class A, class B>
struct SelectResult {
    using type = common_t<A, B>;
};
template <class C, HostNumber A, HostNumber B>
struct SelectResult<C, A, B> {
    using type = std::common_type_t<A, B>;
};
template <int N, class A, class B>
struct SelectResult<vec<bool, N>, A, B> {
    using choice = typename SelectResult<bool, A, B>::type;
    static_assert(
        Scalar<choice> || (is_vector<choice> && sizeof(choice) == N * sizeof(scalar_t<choice>)),
        "volley: select with a vector condition takes scalars, or vectors with as many components as the "
        "condition");
    using type = vec<scalar_t<choice>, N>;
};

template <class C, class A, class B>
[[nodiscard]] auto select_of(const C& c, const A& a, const B& b, Site at) {
    using Chooser = typename C::volley_type;
    static_assert(
        is_bool<Chooser>,
        "volley: the first argument of select must be a Value<bool> or a vector of bool: compare it, as in x "
        "!= 0");
    using T = typename SelectResult<Chooser, A, B>::type;
    const Ref yes = argument<T>(a, at);
    const Ref no = argument<T>(b, at);
    if constexpr (is_vector<Chooser>) {
        return Value<T>(
            emit(ir::Op::Select, {ref_of(c), promote(yes, dtype_of<T>()), promote(no, dtype_of<T>())}, at));
    } else {
        return Value<T>(emit(ir::Op::Select, {ref_of(c), yes, no}, at));
    }
}

}  // namespace lang

/// Returns `c ? a : b`, elementwise if c is a vector. Both a and b are evaluated.
template <lang::Expr C, lang::ByReference A, lang::ByReference B>
[[nodiscard]] auto select(const C& c, const A& a, const B& b, lang::Site at = lang::Site::here()) {
    return lang::select_of(c, a, b, at);
}
template <lang::Expr C, lang::ByReference A, lang::HostNumber B>
[[nodiscard]] auto select(const C& c, const A& a, B b, lang::Site at = lang::Site::here()) {
    return lang::select_of(c, a, b, at);
}
template <lang::Expr C, lang::HostNumber A, lang::ByReference B>
[[nodiscard]] auto select(const C& c, A a, const B& b, lang::Site at = lang::Site::here()) {
    return lang::select_of(c, a, b, at);
}
template <lang::Expr C, lang::HostNumber A, lang::HostNumber B>
[[nodiscard]] auto select(const C& c, A a, B b, lang::Site at = lang::Site::here()) {
    return lang::select_of(c, a, b, at);
}

/// Selects between structs or arrays.
template <class T>
requires(!lang::Numeric<T>)
    [[nodiscard]] Value<T> select(const Value<bool>& c, const Value<T>& a, const Value<T>& b,
                                  lang::Site at = lang::Site::here()) {
    return Value<T>(lang::emit(ir::Op::Select, {lang::ref_of(c), lang::ref_of(a), lang::ref_of(b)}, at));
}

}  // namespace volley
