// Timing of commands, for profiles of a context, marks, and contexts with timestamps. Commands are timed only
// on request; otherwise timing adds one relaxed load to each submission.
#pragma once

#include "backends/api/times.hpp"
#include "ir/function.hpp"
#include "runtime/context_core.hpp"

#include <volley/event.hpp>
#include <volley/profile.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace volley::runtime {

/// Describes a command.
struct CommandLabel {
    CommandKind kind = CommandKind::Launch;
    std::shared_ptr<const ir::Function> kernel = {};  // of a launch
    ir::Dim3 global = {};
    ir::Dim3 local = {};
    std::uint64_t bytes = 0;
    std::uint32_t index = 0;  // within its recording
};

/// Describes the commands of a batch. Several of them may be parts of one recorded command.
struct BatchLabels {
    std::vector<CommandLabel> labels;
    std::vector<std::uint32_t> label_of;  // index into `labels`, by position in the batch
};

/// One step of a graph submission.
struct BatchPlace {
    std::shared_ptr<const BatchLabels> labels;
    std::uint64_t submission = 0;
    std::uint32_t first = 0;  // first instance
    std::uint32_t instances = 0;
};

/// A command or a batch, and the times that the backend reports for it.
class CommandRecord final : public backends::CommandTimes {
public:
    CommandRecord(unsigned queue, const CommandLabel& label) : queue_(queue), label_(label) {}
    CommandRecord(unsigned queue, BatchPlace batch);

    void ran(std::uint32_t index, std::int64_t begin, std::int64_t end) noexcept override;

    struct Times {
        std::int64_t begin = std::numeric_limits<std::int64_t>::max();
        std::int64_t end = std::numeric_limits<std::int64_t>::min();
        [[nodiscard]] bool known() const noexcept { return begin <= end; }
    };
    /// Returns the times of a single command; not for batches.
    [[nodiscard]] Times times() const noexcept { return one_.get(); }
    /// Calls f(queue, label, optional<GraphPlace>, times) for each command that has run.
    template <class F>
    void for_each(F&& f) const;

private:
    struct Span {
        std::atomic<std::int64_t> begin{std::numeric_limits<std::int64_t>::max()};
        std::atomic<std::int64_t> end{std::numeric_limits<std::int64_t>::min()};
        void add(std::int64_t first, std::int64_t last) noexcept;
        [[nodiscard]] Times get() const noexcept {
            return {begin.load(std::memory_order_acquire), end.load(std::memory_order_acquire)};
        }
    };
    unsigned queue_;
    CommandLabel label_;
    Span one_;
    BatchPlace batch_;
    std::unique_ptr<Span[]> spans_;  // for a batch: [instance][label]
};

/// The times carried by an event: one record for each of its parts.
class EventTimes {
public:
    static void add(Event& event, std::shared_ptr<const CommandRecord> record);
    /// Adds the records of `other` to `event`.
    static void add(Event& event, const Event& other);
    /// Returns the end of an event, which the caller has waited for, in nanoseconds of the steady clock.
    /// Throws ArgumentError if the event has no times.
    [[nodiscard]] static std::int64_t end_of(const Event& event);

private:
    std::vector<std::shared_ptr<const CommandRecord>> records_;
};

/// Collects the data of one profile. Thread-safe.
class Profiler {
public:
    Profiler() : start_(backends::steady_now()) {}
    void add(std::shared_ptr<const CommandRecord> record);
    void add_host(bool read, std::int64_t begin, std::int64_t end);
    /// Returns the number for the next graph submission, starting at 1.
    [[nodiscard]] std::uint64_t next_submission() noexcept {
        return submissions_.fetch_add(1, std::memory_order_relaxed) + 1;
    }
    /// Builds the profile. Call after all commands have completed.
    [[nodiscard]] Profile finish(ContextCore& core);

private:
    const std::int64_t start_;
    std::atomic<std::uint64_t> submissions_{0};
    std::mutex mutex_;
    std::vector<std::shared_ptr<const CommandRecord>> records_;
    std::vector<HostWait> host_waits_;
    std::vector<std::thread::id> threads_;
};

/// A command about to be submitted to a queue, timed if the context requests it.
class TimedCommand {
public:
    /// `label()` returns a CommandLabel or a BatchPlace; it is called only if the command may be timed.
    template <class Label>
    TimedCommand(ContextCore& core, unsigned queue, Label&& label) {
        if (core.timing() != 0) [[unlikely]]
            begin(core, queue, label());
    }
    /// Returns a command that is always timed.
    static TimedCommand always(ContextCore& core, unsigned queue, const CommandLabel& label);

    /// Calls f, which submits the command, and returns its result.
    template <class F>
    auto submit(F&& f) const {
        std::optional<backends::TimesScope> scope;
        if (record_) [[unlikely]]
            scope.emplace(backends::TimesTag{record_, 0});
        return f();
    }
    /// Adds the time of the command, if it is timed, to its event.
    void add_to(Event& event) const {
        if (record_) [[unlikely]]
            EventTimes::add(event, record_);
    }

private:
    TimedCommand() = default;
    void begin(ContextCore& core, unsigned queue, const CommandLabel& label);
    void begin(ContextCore& core, unsigned queue, BatchPlace batch);

    std::shared_ptr<CommandRecord> record_;
};

/// Records that the calling thread waits for a result from construction to destruction. Of nested scopes,
/// only the outermost is recorded.
class TimedHost {
public:
    explicit TimedHost(ContextCore& core, bool read = false) {
        if ((core.timing() & ContextCore::profiled) != 0) [[unlikely]]
            begin(core, read);
    }
    ~TimedHost() {
        if (profiler_) end();
    }
    TimedHost(const TimedHost&) = delete;
    TimedHost& operator=(const TimedHost&) = delete;

private:
    void begin(ContextCore& core, bool read);
    void end() noexcept;

    static constinit thread_local bool inside_wait;
    std::shared_ptr<Profiler> profiler_;
    bool read_ = false;
    std::int64_t begin_ = 0;
};

template <class F>
void CommandRecord::for_each(F&& f) const {
    if (!spans_) {
        if (const Times times = one_.get(); times.known())
            f(queue_, label_, std::optional<GraphPlace>(), times);
        return;
    }
    const std::vector<CommandLabel>& labels = batch_.labels->labels;
    for (std::uint32_t i = 0; i < batch_.instances; ++i) {
        for (std::size_t c = 0; c < labels.size(); ++c) {
            const Times times = spans_[i * labels.size() + c].get();
            const GraphPlace place{batch_.submission, batch_.first + i, labels[c].index};
            if (times.known()) f(queue_, labels[c], std::optional<GraphPlace>(place), times);
        }
    }
}

}  // namespace volley::runtime
