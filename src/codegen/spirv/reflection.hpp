// What a SPIR-V module that was made elsewhere asks of its caller: its entry point, its workgroup size, where
// it expects buffers and values. Reads any words without harm: what is not SPIR-V is an error, not a crash.
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
    std::vector<std::uint32_t> bindings;  // of storage buffers in descriptor set 0, ascending
    std::vector<PushMember> push;         // in the order of the block's members
    std::uint32_t push_bytes = 0;
    std::vector<std::uint32_t> capabilities;  // spv::Capability
};

/// Throws CompileError naming `kernel`: no SPIR-V, no compute entry point of that name, a workgroup size that
/// only specialisation gives, resources that are no storage buffers of set 0.
[[nodiscard]] Reflection reflect(std::span<const std::uint32_t> words, std::string_view entry,
                                 std::string_view kernel);

}  // namespace volley::codegen::spirv
