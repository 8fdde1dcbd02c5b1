// Times of places in the order of work: mark() before and after something, elapsed() between the two.
#pragma once

#include <volley/api.hpp>
#include <volley/event.hpp>
#include <volley/queue.hpp>

#include <chrono>

namespace volley {

/// An event that carries a time: when all that was given before, to all queues of the current context or to
/// one queue, is done. Waits for nothing. Costs about as much as a small launch; the time is that of the
/// device's own clock where it has one. Throws ArgumentError inside of a recording: mark before and after
/// submit() instead, or use profile(), which times the commands inside.
///
///     Event start = mark();
///     step(field);
///     double ms = elapsed_seconds(start, mark()) * 1e3;
VOLLEY_API Event mark();
VOLLEY_API Event mark(const Queue& queue);

/// The time from one event to another, negative where `to` came first: between the ends of their work, on
/// queues the last. Waits for both, and rethrows errors as Event::wait does. All times are on the host's
/// steady clock; those of queues of one device can be compared exactly, others up to some tens of
/// microseconds. Throws ArgumentError for events that carry no time: those of mark() do, and in contexts with
/// ContextOptions::timestamps all, but for those of then(), and of what has nothing to do (an empty graph, a
/// launch over nothing).
[[nodiscard]] VOLLEY_API std::chrono::nanoseconds elapsed(const Event& from, const Event& to);

/// The same in seconds.
[[nodiscard]] inline double elapsed_seconds(const Event& from, const Event& to) {
    return std::chrono::duration<double>(elapsed(from, to)).count();
}

}  // namespace volley
