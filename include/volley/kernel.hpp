// kernel(name, lambda): creates a function that runs on devices and is called like any other.
#pragma once

#include <volley/any_buffer.hpp>
#include <volley/buffer.hpp>
#include <volley/dyn.hpp>
#include <volley/event.hpp>
#include <volley/grid_size.hpp>
#include <volley/lang/signature.hpp>
#include <volley/queue.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace volley {

namespace runtime {
class KernelCore;
}

/// The options of kernel(): `kernel("sum", {.local = {256}}, [](...) {...})`.
struct KernelOptions {
    /// The workgroup size of every launch. If it is not set, each launch or the device chooses.
    GridSize local = {};
};

namespace detail {

/// An argument as the runtime receives it: a buffer, or the bytes of a value.
struct BoundArgument {
    const AnyBuffer* buffer = nullptr;
    const void* value = nullptr;
    const DynamicName* dynamic = nullptr;  // in recordings: the name of a dynamic value
};

/// The options of a launch.
struct LaunchConfig {
    GridSize over;
    GridSize groups;
    GridSize local;
    std::optional<Queue> queue;
};

/// Throws LaunchError unless the declared workgroup size is one to three numbers from 1 to 65535.
[[nodiscard]] VOLLEY_API lang::TraceOptions trace_options(std::string_view name,
                                                          const KernelOptions& options);
/// Throws IrError if control flow that differs between invocations contains a barrier.
[[nodiscard]] VOLLEY_API std::shared_ptr<runtime::KernelCore> make_kernel(lang::TracedKernel traced);
VOLLEY_API Event launch(runtime::KernelCore& kernel, const LaunchConfig& config,
                        const BoundArgument* arguments, std::size_t count);
[[nodiscard]] VOLLEY_API const lang::TracedKernel& traced(const runtime::KernelCore& kernel) noexcept;
[[nodiscard]] VOLLEY_API std::string device_code(runtime::KernelCore& kernel, const LaunchConfig& config);
[[nodiscard]] VOLLEY_API std::string_view kernel_name(const runtime::KernelCore& kernel) noexcept;
[[noreturn]] VOLLEY_API void fail_argument_range(const runtime::KernelCore& kernel, std::size_t number,
                                                 std::string_view type);
[[noreturn]] VOLLEY_API void fail_argument_type(const runtime::KernelCore& kernel, std::size_t number,
                                                DType requested, DType given);

/// Returns whether a host value of type A may be passed for a parameter of type T: integers for integers
/// (their range is checked by the call) and for floats, floats for floats of at least their size, and every
/// type for itself.
template <class T, class A>
[[nodiscard]] consteval bool accepts_value() {
    if constexpr (std::is_same_v<T, A>) {
        return true;
    } else if constexpr (lang::is_complex<T>) {
        return !lang::is_complex<A> && accepts_value<typename T::value_type, A>();
    } else if constexpr (!lang::HostNumber<T>) {
        return std::is_convertible_v<A, T>;
    } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<A, bool> || !lang::HostNumber<A>) {
        return false;
    } else {
        return std::is_integral_v<A> || (!std::is_integral_v<T> && sizeof(A) <= sizeof(T));
    }
}

template <class A>
inline constexpr bool is_buffer = std::is_base_of_v<AnyBuffer, A>;

template <class T, class A>
[[nodiscard]] consteval bool accepts_buffer() {
    return std::is_same_v<A, AnyBuffer> || std::is_base_of_v<Buffer<T>, A>;
}

/// Fails to compile if an argument does not fit its parameter. The compiler's message contains
/// CheckArgument<number, parameter, argument>.
template <std::size_t Number, class Parameter, class Given>
struct CheckArgument {
    using Traits = lang::ParamTraits<Parameter>;
    using Element = typename Traits::element;
    static constexpr bool buffer = Traits::kind == lang::ParameterKind::Buffer;
    static constexpr bool given_buffer = is_buffer<Given>;
    static_assert(
        !buffer || given_buffer,
        "volley: this argument must be a Buffer: see CheckArgument<number, parameter, what was given>");
    static_assert(buffer || !given_buffer,
                  "volley: this argument must be a value, not a Buffer: see CheckArgument<number, parameter, "
                  "what was given>");
    static constexpr bool fits() {
        if constexpr (buffer != given_buffer) {
            return true;  // reported above
        } else if constexpr (buffer) {
            return accepts_buffer<Element, Given>();
        } else if constexpr (is_dynamic<Given>) {
            return accepts_dynamic<Element, Given>();
        } else {
            return accepts_value<Element, Given>();
        }
    }
    static_assert(fits() || !buffer,
                  "volley: this buffer has another element type than the kernel's parameter: "
                  "see CheckArgument<number, parameter, what was given>");
    static_assert(
        fits() || buffer,
        "volley: a value of this type cannot be given for this parameter; cast it, or declare the parameter "
        "with its type: see CheckArgument<number, parameter, what was given>");
    static constexpr bool ok = buffer == given_buffer && fits();
};

