// Kernel calls: checks, then one command on each queue. The hot path is detail::launch: it allocates nothing
// and takes no lock but the queue's own.
#include "runtime/launch.hpp"

#include "core/fail.hpp"
#include "core/small_array.hpp"
#include "core/text.hpp"
#include "runtime/buffer_access.hpp"
#include "runtime/layout_arguments.hpp"
#include "runtime/recording.hpp"
#include "runtime/submission.hpp"
#include "runtime/transfer.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <vector>

namespace volley {
namespace runtime {
namespace {

constexpr std::int64_t max_extent = std::numeric_limits<std::uint32_t>::max();

std::string subject(const KernelCore& kernel) { return cat("kernel '", kernel.name(), "'"); }

std::string text(ir::Dim3 size) {
    if (size[2] != 1) return cat(size[0], " x ", size[1], " x ", size[2]);
    return size[1] != 1 ? cat(size[0], " x ", size[1]) : cat(size[0]);
}

ir::Dim3 to_dim3(const KernelCore& kernel, const GridSize& size, std::string_view what) {
    if (size.rank() > 3) {
        fail(ErrorCode::InvalidLaunch, cat(what, " has ", size.rank(), " dimensions"), subject(kernel),
             "use one to three dimensions");
    }
    ir::Dim3 result = {1, 1, 1};
    for (int d = 0; d < 3; ++d) {
        if (size[d] < 0) {
            fail(ErrorCode::InvalidLaunch, cat(what, " is negative: ", size[d]), subject(kernel),
                 "use sizes of zero or more; a size of zero launches nothing");
        }
        if (size[d] > max_extent) {
            fail(ErrorCode::InvalidLaunch, cat(what, " is too large: ", size[d]), subject(kernel),
                 cat("use at most ", max_extent,
                     " per dimension: use more dimensions, or several elements per invocation"));
        }
        result[static_cast<std::size_t>(d)] = static_cast<std::uint32_t>(size[d]);
    }
    return result;
}

bool has_zero(ir::Dim3 size) { return size[0] == 0 || size[1] == 0 || size[2] == 0; }

void check_product(const KernelCore& kernel, ir::Dim3 global) {
    // Below 2^63, so that counting invocations cannot overflow.
    const std::uint64_t plane = std::uint64_t{global[0]} * global[1];
    if (global[2] != 0 &&
        plane > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / global[2]) {
        fail(ErrorCode::InvalidLaunch, cat("the grid is too large: ", text(global)), subject(kernel),
             "launch fewer than 2^63 invocations");
    }
}

std::uint64_t first_buffer_size(const KernelCore& kernel, const ir::Function& fn,
                                const detail::BoundArgument* arguments) {
    for (std::size_t i = 0; i < fn.params.size(); ++i) {
        const AnyBuffer* buffer = arguments[i].buffer;
        if (buffer == nullptr) continue;
        if (!owns_window(*buffer)) {
            fail(ErrorCode::InvalidLaunch,
                 "the number of invocations is unknown: the first buffer is not contiguous",
                 cat(buffer->name(), ", ", subject(kernel)),
                 "set the grid with .over(); the buffer's strides() locate its elements");
        }
        return window_elements(*buffer);
    }
    fail(ErrorCode::InvalidLaunch, "the number of invocations is unknown: the kernel has no buffer",
         subject(kernel), "set it with .over(n)");
}

}  // namespace

namespace {

[[noreturn]] void fail_local(const KernelCore& kernel, ir::Op op) {
    fail(ErrorCode::InvalidLaunch,
         cat("the kernel uses ", op == ir::Op::Shared ? "Shared memory" : cat(ir::mnemonic(op), "()"),
             ", but no workgroup size is set"),
         subject(kernel),
         cat("declare it, kernel(\"", kernel.name(),
             "\", {.local = {256}}, ...), or set it at the launch with .local(256)"));
}

[[noreturn]] void fail_axis(const KernelCore& kernel, passes::LaunchNeeds::AxisRead read) {
    fail(ErrorCode::InvalidLaunch,
         cat("the kernel reads ", ir::mnemonic(read.id), "().", read.axis == 1 ? "y" : "z",
             ", but no grid is set: the default grid has one dimension"),
         subject(kernel),
         cat("set the grid with .over({nx, ny", read.axis == 1 ? "" : ", nz", "}), or with .over(buffer)"));
}

}  // namespace

RequestedGrid request_grid(const KernelCore& kernel, const CachedKernel& cached,
                           const detail::LaunchConfig& config, const detail::BoundArgument* arguments) {
    const ir::Function& fn = cached.function();
    const passes::LaunchNeeds& needs = cached.facts().needs;
    RequestedGrid requested;
    if (config.over.rank() > 0 && config.groups.rank() > 0) {
        fail(ErrorCode::InvalidLaunch, "both over() and groups() are set", subject(kernel),
             "set the invocations with over(), or the workgroups with groups()");
    }
    if (config.local.rank() > 0) {
        const ir::Dim3 local = to_dim3(kernel, config.local, "the workgroup size");
        if (has_zero(local)) {
            fail(ErrorCode::InvalidLaunch, cat("the workgroup size is zero: ", text(local)), subject(kernel),
                 "pass sizes above zero to .local()");
        }
        if (fn.local_size && *fn.local_size != local) {
            fail(ErrorCode::InvalidLaunch,
                 cat("the workgroup size ", text(local), " is set, but the kernel declares ",
                     text(*fn.local_size)),
                 subject(kernel), "omit .local(), or do not declare a size with the kernel");
        }
        requested.local = local;
    } else if (fn.local_size) {
        requested.local = fn.local_size;
    } else if (needs.workgroups) {
        fail_local(kernel, *needs.workgroups);
    }
    if (config.groups.rank() > 0) {
        requested.by_groups = true;
        requested.groups = to_dim3(kernel, config.groups, "the number of workgroups");
        requested.empty = has_zero(requested.groups);
        return requested;
    }
    if (config.over.rank() > 0) {
        requested.global = to_dim3(kernel, config.over, "the grid");
    } else {
        if (needs.axis) fail_axis(kernel, *needs.axis);
        const std::uint64_t size = first_buffer_size(kernel, fn, arguments);
        if (size > static_cast<std::uint64_t>(max_extent)) {
            fail(ErrorCode::InvalidLaunch,
                 cat("the first buffer has ", size, " elements, too many for one dimension"), subject(kernel),
                 "set the grid with .over({nx, ny})");
        }
        requested.global = {static_cast<std::uint32_t>(size), 1, 1};
    }
    requested.empty = has_zero(requested.global);
    check_product(kernel, requested.global);
    return requested;
}

Grid grid_on(const KernelCore& kernel, const CachedKernel& cached, const RequestedGrid& requested,
             const backends::Device& device) {
    const DeviceInfo& info = device.info();
    const KernelFacts& facts = cached.facts();
    const auto where = [&] { return cat(subject(kernel), " on ", info.id()); };
    Grid grid;
    grid.global = requested.global;
    grid.local = requested.local
                     ? *requested.local
                     : device.default_local(cached.function(),
                                            requested.by_groups ? ir::Dim3{~0u, 1, 1} : requested.global);

    std::uint64_t invocations = 1;
    for (std::size_t d = 0; d < 3; ++d) {
        invocations *= grid.local[d];
        if (grid.local[d] > info.max_local_dims[d] || invocations > info.max_local_size) {
            fail(ErrorCode::InvalidLaunch,
                 cat("the workgroup size exceeds the device's limit: ", text(grid.local)), where(),
                 cat("use at most ", info.max_local_size, " invocations in total (", info.max_local_dims[0],
                     " x ", info.max_local_dims[1], " x ", info.max_local_dims[2], ")"));
        }
    }
    if (facts.shared_bytes > info.max_shared_bytes) {
        fail(
            ErrorCode::InvalidLaunch, cat("the kernel needs ", facts.shared_bytes, " bytes of shared memory"),
            where(),
            cat("use smaller Shared arrays: the device has ", info.max_shared_bytes, " bytes per workgroup"));
    }
    if (requested.by_groups) {
        for (std::size_t d = 0; d < 3; ++d) {
            const std::uint64_t size = std::uint64_t{requested.groups[d]} * grid.local[d];
            if (size > static_cast<std::uint64_t>(max_extent)) {
                fail(ErrorCode::InvalidLaunch,
                     cat("the grid is too large: ", text(requested.groups), " workgroups of ",
                         text(grid.local)),
                     where(), cat("use at most ", max_extent, " invocations per dimension"));
            }
            grid.global[d] = static_cast<std::uint32_t>(size);
        }
        check_product(kernel, grid.global);
        return grid;
    }
    if (!facts.has_barrier) return grid;
    const auto whole = [&] {
        return grid.global[0] % grid.local[0] == 0 && grid.global[1] % grid.local[1] == 0 &&
               grid.global[2] % grid.local[2] == 0;
    };
    if (whole()) return grid;
    if (!requested.local &&
        std::uint64_t{grid.global[0]} * grid.global[1] * grid.global[2] <= info.max_local_size) {
        bool fits = true;
        for (std::size_t d = 0; d < 3; ++d) fits = fits && grid.global[d] <= info.max_local_dims[d];
        if (fits) {
            grid.local = grid.global;  // a grid this small is one workgroup
            return grid;
        }
    }
    fail(ErrorCode::InvalidLaunch,
         cat("a kernel with a barrier was launched over ", text(grid.global),
             " invocations in workgroups of ", text(grid.local), ", so the last workgroup is incomplete"),
         where(),
         "make n a multiple of the local size: set another with .local(), or round n up and guard the "
         "accesses with $if");
}

namespace {

[[noreturn]] void fail_context(const KernelCore& kernel, const AnyBuffer& buffer, std::size_t argument) {
    storage_of(buffer).core().check_open(
        cat(buffer.name(), ", argument ", argument, " of ", subject(kernel)));
    fail(ErrorCode::WrongContext, cat("argument ", argument, " is a buffer of another context"),
         cat(buffer.name(), ", ", subject(kernel)),
         "launch in the buffer's context (ctx.use()), or create the buffer in this one");
}

/// Sets of queues are nested or disjoint, so if all buffers share no queue, some pair of them shares none.
[[noreturn]] void fail_apart(const KernelCore& kernel, const detail::BoundArgument* arguments,
                             std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (arguments[i].buffer == nullptr || arguments[j].buffer == nullptr) continue;
            const AnyBuffer& a = *arguments[j].buffer;
            const AnyBuffer& b = *arguments[i].buffer;
            if (!intersect(storage_of(a).queues(), storage_of(b).queues()).empty()) continue;
            fail(ErrorCode::InvalidLaunch,
                 cat("the buffers share no queue: ", a.name(), " is on ", storage_of(a).place(), ", ",
                     b.name(), " on ", storage_of(b).place()),
                 subject(kernel), "use placements that do");
        }
    }
    fail_internal("buffers have no queue in common", kernel.name());
}

}  // namespace

