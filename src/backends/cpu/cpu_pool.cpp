// Waking a sleeping thread costs the caller a system call and delays the work by some 50 us, so workers spin
// for a short time after work. Spinning uses pause instructions, and yields only to drivers that compute on
// the host's cores.
//
// No wake-up is lost: a worker counts itself in sleeping_ or spinning_ before its last read of epoch_, and
// notify() increments epoch_ before it reads the counts, all sequentially consistent.
#include "backends/cpu/cpu_pool.hpp"

#include "backends/common/host_cores.hpp"
#include "backends/common/thread.hpp"
#include "core/text.hpp"

#include <volley/error.hpp>
#include <volley/log.hpp>

#include <algorithm>
#include <chrono>
#include <system_error>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace volley::backends::cpu {
namespace {

constexpr auto turn_time = std::chrono::milliseconds(1);  // of a worker with one source
constexpr auto guard_interval = std::chrono::milliseconds(4);
constexpr int guard_patience = 50;      // intervals without a piece of unknown length, then the guard sleeps
constexpr std::size_t most_spare = 64;  // workers

thread_local unsigned number_of_thread = 0;

std::int64_t nanoseconds_of(Clock::time_point time) {
    return time.time_since_epoch() / std::chrono::nanoseconds(1);
}

}  // namespace

void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

unsigned CpuPool::thread_number() noexcept { return number_of_thread; }

CpuPool::CpuPool(unsigned threads) : threads_(std::max(threads, 1u)), workers_(std::max(threads, 2u) - 1) {}

CpuPool::~CpuPool() {
    {
        const std::scoped_lock lock(mutex_);
        stop_ = true;
    }
    epoch_.fetch_add(1);
    wake_.notify_all();
    guard_wake_.notify_all();
    spare_wake_.notify_all();
    if (guard_.joinable()) guard_.join();  // first, because it creates spare workers
    for (Worker& worker : pool_) worker.thread.join();
}

void CpuPool::add(WorkSource& source) {
    const std::scoped_lock lock(mutex_);
    sources_.push_back(&source);
}

void CpuPool::remove(WorkSource& source) {
    const std::scoped_lock lock(mutex_);
    std::erase(sources_, &source);
}

void CpuPool::start_all() {
    const std::scoped_lock lock(mutex_);
    if (started_.load() || stop_) return;
    try {
        while (pool_.size() < workers_)
            add_worker([this](Worker& worker, unsigned number) { work(worker, number); });
    } catch (const Error& error) {
        if (pool_.empty()) throw;
        log_message(LogLevel::Warning, cat("the CPU backend runs with ", pool_.size() + 1, " of ", threads(),
                                           " threads: ", error.what()));
    }
    started_.store(true);
}

template <class F>
void CpuPool::add_worker(F body) {
    Worker& worker = pool_.emplace_back();
    const auto number = static_cast<unsigned>(pool_.size());
    try {
        worker.thread = backends::start_thread("a worker of the CPU backend", [&worker, number, body] {
            number_of_thread = number;
            body(worker, number);
        });
    } catch (...) {
        pool_.pop_back();
        throw;
    }
}

void CpuPool::notify() {
    epoch_.fetch_add(1);
    start();
    if (spinning_.load() == 0 && sleeping_.load() > 0) wake_one();
}

void CpuPool::wake_one() {
    { const std::scoped_lock lock(mutex_); }  // waits until a worker that is about to sleep is asleep
    wake_.notify_one();
}

void CpuPool::work(Worker& self, unsigned number) {
    for (;;) {
        const std::uint64_t seen = epoch_.load();
        if (run_one(self, number)) continue;
        if (!spin(seen) && !sleep(seen)) return;
    }
}

