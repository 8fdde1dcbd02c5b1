// Var<T>: a mutable local variable of each invocation. `Array<T, N>` is a local array.
//
//     Var<float> sum = 0.f;
//     $for (k, 0u, n) { sum += data[k]; }
#pragma once

#include <volley/lang/element.hpp>

namespace volley {

// NOLINTBEGIN(google-explicit-constructor,misc-unconventional-assign-operator,bugprone-unhandled-self-assignment):
// numbers convert implicitly by design, and assignment records a store
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"  // members of a user's struct, a base class here, may have any name

/// A mutable variable, zero unless initialised. Reading it returns its value at that point of the kernel.
/// Copying or moving it creates another variable.
template <class T>
class Var : public lang::Parts<T, ::volley::Var, Value<T>> {
    using VolleyBase = lang::Parts<T, ::volley::Var, Value<T>>;

public:
    explicit Var(lang::Ref ref) : VolleyBase(ref) {}

    explicit Var(lang::Site at = lang::Site::here()) : VolleyBase(lang::declare_var(dtype_of<T>(), at)) {}

    /// Creates another variable. There is no move constructor, because std::swap and std::exchange assign to
    /// moved-from objects.
    Var(const Var& other, lang::Site at = lang::Site::here())
        : VolleyBase(lang::declare_var(dtype_of<T>(), lang::read(lang::ref_of(other), at), at)) {}

    /// Creates a variable that is initialised with a Value, host number or host constant.
    template <lang::HostNumber N>
    Var(N initial, lang::Site at = lang::Site::here())
        : VolleyBase(lang::declare_var(dtype_of<T>(), lang::argument<T>(initial, at), at)) {}
    template <lang::ByReference X>
    requires(!std::same_as<X, T>) Var(const X& initial, lang::Site at = lang::Site::here())
        : VolleyBase(lang::declare_var(dtype_of<T>(), lang::argument<T>(initial, at), at)) {}
    Var(const T& initial, lang::Site at = lang::Site::here()) requires(!lang::Scalar<T>)
        : VolleyBase(lang::declare_var(dtype_of<T>(), lang::constant(dtype_of<T>(), &initial, at), at)) {}

    Var& operator=(lang::In<T> value) { return volley_put(value.ref); }
    /// Disabled, because everything that converts to Var would match it. The next overload assigns a Var.
    Var& operator=(const Var&) requires(lang::never<T>);
    template <std::same_as<Var> V>
    Var& operator=(const V& other) {
        return volley_put(lang::read(lang::ref_of(other)));
    }

#define VOLLEY_VAR_COMPOUND(op, node, need)                                        \
    Var& operator op(typename lang::CompoundOperand<T, ir::Op::node>::type b) {    \
        lang::need<T>();                                                           \
        return volley_put(lang::emit(ir::Op::node, {lang::ref_of(*this), b.ref})); \
    }
    VOLLEY_COMPOUND_OPERATORS(VOLLEY_VAR_COMPOUND)
#undef VOLLEY_VAR_COMPOUND

    Var& operator++() { return volley_step(ir::Op::Add); }
    Var& operator--() { return volley_step(ir::Op::Sub); }
    Value<T> operator++(int) {
        Value<T> old(*this);
        volley_step(ir::Op::Add);
        return old;
    }
    Value<T> operator--(int) {
        Value<T> old(*this);
        volley_step(ir::Op::Sub);
        return old;
    }

    /// Returns component i of a vector, column i of a matrix, or element i of an array; it can be assigned
    /// to.
    template <class P = T>
    requires lang::Indexable<P>
    [[nodiscard]] Element<lang::part_t<P>> operator[](lang::ElementIndex i) {
        return Element<lang::part_t<P>>(lang::element(lang::ref_of(*this), &i.ref, 1));
    }
    template <class P = T>
    requires lang::Indexable<P>
    [[nodiscard]] Value<lang::part_t<P>> operator[](lang::ElementIndex i) const {
        return Value<lang::part_t<P>>(lang::read(lang::element(lang::ref_of(*this), &i.ref, 1)));
    }

private:
    Var& volley_put(lang::Ref value) {
        lang::store(lang::ref_of(*this), value);
        return *this;
    }
    Var& volley_step(ir::Op op) {
        lang::need_number<T>();
        return volley_put(lang::emit(op, {lang::ref_of(*this), lang::host_number<T>(1, {})}));
    }
};

#pragma GCC diagnostic pop
// NOLINTEND(google-explicit-constructor,misc-unconventional-assign-operator,bugprone-unhandled-self-assignment)

template <lang::HostNumber N>
Var(N) -> Var<N>;
template <lang::Expr X>
Var(X) -> Var<typename X::volley_type>;

/// A local array, initially zero: `Array<float, 4> a; a[k] = 1.f;`
template <class T, std::size_t N>
using Array = Var<std::array<T, N>>;

#undef VOLLEY_COMPOUND_OPERATORS

}  // namespace volley