/// Holds an argument, converted to the parameter's type, for the duration of the call.
template <class Parameter>
class ValueArgument {
    using T = typename lang::ParamTraits<Parameter>::element;

public:
    template <class A>
    ValueArgument(const runtime::KernelCore& kernel, std::size_t number, const A& given)
        : value_(convert(given)) {
        if constexpr (std::is_integral_v<T> && std::is_integral_v<A> && !std::is_same_v<T, A>) {
            if (!std::in_range<T>(given))
                fail_argument_range(kernel, number, name_of(lang::scalar_type<T>()));
        }
    }
    [[nodiscard]] BoundArgument bound() const noexcept { return {nullptr, &value_, nullptr}; }

private:
    template <class A>
    static T convert(const A& given) {
        if constexpr (lang::is_complex<T> && !lang::is_complex<A>) {
            return T(static_cast<typename T::value_type>(given));
        } else {
            return static_cast<T>(given);
        }
    }
    T value_;
};

template <class Parameter>
class BufferArgument {
    using T = typename lang::ParamTraits<Parameter>::element;

public:
    template <class A>
    BufferArgument(const runtime::KernelCore& kernel, std::size_t number, const A& given) : buffer_(&given) {
        if constexpr (std::is_same_v<A, AnyBuffer>) {
            if (given.dtype() != dtype_of<T>())
                fail_argument_type(kernel, number, dtype_of<T>(), given.dtype());
        }
    }
    [[nodiscard]] BoundArgument bound() const noexcept { return {buffer_, nullptr, nullptr}; }

private:
    const AnyBuffer* buffer_;
};

class DynamicArgument {
public:
    DynamicArgument(const runtime::KernelCore& /*kernel*/, std::size_t /*number*/, const DynamicName& given)
        : name_(&given) {}
    [[nodiscard]] BoundArgument bound() const noexcept { return {nullptr, nullptr, name_}; }

private:
    const DynamicName* name_;
};

class KernelAccess;

template <class Parameter, class Given>
using HeldArgument =
    std::conditional_t<lang::ParamTraits<Parameter>::kind == lang::ParameterKind::Buffer,
                       BufferArgument<Parameter>,
                       std::conditional_t<is_dynamic<Given>, DynamicArgument, ValueArgument<Parameter>>>;

}  // namespace detail

/// A kernel with parameters P: Buff<T>, Const<T>, Value<T>. While a graph is recorded, a value may also be a
/// name, dyn<T>("name"). Copies are cheap and share the traced and compiled code. A kernel is compiled for
/// each device when it first runs there (milliseconds). A later launch costs a few hundred nanoseconds and
/// returns before the work is done. Thread-safe.
///
///     scale(buf, 2.0f);                                // one invocation per element of the first buffer
///     scale.over({640, 480}).on(queue(1))(buf, 2.0f);
template <class... P>
class Kernel {
public:
    /// Launches the kernel on one queue, or on all queues of the current context. Throws LaunchError for
    /// invalid sizes or arguments, before anything runs; CompileError and DeviceError (Unsupported) at the
    /// first launch on a device. The context remains usable after any of them.
    ///
    /// Without over() and groups() the grid has one invocation for each element of the first buffer. A kernel
    /// that computes with y or z of global_id(), group_id() or local_id() needs one of them, and a kernel
    /// with Shared memory, local_id(), local_index(), group_id() or subgroup_id() needs a workgroup size,
    /// declared with the kernel or set by local(); otherwise the launch throws LaunchError.
    template <class... A>
    Event operator()(const A&... arguments) const {
        static_assert(
            sizeof...(A) == sizeof...(P),
            "volley: wrong number of arguments: a kernel takes one for each parameter of its lambda");
        if constexpr (sizeof...(A) == sizeof...(P)) {
            return check_and_run(std::index_sequence_for<P...>{}, arguments...);
        } else {
            return {};
        }
    }

