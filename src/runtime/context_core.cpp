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

#include <volley/log.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <exception>
#include <thread>

namespace volley::runtime {
namespace {

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

/// The memory that a device may use: the limit of the context or of the environment, at most what it has.
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
}

ContextCore::~ContextCore() { close(); }

void ContextCore::fail_closed(std::string_view what) {
    fail(ErrorCode::WrongContext, "its context is closed", what,
         "keep the Context alive while its buffers, queues and kernels are in use");
}

bool ContextCore::passed(QueuePoint use) const noexcept {
    return use.point == 0 || !is_open() || queues_[use.queue].queue->timeline().completed() >= use.point;
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
}

void ContextCore::retire(QueuePoint last, std::shared_ptr<const void> object) noexcept {
    if (!passed(last)) retired_.add(last, std::move(object));
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
    drain();
    watcher_.stop();  // pending callbacks of events run first, with everything still open
    drain();          // what they submitted
    open_.store(false, std::memory_order_seq_cst);
    DeadBlocks freed;
    {
        const std::scoped_lock lock(mutex_);
        storages_.for_each([&](Storage& storage) { storage.let_go(freed); });
    }
    drain();  // what another thread submitted meanwhile
    // All work has completed, so threads that wait for events leave now.
    while (visits_.load(std::memory_order_seq_cst) != 0) std::this_thread::yield();
    {
        const std::scoped_lock lock(mutex_);
        graph_programs_.for_each([](GraphProgram& program) { program.let_go(); });
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
