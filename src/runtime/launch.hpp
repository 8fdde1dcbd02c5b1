// The checked form of a kernel call: its grid, and the queues that it runs on.
#pragma once

#include "runtime/kernel_core.hpp"
#include "runtime/storage.hpp"

#include <cstddef>
#include <optional>

namespace volley::runtime {

/// The sizes of a launch on a device.
struct Grid {
    ir::Dim3 global = {1, 1, 1};
    ir::Dim3 local = {1, 1, 1};
};

/// The sizes that a call requests, before a device completes them.
struct RequestedGrid {
    ir::Dim3 global = {1, 1, 1};
    ir::Dim3 groups = {0, 0, 0};    // with groups(): the global size follows from the local one
    std::optional<ir::Dim3> local;  // none: the device chooses
    bool by_groups = false;
    bool empty = false;
};
/// Throws LaunchError for sizes that no device can run, and if the kernel needs a size that is not set.
[[nodiscard]] RequestedGrid request_grid(const KernelCore& kernel, const CachedKernel& cached,
                                         const detail::LaunchConfig& config,
                                         const detail::BoundArgument* arguments);
/// Completes the sizes for a device. Throws LaunchError if the device's limits or the kernel's barriers
/// forbid them.
[[nodiscard]] Grid grid_on(const KernelCore& kernel, const CachedKernel& cached,
                           const RequestedGrid& requested, const backends::Device& device);

/// The queues of a launch: one for each set of its buffers' replicas.
struct LaunchTargets {
    QueueRange queues;
    bool once_per_device = false;  // only on the first queue of each device
    /// Returns whether the launch runs on queue k of its range.
    [[nodiscard]] bool contains(const ContextCore& core, unsigned k) const noexcept {
        return queues.contains(k) && (!once_per_device || core.queues_of(core.device_of(k)).begin == k);
    }
};
/// Throws WrongContext for buffers of another context, ArgumentError for a destroyed one (unless a graph has
/// pinned them), LaunchError if the buffers share no queue or one of them is not on the requested queue.
[[nodiscard]] LaunchTargets launch_targets(const KernelCore& kernel, const ContextCore& core,
                                           const std::optional<Queue>& on,
                                           const detail::BoundArgument* arguments, std::size_t count,
                                           bool pinned = false);

}  // namespace volley::runtime
