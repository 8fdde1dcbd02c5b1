// The effects of a region on memory, including nested regions: what it writes, and whether it orders
// accesses.
#pragma once

#include "ir/function.hpp"

#include <vector>

namespace volley::passes {

struct Effects {
    std::vector<ir::NodeId> written;  // Var and Shared roots, sorted and unique
    bool buffers = false;             // some buffer is written; any two buffers may alias
    bool sync = false;                // a barrier or fence: makes writes of other invocations visible

    void add(const Effects& other);
    void add_root(ir::NodeId root);
};

/// Returns the effects of every region, indexed by RegionId; empty for unused regions.
[[nodiscard]] std::vector<Effects> effects_of_regions(const ir::Function& fn);

/// Returns the effects of one node, including its regions.
[[nodiscard]] Effects effects_of(const ir::Function& fn, ir::NodeId id, const std::vector<Effects>& regions);

/// Per parameter: whether it is a buffer that the kernel loads from or stores to. For foreign code only the
/// read-only declarations of the buffers are known.
struct BufferUses {
    std::vector<bool> reads;
    std::vector<bool> writes;
};
[[nodiscard]] BufferUses buffer_uses(const ir::Function& fn);

}  // namespace volley::passes
