// The threads of the plain C++ peers: one per core, including the caller. They stay awake for a while after
// work, so that no peer pays for starting threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace volley::bench {

class WorkerPool {
public:
    WorkerPool();
    ~WorkerPool();
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    [[nodiscard]] std::size_t threads() const noexcept { return workers_.size() + 1; }

    /// Calls f(begin, end) for pieces of `grain` numbers of 0 to n; free threads take the next piece. Returns
    /// when all are done.
    template <class F>
    void for_each(std::size_t n, std::size_t grain, const F& f) {
        run({n, grain,
             [](const void* body, std::size_t begin, std::size_t end) {
                 (*static_cast<const F*>(body))(begin, end);
             },
             &f});
    }
    /// Calls f with one equal piece per thread.
    template <class F>
    void split(std::size_t n, const F& f) {
        for_each(n, (n + threads() - 1) / threads(), f);
    }
    /// As split(), and each thread gets the same piece in every call with the same n.
    template <class F>
    void split_fixed(std::size_t n, const F& f) {
        Job job{n, (n + threads() - 1) / threads(),
                [](const void* body, std::size_t begin, std::size_t end) {
                    (*static_cast<const F*>(body))(begin, end);
                },
                &f};
        job.fixed = true;
        run(job);
    }

private:
    struct Job {
        std::size_t size = 0;
        std::size_t grain = 1;
        void (*call)(const void*, std::size_t, std::size_t) = nullptr;
        const void* body = nullptr;
        bool fixed = false;  // each thread takes the piece of its own index, and no other
    };
    void run(const Job& job);
    void take_pieces(std::size_t thread);
    void work(std::size_t thread);

    Job job_;
    alignas(64) std::atomic<std::uint64_t> epoch_{0};
    alignas(64) std::atomic<std::size_t> next_{0};
    alignas(64) std::atomic<std::size_t> busy_{0};
    std::atomic<bool> stop_{false};
    std::vector<std::thread> workers_;
};

/// Returns the pool that all peers share.
[[nodiscard]] WorkerPool& workers();

}  // namespace volley::bench
