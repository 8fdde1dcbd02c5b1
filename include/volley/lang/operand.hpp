// The arguments of operations. In<T> and Left<T> accept everything that is valid for a value of type T:
// Values of that type, host numbers (which adopt the type), host constants, and scalars if T is a vector or
// complex type. Their implicit conversions also capture the user's source line, which an operator cannot take
// as a parameter.
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

/// The base class of everything that can be read in a kernel.
class Handle {
public:
    friend constexpr Ref ref_of(const Handle& handle) noexcept;

protected:
    explicit constexpr Handle(Ref ref) noexcept : ref_(ref) {}

private:
    Ref ref_;
};

/// Returns the Ref of a handle. A free function, because a member could collide with the fields of a struct.
[[nodiscard]] constexpr Ref ref_of(const Handle& handle) noexcept { return handle.ref_; }

/// Value<T> and the classes derived from it.
template <class X>
concept Expr = std::derived_from<X, Handle> && requires {
    typename X::volley_type;
};

/// The type of an argument; void for host numbers, which adopt the type of the other arguments.
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

/// The arguments of a function of the language: Exprs, host numbers and host constants, with at least one
/// Expr.
template <class X>
concept Argument = Expr<X> || HostNumber<X> || is_vector<X> || is_complex<X> || is_matrix<X>;
template <class... X>
concept Arguments = (Argument<X> && ...) && (Expr<X> || ...);

// Functions take host numbers by value, so that a lambda need not capture a local constexpr, and other
// arguments by reference, because a copy of a Var is another variable.
template <class X>
concept ByReference = Argument<X> && !HostNumber<X>;

// Defines the overloads of name(a, b) and name(a, b, c) for which constraint<A, B, ...> holds. They call
// record(a, b, ..., at).
#define VOLLEY_FUNCTION_2(name, record, constraint)                                           \
    VOLLEY_OVERLOAD_2(name, record, constraint, ByReference, const A&, ByReference, const B&) \
    VOLLEY_OVERLOAD_2(name, record, constraint, ByReference, const A&, HostNumber, B)         \
    VOLLEY_OVERLOAD_2(name, record, constraint, HostNumber, A, ByReference, const B&)
#define VOLLEY_OVERLOAD_2(name, record, constraint, KindA, TypeA, KindB, TypeB)                         \
    template <::volley::lang::KindA A, ::volley::lang::KindB B>                                         \
    requires constraint<A, B>                                                                           \
    [[nodiscard]] auto name(TypeA a, TypeB b, ::volley::lang::Site at = ::volley::lang::Site::here()) { \
        return record(a, b, at);                                                                        \
    }
#define VOLLEY_FUNCTION_3(name, record, constraint)                     \
    VOLLEY_OVERLOADS_3(name, record, constraint, ByReference, const A&) \
    VOLLEY_OVERLOADS_3(name, record, constraint, HostNumber, A)
#define VOLLEY_OVERLOADS_3(name, record, constraint, KindA, TypeA)                                          \
    VOLLEY_OVERLOAD_3(name, record, constraint, KindA, TypeA, ByReference, const B&, ByReference, const C&) \
    VOLLEY_OVERLOAD_3(name, record, constraint, KindA, TypeA, ByReference, const B&, HostNumber, C)         \
    VOLLEY_OVERLOAD_3(name, record, constraint, KindA, TypeA, HostNumber, B, ByReference, const C&)         \
    VOLLEY_OVERLOAD_3(name, record, constraint, KindA, TypeA, HostNumber, B, HostNumber, C)
#define VOLLEY_OVERLOAD_3(name, record, constraint, KindA, TypeA, KindB, TypeB, KindC, TypeC) \
    template <::volley::lang::KindA A, ::volley::lang::KindB B, ::volley::lang::KindC C>      \
    requires constraint<A, B, C>                                                              \
    [[nodiscard]] auto name(TypeA a, TypeB b, TypeC c,                                        \
                            ::volley::lang::Site at = ::volley::lang::Site::here()) {         \
        return record(a, b, c, at);                                                           \
    }

/// The widest type of the arguments. The conversion to it checks that the other arguments fit.
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

/// The types that a host number converts to. It sets all components of a vector, or the real part of a
/// complex number.
template <class T>
concept Adopting = Numeric<T> && !is_matrix<T>;

