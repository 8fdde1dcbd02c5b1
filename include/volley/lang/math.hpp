// Mathematical functions of Values. All are elementwise on vectors; scalars and host numbers widen to the
// vector type of the other arguments. docs/ir.md lists the accuracy of each function. The overloads take at
// least one Value, so they do not change the meaning of std functions on host numbers.
#pragma once

#include <volley/lang/operators.hpp>
#include <volley/lang/value.hpp>

#include <limits>

namespace volley {
namespace lang {

template <class T>
consteval void need_float() {
    static_assert(
        Elementwise<T> && is_float<T>,
        "volley: this function takes only floats and vectors of floats: convert with cast<float>(v)");
}
template <class T>
consteval void need_real() {
    static_assert(
        Elementwise<T> && !is_bool<T>,
        "volley: this function takes only integers, floats and vectors of these: convert with cast<T>(v)");
}
template <class T>
consteval void need_integer() {
    static_assert(
        Elementwise<T> && is_whole<T>,
        "volley: this function takes only integers and vectors of integers: use bit_cast<T>(v) for the bits "
        "of a float");
}

}  // namespace lang

#define VOLLEY_UNARY(name, record, need)                                                 \
    template <class T>                                                                   \
    [[nodiscard]] Value<T> name(const Value<T>& x, lang::Site at = lang::Site::here()) { \
        lang::need<T>();                                                                 \
        return Value<T>(lang::emit(record, {lang::ref_of(x)}, at));                      \
    }
#define VOLLEY_CLASSIFY(name, record)                                                                     \
    template <class T>                                                                                    \
    [[nodiscard]] Value<lang::boolean_t<T>> name(const Value<T>& x, lang::Site at = lang::Site::here()) { \
        lang::need_float<T>();                                                                            \
        return Value<lang::boolean_t<T>>(lang::emit(record, {lang::ref_of(x)}, at));                      \
    }
#define VOLLEY_BINARY(name, record, need)                                            \
    namespace lang {                                                                 \
    template <class A, class B>                                                      \
    [[nodiscard]] auto name##_of(const A& a, const B& b, Site at) {                  \
        using T = common_t<A, B>;                                                    \
        need<T>();                                                                   \
        return Value<T>(emit(record, {argument<T>(a, at), argument<T>(b, at)}, at)); \
    }                                                                                \
    }                                                                                \
    VOLLEY_FUNCTION_2(name, lang::name##_of, lang::Arguments)
#define VOLLEY_TERNARY(name, record, need)                                                               \
    namespace lang {                                                                                     \
    template <class A, class B, class C>                                                                 \
    [[nodiscard]] auto name##_of(const A& a, const B& b, const C& c, Site at) {                          \
        using T = common_t<A, B, C>;                                                                     \
        need<T>();                                                                                       \
        return Value<T>(emit(record, {argument<T>(a, at), argument<T>(b, at), argument<T>(c, at)}, at)); \
    }                                                                                                    \
    }                                                                                                    \
    VOLLEY_FUNCTION_3(name, lang::name##_of, lang::Arguments)

VOLLEY_UNARY(abs, ir::Op::Abs, need_real)
VOLLEY_UNARY(sign, ir::Op::Sign, need_real)
VOLLEY_UNARY(floor, ir::Op::Floor, need_float)
VOLLEY_UNARY(ceil, ir::Op::Ceil, need_float)
VOLLEY_UNARY(trunc, ir::Op::Trunc, need_float)
VOLLEY_UNARY(round, ir::Op::Round, need_float)           // rounds halfway cases away from zero
VOLLEY_UNARY(round_even, ir::Op::RoundEven, need_float)  // rounds halfway cases to even
VOLLEY_UNARY(fract, lang::Fn::Fract, need_float)         // x - floor(x)
VOLLEY_UNARY(sqrt, ir::Op::Sqrt, need_float)
VOLLEY_UNARY(rsqrt, ir::Op::Rsqrt, need_float)
VOLLEY_UNARY(inversesqrt, ir::Op::Rsqrt, need_float)
VOLLEY_UNARY(cbrt, ir::Op::Cbrt, need_float)
VOLLEY_UNARY(sin, ir::Op::Sin, need_float)
VOLLEY_UNARY(cos, ir::Op::Cos, need_float)
VOLLEY_UNARY(tan, ir::Op::Tan, need_float)
VOLLEY_UNARY(asin, ir::Op::Asin, need_float)
VOLLEY_UNARY(acos, ir::Op::Acos, need_float)
VOLLEY_UNARY(atan, ir::Op::Atan, need_float)
VOLLEY_UNARY(sinh, ir::Op::Sinh, need_float)
VOLLEY_UNARY(cosh, ir::Op::Cosh, need_float)
VOLLEY_UNARY(tanh, ir::Op::Tanh, need_float)
VOLLEY_UNARY(asinh, ir::Op::Asinh, need_float)
VOLLEY_UNARY(acosh, ir::Op::Acosh, need_float)
VOLLEY_UNARY(atanh, ir::Op::Atanh, need_float)
VOLLEY_UNARY(exp, ir::Op::Exp, need_float)
VOLLEY_UNARY(exp2, ir::Op::Exp2, need_float)
VOLLEY_UNARY(exp10, ir::Op::Exp10, need_float)
VOLLEY_UNARY(expm1, ir::Op::Expm1, need_float)
VOLLEY_UNARY(log, ir::Op::Log, need_float)
VOLLEY_UNARY(log2, ir::Op::Log2, need_float)
VOLLEY_UNARY(log10, ir::Op::Log10, need_float)
VOLLEY_UNARY(log1p, ir::Op::Log1p, need_float)
VOLLEY_UNARY(radians, lang::Fn::Radians, need_float)
VOLLEY_UNARY(degrees, lang::Fn::Degrees, need_float)

VOLLEY_UNARY(popcount, ir::Op::PopCount, need_integer)
VOLLEY_UNARY(clz, ir::Op::Clz, need_integer)  // number of leading zeros; the bit width for 0
VOLLEY_UNARY(ctz, ir::Op::Ctz, need_integer)  // number of trailing zeros; the bit width for 0
VOLLEY_UNARY(reverse_bits, ir::Op::ReverseBits, need_integer)

VOLLEY_CLASSIFY(isnan, ir::Op::IsNan)
VOLLEY_CLASSIFY(isinf, ir::Op::IsInf)
VOLLEY_CLASSIFY(isfinite, lang::Fn::IsFinite)

VOLLEY_BINARY(min, ir::Op::Min, need_real)  // if one argument is NaN, the other one
VOLLEY_BINARY(max, ir::Op::Max, need_real)
VOLLEY_BINARY(atan2, ir::Op::Atan2, need_float)
VOLLEY_BINARY(hypot, ir::Op::Hypot, need_float)
VOLLEY_BINARY(fmod, ir::Op::Rem, need_float)     // has the sign of the dividend, as in C
VOLLEY_BINARY(mod, lang::Fn::Mod, need_real)     // x - y * floor(x / y), has the sign of the divisor
VOLLEY_BINARY(step, lang::Fn::Step, need_float)  // step(edge, x): x < edge ? 0 : 1

VOLLEY_TERNARY(fma, ir::Op::Fma, need_real)        // a * b + c, rounded once
VOLLEY_TERNARY(clamp, lang::Fn::Clamp, need_real)  // clamp(x, low, high) = min(max(x, low), high)
VOLLEY_TERNARY(clip, lang::Fn::Clamp, need_real)
VOLLEY_TERNARY(mix, lang::Fn::Mix, need_float)                // mix(a, b, t) = a * (1 - t) + b * t
VOLLEY_TERNARY(smoothstep, lang::Fn::Smoothstep, need_float)  // smoothstep(low, high, x)

namespace lang {

template <class A, class B>
concept ElementwiseArguments = Arguments<A, B> && Elementwise<common_t<A, B>>;

template <class A, class B>
[[nodiscard]] auto pow_of(const A& a, const B& b, Site at) {
    using T = common_t<A, B>;
    need_float<T>();
    return Value<T>(emit(ir::Op::Pow, {argument<T>(a, at), argument<T>(b, at)}, at));
}

}  // namespace lang
VOLLEY_FUNCTION_2(pow, lang::pow_of, lang::ElementwiseArguments)

#undef VOLLEY_UNARY
#undef VOLLEY_CLASSIFY
#undef VOLLEY_BINARY
#undef VOLLEY_TERNARY

/// The fractional and the integral part of x, both with the sign of x: `auto [fraction, whole] = modf(x);`
template <class T>
struct Modf {
    Value<T> fraction;
    Value<T> whole;
};
template <class T>
[[nodiscard]] Modf<T> modf(const Value<T>& x, lang::Site at = lang::Site::here()) {
    lang::need_float<T>();
    const Value<T> once(lang::read(lang::ref_of(x), at));
    return {Value<T>(lang::emit(lang::Fn::ModfFraction, {lang::ref_of(once)}, at)), trunc(once, at)};
}

// std::sin and so on on a Value: one message instead of a list of candidates. Any other overload is a better
// match, so nothing else changes. The standard reserves additions to namespace std, but no other place can
// see a qualified call.
// clang-format off
#define VOLLEY_STD_FUNCTIONS(X)                                                                            \
    X(abs) X(floor) X(ceil) X(trunc) X(round) X(sqrt) X(cbrt) X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) \
    X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh) X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10)     \
    X(log1p) X(isnan) X(isinf) X(isfinite)
