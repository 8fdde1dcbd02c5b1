// Conversions between types of values: cast by value, bit_cast by bits.
#pragma once

#include <volley/lang/value.hpp>

namespace volley {
namespace lang {

template <class T, class From>
struct CastResult {
    using type = T;
};
// cast<float>(v) of a vector or matrix converts its components.
template <Scalar T, class From>
requires(Numeric<From> && !is_complex<From>) struct CastResult<T, From> {
    using type = typename Type<From>::template with<T>;
};

template <class T, class From>
consteval void need_castable() {
    static_assert(Numeric<T> && Numeric<From>,
                  "volley: cast<T>(v) converts scalars, vectors, matrices and complex numbers");
    static_assert(!(is_complex<From> && !is_complex<T>),
                  "volley: a complex value has two parts: use real(v), imag(v) or abs(v)");
    static_assert(!is_complex<T> || is_complex<From> || Scalar<From>,
                  "volley: only scalars convert to complex numbers");
    static_assert(Type<T>::rank == Type<From>::rank || (is_complex<T> && Scalar<From>),
                  "volley: cast<T>(v) keeps the shape: make<T>(...) builds vectors");
}

}  // namespace lang

/// The value in another type: cast<float>(i), cast<vec<int, 3>>(v), cast<int>(v) for each component of a
/// vector, cast<complex<float>>(x). Floats to integers truncate and saturate, integers wrap, bool is != 0.
template <class T, class From>
[[nodiscard]] auto cast(const Value<From>& v, lang::Site at = lang::Site::here()) {
    using Result = typename lang::CastResult<T, From>::type;
    lang::need_castable<Result, From>();
    return Value<Result>(lang::convert(lang::ref_of(v), dtype_of<Result>(), at));
}

/// A host number as a value, for generic code.
template <class T, lang::HostNumber N>
[[nodiscard]] Value<T> cast(N n, lang::Site at = lang::Site::here()) {
    return Value<T>(static_cast<T>(n), at);
}

/// The same bits as another type of the same size: bit_cast<u32>(x).
template <class T, class From>
[[nodiscard]] Value<T> bit_cast(const Value<From>& v, lang::Site at = lang::Site::here()) {
    static_assert(lang::Numeric<T> && lang::Numeric<From> && sizeof(T) == sizeof(From) && !lang::is_bool<T> &&
                      !lang::is_bool<From>,
                  "volley: bit_cast<T>(v) needs two numeric types of the same size, and neither bool");
    return Value<T>(lang::bitcast(lang::ref_of(v), dtype_of<T>(), at));
}

namespace lang {

/// The type of select(c, a, b): that of the wider choice; host numbers give their common type, and a vector
/// of conditions makes a vector of scalars.
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
    static_assert(Scalar<choice> || (is_vector<choice> && sizeof(choice) == N * sizeof(scalar_t<choice>)),
                  "volley: select by a vector of bool takes scalars, or vectors as wide");
    using type = vec<scalar_t<choice>, N>;
};

}  // namespace lang

/// c ? a : b, elementwise when c is a vector. Both choices are evaluated.
template <class C, class A, class B>
requires lang::Expr<C> && lang::Argument<A> && lang::Argument<B>
[[nodiscard]] auto select(const C& c, const A& a, const B& b, lang::Site at = lang::Site::here()) {
    using Condition = typename C::volley_type;
    static_assert(lang::is_bool<Condition>, "volley: the first argument of select is a Value<bool>");
    using T = typename lang::SelectResult<Condition, A, B>::type;
    const lang::Ref yes = lang::argument<T>(a, at);
    const lang::Ref no = lang::argument<T>(b, at);
    if constexpr (lang::is_vector<Condition>) {
        return Value<T>(lang::emit(
            ir::Op::Select,
            {lang::ref_of(c), lang::promote(yes, dtype_of<T>()), lang::promote(no, dtype_of<T>())}, at));
    } else {
        return Value<T>(lang::emit(ir::Op::Select, {lang::ref_of(c), yes, no}, at));
    }
}

/// Structs and arrays too.
template <class T>
requires(!lang::Numeric<T>)
    [[nodiscard]] Value<T> select(const Value<bool>& c, const Value<T>& a, const Value<T>& b,
                                  lang::Site at = lang::Site::here()) {
    return Value<T>(lang::emit(ir::Op::Select, {lang::ref_of(c), lang::ref_of(a), lang::ref_of(b)}, at));
}

}  // namespace volley
