// Complex values: + - * / with complex and real operands, and the usual functions. Division scales its
// operands (Smith's method), so it neither overflows nor underflows if the quotient is representable.
#pragma once

#include <volley/lang/value.hpp>
#include <volley/lang/vector.hpp>

namespace volley {

/// Return the real and the imaginary part.
template <class F>
[[nodiscard]] Value<F> real(const Value<std::complex<F>>& z, lang::Site at = lang::Site::here()) {
    return Value<F>(lang::emit(lang::Fn::Real, {lang::ref_of(z)}, at));
}
template <class F>
[[nodiscard]] Value<F> imag(const Value<std::complex<F>>& z, lang::Site at = lang::Site::here()) {
    return Value<F>(lang::emit(lang::Fn::Imag, {lang::ref_of(z)}, at));
}
/// Returns the magnitude, hypot(real(z), imag(z)).
template <class F>
[[nodiscard]] Value<F> abs(const Value<std::complex<F>>& z, lang::Site at = lang::Site::here()) {
    return Value<F>(lang::emit(lang::Fn::Abs, {lang::ref_of(z)}, at));
}
/// Returns the angle in radians, from -pi to pi.
template <class F>
[[nodiscard]] Value<F> arg(const Value<std::complex<F>>& z, lang::Site at = lang::Site::here()) {
    return Value<F>(lang::emit(lang::Fn::Arg, {lang::ref_of(z)}, at));
}
/// Returns the squared magnitude, as std::norm does.
template <class F>
[[nodiscard]] Value<F> norm(const Value<std::complex<F>>& z, lang::Site at = lang::Site::here()) {
    return Value<F>(lang::emit(lang::Fn::Norm, {lang::ref_of(z)}, at));
}

#define VOLLEY_COMPLEX_FUNCTION(name, fn)                                               \
    template <class F>                                                                  \
    [[nodiscard]] Value<std::complex<F>> name(const Value<std::complex<F>>& z,          \
                                              lang::Site at = lang::Site::here()) {     \
        return Value<std::complex<F>>(lang::emit(lang::Fn::fn, {lang::ref_of(z)}, at)); \
    }
VOLLEY_COMPLEX_FUNCTION(conj, Conj)
VOLLEY_COMPLEX_FUNCTION(exp, Exp)
VOLLEY_COMPLEX_FUNCTION(log, Log)
VOLLEY_COMPLEX_FUNCTION(sqrt, Sqrt)
#undef VOLLEY_COMPLEX_FUNCTION

namespace lang {

template <class A, class B>
concept ComplexArguments = Arguments<A, B> && is_complex<common_t<A, B>>;

template <class A, class B>
[[nodiscard]] auto complex_pow_of(const A& z, const B& w, Site at) {
    using T = common_t<A, B>;
    return Value<T>(emit(Fn::Pow, {argument<T>(z, at), argument<T>(w, at)}, at));
}
template <class A, class B>
[[nodiscard]] auto make_complex_of(const A& re, const B& im, Site at) {
    return Maker<std::complex<common_t<A, B>>>::make(at, re, im);
}
template <class A, class B>
[[nodiscard]] auto polar_of(const A& radius, const B& angle, Site at) {
    using F = common_t<A, B>;
    return Value<std::complex<F>>(emit(Fn::Polar, {argument<F>(radius, at), argument<F>(angle, at)}, at));
}

}  // namespace lang

/// Returns the principal value of z to the power w. At least one of them is complex.
VOLLEY_FUNCTION_2(pow, lang::complex_pow_of, lang::ComplexArguments)
/// Returns the complex number (re, im). A host number adopts the type of the other part.
VOLLEY_FUNCTION_2(make_complex, lang::make_complex_of, lang::Arguments)
/// Returns the complex number with this magnitude and this angle in radians.
VOLLEY_FUNCTION_2(polar, lang::polar_of, lang::Arguments)

/// Return cos(angle) + i sin(angle); the angle is in radians.
template <class F>
requires lang::Scalar<F>
[[nodiscard]] Value<std::complex<F>> cis(const Value<F>& angle, lang::Site at = lang::Site::here()) {
    static_assert(lang::is_float<F>,
                  "volley: cis takes a half, float or double: convert with cast<float>(v)");
    return Value<std::complex<F>>(lang::emit(lang::Fn::Cis, {lang::ref_of(angle)}, at));
}
template <class F>
requires lang::Scalar<F>
[[nodiscard]] Value<std::complex<F>> from_euler(const Value<F>& angle, lang::Site at = lang::Site::here()) {
    return cis(angle, at);
}

// A real Value with a complex host constant: x * std::complex<float>(0, 1).
#define VOLLEY_COMPLEX_CONSTANT(op, node)                                                           \
    template <class F>                                                                              \
    [[nodiscard]] Value<std::complex<F>> operator op(const Value<F>& a, const std::complex<F>& b) { \
        return Value<std::complex<F>>(lang::emit(                                                   \
            ir::Op::node, {lang::ref_of(a), lang::constant(dtype_of<std::complex<F>>(), &b, {})})); \
    }                                                                                               \
    template <class F>                                                                              \
    [[nodiscard]] Value<std::complex<F>> operator op(const std::complex<F>& a, const Value<F>& b) { \
        return Value<std::complex<F>>(lang::emit(                                                   \
            ir::Op::node, {lang::constant(dtype_of<std::complex<F>>(), &a, {}), lang::ref_of(b)})); \
    }
VOLLEY_COMPLEX_CONSTANT(+, Add)
VOLLEY_COMPLEX_CONSTANT(-, Sub)
VOLLEY_COMPLEX_CONSTANT(*, Mul)
VOLLEY_COMPLEX_CONSTANT(/, Div)
#undef VOLLEY_COMPLEX_CONSTANT

}  // namespace volley
