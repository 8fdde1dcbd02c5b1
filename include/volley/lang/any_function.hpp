// AnyFunction: a traced C++ function of the kernel language that other kernels call. Maps, operators,
// predicates and comparisons of algorithms are AnyFunctions.
//
//     AnyFunction add = trace_function([](Value<float> a, Value<float> b) { return a + b; });
//     AnyValue sum = add.call({x, y});  // while a kernel is traced: its operations are copied there
#pragma once

#include <volley/lang/any_value.hpp>
#include <volley/lang/signature.hpp>

#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace volley {

/// A parameter of an AnyFunction.
struct FunctionParameter {
    bool is_buffer = false;
    bool read_only = false;  ///< of a buffer
    DType type;              ///< of the value or of the buffer's elements
};

namespace lang {

/// Records the body of a function and returns its result; an empty Ref if it has none.
using FunctionBody = Ref (*)(void* function);

struct TracedFunction;

}  // namespace lang

/// The IR of a function, without the C++ function: captures are read when it is traced. Immutable, cheap to
/// copy and thread-safe.
class VOLLEY_API AnyFunction {
public:
    [[nodiscard]] std::span<const FunctionParameter> parameters() const noexcept;
    /// Returns the type of the result; void if there is none.
    [[nodiscard]] DType result() const noexcept;
    /// Returns 32 hexadecimal digits, which are equal for functions with the same IR.
    [[nodiscard]] std::string_view hash() const noexcept;

    /// Records the operations of the function in the kernel that this thread is tracing and returns the
    /// result. An argument is a value, or for a buffer the ref_of() a parameter. Throws TraceError for
    /// arguments of other types than the parameters.
    AnyValue call(std::span<const lang::Ref> arguments) const;
    /// Calls a function whose parameters are all values.
    [[nodiscard]] AnyValue call(std::initializer_list<AnyValue> arguments) const;

private:
    friend VOLLEY_API AnyFunction trace_function(lang::FunctionBody body, void* function);
    explicit AnyFunction(std::shared_ptr<const lang::TracedFunction> traced) noexcept
        : traced_(std::move(traced)) {}

    std::shared_ptr<const lang::TracedFunction> traced_;
};

/// Calls `body(function)` once, which declares the parameters and returns the result. Throws TraceError, also
/// if the function contains $return or a barrier: these would end or block the kernel that calls it.
[[nodiscard]] VOLLEY_API AnyFunction trace_function(lang::FunctionBody body, void* function);

namespace lang {

/// A lambda or function: nothing that an array or options convert to.
template <class F>
concept Callable = HasCall<F> || std::is_function_v<std::remove_pointer_t<F>>;

/// The result type of a lambda as a host type: T for Value<T> and the classes derived from it.
template <class R>
struct FunctionResult {
    static_assert(never<R>, "volley: this function must return a Value<T>, such as the result of a + b");
};
template <>
struct FunctionResult<void> {
    using type = void;
};
template <Expr R>
struct FunctionResult<R> {
    using type = typename R::volley_type;
};

/// FunctionSignature<F>: the parameters of a lambda as a ParamList, and its result as a host type.
template <class F>
struct FunctionSignature;
template <class R, class... P>
struct FunctionSignature<R(P...)> {
    static_assert(
        (ParamTraits<std::remove_cvref_t<P>>::valid && ...),
        "volley: the parameters of this function are Value<T>, Const<T>, Buff<T> and Buff<const T>");
    using params = ParamList<std::remove_cvref_t<P>...>;
    using result = typename FunctionResult<std::remove_cvref_t<R>>::type;
};
template <class R, class... P>
struct FunctionSignature<R (*)(P...)> : FunctionSignature<R(P...)> {};
template <class C, class R, class... P>
struct FunctionSignature<R (C::*)(P...)> : FunctionSignature<R(P...)> {};
template <class C, class R, class... P>
struct FunctionSignature<R (C::*)(P...) const> : FunctionSignature<R(P...)> {};
template <class C, class R, class... P>
struct FunctionSignature<R (C::*)(P...) noexcept> : FunctionSignature<R(P...)> {};
template <class C, class R, class... P>
struct FunctionSignature<R (C::*)(P...) const noexcept> : FunctionSignature<R(P...)> {};
template <class F>
requires std::is_class_v<F>
struct FunctionSignature<F> : FunctionSignature<decltype(&F::operator())> {
};

template <class F>
using function_params_t = typename FunctionSignature<std::decay_t<F>>::params;
template <class F>
using function_result_t = typename FunctionSignature<std::decay_t<F>>::result;

// As CallKernel: braces evaluate the declarations from left to right.
struct CallFunction {
    Ref result;
    template <class F, class... P>
    explicit CallFunction(F& f, P... p) {
        if constexpr (std::is_void_v<decltype(f(p...))>) {
            f(p...);
        } else {
            result = read(ref_of(f(p...)));
        }
    }
};

template <class F, class... P>
[[nodiscard]] Ref call_function(F& f, ParamList<P...>) {
    return CallFunction{f, ParamTraits<P>::declare()...}.result;
}

}  // namespace lang

/// Traces a lambda with parameters Value<T>, Const<T>, Buff<T> and Buff<const T> that returns a value or
/// nothing. Does not keep it.
template <class F>
requires(!std::is_convertible_v<F, lang::FunctionBody>) [[nodiscard]] AnyFunction trace_function(F f) {
    static_assert(!std::is_class_v<F> || lang::HasCall<F>,
                  "volley: the parameters of this function need types (Value<float> x, not auto x), and one "
                  "call operator");
    return trace_function(
        [](void* function) {
            return lang::call_function(*static_cast<F*>(function), lang::function_params_t<F>{});
        },
        &f);
}

}  // namespace volley
