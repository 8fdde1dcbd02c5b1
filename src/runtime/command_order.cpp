// Each command has its own lane in the AccessMaps.
#include "runtime/command_order.hpp"

#include <algorithm>

namespace volley::runtime {

std::uint32_t CommandOrder::finish(Node node) {
    const std::uint32_t number = size();
    std::sort(node.after.begin(), node.after.end());
    node.after.erase(std::unique(node.after.begin(), node.after.end()), node.after.end());
    // Removes dependencies that another dependency implies.
    std::vector<std::uint32_t> implied;
    for (const std::uint32_t other : node.after)
        implied.insert(implied.end(), nodes_[other].after.begin(), nodes_[other].after.end());
    std::sort(implied.begin(), implied.end());
    std::erase_if(node.after, [&](std::uint32_t other) {
        return std::binary_search(implied.begin(), implied.end(), other);
    });
    for (const std::uint32_t other : node.after) {
        node.level = std::max(node.level, nodes_[other].level + 1);
        nodes_[other].followed = true;
    }
    levels_ = std::max(levels_, node.level + 1);
    nodes_.push_back(std::move(node));
    return number;
}

std::uint32_t CommandOrder::add(std::vector<Access> accesses) {
    const std::uint32_t number = size();
    const std::vector<Access> merged = merge_accesses(std::move(accesses));
    Node node;
    for (const Access& access : merged) {
        AccessMap& map = resources_[access.resource];
        map.conflicts(access.range, access.writes, [&](const Use& use) { node.after.push_back(use.lane); });
        map.add(access.range, access.writes, {number, 1});
    }
    // A command that conflicts with one after the fence follows the fence through it.
    if (fence_ != ~0u && node.after.empty()) node.after.push_back(fence_);
    return finish(std::move(node));
}

std::uint32_t CommandOrder::add_fence() {
    Node node;
    for (std::uint32_t i = fence_ == ~0u ? 0 : fence_; i < size(); ++i) {
        if (!nodes_[i].followed) node.after.push_back(i);
    }
    const std::uint32_t number = finish(std::move(node));
    resources_.clear();
    fence_ = number;
    return number;
}

}  // namespace volley::runtime