bool CpuPool::run_one(Worker& self, unsigned number) {
    WorkSource* source = nullptr;
    Claim claim;
    bool more = false;
    {
        const std::scoped_lock lock(mutex_);
        const std::size_t count = sources_.size();
        const std::size_t first = next_;
        for (std::size_t i = 0; i < count && !more; ++i) {
            WorkSource* candidate = sources_[(first + i) % count];
            if (!claim) {
                claim = candidate->claim(number);
                if (!claim) continue;
                source = candidate;
                next_ = (first + i + 1) % count;
            }
            more = candidate->has_work();
        }
    }
    if (!claim) return false;
    if (more && spinning_.load() == 0 && sleeping_.load() > 0) wake_one();
    const auto now = Clock::now();
    self.since.store(nanoseconds_of(now), std::memory_order_relaxed);
    source->run_claimed(claim, number, now + turn_time);
    self.since.store(0, std::memory_order_relaxed);
    return true;
}

bool CpuPool::spin(std::uint64_t seen) {
    spinning_.fetch_add(1);
    const auto end = Clock::now() + spin_time();
    do {
        for (int i = 0; i < 32; ++i) {
            if (epoch_.load(std::memory_order_relaxed) != seen) {
                spinning_.fetch_sub(1);
                return true;
            }
            pause();
        }
        backends::HostCoresUse::give_way();
    } while (Clock::now() < end);
    return false;  // still counted as spinning; sleep() adjusts the count
}

bool CpuPool::sleep(std::uint64_t seen) {
    std::unique_lock lock(mutex_);
    sleeping_.fetch_add(1);
    spinning_.fetch_sub(1);
    wake_.wait(lock, [&] { return stop_ || epoch_.load() != seen; });
    sleeping_.fetch_sub(1);
    return !stop_;
}

// ---- spare workers ----

void CpuPool::start_guard() noexcept {
    if (guarding_.exchange(Guarding::Active) != Guarding::Asleep) return;
    const std::scoped_lock lock(mutex_);
    if (guard_.joinable()) {
        guard_wake_.notify_one();
        return;
    }
    try {
        guard_ = std::thread([this] { guard(); });
    } catch (const std::system_error&) {
        guarding_.store(Guarding::Asleep);  // the next piece tries again
    }
}

void CpuPool::guard() {
    std::unique_lock lock(mutex_);
    for (int quiet = 0; !stop_;) {
        guard_wake_.wait_for(lock, guard_interval, [this] { return stop_; });
        if (!stop_ && needs_spare()) call_spare();
        Guarding seen = Guarding::Active;
        if (guarding_.compare_exchange_strong(seen, Guarding::Awake) || free_workers() < workers_) {
            quiet = 0;
        } else if (++quiet > guard_patience) {
            seen = Guarding::Awake;
            if (!guarding_.compare_exchange_strong(seen, Guarding::Asleep)) continue;
            guard_wake_.wait(lock, [this] { return stop_ || guarding_.load() != Guarding::Asleep; });
            quiet = 0;
        }
    }
}

std::size_t CpuPool::free_workers() const noexcept {
    const std::int64_t recent = nanoseconds_of(Clock::now() - guard_interval);
    std::size_t held = 0;
    for (const Worker& worker : pool_) {
        const std::int64_t since = worker.since.load(std::memory_order_relaxed);
        if (since != 0 && since < recent) ++held;
    }
    return pool_.size() + called_ - resting_ - held;
}

bool CpuPool::needs_spare() const noexcept {
    if (free_workers() >= workers_) return false;
    return std::ranges::any_of(sources_, [](const WorkSource* source) { return source->has_work(); });
}

void CpuPool::call_spare() {
    if (resting_ > called_) {
        ++called_;
        spare_wake_.notify_one();
        return;
    }
    if (pool_.size() >= workers_ + most_spare) return;
    try {
        add_worker([this](Worker& worker, unsigned number) { work_as_spare(worker, number); });
    } catch (const Error&) {
        // There is no thread to be had; the guard tries again.
    }
}

void CpuPool::work_as_spare(Worker& self, unsigned number) {
    std::unique_lock lock(mutex_);
    while (!stop_) {
        while (!stop_ && free_workers() <= workers_) {  // else the workers are back
            lock.unlock();
            const bool ran = run_one(self, number);
            lock.lock();
            if (!ran) break;
        }
        ++resting_;
        spare_wake_.wait(lock, [this] { return stop_ || called_ > 0; });
        --resting_;
        if (called_ > 0) --called_;
    }
}

}  // namespace volley::backends::cpu
