// Memory with what has to be known when it is given back, and the lists that the allocator keeps it in.
#pragma once

#include "backends/api/memory.hpp"
#include "backends/api/timeline.hpp"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace volley::runtime {

struct Block;

struct BlockLink {
    Block* older = nullptr;
    Block* newer = nullptr;
};

/// Owned by the replica that works on it, else by its allocator. Lives as long as its memory, so that giving
/// it back and out again allocates nothing.
struct Block {
    std::shared_ptr<const void> keep_alive;  // outlives the memory: what an import lies in
    std::unique_ptr<backends::Memory> memory;
    std::vector<backends::Point> uses;  // by queue of the context: the last one; 0: none
    std::uint64_t asked = 0;            // bytes that its owner asked for
    bool adopted = false;               // made elsewhere: never given out again

    // The allocator's own:
    std::uint64_t stamp = 0;  // when it was given back: the least is the oldest
    unsigned size_class = 0;  // by its size, rounded down
    unsigned lane = 0;
    bool cached = false;
    BlockLink in_lane;
    BlockLink in_class;

    [[nodiscard]] std::uint64_t size() const noexcept { return memory->size(); }
};

/// Blocks in the order in which they came, linked through themselves. Owns none.
template <BlockLink Block::*link>
class BlockList {
public:
    [[nodiscard]] Block* newest() const noexcept { return newest_; }
    [[nodiscard]] Block* oldest() const noexcept { return oldest_; }
    [[nodiscard]] static Block* newer(const Block& block) noexcept { return (block.*link).newer; }

    void add(Block& block) noexcept {
        block.*link = {newest_, nullptr};
        (newest_ == nullptr ? oldest_ : (newest_->*link).newer) = &block;
        newest_ = &block;
    }
    void remove(Block& block) noexcept {
        const BlockLink at = block.*link;
        (at.older == nullptr ? oldest_ : (at.older->*link).newer) = at.newer;
        (at.newer == nullptr ? newest_ : (at.newer->*link).older) = at.older;
    }

private:
    Block* newest_ = nullptr;
    Block* oldest_ = nullptr;
};

/// Owns blocks that end with it: for those whose end may run code of the user's, and so waits until no lock
/// is held.
class DeadBlocks {
public:
    DeadBlocks() = default;
    ~DeadBlocks() { clear(); }
    DeadBlocks(const DeadBlocks&) = delete;
    DeadBlocks& operator=(const DeadBlocks&) = delete;

    void add(std::unique_ptr<Block> block) noexcept {
        block->in_lane.older = first_;
        first_ = block.release();
    }
    void clear() noexcept {
        while (first_ != nullptr) delete std::exchange(first_, first_->in_lane.older);
    }

private:
    Block* first_ = nullptr;
};

}  // namespace volley::runtime
