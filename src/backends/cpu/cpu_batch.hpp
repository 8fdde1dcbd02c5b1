// A batch on the CPU: its commands with everything chosen (variants, pieces, argument bytes), grouped into
// tasks that threads run as soon as the tasks that they depend on have ended.
//
// In a queue it is one command, whose `claim` counts the ready pieces: a thread that has claimed one takes
// one of the list of ready tasks, if possible one of its own share (cpu_shares.hpp). Instances run one after
// the other: the thread that ends one begins the next.
//
// Invariants: there are never more claims than pieces in the list. While a thread holds a piece or a claim,
// the batch has not ended. Only the thread that begins or ends an instance accesses what is not atomic, and
// no other thread holds a piece then. All counters have their initial values when an instance ends, each
// reset by the thread that brought it to zero, so beginning an instance costs nothing for tasks that do not
// start it.
#pragma once

#include "backends/api/batch.hpp"
#include "backends/cpu/cpu_command.hpp"
#include "backends/cpu/cpu_shares.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace volley::backends::cpu {

struct TaskPlan;

class CpuBatch final : public backends::Batch {
public:
    /// A task or a part of it, run by one thread.
    struct Piece {
        std::uint32_t task = 0;
        std::uint32_t index = 0;
    };
    /// What a thread does next.
    struct Next {
        enum class Kind : std::uint8_t { Nothing, Run, End };
        Kind kind = Kind::Nothing;
        Piece piece;                  // to run, if there is one
        std::uint32_t claimable = 0;  // new pieces in the list, for the caller to publish
    };

    /// Divides launches by the cost of their kernels, estimated or measured up to now, for the life of the
    /// batch. Throws CompileError.
    CpuBatch(backends::BatchPlan plan, unsigned threads);

    [[nodiscard]] bool empty() const noexcept { return steps_.empty(); }
    [[nodiscard]] std::size_t value_bytes() const noexcept { return value_bytes_; }
    /// Returns whether the submitting thread should run the instances itself.
    [[nodiscard]] bool runs_at_once(std::uint32_t instances) const noexcept;
    /// Returns whether no piece takes much longer than slice_ns.
    [[nodiscard]] bool is_brief() const noexcept { return brief_; }
    /// Returns whether no two pieces can run concurrently.
    [[nodiscard]] bool is_in_line() const noexcept { return in_line_; }

    /// Runs all instances on this thread. Throws the first error after everything has run.
    void run_all(std::span<const std::byte> values, std::uint32_t instances, const backends::TimesTag& times);

    // For threads of a queue; `thread` is the calling one's number:
    /// Exchanges a claim for a piece. The first claim begins the submission; `values` stay valid until it has
    /// ended.
    [[nodiscard]] Next take(unsigned thread, const std::byte* values, std::uint32_t instances) noexcept;
    /// Runs a piece, reports the times of its commands on request, and returns their first error.
    [[nodiscard]] std::exception_ptr run(Piece piece, const backends::TimesTag& times) const noexcept;
    /// Returns a piece that has run. The pieces that it made ready are in the list, except the one that the
    /// thread continues with. If the answer is Nothing, the batch may have been destroyed.
    [[nodiscard]] Next give_back(unsigned thread, Piece piece) noexcept;
    /// Puts a piece that has not run into the list.
    void put_back(Piece piece) noexcept;

private:
    struct Step {
        CpuCommandKind kind = CpuCommandKind::Launch;
        std::uint32_t index = 0;    // in kernels_ or transfers_
        std::uint32_t command = 0;  // in the plan
    };
    /// On its own cache line, as threads update the counters concurrently.
    struct alignas(64) Task {
        std::uint32_t begin = 0, end = 0;                      // in steps_
        std::uint32_t followers_begin = 0, followers_end = 0;  // in followers_
        std::uint32_t pieces = 1;
        std::uint32_t shares_begin = 0;         // in shares_, if it has several pieces
        std::uint32_t after = 0;                // tasks that it depends on,
        std::atomic<std::uint32_t> waiting{0};  //   and how many of them have not ended
        std::atomic<std::uint32_t> left{0};     // pieces that have not ended
    };
    /// Copies a dynamic value to the arguments.
    struct Patch {
        std::byte* to = nullptr;
        std::uint32_t from = 0;  // in the instance's values
        std::uint32_t bytes = 0;
    };
    /// Pieces of a task that no thread has taken.
    struct Ready {
        std::uint32_t task = 0;
        std::uint32_t left = 0;
        std::uint32_t index = 0;  // of the only one, if it is not in the task's shares
        bool shared = false;
    };

    [[nodiscard]] Step add_launch(const backends::BatchCommand& command, KernelRun run, std::byte* args);
    [[nodiscard]] Step add_transfer(const backends::BatchCommand& command, Transfer transfer,
                                    std::byte* pattern);
    void connect(const std::vector<TaskPlan>& plans);
    void run_step(const Step& step, std::uint32_t piece) const;
    void patch(const std::byte* values) noexcept;
    [[nodiscard]] Next begin_instance(unsigned thread) noexcept;
    void make_ready(std::uint32_t index, unsigned thread, Next& next) noexcept;
    [[nodiscard]] std::span<Share> shares_of(const Task& task) noexcept {
        return std::span(shares_).subspan(task.shares_begin, threads_);
    }
    void push(Ready ready) noexcept;
    // With mutex_ held:
    [[nodiscard]] Ready& ready_at(std::size_t place) noexcept {
        place += first_ready_;
        return ready_[place < ready_.size() ? place : place - ready_.size()];
    }
    /// Takes a piece of the thread's own shares, or else of the oldest ready task.
    [[nodiscard]] Piece pop(unsigned thread) noexcept;
    /// Counts a piece that was taken.
    void took(std::size_t place) noexcept;

    // Constant, in the order in which a single thread runs the tasks.
    std::unique_ptr<std::byte[]> bytes_;  // arguments and patterns
    std::vector<KernelRun> kernels_;
    std::vector<Transfer> transfers_;
    std::vector<Step> steps_;
    std::vector<Patch> patches_;
    std::vector<std::uint32_t> followers_;
    std::vector<std::uint32_t> roots_;  // tasks without dependencies
    std::uint32_t ends_ = 0;            // tasks that no task depends on
    std::size_t value_bytes_ = 0;
    std::uint32_t commands_ = 0;  // of the plan
    double ns_ = 0;               // of an instance, on one thread
    bool in_line_ = true;
    bool brief_ = true;
    unsigned threads_ = 1;

    // The current submission.
    bool begun_ = false;
    const std::byte* values_ = nullptr;  // of the next instance
    std::uint32_t instances_ = 0;        // that have not ended
    std::uint32_t instance_ = 0;         // that runs now
    std::vector<Task> tasks_;
    std::atomic<std::uint32_t> ends_left_{0};

    std::vector<Share> shares_;  // of the tasks with several pieces

    std::mutex mutex_;  // the ready pieces: a ring with room for all that can be ready
    std::vector<Ready> ready_;
    std::size_t first_ready_ = 0;
    std::size_t ready_count_ = 0;
};

}  // namespace volley::backends::cpu
