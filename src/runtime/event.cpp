// The public Event, Queue and Signal classes.
#include "core/fail.hpp"
#include "core/text.hpp"
#include "runtime/command_times.hpp"
#include "runtime/context_core.hpp"
#include "runtime/host_function.hpp"
#include "runtime/host_point.hpp"
#include "runtime/process_end.hpp"
#include "runtime/program_cache.hpp"
#include "runtime/recording.hpp"

#include <volley/event.hpp>
#include <volley/log.hpp>
#include <volley/queue.hpp>
#include <volley/signal.hpp>

#include <algorithm>
#include <exception>
#include <optional>

namespace volley {

// A closed context has no pending work, so its events count as completed.

void Event::check_submitted() const {
    if (!recorded_) return;
    fail(ErrorCode::InvalidArgument, "an event of a recorded command cannot be waited for", "a command graph",
         "wait for the event returned by submit()");
}

void Event::wait() const {
    check_submitted();
    std::optional<runtime::TimedHost> timed;
    if (core_) timed.emplace(*core_);
    if (host_) runtime::EventWatcher::wait(*host_);
    if (!has_parts()) return;
    const runtime::ContextCore::Visit visit(*core_);
    if (!visit) return core_->check_process("an event");
    // Waits for all parts before throwing: on an error, the caller may free memory that the others still use.
    std::exception_ptr first;
    for (const Part& part : parts_.all()) {
        try {
            core_->queue(part.queue).timeline().wait(part.point);
        } catch (...) {
            if (!first) first = std::current_exception();
        }
    }
    core_->collect();
    runtime::ProcessEnd::refresh();
    if (first) std::rethrow_exception(first);
}

bool Event::ready() const noexcept {
    if (recorded_ || (host_ && host_->completed() == 0)) return false;
    if (!has_parts()) return true;
    const runtime::ContextCore::Visit visit(*core_);
    return !visit || std::ranges::all_of(parts_.all(), [this](const Part& part) {
        return core_->passed({part.queue, part.point});
    });
}

bool Event::passes_within(std::chrono::nanoseconds time) const {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    const auto left = [&] { return std::max<std::chrono::nanoseconds>(time - (Clock::now() - start), {}); };
    if (host_ && !host_->wait_for(1, left())) return false;
    if (!has_parts()) return true;
    const runtime::ContextCore::Visit visit(*core_);
    return !visit || std::ranges::all_of(parts_.all(), [&](const Part& part) {
        return core_->queue(part.queue).timeline().wait_for(part.point, left());
    });
}

bool Event::wait_nanoseconds(std::int64_t timeout) const {
    check_submitted();
    std::optional<runtime::TimedHost> timed;
    if (core_) timed.emplace(*core_);
    if (!passes_within(std::chrono::nanoseconds(timeout))) {
        if (log_enabled(LogLevel::Debug))
            log_message(LogLevel::Debug,
                        cat("a wait timed out after ", timeout / 1000, " us; the event ", to_string()));
        return false;
    }
    wait();  // returns at once; throws pending errors
    return true;
}

std::vector<PendingWork> Event::pending() const {
    if (recorded_) return {{"recorded command; each submit() returns its own event"}};
    // If a then() function has not been called yet, reports what it waits for.
    Event last = *this;
    std::string_view hosts = work_;
    while (last.host_ && last.core_) {
        std::optional<Event> awaited = last.core_->watcher().awaited(*last.host_);
        if (!awaited) break;
        hosts = last.work_;
        last = std::move(*awaited);
    }
    if (last.host_) hosts = last.work_;
    std::vector<PendingWork> found = last.pending_parts();
    // The function is running, or about to run.
    if (found.empty() && host_ && host_->completed() == 0) found.push_back({std::string(hosts)});
    return found;
}

std::vector<PendingWork> Event::pending_parts() const {
    std::vector<PendingWork> found;
    if (!has_parts()) return found;
    const runtime::ContextCore::Visit visit(*core_);
    if (!visit) return found;
    for (const Part& part : parts_.all()) {
        const backends::Point done = core_->queue(part.queue).timeline().completed();
        if (part.point <= done) continue;
        std::string what(work_);
        if (kernel_ != nullptr) {
            const auto name = core_->programs().name_of_pending(kernel_, {part.queue, part.point});
            if (!name) continue;  // completed meanwhile
            what = cat("kernel '", *name, "'");
        }
        found.push_back(
            {std::move(what), part.queue, core_->info(core_->device_of(part.queue)).id(), part.point, done});
    }
    return found;
}

std::string PendingWork::to_string() const {
    if (!queue) return what;
    return cat(what, " on queue ", *queue, " (", device, "): command ", command, ", ", done, " completed");
}

std::string Event::to_string() const {
    std::string text;
    for (const PendingWork& work : pending())
        text += cat(text.empty() ? "waits for " : "; ", work.to_string());
    return text.empty() ? "done" : text;
}

Event Event::then(std::function<void()> function) const {
    check_submitted();
    if (!function)
        fail(ErrorCode::InvalidArgument, "the function is empty", "Event::then", "pass a callable");
    Event after;
    after.core_ = core_;  // its watcher thread calls the functions of a further then()
    after.host_ = std::make_shared<runtime::HostPoint>();
    after.work_ = host_ && !core_ ? "then() function after a signal" : "then() function";
    if (core_ && core_->is_open() &&
        core_->watcher().add(*this, runtime::HostFunction(core_, function), after.host_))
        return after;
    // There is no context, or it is closing: the function runs without the watcher thread.
    runtime::EventWatcher::Watched call{{}, std::move(function), after.host_};
    if (!host_) {
        static_cast<void>(passes_within(std::chrono::nanoseconds::max()));
        call.run();
    } else {
        host_->follow([call = std::move(call)]() mutable { call.run(); });
    }
    return after;
}

void Queue::depends_on(const Event& event) const {
    event.check_submitted();
    runtime::refuse_while_tracing("depends_on() was called", "Queue::depends_on");
    runtime::Recorder::refuse("depends_on() was called", "Queue::depends_on",
                              "call it before submit(), or wait in a host_call()");
    const runtime::ContextCore::Visit visit(*core_, "a queue");
    if (event.host_) {
        if (!event.core_) core_->awaits(event.host_);
        core_->order().after(index_, *event.host_, 1);
        core_->retire({index_, core_->queue(index_).last()}, event.host_);
    }
    if (!event.has_parts()) return;
    if (event.core_ != core_) {
        // The other context may be destroyed first, so the queue waits for a host function after the event.
        Queue(*this).depends_on(event.then([] {}));
        return;
    }
    for (const Event::Part& part : event.parts_.all()) core_->order().after(index_, {part.queue, part.point});
}

void Queue::wait() const {
    const runtime::ContextCore::Visit visit(*core_, "a queue");
    const runtime::TimedHost timed(*core_);
    backends::Queue& queue = core_->queue(index_);
    queue.timeline().wait(queue.last());
    core_->collect();
}

const DeviceInfo& Queue::device() const {
    core_->check_open("a queue");
    return core_->info(core_->device_of(index_));
}

struct Signal::Flag {
    const std::shared_ptr<runtime::HostPoint> point = std::make_shared<runtime::HostPoint>();
    Flag() = default;
    ~Flag() {
        if (point->completed() != 0) return;
        try {
            fail(ErrorCode::InvalidArgument, "a signal was destroyed before it was raised", "a Signal",
                 "keep one of its handles until raise() has been called");
        } catch (...) {
            point->pass(std::current_exception());
        }
    }
    Flag(const Flag&) = delete;
    Flag& operator=(const Flag&) = delete;
};

Signal::Signal() : flag_(std::make_shared<Flag>()) {}

void Signal::raise() noexcept { flag_->point->pass(); }

bool Signal::is_raised() const noexcept { return flag_->point->completed() != 0; }

void Signal::wait() const { runtime::EventWatcher::wait(*flag_->point); }

Event Signal::event() const {
    Event event;
    event.host_ = flag_->point;
    event.work_ = "signal";
    return event;
}

}  // namespace volley
