// Kernels that were written elsewhere: GLSL or SPIR-V for Vulkan devices, OpenCL C for those of OpenCL,
// called like any other kernel.
#pragma once

#include <volley/grid_size.hpp>
#include <volley/kernel.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace volley {

/// How a kernel of OpenCL C is built and called.
struct OpenClKernelOptions {
    std::string_view entry = {};          ///< the kernel function; empty: the kernel's name
    std::string_view build_options = {};  ///< for the driver's compiler: "-D N=4 -cl-fast-relaxed-math"
    GridSize local = {};                  ///< what the function declares with reqd_work_group_size
};

namespace detail {

/// A raw kernel's parameter, without its type.
struct RawParameter {
    DType type;
    bool buffer = false;
    bool read_only = false;
};

template <class P>
[[nodiscard]] RawParameter raw_parameter() {
    using Traits = lang::ParamTraits<P>;
    static_assert(Traits::valid,
                  "volley: a kernel's parameters are Buff<T>, Buff<const T>, Const<T> and Value<T>");
    RawParameter parameter;
    parameter.type = dtype_of<typename Traits::element>();
    parameter.buffer = Traits::kind == lang::ParameterKind::Buffer;
    if constexpr (Traits::kind == lang::ParameterKind::Buffer) parameter.read_only = Traits::read_only;
    return parameter;
}

[[nodiscard]] VOLLEY_API std::shared_ptr<runtime::KernelCore> make_spirv_kernel(
    std::string_view name, std::span<const std::uint32_t> words, std::string_view entry,
    std::span<const RawParameter> parameters);
[[nodiscard]] VOLLEY_API std::shared_ptr<runtime::KernelCore> make_glsl_kernel(
    std::string_view name, std::string_view source, std::span<const RawParameter> parameters);
[[nodiscard]] VOLLEY_API std::shared_ptr<runtime::KernelCore> make_opencl_kernel(
    std::string_view name, std::string_view source, const OpenClKernelOptions& options,
    std::span<const RawParameter> parameters);

}  // namespace detail

/// A kernel of SPIR-V words. The parameters are given as types, and the module finds its arguments in one of
/// two ways:
///
/// - It declares storage buffers in descriptor set 0: the buffer parameters are bindings 0, 1, ... in their
///   order, the values are the members of the push-constant block in theirs.
/// - It declares none: all parameters, in their order, are the members of the push-constant block, buffers
///   as references (device addresses of 8 bytes).
///
/// The workgroup size is the module's. A launch runs whole workgroups: the module itself guards accesses of
/// the last one. Buff<const T> promises that the module does not write to the buffer.
///
/// Throws CompileError where the words are no SPIR-V, lack the entry point, or do not fit the parameters; a
/// launch on a device that does not run SPIR-V throws DeviceError (Unsupported).
///
///     auto scale = kernel_from_spirv<Buff<float>, Const<float>>("scale", words);
///     scale.over(n)(buf, 2.0f);
template <class... P>
[[nodiscard]] Kernel<P...> kernel_from_spirv(std::string_view name, std::span<const std::uint32_t> words,
                                             std::string_view entry = "main") {
    const std::vector<detail::RawParameter> parameters = {detail::raw_parameter<P>()...};
    return detail::KernelAccess::make<P...>(detail::make_spirv_kernel(name, words, entry, parameters));
}

/// A kernel of GLSL (#version 450, compute stage, entry point main), compiled now by shaderc: see
/// kernel_from_spirv for how it finds its arguments. Throws CompileError with the compiler's log, or
/// DeviceError (Unsupported) where volley was built without shaderc.
///
///     auto scale = kernel_from_glsl<Buff<float>, Const<float>>("scale", R"(
///         #version 450
///         layout(local_size_x = 64) in;
///         layout(binding = 0) buffer Data { float data[]; };
///         layout(push_constant) uniform Values { float alpha; };
///         void main() {
///             uint i = gl_GlobalInvocationID.x;
///             if (i < data.length()) data[i] *= alpha;
///         })");
template <class... P>
[[nodiscard]] Kernel<P...> kernel_from_glsl(std::string_view name, std::string_view source) {
    const std::vector<detail::RawParameter> parameters = {detail::raw_parameter<P>()...};
    return detail::KernelAccess::make<P...>(detail::make_glsl_kernel(name, source, parameters));
}

/// A kernel of OpenCL C. The parameters are given as types, and are the function's arguments in their order:
/// a Buff<T> is a __global pointer (Buff<const T> may be a __constant one) to the buffer's first element, a
/// value is passed as it is. Elements lie as on the host: T's scalar, float2 for complex<f32> and for
/// vec<f32, 2>, a struct of the same members. A vector of three has no padding here, so it is a pointer to
/// its components (use vload3), and is passed by value as such. Pointers to __local memory are refused:
/// declare the array inside.
///
/// The source is built when it is first launched on a device (tens of milliseconds), and its arguments are
/// checked then, as far as the device tells them. Without .local(n) and a size of its own, as many
/// invocations run as the launch is over, in workgroups of a size that divides it; with it whole workgroups
/// run, and the function itself guards accesses of the last one. Buff<const T> promises that it does not
/// write to the buffer.
///
/// A launch throws CompileError with the compiler's log where the source does not build, lacks the function,
/// or does not fit the parameters; DeviceError (Unsupported) on a device that does not run OpenCL C.
///
///     auto scale = kernel_from_opencl<Buff<float>, Const<float>>("scale", R"(
///         kernel void scale(global float* data, float alpha) {
///             data[get_global_id(0)] *= alpha;
///         })");
///     scale(buf, 2.0f);
template <class... P>
[[nodiscard]] Kernel<P...> kernel_from_opencl(std::string_view name, std::string_view source,
                                              const OpenClKernelOptions& options = {}) {
    const std::vector<detail::RawParameter> parameters = {detail::raw_parameter<P>()...};
    return detail::KernelAccess::make<P...>(detail::make_opencl_kernel(name, source, options, parameters));
}

}  // namespace volley
