// How arguments enter an operation. In<T> and Left<T> accept what may stand where a value of type T is
// wanted: Values of that type, host numbers, which adopt it, host constants, and scalars beside vectors and
// complex numbers. As implicit conversions they also learn the user's source line, which operators cannot.
#pragma once

#include <volley/lang/record.hpp>
#include <volley/lang/type_of.hpp>

namespace volley {

template <class T>
class Value;
template <class T>
class Var;
template <class T>
class Element;

namespace lang {

/// The base of everything that can be read inside a kernel.
class Handle {
public:
    friend constexpr Ref ref_of(const Handle& handle) noexcept;

protected:
    explicit constexpr Handle(Ref ref) noexcept : ref_(ref) {}

private:
    Ref ref_;
};

/// What a handle names. A free function, as members would meet the names of structs' fields.
[[nodiscard]] constexpr Ref ref_of(const Handle& handle) noexcept { return handle.ref_; }

/// Value<T> and all that derives from it.
template <class X>
concept Expr = std::derived_from<X, Handle> && requires {
    typename X::volley_type;
};

/// The type that an argument brings with it; void for host numbers, which adopt that of the others.
template <class X>
struct Operand {
    using type = void;
};
template <Expr X>
struct Operand<X> {
    using type = typename X::volley_type;
};
template <class X>
requires(is_vector<X> || is_complex<X> || is_matrix<X>) struct Operand<X> {
    using type = X;
};
template <class X>
using operand_t = typename Operand<X>::type;

/// What a function of the language takes: at least one Expr among its arguments, and numbers or constants.
template <class X>
concept Argument = Expr<X> || HostNumber<X> || is_vector<X> || is_complex<X> || is_matrix<X>;
template <class... X>
concept Arguments = (Argument<X> && ...) && (Expr<X> || ...);

/// The widest type among the arguments. Whether the others fit is checked when they are converted to it.
template <class A, class... Rest>
struct Common {
    using a = operand_t<A>;
    using b = typename Common<Rest...>::type;
    static consteval bool first() {
        if constexpr (std::is_void_v<b>) {
            return true;
        } else if constexpr (std::is_void_v<a>) {
            return false;
        } else {
            return Type<a>::rank >= Type<b>::rank;
        }
    }
    using type = std::conditional_t<first(), a, b>;
};
template <class A>
struct Common<A> {
    using type = operand_t<A>;
};
template <class... X>
using common_t = typename Common<X...>::type;

/// What a host number may stand for: of a vector all components, of a complex number the real part.
template <class T>
concept Adopting = Numeric<T> && !is_matrix<T>;

/// A host number in T's component type.
template <class T, HostNumber N>
[[nodiscard]] Ref host_number(N n, Site at) {
    using S = scalar_t<T>;
    static_assert(!std::same_as<S, bool> || std::same_as<N, bool>,
                  "volley: a number stands where a bool is needed: compare it, as in x != 0");
    static_assert(!std::same_as<N, bool> || std::same_as<S, bool>,
                  "volley: a bool stands where a number is needed: write 1 or 0, or select(c, a, b)");
    static_assert(
        !std::integral<S> || std::integral<N>,
        "volley: a floating-point number stands beside an integer value: write an integer, or convert "
        "the value with cast<float>(v)");
    if constexpr (!std::integral<N>) {
        return number(scalar_type<S>(), static_cast<double>(n), at);
    } else if constexpr (std::is_signed_v<N>) {
        return number(scalar_type<S>(), static_cast<std::int64_t>(n), at);
    } else {
        return number(scalar_type<S>(), static_cast<std::uint64_t>(n), at);
    }
}

/// A complex constant of the host with parts of another type.
template <class T, class N>
[[nodiscard]] Ref host_complex(const std::complex<N>& z, Site at) {
    using S = scalar_t<T>;
    const T adopted(static_cast<S>(z.real()), static_cast<S>(z.imag()));
    return constant(dtype_of<T>(), &adopted, at);
}

/// Whether an Expr of type X is a scalar that widens to T.
template <class X, class T>
concept Widens = Expr<X> && Type<T>::rank == 1 && std::same_as<typename X::volley_type, scalar_t<T>>;
template <class X, class T>
concept Fits = Expr<X> &&(std::same_as<typename X::volley_type, T> || Widens<X, T>);

/// The left operand of an operator on T.
template <class T>
struct Left {
    Ref ref;

