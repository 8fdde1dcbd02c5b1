// Incrementing the epoch publishes a job. Workers spin on the epoch, then sleep.
#include "worker_pool.hpp"

#include <algorithm>
#include <chrono>

namespace volley::bench {
namespace {

constexpr auto awake = std::chrono::microseconds(150);

void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

}  // namespace

WorkerPool::WorkerPool() {
    const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
    for (unsigned k = 1; k < cores; ++k) workers_.emplace_back([this, k] { work(k); });
}

WorkerPool::~WorkerPool() {
    stop_.store(true);
    epoch_.fetch_add(1);
    epoch_.notify_all();
    for (std::thread& worker : workers_) worker.join();
}

void WorkerPool::run(const Job& job) {
    job_ = job;
    next_.store(0, std::memory_order_relaxed);
    busy_.store(workers_.size(), std::memory_order_relaxed);
    epoch_.fetch_add(1, std::memory_order_release);
    epoch_.notify_all();
    take_pieces(0);
    while (busy_.load(std::memory_order_acquire) != 0) pause();
}

void WorkerPool::take_pieces(std::size_t thread) {
    if (job_.fixed) {
        const std::size_t begin = thread * job_.grain;
        if (begin < job_.size) job_.call(job_.body, begin, std::min(begin + job_.grain, job_.size));
        return;
    }
    for (;;) {
        const std::size_t begin = next_.fetch_add(job_.grain, std::memory_order_relaxed);
        if (begin >= job_.size) return;
        job_.call(job_.body, begin, std::min(begin + job_.grain, job_.size));
    }
}

void WorkerPool::work(std::size_t thread) {
    std::uint64_t seen = 0;
    for (;;) {
        const auto start = std::chrono::steady_clock::now();
        while (epoch_.load(std::memory_order_acquire) == seen) {
            if (std::chrono::steady_clock::now() - start > awake) {
                epoch_.wait(seen, std::memory_order_acquire);
            } else {
                for (int k = 0; k < 16; ++k) pause();
            }
        }
        ++seen;
        if (stop_.load()) return;
        take_pieces(thread);
        busy_.fetch_sub(1, std::memory_order_release);
    }
}

WorkerPool& workers() {
    static WorkerPool pool;
    return pool;
}

}  // namespace volley::bench
