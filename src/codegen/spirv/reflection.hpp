// Reads the interface of a foreign SPIR-V module: its entry point, workgroup size, buffers and values. Safe
// for arbitrary input: anything that is not SPIR-V is an error, not a crash.
#pragma once

#include "ir/function.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace volley::codegen::spirv {

/// A member of the push-constant block.
struct PushMember {
    std::uint32_t offset = 0;
    std::uint32_t size = 0;  // bytes; 8 for a pointer
    bool pointer = false;    // a buffer reference
};

struct Reflection {
    ir::Dim3 local = {1, 1, 1};
    std::vector<std::uint32_t> bindings;  // storage buffers in descriptor set 0, ascending
    std::vector<PushMember> push;         // in member order
    std::uint32_t push_bytes = 0;
    std::vector<std::uint32_t> capabilities;  // spv::Capability
};

/// Throws CompileError, naming `kernel`, for input that is not SPIR-V, a missing compute entry point, a
/// workgroup size that is only set by specialisation, and resources other than storage buffers of set 0.
[[nodiscard]] Reflection reflect(std::span<const std::uint32_t> words, std::string_view entry,
                                 std::string_view kernel);

}  // namespace volley::codegen::spirv
