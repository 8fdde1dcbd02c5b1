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

/// The sizes of a launch that can be made.
struct Grid {
    ir::Dim3 global = {1, 1, 1};
    ir::Dim3 local = {1, 1, 1};
    bool empty = false;
};

/// The invocations asked for; local is left open. Throws LaunchError for sizes that no grid has.
struct Wanted {
    ir::Dim3 global = {1, 1, 1};
    ir::Dim3 groups = {0, 0, 0};  // with groups(): the global size follows from the local one
    std::optional<ir::Dim3> local;
    bool by_groups = false;
    bool empty = false;
};
[[nodiscard]] Wanted check_sizes(const KernelCore& kernel, const ir::Function& fn,
                                 const detail::LaunchConfig& config, const detail::BoundArgument* arguments);
/// Completes them for a device. Throws LaunchError where the device's limits or the kernel's barriers forbid
/// it.
[[nodiscard]] Grid check_limits(const KernelCore& kernel, const CachedKernel& cached, const Wanted& wanted,
                                const backends::Device& device);

/// Where a launch runs: once for each set of its buffers' replicas.
struct Targets {
    QueueRange queues;
    bool once_a_device = false;  // on the first queue of each
    bool shared = false;         // some replica serves several queues
};
/// Throws WrongContext for buffers of another context, ArgumentError for one that was destroyed (unless they
/// are pinned by a graph), LaunchError where the buffers have no queue in common, or one of them is not on
/// the queue asked for.
[[nodiscard]] Targets find_targets(const KernelCore& kernel, const ContextCore& core,
                                   const std::optional<Queue>& on, const detail::BoundArgument* arguments,
                                   std::size_t count, bool pinned = false);

}  // namespace volley::runtime
