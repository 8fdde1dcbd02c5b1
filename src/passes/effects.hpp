// What a region does to memory, summed over all that is inside of it: who is written, and what orders
// accesses.
#pragma once

#include "ir/function.hpp"

#include <vector>

namespace volley::passes {

struct Effects {
    std::vector<ir::NodeId> written;  // Var and Shared roots, sorted, each once
    bool buffers = false;             // some buffer is written: any two buffers may be the same memory
    bool sync = false;                // a barrier or fence: others' writes to buffers and shared memory show

    void add(const Effects& other);
    void add_root(ir::NodeId root);
};

/// The effects of every region, indexed by RegionId; empty for regions that nothing uses.
[[nodiscard]] std::vector<Effects> effects_of_regions(const ir::Function& fn);

/// The same for one node, with all that is inside of it.
[[nodiscard]] Effects effects_of(const ir::Function& fn, ir::NodeId id, const std::vector<Effects>& regions);

/// By parameter: whether it is a buffer that the kernel loads from, and that it stores to. Of foreign code
/// nothing more is known than which buffers are declared to be read only.
struct BufferUses {
    std::vector<bool> reads;
    std::vector<bool> writes;
};
[[nodiscard]] BufferUses buffer_uses(const ir::Function& fn);

}  // namespace volley::passes
