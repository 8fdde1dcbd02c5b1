// An in-order stream of work to one device.
#pragma once

#include <volley/api.hpp>
#include <volley/device.hpp>
#include <volley/event.hpp>

#include <memory>

namespace volley {

namespace runtime {
class ContextCore;
}

/// One queue of a context. A cheap value that does not keep the context open. Queues are numbered through the
/// context: all of the first device, then all of the second, and so on.
class VOLLEY_API Queue {
public:
    /// Its number in its context.
    [[nodiscard]] unsigned index() const noexcept { return index_; }
    /// Blocks until all work given to it so far is done. Rethrows the first error of that work, once.
    void wait() const;
    /// Work given to this queue from now on starts after the event: of another queue, another context, a
    /// signal, a function of the host's. Does not wait. On the device where that can wait for the other, else
    /// through the host. Throws ArgumentError for the event of a recorded command, and inside of a recording.
    void depends_on(const Event& event) const;
    /// The device that it feeds. Throws when the context is gone.
    [[nodiscard]] const DeviceInfo& device() const;

    friend bool operator==(const Queue&, const Queue&) noexcept = default;

private:
    friend class runtime::ContextCore;
    Queue(std::shared_ptr<runtime::ContextCore> core, unsigned index)
        : core_(std::move(core)), index_(index) {}

    std::shared_ptr<runtime::ContextCore> core_;
    unsigned index_ = 0;
};

/// Queue k of the current context. Throws ArgumentError (IndexError) when there is none.
[[nodiscard]] VOLLEY_API Queue queue(unsigned k);

}  // namespace volley
