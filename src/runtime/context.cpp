// The public context handles, the default context, and the current context of each thread.
#include "core/fail.hpp"
#include "runtime/context_core.hpp"
#include "runtime/context_owner.hpp"
#include "runtime/host_function.hpp"

#include <volley/context.hpp>

#include <atomic>
#include <mutex>
#include <utility>

namespace volley {
namespace runtime {
namespace {

// Plain pointers, so that the hot path runs no initialisation guards. The scopes and DefaultHolder own the
// objects.
constinit thread_local ContextOwner* current_owner = nullptr;
constinit std::atomic<ContextOwner*> default_owner{nullptr};

/// Closes the default context at process exit. Constructed after the drivers, so destroyed before them.
struct DefaultHolder {
    std::shared_ptr<ContextOwner> owner;
    DefaultHolder() : owner(std::make_shared<ContextOwner>(std::make_shared<ContextCore>(ContextOptions{}))) {
        default_owner.store(owner.get(), std::memory_order_release);
    }
    ~DefaultHolder() { default_owner.store(nullptr, std::memory_order_release); }
    DefaultHolder(const DefaultHolder&) = delete;
    DefaultHolder& operator=(const DefaultHolder&) = delete;
};

ContextOwner& make_default() {
    static DefaultHolder holder;  // if the constructor throws, the next call tries again
    ContextOwner* owner = default_owner.load(std::memory_order_acquire);
    if (owner == nullptr) {
        fail(ErrorCode::WrongContext, "the default context was already destroyed", "process exit",
             "finish all work before the destructors of static objects run");
    }
    return *owner;
}

ContextOwner& current() {
    if (current_owner != nullptr) return *current_owner;
    if (ContextOwner* owner = default_owner.load(std::memory_order_acquire)) return *owner;
    return make_default();
}

}  // namespace

const std::shared_ptr<ContextCore>& current_core() { return current().shared_core(); }

// ---- destruction ----

ContextOwner::~ContextOwner() {
    if (current_owner == this) current_owner = nullptr;  // a host function released its own context
    if (HostFunction::runs_for(*core_)) {
        // This thread is running work of the context and cannot wait for it; the watcher thread closes it.
        core_->owner_.store(nullptr, std::memory_order_release);
        const auto close = [core = core_] { core->close(); };
        if (core_->watcher().add(Event(), close, std::make_shared<HostPoint>())) return;
    }
    core_->close();
    core_->owner_.store(nullptr, std::memory_order_release);
}

Context ContextOwner::handle() {
    if (std::shared_ptr<ContextOwner> owner = weak_from_this().lock()) return Context(std::move(owner));
    ContextCore::fail_closed("the current context");
}

// ---- host functions ----

namespace {
constinit thread_local const ContextCore* running_for = nullptr;
}

bool HostFunction::runs_for(const ContextCore& core) noexcept { return running_for == &core; }

void HostFunction::operator()() const {
    // The owner waits for all work of its context, including this function, before it is destroyed.
    struct Scope {
        explicit Scope(ContextCore& core, ContextOwner* owner)
            : former_core(std::exchange(running_for, &core)),
              former_owner(std::exchange(current_owner, owner)) {}
        ~Scope() {
            running_for = former_core;
            current_owner = former_owner;
        }
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;
        const ContextCore* former_core;
        ContextOwner* former_owner;
    };
    const Scope scope(*core_, core_->owner_.load(std::memory_order_acquire));
    function_();
}

}  // namespace runtime

using runtime::ContextOwner;

ContextScope::ContextScope(std::shared_ptr<ContextOwner> owner) noexcept
    : owner_(std::move(owner)), former_(runtime::current_owner) {
    runtime::current_owner = owner_.get();
}

ContextScope::~ContextScope() { runtime::current_owner = former_; }

ContextScope Context::use() const { return ContextScope(owner_); }

std::vector<DeviceInfo> Context::devices() const {
    std::vector<DeviceInfo> infos;
    for (unsigned i = 0; i < owner_->core().device_count(); ++i) infos.push_back(owner_->core().info(i));
    return infos;
}

unsigned Context::queue_count() const noexcept { return owner_->core().queue_count(); }

Queue Context::queue(unsigned k) const { return owner_->core().make_queue(k); }

void Context::wait() const { owner_->core().wait(); }

void Context::wait(unsigned device) const { owner_->core().wait(device); }

MemoryStats Context::memory_stats() const { return owner_->core().memory_stats(); }

Statistics Context::statistics() const {
    return {owner_->core().memory_stats(), owner_->core().transfers().snapshot()};
}

void Context::trim() const { owner_->core().trim(); }

ContextId Context::id() const noexcept { return owner_->core().id(); }

Context make_context(const ContextOptions& options) {
    return std::make_shared<ContextOwner>(std::make_shared<runtime::ContextCore>(options))->handle();
}

Context current_context() { return runtime::current().handle(); }

Queue queue(unsigned k) { return runtime::current_core()->make_queue(k); }

void wait() { runtime::current_core()->wait(); }

MemoryStats memory_stats() { return runtime::current_core()->memory_stats(); }

void trim() { runtime::current_core()->trim(); }

}  // namespace volley
