// Kernels in other languages, called like any other kernel: GLSL and SPIR-V for Vulkan devices, OpenCL C for
// OpenCL devices.
#pragma once

#include <volley/grid_size.hpp>
#include <volley/kernel.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace volley {

/// Options of kernel_from_opencl.
struct OpenClKernelOptions {
    std::string_view entry = {};  ///< name of the kernel function; if empty, the name of the kernel
    std::string_view build_options =
        {};               ///< options of the driver's compiler: "-D N=4 -cl-fast-relaxed-math"
    GridSize local = {};  ///< the reqd_work_group_size of the function, if it has one
};

namespace detail {

/// A parameter of a raw kernel.
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

/// Returns a kernel from SPIR-V words. The template arguments are the types of its parameters. The module
/// receives its arguments in one of two ways:
///
/// - If it declares storage buffers in descriptor set 0, the buffer parameters are bindings 0, 1, ... in
///   order, and the value parameters are the members of the push-constant block in order.
/// - If it declares none, all parameters are members of the push-constant block in order, buffers as
///   references (8-byte device addresses).
///
/// The module defines the workgroup size. A launch runs whole workgroups, so the module must guard
/// out-of-range accesses of the last one. Buff<const T> promises that the module does not write to the
/// buffer.
///
/// Throws CompileError if the words are not SPIR-V, lack the entry point, or do not match the parameters. A
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

/// Compiles GLSL (#version 450, compute stage, entry point main) with shaderc and returns the kernel. See
/// kernel_from_spirv for how it receives its arguments. Throws CompileError with the compiler's log, or
/// DeviceError (Unsupported) if Volley was built without shaderc.
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

/// Returns a kernel from OpenCL C source. The template arguments are the types of the function's parameters,
/// in order:
///
/// - A Buff<T> is a __global pointer to the first element of the buffer. A Buff<const T> may also be
///   __constant.
/// - Other parameters are passed by value.
/// - Elements have the layout of the host: a scalar, float2 for complex<f32> and vec<f32, 2>, or a struct
///   with the same members. A vector of three components has no padding: declare a pointer to its
///   components and use vload3 and vstore3. Pass the components of such a value one by one.
/// - Pointers to __local memory are not supported: declare the array in the function.
///
/// The first launch on a device builds the source (tens of milliseconds) and checks the parameters as far as
/// the device reports them. By default a launch runs exactly the requested number of invocations, in
/// workgroups of a size that divides it. With .local(n) or OpenClKernelOptions::local it runs whole
/// workgroups, so the function must guard out-of-range accesses of the last one. Buff<const T> promises that
/// it does not write to the buffer.
///
/// A launch throws CompileError with the compiler's log if the source does not build, lacks the function, or
/// does not match the parameters. It throws DeviceError (Unsupported) on a device that does not run OpenCL C.
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
