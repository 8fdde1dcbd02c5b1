// The life of a context: opening devices, waiting, freeing, closing.
#include "runtime/context_core.hpp"

#include "backends/api/memory_budget.hpp"
#include "core/fail.hpp"
#include "core/settings.hpp"
#include "core/text.hpp"
#include "runtime/drivers.hpp"

#include <volley/log.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <exception>

namespace volley::runtime {
namespace {

void check_options(const ContextOptions& options) {
    if (options.queues_per_device == 0) {
        fail(ErrorCode::InvalidArgument, "a context needs queues", "queues_per_device is 0",
             "ask for one or more");
    }
    if (options.cpu_width != 0 && (options.cpu_width > 64 || !std::has_single_bit(options.cpu_width))) {
        fail(ErrorCode::InvalidArgument, cat("vectors cannot have ", options.cpu_width, " lanes"),
             "cpu_width", "use 1, 2, 4, 8, 16, 32 or 64, or 0 for the processor's own");
    }
}

/// What a device may hold: the context's limit, the environment's, or all that it has.
std::uint64_t memory_limit(const ContextOptions& options, const DeviceInfo& info) {
    const std::uint64_t limit = backend::memory_limit_of_user(options.memory_limit);
    return limit == 0 || (info.memory_bytes != 0 && info.memory_bytes < limit) ? info.memory_bytes : limit;
}

AllocatorOptions allocator_options(const ContextOptions& options, const DeviceInfo& info) {
    constexpr std::uint64_t most = std::uint64_t{1} << 30;
    return {memory_limit(options, info), options.cache_bytes.value_or(std::min(most, info.memory_bytes / 8))};
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
    : programs_(static_cast<unsigned>(picked.size())) {
    const backend::DeviceOptions wanted{options.cpu_width, options.cpu_threads, options.memory_limit};
    for (const FoundDevice& found : picked) {
        std::unique_ptr<backend::Device> device = found.driver->open(found.info.index, wanted);
        DeviceInfo info = device->info();
        if (options.queues_per_device > info.max_queues) {
            fail(ErrorCode::InvalidArgument, cat(options.queues_per_device, " queues were asked for"),
                 info.id(), cat("a device of this backend has at most ", info.max_queues));
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
    std::vector<backend::Timeline*> timelines;
    for (const QueueSlot& slot : queues_) timelines.push_back(&slot.queue->timeline());
    for (DeviceSlot& slot : devices_) {
        slot.allocator =
            std::make_unique<Allocator>(*slot.device, timelines, allocator_options(options, slot.info));
    }
    ordered_ = std::vector<std::atomic<backend::Point>>(queues_.size() * queues_.size());
}

ContextCore::~ContextCore() { close(); }

void ContextCore::fail_closed(std::string_view what) {
    fail(ErrorCode::WrongContext, "the context that it was made for is gone", what,
         "keep the Context alive for as long as its buffers, queues and kernels are used");
}

bool ContextCore::passed(QueuePoint use) const noexcept {
    return use.point == 0 || !is_open() || queues_[use.queue].queue->timeline().completed() >= use.point;
}

void ContextCore::wait() {
    std::exception_ptr first;
    for (const QueueSlot& slot : queues_) {
        try {
            slot.queue->timeline().wait(slot.queue->last());
        } catch (...) {
            if (!first) first = std::current_exception();
        }
    }
    collect();
    if (first) std::rethrow_exception(first);
}

void ContextCore::drain() noexcept {
    for (const QueueSlot& slot : queues_) {
        const backend::Point last = slot.queue->last();
        while (slot.queue->timeline().completed() < last) {
            try {
                slot.queue->timeline().wait(last);
            } catch (const std::exception& error) {
                log_message(LogLevel::Warning,
                            cat("an error of work that nobody waited for: ", error.what()));
            } catch (...) {
                log_message(LogLevel::Warning, "an error of work that nobody waited for");
            }
        }
    }
}

void ContextCore::order_after(unsigned queue, QueuePoint point) {
    std::atomic<backend::Point>& given = ordered_[std::size_t{queue} * queue_count() + point.queue];
    backend::Point known = given.load(std::memory_order_acquire);
    if (known >= point.point || passed(point)) return;
    queues_[queue].queue->wait_for(queues_[point.queue].queue->timeline(), point.point);
    // Only now, so that whoever sees it gives its command after the wait.
    while (known < point.point &&
           !given.compare_exchange_weak(known, point.point, std::memory_order_acq_rel)) {
    }
}

void ContextCore::settle() {
    for (const QueueSlot& slot : queues_) {
        const backend::Point last = slot.queue->last();
        while (!slot.queue->timeline().wait_for(last, std::chrono::seconds(1))) {
        }
    }
    collect();
}

void ContextCore::collect() noexcept {
    for (const DeviceSlot& slot : devices_) slot.allocator->collect();
}

void ContextCore::trim() noexcept {
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
    return stats;
}

void ContextCore::add(Storage& storage) {
    const std::scoped_lock lock(mutex_);
    storage.after_ = storages_;
    if (storages_ != nullptr) storages_->before_ = &storage;
    storages_ = &storage;
}

void ContextCore::remove(Storage& storage) noexcept {
    const std::scoped_lock lock(mutex_);
    if (storage.before_ != nullptr) storage.before_->after_ = storage.after_;
    if (storage.after_ != nullptr) storage.after_->before_ = storage.before_;
    if (storages_ == &storage) storages_ = storage.after_;
}

void ContextCore::close() noexcept {
    if (!is_open()) return;
    drain();
    open_.store(false, std::memory_order_release);
    DeadBlocks freed;
    {
        const std::scoped_lock lock(mutex_);
        for (Storage* storage = storages_; storage != nullptr; storage = storage->after_)
            storage->let_go(freed);
    }
    drain();  // what another thread gave while this one closed it
    for (DeviceSlot& slot : devices_) slot.allocator->close();
    freed.clear();
    // Queues before programs before devices: each may use what comes after it.
    for (QueueSlot& slot : queues_) slot.queue.reset();
    programs_.clear();
    for (DeviceSlot& slot : devices_) slot.device.reset();
}

Queue ContextCore::make_queue(unsigned k) {
    if (k >= queue_count()) {
        fail(ErrorCode::IndexError, cat("there is no queue ", k), cat("the context has ", queue_count()),
             "queues are numbered from 0; ask for more with queues_per_device");
    }
    return Queue(shared_from_this(), k);
}

Event ContextCore::make_event(unsigned queue, backend::Point point) {
    Event event;
    event.core_ = shared_from_this();
    event.part_ = {queue, point};
    return event;
}

void ContextCore::append(Event& event, unsigned queue, backend::Point point) {
    event.more_.push_back({queue, point});
}

}  // namespace volley::runtime
