// Construction of vectors and other composites, and the functions of vectors.
#pragma once

#include <volley/lang/structs.hpp>
#include <volley/lang/value.hpp>

namespace volley {
namespace lang {

template <class X>
inline constexpr int width_of = 1;
template <Expr X>
inline constexpr int width_of<X> = width_of<typename X::volley_type>;
template <class U, int N>
inline constexpr int width_of<vec<U, N>> = N;

template <class U, class X>
[[nodiscard]] Ref component(const X& x, Site at) {
    if constexpr (width_of < X >> 1) {
        return argument<vec<U, width_of<X>>>(x, at);
    } else {
        return argument<U>(x, at);
    }
}

/// The component type of an argument of make_vec; void for host numbers.
template <class X>
struct ComponentOf {
    using type = void;
};
template <class X>
requires(!std::is_void_v<operand_t<X>>) struct ComponentOf<X> {
    using type = scalar_t<operand_t<X>>;
};
template <class... X>
struct FirstComponent;
template <class X, class... Rest>
struct FirstComponent<X, Rest...> {
    using own = typename ComponentOf<X>::type;
    using type =
        typename std::conditional_t<std::is_void_v<own>, FirstComponent<Rest...>, ComponentOf<X>>::type;
};
template <>
struct FirstComponent<> {
    using type = void;
};

/// The type of make_vec(x...).
template <class... X>
struct Joined {
    static constexpr int size = (width_of<X> + ...);
    static_assert(size >= 2 && size <= 4, "volley: a vector must have 2 to 4 components");
    using type = vec<typename FirstComponent<X...>::type, size>;
};
template <class... X>
using joined_t = typename Joined<X...>::type;

template <class T>
struct Maker {
    static_assert(
        Reflected<T>,
        "volley: make<T>(...) constructs only vectors, complex numbers, matrices, arrays and structs: use "
        "cast<T>(v) for scalars");
    template <class... X>
    static Value<T> make(Site at, const X&... x) {
        return make_struct(typename ReflectionOf<T>::volley_list{}, at, x...);
    }
};
template <class U, int N>
struct Maker<vec<U, N>> {
    template <class... X>
    static Value<vec<U, N>> make(Site at, const X&... x) {
        static_assert(
            (width_of<X> + ...) == N,
            "volley: the arguments have a different number of components than the vector: pass scalars and "
            "vectors that add up to it");
        const Ref parts[] = {component<U>(x, at)...};
        return Value<vec<U, N>>(construct(dtype_of<vec<U, N>>(), parts, sizeof...(X), at));
    }
};
template <class F>
struct Maker<std::complex<F>> {
    template <class R, class I>
    static Value<std::complex<F>> make(Site at, const R& re, const I& im) {
        const Ref parts[] = {argument<F>(re, at), argument<F>(im, at)};
        return Value<std::complex<F>>(construct(dtype_of<std::complex<F>>(), parts, 2, at));
    }
};
template <class U, int C, int R>
struct Maker<mat<U, C, R>> {
    template <class... X>
    static Value<mat<U, C, R>> make(Site at, const X&... columns) {
        static_assert(sizeof...(X) == C,
                      "volley: make<mat>(...) takes one vector per column: pass all columns");
        const Ref parts[] = {promote(argument<vec<U, R>>(columns, at), dtype_of<vec<U, R>>())...};
        return Value<mat<U, C, R>>(construct(dtype_of<mat<U, C, R>>(), parts, C, at));
    }
};
template <class U, std::size_t N>
struct Maker<std::array<U, N>> {
    template <class... X>
    static Value<std::array<U, N>> make(Site at, const X&... elements) {
        static_assert(sizeof...(X) == N,
                      "volley: make<std::array>(...) takes one value per element: pass all elements");
        const Ref parts[] = {promote(In<U>(elements, at).ref, dtype_of<U>())...};
        return Value<std::array<U, N>>(construct(dtype_of<std::array<U, N>>(), parts, N, at));
    }
};

template <class A, class B>
[[nodiscard]] auto dot_of(const A& a, const B& b, Site at) {
    using T = common_t<A, B>;
    static_assert(is_vector<T> && !is_bool<T>,
                  "volley: dot takes only vectors of numbers: use a * b for scalars");
    return Value<scalar_t<T>>(emit(Fn::Dot, {argument<T>(a, at), argument<T>(b, at)}, at));
}

template <class A, class B>
[[nodiscard]] auto cross_of(const A& a, const B& b, Site at) {
    using T = common_t<A, B>;
    static_assert(width_of<T> == 3, "volley: cross takes only vectors with three components");
    return Value<T>(emit(Fn::Cross, {argument<T>(a, at), argument<T>(b, at)}, at));
}

template <class A, class B>
[[nodiscard]] auto distance_of(const A& a, const B& b, Site at) {
    using T = common_t<A, B>;
    static_assert(Elementwise<T> && is_float<T>,
                  "volley: distance takes only floats and vectors of floats: convert with cast<float>(v)");
    return Value<scalar_t<T>>(emit(Fn::Distance, {argument<T>(a, at), argument<T>(b, at)}, at));
}

template <class A, class B>
[[nodiscard]] auto reflect_of(const A& i, const B& n, Site at) {
    using T = common_t<A, B>;
    static_assert(is_vector<T> && is_float<T>,
                  "volley: reflect takes only vectors of floats: convert with cast<float>(v)");
    return Value<T>(emit(Fn::Reflect, {argument<T>(i, at), argument<T>(n, at)}, at));
}

}  // namespace lang

// A default argument cannot follow a parameter pack, so these functions report the line of their last
// operand. The overloads with host numbers take all arguments by value; see VOLLEY_FUNCTION_2.

/// Constructs a composite from its parts: make<vec4>(xyz, 1), make<complex<float>>(re, im),
/// make<mat2>(column, column), make<Particle>(position, velocity, mass).
template <class T, class... X>
requires(!lang::HostNumber<X> && ...) [[nodiscard]] Value<T> make(const X&... x) {
    return lang::Maker<T>::make(lang::Site{}, x...);
}
template <class T, class... X>
requires(lang::HostNumber<X> || ...) [[nodiscard]] Value<T> make(X... x) {
    return lang::Maker<T>::make(lang::Site{}, x...);
}

/// Constructs a vector from scalars and vectors: make_vec(v.xy(), 0, 1). Host numbers adopt the component
/// type of the Values.
template <class... X>
requires(lang::Arguments<X...> && (!lang::HostNumber<X> && ...)) [[nodiscard]] auto make_vec(const X&... x) {
    return lang::Maker<lang::joined_t<X...>>::make(lang::Site{}, x...);
}
template <class... X>
requires(lang::Arguments<X...> && (lang::HostNumber<X> || ...)) [[nodiscard]] auto make_vec(X... x) {
    return lang::Maker<lang::joined_t<X...>>::make(lang::Site{}, x...);
}

/// Returns the components with these numbers: swizzle<2, 0>(v) is v.zx().
template <unsigned... picks, class U, int N>
[[nodiscard]] auto swizzle(const Value<vec<U, N>>& v, lang::Site at = lang::Site::here()) {
    static_assert(
        ((picks < N) && ...),
        "volley: swizzle selects a component that the vector does not have: use numbers below its size");
    static_assert(sizeof...(picks) >= 1 && sizeof...(picks) <= 4,
                  "volley: swizzle returns 1 to 4 components: select fewer");
    if constexpr (sizeof...(picks) == 1) {
        return Value<U>(lang::read(lang::ref_of(v).part((picks, ...)), at));
    } else {
        return Value<vec<U, sizeof...(picks)>>(lang::swizzle(lang::ref_of(v), {picks...}, at));
    }
}

/// Returns the dot product, summed from x to w.
VOLLEY_FUNCTION_2(dot, lang::dot_of, lang::Arguments)

/// Returns the cross product of two vectors with three components.
VOLLEY_FUNCTION_2(cross, lang::cross_of, lang::Arguments)

/// Returns sqrt(dot(v, v)), or the absolute value of a scalar.
template <class T>
[[nodiscard]] Value<lang::scalar_t<T>> length(const Value<T>& v, lang::Site at = lang::Site::here()) {
    static_assert(lang::Elementwise<T> && lang::is_float<T>,
                  "volley: length takes only floats and vectors of floats: convert with cast<float>(v)");
    return Value<lang::scalar_t<T>>(lang::emit(lang::Fn::Length, {lang::ref_of(v)}, at));
}

/// Returns length(a - b).
VOLLEY_FUNCTION_2(distance, lang::distance_of, lang::Arguments)

/// Returns v * rsqrt(dot(v, v)), which is NaN for the zero vector.
template <class U, int N>
[[nodiscard]] Value<vec<U, N>> normalize(const Value<vec<U, N>>& v, lang::Site at = lang::Site::here()) {
    static_assert(lang::is_float<U>,
                  "volley: normalize takes only vectors of floats: convert with cast<float>(v)");
    return Value<vec<U, N>>(lang::emit(lang::Fn::Normalize, {lang::ref_of(v)}, at));
}

/// Returns i - 2 * dot(n, i) * n.
VOLLEY_FUNCTION_2(reflect, lang::reflect_of, lang::Arguments)

/// Return whether any, or all, components of a vector of bool are true.
template <class T>
requires lang::Elementwise<T>
[[nodiscard]] Value<bool> any(const Value<T>& v, lang::Site at = lang::Site::here()) {
    static_assert(
        lang::is_bool<T>,
        "volley: any and all take only bool and vectors of bool: compare the operand, as in v != 0");
    return Value<bool>(lang::emit(lang::Fn::Any, {lang::ref_of(v)}, at));
}
template <class T>
requires lang::Elementwise<T>
[[nodiscard]] Value<bool> all(const Value<T>& v, lang::Site at = lang::Site::here()) {
    static_assert(
        lang::is_bool<T>,
        "volley: any and all take only bool and vectors of bool: compare the operand, as in v != 0");
    return Value<bool>(lang::emit(lang::Fn::All, {lang::ref_of(v)}, at));
}

// A scalar Value with a host vector: x * vec3(1, 2, 3).
#define VOLLEY_VECTOR_CONSTANT(op, node)                                                                 \
    template <class U, int N>                                                                            \
    [[nodiscard]] Value<vec<U, N>> operator op(const Value<U>& a, const vec<U, N>& b) {                  \
        return Value<vec<U, N>>(                                                                         \
            lang::emit(ir::Op::node, {lang::ref_of(a), lang::constant(dtype_of<vec<U, N>>(), &b, {})})); \
    }                                                                                                    \
    template <class U, int N>                                                                            \
    [[nodiscard]] Value<vec<U, N>> operator op(const vec<U, N>& a, const Value<U>& b) {                  \
        return Value<vec<U, N>>(                                                                         \
            lang::emit(ir::Op::node, {lang::constant(dtype_of<vec<U, N>>(), &a, {}), lang::ref_of(b)})); \
    }
VOLLEY_VECTOR_CONSTANT(+, Add)
VOLLEY_VECTOR_CONSTANT(-, Sub)
VOLLEY_VECTOR_CONSTANT(*, Mul)
VOLLEY_VECTOR_CONSTANT(/, Div)
#undef VOLLEY_VECTOR_CONSTANT

}  // namespace volley
