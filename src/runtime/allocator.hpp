// Caching allocator for one device of a context. Freed blocks are kept by size class and reused, so most
// allocations do not call the driver.
//
// Invariant: a block is reused by a queue only after every other queue has finished with it. Work of the
// requesting queue may still be pending: its commands run in order, and the block carries their points so
// that the host can wait for them. A block is destroyed only after all its uses have completed.
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
    std::uint64_t limit = 0;        // maximum bytes allocated on the device; 0: no limit
    std::uint64_t cache_bytes = 0;  // maximum bytes of freed blocks kept for reuse; 0: no cache
};

/// Thread-safe. Call close() before the device or a timeline is destroyed.
class Allocator {
public:
    /// `timelines` holds the timeline of every queue of the context, by queue index.
    Allocator(backends::Device& device, std::vector<backends::Timeline*> timelines,
              const AllocatorOptions& options);
    ~Allocator();
    Allocator(const Allocator&) = delete;
    Allocator& operator=(const Allocator&) = delete;

    /// Returns a block of at least `bytes` bytes to be used first by `queue`. Its `uses` hold only points of
    /// that queue, which may still be pending. A cache hit calls no driver and allocates nothing. Before it
    /// fails, returns unused cached blocks to the driver; then throws the backend's MemoryError.
    [[nodiscard]] std::unique_ptr<Block> take(std::uint64_t bytes, unsigned queue);
    /// Returns a block, with its uses, to the allocator. Never blocks on the device.
    void recycle(std::unique_ptr<Block> block) noexcept;

    /// Destroys completed blocks that need not be cached. Costs one load when there are none.
    void collect() noexcept {
        if (untidy_.load(std::memory_order_relaxed)) tidy();
    }
    /// Destroys all blocks whose uses have completed. Returns whether that released memory.
    bool trim() noexcept;
    /// Returns whether any freed blocks are left. After trim(), which take() calls before it fails, these are
    /// the blocks with pending uses.
    [[nodiscard]] bool waits() const noexcept;
    /// Destroys all freed blocks; blocks passed to recycle() later are destroyed at once. Requires that no
    /// command uses the memory any more.
    void close() noexcept;

    /// Never destroys a block any more: the driver is going away, or belongs to another process.
    void abandon() noexcept { abandoned_.store(true, std::memory_order_release); }

    [[nodiscard]] DeviceMemoryStats stats() const;

private:
    // Freed blocks are kept in lanes: one per queue for blocks that only this queue may still use, which it
    // can therefore reuse without checking a timeline; one for idle blocks; one for blocks that several
    // queues may still use.
    using LaneList = BlockList<&Block::in_lane>;
    using ClassList = BlockList<&Block::in_class>;
    struct Lane {
        LaneList cached;
        LaneList retired;  // never reused: adopted, or of a size that is not cached
    };
    using Class = std::vector<ClassList>;  // indexed by lane

    [[nodiscard]] unsigned idle_lane() const noexcept { return static_cast<unsigned>(timelines_.size()); }
    [[nodiscard]] unsigned mixed_lane() const noexcept { return idle_lane() + 1; }
    [[nodiscard]] bool passed(const Block& block) const noexcept;
    [[nodiscard]] bool is_reusable(const Block& block) const noexcept;
    [[nodiscard]] std::unique_ptr<Block> make(std::uint64_t size, std::uint64_t bytes);

    // These require mutex_:
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
    const std::vector<backends::Timeline*> timelines_;  // indexed by queue
    const AllocatorOptions options_;

    mutable std::mutex mutex_;
    DeviceMemoryStats numbers_;  // `cached` is not maintained here
    bool closed_ = false;
    std::vector<Lane> lanes_;
    std::vector<Class> classes_;  // each is empty until the first block of that size class
    std::uint64_t stamp_ = 0;
    std::uint64_t held_ = 0;     // bytes of all blocks created and not yet destroyed
    std::uint64_t cached_ = 0;   // bytes in the lanes' cached lists
    std::uint64_t retired_ = 0;  // blocks in the retired lists
    std::uint64_t waiting_ = 0;  // bytes of the blocks in both, except adopted ones
    std::uint64_t waiting_blocks_ = 0;
    std::atomic<bool> abandoned_{false};
    std::atomic<bool> untidy_{false};  // collect() may have something to destroy
};

}  // namespace volley::runtime
