// Element<T>: the result of `data[i]`. It holds the value that was loaded and the location it was loaded
// from. Assigning to the expression itself stores to that location. Assigning to a named Element does not
// compile, because the name refers to the value that was loaded.
#pragma once

#include <volley/lang/value.hpp>

namespace volley {

namespace lang {

/// The right operand of a compound operator. *= and /= of a matrix take a scalar.
template <class T, ir::Op op>
struct CompoundOperand {
    using type = In<T>;
};
template <class U, int C, int R, ir::Op op>
requires(op == ir::Op::Mul || op == ir::Op::Div) struct CompoundOperand<mat<U, C, R>, op> {
    using type = Only<U>;
};

}  // namespace lang

#define VOLLEY_NAMED_ELEMENT                                                                          \
    "volley: a named element holds the value that was read and cannot be assigned to: assign to the " \
    "expression (data[i] = x), or declare a Var<T> for a mutable copy"

// NOLINTBEGIN(google-explicit-constructor,misc-unconventional-assign-operator,bugprone-unhandled-self-assignment):
// numbers convert implicitly by design, and assignment records a store
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"  // members of a user's struct, a base class here, may have any name

/// An element of a buffer, shared array or variable, which can be read and assigned to.
///
///     data[i].position.x += dt;
template <class T>
class Element : public lang::Parts<T, ::volley::Element, Value<T>> {
    using VolleyBase = lang::Parts<T, ::volley::Element, Value<T>>;

public:
    explicit Element(lang::Ref ref) : VolleyBase(ref) {}
    Element(const Element& other) : VolleyBase(lang::ref_of(other)) {}

    Value<T> operator=(lang::In<T> value) && { return volley_put(value.ref); }
    Value<T> operator=(const Element& other) && { return volley_put(lang::read(lang::ref_of(other))); }
    void operator=(lang::In<T>) & { static_assert(lang::never<T>, VOLLEY_NAMED_ELEMENT); }
    void operator=(const Element&) & { static_assert(lang::never<T>, VOLLEY_NAMED_ELEMENT); }

#define VOLLEY_ELEMENT_COMPOUND(op, node, need)                                       \
    Value<T> operator op(typename lang::CompoundOperand<T, ir::Op::node>::type b)&& { \
        lang::need<T>();                                                              \
        return volley_put(lang::emit(ir::Op::node, {lang::ref_of(*this), b.ref}));    \
    }                                                                                 \
    void operator op(typename lang::CompoundOperand<T, ir::Op::node>::type)& {        \
        static_assert(lang::never<T>, VOLLEY_NAMED_ELEMENT);                          \
    }
    VOLLEY_COMPOUND_OPERATORS(VOLLEY_ELEMENT_COMPOUND)
#undef VOLLEY_ELEMENT_COMPOUND

#define VOLLEY_ELEMENT_STEP(op, node)                                                                    \
    Value<T> operator op()&& {                                                                           \
        lang::need_number<T>();                                                                          \
        return volley_put(lang::emit(ir::Op::node, {lang::ref_of(*this), lang::host_number<T>(1, {})})); \
    }                                                                                                    \
    Value<T> operator op(int)&& {                                                                        \
        const Value<T> old(*this);                                                                       \
        op static_cast<Element&&>(*this);                                                                \
        return old;                                                                                      \
    }                                                                                                    \
    void operator op()& { static_assert(lang::never<T>, VOLLEY_NAMED_ELEMENT); }                         \
    void operator op(int)& { static_assert(lang::never<T>, VOLLEY_NAMED_ELEMENT); }
    VOLLEY_ELEMENT_STEP(++, Add)
    VOLLEY_ELEMENT_STEP(--, Sub)
#undef VOLLEY_ELEMENT_STEP

    /// Returns a part of the element, which can be assigned to. On a named element, returns a part of the
    /// value that was read.
    template <class P = T>
    requires lang::Indexable<P>
    [[nodiscard]] Element<lang::part_t<P>> operator[](lang::ElementIndex i) && {
        return Element<lang::part_t<P>>(lang::element(lang::ref_of(*this), &i.ref, 1));
    }
    template <class P = T>
    requires lang::Indexable<P>
    [[nodiscard]] Value<lang::part_t<P>> operator[](lang::ElementIndex i) const& {
        return Value<lang::part_t<P>>(lang::extract(lang::read(lang::ref_of(*this)), i.ref));
    }

private:
    Value<T> volley_put(lang::Ref value) { return Value<T>(lang::store(lang::ref_of(*this), value)); }
};

/// An element of Buff<const T>. Assigning to it does not compile.
template <class T>
class ReadOnlyElement : public lang::Parts<T, ::volley::ReadOnlyElement, Value<T>> {
    using VolleyBase = lang::Parts<T, ::volley::ReadOnlyElement, Value<T>>;

public:
    explicit ReadOnlyElement(lang::Ref ref) : VolleyBase(ref) {}
    ReadOnlyElement(const ReadOnlyElement& other) : VolleyBase(lang::ref_of(other)) {}

    void operator=(const ReadOnlyElement&) { volley_read_only(); }
    template <class X>
    void operator=(const X&) {
        volley_read_only<X>();
    }
#define VOLLEY_READ_ONLY_COMPOUND(op, node, need) \
    template <class X>                            \
    void operator op(const X&) {                  \
        volley_read_only<X>();                    \
    }
    VOLLEY_COMPOUND_OPERATORS(VOLLEY_READ_ONLY_COMPOUND)
#undef VOLLEY_READ_ONLY_COMPOUND
    void operator++() { volley_read_only(); }
    void operator--() { volley_read_only(); }
    void operator++(int) { volley_read_only(); }
    void operator--(int) { volley_read_only(); }

    template <class P = T>
    requires lang::Indexable<P>
    [[nodiscard]] ReadOnlyElement<lang::part_t<P>> operator[](lang::ElementIndex i) && {
        return ReadOnlyElement<lang::part_t<P>>(lang::element(lang::ref_of(*this), &i.ref, 1));
    }
    template <class P = T>
    requires lang::Indexable<P>
    [[nodiscard]] Value<lang::part_t<P>> operator[](lang::ElementIndex i) const& {
        return Value<lang::part_t<P>>(lang::extract(lang::read(lang::ref_of(*this)), i.ref));
    }

private:
    template <class X = T>
    static void volley_read_only() {
        static_assert(
            lang::never<X>,
            "volley: this buffer is read-only: declare the parameter as Buff<T> instead of Buff<const T>");
    }
};

#pragma GCC diagnostic pop
// NOLINTEND(google-explicit-constructor,misc-unconventional-assign-operator,bugprone-unhandled-self-assignment)

#undef VOLLEY_NAMED_ELEMENT

}  // namespace volley
