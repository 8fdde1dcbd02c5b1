// The state shared by copies of a Kernel: its traced IR, and the compiled kernel of each context.
#pragma once

#include "runtime/context_core.hpp"
#include "runtime/program_cache.hpp"

#include <volley/kernel.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace volley::runtime {

/// A kernel in each context that it was launched in. Finds that of the last call without a lock.
class KernelUses {
public:
    /// Returns the kernel if the context is that of the last call of find() or add(), else nullptr: two loads
    /// and a comparison. The context is open.
    [[nodiscard]] CachedKernel* peek(ContextId context) const noexcept {
        const Entry* last = last_.load(std::memory_order_acquire);
        if (last == nullptr || last->context.load(std::memory_order_acquire) != context.value())
            return nullptr;
        return last->kernel.load(std::memory_order_relaxed);
    }
    /// Returns the kernel, or nullptr if the context has none.
    [[nodiscard]] CachedKernel* find(ContextId context);
    /// Adds the kernel of a context, and returns it, or the one that another thread has added meanwhile.
    CachedKernel& add(ContextId context, KernelUse kernel);

private:
    // Entries keep their addresses, because other threads may look at them. Those of closed contexts serve
    // new ones.
    struct Entry {
        std::atomic<std::uint64_t> context{0};
        std::atomic<CachedKernel*> kernel{nullptr};
        KernelUse use;  // guarded by the mutex
    };
    [[nodiscard]] Entry* entry_of(ContextId context) noexcept;

    std::atomic<const Entry*> last_{nullptr};  // points into entries_
    std::mutex mutex_;
    std::vector<std::unique_ptr<Entry>> entries_;
};

class KernelCore : public std::enable_shared_from_this<KernelCore> {
public:
    explicit KernelCore(lang::TracedKernel traced);

    [[nodiscard]] const std::string& name() const noexcept { return traced_.function().name; }
    [[nodiscard]] const lang::TracedKernel& traced() const noexcept { return traced_; }
    /// Returns the kernel of a context. Costs a load and a comparison for the context of the last call,
    /// milliseconds for a new context.
    [[nodiscard]] CachedKernel& in(ContextCore& core) {
        CachedKernel* const hit = kernels_.peek(core.id());
        return hit != nullptr ? *hit : find(core);
    }

    /// Returns the kernel for buffers whose last axis may be strided. in() returns a faster one, for launches
    /// in which the last axis of every buffer that is accessed by position is contiguous.
    [[nodiscard]] CachedKernel& strided_in(ContextCore& core);

private:
    CachedKernel& find(ContextCore& core);

    lang::TracedKernel traced_;
    KernelUses kernels_;
    KernelUses strided_;
};

}  // namespace volley::runtime
