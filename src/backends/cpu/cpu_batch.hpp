// A batch on the CPU: its commands with everything chosen (variants, cuts, argument bytes), grouped into
// tasks that threads run as soon as the tasks before them have ended.
//
// In a queue it is one command, whose `claim` counts the pieces that are ready: a thread that has claimed one
// takes whichever comes first of the list of ready pieces. Instances run one after the other: the thread that
// ends one begins the next.
//
// Invariants: there are never more claims to have than pieces in the list. While a thread holds a piece, or a
// claim, the batch has not ended. Only the thread that begins or ends an instance touches what is not atomic,
// and no other holds a piece then. All counters are back at their first values when an instance ends, each
// set by the thread that brought it to zero, so that beginning one costs nothing for tasks that do not start
// it.
#pragma once

#include "backends/api/batch.hpp"
#include "backends/cpu/cpu_command.hpp"

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
    /// A task, or a part of it: what one thread runs at a time.
    struct Piece {
        std::uint32_t task = 0;
        std::uint32_t index = 0;
    };
    /// What a thread has to do next.
    struct Next {
        enum class Kind : std::uint8_t { Nothing, Run, End };
        Kind kind = Kind::Nothing;
        Piece piece;  // to run, if there is one
        std::uint32_t claimable =
            0;  // pieces that are new in the list: they can be claimed when the caller says so
    };

    /// How launches are cut follows from what their kernels cost: guesses, and measurements up to now. Both
    /// stay as they are for the life of the batch. Throws CompileError.
    CpuBatch(backends::BatchPlan plan, unsigned threads);

    [[nodiscard]] bool empty() const noexcept { return steps_.empty(); }
    [[nodiscard]] std::size_t value_bytes() const noexcept { return value_bytes_; }
    /// Whether that many instances are better run by the submitting thread than handed to another one.
    [[nodiscard]] bool runs_at_once(std::uint32_t instances) const noexcept;

    /// All of it, on this thread. Throws the first error when everything has run.
    void run_all(std::span<const std::byte> values, std::uint32_t instances, const backends::TimesTag& times);

    // By threads of a queue.
    /// For a claim: a piece. The first of a submission begins it, with values that stay until it has ended.
    [[nodiscard]] Next take(const std::byte* values, std::uint32_t instances) noexcept;
    /// Runs a piece, tells its commands' times if somebody wants to know, and gives the first error of them.
    [[nodiscard]] std::exception_ptr run(Piece piece, const backends::TimesTag& times) const noexcept;
    /// A piece has run: what it made ready is in the list, but for the piece that the thread is to go on
    /// with. Where the answer is Nothing, the batch may be gone.
    [[nodiscard]] Next give_back(Piece piece) noexcept;
    /// A piece that was to be run goes to the list instead.
    void put_back(Piece piece) noexcept;

private:
    struct Step {
        CpuCommandKind kind = CpuCommandKind::Launch;
        std::uint32_t index = 0;    // in kernels_ or transfers_
        std::uint32_t command = 0;  // in the plan
    };
    /// Lines of their own, as threads count in them at the same time.
    struct alignas(64) Task {
        std::uint32_t begin = 0, end = 0;                      // in steps_
        std::uint32_t followers_begin = 0, followers_end = 0;  // in followers_
        std::uint32_t pieces = 1;
        std::uint32_t after = 0;                // tasks that it has to wait for,
        std::atomic<std::uint32_t> waiting{0};  //   and how many of them have not ended
        std::atomic<std::uint32_t> left{0};     // pieces that have not ended
    };
    /// A dynamic value's way into the arguments.
    struct Patch {
        std::byte* to = nullptr;
        std::uint32_t from = 0;  // in the instance's values
        std::uint32_t bytes = 0;
    };
    /// Pieces of a task that nobody has taken.
    struct Ready {
        std::uint32_t task = 0;
        std::uint32_t begin = 0, end = 0;
    };

    [[nodiscard]] Step add_launch(const backends::BatchCommand& command, KernelRun run, std::byte* args);
    [[nodiscard]] Step add_transfer(const backends::BatchCommand& command, Transfer transfer,
                                    std::byte* pattern);
    void connect(const std::vector<TaskPlan>& plans);
    void run_step(const Step& step, std::uint32_t piece) const;
    void patch(const std::byte* values) noexcept;
    [[nodiscard]] Next begin_instance() noexcept;
    void make_ready(std::uint32_t task, Next& next) noexcept;
    void push(Ready ready) noexcept;

    // Made once, in the order in which tasks run if one thread runs them all.
    std::unique_ptr<std::byte[]> bytes_;  // arguments and patterns
    std::vector<KernelRun> kernels_;
    std::vector<Transfer> transfers_;
    std::vector<Step> steps_;
    std::vector<Patch> patches_;
    std::vector<std::uint32_t> followers_;
    std::vector<std::uint32_t> roots_;  // tasks that wait for nothing
    std::uint32_t ends_ = 0;            // tasks that nothing waits for
    std::size_t value_bytes_ = 0;
    std::uint32_t commands_ = 0;  // of the plan
    double ns_ = 0;               // of an instance, on one thread
    bool in_line_ = true;         // other threads have nothing to do

    // The submission that runs.
    bool begun_ = false;
    const std::byte* values_ = nullptr;  // of the next instance
    std::uint32_t instances_ = 0;        // that have not ended
    std::uint32_t instance_ = 0;         // that runs
    std::vector<Task> tasks_;
    std::atomic<std::uint32_t> ends_left_{0};

    std::mutex mutex_;  // the list of ready pieces: a ring that holds whatever can be ready
    std::vector<Ready> ready_;
    std::size_t first_ready_ = 0;
    std::size_t ready_count_ = 0;
};

}  // namespace volley::backends::cpu