LaunchTargets launch_targets(const KernelCore& kernel, const ContextCore& core,
                             const std::optional<Queue>& on, const detail::BoundArgument* arguments,
                             std::size_t count, bool pinned) {
    LaunchTargets targets{{0, core.queue_count()}};
    for (std::size_t i = 0; i < count; ++i) {
        const AnyBuffer* buffer = arguments[i].buffer;
        if (buffer == nullptr) continue;
        const Storage& storage = storage_of(*buffer);
        if (&storage.core() != &core) fail_context(kernel, *buffer, i + 1);
        if (!pinned && storage.destroyed()) storage.check_usable();
        targets.queues = intersect(targets.queues, storage.queues());
        targets.once_per_device |= storage.per_device();
        if (on && !storage.queues().contains(on->index())) {
            fail(ErrorCode::InvalidLaunch,
                 cat("argument ", i + 1, " has no memory on queue ", on->index(), ": it is on ",
                     storage.place()),
                 cat(buffer->name(), ", ", subject(kernel)),
                 "launch on a queue that has all buffers, or use another placement");
        }
    }
    if (on) {
        targets.queues = {on->index(), on->index() + 1};
    } else if (targets.queues.empty()) {
        fail_apart(kernel, arguments, count);
    }
    // A single queue is a target whether or not it is its device's first.
    if (targets.queues.count() == 1) targets.once_per_device = false;
    return targets;
}

}  // namespace runtime

