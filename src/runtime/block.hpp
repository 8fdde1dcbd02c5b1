// A block of device memory with the data that the allocator needs when it is freed, and the intrusive lists
// of freed blocks.
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

/// Owned by the replica that uses it, otherwise by its allocator. Lives as long as its memory, so freeing and
/// reusing it allocates nothing.
struct Block {
    std::shared_ptr<const void> keep_alive;  // outlives the memory: the owner of imported memory
    std::unique_ptr<backends::Memory> memory;
    std::vector<backends::Point> uses;  // last use by each queue of the context; 0: none
    std::uint64_t asked = 0;            // bytes requested by the owner
    bool adopted = false;               // not created by the allocator: never reused

    // Used by the allocator only:
    std::uint64_t stamp = 0;  // increases with each free: the lowest is the oldest
    unsigned size_class = 0;  // of its size, rounded down
    unsigned lane = 0;
    bool cached = false;
    BlockLink in_lane;
    BlockLink in_class;

    [[nodiscard]] std::uint64_t size() const noexcept { return memory->size(); }
};

/// Intrusive list of blocks in the order of their insertion. Does not own them.
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

/// Collects blocks and destroys them in its destructor. Destroying a block may run user code, so declare this
/// object before taking a lock: the blocks are destroyed after the lock is released.
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
