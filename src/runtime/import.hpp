// What all imports have in common.
#pragma once

#include "core/layout.hpp"

#include <volley/interchange.hpp>

#include <memory>
#include <span>
#include <string>

namespace volley::runtime {

class ContextCore;

/// Where imported memory goes.
struct ImportTarget {
    std::shared_ptr<ContextCore> core;
    unsigned queue = 0;
    std::string subject;  // for messages
};
[[nodiscard]] ImportTarget target_of(const ImportOptions& options);

/// Host memory with an array of that layout (whose offset is 0) as a buffer.
[[nodiscard]] AnyBuffer import_bytes(DType dtype, const Layout& layout, std::span<std::byte> memory,
                                     ImportOptions options);

}  // namespace volley::runtime
