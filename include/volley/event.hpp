// A promise that some work will be done: what launches and submissions give back.
#pragma once

#include <volley/api.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

namespace volley {

namespace runtime {
class ContextCore;
}

/// Work on one or several queues. A cheap value; the default one is done. Outlives its context: when that is
/// gone, all its work is done. Thread-safe.
///
///     Event done = scale(buf, 2.0f);
///     done.wait();
class VOLLEY_API Event {
public:
    Event() noexcept = default;

    /// Blocks until the work is done; this thread helps where it can. Rethrows the error of work that failed
    /// on the same queue before or with it, once.
    void wait() const;
    /// Whether the work is done. Never blocks.
    [[nodiscard]] bool ready() const noexcept;
    /// As wait, but gives up: false when the time ran out.
    template <class Rep, class Period>
    [[nodiscard]] bool wait_for(std::chrono::duration<Rep, Period> timeout) const {
        return wait_nanoseconds(std::chrono::duration_cast<std::chrono::nanoseconds>(timeout).count());
    }

private:
    friend class runtime::ContextCore;
    struct Part {
        unsigned queue = 0;
        std::uint64_t point = 0;
    };
    [[nodiscard]] bool wait_nanoseconds(std::int64_t timeout) const;

    std::shared_ptr<runtime::ContextCore> core_;
    Part part_;               // the common case: one queue, no allocation
    std::vector<Part> more_;  // the others
};

}  // namespace volley
