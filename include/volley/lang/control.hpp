// Control flow of kernels, without lambdas:
//
//     $if (x > 0) { ... } $elif (x < -1) { ... } $else { ... }
//     $for (k, 0u, n) { ... }        // k is a Value; $for (k, a, b, step) too
//     $while (x > eps) { ... }       // the condition is evaluated before each round
//     $break;  $continue;  $return;
//
// $return ends the invocation, from inside of a function that the kernel calls too: functions of Values give
// their result by C++'s own return, at their end.
//
// Each body is run once by the host, while it is traced, and so is each condition. A host `break`, `continue`
// or `return` out of a body would leave it half traced: the trace then ends with a TraceError that says so.
// VOLLEY_IF and kin are the same, for code that forbids `$`.
#pragma once

#include <volley/lang/operand.hpp>
#include <volley/lang/value.hpp>

namespace volley::lang {

/// What $if and $while take: Value<bool>, or a host bool.
struct Condition {
    Ref ref;
    bool always = false;  // a host true: nothing to check in a loop

    Condition(const Value<bool>& c, Site at) : ref(read(ref_of(c), at)) {}
    Condition(bool c, Site at) : ref(number(ScalarType::Bool, std::uint64_t{c}, at)), always(c) {}
    template <class X>
    requires(!std::same_as<X, bool> && !std::derived_from<X, Value<bool>>) Condition(const X&, Site) {
        static_assert(never<X>,
                      "volley: the condition of $if and $while is a Value<bool>: compare it, as in x != 0");
    }
};

/// Closes what a body opened, however the body is left. Leaving early, by an exception or a host jump, is
/// noted in the trace, which cannot succeed then; nothing is thrown from here.
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

class VOLLEY_API If : private Scope {
public:
    If(Condition condition, Site at) noexcept : Scope(at, "$if"), condition_(condition.ref) {}
    /// True twice: for the then-branch, and for the else-branch, which may be missing.
    [[nodiscard]] bool next();
    [[nodiscard]] bool then() const noexcept { return state_ == 1; }

private:
    Ref condition_;
    int state_ = 0;
};

class VOLLEY_API While : private Scope {
public:
    explicit While(Site at) noexcept : Scope(at, "$while") {}
    [[nodiscard]] bool next();
    void check(Condition condition);

private:
    int state_ = 0;
};

class VOLLEY_API ForLoop : private Scope {
public:
    ForLoop(Ref begin, Ref end, Ref step, Site at) noexcept
        : Scope(at, "$for"), begin_(begin), end_(end), step_(step) {}
    Ref open();
    void close();

private:
    Ref begin_, end_, step_;
};

/// The range of one round that $for iterates over, with the loop's index as its element.
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

template <class A, class B, class S>
[[nodiscard]] auto loop(Site at, const A& begin, const B& end, const S& step) {
    using T = typename LoopType<A, B>::type;
    static_assert(is_whole<T> && Scalar<T>,
                  "volley: the bounds and the step of $for are integers of one type");
    // Braces, as they evaluate from left to right.
    return ForRange<T>{argument<T>(begin, at), argument<T>(end, at), argument<T>(step, at), at};
}
template <class A, class B>
[[nodiscard]] auto loop(Site at, const A& begin, const B& end) {
    return loop(at, begin, end, 1);
}

}  // namespace volley::lang

#define VOLLEY_SITE (::volley::lang::Site{__FILE__, static_cast<unsigned>(__LINE__)})

// The loop runs twice, so that both branches of the host's own if-else are traced; being one statement with
// the else inside of it, it nests like a plain if.
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
    for ([[maybe_unused]] const auto index : ::volley::lang::loop(VOLLEY_SITE, __VA_ARGS__))

#define VOLLEY_BREAK ::volley::lang::jump(::volley::ir::Op::Break, VOLLEY_SITE)
#define VOLLEY_CONTINUE ::volley::lang::jump(::volley::ir::Op::Continue, VOLLEY_SITE)
#define VOLLEY_RETURN ::volley::lang::jump(::volley::ir::Op::Return, VOLLEY_SITE)

#if !defined(VOLLEY_NO_DOLLAR)
#if defined(__clang__)
// For the rest of the including file: every use of a `$` name would be reported by -Wpedantic.
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
