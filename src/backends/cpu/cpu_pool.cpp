// Waking a sleeping thread costs the caller a system call and delays the work by some 50 us, so workers spin
// for a short time after work. Spinning uses pause instructions, and yields only to drivers that compute on
// the host's cores.
//
// No wake-up is lost: a worker counts itself in sleeping_ or spinning_ before its last read of epoch_, and
// notify() increments epoch_ before it reads the counts, all sequentially consistent.
#include "backends/cpu/cpu_pool.hpp"

#include "backends/common/host_cores.hpp"

#include <algorithm>
#include <chrono>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace volley::backends::cpu {
namespace {

thread_local bool is_worker = false;

}  // namespace

void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

bool CpuPool::on_worker() noexcept { return is_worker; }

CpuPool::CpuPool(unsigned threads) : workers_(std::max(threads, 1u) - 1) {}

CpuPool::~CpuPool() {
    {
        const std::scoped_lock lock(mutex_);
        stop_ = true;
    }
    epoch_.fetch_add(1);
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void CpuPool::add(WorkSource& source) {
    const std::scoped_lock lock(mutex_);
    sources_.push_back(&source);
}

void CpuPool::remove(WorkSource& source) {
    const std::scoped_lock lock(mutex_);
    std::erase(sources_, &source);
}

void CpuPool::start() {
    const std::scoped_lock lock(mutex_);
    if (started_.load() || stop_) return;
    threads_.reserve(workers_);
    for (unsigned i = 0; i < workers_; ++i) threads_.emplace_back([this] { work(); });
    started_.store(true);
}

void CpuPool::notify() {
    epoch_.fetch_add(1);
    if (!started_.load() && workers_ > 0) {
        start();
        return;
    }
    if (spinning_.load() == 0 && sleeping_.load() > 0) wake_one();
}

void CpuPool::wake_one() {
    { const std::scoped_lock lock(mutex_); }  // waits until a worker that is about to sleep is asleep
    wake_.notify_one();
}

void CpuPool::work() {
    is_worker = true;
    for (;;) {
        const std::uint64_t seen = epoch_.load();
        if (run_one()) continue;
        if (!spin(seen) && !sleep(seen)) return;
    }
}

bool CpuPool::run_one() {
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
                claim = candidate->claim(true);
                if (!claim) continue;
                source = candidate;
                next_ = (first + i + 1) % count;
            }
            more = candidate->has_work();
        }
    }
    if (!claim) return false;
    if (more && spinning_.load() == 0 && sleeping_.load() > 0) wake_one();
    source->run_claimed(claim);
    return true;
}

bool CpuPool::spin(std::uint64_t seen) {
    spinning_.fetch_add(1);
    const auto end = Clock::now() + spin_time;
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

}  // namespace volley::backends::cpu
