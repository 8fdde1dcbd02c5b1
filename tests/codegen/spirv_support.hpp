// Targets to write SPIR-V for, and SPIRV-Tools' opinion of what comes out.
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
/// Like lavapipe: no fused fma, subgroups of 8, and loops that end by themselves.
[[nodiscard]] spirv::Target limited_target();
/// Like SwiftShader: 32 bits of everything and no more.
[[nodiscard]] spirv::Target plain_target();
/// Nothing that is not asked of every device: no subgroup operations, few push constants.
[[nodiscard]] spirv::Target poor_target();
[[nodiscard]] std::vector<spirv::Target> all_targets();

/// What SPIRV-Tools says against a module; empty when nothing, or when it was not there to build with.
[[nodiscard]] std::string objections(const std::vector<std::uint32_t>& words);
/// Whether objections() can find any.
[[nodiscard]] bool can_validate() noexcept;

/// A kernel of the language as the code generator gets it.
template <class F>
ir::Function traced(F&& body) {
    ir::Function fn = lang::trace_kernel("tested", body).function();
    passes::optimise(fn);
    return fn;
}

/// Compiles and validates; gives the module.
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
