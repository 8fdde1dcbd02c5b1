// Times at which commands ran, reported by queues on request. Commands without a request are not timed and
// pay nothing for it.
//
// To request times, hold a TimesScope around the call that submits a command; the queue captures the current
// tag at submission. All times are nanoseconds of std::chrono::steady_clock.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>

namespace volley::backends {

/// Returns the current time of the clock that all times are reported on.
[[nodiscard]] inline std::int64_t steady_now() noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// Receives the times of commands.
class CommandTimes {
public:
    CommandTimes() = default;
    virtual ~CommandTimes() = default;
    CommandTimes(const CommandTimes&) = delete;
    CommandTimes& operator=(const CommandTimes&) = delete;

    /// Reports that a command, or a part of one, ran. Called once or several times per command, from any
    /// thread, before the command's point passes. `index` is 0, or the position of a command in a batch:
    /// instance * commands + command.
    virtual void ran(std::uint32_t index, std::int64_t begin, std::int64_t end) noexcept = 0;
};

/// The receiver of one command's times, or empty if no times are requested.
struct TimesTag {
    std::shared_ptr<CommandTimes> times;
    std::uint32_t index = 0;

    [[nodiscard]] explicit operator bool() const noexcept { return times != nullptr; }
    void ran(std::int64_t begin, std::int64_t end) const noexcept { times->ran(index, begin, end); }
};

/// Applies a tag to all commands that this thread submits during its lifetime.
class TimesScope {
public:
    explicit TimesScope(TimesTag tag) noexcept : tag_(std::move(tag)), outer_(thread_tag) {
        thread_tag = &tag_;
        live_scopes.fetch_add(1, std::memory_order_relaxed);
    }
    ~TimesScope() {
        live_scopes.fetch_sub(1, std::memory_order_relaxed);
        thread_tag = outer_;
    }
    TimesScope(const TimesScope&) = delete;
    TimesScope& operator=(const TimesScope&) = delete;

    /// Returns whether times are requested for the command being submitted. Costs one relaxed load if no
    /// thread has a scope; a thread always sees its own scope.
    [[nodiscard]] static bool requested() noexcept {
        return live_scopes.load(std::memory_order_relaxed) != 0 && is_requested_here();
    }
    /// Returns the current tag, which is empty if no times are requested.
    [[nodiscard]] static TimesTag tag() { return requested() ? *thread_tag : TimesTag{}; }

private:
    [[nodiscard]] static bool is_requested_here() noexcept;

    static std::atomic<std::uint32_t> live_scopes;  // over all threads: cheaper to read than a thread-local
    static constinit thread_local const TimesTag* thread_tag;
    TimesTag tag_;
    const TimesTag* outer_;
};

/// Keeps the reported times of an in-order queue monotonic when they come from two clocks, one of them
/// translated.
class TimeOrder {
public:
    /// Reports a command. By default it ran after all commands reported so far; with `overlaps`, it may
    /// overlap those reported since the last one that did not.
    void report(const TimesTag& tag, std::int64_t begin, std::int64_t end, bool overlaps = false) noexcept;

private:
    std::mutex mutex_;
    std::int64_t floor_ = 0;  // lower bound of all begin times
    std::int64_t end_ = 0;    // end of the last reported command
};

/// Times work that the calling thread does itself, from construction to the end of the scope, on behalf of
/// the command being submitted.
class TimedHere {
public:
    explicit TimedHere(TimeOrder* order = nullptr) noexcept : TimedHere(TimesScope::requested(), order) {}
    ~TimedHere() {
        if (tag_) report();
    }
    TimedHere(const TimedHere&) = delete;
    TimedHere& operator=(const TimedHere&) = delete;

private:
    TimedHere(bool requested, TimeOrder* order) noexcept : order_(order) {
        if (!requested) return;
        tag_ = TimesScope::tag();
        begin_ = steady_now();
    }
    void report() const noexcept;

    TimesTag tag_;
    TimeOrder* order_;
    std::int64_t begin_ = 0;
};

}  // namespace volley::backends
