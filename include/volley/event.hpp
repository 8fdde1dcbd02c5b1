// A promise that some work will be done: what launches and submissions give back.
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

/// Something that an event still waits for: a command of a queue's, or the host.
struct VOLLEY_API PendingWork {
    /// "kernel 'scale'", "copy", "command graph", "host call" and so on; of the host's own: "signal", or
    /// "function of then()", which is running.
    std::string what;
    std::optional<unsigned> queue = {};  ///< its number in its context; none: the host is waited for
    std::string device = {};             ///< the queue's: "cpu:0"
    std::uint64_t command = 0;           ///< a queue counts its commands, from 1,
    std::uint64_t done = 0;              ///<   and has done so many of them

    /// "kernel 'scale' on queue 1 (cpu:0), its command 45 of which 41 are done"
    [[nodiscard]] std::string to_string() const;
};

/// Work on one or several queues. A cheap value; the default one is done. Outlives its context: when that is
/// gone, all its work is done. Thread-safe.
///
///     Event done = scale(buf, 2.0f);
///     done.wait();
class VOLLEY_API Event {
public:
    Event() noexcept = default;

    /// Blocks until the work is done; this thread helps where it can. Rethrows the error of work that failed
    /// on the same queue before or with it, once. Throws ArgumentError for the event of a recorded command:
    /// what submit() gives is the one to wait for.
    void wait() const;
    /// Whether the work is done. Never blocks.
    [[nodiscard]] bool ready() const noexcept;
    /// As wait, but gives up: false when the time ran out. pending() tells what it was waiting for then. A
    /// thread that helps ends the piece of a kernel that it has begun, and may be late by that.
    template <class Rep, class Period>
    [[nodiscard]] bool wait_for(std::chrono::duration<Rep, Period> timeout) const {
        // Longer than the clock can count is forever, and less than nothing is no time at all.
        constexpr auto longest = std::chrono::nanoseconds::max();
        const std::chrono::duration<double, std::nano> wanted = timeout;
        if (wanted >= longest) return wait_nanoseconds(longest.count());
        if (!(wanted > wanted.zero())) return wait_nanoseconds(0);
        return wait_nanoseconds(std::chrono::duration_cast<std::chrono::nanoseconds>(timeout).count());
    }
    /// Calls a function of the host's when the work is done, whether it failed or not, and returns at once:
    /// on a thread of the library's, in the way of no queue, with the event's context as the current one. The
    /// event that it gives is done when the function has returned, and has its exception. A function may wait
    /// for other events, but not for its own. Of a signal's event, the thread that raises it calls the
    /// function; where there is nothing to wait for and no context (a default event), this one does.
    Event then(std::function<void()> function) const;

    /// What is not done: an entry for each queue that has not come to its end of the work, or for the host.
    /// Of an event of then() whose function was not called yet, what that follows. Empty where ready() is
    /// true. A snapshot: never blocks, and costs nothing where it is not called.
    ///
    ///     if (!done.wait_for(2s)) throw std::runtime_error("no result: " + done.to_string());
    [[nodiscard]] std::vector<PendingWork> pending() const;
    /// The same in words: "done", or "waits for ...".
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
    /// A list that allocates nothing for a few queues.
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
        std::vector<Part> many_;  // all of them, where they are more
    };
    [[nodiscard]] bool wait_nanoseconds(std::int64_t timeout) const;
    [[nodiscard]] bool has_parts() const noexcept { return !parts_.all().empty(); }
    void check_given() const;
    [[nodiscard]] std::vector<PendingWork> pending_parts() const;
    /// As wait_for, but leaves errors for those who wait.
    [[nodiscard]] bool passes_within(std::chrono::nanoseconds time) const;

    std::shared_ptr<runtime::ContextCore> core_;
    Parts parts_;
    std::shared_ptr<runtime::HostPoint> host_;  // work of the host's own
    bool recorded_ = false;  // of a command inside of record(): there is nothing to wait for
    std::string_view work_;  // what it is the end of, in words that stay
    const runtime::CachedKernel* kernel_ = nullptr;     //   or a kernel of the context's
    std::shared_ptr<const runtime::EventTimes> times_;  // where they are taken: timing.hpp
};

}  // namespace volley
