// Event: the completion of submitted work. Launches, transfers and submissions return one.
#pragma once

#include <volley/api.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace volley {

namespace runtime {
class CachedKernel;
class ContextCore;
class EventTimes;
class EventWatcher;
class GraphProgram;
class HostPoint;
}  // namespace runtime
class Queue;
class Signal;

/// One item of work that an event still waits for: a command of a queue, or the host.
struct VOLLEY_API PendingWork {
    /// The kind of work: "kernel 'scale'", "copy", "command graph", "host call" and so on; for the host
    /// "signal", or "then() function" while such a function runs.
    std::string what;
    std::optional<unsigned> queue = {};  ///< its number in the context; nullopt for the host
    std::string device = {};             ///< the queue's device: "cpu:0"
    std::uint64_t command = 0;           ///< number of the command on its queue, from 1
    std::uint64_t done = 0;              ///< number of commands that the queue has completed

    /// Returns "kernel 'scale' on queue 1 (cpu:0): command 45, 41 completed".
    [[nodiscard]] std::string to_string() const;
};

/// The completion of work on one or several queues, or on the host. A cheap value; a default-constructed
/// event is completed. May outlive its context, whose events are all completed once it is destroyed.
/// Thread-safe.
///
///     Event done = scale(buf, 2.0f);
///     done.wait();
class VOLLEY_API Event {
public:
    Event() noexcept = default;

    /// Blocks until the work has completed; meanwhile this thread may execute pending CPU work up to the
    /// event. Rethrows, once, the error of this or earlier work on the same queues. Throws ArgumentError for
    /// the event of a recorded command; wait for the event that submit() returns instead.
    void wait() const;
    /// Returns whether the work has completed. Never blocks.
    [[nodiscard]] bool ready() const noexcept;
    /// Waits like wait(), but returns false after the timeout; pending() then reports the missing work.
    /// Returns within a few milliseconds of the timeout, whatever runs: this thread executes only work that
    /// is known to be short.
    template <class Rep, class Period>
    [[nodiscard]] bool wait_for(std::chrono::duration<Rep, Period> timeout) const {
        // A timeout beyond the clock's range never expires; a negative one expires at once.
        constexpr auto longest = std::chrono::nanoseconds::max();
        const std::chrono::duration<double, std::nano> requested = timeout;
        if (requested >= longest) return wait_nanoseconds(longest.count());
        if (!(requested > requested.zero())) return wait_nanoseconds(0);
        return wait_nanoseconds(std::chrono::duration_cast<std::chrono::nanoseconds>(timeout).count());
    }
    /// Schedules a host function to run after the work has completed, even if the work failed. Does not
    /// block. The function runs on a thread of the library with the event's context as the current one, and
    /// delays no queue. The returned event completes when the function returns, and rethrows its exception.
    /// The function may wait for other events, but not for its own. After a signal's event, the thread that
    /// raises the signal calls the function; for a default-constructed event, the calling thread does.
    Event then(std::function<void()> function) const;

    /// Returns the pending work: one entry per queue that has not completed its part, or one for the host.
    /// For an event of then() whose function has not been called, returns what that function waits for. Empty
    /// if ready() is true. A snapshot; never blocks.
    ///
    ///     if (!done.wait_for(2s)) throw std::runtime_error("no result: " + done.to_string());
    [[nodiscard]] std::vector<PendingWork> pending() const;
    /// Returns pending() as text: "done", or "waits for ...".
    [[nodiscard]] std::string to_string() const;

private:
    friend class runtime::ContextCore;
    friend class runtime::EventTimes;
    friend class runtime::EventWatcher;
    friend class runtime::GraphProgram;
    friend class Queue;
    friend class Signal;
    struct Part {
        unsigned queue = 0;
        std::uint64_t point = 0;
    };
    /// A list that does not allocate for up to four queues.
    class Parts {
    public:
        void add(const Part& part) {
            if (count_ < few_.size()) {
                few_[count_++] = part;
                return;
            }
            if (many_.empty()) many_.assign(few_.begin(), few_.end());
            many_.push_back(part);
        }
        [[nodiscard]] std::span<const Part> all() const noexcept {
            return many_.empty() ? std::span(few_.data(), count_) : std::span(many_);
        }

    private:
        std::array<Part, 4> few_{};
        std::size_t count_ = 0;
        std::vector<Part> many_;  // all parts, if they do not fit into few_
    };
    [[nodiscard]] bool wait_nanoseconds(std::int64_t timeout) const;
    [[nodiscard]] bool has_parts() const noexcept { return !parts_.all().empty(); }
    void check_submitted() const;
    [[nodiscard]] std::vector<PendingWork> pending_parts() const;
    /// Waits like wait_for(), but leaves errors for a later wait.
    [[nodiscard]] bool passes_within(std::chrono::nanoseconds time) const;

    std::shared_ptr<runtime::ContextCore> core_;
    Parts parts_;
    std::shared_ptr<runtime::HostPoint> host_;  // completion of host work
    bool recorded_ = false;                     // the event of a recorded command, which cannot be waited for
    std::string_view work_;                     // the kind of work; refers to static text
    const runtime::CachedKernel* kernel_ = nullptr;     // of a launch; it exists while the work is pending
    std::shared_ptr<const runtime::EventTimes> times_;  // set if the work is timed (timing.hpp)
};

}  // namespace volley
