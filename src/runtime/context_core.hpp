// A context's inside: its devices and queues, their memory, the storages made for it, compiled
// kernels. Handles (buffers, events, queues) share it, so it outlives the Context values; once these
// are gone it is closed, and every use of it is an error.
#pragma once

#include "backends/api/device.hpp"
#include "runtime/allocator.hpp"
#include "runtime/program_cache.hpp"
#include "runtime/storage.hpp"
#include "runtime/transfer_counters.hpp"

#include <volley/context.hpp>
#include <volley/event.hpp>
#include <volley/memory_stats.hpp>
#include <volley/queue.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace volley::runtime {

struct FoundDevice;

class ContextCore : public std::enable_shared_from_this<ContextCore> {
public:
    explicit ContextCore(const ContextOptions& options);
    ~ContextCore();
    ContextCore(const ContextCore&) = delete;
    ContextCore& operator=(const ContextCore&) = delete;

    [[nodiscard]] ContextId id() const noexcept { return id_; }
    [[nodiscard]] bool is_open() const noexcept { return open_.load(std::memory_order_acquire); }
    /// Throws WrongContext, naming what was used, when the context is gone.
    void check_open(std::string_view what) const {
        if (!is_open()) fail_closed(what);
    }

    [[nodiscard]] unsigned queue_count() const noexcept { return static_cast<unsigned>(queues_.size()); }
    [[nodiscard]] unsigned device_count() const noexcept { return static_cast<unsigned>(devices_.size()); }
    [[nodiscard]] backend::Queue& queue(unsigned k) noexcept { return *queues_[k].queue; }
    [[nodiscard]] unsigned device_of(unsigned k) const noexcept { return queues_[k].device; }
    /// All of a device's queues: they follow each other.
    [[nodiscard]] QueueRange queues_of(unsigned device) const noexcept { return devices_[device].queues; }
    [[nodiscard]] backend::Device& device(unsigned index) noexcept { return *devices_[index].device; }
    [[nodiscard]] const DeviceInfo& info(unsigned index) const noexcept { return devices_[index].info; }
    [[nodiscard]] ProgramCache& programs() noexcept { return programs_; }

    // Waiting
    [[nodiscard]] bool passed(QueuePoint use) const noexcept;
    /// Waits for everything given so far; then frees what waited for it. Throws the first error, when all
    /// queues are done.
    void wait();
    /// Waits for everything and throws nothing.
    void drain() noexcept;

    // Order between queues
    /// Later commands of `queue` start after that point, unless that is so already.
    void order_after(unsigned queue, QueuePoint point);
    /// See Storage::lock_order. Taken before any other lock of the runtime's.
    [[nodiscard]] std::unique_lock<std::mutex> lock_order() { return std::unique_lock(order_mutex_); }

    // Memory
    [[nodiscard]] Allocator& allocator(unsigned device) noexcept { return *devices_[device].allocator; }
    /// Waits for all work given so far, so that its memory can be had; errors stay for those who wait for it.
    void settle();
    /// Destroys memory that waited for its last use and is not kept. A load for each device where there is
    /// none.
    void collect() noexcept;
    /// Destroys all memory that is only kept.
    void trim() noexcept;
    [[nodiscard]] MemoryStats memory_stats() const;
    [[nodiscard]] TransferCounters& transfers() noexcept { return transfers_; }

    /// The end of the last Context value: waits, frees everything. Idempotent.
    void close() noexcept;

    // Public handles, whose inside only this class sees.
    [[nodiscard]] Queue make_queue(unsigned k);
    [[nodiscard]] static const std::shared_ptr<ContextCore>& core_of(const Queue& queue) noexcept {
        return queue.core_;
    }
    [[nodiscard]] Event make_event(unsigned queue, backend::Point point);
    static void append(Event& event, unsigned queue, backend::Point point);

private:
    friend class Storage;
    struct DeviceSlot {
        DeviceInfo info;
        std::unique_ptr<backend::Device> device;
        QueueRange queues;
        std::unique_ptr<Allocator> allocator;
    };
    struct QueueSlot {
        unsigned device = 0;
        std::unique_ptr<backend::Queue> queue;
    };
    ContextCore(const ContextOptions& options, const std::vector<FoundDevice>& found);
    [[noreturn]] static void fail_closed(std::string_view what);
    void add(Storage& storage);
    void remove(Storage& storage) noexcept;

    const ContextId id_ = ContextId::mint();
    std::atomic<bool> open_{true};
    std::vector<DeviceSlot> devices_;
    std::vector<QueueSlot> queues_;
    ProgramCache programs_;
    TransferCounters transfers_;

    std::mutex order_mutex_;
    std::vector<std::atomic<backend::Point>> ordered_;  // [queue * queues + other]: waits that were given

    std::mutex mutex_;  // storages_
    Storage* storages_ = nullptr;
};

/// Shared by the Context values; its end closes the core.
class ContextOwner : public std::enable_shared_from_this<ContextOwner> {
public:
    explicit ContextOwner(std::shared_ptr<ContextCore> core) : core_(std::move(core)) {}
    ~ContextOwner() { core_->close(); }
    ContextOwner(const ContextOwner&) = delete;
    ContextOwner& operator=(const ContextOwner&) = delete;

    [[nodiscard]] ContextCore& core() const noexcept { return *core_; }
    [[nodiscard]] const std::shared_ptr<ContextCore>& shared_core() const noexcept { return core_; }
    [[nodiscard]] Context handle() { return Context(shared_from_this()); }

private:
    std::shared_ptr<ContextCore> core_;
};

/// The current context's core: two loads once there is one.
[[nodiscard]] const std::shared_ptr<ContextCore>& current_core();

}  // namespace volley::runtime
