// The implementation of a context: its devices and queues, their memory, its storages and compiled kernels.
// Handles (buffers, events, queues) share it, so it outlives the Context values. When the last of these is
// destroyed the core is closed, and every use of it is an error.
#pragma once

#include "backends/api/device.hpp"
#include "runtime/allocator.hpp"
#include "runtime/event_watcher.hpp"
#include "runtime/host_point.hpp"
#include "runtime/member_list.hpp"
#include "runtime/program_cache.hpp"
#include "runtime/queue_order.hpp"
#include "runtime/retired_list.hpp"
#include "runtime/storage.hpp"
#include "runtime/transfer_counters.hpp"
#include "runtime/visits.hpp"

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
    [[nodiscard]] bool is_open() const noexcept { return state_.load(std::memory_order_acquire) <= Ending; }
    /// Throws WrongContext, naming what was used, if the context is closed or belongs to the parent process.
    void check_open(std::string_view what) const {
        if (!is_open()) fail_closed(what);
    }
    /// For waits that a closed context refuses, because its work has completed: throws WrongContext if a fork
    /// has left that work in the parent process, and blocks for a while if the process is ending.
    void check_process(std::string_view what) const;
    [[noreturn]] void fail_closed(std::string_view what) const;

    /// Keeps the context open while the calling thread uses it, although another thread may release the last
    /// handle: closing waits for all visits. False if the context is closed already; all its work has then
    /// completed. Every call that touches a queue, a device or memory visits the context first. Costs about a
    /// nanosecond.
    class Visit {
    public:
        explicit Visit(ContextCore& core) noexcept : slot_(VisitSlot::of_this_thread()) {
            if (slot_ == nullptr || !slot_->enter(core)) count(core);
            if (core.state_.load(std::memory_order_seq_cst) != Open && !core.admits()) [[unlikely]] {
                leave();
                open_ = false;
            }
        }
        /// The same; throws WrongContext, naming what is used, if the context is closed.
        Visit(ContextCore& core, std::string_view what) : Visit(core) {
            if (!open_) core.fail_closed(what);
        }
        Visit(ContextCore& core, const Storage& what) : Visit(core) {
            if (!open_) core.fail_closed(what.name());
        }
        ~Visit() {
            if (open_) leave();
        }
        Visit(const Visit&) = delete;
        Visit& operator=(const Visit&) = delete;
        [[nodiscard]] explicit operator bool() const noexcept { return open_; }

    private:
        void leave() noexcept { counted_ == nullptr ? slot_->leave() : discount(); }
        void count(ContextCore& core) noexcept;
        void discount() noexcept;

        VisitSlot* slot_;
        ContextCore* counted_ = nullptr;  // the context counts the visit itself: the slot is full or missing
        bool open_ = true;
    };

    [[nodiscard]] unsigned queue_count() const noexcept { return static_cast<unsigned>(queues_.size()); }
    [[nodiscard]] unsigned device_count() const noexcept { return static_cast<unsigned>(devices_.size()); }
    [[nodiscard]] backends::Queue& queue(unsigned k) noexcept { return *queues_[k].queue; }
    [[nodiscard]] unsigned device_of(unsigned k) const noexcept { return queues_[k].device; }
    /// Returns a device's queues, which are consecutive.
    [[nodiscard]] QueueRange queues_of(unsigned device) const noexcept { return devices_[device].queues; }
    [[nodiscard]] backends::Device& device(unsigned index) noexcept { return *devices_[index].device; }
    [[nodiscard]] const DeviceInfo& info(unsigned index) const noexcept { return devices_[index].info; }
    [[nodiscard]] ProgramCache& programs() noexcept { return *programs_; }

    // Waiting
    [[nodiscard]] bool passed(QueuePoint use) const noexcept;
    /// Blocks until everything submitted so far has completed, then frees what it used. Throws the first
    /// error after all queues have finished.
    void wait();
    /// The same for one device. Throws ArgumentError (IndexError) if it does not exist.
    void wait(unsigned device);
    /// Blocks until everything has completed; logs errors instead of throwing them.
    void drain() noexcept;

    /// Returns the order between its queues.
    [[nodiscard]] QueueOrder& order() noexcept { return *order_; }

    // Times (command_times.hpp)
    static constexpr unsigned stamped = 1;   // events carry times
    static constexpr unsigned profiled = 2;  // a profile is active
    /// Returns for what commands are timed: `stamped`, `profiled`, both or 0. This load is all that timing
    /// costs an untimed command.
    [[nodiscard]] unsigned timing() const noexcept { return timing_.load(std::memory_order_relaxed); }
    /// Returns the active profile, or nullptr.
    [[nodiscard]] std::shared_ptr<Profiler> profiler();
    /// Throws ArgumentError if one is active.
    void start_profile(std::shared_ptr<Profiler> profiler);
    void stop_profile() noexcept;
    /// Adds a mark on queue k to an event, after that work.
    void add_mark(Event& event, unsigned k, std::string_view work = "mark");

    // Memory
    [[nodiscard]] Allocator& allocator(unsigned device) noexcept { return *devices_[device].allocator; }
    /// Blocks until all work submitted so far has completed, so that its memory can be reused; errors stay
    /// with the work. Returns false at once in a host function, which that work may wait for. The caller
    /// holds no lock of the runtime.
    bool settle();
    /// Allocates page-locked memory of a device. If that fails it frees cached memory, then waits for work,
    /// as for buffers. The caller holds no lock of the runtime.
    [[nodiscard]] std::unique_ptr<backends::Memory> allocate_host(unsigned device, std::size_t bytes);
    /// Frees memory and code whose last use has completed, beyond what the caches keep. One load per device
    /// and one for the code if there is none.
    void collect() noexcept;
    /// Frees all cached memory and code.
    void trim() noexcept;
    [[nodiscard]] MemoryStats memory_stats() const;
    [[nodiscard]] TransferCounters& transfers() noexcept { return transfers_; }

    // Graphs
    /// Keeps an object until that point has passed.
    void retire(QueuePoint last, std::shared_ptr<const void> thing) noexcept;
    [[nodiscard]] EventWatcher& watcher() noexcept { return watcher_; }
    /// Returns the queue with the fewest pending commands on a device that is not lost. The range is not
    /// empty.
    [[nodiscard]] unsigned least_busy(QueueRange queues) const noexcept;

    /// Called when the last Context value is destroyed: waits and frees everything. Idempotent.
    void close() noexcept;
    /// Keeps a signal for which a queue waits, so that it can be abandoned at exit if it is never raised.
    void awaits(const std::shared_ptr<HostPoint>& signal);
    /// Called at exit, before static objects are destroyed, and again after those that used the context:
    /// waits for all work and callbacks. Gives up, with a warning, if nothing makes progress for
    /// settings().exit_seconds.
    void finish_before_exit() noexcept;
    /// Called in the child process after a fork: it has none of the threads. A context without drivers starts
    /// new ones. One with drivers cannot be used or closed any more.
    void forked() noexcept;

    // Public handles, whose members only this class accesses.
    [[nodiscard]] Queue make_queue(unsigned k);
    [[nodiscard]] static const std::shared_ptr<ContextCore>& core_of(const Queue& queue) noexcept {
        return queue.core_;
    }
    [[nodiscard]] Event make_event(unsigned queue, backends::Point point, std::string_view work);
    /// Adds a point of this context to an event without points of other contexts. `work` is a literal, or
    /// names the kernel's kind.
    void add_part(Event& event, unsigned queue, backends::Point point, std::string_view work,
                  const CachedKernel* kernel = nullptr) {
        if (!event.core_) event.core_ = shared_from_this();
        event.parts_.add({queue, point});
        event.work_ = work;
        event.kernel_ = kernel;
    }
    /// Adds the parts of another event of the same context.
    static void append(Event& event, const Event& other);
    /// Returns the event of a recorded command, which has not run.
    [[nodiscard]] static Event recorded_event();