    /// Sets the number of invocations: over(n), over({nx, ny}), over({nx, ny, nz}). A size of zero is legal
    /// and launches nothing. over(buf.shape()) and over(buf) run one invocation per element, with x along the
    /// last axis, so that buf(y, x) is the element of global_id() (x, y); leading axes beyond the third are
    /// merged into z.
    [[nodiscard]] Kernel over(GridSize size) const& { return Kernel(*this).over(size); }
    [[nodiscard]] Kernel over(GridSize size) && { return config_.over = size, std::move(*this); }
    [[nodiscard]] Kernel over(const AnyBuffer& buffer) const& { return over(GridSize(buffer.shape())); }
    [[nodiscard]] Kernel over(const AnyBuffer& buffer) && {
        return std::move(*this).over(GridSize(buffer.shape()));
    }
    /// Sets the number of workgroups instead.
    [[nodiscard]] Kernel groups(GridSize size) const& { return Kernel(*this).groups(size); }
    [[nodiscard]] Kernel groups(GridSize size) && { return config_.groups = size, std::move(*this); }
    /// Sets the size of a workgroup.
    [[nodiscard]] Kernel local(GridSize size) const& { return Kernel(*this).local(size); }
    [[nodiscard]] Kernel local(GridSize size) && { return config_.local = size, std::move(*this); }
    /// Runs on this queue only.
    [[nodiscard]] Kernel on(Queue queue) const& { return Kernel(*this).on(std::move(queue)); }
    [[nodiscard]] Kernel on(Queue queue) && { return config_.queue = std::move(queue), std::move(*this); }

    [[nodiscard]] std::string_view name() const noexcept { return detail::kernel_name(*core_); }
    /// Returns the traced kernel.
    [[nodiscard]] lang::TracedKernel trace() const { return detail::traced(*core_); }
    /// Returns the IR as text.
    [[nodiscard]] std::string ir() const { return trace().to_string(); }
    /// Returns the code for the device of on()'s queue, else for the current context's first device: assembly
    /// on the CPU, SPIR-V text on Vulkan, OpenCL C on OpenCL.
    [[nodiscard]] std::string code() const { return detail::device_code(*core_, config_); }

private:
    friend class detail::KernelAccess;
    explicit Kernel(std::shared_ptr<runtime::KernelCore> core) : core_(std::move(core)) {}

    template <std::size_t... I, class... A>
    Event check_and_run(std::index_sequence<I...>, const A&... arguments) const {
        if constexpr ((detail::CheckArgument<I + 1, P, A>::ok && ...)) {
            return run(detail::HeldArgument<P, A>(*core_, I + 1, arguments)...);
        } else {
            return {};
        }
    }
    template <class... H>
    Event run(const H&... held) const {
        const detail::BoundArgument bound[sizeof...(H) + 1] = {held.bound()...};
        return detail::launch(*core_, config_, bound, sizeof...(H));
    }

    std::shared_ptr<runtime::KernelCore> core_;
    detail::LaunchConfig config_;
};

namespace detail {

/// Creates kernels from their shared state.
class KernelAccess {
public:
    template <class... P>
    [[nodiscard]] static Kernel<P...> make(std::shared_ptr<runtime::KernelCore> core) {
        return Kernel<P...>(std::move(core));
    }
    template <class... P>
    [[nodiscard]] static Kernel<P...> make(lang::ParamList<P...>, std::shared_ptr<runtime::KernelCore> core) {
        return Kernel<P...>(std::move(core));
    }
};

}  // namespace detail

/// Creates a kernel from a lambda whose parameters are Buff<T>, Buff<const T>, Const<T> and Value<T>. The
/// name appears in messages and profiles.
///
/// Calls the lambda once, in this thread, to trace it, and does not keep it. So captures, by reference too,
/// are read now: a host variable that changes later does not change the kernel; pass what changes as a
/// Const<T>. Needs no context or device, costs microseconds, and may be called before `main`. Throws
/// TraceError and IrError if the body is not valid, and LaunchError if the declared workgroup size is not.
/// What depends on a device, such as its types and limits, is checked by the launch.
template <class F>
[[nodiscard]] auto kernel(std::string_view name, const KernelOptions& options, F body) {
    lang::need_signature<F>();
    return detail::KernelAccess::make(
        lang::params_t<F>{},
        detail::make_kernel(lang::trace_kernel(name, body, detail::trace_options(name, options))));
}
template <class F>
[[nodiscard]] auto kernel(std::string_view name, F body) {
    return kernel(name, KernelOptions{}, std::move(body));
}

}  // namespace volley