namespace detail {

using runtime::CachedKernel;
using runtime::ContextCore;
using runtime::Footprint;
using runtime::KernelCore;
using runtime::Recorder;
using runtime::Storage;
using runtime::Usage;

namespace {

constexpr std::size_t inline_arguments = 16;

/// Allocates and compiles what the launch needs on queue k, and fills in its arguments. `uses` gets the
/// footprint of each buffer; returns how many there are. Throws before anything is submitted.
std::size_t prepare(ContextCore& core, unsigned k, CachedKernel& cached, const BoundArgument* bound,
                    std::span<backends::Argument> arguments, std::span<Footprint> uses) {
    const runtime::KernelFacts& facts = cached.facts();
    std::size_t used = 0;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (const AnyBuffer* buffer = bound[i].buffer) {
            Storage& storage = runtime::storage_of(*buffer);
            storage.check_not_mapped(k);
            arguments[i].memory = &storage.allocate(k);
            arguments[i].offset = buffer->offset();
            arguments[i].elements = runtime::window_elements(*buffer);
            uses[used++] = runtime::footprint(*buffer, k,
                                              facts.writes[i]  ? Usage::Written
                                              : facts.reads[i] ? Usage::Read
                                                               : Usage::Held);
        } else {
            arguments[i].value = bound[i].value;
        }
    }
    const unsigned device = core.device_of(k);
    static_cast<void>(cached.program(device, core.device(device)));
    return used;
}

[[noreturn]] void fail_dynamic(const KernelCore& kernel, const DynamicName& name) {
    fail(ErrorCode::InvalidLaunch,
         cat("a kernel was called with dyn(\"", name.name, "\") outside a recording"),
         runtime::subject(kernel), "pass a value, or record the call: record([&] { ... })");
}

/// Records the call, checked for the queues that it would run on now.
Event record_launch(Recorder& recorder, KernelCore& kernel, CachedKernel& cached,
                    const runtime::LaunchTargets& targets, const runtime::RequestedGrid& requested,
                    const LaunchConfig& config, const BoundArgument* bound, std::size_t count) {
    ContextCore& core = recorder.core();
    if (config.queue && ContextCore::core_of(*config.queue).get() != &core) {
        fail(ErrorCode::WrongContext, "a launch on a queue of another context was recorded",
             runtime::subject(kernel), "record in the queue's context (ctx.use())");
    }
    for (unsigned k = targets.queues.begin; k < targets.queues.end && !requested.empty; ++k)
        static_cast<void>(runtime::grid_on(kernel, cached, requested, core.device(core.device_of(k))));
    runtime::RecordedLaunch launch{kernel.shared_from_this(), &cached, requested, {}};
    const std::vector<ir::Param>& params = cached.function().params;
    for (std::size_t i = 0; i < count; ++i) {
        runtime::RecordedArgument& argument = launch.arguments.emplace_back();
        if (bound[i].buffer != nullptr) {
            argument.buffer = runtime::PinnedBuffer(*bound[i].buffer);
            argument.reads = cached.facts().reads[i];
            argument.writes = cached.facts().writes[i];
        } else if (bound[i].dynamic != nullptr) {
            argument.dynamic = recorder.recording().name(*bound[i].dynamic);
        } else {
            const auto* bytes = static_cast<const std::byte*>(bound[i].value);
            argument.value.assign(bytes, bytes + params[i].type.size());
        }
    }
    if (requested.empty) return ContextCore::recorded_event();
    std::optional<unsigned> on;
    if (config.queue) on = config.queue->index();
    return recorder.add({std::move(launch), on});
}

}  // namespace

