// What a kernel requires of its launches: a workgroup size, because it depends on which invocations form a
// workgroup, and a grid of two or three dimensions, because it reads their ids.
#pragma once

#include "ir/function.hpp"

#include <optional>

namespace volley::passes {

struct LaunchNeeds {
    /// The operation that depends on the division into workgroups: a shared array, or the id of an invocation
    /// in its workgroup, of a workgroup, or of a subgroup in its workgroup. Sizes and counts do not, because
    /// a kernel that reads them adapts to the size that a device chooses; neither do barriers and operations
    /// of subgroups, whose size every device chooses anyway.
    std::optional<ir::Op> workgroups;

    struct AxisRead {
        ir::Op id = ir::Op::GlobalId;  // GlobalId, GroupId or LocalId
        unsigned axis = 0;
    };
    /// The id that the kernel reads along the highest axis, if that is not the first. A vector that is stored
    /// or printed as a whole does not count: the kernel does not compute with its components.
    std::optional<AxisRead> axis;
};

/// Finds what a launch must set. `fn` should be cleaned, because unused operations count too. Takes linear
/// time.
[[nodiscard]] LaunchNeeds launch_needs(const ir::Function& fn);

}  // namespace volley::passes
