// What is known to be in memory at one place of a function: pairs of an access path and the value there.
// Used by eliminate_common, which walks in execution order and tells it of loads, stores and all else that
// writes.
#pragma once

#include "passes/effects.hpp"

#include <unordered_map>

namespace volley::passes {

class KnownMemory {
public:
    using Path = std::span<const ir::NodeId>;

    /// A known value: at `path`, or at a place that holds it (then `rest` leads from the value to the place).
    struct Found {
        ir::NodeId value = ir::none;  // none: zero, as the variable was not stored to yet
        Path rest;
    };

    /// The variable starts as zero.
    void declare(ir::NodeId var);
    /// The place holds the value: it was loaded from there.
    void loaded(ir::NodeId root, Path path, ir::NodeId value);
    /// The place holds the value from now on; what may overlap it is forgotten.
    void stored(const ir::Function& fn, ir::NodeId root, Path path, ir::NodeId value);
    /// Some place that the path may lead to has been written with an unknown value.
    void overwritten(const ir::Function& fn, ir::NodeId root, Path path);
    /// All that the region may have written, or that others may have, is forgotten.
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