namespace {

/// Launches or records a kernel with all its arguments.
Event launch_bound(KernelCore& kernel, ContextCore& core, CachedKernel& cached, const LaunchConfig& config,
                   const BoundArgument* bound, std::size_t count) {
    Recorder* const recorder = Recorder::current();
    const runtime::LaunchTargets targets = runtime::launch_targets(kernel, core, config.queue, bound, count);
    const runtime::RequestedGrid requested = runtime::request_grid(kernel, cached, config, bound);
    for (std::size_t i = 0; i < count; ++i) {
        if (bound[i].dynamic != nullptr && recorder == nullptr) fail_dynamic(kernel, *bound[i].dynamic);
    }
    if (recorder != nullptr)
        return record_launch(*recorder, kernel, cached, targets, requested, config, bound, count);
    if (requested.empty) return {};

    SmallArray<backends::Argument, inline_arguments> arguments(count);
    SmallArray<Footprint, inline_arguments> uses(count);
    if (targets.queues.count() > 1) {
        // What one queue cannot run is refused before another one has started.
        for (unsigned k = targets.queues.begin; k < targets.queues.end; ++k) {
            if (!targets.contains(core, k)) continue;
            const backends::Device& device = core.device(core.device_of(k));
            static_cast<void>(runtime::grid_on(kernel, cached, requested, device));
            prepare(core, k, cached, bound, arguments.span(), uses.span());
        }
    }

    Event event;
    for (unsigned k = targets.queues.begin; k < targets.queues.end; ++k) {
        if (!targets.contains(core, k)) continue;
        backends::Device& device = core.device(core.device_of(k));
        const runtime::Grid grid = runtime::grid_on(kernel, cached, requested, device);
        const std::size_t used = prepare(core, k, cached, bound, arguments.span(), uses.span());
        backends::Program& program = cached.program(core.device_of(k), device);
        runtime::Submission submission(core, k, uses.first(used), [&] {
            return runtime::CommandLabel{CommandKind::Launch, cached.shared_function(), grid.global,
                                         grid.local};
        });
        submission.submit([&] {
            return core.queue(k).launch(
                {&program, grid.global, grid.local, arguments.span(), submission.after()});
        });
        submission.add_to(event, "kernel", &cached);
    }
    return event;
}

}  // namespace

