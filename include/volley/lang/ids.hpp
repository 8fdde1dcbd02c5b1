// The ids of an invocation, the sizes of the launch, and the barriers of a workgroup.
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

VOLLEY_ID3(global_id, GlobalId)           ///< group_id * local_size + local_id
VOLLEY_ID3(local_id, LocalId)             ///< position of the invocation in its workgroup
VOLLEY_ID3(group_id, GroupId)             ///< position of the workgroup in the launch
VOLLEY_ID3(global_size, GlobalSize)       ///< number of invocations of the launch
VOLLEY_ID3(local_size, LocalSize)         ///< number of invocations of a workgroup
VOLLEY_ID3(group_count, GroupCount)       ///< number of workgroups of the launch
VOLLEY_ID(local_index, LocalIndex)        ///< linear local_id: (z * local_size.y + y) * local_size.x + x
VOLLEY_ID(subgroup_id, SubgroupId)        ///< index of the subgroup in its workgroup
VOLLEY_ID(subgroup_count, SubgroupCount)  ///< number of subgroups of a workgroup
VOLLEY_ID(subgroup_size, SubgroupSize)    ///< number of lanes of a subgroup
VOLLEY_ID(subgroup_lane, SubgroupLane)    ///< index of the invocation in its subgroup

#undef VOLLEY_ID
#undef VOLLEY_ID3

/// Blocks until all invocations of the workgroup reach the barrier, and orders their memory accesses. Must be
/// in control flow that is uniform in the workgroup.
inline void barrier(lang::Site at = lang::Site::here()) {
    lang::sync(ir::Op::Barrier, ir::FenceScope::All, at);
}

/// Order this invocation's memory accesses: all, only those to buffers, only those to shared memory, or all
/// as seen by its workgroup. They do not block.
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
