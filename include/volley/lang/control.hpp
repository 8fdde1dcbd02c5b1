// Control flow of kernels, without lambdas:
//
//     $if (x > 0) { ... } $elif (x < -1) { ... } $else { ... }
//     $for (k, 0u, n) { ... }        // k is a Value; $for (k, a, b, step) too
//     $while (x > eps) { ... }       // the condition is evaluated before each iteration
//     $break;  $continue;  $return;
//
// $return ends the invocation, even in a function that the kernel calls. To return a result from such a
// function, use a C++ return statement at its end.
//
// The host runs each body and each condition exactly once, while it traces the kernel: a host variable that
// the body of a $for changes is changed once, so keep in a Var what changes in a kernel. Leaving a body with
// a C++ `break`, `continue` or `return` leaves it incomplete, and tracing fails with a TraceError.
//
// VOLLEY_IF, VOLLEY_FOR and so on are the same macros for code that cannot use `$`; define VOLLEY_NO_DOLLAR
// to leave the `$` names undefined.
#pragma once

#include <volley/lang/operand.hpp>
#include <volley/lang/value.hpp>

namespace volley::lang {

/// The condition of $if and $while: a Value<bool> or a host bool.
struct Condition {
    Ref ref;
    bool always = false;  // a host `true`, which a loop does not check

    Condition(const Value<bool>& c, Site at) : ref(read(ref_of(c), at)) {}
    Condition(bool c, Site at) : ref(number(ScalarType::Bool, std::uint64_t{c}, at)), always(c) {}
    template <class X>
    requires(!std::same_as<X, bool> && !std::derived_from<X, Value<bool>>) Condition(const X&, Site) {
        static_assert(
            never<X>,
            "volley: the condition of $if and $while must be a Value<bool>: compare it, as in x != 0");
    }
};

/// Closes the region of a body when the host leaves it. If it leaves early, through an exception or a jump,
/// the destructor marks the trace as failed; it does not throw.
class VOLLEY_API Scope {
public:
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

protected:
    explicit Scope(Site at, const char* name) noexcept : at_(at), name_(name) {}
    ~Scope();
    void entered() noexcept;
    void left() noexcept { open_ = false; }

    Site at_;

private:
    const char* name_;
    std::uint32_t trace_ = 0;
    std::uint32_t depth_ = 0;
    int exceptions_ = 0;
    bool open_ = false;
};

/// The guard of $if.
class VOLLEY_API If : private Scope {
public:
    If(Condition condition, Site at) noexcept : Scope(at, "$if"), condition_(condition.ref) {}
    /// Returns true twice: for the then-branch and for the else-branch, which may be missing.
    [[nodiscard]] bool next();
    [[nodiscard]] bool then() const noexcept { return state_ == 1; }

private:
    Ref condition_;
    int state_ = 0;
};

/// The guard of $while.
class VOLLEY_API While : private Scope {
public:
    explicit While(Site at) noexcept : Scope(at, "$while") {}
    /// Returns true once.
    [[nodiscard]] bool next();
    /// Records a break out of the loop if the condition is false.
    void check(Condition condition);

private:
    int state_ = 0;
};

/// The guard of $for, without the type of its index.
class VOLLEY_API ForLoop : private Scope {
public:
    ForLoop(Ref begin, Ref end, Ref step, Site at) noexcept
        : Scope(at, "$for"), begin_(begin), end_(end), step_(step) {}
    Ref open();
    void close();

private:
    Ref begin_, end_, step_;
};

/// The range that $for iterates over. It has one element, the index of the loop.
template <class T>
class ForRange : private ForLoop {
public:
    using ForLoop::ForLoop;

    struct End {};
    class Iterator {
    public:
        Iterator(ForRange* range, Ref index) : range_(range), index_(index) {}
        Value<T> operator*() const { return Value<T>(index_); }
        void operator++() {
            range_->close();
            range_ = nullptr;
        }
        bool operator!=(End) const { return range_ != nullptr; }

