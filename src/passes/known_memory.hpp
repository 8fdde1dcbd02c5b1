// The known contents of memory at one point of a function: pairs of an access path and a value.
// eliminate_common walks in execution order and records loads, stores and other writes.
#pragma once

#include "passes/effects.hpp"

#include <unordered_map>

namespace volley::passes {

class KnownMemory {
public:
    using Path = std::span<const ir::NodeId>;

    /// A known value: at `path`, or at an enclosing location (then `rest` leads from the value to the
    /// location).
    struct Found {
        ir::NodeId value = ir::none;  // none: zero, because the variable has not been stored to
        Path rest;
    };

    /// Records a new variable, which is zero.
    void declare(ir::NodeId var);
    /// Records that a load from the location returned the value.
    void loaded(ir::NodeId root, Path path, ir::NodeId value);
    /// Records a store of the value and forgets all values that may overlap it.
    void stored(const ir::Function& fn, ir::NodeId root, Path path, ir::NodeId value);
    /// Forgets all values that a write of an unknown value to the path may change.
    void overwritten(const ir::Function& fn, ir::NodeId root, Path path);
    /// Forgets all values that the region, or other invocations, may have written.
    void forget(const ir::Function& fn, const Effects& effects);

    [[nodiscard]] std::optional<Found> find(ir::NodeId root, Path path) const;

private:
    struct Entry {
        std::vector<ir::NodeId> path;
        ir::NodeId value;
    };
    void forget_buffers(const ir::Function& fn, ir::NodeId except);

    std::unordered_map<ir::NodeId, std::vector<Entry>> roots_;
};

}  // namespace volley::passes
