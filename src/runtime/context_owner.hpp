// What the values of one Context share.
#pragma once

#include "runtime/context_core.hpp"

#include <volley/context.hpp>

#include <atomic>
#include <memory>
#include <utility>

namespace volley::runtime {

/// Shared by the Context values; its destructor closes the core.
class ContextOwner : public std::enable_shared_from_this<ContextOwner> {
public:
    explicit ContextOwner(std::shared_ptr<ContextCore> core) : core_(std::move(core)) {
        core_->owner_.store(this, std::memory_order_release);
    }
    ~ContextOwner();
    /// Closes the core: now, or after the host function or the call that this thread is running.
    void close() noexcept;
    ContextOwner(const ContextOwner&) = delete;
    ContextOwner& operator=(const ContextOwner&) = delete;

    [[nodiscard]] ContextCore& core() const noexcept { return *core_; }
    [[nodiscard]] const std::shared_ptr<ContextCore>& shared_core() const noexcept { return core_; }
    /// Throws WrongContext if it is being destroyed.
    [[nodiscard]] Context handle();
    [[nodiscard]] static const std::shared_ptr<ContextCore>& core_of(const Context& context) noexcept {
        return context.owner_->core_;
    }

private:
    std::shared_ptr<ContextCore> core_;
};

}  // namespace volley::runtime
