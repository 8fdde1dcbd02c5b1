// Opens devices, waits, frees and closes.
#include "runtime/context_core.hpp"

#include "backends/common/memory_budget.hpp"
#include "core/fail.hpp"
#include "core/settings.hpp"
#include "core/text.hpp"
#include "runtime/command_times.hpp"
#include "runtime/drivers.hpp"
#include "runtime/graph_program.hpp"
#include "runtime/host_function.hpp"
#include "runtime/process_end.hpp"

#include <volley/log.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <exception>
#include <thread>

namespace volley::runtime {
namespace {

/// Returns how long exit waits for work that makes no progress.
std::chrono::seconds exit_limit() { return std::chrono::seconds(settings().exit_seconds.value_or(30)); }

void check_options(const ContextOptions& options) {
    if (options.queues_per_device == 0) {
        fail(ErrorCode::InvalidArgument, "a context needs at least one queue per device",
             "queues_per_device is 0", "set it to one or more");
    }
    if (options.cpu_width != 0 && (options.cpu_width > 64 || !std::has_single_bit(options.cpu_width))) {
        fail(ErrorCode::InvalidArgument, cat("vectors cannot have ", options.cpu_width, " lanes"),
             "cpu_width", "use 1, 2, 4, 8, 16, 32 or 64, or 0 for the processor's width");
    }
}

/// Returns the memory that a device may use: the limit of the context or of the environment, at most what it
/// has.
std::uint64_t memory_limit(const ContextOptions& options, const DeviceInfo& info) {
    const std::uint64_t limit = backends::memory_limit_of_user(options.memory_limit);
    return limit == 0 || (info.memory_bytes != 0 && info.memory_bytes < limit) ? info.memory_bytes : limit;
}

AllocatorOptions allocator_options(const ContextOptions& options, const DeviceInfo& info) {
    constexpr std::uint64_t most = std::uint64_t{1} << 30;
    return {memory_limit(options, info), options.cache_bytes.value_or(std::min(most, info.memory_bytes / 8))};
}

std::uint64_t program_cache_bytes(const ContextOptions& options) {
    constexpr std::int64_t usual = 64 << 20;
    return options.program_cache_bytes.value_or(
        static_cast<std::uint64_t>(settings().program_cache.value_or(usual)));
}

std::vector<FoundDevice> pick(const ContextOptions& options) {
    check_options(options);
    Drivers& drivers = Drivers::instance();
    const std::vector<std::string>& names = options.devices.empty() ? settings().devices : options.devices;
    if (!names.empty()) return drivers.select(names);
    std::vector<FoundDevice> picked;
    picked.push_back(drivers.preferred());
    return picked;
}

}  // namespace

ContextCore::ContextCore(const ContextOptions& options) : ContextCore(options, pick(options)) {}

ContextCore::ContextCore(const ContextOptions& options, const std::vector<FoundDevice>& picked)
    : programs_(std::make_shared<ProgramCache>(*this, static_cast<unsigned>(picked.size()),
                                               program_cache_bytes(options))),
      timing_(options.timestamps ? stamped : 0) {
    const backends::DeviceOptions requested{options.cpu_width, options.cpu_threads, options.memory_limit};
    for (const FoundDevice& found : picked) {
        std::unique_ptr<backends::Device> device = found.driver->open(found.info.index, requested);
        DeviceInfo info = device->info();
        if (options.queues_per_device > info.max_queues) {
            fail(ErrorCode::InvalidArgument,
                 cat(options.queues_per_device, " queues per device were requested"), info.id(),
                 cat("request at most ", info.max_queues));
        }
        const auto index = static_cast<unsigned>(devices_.size());
        for (unsigned k = 0; k < options.queues_per_device; ++k)
            queues_.push_back({index, device->make_queue()});
        if (log_enabled(LogLevel::Info)) {
            log_message(LogLevel::Info,
                        cat("context ", id_.value(), " opens ", info.id(), " (", info.name, "), ",
                            options.queues_per_device, " queue(s), ", info.subgroup_size, " lanes"));
        }
        const auto first = static_cast<unsigned>(queues_.size()) - options.queues_per_device;
        devices_.push_back(
            {std::move(info), std::move(device), {first, first + options.queues_per_device}, nullptr});
    }
    std::vector<backends::Timeline*> timelines;
    for (const QueueSlot& slot : queues_) timelines.push_back(&slot.queue->timeline());
    for (DeviceSlot& slot : devices_) {
        slot.allocator =
            std::make_unique<Allocator>(*slot.device, timelines, allocator_options(options, slot.info));
    }
    order_ = std::make_unique<QueueOrder>(*this);
    ProcessEnd::add(*this);
    ProcessEnd::refresh();
}

ContextCore::~ContextCore() {
    close();
    ProcessEnd::remove(*this);
}

void ContextCore::fail_closed(std::string_view what) const {
    if (state_.load(std::memory_order_acquire) == Forked) {
        fail(ErrorCode::WrongContext,
             "its context belongs to the parent process, whose driver state a fork does not copy", what,
             "create a context after fork(), before the parent uses the driver; or call exec()");
    }
    ProcessEnd::hold();
    fail(ErrorCode::WrongContext, "its context is closed", what,
         "keep the Context alive while its buffers, queues and kernels are in use");
}

void ContextCore::check_process(std::string_view what) const {
    if (state_.load(std::memory_order_relaxed) == Forked) fail_closed(what);
    ProcessEnd::hold();
}

void ContextCore::Visit::count(ContextCore& core) noexcept {
    counted_ = &core;
    core.counted_visits_.fetch_add(1, std::memory_order_seq_cst);
}

void ContextCore::Visit::discount() noexcept {
    counted_->counted_visits_.fetch_sub(1, std::memory_order_release);
}

void ContextCore::wait_for_visits() noexcept {
    order_before_visits();
    const auto visited = [this] {
        return counted_visits_.load(std::memory_order_seq_cst) != 0 || is_visited(*this);
    };
    for (unsigned round = 0; visited(); ++round) {
        if (round < 100) {
            std::this_thread::yield();
        } else {
            std::this_thread::sleep_for(std::chrono::microseconds(100));
        }
    }
}

bool ContextCore::passed(QueuePoint use) const noexcept {
    return use.point == 0 || queues_[use.queue].queue->timeline().completed() >= use.point;
}

void ContextCore::wait() { wait({0, queue_count()}); }

void ContextCore::wait(unsigned device) {
    if (device >= device_count()) {
        fail(ErrorCode::IndexError, cat("there is no device ", device),
             cat("the context has ", device_count()), "number devices from 0, as in devices()");
    }
    wait(devices_[device].queues);
}

void ContextCore::wait(QueueRange queues) {
    const TimedHost timed(*this);
    std::exception_ptr first;
    for (unsigned k = queues.begin; k < queues.end; ++k) {
        backends::Queue& queue = *queues_[k].queue;
        try {
            queue.timeline().wait(queue.last());
        } catch (...) {
            if (!first) first = std::current_exception();
        }
    }
    collect();
    ProcessEnd::refresh();
    if (first) std::rethrow_exception(first);
}

void ContextCore::drain() noexcept {
    for (const QueueSlot& slot : queues_) {
        const backends::Point last = slot.queue->last();
        while (slot.queue->timeline().completed() < last) {
            try {
                slot.queue->timeline().wait(last);
            } catch (const std::exception& error) {
                log_message(LogLevel::Warning, cat("unobserved error of completed work: ", error.what()));
            } catch (...) {
                log_message(LogLevel::Warning, "unobserved error of completed work");
            }
        }
    }
}

bool ContextCore::settle() {
    if (HostFunction::runs_for(*this)) return false;
    for (const QueueSlot& slot : queues_) {
        const backends::Point last = slot.queue->last();
        while (!slot.queue->timeline().wait_for(last, std::chrono::seconds(1))) {
        }
    }
    collect();
    return true;
}

std::unique_ptr<backends::Memory> ContextCore::allocate_host(unsigned device, std::size_t bytes) {
    backends::Device& maker = *devices_[device].device;
    Allocator& kept = *devices_[device].allocator;
    try {
        return maker.allocate_host(bytes);
    } catch (const MemoryError&) {
        kept.trim();
    }
    try {
        return maker.allocate_host(bytes);
    } catch (const MemoryError&) {
        if (!kept.waits() || !settle()) throw;
    }
    kept.trim();
    return maker.allocate_host(bytes);
}

void ContextCore::collect() noexcept {
    retired_.collect([&](QueuePoint last) { return passed(last); });
    programs_->collect();
    for (const DeviceSlot& slot : devices_) slot.allocator->collect();
}

void ContextCore::trim() noexcept {
    programs_->trim();
    for (const DeviceSlot& slot : devices_) slot.allocator->trim();
}

MemoryStats ContextCore::memory_stats() const {
    MemoryStats stats;
    stats.total.id = "total";
    for (const DeviceSlot& slot : devices_) {
        const DeviceMemoryStats& device = stats.devices.emplace_back(slot.allocator->stats());
        stats.total.live += device.live;
        stats.total.cached += device.cached;
        stats.total.peak += device.peak;
        stats.total.limit += device.limit;
        stats.total.allocations += device.allocations;
        stats.total.cache_hits += device.cache_hits;
    }
    stats.programs = programs_->stats();
    return stats;
}

void ContextCore::add(Storage& storage) {
    const std::scoped_lock lock(mutex_);
    storages_.add(storage);
}

void ContextCore::remove(Storage& storage) noexcept {
    const std::scoped_lock lock(mutex_);
    storages_.remove(storage);
}

void ContextCore::add(GraphProgram& program) {
    const std::scoped_lock lock(mutex_);
    graph_programs_.add(program);
}

void ContextCore::remove(GraphProgram& program) noexcept {
    const std::scoped_lock lock(mutex_);
    graph_programs_.remove(program);
    program.retire();
}

void ContextCore::retire(QueuePoint last, std::shared_ptr<const void> object) noexcept {
    // A closing context drops the objects when its work has completed; one whose driver is ending never does.
    if (state_.load(std::memory_order_acquire) != Open || !passed(last))
        retired_.add(last, std::move(object));
}

unsigned ContextCore::least_busy(QueueRange queues) const noexcept {
    unsigned best = queues.begin;
    backends::Point least = ~backends::Point{0};
    for (unsigned k = queues.begin; k < queues.end; ++k) {
        backends::Queue& queue = *queues_[k].queue;
        if (queue.timeline().lost()) continue;
        const backends::Point last = queue.last();
        const backends::Point pending = last - std::min(last, queue.timeline().completed());
        if (pending < least) {
            least = pending;
            best = k;
        }
    }
    return best;
}

void ContextCore::close() noexcept {
    if (closing_.exchange(true, std::memory_order_acq_rel)) return;
    if (state_.load(std::memory_order_acquire) == Forked) return ProcessEnd::keep(weak_from_this().lock());
    const bool at_exit = ProcessEnd::begun();
    if (at_exit && !finish()) {
        programs_->stop();
        state_.store(Closed, std::memory_order_seq_cst);
        return ProcessEnd::keep(weak_from_this().lock());
    }
    drain();
    watcher_.stop();  // pending callbacks of events run first, with everything still open
    drain();          // what they submitted
    state_.store(Closed, std::memory_order_seq_cst);
    wait_for_visits();  // threads that wait in one leave when the work has completed
    drain();            // what other threads submitted meanwhile
    if (at_exit && uses_driver()) return ProcessEnd::keep(weak_from_this().lock());
    DeadBlocks freed;
    {
        const std::scoped_lock lock(mutex_);
        storages_.for_each([&](Storage& storage) { storage.let_go(freed); });
        graph_programs_.for_each([](GraphProgram& program) { program.retire(); });
    }
    retired_.clear();
    for (DeviceSlot& slot : devices_) slot.allocator->close();
    freed.clear();
    // Queues before programs before devices: each may use the next.
    programs_->stop();
    for (QueueSlot& slot : queues_) slot.queue.reset();
    programs_->clear();
    for (DeviceSlot& slot : devices_) slot.device.reset();
}

// ---- the end of the process ----

bool ContextCore::uses_driver() const noexcept {
    return std::ranges::any_of(devices_, [](const DeviceSlot& slot) { return slot.device->uses_driver(); });
}

bool ContextCore::admits() noexcept {
    if (!is_open()) return false;
    // Parts of a driver may be gone. Callbacks are among the work that is still waited for.
    if (uses_driver() && !HostFunction::runs_for(*this)) return false;
    // A static object's destructor uses the context: what it submits is waited for before the next one runs.
    if (!handled_.exchange(true, std::memory_order_acq_rel)) ProcessEnd::handle();
    return true;
}

void ContextCore::awaits(const std::shared_ptr<HostPoint>& signal) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(awaited_, [](const std::weak_ptr<HostPoint>& known) {
        const std::shared_ptr<HostPoint> point = known.lock();
        return !point || point->completed() != 0;
    });
    awaited_.push_back(signal);
}

