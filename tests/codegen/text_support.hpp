// Targets to write text for, and what compilers say of it: clang's own front ends for OpenCL C and CUDA C++,
// which need no SDK, and NVRTC where it is installed.
#pragma once

#include "codegen/cuda/compiler.hpp"
#include "codegen/opencl/compiler.hpp"
#include "lang/tracer.hpp"
#include "passes/pipeline.hpp"

#include <volley/error.hpp>
#include <volley/lang/lang.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace volley::test {

namespace opencl = codegen::opencl;
namespace cuda = codegen::cuda;

inline constexpr codegen::clike::Variant line_of_64 = {{64, 1, 1}, false};
inline constexpr codegen::clike::Variant full_64 = {{64, 1, 1}, true};

/// A device that has everything, subgroups too.
[[nodiscard]] opencl::Target rich_opencl();
/// Like PoCL: OpenCL C 1.2 with f64 and 64-bit atomics, each invocation its own subgroup.
[[nodiscard]] opencl::Target cpu_opencl();
/// Nothing that OpenCL 1.2 does not ask of every device.
[[nodiscard]] opencl::Target poor_opencl();
[[nodiscard]] std::vector<opencl::Target> all_opencl();

/// Whether objections() can find any.
[[nodiscard]] bool has_clang();
/// What clang says against the texts, warnings included, where the device has just what the target says;
/// empty when nothing.
[[nodiscard]] std::string objections(const std::vector<opencl::Source>& sources,
                                     const opencl::Target& target);
/// Compiles to PTX. Several sources may have one entry name.
[[nodiscard]] std::string objections(const std::vector<cuda::Source>& sources, unsigned architecture);
/// The PTX that clang makes of a text; empty where it objects.
[[nodiscard]] std::string ptx_of(const cuda::Source& source, unsigned architecture);

[[nodiscard]] bool has_nvrtc();
/// The same of NVRTC, with the options that the first source asks for.
[[nodiscard]] std::string nvrtc_objections(const std::vector<cuda::Source>& sources);

/// A kernel of the language as the code generator gets it.
template <class F>
ir::Function text_traced(F&& body) {
    ir::Function fn = lang::trace_kernel("tested", body).function();
    passes::optimise(fn);
    return fn;
}

inline bool has(const codegen::clike::Source& source, std::string_view piece) {
    return source.text.find(piece) != std::string::npos;
}

/// The line of the text that has the piece, without indentation.
[[nodiscard]] std::string line_with(const codegen::clike::Source& source, std::string_view piece);

}  // namespace volley::test
