// Helpers shared by all imports of foreign memory.
#pragma once

#include "core/layout.hpp"

#include <volley/interchange.hpp>

#include <memory>
#include <span>
#include <string>

namespace volley::runtime {

class ContextCore;

/// The context and queue that imported memory belongs to.
struct ImportTarget {
    std::shared_ptr<ContextCore> core;
    unsigned queue = 0;
    std::string subject;  // for error messages
};
[[nodiscard]] ImportTarget target_of(const ImportOptions& options);

/// Imports host memory that holds an array of that layout, whose offset must be 0, as a buffer.
[[nodiscard]] AnyBuffer import_bytes(DType dtype, const Layout& layout, std::span<std::byte> memory,
                                     ImportOptions options);

}  // namespace volley::runtime
