// The dependency graph of a sequence of commands: which command must follow which (hazards.hpp), and its
// distance from the start. Used to compile graphs; independent of queues and devices.
#pragma once

#include "runtime/hazards.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace volley::runtime {

class CommandOrder {
public:
    /// Adds a command with all its accesses. Returns its index.
    std::uint32_t add(std::vector<Access> accesses);
    /// Adds a fence: a command that follows all earlier commands and precedes all later ones.
    std::uint32_t add_fence();

    [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(nodes_.size()); }
    /// Returns the commands that must complete before it starts, in ascending order. Dependencies implied by
    /// those of a direct dependency are left out.
    [[nodiscard]] const std::vector<std::uint32_t>& after(std::uint32_t command) const {
        return nodes_[command].after;
    }
    /// Returns the length of the longest path to it. Commands of the same level are independent.
    [[nodiscard]] std::uint32_t level(std::uint32_t command) const { return nodes_[command].level; }
    [[nodiscard]] std::uint32_t levels() const noexcept { return levels_; }

private:
    struct Node {
        std::vector<std::uint32_t> after;
        std::uint32_t level = 0;
        bool followed = false;  // it is in the `after` list of another command
    };
    std::uint32_t finish(Node node);

    std::vector<Node> nodes_;
    std::unordered_map<const void*, AccessMap> resources_;
    std::uint32_t fence_ = ~0u;  // the last fence; ~0u: none
    std::uint32_t levels_ = 0;
};

}  // namespace volley::runtime
