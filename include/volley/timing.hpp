// Timing of a part of a program: call mark() before and after it, and elapsed() with the two events.
#pragma once

#include <volley/api.hpp>
#include <volley/event.hpp>
#include <volley/queue.hpp>

#include <chrono>

namespace volley {

/// Returns an event with the time at which all work submitted before is done, on all queues of the current
/// context or on one queue. Does not block. Costs about as much as a small launch. The time comes from the
/// clock of the device if it has one. Throws ArgumentError while a graph is recorded: call it before and
/// after submit() instead, or use profile(), which times the commands of graphs.
///
///     Event start = mark();
///     step(field);
///     double ms = elapsed_seconds(start, mark()) * 1e3;
VOLLEY_API Event mark();
VOLLEY_API Event mark(const Queue& queue);

/// Returns the time from the completion of `from` to the completion of `to`, negative if `to` completed
/// first. An event of several queues completes with the last of them. Blocks until both are done and rethrows
/// errors as Event::wait does. Times are converted to the steady clock of the host: they are exact between
/// queues of one device, and within some tens of microseconds otherwise.
///
/// Throws ArgumentError for events without a time. Events of mark() have one. If ContextOptions::timestamps
/// is set, all events have one except those of then() and of work without commands (an empty graph, a launch
/// of size zero).
[[nodiscard]] VOLLEY_API std::chrono::nanoseconds elapsed(const Event& from, const Event& to);

/// Returns elapsed() in seconds.
[[nodiscard]] inline double elapsed_seconds(const Event& from, const Event& to) {
    return std::chrono::duration<double>(elapsed(from, to)).count();
}

}  // namespace volley
