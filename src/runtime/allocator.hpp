// One device's memory for a context: freed blocks are kept by size class and given out again, so that most
// allocations ask no driver.
//
// Invariant: a block is given out again only when every queue but the one that asks is known to be done with
// it. Work of that queue itself may be pending: its commands run in order, and the block carries the points,
// so that the host waits for them. A block is destroyed only when all its uses have passed.
#pragma once

#include "backends/api/device.hpp"
#include "backends/api/timeline.hpp"
#include "runtime/block.hpp"
#include "runtime/size_class.hpp"

#include <volley/memory_stats.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace volley::runtime {

struct AllocatorOptions {
    std::uint64_t limit = 0;        // bytes that the device may hold; 0: none
    std::uint64_t cache_bytes = 0;  // of freed blocks, kept for reuse; 0: none are
};

/// Thread-safe. The device and the timelines outlive its use: close() comes before their end.
class Allocator {
public:
    /// `timelines` are those of all queues of the context.
    Allocator(backends::Device& device, std::vector<backends::Timeline*> timelines,
              const AllocatorOptions& options);
    ~Allocator();
    Allocator(const Allocator&) = delete;
    Allocator& operator=(const Allocator&) = delete;

    /// A block of at least so many bytes, which `queue` is the first to use; its `uses` are those that are
    /// not known to be over, all of that queue. From the cache: no call of a driver, no allocation. Gives
    /// what is cached back to the driver before it fails; throws the backend's MemoryError then.
    [[nodiscard]] std::unique_ptr<Block> take(std::uint64_t bytes, unsigned queue);
    /// Takes a block back, with its uses. Waits for nothing.
    void give(std::unique_ptr<Block> block) noexcept;

    /// Destroys what is over and need not be kept. A load where there is nothing.
    void collect() noexcept {
        if (untidy_.load(std::memory_order_relaxed)) tidy();
    }
    /// Destroys all that nobody uses any more. Whether that gave memory back.
    bool trim() noexcept;
    /// Whether there are blocks that wait for their uses. After a trim(), which take() does before it fails.
    [[nodiscard]] bool waits() const noexcept;
    /// Nothing uses memory any more: destroys all of it, and what is given later at once.
    void close() noexcept;

    [[nodiscard]] DeviceMemoryStats stats() const;

private:
    // Where blocks wait: one lane for each queue that alone may still use them, so that this queue finds them
    // without a look at any timeline; one for those that nobody uses; one for those of several queues.
    using LaneList = BlockList<&Block::in_lane>;
    using ClassList = BlockList<&Block::in_class>;
    struct Lane {
        LaneList cached;
        LaneList retired;  // not to be given out again: adopted, or too large for the cache
    };
    using Class = std::vector<ClassList>;  // by lane

    [[nodiscard]] unsigned idle_lane() const noexcept { return static_cast<unsigned>(timelines_.size()); }
    [[nodiscard]] unsigned mixed_lane() const noexcept { return idle_lane() + 1; }
    [[nodiscard]] bool passed(const Block& block) const noexcept;
    [[nodiscard]] bool is_reusable(const Block& block) const noexcept;
    [[nodiscard]] std::unique_ptr<Block> make(std::uint64_t size, std::uint64_t bytes);

    // With mutex_ held:
    [[nodiscard]] Block* find(std::uint64_t bytes, unsigned queue) const noexcept;
    [[nodiscard]] Block* find_in(unsigned size_class, std::uint64_t bytes, unsigned queue) const noexcept;
    [[nodiscard]] std::uint64_t size_for(std::uint64_t bytes, DeadBlocks& dead) noexcept;
    [[nodiscard]] unsigned lane_of(Block& block) const noexcept;
    void hand_out(Block& block, std::uint64_t bytes) noexcept;
    void link(Block& block) noexcept;
    void unlink(Block& block) noexcept;
    void destroy(std::unique_ptr<Block> block, DeadBlocks& dead) noexcept;
    void destroy_retired(DeadBlocks& dead) noexcept;
    [[nodiscard]] bool evict_oldest(DeadBlocks& dead) noexcept;
    void shrink(DeadBlocks& dead) noexcept;
    template <class IsOver>
    void destroy_all(IsOver&& is_over, DeadBlocks& dead) noexcept;
    void note_state() noexcept;

    void tidy() noexcept;

    backends::Device& device_;
    const std::vector<backends::Timeline*> timelines_;  // by queue
    const AllocatorOptions options_;

    mutable std::mutex mutex_;
    DeviceMemoryStats numbers_;  // all but `cached`
    bool closed_ = false;
    std::vector<Lane> lanes_;
    std::vector<Class> classes_;  // empty until there is a block of that size
    std::uint64_t stamp_ = 0;
    std::uint64_t held_ = 0;     // bytes of all blocks that were made and not destroyed
    std::uint64_t cached_ = 0;   // bytes in the lanes' cached lists
    std::uint64_t retired_ = 0;  // blocks in the retired lists
    std::uint64_t waiting_ = 0;  // bytes of blocks in both, without adopted ones
    std::uint64_t waiting_blocks_ = 0;
    std::atomic<bool> untidy_{false};  // collect() may find something
};

}  // namespace volley::runtime