Event launch(KernelCore& kernel, const LaunchConfig& config, const BoundArgument* bound, std::size_t count) {
    if (lang::tracing()) {
        fail(ErrorCode::TraceError, "a kernel was launched in the body of another kernel",
             runtime::subject(kernel), "launch kernels from the host, or call a function that takes Values");
    }
    Recorder* const recorder = Recorder::current();
    const std::shared_ptr<ContextCore>& current = config.queue          ? ContextCore::core_of(*config.queue)
                                                  : recorder != nullptr ? recorder->shared_core()
                                                                        : runtime::current_core();
    ContextCore& core = *current;
    const ContextCore::Visit visit(core, config.queue ? "a queue" : "the current context");
    CachedKernel& cached = kernel.in(core);
    if (count != cached.facts().arguments)
        fail_internal("a launch has the wrong number of arguments", kernel.name());
    if (!cached.facts().uses_layout) return launch_bound(kernel, core, cached, config, bound, count);
    runtime::LayoutArguments layout(kernel, cached.function(), {bound, count});
    const std::span<const BoundArgument> all = layout.all();
    return launch_bound(kernel, core, layout.unit_strides() ? cached : kernel.strided_in(core), config,
                        all.data(), all.size());
}

std::string device_code(KernelCore& kernel, const LaunchConfig& config) {
    const std::shared_ptr<ContextCore> core =
        config.queue ? ContextCore::core_of(*config.queue) : runtime::current_core();
    const ContextCore::Visit visit(*core, "the context");
    CachedKernel& cached = kernel.in(*core);
    const unsigned device = core->device_of(config.queue ? config.queue->index() : 0);
    runtime::RequestedGrid requested;
    requested.by_groups = true;
    requested.groups = {1, 1, 1};
    if (config.local.rank() > 0 || cached.function().local_size) {
        LaunchConfig sizes = config;
        sizes.groups = GridSize();
        sizes.over = GridSize(1);
        requested.local = runtime::request_grid(kernel, cached, sizes, nullptr).local;
    }
    const runtime::Grid grid = runtime::grid_on(kernel, cached, requested, core->device(device));
    return cached.program(device, core->device(device)).code(grid.local);
}

}  // namespace detail
}  // namespace volley
