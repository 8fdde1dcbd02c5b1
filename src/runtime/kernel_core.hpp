// The state shared by copies of a Kernel: the lambda until it is traced, the IR afterwards, and the compiled
// kernel of each context.
#pragma once

#include "runtime/context_core.hpp"
#include "runtime/program_cache.hpp"

#include <volley/kernel.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace volley::runtime {

class KernelCore : public std::enable_shared_from_this<KernelCore> {
public:
    KernelCore(std::string_view name, const KernelOptions& options, std::unique_ptr<detail::KernelBody> body);

    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    /// Returns the traced kernel; the first call traces it. Throws TraceError or IrError, after which the
    /// next call tries again.
    [[nodiscard]] lang::TracedKernel traced();
    /// Returns the kernel of a context. Costs a load and a comparison for the context of the last call,
    /// milliseconds for a new context.
    [[nodiscard]] CachedKernel& in(ContextCore& core) {
        const Entry* last = last_.load(std::memory_order_acquire);
        return last != nullptr && last->context == core.id() ? *last->kernel : find(core);
    }

private:
    struct Entry {
        ContextId context;
        CachedKernel* kernel;  // owned by the context; dangling once that is closed
    };
    CachedKernel& find(ContextCore& core);

    std::string name_;
    KernelOptions options_;
    std::atomic<const Entry*> last_{nullptr};
    std::mutex mutex_;
    std::unique_ptr<detail::KernelBody> body_;  // null once traced_ is set
    std::optional<lang::TracedKernel> traced_;
    std::vector<std::unique_ptr<Entry>> entries_;
};

}  // namespace volley::runtime
