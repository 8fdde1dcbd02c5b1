// Returns the assembly of a kernel, for tests of generated code patterns.
#pragma once

#include "codegen/llvm/compiler.hpp"
#include "lang/tracer.hpp"
#include "passes/pipeline.hpp"
#include "passes/unit_strides.hpp"

#include <volley/lang/lang.hpp>

#include <string>
#include <string_view>

namespace volley::test {

/// AVX2 with 8 lanes, independent of the host: the code is inspected, not run.
inline codegen::llvm::Target avx2() {
    codegen::llvm::Target target;
    target.cpu = "x86-64-v3";
    target.width = 8;
    return target;
}

inline codegen::llvm::Target avx512() {
    codegen::llvm::Target target;
    target.cpu = "x86-64-v4";
    target.width = 16;
    return target;
}

template <class F>
ir::Function optimised(F&& body) {
    ir::Function fn = lang::trace_kernel("pattern", body).function();
    passes::assume_unit_strides(fn);  // as for buffers whose last axis is contiguous
    passes::optimise(fn);
    return fn;
}

/// Returns the code for a grid without partial edges; `local` matters for kernels that use workgroups.
template <class F>
std::string code_of(F&& body, const codegen::llvm::Target& target = avx2(), ir::Dim3 local = {64, 1, 1}) {
    return codegen::llvm::assembly(optimised(body), {.local = local, .full = true}, target);
}

inline bool has(std::string_view code, std::string_view text) {
    return code.find(text) != std::string_view::npos;
}

inline std::size_t count(std::string_view code, std::string_view text) {
    std::size_t n = 0;
    for (std::size_t at = code.find(text); at != std::string_view::npos; at = code.find(text, at + 1)) ++n;
    return n;
}

}  // namespace volley::test