// clang-format on
namespace lang::for_std {

#define VOLLEY_FOR_STD(name)                                                                               \
    struct name {                                                                                          \
        template <Expr X>                                                                                  \
        name(const X&) { /* NOLINT(google-explicit-constructor): exists for its conversion */              \
            static_assert(never<X>, "volley: std::" #name " takes only host numbers: use volley::" #name); \
        }                                                                                                  \
    };
VOLLEY_STD_FUNCTIONS(VOLLEY_FOR_STD)
#undef VOLLEY_FOR_STD

}  // namespace lang::for_std
}  // namespace volley

namespace std {  // NOLINT(cert-dcl58-cpp)

#define VOLLEY_FOR_STD(name) double name(::volley::lang::for_std::name);
VOLLEY_STD_FUNCTIONS(VOLLEY_FOR_STD)
#undef VOLLEY_FOR_STD
#undef VOLLEY_STD_FUNCTIONS

}  // namespace std

namespace volley {

// Limits of a type, as host numbers: `Var<float> best = lowest<float>();`
template <class T>
[[nodiscard]] constexpr T inf() noexcept {
    static_assert(std::numeric_limits<T>::has_infinity,
                  "volley: only half, float and double have an infinity: use highest<T>()");
    return std::numeric_limits<T>::infinity();
}
template <class T>
[[nodiscard]] constexpr T ninf() noexcept {
    return -inf<T>();
}
template <class T>
[[nodiscard]] constexpr T nan() noexcept {
    static_assert(std::numeric_limits<T>::has_quiet_NaN, "volley: only half, float and double have a NaN");
    return std::numeric_limits<T>::quiet_NaN();
}
template <class T>
[[nodiscard]] constexpr T lowest() noexcept {
    return std::numeric_limits<T>::lowest();
}
template <class T>
[[nodiscard]] constexpr T highest() noexcept {
    return std::numeric_limits<T>::max();
}

}  // namespace volley
