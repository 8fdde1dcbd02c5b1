// A flag that the host raises and that queues and threads wait for.
#pragma once

#include <volley/api.hpp>
#include <volley/event.hpp>

#include <memory>

namespace volley {

/// A handle: copies are the same signal. Raised once, it stays so. Where the last handle ends and nobody has
/// raised it, nobody can any more: what waits for it goes on, and its events have an error. Thread-safe.
///
///     Signal ready;
///     queue(1).depends_on(ready.event());          // later work of that queue waits,
///     host_call([=]() mutable { ready.raise(); });   // for all work that was given before
class VOLLEY_API Signal {
public:
    Signal();
    void raise() noexcept;
    [[nodiscard]] bool is_raised() const noexcept;
    /// Blocks this thread until it is raised.
    void wait() const;
    /// Passes when it is raised: for Queue::depends_on, Event::then, and whoever waits for events.
    [[nodiscard]] Event event() const;

private:
    struct Flag;
    std::shared_ptr<Flag> flag_;
};

}  // namespace volley
