// What copies of a Kernel share: its lambda until it is traced, the traced IR from then on, and where each
// context keeps what it has compiled of it.
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
    /// Traces at the first call. Throws TraceError or IrError, and can be tried again then.
    [[nodiscard]] lang::TracedKernel traced();
    /// The kernel in a context: a load and a compare for the context of the last call, milliseconds for a new
    /// one.
    [[nodiscard]] CachedKernel& in(ContextCore& core) {
        const Entry* last = last_.load(std::memory_order_acquire);
        return last != nullptr && last->context == core.id() ? *last->kernel : find(core);
    }

private:
    struct Entry {
        ContextId context;
        CachedKernel* kernel;  // the context's own; dead once that is closed
    };
    CachedKernel& find(ContextCore& core);

    std::string name_;
    KernelOptions options_;
    std::atomic<const Entry*> last_{nullptr};
    std::mutex mutex_;
    std::unique_ptr<detail::KernelBody> body_;  // gone once traced_ is there
    std::optional<lang::TracedKernel> traced_;
    std::vector<std::unique_ptr<Entry>> entries_;
};

}  // namespace volley::runtime
