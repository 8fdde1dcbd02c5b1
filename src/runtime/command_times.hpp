// Commands of which somebody wants to know when they ran: the profile of a context, or the events of marks
// and of contexts with timestamps. Where nobody does, giving a command costs one relaxed load more.
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

class CachedKernel;

/// What a command is.
struct CommandLabel {
    CommandKind kind = CommandKind::Launch;
    const CachedKernel* kernel = nullptr;  // the context's, like the program that runs
    ir::Dim3 global = {};
    ir::Dim3 local = {};
    std::uint64_t bytes = 0;
    std::uint32_t index = 0;  // in its recording
};

/// What the commands of a batch are: several may be parts of one.
struct BatchLabels {
    std::vector<CommandLabel> labels;
    std::vector<std::uint32_t> label_of;  // by place in the batch
};

/// One step of a graph's submission.
struct BatchPlace {
    std::shared_ptr<const BatchLabels> labels;
    std::uint64_t submission = 0;
    std::uint32_t first = 0;  // instance
    std::uint32_t instances = 0;
};

/// One command, or one batch, with its times as they come in.
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
    /// Of a command that is no batch.
    [[nodiscard]] Times times() const noexcept { return one_.get(); }
    /// Calls f(queue, label, place in a graph or nothing, times) for what has run.
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
    std::unique_ptr<Span[]> spans_;  // of a batch: [instance][label]
};

/// The times that an event carries: one for each of its parts.
class EventTimes {
public:
    static void add(Event& event, std::shared_ptr<const CommandRecord> record);
    /// Those of another event are this one's, too.
    static void add(Event& event, const Event& other);
    /// Of an event that was waited for. Throws ArgumentError where it carries none.
    [[nodiscard]] static std::int64_t end_of(const Event& event);

private:
    std::vector<std::shared_ptr<const CommandRecord>> records_;
};

/// What one profile collects. Thread-safe.
class Profiler {
public:
    Profiler() : start_(backends::steady_now()) {}
    void add(std::shared_ptr<const CommandRecord> record);
    void add_host(bool read, std::int64_t begin, std::int64_t end);
    /// The number of a graph's submission.
    [[nodiscard]] std::uint64_t next_submission() noexcept {
        return submissions_.fetch_add(1, std::memory_order_relaxed) + 1;
    }
    /// When all is done.
    [[nodiscard]] Profile finish(ContextCore& core);

private:
    const std::int64_t start_;
    std::atomic<std::uint64_t> submissions_{0};
    std::mutex mutex_;
    std::vector<std::shared_ptr<const CommandRecord>> records_;
    std::vector<HostWait> host_waits_;
    std::vector<std::thread::id> threads_;
};

/// A command that is about to be given to one queue.
class TimedCommand {
public:
    /// `label()` gives a CommandLabel or a BatchPlace; it is called only where somebody wants to know.
    template <class Label>
    TimedCommand(ContextCore& core, unsigned queue, Label&& label) {
        if (core.timing() != 0) [[unlikely]]
            begin(core, queue, label());
    }
    /// The same for a command whose event carries a time in any case.
    static TimedCommand always(ContextCore& core, unsigned queue, const CommandLabel& label);

    /// Calls f, which gives the command.
    template <class F>
    auto give(F&& f) const {
        std::optional<backends::TimesScope> scope;
        if (record_) [[unlikely]]
            scope.emplace(backends::TimesTag{record_, 0});
        return f();
    }
    /// The event of the command carries its time.
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

/// The calling thread waits for a result, from here to the end of the scope. Of scopes inside of scopes the
/// outermost counts.
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
