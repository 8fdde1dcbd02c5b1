// The hot path is take() of a block from the lane of its queue and recycle() of a block that one queue has
// used: each costs one lock and a few pointer updates.
#include "runtime/allocator.hpp"

#include <volley/error.hpp>

#include <algorithm>

namespace volley::runtime {

using backends::Point;

Allocator::Allocator(backends::Device& device, std::vector<backends::Timeline*> timelines,
                     const AllocatorOptions& options)
    : device_(device),
      timelines_(std::move(timelines)),
      options_(options),
      lanes_(timelines_.size() + 2),
      classes_(SizeClass::count) {
    numbers_.id = device_.info().id();
    numbers_.limit = options_.limit;
}

Allocator::~Allocator() { close(); }

bool Allocator::passed(const Block& block) const noexcept {
    if (block.lane == idle_lane()) return true;
    for (std::size_t k = 0; k < block.uses.size(); ++k) {
        if (block.uses[k] != 0 && timelines_[k]->completed() < block.uses[k]) return false;
    }
    return true;
}

bool Allocator::is_reusable(const Block& block) const noexcept {
    return !block.adopted && block.size() >= SizeClass::smallest && block.size() <= options_.cache_bytes;
}

// ---- allocating ----

std::unique_ptr<Block> Allocator::take(std::uint64_t bytes, unsigned queue) {
    std::uint64_t size = bytes;
    {
        DeadBlocks dead;
        const std::scoped_lock lock(mutex_);
        if (Block* found = find(bytes, queue)) {
            unlink(*found);
            note_state();
            ++numbers_.cache_hits;
            hand_out(*found, bytes);
            return std::unique_ptr<Block>(found);
        }
        size = size_for(bytes, dead);
    }
    std::unique_ptr<Block> block = make(size, bytes);
    const std::scoped_lock lock(mutex_);
    if (is_reusable(*block)) {
        // Reserves the class's lists now, so that recycle() does not allocate.
        block->size_class = SizeClass::below(block->size());
        Class& blocks = classes_[block->size_class];
        if (blocks.empty()) blocks.resize(lanes_.size());
    }
    held_ += block->size();
    hand_out(*block, bytes);
    return block;
}

std::unique_ptr<Block> Allocator::make(std::uint64_t size, std::uint64_t bytes) {
    auto block = std::make_unique<Block>();
    block->uses.resize(timelines_.size());
    try {
        block->memory = device_.allocate(size);
        return block;
    } catch (const MemoryError&) {
        if (!trim() && size == bytes) throw;
    }
    block->memory = device_.allocate(bytes);
    return block;
}

void Allocator::hand_out(Block& block, std::uint64_t bytes) noexcept {
    block.asked = bytes;
    ++numbers_.allocations;
    numbers_.live += bytes;
    numbers_.peak = std::max(numbers_.peak, numbers_.live);
}

Block* Allocator::find(std::uint64_t bytes, unsigned queue) const noexcept {
    if (bytes > SizeClass::largest || cached_ == 0) return nullptr;
    const unsigned above = SizeClass::above(bytes);
    if (Block* block = find_in(above, bytes, queue)) return block;
    // A block of the exact size, allocated when the limit left no room for rounding, is one class below.
    if (SizeClass::size(above) == bytes || above == 0) return nullptr;
    return find_in(above - 1, bytes, queue);
}

Block* Allocator::find_in(unsigned size_class, std::uint64_t bytes, unsigned queue) const noexcept {
    const Class& lists = classes_[size_class];
    if (lists.empty()) return nullptr;
    const auto fits = [&](const Block* block) { return block != nullptr && block->size() >= bytes; };
    // The newest block is the most likely to be in the processor's caches.
    for (const unsigned lane : {queue, idle_lane()}) {
        if (Block* block = lists[lane].newest(); fits(block)) return block;
    }
    // The oldest block is the most likely to have completed. Checks one block per lane.
    for (unsigned lane = 0; lane < lists.size(); ++lane) {
        Block* block = lists[lane].oldest();
        if (!fits(block) || !passed(*block)) continue;
        std::fill(block->uses.begin(), block->uses.end(), Point{0});
        return block;
    }
    return nullptr;
}

std::uint64_t Allocator::size_for(std::uint64_t bytes, DeadBlocks& dead) noexcept {
    destroy_retired(dead);
    const auto room = [&](std::uint64_t size, std::uint64_t limit) {
        return options_.limit == 0 || (size <= limit && held_ <= limit - size);
    };
    // Cached blocks count against the limit, but are evicted for new ones.
    while (!room(bytes, options_.limit) && evict_oldest(dead)) {
    }
    note_state();
    if (bytes > std::min(options_.cache_bytes, SizeClass::largest)) return bytes;
    // Rounding must not make a later allocation fail, so sizes are rounded only within half of the limit.
    const std::uint64_t rounded = SizeClass::size(SizeClass::above(bytes));
    return rounded <= options_.cache_bytes && room(rounded, options_.limit / 2) ? rounded : bytes;
}

// ---- freeing ----

unsigned Allocator::lane_of(Block& block) const noexcept {
    unsigned users = 0;
    unsigned last = idle_lane();
    for (unsigned k = 0; k < block.uses.size(); ++k) {
        if (block.uses[k] == 0) continue;
        ++users;
        last = k;
    }
    if (users <= 1) return last;
    users = 0;
    last = idle_lane();
    for (unsigned k = 0; k < block.uses.size(); ++k) {
        if (block.uses[k] != 0 && timelines_[k]->completed() >= block.uses[k]) block.uses[k] = 0;
        if (block.uses[k] == 0) continue;
        ++users;
        last = k;
    }
    return users <= 1 ? last : mixed_lane();
}

void Allocator::recycle(std::unique_ptr<Block> block) noexcept {
    DeadBlocks dead;
    const std::scoped_lock lock(mutex_);
    numbers_.live -= block->asked;
    block->asked = 0;
    if (abandoned_.load(std::memory_order_acquire)) {
        block->lane = idle_lane();
        block->cached = false;
        link(*block.release());
        return;
    }
    if (closed_) {
        destroy(std::move(block), dead);
        return;
    }
    block->lane = lane_of(*block);
    block->cached = is_reusable(*block);
    if (!block->cached && passed(*block)) {
        destroy(std::move(block), dead);
    } else {
        link(*block.release());
    }
    if (untidy_.load(std::memory_order_relaxed)) destroy_retired(dead);
    shrink(dead);
    note_state();
}

void Allocator::link(Block& block) noexcept {
    Lane& lane = lanes_[block.lane];
    block.stamp = ++stamp_;
    if (block.cached) {
        lane.cached.add(block);
        classes_[block.size_class][block.lane].add(block);
        cached_ += block.size();
    } else {
        lane.retired.add(block);
        ++retired_;
    }
    if (!block.adopted) {
        waiting_ += block.size();
        ++waiting_blocks_;
    }
}

void Allocator::unlink(Block& block) noexcept {
    Lane& lane = lanes_[block.lane];
    if (block.cached) {
        lane.cached.remove(block);
        classes_[block.size_class][block.lane].remove(block);
        cached_ -= block.size();
    } else {
        lane.retired.remove(block);
        --retired_;
    }
    if (!block.adopted) {
        waiting_ -= block.size();
        --waiting_blocks_;
    }
}

// ---- destroying ----

void Allocator::destroy(std::unique_ptr<Block> block, DeadBlocks& dead) noexcept {
    if (block->adopted) {
        dead.add(std::move(block));
        return;
    }
    // Destroyed under the lock: held_ must not drop before the memory is really free.
    held_ -= block->size();
    block.reset();
}

void Allocator::destroy_retired(DeadBlocks& dead) noexcept {
    for (Lane& lane : lanes_) {
        while (Block* oldest = lane.retired.oldest()) {
            if (!passed(*oldest)) break;
            unlink(*oldest);
            destroy(std::unique_ptr<Block>(oldest), dead);
        }
    }
}

bool Allocator::evict_oldest(DeadBlocks& dead) noexcept {
    Block* victim = nullptr;
    for (const Lane& lane : lanes_) {
        Block* oldest = lane.cached.oldest();
        if (oldest == nullptr || (victim != nullptr && victim->stamp < oldest->stamp)) continue;
        if (passed(*oldest)) victim = oldest;
    }
    if (victim == nullptr) return false;
    unlink(*victim);
    destroy(std::unique_ptr<Block>(victim), dead);
    return true;
}

void Allocator::shrink(DeadBlocks& dead) noexcept {
    while (cached_ > options_.cache_bytes && evict_oldest(dead)) {
    }
}

template <class IsOver>
void Allocator::destroy_all(IsOver&& is_over, DeadBlocks& dead) noexcept {
    for (Lane& lane : lanes_) {
        for (LaneList* list : {&lane.cached, &lane.retired}) {
            for (Block* block = list->oldest(); block != nullptr;) {
                Block* const next = LaneList::newer(*block);
                if (is_over(*block)) {
                    unlink(*block);
                    destroy(std::unique_ptr<Block>(block), dead);
                }
                block = next;
            }
        }
    }
    note_state();
}

void Allocator::tidy() noexcept {
    DeadBlocks dead;
    const std::scoped_lock lock(mutex_);
    if (closed_ || abandoned_.load(std::memory_order_acquire)) return;
    destroy_retired(dead);
    shrink(dead);
    note_state();
}

bool Allocator::trim() noexcept {
    DeadBlocks dead;
    const std::scoped_lock lock(mutex_);
    if (closed_ || abandoned_.load(std::memory_order_acquire)) return false;
    const std::uint64_t before = held_;
    destroy_all([this](const Block& block) { return passed(block); }, dead);
    return held_ != before;
}

void Allocator::close() noexcept {
    DeadBlocks dead;
    const std::scoped_lock lock(mutex_);
    if (closed_) return;
    closed_ = true;
    destroy_all([](const Block&) { return true; }, dead);
}

// ---- state ----

void Allocator::note_state() noexcept {
    const bool untidy = retired_ != 0 || cached_ > options_.cache_bytes;
    untidy_.store(untidy, std::memory_order_relaxed);
}

bool Allocator::waits() const noexcept {
    const std::scoped_lock lock(mutex_);
    return waiting_blocks_ != 0 || retired_ != 0;
}

DeviceMemoryStats Allocator::stats() const {
    const std::scoped_lock lock(mutex_);
    DeviceMemoryStats stats = numbers_;
    stats.cached = waiting_;
    return stats;
}

}  // namespace volley::runtime
