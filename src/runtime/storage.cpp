// Placement, allocation and release of replicas, and the order between queues that share one.
#include "runtime/storage.hpp"

#include "backends/common/caller_memory.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"
#include "runtime/command_times.hpp"
#include "runtime/context_core.hpp"

namespace volley::runtime {
namespace {

std::size_t misalignment_of(const backends::Memory& memory) {
    if (memory.host() != nullptr)
        return reinterpret_cast<std::uintptr_t>(memory.host()) % backends::host_alignment;
    const NativeBuffer native = memory.native();
    const auto* opencl = std::get_if<OpenClBuffer>(&native);
    return opencl == nullptr ? 0 : static_cast<std::size_t>(opencl->offset % backends::host_alignment);
}

}  // namespace

QueueRange Storage::placed() const {
    if (!options_.placement.queue()) return {0, core_->queue_count()};
    const Queue& queue = *options_.placement.queue();
    if (ContextCore::core_of(queue) != core_) {
        fail(ErrorCode::WrongContext, "a buffer was placed on a queue of another context", name(),
             "use a queue of the buffer's context");
    }
    return {queue.index(), queue.index() + 1};
}

Storage::Storage(std::shared_ptr<ContextCore> core, std::uint64_t bytes, StorageOptions options,
                 QueueRange adopted)
    : core_(std::move(core)),
      id_(StorageId::mint()),
      bytes_(bytes),
      options_(std::move(options)),
      queues_(adopted.empty() ? placed() : adopted),
      per_device_(!adopted.empty() || options_.placement.kind() == Placement::Kind::PerDevice),
      overlapping_(core_->order().overlapping()) {
    const unsigned queues = core_->queue_count();
    const auto is_first = [&](unsigned k) {
        return !per_device_ || core_->queues_of(core_->device_of(k)).begin == k;
    };
    unsigned count = 0;
    for (unsigned k = queues_.begin; k < queues_.end; ++k) count += is_first(k) ? 1 : 0;
    replicas_ = std::vector<Replica>(count);
    points_ = std::make_unique<std::atomic<backends::Point>[]>(std::size_t{2} * queues * count);
    by_queue_.assign(queues, nullptr);
    shared_ = count < queues_.count();
    unsigned r = 0;
    for (unsigned k = queues_.begin; k < queues_.end; ++k) {
        if (is_first(k)) {
            Replica& replica = replicas_[r];
            replica.home_ = k;
            replica.uses_ = points_.get() + std::size_t{2} * queues * r;
            replica.forgotten_ = replica.uses_ + queues;
            replica.core_ = core_.get();
            ++r;
        }
        by_queue_[k] = &replicas_[r - 1];
    }
    core_->add(*this);
}

Storage::Storage(std::shared_ptr<ContextCore> core, std::uint64_t bytes, StorageOptions options)
    : Storage(std::move(core), bytes, std::move(options), QueueRange{}) {}

Storage::~Storage() {
    core_->remove(*this);
    release(true);
}

std::shared_ptr<Storage> Storage::adopt(std::shared_ptr<ContextCore> core, unsigned queue,
                                        std::unique_ptr<backends::Memory> memory,
                                        std::shared_ptr<const void> keep_alive, StorageOptions options) {
    const QueueRange queues = core->queues_of(core->device_of(queue));
    const std::uint64_t bytes = memory->size();
    std::shared_ptr<Storage> storage(new Storage(std::move(core), bytes, std::move(options), queues));
    storage->misalignment_ = misalignment_of(*memory);
    auto block = std::make_unique<Block>();
    block->uses.resize(storage->core_->queue_count());
    block->adopted = true;
    block->keep_alive = std::move(keep_alive);
    block->memory = std::move(memory);
    Replica& replica = storage->replicas_[0];
    replica.block_ = std::move(block);
    replica.written_.store(true, std::memory_order_release);
    replica.memory_.store(replica.block_->memory.get(), std::memory_order_release);
    return storage;
}

std::string Storage::name() const {
    return options_.name.empty() ? cat("storage ", id_.value()) : options_.name;
}

Placement Storage::placement() const {
    if (queues_.count() == 1) return Placement::on(core_->make_queue(queues_.begin));
    return per_device_ ? Placement::per_device : Placement::replicated;
}

std::string Storage::place() const {
    const auto device = [&](unsigned k) { return core_->info(core_->device_of(k)).id(); };
    if (queues_.count() == core_->queue_count()) return per_device_ ? "every device" : "every queue";
    if (per_device_) return cat("the queues of ", device(queues_.begin));
    return cat("queue ", queues_.begin, " (", device(queues_.begin), ")");
}

void Storage::check_usable() const {
    if (destroyed()) {
        fail(ErrorCode::InvalidArgument, "a destroyed buffer was used", name(),
             "create another one, or destroy it later");
    }
    if (!core_->is_open()) core_->check_open(name());
}

void Storage::fail_mapped() const {
    fail(ErrorCode::InvalidArgument, "a buffer was used while the host has it mapped", name(),
         "destroy the guard of map() first");
}

backends::Memory& Storage::allocate_slow(unsigned queue) {
    const auto check = [&] {
        if (pins_.load(std::memory_order_acquire) == 0) {
            check_usable();
        } else {
            core_->check_open(name());
        }
    };
    check();
    if (temporary()) {
        fail(ErrorCode::InvalidArgument, "a temporary was used outside the recording that created it", name(),
             "use it only inside that record(), or use a Buffer");
    }
    Replica* const replica = find(queue);
    if (replica == nullptr) {
        fail(ErrorCode::InvalidArgument,
             cat("a buffer was used on queue ", queue, ", on which it has no memory"), name(),
             cat("it is on ", place(), ": use that, or another placement"));
    }
    Allocator& allocator = core_->allocator(core_->device_of(queue));
    std::unique_lock lock(mutex_);
    std::unique_ptr<Block> block;
    for (bool again = false; !block; again = true) {
        if (backends::Memory* memory = replica->memory()) return *memory;
        check();  // it may have been destroyed meanwhile
        try {
            block = allocator.take(bytes_, queue);
            break;
        } catch (const MemoryError& error) {
            // Without the lock: the work to wait for may use this storage.
            lock.unlock();
            if (again || !allocator.waits() || !core_->settle()) {
                fail(error.code(), error.what_failed(), cat(name(), " on ", error.subject()), error.advice());
            }
            lock.lock();
        }
    }
    // Commands of the queue that still use the block for its former owner come first, also for the host.
    if (block->uses[queue] != 0) replica->used(queue, block->uses[queue], {0, bytes_});
    if (options_.zeroed && bytes_ != 0) {
        constexpr std::byte zero{0};
        try {
            const TimedCommand timed(
                *core_, queue, [&] { return CommandLabel{.kind = CommandKind::Fill, .bytes = bytes_}; });
            const backends::Point point = timed.submit([&] {
                return core_->queue(queue).fill(*block->memory, {0}, {bytes_}, {&zero, 1});
            });
            replica->wrote(queue, point, {0, bytes_});
        } catch (...) {
            allocator.recycle(std::move(block));
            throw;
        }
    }
    replica->block_ = std::move(block);
    replica->memory_.store(replica->block_->memory.get(), std::memory_order_release);
    return *replica->block_->memory;
}

backends::Point Storage::order_slow(Replica& replica, unsigned queue, const ByteRange& bytes, bool writes) {
    backends::Point own = 0;
    for (unsigned other = 0; other < core_->queue_count(); ++other) {
        const backends::Point point = replica.last_conflict(other, bytes, writes);
        if (other == queue) {
            own = point;
        } else if (point != 0) {
            core_->order().after(queue, {other, point});
        }
    }
    return own;
}

void Storage::wait_for_uses(unsigned queue, const ByteRange& bytes, bool writes) {
    const TimedHost timed(*core_);
    Replica& own = replica(queue);
    for (unsigned other = 0; other < core_->queue_count(); ++other) {
        if (const backends::Point point = own.last_conflict(other, bytes, writes); point != 0)
            core_->queue(other).timeline().wait(point);
    }
}

void Storage::destroy() noexcept {
    destroyed_.store(true, std::memory_order_release);
    if (pins_.load(std::memory_order_acquire) == 0) release(false);
}

void Storage::unpin() noexcept {
    if (pins_.fetch_sub(1, std::memory_order_acq_rel) == 1 && destroyed()) release(false);
}

void Storage::release(bool with_held) noexcept {
    for (Replica& replica : replicas_) {
        std::unique_ptr<Block> block;
        {
            const std::scoped_lock lock(mutex_);
            if (!replica.block_ || (replica.held_by_host() && !with_held)) continue;
            replica.memory_.store(nullptr, std::memory_order_release);
            block = std::move(replica.block_);
        }
        for (unsigned k = 0; k < block->uses.size(); ++k) block->uses[k] = replica.last_use(k);
        core_->allocator(core_->device_of(replica.home_)).recycle(std::move(block));
    }
}

void Storage::let_go(DeadBlocks& to) noexcept {
    const std::scoped_lock lock(mutex_);
    for (Replica& replica : replicas_) {
        replica.memory_.store(nullptr, std::memory_order_release);
        if (replica.block_ && !replica.held_by_host()) to.add(std::move(replica.block_));
    }
}

}  // namespace volley::runtime
