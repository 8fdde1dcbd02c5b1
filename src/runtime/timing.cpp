// mark(), and elapsed() time between events.
#include "core/fail.hpp"
#include "runtime/command_times.hpp"
#include "runtime/recording.hpp"

#include <volley/timing.hpp>

namespace volley {

using runtime::ContextCore;
using runtime::TimedCommand;

namespace {

Event mark_queues(ContextCore& core, unsigned first, unsigned end) {
    runtime::refuse_while_tracing("mark() was called", "mark()");
    const ContextCore::Visit visit(core, "mark()");
    runtime::Recorder::refuse("mark() was called", "a command graph",
                              "mark before and after submit(), or profile() the submission");
    Event event;
    for (unsigned k = first; k < end; ++k) core.add_mark(event, k);
    return event;
}

}  // namespace

Event mark() {
    ContextCore& core = *runtime::current_core();
    return mark_queues(core, 0, core.queue_count());
}

Event mark(const Queue& queue) {
    return mark_queues(*ContextCore::core_of(queue), queue.index(), queue.index() + 1);
}

std::chrono::nanoseconds elapsed(const Event& from, const Event& to) {
    from.wait();
    to.wait();
    return std::chrono::nanoseconds(runtime::EventTimes::end_of(to) - runtime::EventTimes::end_of(from));
}

}  // namespace volley
