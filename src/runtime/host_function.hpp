// A user function that the library calls on one of its own threads, with the context of the function as the
// current one.
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

    /// Returns whether the calling thread is running a host function of that context.
    [[nodiscard]] static bool runs_for(const ContextCore& core) noexcept;

private:
    std::shared_ptr<ContextCore> core_;
    std::function<void()> function_;
};

}  // namespace volley::runtime
