// lazy(buffer): whole-array arithmetic. Operators and functions of lazy arrays describe a computation, which
// an algorithm, transform() or evaluate() runs in one kernel, without temporaries.
//
//     transform(c, lazy(a) * 2.f + lazy(b));
//     float distance = reduce::sum(abs(lazy(a) - lazy(b))).item();
//     Buffer<float> scaled = lazy(image) / reduce::max(image, {.axes = {1}, .keepdims = true});
//
// Shapes are broadcast as in NumPy: axes are aligned at the last one, and axes of length 1 are repeated. Host
// numbers adopt the type of the other operand, and their values are passed to the kernel, so that another
// number needs no other kernel. Operands of different types need cast<T>().
#pragma once

#include <volley/algorithms/any_source.hpp>
#include <volley/algorithms/transform.hpp>
#include <volley/buffer.hpp>
#include <volley/lang/cast.hpp>
#include <volley/lang/complex.hpp>
#include <volley/lang/math.hpp>

#include <type_traits>
#include <utility>

namespace volley {

/// A lazy array: a Mapped<T> with operators.
template <class T>
class Lazy : public Mapped<T> {
public:
    using Mapped<T>::Mapped;
    /// Runs the computation; as evaluate().
    operator Buffer<T>() const { return evaluate(*this); }  // NOLINT(google-explicit-constructor): by design
};

/// Makes operators available for a buffer or mapped array.
template <Source S>
[[nodiscard]] Lazy<source_element_t<S>> lazy(const S& source) {
    return Lazy<source_element_t<S>>(AnySource(source));
}

namespace detail {

template <class X>
inline constexpr bool is_lazy = false;
template <class T>
inline constexpr bool is_lazy<Lazy<T>> = true;

/// The operands of an operator with at least one Lazy: the others may be buffers, mapped arrays and host
/// numbers.
template <class X>
concept LazyOperand = Source<X> || lang::HostNumber<X> || lang::is_complex<X>;
template <class... X>
concept LazyOperands = (LazyOperand<X> && ...) && (is_lazy<X> || ...);

/// The element type of the first operand that has one.
template <class X, class... Rest>
struct LazyElement : LazyElement<Rest...> {};
template <Source X, class... Rest>
struct LazyElement<X, Rest...> {
    using type = source_element_t<X>;
};

template <class T, class X>
[[nodiscard]] AnySource lazy_source(const X& x) {
    if constexpr (Source<X>) {
        static_assert(std::same_as<source_element_t<X>, T>,
                      "volley: the operands of a lazy expression have different element types: convert one "
                      "with cast<T>(lazy(buffer))");
        return AnySource(x);
    } else {
        static_assert(
            !std::floating_point<X> || !std::integral<T>,
            "volley: a floating-point number is combined with integers: write an integer, or convert "
            "the array with cast<float>(lazy(buffer))");
        if constexpr (std::integral<X> && lang::is_whole<T> && lang::Scalar<T> && !std::same_as<X, bool>)
            check_fits(std::in_range<T>(x), dtype_of<T>());
        return AnySource::filled(Shape{}, AnyArgument(static_cast<T>(x)));
    }
}

/// Applies a lambda without captures, which is traced once.
template <class F, class... X>
[[nodiscard]] auto lazy_apply(F f, const X&... sources) {
    static const AnyFunction function = trace_function(f);
    return Lazy<lang::function_result_t<F>>(AnySource::computed(function, {AnySource(sources)...}));
}

}  // namespace detail

#define VOLLEY_LAZY_OPERATOR(op)                                                                            \
    template <class A, class B>                                                                             \
    requires detail::LazyOperands<A, B>                                                                     \
    [[nodiscard]] auto operator op(const A& a, const B& b) {                                                \
        using T = typename detail::LazyElement<A, B>::type;                                                 \
        return detail::lazy_apply([](Value<T> x, Value<T> y) { return x op y; }, detail::lazy_source<T>(a), \
                                  detail::lazy_source<T>(b));                                               \
    }
VOLLEY_LAZY_OPERATOR(+)
VOLLEY_LAZY_OPERATOR(-)
VOLLEY_LAZY_OPERATOR(*)
VOLLEY_LAZY_OPERATOR(/)
VOLLEY_LAZY_OPERATOR(%)
VOLLEY_LAZY_OPERATOR(&)
VOLLEY_LAZY_OPERATOR(|)
VOLLEY_LAZY_OPERATOR(^)
VOLLEY_LAZY_OPERATOR(<<)
VOLLEY_LAZY_OPERATOR(>>)
VOLLEY_LAZY_OPERATOR(==)
VOLLEY_LAZY_OPERATOR(!=)
VOLLEY_LAZY_OPERATOR(<)
VOLLEY_LAZY_OPERATOR(<=)
VOLLEY_LAZY_OPERATOR(>)
VOLLEY_LAZY_OPERATOR(>=)
VOLLEY_LAZY_OPERATOR(&&)
VOLLEY_LAZY_OPERATOR(||)
#undef VOLLEY_LAZY_OPERATOR

template <class T>
[[nodiscard]] auto operator-(const Lazy<T>& a) {
    return detail::lazy_apply([](Value<T> x) { return -x; }, a);
}
template <class T>
[[nodiscard]] auto operator~(const Lazy<T>& a) {
    return detail::lazy_apply([](Value<T> x) { return ~x; }, a);
}
template <class T>
[[nodiscard]] auto operator!(const Lazy<T>& a) {
    return detail::lazy_apply([](Value<T> x) { return !x; }, a);
}

#define VOLLEY_LAZY_FUNCTION(name)                                        \
    template <class T>                                                    \
    [[nodiscard]] auto name(const Lazy<T>& a) {                           \
        return detail::lazy_apply([](Value<T> x) { return name(x); }, a); \
    }
VOLLEY_LAZY_FUNCTION(abs)
VOLLEY_LAZY_FUNCTION(sign)
VOLLEY_LAZY_FUNCTION(floor)
VOLLEY_LAZY_FUNCTION(ceil)
VOLLEY_LAZY_FUNCTION(trunc)
VOLLEY_LAZY_FUNCTION(round)
VOLLEY_LAZY_FUNCTION(sqrt)
VOLLEY_LAZY_FUNCTION(rsqrt)
VOLLEY_LAZY_FUNCTION(cbrt)
VOLLEY_LAZY_FUNCTION(sin)
VOLLEY_LAZY_FUNCTION(cos)
VOLLEY_LAZY_FUNCTION(tan)
VOLLEY_LAZY_FUNCTION(asin)
VOLLEY_LAZY_FUNCTION(acos)
VOLLEY_LAZY_FUNCTION(atan)
VOLLEY_LAZY_FUNCTION(sinh)
VOLLEY_LAZY_FUNCTION(cosh)
VOLLEY_LAZY_FUNCTION(tanh)
VOLLEY_LAZY_FUNCTION(exp)
VOLLEY_LAZY_FUNCTION(exp2)
VOLLEY_LAZY_FUNCTION(expm1)
VOLLEY_LAZY_FUNCTION(log)
VOLLEY_LAZY_FUNCTION(log2)
VOLLEY_LAZY_FUNCTION(log10)
VOLLEY_LAZY_FUNCTION(log1p)
VOLLEY_LAZY_FUNCTION(isnan)
VOLLEY_LAZY_FUNCTION(isinf)
VOLLEY_LAZY_FUNCTION(isfinite)
VOLLEY_LAZY_FUNCTION(real)
VOLLEY_LAZY_FUNCTION(imag)
VOLLEY_LAZY_FUNCTION(conj)
VOLLEY_LAZY_FUNCTION(arg)
#undef VOLLEY_LAZY_FUNCTION

#define VOLLEY_LAZY_FUNCTION(name)                                                       \
    template <class A, class B>                                                          \
    requires detail::LazyOperands<A, B>                                                  \
    [[nodiscard]] auto name(const A& a, const B& b) {                                    \
        using T = typename detail::LazyElement<A, B>::type;                              \
        return detail::lazy_apply([](Value<T> x, Value<T> y) { return name(x, y); },     \
                                  detail::lazy_source<T>(a), detail::lazy_source<T>(b)); \
    }
VOLLEY_LAZY_FUNCTION(min)
VOLLEY_LAZY_FUNCTION(max)
VOLLEY_LAZY_FUNCTION(pow)
VOLLEY_LAZY_FUNCTION(atan2)
VOLLEY_LAZY_FUNCTION(hypot)
VOLLEY_LAZY_FUNCTION(fmod)
VOLLEY_LAZY_FUNCTION(mod)
#undef VOLLEY_LAZY_FUNCTION

/// Returns a where the condition is true, else b.
template <class A, class B>
requires((detail::LazyOperand<A> && detail::LazyOperand<B>)&&(Source<A> || Source<B>))
    [[nodiscard]] auto select(const Lazy<bool>& c, const A& a, const B& b) {
    using T = typename detail::LazyElement<A, B>::type;
    return detail::lazy_apply([](Value<bool> p, Value<T> x, Value<T> y) { return select(p, x, y); }, c,
                              detail::lazy_source<T>(a), detail::lazy_source<T>(b));
}

/// Returns a where the condition is true, else b, as select() does. The condition is any array of bool, and
/// both others may be host numbers, which then have one type: `where(mask, 1.f, 0.f)`.
template <Source C, class A, class B>
requires(std::same_as<source_element_t<C>, bool>&& detail::LazyOperand<A>&& detail::LazyOperand<B>)
    [[nodiscard]] auto where(const C& condition, const A& a, const B& b) {
    if constexpr (Source<A> || Source<B>) {
        return select(lazy(condition), a, b);
    } else {
        static_assert(std::same_as<A, B>, "volley: the numbers of where() have different types: convert one");
        return detail::lazy_apply([](Value<bool> p, Value<A> x, Value<A> y) { return select(p, x, y); },
                                  condition, detail::lazy_source<A>(a), detail::lazy_source<A>(b));
    }
}

/// Converts the elements as cast<T>(value) does.
template <class T, class From>
[[nodiscard]] Lazy<T> cast(const Lazy<From>& a) {
    return Lazy<T>(a.convert(dtype_of<T>()));
}
/// Converts the elements of any array: `convert<double>(buffer)`. Real elements become complex ones, and the
/// components of vectors those of a vector type. Nothing is converted if the type is the same.
template <class T, Source S>
[[nodiscard]] Lazy<T> convert(const S& source) {
    if constexpr (!std::same_as<T, source_element_t<S>>) lang::need_castable<T, source_element_t<S>>();
    return Lazy<T>(AnySource(source).convert(dtype_of<T>()));
}

}  // namespace volley
