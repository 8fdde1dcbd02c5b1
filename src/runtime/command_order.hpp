// The order of commands that are given one after the other: which must follow which (hazards.hpp), and how
// far each is from the beginning. What a graph is compiled with; knows nothing of queues or devices.
#pragma once

#include "runtime/hazards.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace volley::runtime {

class CommandOrder {
public:
    /// One more command, with all that it touches; its number, from 0.
    std::uint32_t add(std::vector<Access> accesses);
    /// One more command, which follows all before it and which all behind it follow: a fence.
    std::uint32_t add_fence();

    [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(nodes_.size()); }
    /// Those that must be done before it starts, in their order. What follows from a neighbour is left out.
    [[nodiscard]] const std::vector<std::uint32_t>& after(std::uint32_t command) const {
        return nodes_[command].after;
    }
    /// The longest way to it: commands of one level need no order among themselves.
    [[nodiscard]] std::uint32_t level(std::uint32_t command) const { return nodes_[command].level; }
    /// How many levels there are.
    [[nodiscard]] std::uint32_t levels() const noexcept { return levels_; }

private:
    struct Node {
        std::vector<std::uint32_t> after;
        std::uint32_t level = 0;
        bool followed = false;  // some command has it in its `after`
    };
    std::uint32_t finish(Node node);

    std::vector<Node> nodes_;
    std::unordered_map<const void*, AccessMap> resources_;
    std::uint32_t fence_ = ~0u;  // the last one
    std::uint32_t levels_ = 0;
};

}  // namespace volley::runtime
