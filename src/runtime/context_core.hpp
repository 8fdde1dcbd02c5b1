// A context's inside: its devices and queues, their memory, the storages made for it, compiled
// kernels. Handles (buffers, events, queues) share it, so it outlives the Context values; once these
// are gone it is closed, and every use of it is an error.
#pragma once

#include "backends/api/device.hpp"
#include "runtime/allocator.hpp"
#include "runtime/event_watcher.hpp"
#include "runtime/member_list.hpp"
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
#include <utility>
#include <vector>

namespace volley::runtime {

struct FoundDevice;
class GraphProgram;
class Profiler;
class ContextOwner;

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

    /// A thread that looks at queues of a context that another thread may close: while one lives, they stay.
    /// False where the context is gone, with all its work done.
    class Visit {
    public:
        explicit Visit(ContextCore& core) noexcept : core_(&core) {
            core.visits_.fetch_add(1, std::memory_order_seq_cst);
            if (!core.open_.load(std::memory_order_seq_cst)) leave();
        }
        ~Visit() {
            if (core_ != nullptr) leave();
        }
        Visit(const Visit&) = delete;
        Visit& operator=(const Visit&) = delete;
        [[nodiscard]] explicit operator bool() const noexcept { return core_ != nullptr; }

    private:
        void leave() noexcept {
            std::exchange(core_, nullptr)->visits_.fetch_sub(1, std::memory_order_release);
        }
        ContextCore* core_;
    };

    [[nodiscard]] unsigned queue_count() const noexcept { return static_cast<unsigned>(queues_.size()); }
    [[nodiscard]] unsigned device_count() const noexcept { return static_cast<unsigned>(devices_.size()); }
    [[nodiscard]] backends::Queue& queue(unsigned k) noexcept { return *queues_[k].queue; }
    [[nodiscard]] unsigned device_of(unsigned k) const noexcept { return queues_[k].device; }
    /// All of a device's queues: they follow each other.
    [[nodiscard]] QueueRange queues_of(unsigned device) const noexcept { return devices_[device].queues; }
    [[nodiscard]] backends::Device& device(unsigned index) noexcept { return *devices_[index].device; }
    [[nodiscard]] const DeviceInfo& info(unsigned index) const noexcept { return devices_[index].info; }
    [[nodiscard]] ProgramCache& programs() noexcept { return programs_; }
    /// By queue: backends::Queue::overlaps().
    [[nodiscard]] const bool* overlapping() const noexcept { return overlapping_.get(); }

    // Waiting
    [[nodiscard]] bool passed(QueuePoint use) const noexcept;
    /// Waits for everything given so far; then frees what waited for it. Throws the first error, when all
    /// queues are done.
    void wait();
    /// The same for one device. Throws ArgumentError (IndexError) when there is none.
    void wait(unsigned device);
    /// Waits for everything and throws nothing.
    void drain() noexcept;

    // Order between queues
    /// Later commands of `queue` start after that point, unless that is so already.
    void order_after(unsigned queue, QueuePoint point);
    /// The last of a queue's own points that order_after() was called with: where its launches may overlap,
    /// they follow at least that.
    [[nodiscard]] backends::Point ordered(unsigned queue) const noexcept {
        return ordered_[std::size_t{queue} * queue_count() + queue].load(std::memory_order_acquire);
    }
    /// The same, whatever is known, and for any timeline.
    void give_wait(unsigned queue, backends::Timeline& other, backends::Point point);
    /// See Storage::lock_order. Taken before any other lock of the runtime's.
    [[nodiscard]] std::unique_lock<std::mutex> lock_order() { return std::unique_lock(order_mutex_); }
    /// Held from Storage::order() to used() or wrote(), behind lock_order(): a launch of a queue whose
    /// commands may overlap has to know all that threads gave to it before. Empty for other queues. Of two,
    /// the lower one first.
    [[nodiscard]] std::unique_lock<std::mutex> lock_queue(unsigned k) {
        return overlapping_[k] ? std::unique_lock(queue_mutexes_[k]) : std::unique_lock<std::mutex>();
    }

    // Times (command_times.hpp)
    static constexpr unsigned stamped = 1;   // events carry times
    static constexpr unsigned profiled = 2;  // a profile is under way
    /// Whether commands are timed, and for whom: all that giving a command costs where they are not.
    [[nodiscard]] unsigned timing() const noexcept { return timing_.load(std::memory_order_relaxed); }
    /// The profile that is under way, or nullptr.
    [[nodiscard]] std::shared_ptr<Profiler> profiler();
    /// Throws ArgumentError where one is under way.
    void start_profile(std::shared_ptr<Profiler> profiler);
    void stop_profile() noexcept;
    /// One more part of an event: a mark on queue k, behind that work.
    void add_mark(Event& event, unsigned k, std::string_view work = "mark");

