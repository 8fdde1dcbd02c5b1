// The place that an access reaches, in the host's layout: a constant offset plus computed indices times
// strides.
#pragma once

#include "ir/function.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace volley::codegen {

struct ElementPath {
    struct Dim {
        ir::NodeId index = ir::none;
        std::uint64_t stride = 0;  // bytes
        std::uint64_t count = 0;   // 0 for a buffer's elements
    };
    ir::NodeId root = ir::none;
    std::uint64_t offset = 0;  // bytes
    std::vector<Dim> dims;     // a buffer's element index, then computed steps
    DType type;                // of the item that is reached

    /// Returns whether the place is a multiple of `bytes` after the start of the memory, for all indices.
    [[nodiscard]] bool aligned_to(std::uint64_t bytes) const;
};

/// Follows the path of an access to memory.
[[nodiscard]] ElementPath element_path(const ir::Function& fn, ir::NodeId access);
/// Follows a path into a composite value or variable.
[[nodiscard]] ElementPath element_path(const ir::Function& fn, ir::NodeId root,
                                       std::span<const ir::NodeId> path);

}  // namespace volley::codegen
