// The parameter list of a kernel's lambda as types, and the call of the lambda under the tracer.
#pragma once

#include <volley/lang/buff.hpp>
#include <volley/lang/param.hpp>
#include <volley/lang/trace.hpp>

namespace volley {

class AnyBuffer;
template <class T>
class Buffer;

namespace lang {

enum class ParameterKind : std::uint8_t { Buffer, Value };

/// The properties of a kernel parameter's type; `valid` is false for other types.
template <class P>
struct ParamTraits {
    static constexpr bool valid = false;
};

template <class T>
struct ParamTraits<Buff<T>> {
    static constexpr bool valid = true;
    static constexpr ParameterKind kind = ParameterKind::Buffer;
    static constexpr bool read_only = std::is_const_v<T>;
    using element = std::remove_const_t<T>;
    static Buff<T> declare() { return Buff<T>(declare_buffer(dtype_of<element>(), read_only)); }
};

template <class T>
struct ParamTraits<Value<T>> {
    static constexpr bool valid = true;
    static constexpr ParameterKind kind = ParameterKind::Value;
    using element = T;
    static Value<T> declare() { return Value<T>(declare_parameter(dtype_of<T>())); }
};

template <class T>
struct ParamTraits<Const<T>> : ParamTraits<Value<T>> {
    static Const<T> declare() { return Const<T>(declare_parameter(dtype_of<T>())); }
};

/// The handles of the host, which are passed to a kernel as Buff<T>.
template <class P>
inline constexpr bool is_host_buffer = std::same_as<P, AnyBuffer>;
template <class T>
inline constexpr bool is_host_buffer<Buffer<T>> = true;

template <class... P>
struct ParamList {
    static constexpr std::size_t size = sizeof...(P);
};

/// Signature<F>::params is the ParamList of a lambda, functor or function, without const and references.
template <class F>
struct Signature;

template <class R, class... P>
struct Signature<R(P...)> {
    static_assert(
        !(is_host_buffer<std::remove_cvref_t<P>> || ...),
        "volley: a kernel's buffer parameter is a Buff<T>: Buffer<T> is the host's handle, which is "
        "passed for it");
    static_assert(((ParamTraits<std::remove_cvref_t<P>>::valid ||
                    is_host_buffer<std::remove_cvref_t<P>>)&&...),
                  "volley: a kernel's parameters are Buff<T>, Buff<const T>, Const<T> and Value<T>");
    static_assert(std::is_void_v<R>, "volley: a kernel returns nothing: store results in a buffer");
    using params = ParamList<std::remove_cvref_t<P>...>;
};
template <class R, class... P>
struct Signature<R (*)(P...)> : Signature<R(P...)> {};
template <class R, class... P>
struct Signature<R (*)(P...) noexcept> : Signature<R(P...)> {};
template <class C, class R, class... P>
struct Signature<R (C::*)(P...)> : Signature<R(P...)> {};
template <class C, class R, class... P>
struct Signature<R (C::*)(P...) const> : Signature<R(P...)> {};
template <class C, class R, class... P>
struct Signature<R (C::*)(P...) noexcept> : Signature<R(P...)> {};
template <class C, class R, class... P>
struct Signature<R (C::*)(P...) const noexcept> : Signature<R(P...)> {};

template <class F>
concept HasCall = requires {
    &F::operator();
};

template <class F>
requires std::is_class_v<F>
struct Signature<F> : Signature<decltype(&F::operator())> {
    static_assert(HasCall<F>, "volley: a kernel is a lambda, functor or function");
};

template <class F>
consteval void need_signature() {
    static_assert(
        !std::is_class_v<F> || HasCall<F>,
        "volley: a kernel's parameters need types (Buff<float> data, not auto data), and one call operator");
}

template <class F>
using params_t = typename Signature<std::decay_t<F>>::params;

// A constructor called with braces: they evaluate the declarations from left to right.
struct CallKernel {
    template <class F, class... P>
    explicit CallKernel(F& f, P... p) {
        f(p...);
    }
};

template <class F, class... P>
void call_kernel(F& f, ParamList<P...>) {
    [[maybe_unused]] const CallKernel call{f, ParamTraits<P>::declare()...};
}

/// Traces f: declares its parameters and calls it once. `trace_kernel("scale", [](Buff<float> data) { ...
/// })`.
template <class F>
[[nodiscard]] TracedKernel trace_kernel(std::string_view name, F&& f, const TraceOptions& options = {}) {
    need_signature<std::decay_t<F>>();
    if constexpr (std::is_function_v<std::remove_reference_t<F>>) {
        auto* const pointer = &f;
        return trace_kernel(name, pointer, options);
    } else if constexpr (!std::is_class_v<std::decay_t<F>> || HasCall<std::decay_t<F>>) {
        using Body = std::remove_reference_t<F>;
        return run_trace(
            name, [](void* body) { call_kernel(*static_cast<Body*>(body), params_t<F>{}); },
            const_cast<void*>(static_cast<const void*>(std::addressof(f))), options);
    }
}

}  // namespace lang
}  // namespace volley