    private:
        ForRange* range_;
        Ref index_;
    };

    Iterator begin() { return Iterator(this, open()); }
    End end() const { return {}; }
};

template <class... X>
struct LoopType {
    using type = common_t<X...>;
};
template <HostNumber... X>
struct LoopType<X...> {
    using type = std::common_type_t<X...>;
};

template <class A, class B, class C>
[[nodiscard]] auto loop_of(const A& begin, const B& end, const C& step, Site at) {
    using T = typename LoopType<A, B>::type;
    static_assert(
        is_whole<T> && Scalar<T>,
        "volley: the bounds and the step of $for must be integers of one type: convert them with cast<T>(v)");
    // Braced initialisers are evaluated from left to right.
    return ForRange<T>{argument<T>(begin, at), argument<T>(end, at), argument<T>(step, at), at};
}
template <class A, class B>
[[nodiscard]] auto unit_loop_of(const A& begin, const B& end, Site at) {
    return loop_of(begin, end, 1, at);
}
/// The bounds of a loop may all be host numbers.
template <class... X>
concept Bounds = (Argument<X> && ...);
VOLLEY_FUNCTION_2(loop, unit_loop_of, Bounds)
VOLLEY_OVERLOAD_2(loop, unit_loop_of, Bounds, HostNumber, A, HostNumber, B)
VOLLEY_FUNCTION_3(loop, loop_of, Bounds)

}  // namespace volley::lang

#define VOLLEY_SITE (::volley::lang::Site{__FILE__, static_cast<unsigned>(__LINE__)})

// The loop runs twice, so that both branches of the C++ if-else are traced. It is one statement, including
// the else, so it nests like a plain if.
#define VOLLEY_IF(...) VOLLEY_IF_(VOLLEY_JOIN(volley_if_, __COUNTER__), __VA_ARGS__)
#define VOLLEY_IF_(guard, ...)                                                                       \
    for (::volley::lang::If guard(::volley::lang::Condition(__VA_ARGS__, VOLLEY_SITE), VOLLEY_SITE); \
         guard.next();)                                                                              \
        if (guard.then())
#define VOLLEY_ELSE else
#define VOLLEY_ELIF(...) else VOLLEY_IF (__VA_ARGS__)

#define VOLLEY_WHILE(...) VOLLEY_WHILE_(VOLLEY_JOIN(volley_while_, __COUNTER__), __VA_ARGS__)
#define VOLLEY_WHILE_(guard, ...)                                                      \
    for (::volley::lang::While guard(VOLLEY_SITE); guard.next();)                      \
        if (guard.check(::volley::lang::Condition(__VA_ARGS__, VOLLEY_SITE)); false) { \
        } else

#define VOLLEY_FOR(index, ...) \
    for ([[maybe_unused]] const auto index : ::volley::lang::loop(__VA_ARGS__, VOLLEY_SITE))

#define VOLLEY_BREAK ::volley::lang::jump(::volley::ir::Op::Break, VOLLEY_SITE)
#define VOLLEY_CONTINUE ::volley::lang::jump(::volley::ir::Op::Continue, VOLLEY_SITE)
#define VOLLEY_RETURN ::volley::lang::jump(::volley::ir::Op::Return, VOLLEY_SITE)

#if !defined(VOLLEY_NO_DOLLAR)
#if defined(__clang__)
// Applies to the rest of the including file, because -Wpedantic would report every use of a `$` name.
#pragma clang diagnostic ignored "-Wdollar-in-identifier-extension"
#endif
#define $if VOLLEY_IF
#define $elif VOLLEY_ELIF
#define $else VOLLEY_ELSE
#define $while VOLLEY_WHILE
#define $for VOLLEY_FOR
#define $break VOLLEY_BREAK
#define $continue VOLLEY_CONTINUE
#define $return VOLLEY_RETURN
#endif
