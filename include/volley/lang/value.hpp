// Value<T>: an immutable value in a kernel, known only when the kernel runs. Operators, functions, loads and
// constants return Values: `auto y = x * 2 + 1;`. A Value is a handle of a few words that belongs to the
// kernel that this thread is tracing. Using it anywhere else throws TraceError.
#pragma once

#include <volley/lang/operand.hpp>
#include <volley/lang/operators.hpp>
#include <volley/lang/swizzle.hpp>

namespace volley {
namespace lang {

template <class T>
class ValueBase : public HandleOf<T>::type, public Operators<T> {
    static_assert(Type<T>::rank >= 0);  // instantiates Type<T>, which reports unsupported types

public:
    using volley_type = T;

protected:
    explicit ValueBase(Ref ref) : HandleOf<T>::type(ref) {}
};

/// The members that name parts: x, y, z, w of vectors and the fields of structs. Each is a Face<part> (Value,
/// Var or Element) with the path of the part.
template <class T>
struct PartsOf {
    template <template <class> class Face, class Base>
    using type = Base;
};

template <Reflected T>
struct PartsOf<T> {
    template <template <class> class Face, class Base>
    using type = typename ReflectionOf<T>::template volley_members<Face, Base>;
};

template <class U>
struct PartsOf<vec<U, 2>> {
    template <template <class> class Face, class Base>
    struct Members : Base {
        Face<U> x, y;
        explicit Members(Ref ref) : Base(ref), x(ref.part(0)), y(ref.part(1)) {}
    };
    template <template <class> class Face, class Base>
    using type = Members<Face, Base>;
};

template <class U>
struct PartsOf<vec<U, 3>> {
    template <template <class> class Face, class Base>
    struct Members : Base {
        Face<U> x, y, z;
        explicit Members(Ref ref) : Base(ref), x(ref.part(0)), y(ref.part(1)), z(ref.part(2)) {}
    };
    template <template <class> class Face, class Base>
    using type = Members<Face, Base>;
};

template <class U>
struct PartsOf<vec<U, 4>> {
    template <template <class> class Face, class Base>
    struct Members : Base {
        Face<U> x, y, z, w;
        explicit Members(Ref ref)
            : Base(ref), x(ref.part(0)), y(ref.part(1)), z(ref.part(2)), w(ref.part(3)) {}
    };
    template <template <class> class Face, class Base>
    using type = Members<Face, Base>;
};

template <class T, template <class> class Face, class Base>
using Parts = typename PartsOf<T>::template type<Face, Base>;

}  // namespace lang

// Each compound operator with its operation and its check of the operand type. Var and Element support them;
// for Value they are a compile error.
// clang-format off
#define VOLLEY_COMPOUND_OPERATORS(X)                                                                \
    X(+=, Add, need_number) X(-=, Sub, need_number) X(*=, Mul, need_number) X(/=, Div, need_number) \
    X(%=, Rem, need_whole) X(&=, And, need_bits) X(|=, Or, need_bits) X(^=, Xor, need_bits)         \
    X(<<=, Shl, need_whole) X(>>=, Shr, need_whole)
// clang-format on

#define VOLLEY_FIXED_VALUE "volley: a Value cannot be assigned to: declare a Var<T> instead"

// NOLINTBEGIN(google-explicit-constructor,misc-unconventional-assign-operator,bugprone-unhandled-self-assignment):
// numbers convert implicitly by design, and assignment records a store
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"  // members of a user's struct, a base class here, may have any name

/// An immutable value. Copying a Var to a Value copies its current value. The members of Value, Var and
/// Element have the prefix volley_, because the fields of a struct may have any other name.
template <class T>
class Value : public lang::Parts<T, ::volley::Value, lang::ValueBase<T>> {
    using VolleyBase = lang::Parts<T, ::volley::Value, lang::ValueBase<T>>;

public:
    explicit Value(lang::Ref ref) : VolleyBase(ref) {}

    Value(const Value& other) : VolleyBase(lang::read(lang::ref_of(other))) {}

    /// Converts a host number. It sets all components of a vector, or the real part of a complex number.
    template <lang::HostNumber N>
    requires lang::Adopting<T> Value(N n, lang::Site at = lang::Site::here())
        : VolleyBase(volley_widen(lang::host_number<T>(n, at))) {}

    /// Converts a host constant.
    Value(const T& host, lang::Site at = lang::Site::here()) requires(!lang::Scalar<T>)
        : VolleyBase(lang::constant(dtype_of<T>(), &host, at)) {}

    /// Widens a scalar Value to a vector or complex number.
    template <lang::Expr X>
    requires(!std::derived_from<X, Value>) explicit Value(const X& x, lang::Site at = lang::Site::here())
        : VolleyBase(volley_widen(lang::argument<T>(x, at))) {}

    /// Returns component i of a vector, column i of a matrix, or element i of an array.
    template <class P = T>
    requires lang::Indexable<P>
    [[nodiscard]] Value<lang::part_t<P>> operator[](lang::ElementIndex i) const {
        return Value<lang::part_t<P>>(lang::extract(lang::ref_of(*this), i.ref));
    }

    void operator=(const Value&) { static_assert(lang::never<T>, VOLLEY_FIXED_VALUE); }
    template <class X>
    void operator=(const X&) {
        static_assert(lang::never<X>, VOLLEY_FIXED_VALUE);
    }
#define VOLLEY_VALUE_COMPOUND(op, node, need)              \
    template <class X>                                     \
    void operator op(const X&) {                           \
        static_assert(lang::never<X>, VOLLEY_FIXED_VALUE); \
    }
    VOLLEY_COMPOUND_OPERATORS(VOLLEY_VALUE_COMPOUND)
#undef VOLLEY_VALUE_COMPOUND
    void operator++() { static_assert(lang::never<T>, VOLLEY_FIXED_VALUE); }
    void operator--() { static_assert(lang::never<T>, VOLLEY_FIXED_VALUE); }
    void operator++(int) { static_assert(lang::never<T>, VOLLEY_FIXED_VALUE); }
    void operator--(int) { static_assert(lang::never<T>, VOLLEY_FIXED_VALUE); }

    /// Does not compile: the value is not known while the kernel is traced.
    template <class B = T>
    explicit operator bool() const {
        static_assert(
            lang::never<B>,
            "volley: this condition is a Value, which is known only when the kernel runs: use $if, $while "
            "or select(c, a, b) instead of if, while or ?:");
        return false;
    }

private:
    static lang::Ref volley_widen(lang::Ref ref) {
        if constexpr (lang::Scalar<T>) {
            return ref;
        } else {
            return lang::promote(ref, dtype_of<T>());
        }
    }
};

#undef VOLLEY_FIXED_VALUE
#pragma GCC diagnostic pop
// NOLINTEND(google-explicit-constructor,misc-unconventional-assign-operator,bugprone-unhandled-self-assignment)

template <lang::HostNumber N>
Value(N) -> Value<N>;
template <lang::Expr X>
Value(X) -> Value<typename X::volley_type>;

}  // namespace volley