    // NOLINTBEGIN(google-explicit-constructor): the conversions are what it is for
    Left(const Value<T>& v, Site at = Site::here()) : ref(read(ref_of(v), at)) {}
    template <HostNumber N>
    requires Adopting<T> Left(N n, Site at = Site::here()) : ref(host_number<T>(n, at)) {}
    Left(const T& host, Site at = Site::here()) requires(!Scalar<T>)
        : ref(constant(dtype_of<T>(), &host, at)) {}
    template <Widens<T> X>
    Left(const X& v, Site at = Site::here()) : ref(read(ref_of(v), at)) {}
    template <HostNumber N>
    requires(is_complex<T> && !std::same_as<std::complex<N>, T>)
        Left(const std::complex<N>& z, Site at = Site::here())
        : ref(host_complex<T>(z, at)) {}
    template <Expr X>
    requires(!Fits<X, T> && Type<typename X::volley_type>::rank < Type<T>::rank) Left(const X&, Site = {}) {
        static_assert(never<X>,
                      "volley: two values of different types meet here: convert one with cast<T>(v)");
    }
    // NOLINTEND(google-explicit-constructor)
};

/// A value of type T that a function, a store or the right side of an operator takes.
template <class T>
struct In {
    Ref ref;

    // NOLINTBEGIN(google-explicit-constructor): the conversions are what it is for
    In(const Value<T>& v, Site at = Site::here()) : ref(read(ref_of(v), at)) {}
    template <HostNumber N>
    requires Adopting<T> In(N n, Site at = Site::here()) : ref(host_number<T>(n, at)) {}
    In(const T& host, Site at = Site::here()) requires(!Scalar<T>)
        : ref(constant(dtype_of<T>(), &host, at)) {}
    template <Widens<T> X>
    In(const X& v, Site at = Site::here()) : ref(read(ref_of(v), at)) {}
    template <HostNumber N>
    requires(is_complex<T> && !std::same_as<std::complex<N>, T>)
        In(const std::complex<N>& z, Site at = Site::here())
        : ref(host_complex<T>(z, at)) {}
    template <Expr X>
    requires(!Fits<X, T> && Type<typename X::volley_type>::rank <= Type<T>::rank) In(const X&, Site = {}) {
        static_assert(never<X>,
                      "volley: two values of different types meet here: convert one with cast<T>(v)");
    }
    // NOLINTEND(google-explicit-constructor)
};

/// An argument of a function whose widest argument has type T.
template <class T, class X>
[[nodiscard]] Ref argument(const X& x, Site at) {
    if constexpr (Expr<X>) {
        static_assert(Fits<X, T>,
                      "volley: two values of different types meet here: convert one with cast<T>(v)");
        return read(ref_of(x), at);
    } else if constexpr (HostNumber<X>) {
        return host_number<T>(x, at);
    } else if constexpr (std::same_as<X, T>) {
        return constant(dtype_of<T>(), &x, at);
    } else {
        static_assert(never<X>, "volley: a constant of another type stands beside a value: convert it");
        return {};
    }
}

/// An index: a Value of any integer type, or a host integer.
struct ElementIndex {
    Ref ref;

    // NOLINTBEGIN(google-explicit-constructor): the conversions are what it is for
    template <class I>
    ElementIndex(const Value<I>& v, Site at = Site::here()) : ref(read(ref_of(v), at)) {
        static_assert(
            Scalar<I> && is_whole<I>,
            "volley: an index is an integer scalar: take a component (.x) or cast<std::uint32_t>(v)");
    }
    template <HostNumber N>
    ElementIndex(N n, Site at = Site::here()) : ref(make(n, at)) {}
    // NOLINTEND(google-explicit-constructor)

private:
    template <HostNumber N>
    static Ref make(N n, Site at) {
        static_assert(std::integral<N> && !std::same_as<N, bool>, "volley: an index is an integer");
        if constexpr (std::is_signed_v<N>) {
            return index_number(static_cast<std::int64_t>(n), at);
        } else {
            return index_number(static_cast<std::uint64_t>(n), at);
        }
    }
};

}  // namespace lang
}  // namespace volley
