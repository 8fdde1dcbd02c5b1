// The public context handles, the default context, and the current context of each thread.
#include "backends/common/thread.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"
#include "runtime/context_core.hpp"
#include "runtime/context_owner.hpp"
#include "runtime/host_function.hpp"
#include "runtime/process_end.hpp"

#include <volley/context.hpp>
#include <volley/log.hpp>

#include <atomic>
#include <exception>
#include <mutex>
#include <string_view>
#include <system_error>
#include <utility>

namespace volley {
namespace runtime {
namespace {

// Plain pointers, so that the hot path runs no initialisation guards. The scopes and DefaultHolder own the
// objects.
constinit thread_local ContextOwner* current_owner = nullptr;
constinit std::atomic<ContextOwner*> default_owner{nullptr};

/// Closes the default context at process exit. Constructed after the drivers, so destroyed before them. The
/// owner is never destroyed, because other threads may still be using it.
struct DefaultHolder {
    const std::shared_ptr<ContextOwner>& owner;
    DefaultHolder()
        : owner(*new std::shared_ptr<ContextOwner>(
              std::make_shared<ContextOwner>(std::make_shared<ContextCore>(ContextOptions{})))) {
        default_owner.store(owner.get(), std::memory_order_release);
    }
    ~DefaultHolder() {
        ProcessEnd::begin();  // exit() was called by a thread that had never used the library
        owner->close();
        default_owner.store(nullptr, std::memory_order_release);
    }
    DefaultHolder(const DefaultHolder&) = delete;
    DefaultHolder& operator=(const DefaultHolder&) = delete;
};

ContextOwner& make_default() {
    static DefaultHolder holder;  // if the constructor throws, the next call tries again
    ContextOwner* owner = default_owner.load(std::memory_order_acquire);
    if (owner == nullptr) {
        ProcessEnd::hold();
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
    close();
}

void ContextOwner::close() noexcept {
    if (HostFunction::runs_for(*core_) || is_visited_here(*core_)) {
        // This thread is running work of the context, or a deleter that a call on it runs, and cannot wait
        // for itself; the watcher thread closes the context.
        core_->owner_.store(nullptr, std::memory_order_release);
        try {
            const auto close = [core = core_] { core->close(); };
            if (core_->watcher().add(Event(), close, std::make_shared<HostPoint>())) return;
        } catch (const std::exception& error) {
            log_message(LogLevel::Warning,
                        cat("context ", core_->id().value(), " stays open: ", error.what()));
            return ProcessEnd::keep(core_);
        }
    }
    core_->close();
    core_->owner_.store(nullptr, std::memory_order_release);
}

Context ContextOwner::handle() {
    if (std::shared_ptr<ContextOwner> owner = weak_from_this().lock()) return Context(std::move(owner));
    core_->fail_closed("the current context");
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

namespace {

using Visit = runtime::ContextCore::Visit;
constexpr std::string_view a_context = "a context";

void wait_for(runtime::ContextCore& core) {
    const Visit visit(core, a_context);
    core.wait();
}

MemoryStats memory_stats_of(runtime::ContextCore& core) {
    const Visit visit(core, a_context);
    return core.memory_stats();
}

void trim_caches_of(runtime::ContextCore& core) {
    const Visit visit(core, a_context);
    core.trim();
}

}  // namespace

Queue Context::queue(unsigned k) const { return owner_->core().make_queue(k); }

void Context::wait() const { wait_for(owner_->core()); }

void Context::wait(unsigned device) const {
    const Visit visit(owner_->core(), a_context);
    owner_->core().wait(device);
}

MemoryStats Context::memory_stats() const { return memory_stats_of(owner_->core()); }

Statistics Context::statistics() const {
    return {memory_stats_of(owner_->core()), owner_->core().transfers().snapshot()};
}

void Context::trim() const { trim_caches_of(owner_->core()); }

ContextId Context::id() const noexcept { return owner_->core().id(); }

Context make_context(const ContextOptions& options) {
    try {
        return std::make_shared<ContextOwner>(std::make_shared<runtime::ContextCore>(options))->handle();
    } catch (const std::system_error& error) {
        backends::fail_thread("make_context", error);  // a driver started threads
    }
}

Context current_context() { return runtime::current().handle(); }

Queue queue(unsigned k) { return runtime::current_core()->make_queue(k); }

void wait() { wait_for(*runtime::current_core()); }

MemoryStats memory_stats() { return memory_stats_of(*runtime::current_core()); }

void trim() { trim_caches_of(*runtime::current_core()); }

}  // namespace volley
