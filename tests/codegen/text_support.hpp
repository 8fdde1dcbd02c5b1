// Text targets, and compiler diagnostics: clang's front ends for OpenCL C and CUDA C++, which need no SDK,
// and NVRTC if it is installed.
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

/// A device that has everything, including subgroups.
[[nodiscard]] opencl::Target rich_opencl();
/// Like PoCL: OpenCL C 1.2 with f64 and 64-bit atomics, each invocation its own subgroup.
[[nodiscard]] opencl::Target cpu_opencl();
/// Only the features that OpenCL 1.2 requires of every device.
[[nodiscard]] opencl::Target poor_opencl();
[[nodiscard]] std::vector<opencl::Target> all_opencl();

/// Returns true if objections() can compile.
[[nodiscard]] bool has_clang();
/// Returns clang's errors and warnings for the texts on a device with only the target's features; empty if
/// there are none.
[[nodiscard]] std::string objections(const std::vector<opencl::Source>& sources,
                                     const opencl::Target& target);
/// Compiles to PTX. Several sources may have one entry name.
[[nodiscard]] std::string objections(const std::vector<cuda::Source>& sources, unsigned architecture);
/// Returns the PTX that clang generates; empty if it reports errors.
[[nodiscard]] std::string ptx_of(const cuda::Source& source, unsigned architecture);

[[nodiscard]] bool has_nvrtc();
/// The same with NVRTC, using the options of the first source.
[[nodiscard]] std::string nvrtc_objections(const std::vector<cuda::Source>& sources);

/// Traces and optimises a kernel, as the code generator receives it.
template <class F>
ir::Function text_traced(F&& body) {
    ir::Function fn = lang::trace_kernel("tested", body).function();
    passes::optimise(fn);
    return fn;
}

inline bool has(const codegen::clike::Source& source, std::string_view piece) {
    return source.text.find(piece) != std::string::npos;
}

/// Returns the line of the text that contains `piece`, without indentation.
[[nodiscard]] std::string line_with(const codegen::clike::Source& source, std::string_view piece);

}  // namespace volley::test
