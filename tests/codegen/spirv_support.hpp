// SPIR-V targets, and validation with SPIRV-Tools.
#pragma once

#include "codegen/spirv/compiler.hpp"
#include "lang/tracer.hpp"
#include "passes/pipeline.hpp"

#include <volley/error.hpp>
#include <volley/lang/lang.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace volley::test {

namespace spirv = codegen::spirv;

/// A device that has everything.
[[nodiscard]] spirv::Target rich_target();
/// Like lavapipe: no fused fma, subgroups of 8, and a limit on loop iterations.
[[nodiscard]] spirv::Target limited_target();
/// Like SwiftShader: 32-bit types only.
[[nodiscard]] spirv::Target plain_target();
/// Only the features that every device has: no subgroup operations, few push constants.
[[nodiscard]] spirv::Target poor_target();
[[nodiscard]] std::vector<spirv::Target> all_targets();

/// Returns SPIRV-Tools' errors for a module; empty if there are none, or if it was not available at build
/// time.
[[nodiscard]] std::string objections(const std::vector<std::uint32_t>& words);
/// Returns true if objections() can validate.
[[nodiscard]] bool can_validate() noexcept;

/// Traces and optimises a kernel, as the code generator receives it.
template <class F>
ir::Function traced(F&& body) {
    ir::Function fn = lang::trace_kernel("tested", body).function();
    passes::optimise(fn);
    return fn;
}

/// Compiles and validates a kernel; returns the module.
inline spirv::Module valid_module(const ir::Function& fn, const spirv::Target& target,
                                  const spirv::Variant& variant = {{64, 1, 1}, false, false}) {
    spirv::Module module = spirv::compile(fn, variant, target);
    EXPECT_EQ(objections(module.words), "") << target.device << '\n' << spirv::disassemble(module.words);
    return module;
}

inline bool says(const spirv::Module& module, std::string_view text) {
    return spirv::disassemble(module.words).find(text) != std::string::npos;
}

inline std::ptrdiff_t count_fields(const spirv::Module& module, spirv::FieldKind kind) {
    return std::count_if(module.fields.begin(), module.fields.end(),
                         [&](const spirv::Field& field) { return field.kind == kind; });
}

}  // namespace volley::test
