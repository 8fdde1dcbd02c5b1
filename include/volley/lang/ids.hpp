// Where an invocation is: its ids and the sizes of the grid, and the barriers of its workgroup.
#pragma once

#include <volley/lang/value.hpp>

namespace volley {

#define VOLLEY_ID3(name, node)                                                         \
    [[nodiscard]] inline Value<vec<u32, 3>> name(lang::Site at = lang::Site::here()) { \
        return Value<vec<u32, 3>>(lang::emit(ir::Op::node, {}, at));                   \
    }
#define VOLLEY_ID(name, node)                                                  \
    [[nodiscard]] inline Value<u32> name(lang::Site at = lang::Site::here()) { \
        return Value<u32>(lang::emit(ir::Op::node, {}, at));                   \
    }

VOLLEY_ID3(global_id, GlobalId)      ///< group_id * local_size + local_id
VOLLEY_ID3(local_id, LocalId)        ///< in the workgroup
VOLLEY_ID3(group_id, GroupId)        ///< of the workgroup
VOLLEY_ID3(global_size, GlobalSize)  ///< invocations of the launch
VOLLEY_ID3(local_size, LocalSize)    ///< invocations of a workgroup
VOLLEY_ID3(group_count, GroupCount)  ///< workgroups of the launch
VOLLEY_ID(local_index, LocalIndex)   ///< (z * size.y + y) * size.x + x
VOLLEY_ID(subgroup_id, SubgroupId)
VOLLEY_ID(subgroup_count, SubgroupCount)
VOLLEY_ID(subgroup_size, SubgroupSize)
VOLLEY_ID(subgroup_lane, SubgroupLane)

#undef VOLLEY_ID
#undef VOLLEY_ID3

/// Waits for all invocations of the workgroup and orders their accesses. Only where control flow is uniform
/// in the workgroup.
inline void barrier(lang::Site at = lang::Site::here()) {
    lang::sync(ir::Op::Barrier, ir::FenceScope::All, at);
}

/// Orders this invocation's accesses; does not wait.
inline void memory_barrier(lang::Site at = lang::Site::here()) {
    lang::sync(ir::Op::Fence, ir::FenceScope::All, at);
}
inline void memory_barrier_buffer(lang::Site at = lang::Site::here()) {
    lang::sync(ir::Op::Fence, ir::FenceScope::Buffer, at);
}
inline void memory_barrier_shared(lang::Site at = lang::Site::here()) {
    lang::sync(ir::Op::Fence, ir::FenceScope::Shared, at);
}
inline void group_memory_barrier(lang::Site at = lang::Site::here()) {
    lang::sync(ir::Op::Fence, ir::FenceScope::Group, at);
}

}  // namespace volley
