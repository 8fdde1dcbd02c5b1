// A function of the user's that the library calls on a thread of its own: its context is the current one
// there, as it was where the function was given.
#pragma once

#include <functional>
#include <memory>
#include <utility>

namespace volley::runtime {

class ContextCore;

class HostFunction {
public:
    HostFunction(std::shared_ptr<ContextCore> core, std::function<void()> function)
        : core_(std::move(core)), function_(std::move(function)) {}
    void operator()() const;

    /// Whether this thread is inside of one of that context's.
    [[nodiscard]] static bool runs_for(const ContextCore& core) noexcept;

private:
    std::shared_ptr<ContextCore> core_;
    std::function<void()> function_;
};

}  // namespace volley::runtime
