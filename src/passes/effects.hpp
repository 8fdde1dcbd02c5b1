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

/// By parameter: true for buffers that the kernel reads, and for buffers that it writes. Atomics do both. All
/// buffers of foreign code count as read, and as written unless they are declared read only.
struct BufferUses {
    std::vector<bool> reads;
    std::vector<bool> writes;

    /// By parameter: true for buffers that the kernel writes and never reads.
    [[nodiscard]] std::vector<bool> written_only() const;
};
[[nodiscard]] BufferUses buffer_uses(const ir::Function& fn);

}  // namespace volley::passes