bool ContextCore::abandon_signals() noexcept {
    std::vector<std::weak_ptr<HostPoint>> awaited;
    {
        const std::scoped_lock lock(mutex_);
        awaited.swap(awaited_);
    }
    bool found = false;
    for (const std::weak_ptr<HostPoint>& known : awaited) {
        const std::shared_ptr<HostPoint> point = known.lock();
        if (!point || point->completed() != 0) continue;
        found = true;
        log_message(
            LogLevel::Warning,
            cat("context ", id_.value(),
                ": a queue waits for a signal that was not raised before the process ended; it continues"));
        try {
            fail(ErrorCode::InvalidArgument, "a signal was not raised before the process ended", "a Signal",
                 "raise it, or destroy all of its handles, before main returns");
        } catch (...) {
            point->pass(std::current_exception());
        }
    }
    return found;
}

bool ContextCore::finish() noexcept {
    // Twice: callbacks may have submitted more.
    return finish_submitted() && finish_submitted();
}

bool ContextCore::finish_submitted() noexcept {
    using Clock = std::chrono::steady_clock;
    if (stuck_.load(std::memory_order_acquire)) return false;
    const std::chrono::seconds limit = exit_limit();
    const auto patience =
        std::min<std::chrono::milliseconds>(std::chrono::seconds(1), limit);  // for other threads
    // What exists now: other threads may submit without end.
    const std::uint64_t callbacks = watcher_.added();
    std::vector<backends::Point> points;
    for (const QueueSlot& slot : queues_) points.push_back(slot.queue->last());
    Clock::time_point last_progress = Clock::now();
    std::uint64_t seen = 0;
    for (;;) {
        std::uint64_t done = watcher_.called();
        const bool calls = done < callbacks;
        bool works = false;
        for (unsigned k = 0; k < queue_count(); ++k) {
            backends::Timeline& timeline = queues_[k].queue->timeline();
            if (!timeline.wait_for(points[k], std::chrono::milliseconds(10))) works = true;
            done += timeline.completed();
        }
        if (!calls && !works) return true;
        const Clock::time_point now = Clock::now();
        if (done != seen) {
            seen = done;
            last_progress = now;
        }
        if (now - last_progress >= patience && abandon_signals()) last_progress = now;
        if (now - last_progress >= limit) break;
        if (calls) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    log_message(LogLevel::Warning,
                cat("context ", id_.value(), ": work that made no progress for ", limit.count(),
                    " s was still pending when the process ended; it is abandoned"));
    stuck_.store(true, std::memory_order_release);
    return false;
}

void ContextCore::finish_visits() noexcept {
    if (is_visited_here(*this)) return;  // exit() was called in one
    order_before_visits();
    const auto end = std::chrono::steady_clock::now() + exit_limit();
    while (is_visited(*this) && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::microseconds(100));
}

void ContextCore::finish_before_exit() noexcept {
    handled_.store(false, std::memory_order_release);
    State open = Open;
    state_.compare_exchange_strong(open, Ending, std::memory_order_seq_cst);
    if (!is_open()) return;
    if (finish() && uses_driver()) {
        finish_visits();
        static_cast<void>(finish());  // what other threads were submitting
    }
    for (DeviceSlot& slot : devices_) {
        slot.device->before_exit();
        if (slot.device->uses_driver()) slot.allocator->abandon();
    }
    if (uses_driver()) programs_->stop();
}

void ContextCore::forked() noexcept {
    if (!is_open()) return;
    if (uses_driver()) {
        state_.store(Forked, std::memory_order_seq_cst);
        for (DeviceSlot& slot : devices_) slot.allocator->abandon();
        programs_->stop();
        return;
    }
    watcher_.forked();
    for (DeviceSlot& slot : devices_) slot.device->forked();
    for (QueueSlot& slot : queues_) slot.queue->forked();
}

Queue ContextCore::make_queue(unsigned k) {
    if (k >= queue_count()) {
        fail(ErrorCode::IndexError, cat("there is no queue ", k), cat("the context has ", queue_count()),
             "number queues from 0; request more with queues_per_device");
    }
    return Queue(shared_from_this(), k);
}

Event ContextCore::make_event(unsigned queue, backends::Point point, std::string_view work) {
    Event event;
    add_part(event, queue, point, work);
    return event;
}

void ContextCore::append(Event& event, const Event& other) {
    if (!other.has_parts()) return;
    if (!event.has_parts()) {
        event = other;
        return;
    }
    for (const Event::Part& part : other.parts_.all()) event.parts_.add(part);
    EventTimes::add(event, other);
}

Event ContextCore::recorded_event() {
    Event event;
    event.recorded_ = true;
    return event;
}

}  // namespace volley::runtime