/// Records a host number in the component type of T.
template <class T, HostNumber N>
[[nodiscard]] Ref host_number(N n, Site at) {
    using S = scalar_t<T>;
    static_assert(!std::same_as<S, bool> || std::same_as<N, bool>,
                  "volley: a number is used where a bool is expected: compare it, as in x != 0");
    static_assert(!std::same_as<N, bool> || std::same_as<S, bool>,
                  "volley: a bool is used where a number is expected: write 1 or 0, or select(c, a, b)");
    static_assert(
        !std::integral<S> || std::integral<N>,
        "volley: a floating-point number is combined with an integer value: write an integer, or convert "
        "the value with cast<float>(v)");
    if constexpr (!std::integral<N>) {
        return number(scalar_type<S>(), static_cast<double>(n), at);
    } else if constexpr (std::is_signed_v<N>) {
        return number(scalar_type<S>(), static_cast<std::int64_t>(n), at);
    } else {
        return number(scalar_type<S>(), static_cast<std::uint64_t>(n), at);
    }
}

/// Records a complex host constant, converted to the component type of T.
template <class T, class N>
[[nodiscard]] Ref host_complex(const std::complex<N>& z, Site at) {
    using S = scalar_t<T>;
    const T adopted(static_cast<S>(z.real()), static_cast<S>(z.imag()));
    return constant(dtype_of<T>(), &adopted, at);
}

/// An Expr whose type is the component type of T, so that it widens to T.
template <class X, class T>
concept Widens = Expr<X> && Type<T>::rank == 1 && std::same_as<typename X::volley_type, scalar_t<T>>;
template <class X, class T>
concept Fits = Expr<X> &&(std::same_as<typename X::volley_type, T> || Widens<X, T>);

/// The left operand of an operator on T.
template <class T>
struct Left {
    Ref ref;

    // NOLINTBEGIN(google-explicit-constructor): the type exists for its conversions
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
                      "volley: values of different types are combined here: convert one with cast<T>(v)");
    }
    // NOLINTEND(google-explicit-constructor)
};

/// A value of type T: the argument of a function, the value of a store or the right operand of an operator.
template <class T>
struct In {
    Ref ref;

    // NOLINTBEGIN(google-explicit-constructor): the type exists for its conversions
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
                      "volley: values of different types are combined here: convert one with cast<T>(v)");
    }
    // NOLINTEND(google-explicit-constructor)
};

/// Records an argument of a function whose widest argument has type T.
template <class T, class X>
[[nodiscard]] Ref argument(const X& x, Site at) {
    if constexpr (Expr<X>) {
        static_assert(Fits<X, T>,
                      "volley: values of different types are combined here: convert one with cast<T>(v)");
        return read(ref_of(x), at);
    } else if constexpr (HostNumber<X>) {
        return host_number<T>(x, at);
    } else if constexpr (std::same_as<X, T>) {
        return constant(dtype_of<T>(), &x, at);
    } else {
        static_assert(
            never<X>,
            "volley: a host constant is combined with a value of another type: convert the constant");
        return {};
    }
}

/// An index: a Value of any integer type, or a host integer. By default, none.
struct ElementIndex {
    Ref ref;

    ElementIndex() = default;

    // NOLINTBEGIN(google-explicit-constructor): the type exists for its conversions
    template <class I>
    ElementIndex(const Value<I>& v, Site at = Site::here()) : ref(read(ref_of(v), at)) {
        static_assert(Scalar<I> && is_whole<I>,
                      "volley: an index must be an integer scalar: take a component (.x), or convert with "
                      "cast<u32>(v)");
    }
    template <HostNumber N>
    ElementIndex(N n, Site at = Site::here()) : ref(make(n, at)) {}
    // NOLINTEND(google-explicit-constructor)

    [[nodiscard]] bool given() const noexcept { return ref.trace() != 0; }

private:
    template <HostNumber N>
    static Ref make(N n, Site at) {
        static_assert(std::integral<N> && !std::same_as<N, bool>,
                      "volley: an index must be an integer: convert the number");
        if constexpr (std::is_signed_v<N>) {
            return index_number(static_cast<std::int64_t>(n), at);
        } else {
            return index_number(static_cast<std::uint64_t>(n), at);
        }
    }
};

}  // namespace lang
}  // namespace volley
