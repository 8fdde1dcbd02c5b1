// A flag that the host raises. Queues and threads can wait for it.
#pragma once

#include <volley/api.hpp>
#include <volley/event.hpp>

#include <memory>

namespace volley {

/// A handle: copies refer to the same signal. A raised signal stays raised. If the last handle is destroyed
/// before the signal is raised, waiting queues and threads continue, and its events report an error.
/// Thread-safe.
///
///     Signal ready;
///     queue(1).depends_on(ready.event());           // later work of queue 1 waits
///     host_call([=]() mutable { ready.raise(); });  // until all work submitted before this is done
class VOLLEY_API Signal {
public:
    Signal();
    /// Raises the signal. Has no effect if it is already raised.
    void raise() noexcept;
    [[nodiscard]] bool is_raised() const noexcept;
    /// Blocks the calling thread until the signal is raised.
    void wait() const;
    /// Returns an event that completes when the signal is raised, for example for Queue::depends_on or
    /// Event::then.
    [[nodiscard]] Event event() const;

private:
    struct Flag;
    std::shared_ptr<Flag> flag_;
};

}  // namespace volley
