// Queue: an in-order stream of commands for one device.
#pragma once

#include <volley/api.hpp>
#include <volley/device.hpp>
#include <volley/event.hpp>

#include <memory>

namespace volley {

namespace runtime {
class ContextCore;
}

/// A queue of a context. A cheap value that does not keep the context open. Queues are numbered across the
/// context: those of the first device, then those of the second, and so on. Thread-safe. After the context is
/// destroyed, all functions except index() throw LaunchError (WrongContext).
class VOLLEY_API Queue {
public:
    /// Returns the queue's number in its context.
    [[nodiscard]] unsigned index() const noexcept { return index_; }
    /// Blocks until all work submitted to the queue so far has completed. Rethrows its first error, once.
    void wait() const;
    /// Makes all work submitted to this queue from now on start after the event, which may belong to another
    /// queue, another context, a signal or a then() function. Does not block. The device waits if it can wait
    /// for the other queue; otherwise the host does. Throws ArgumentError for the event of a recorded
    /// command, and while recording.
    void depends_on(const Event& event) const;
    /// Returns the queue's device.
    [[nodiscard]] const DeviceInfo& device() const;

    friend bool operator==(const Queue&, const Queue&) noexcept = default;

private:
    friend class runtime::ContextCore;
    Queue(std::shared_ptr<runtime::ContextCore> core, unsigned index)
        : core_(std::move(core)), index_(index) {}

    std::shared_ptr<runtime::ContextCore> core_;
    unsigned index_ = 0;
};

/// Returns queue k of the current context. Throws ArgumentError (IndexError) if it does not exist.
[[nodiscard]] VOLLEY_API Queue queue(unsigned k);

}  // namespace volley
