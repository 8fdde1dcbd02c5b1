// The state shared by copies of a Kernel: the lambda until it is traced, the IR afterwards, and the compiled
// kernel of each context.
#pragma once

#include "core/last_hit_cache.hpp"
#include "runtime/context_core.hpp"
#include "runtime/program_cache.hpp"

#include <volley/kernel.hpp>

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
        CachedKernel* const* hit = kernels_.peek(core.id());
        return hit != nullptr ? **hit : find(core);
    }

    /// Returns the kernel for buffers whose last axis may be strided. in() returns a faster one, for launches
    /// in which the last axis of every buffer that is accessed by position is contiguous.
    [[nodiscard]] CachedKernel& strided_in(ContextCore& core);

private:
    CachedKernel& find(ContextCore& core);

    std::string name_;
    KernelOptions options_;
    std::mutex mutex_;
    std::unique_ptr<detail::KernelBody> body_;  // null once traced_ is set
    std::optional<lang::TracedKernel> traced_;
    // Owned by the contexts; dangling once closed.
    LastHitCache<ContextId, CachedKernel*> kernels_;
    LastHitCache<ContextId, CachedKernel*> strided_;
};

}  // namespace volley::runtime