private:
    friend class Storage;
    friend class GraphProgram;
    friend class ContextOwner;
    friend class HostFunction;
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
    void wait_for_visits() noexcept;
    [[nodiscard]] bool admits() noexcept;
    [[nodiscard]] bool uses_driver() const noexcept;
    [[nodiscard]] bool finish() noexcept;
    [[nodiscard]] bool finish_submitted() noexcept;
    void finish_visits() noexcept;
    [[nodiscard]] bool abandon_signals() noexcept;
    void add(Storage& storage);
    void remove(Storage& storage) noexcept;
    void add(GraphProgram& program);
    void remove(GraphProgram& program) noexcept;
    void wait(QueueRange queues);

    const ContextId id_ = ContextId::mint();
    // Open: any use. Ending: the process is, so uses are finished before the next static object is destroyed.
    // Forked: this is a child of the process that opened the drivers.
    enum State : std::uint8_t { Open, Ending, Forked, Closed };
    std::atomic<State> state_{Open};
    std::atomic<bool> handled_{false};  // finish_before_exit() will run again
    std::atomic<bool> stuck_{false};    // finish_before_exit() gave up
    std::atomic<bool> closing_{false};
    std::atomic<unsigned> counted_visits_{0};  // those that are in no thread's slot
    std::atomic<ContextOwner*> owner_{nullptr};
    std::vector<DeviceSlot> devices_;
    std::vector<QueueSlot> queues_;
    const std::shared_ptr<ProgramCache> programs_;  // handles of kernels share it
    TransferCounters transfers_;
    RetiredList retired_;
    std::unique_ptr<QueueOrder> order_;

    std::atomic<unsigned> timing_{0};
    std::mutex profiler_mutex_;
    std::shared_ptr<Profiler> profiler_;

    std::mutex mutex_;  // what follows
    MemberList<Storage> storages_;
    MemberList<GraphProgram> graph_programs_;
    std::vector<std::weak_ptr<HostPoint>> awaited_;
    EventWatcher watcher_;
};

/// Returns the current context's core: two loads once there is one.
[[nodiscard]] const std::shared_ptr<ContextCore>& current_core();

}  // namespace volley::runtime
