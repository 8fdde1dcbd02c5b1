// When commands ran, told by queues to whoever wants to know. Nobody asks of most commands: then queues take
// no times and their commands are as they would be without all of this.
//
// Whoever gives a command says whom to tell by a TimesScope around the call; the queue keeps what is current
// when the command is given. All times are nanoseconds of the host's steady clock.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>

namespace volley::backends {

/// Of the clock that all times are told on.
[[nodiscard]] inline std::int64_t steady_now() noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// Who is told.
class CommandTimes {
public:
    CommandTimes() = default;
    virtual ~CommandTimes() = default;
    CommandTimes(const CommandTimes&) = delete;
    CommandTimes& operator=(const CommandTimes&) = delete;

    /// A command ran, or a part of it did: it is told once or several times, by any thread, before the
    /// command's point passes. `index` is 0, or the place of a batch's command: instance * commands +
    /// command.
    virtual void ran(std::uint32_t index, std::int64_t begin, std::int64_t end) noexcept = 0;
};

/// Whom to tell about one command; nobody, if it is empty.
struct TimesTag {
    std::shared_ptr<CommandTimes> times;
    std::uint32_t index = 0;

    [[nodiscard]] explicit operator bool() const noexcept { return times != nullptr; }
    void ran(std::int64_t begin, std::int64_t end) const noexcept { times->ran(index, begin, end); }
};

/// The commands that this thread gives while it lives are those of the tag.
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

    /// Whether somebody wants to know about the command that is being given. One relaxed load where no thread
    /// has a scope: its own it always sees.
    [[nodiscard]] static bool wanted() noexcept {
        return live_scopes.load(std::memory_order_relaxed) != 0 && is_wanted_here();
    }
    /// Whom that is for.
    [[nodiscard]] static TimesTag tag() { return wanted() ? *thread_tag : TimesTag{}; }

private:
    [[nodiscard]] static bool is_wanted_here() noexcept;

    static std::atomic<std::uint32_t>
        live_scopes;  // of all threads: cheaper to look at than what is a thread's own
    static constinit thread_local const TimesTag* thread_tag;
    TimesTag tag_;
    const TimesTag* outer_;
};

/// Keeps the times of one in-order queue in order, where they come of two clocks of which one was translated.
class TimeOrder {
public:
    /// Tells of a command that followed all that was told before, or `overlaps` what was told since the last
    /// that did not.
    void tell(const TimesTag& tag, std::int64_t begin, std::int64_t end, bool overlaps = false) noexcept;

private:
    std::mutex mutex_;
    std::int64_t floor_ = 0;  // nothing begins before it
    std::int64_t end_ = 0;    // of all that was told
};

/// Times what the calling thread does itself, from here to the end of the scope, for the command that is
/// being given.
class TimedHere {
public:
    explicit TimedHere(TimeOrder* order = nullptr) noexcept : TimedHere(TimesScope::wanted(), order) {}
    ~TimedHere() {
        if (tag_) tell();
    }
    TimedHere(const TimedHere&) = delete;
    TimedHere& operator=(const TimedHere&) = delete;

private:
    TimedHere(bool wanted, TimeOrder* order) noexcept : order_(order) {
        if (!wanted) return;
        tag_ = TimesScope::tag();
        begin_ = steady_now();
    }
    void tell() const noexcept;

    TimesTag tag_;
    TimeOrder* order_;
    std::int64_t begin_ = 0;
};

}  // namespace volley::backends