    // Memory
    [[nodiscard]] Allocator& allocator(unsigned device) noexcept { return *devices_[device].allocator; }
    /// Waits for all work given so far, so that its memory can be had; errors stay for those who wait for it.
    /// False in a function of the host's, which that work may wait for. Not with a lock of the runtime's
    /// held.
    bool settle();
    /// Page-locked memory of a device's. As for buffers, what is cached gives way before it fails, and then
    /// work is waited for; not with a lock of the runtime's held.
    [[nodiscard]] std::unique_ptr<backends::Memory> allocate_host(unsigned device, std::size_t bytes);
    /// Destroys memory that waited for its last use and is not kept. A load for each device where there is
    /// none.
    void collect() noexcept;
    /// Destroys all memory that is only kept.
    void trim() noexcept;
    [[nodiscard]] MemoryStats memory_stats() const;
    [[nodiscard]] TransferCounters& transfers() noexcept { return transfers_; }

    // Graphs
    /// Lets go of it when that point has passed.
    void retire(QueuePoint last, std::shared_ptr<const void> thing) noexcept;
    [[nodiscard]] EventWatcher& watcher() noexcept { return watcher_; }
    /// Of these queues, which are some, the one that has the least to do, on a device that is not lost.
    [[nodiscard]] unsigned least_busy(QueueRange queues) const noexcept;

    /// The end of the last Context value: waits, frees everything. Idempotent.
    void close() noexcept;

    // Public handles, whose inside only this class sees.
    [[nodiscard]] Queue make_queue(unsigned k);
    [[nodiscard]] static const std::shared_ptr<ContextCore>& core_of(const Queue& queue) noexcept {
        return queue.core_;
    }
    [[nodiscard]] Event make_event(unsigned queue, backends::Point point, std::string_view work);
    /// A point of this context's, to an event that has none of others: of a kernel of its, or of what these
    /// words, which stay, call it.
    void add_part(Event& event, unsigned queue, backends::Point point, std::string_view work,
                  const CachedKernel* kernel = nullptr) {
        if (!event.core_) event.core_ = shared_from_this();
        event.parts_.add({queue, point});
        event.work_ = work;
        event.kernel_ = kernel;
    }
    /// The parts of another event of the same context, too.
    static void append(Event& event, const Event& other);
    /// Of a command that was recorded: it has not run.
    [[nodiscard]] static Event recorded_event();

private:
    friend class Storage;
    friend class GraphProgram;
    friend class ContextOwner;
    friend class HostFunction;
    struct Retired {
        QueuePoint last;
        std::shared_ptr<const void> thing;
    };
    struct DeviceSlot {
        DeviceInfo info;
        std::unique_ptr<backends::Device> device;
        QueueRange queues;
        std::unique_ptr<Allocator> allocator;
    };
    struct QueueSlot {
        unsigned device = 0;
        std::unique_ptr<backends::Queue> queue;
    };
    ContextCore(const ContextOptions& options, const std::vector<FoundDevice>& found);
    [[noreturn]] static void fail_closed(std::string_view what);
    void add(Storage& storage);
    void remove(Storage& storage) noexcept;
    void add(GraphProgram& program);
    void remove(GraphProgram& program) noexcept;
    void collect_retired() noexcept;
    void wait(QueueRange queues);

    const ContextId id_ = ContextId::mint();
    std::atomic<bool> open_{true};
    std::atomic<bool> closing_{false};
    std::atomic<unsigned> visits_{0};
    std::atomic<ContextOwner*> owner_{nullptr};
    std::vector<DeviceSlot> devices_;
    std::vector<QueueSlot> queues_;
    ProgramCache programs_;
    TransferCounters transfers_;

    std::unique_ptr<bool[]> overlapping_;
    std::unique_ptr<std::mutex[]> queue_mutexes_;
    std::mutex order_mutex_;
    std::vector<std::atomic<backends::Point>> ordered_;  // [queue * queues + other]: waits that were given

    std::atomic<unsigned> timing_{0};
    std::mutex profiler_mutex_;
    std::shared_ptr<Profiler> profiler_;

    std::mutex mutex_;  // what follows
    MemberList<Storage> storages_;
    MemberList<GraphProgram> graph_programs_;
    std::vector<Retired> retired_;
    std::atomic<bool> has_retired_{false};
    EventWatcher watcher_;
};

/// Shared by the Context values; its end closes the core.
class ContextOwner : public std::enable_shared_from_this<ContextOwner> {
public:
    explicit ContextOwner(std::shared_ptr<ContextCore> core) : core_(std::move(core)) {
        core_->owner_.store(this, std::memory_order_release);
    }
    ~ContextOwner();
    ContextOwner(const ContextOwner&) = delete;
    ContextOwner& operator=(const ContextOwner&) = delete;

    [[nodiscard]] ContextCore& core() const noexcept { return *core_; }
    [[nodiscard]] const std::shared_ptr<ContextCore>& shared_core() const noexcept { return core_; }
    /// Throws WrongContext where it is about to end.
    [[nodiscard]] Context handle();
    [[nodiscard]] static const std::shared_ptr<ContextCore>& core_of(const Context& context) noexcept {
        return context.owner_->core_;
    }

private:
    std::shared_ptr<ContextCore> core_;
};

/// The current context's core: two loads once there is one.
[[nodiscard]] const std::shared_ptr<ContextCore>& current_core();

}  // namespace volley::runtime
