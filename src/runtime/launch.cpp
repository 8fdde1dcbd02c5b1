// A call of a kernel: checks, then one command on each queue. The hot path is detail::launch: no allocation,
// no lock but the queue's own.
#include "core/fail.hpp"
#include "core/text.hpp"
#include "runtime/command_times.hpp"
#include "runtime/kernel_core.hpp"
#include "runtime/recording.hpp"
#include "runtime/storage.hpp"
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
             "use one to three");
    }
    ir::Dim3 result = {1, 1, 1};
    for (int d = 0; d < 3; ++d) {
        if (size[d] < 0) {
            fail(ErrorCode::InvalidLaunch, cat(what, " is negative: ", size[d]), subject(kernel),
                 "sizes are zero or more; zero does nothing");
        }
        if (size[d] > max_extent) {
            fail(ErrorCode::InvalidLaunch, cat(what, " is too big: ", size[d]), subject(kernel),
                 cat("a dimension has at most ", max_extent,
                     "; use more dimensions, or several elements an invocation"));
        }
        result[static_cast<std::size_t>(d)] = static_cast<std::uint32_t>(size[d]);
    }
    return result;
}

bool has_zero(ir::Dim3 size) { return size[0] == 0 || size[1] == 0 || size[2] == 0; }

void check_product(const KernelCore& kernel, ir::Dim3 global) {
    // Below 2^63, so that counting invocations never overflows.
    const std::uint64_t plane = std::uint64_t{global[0]} * global[1];
    if (global[2] != 0 &&
        plane > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / global[2]) {
        fail(ErrorCode::InvalidLaunch, cat("the grid is too big: ", text(global)), subject(kernel),
             "launch fewer than 2^63 invocations");
    }
}

std::uint64_t first_buffer_size(const KernelCore& kernel, const ir::Function& fn,
                                const detail::BoundArgument* arguments) {
    for (std::size_t i = 0; i < fn.params.size(); ++i) {
        const AnyBuffer* buffer = arguments[i].buffer;
        if (buffer == nullptr) continue;
        if (!buffer->owns_window()) {
            fail(
                ErrorCode::InvalidLaunch,
                "the number of invocations is not known: the first buffer's elements do not lie side by side",
                cat(buffer->name(), ", ", subject(kernel)),
                "say how to cover it with .over(); its strides() tell where its elements are");
        }
        return buffer->window_elements();
    }
    fail(ErrorCode::InvalidLaunch, "the number of invocations is not known: the kernel has no buffer",
         subject(kernel), "say how many with .over(n)");
}

}  // namespace

Wanted check_sizes(const KernelCore& kernel, const ir::Function& fn, const detail::LaunchConfig& config,
                   const detail::BoundArgument* arguments) {
    Wanted wanted;
    if (config.over.rank() > 0 && config.groups.rank() > 0) {
        fail(ErrorCode::InvalidLaunch, "both over() and groups() were given", subject(kernel),
             "give the invocations with over(), or the workgroups with groups()");
    }
    if (config.local.rank() > 0) {
        const ir::Dim3 local = to_dim3(kernel, config.local, "the workgroup size");
        if (has_zero(local)) {
            fail(ErrorCode::InvalidLaunch, cat("the workgroup size is zero: ", text(local)), subject(kernel),
                 "give .local() numbers above zero");
        }
        if (fn.local_size && *fn.local_size != local) {
            fail(ErrorCode::InvalidLaunch,
                 cat("the workgroup size ", text(local), " was given, but the kernel declares ",
                     text(*fn.local_size)),
                 subject(kernel), "leave .local() out, or do not declare it with the kernel");
        }
        wanted.local = local;
    } else if (fn.local_size) {
        wanted.local = fn.local_size;
    }
    if (config.groups.rank() > 0) {
        wanted.by_groups = true;
        wanted.groups = to_dim3(kernel, config.groups, "the number of workgroups");
        wanted.empty = has_zero(wanted.groups);
        return wanted;
    }
    if (config.over.rank() > 0) {
        wanted.global = to_dim3(kernel, config.over, "the grid");
    } else {
        const std::uint64_t size = first_buffer_size(kernel, fn, arguments);
        if (size > static_cast<std::uint64_t>(max_extent)) {
            fail(ErrorCode::InvalidLaunch,
                 cat("the first buffer has ", size, " elements, too many for one dimension"), subject(kernel),
                 "say how to cover it with .over({nx, ny})");
        }
        wanted.global = {static_cast<std::uint32_t>(size), 1, 1};
    }
    wanted.empty = has_zero(wanted.global);
    check_product(kernel, wanted.global);
    return wanted;
}

Grid check_limits(const KernelCore& kernel, const CachedKernel& cached, const Wanted& wanted,
                  const backends::Device& device) {
    const DeviceInfo& info = device.info();
    const KernelFacts& facts = cached.facts();
    const auto where = [&] { return cat(subject(kernel), " on ", info.id()); };
    Grid grid;
    grid.global = wanted.global;
    grid.local = wanted.local ? *wanted.local
                              : device.default_local(cached.function(),
                                                     wanted.by_groups ? ir::Dim3{~0u, 1, 1} : wanted.global);

    std::uint64_t invocations = 1;
    for (std::size_t d = 0; d < 3; ++d) {
        invocations *= grid.local[d];
        if (grid.local[d] > info.max_local_dims[d] || invocations > info.max_local_size) {
            fail(ErrorCode::InvalidLaunch,
                 cat("the workgroup size is beyond the device's limit: ", text(grid.local)), where(),
                 cat("use at most ", info.max_local_size, " invocations in all (", info.max_local_dims[0],
                     " x ", info.max_local_dims[1], " x ", info.max_local_dims[2], ")"));
        }
    }
    if (facts.shared_bytes > info.max_shared_bytes) {
        fail(ErrorCode::InvalidLaunch, cat("it needs ", facts.shared_bytes, " bytes of shared memory"),
             where(),
             cat("the device has ", info.max_shared_bytes, " for a workgroup: use smaller Shared arrays"));
    }
    if (wanted.by_groups) {
        for (std::size_t d = 0; d < 3; ++d) {
            const std::uint64_t size = std::uint64_t{wanted.groups[d]} * grid.local[d];
            if (size > static_cast<std::uint64_t>(max_extent)) {
                fail(ErrorCode::InvalidLaunch,
                     cat("the grid is too big: ", text(wanted.groups), " workgroups of ", text(grid.local)),
                     where(), cat("a dimension has at most ", max_extent, " invocations"));
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
    if (!wanted.local &&
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
             " invocations in workgroups of ", text(grid.local), ", so the last workgroup is not whole"),
         where(),
         "make n a multiple of the local size: choose another with .local(), or round n up and guard the "
         "accesses with $if");
}

namespace {

[[noreturn]] void fail_context(const KernelCore& kernel, const AnyBuffer& buffer, std::size_t argument) {
    buffer.storage().core().check_open(cat(buffer.name(), ", argument ", argument, " of ", subject(kernel)));
    fail(ErrorCode::WrongContext, cat("argument ", argument, " is a buffer of another context"),
         cat(buffer.name(), ", ", subject(kernel)),
         "launch in the buffer's context (ctx.use()), or make the buffer in this one");
}

/// Two of the buffers have no queue in common: sets of queues are nested or apart, so where all of them have
/// none, some pair has none.
[[noreturn]] void fail_apart(const KernelCore& kernel, const detail::BoundArgument* arguments,
                             std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (arguments[i].buffer == nullptr || arguments[j].buffer == nullptr) continue;
            const AnyBuffer& a = *arguments[j].buffer;
            const AnyBuffer& b = *arguments[i].buffer;
            if (!intersect(a.storage().queues(), b.storage().queues()).empty()) continue;
            fail(ErrorCode::InvalidLaunch,
                 cat("two buffers have no queue in common: ", a.name(), " lives on ", a.storage().place(),
                     ", ", b.name(), " on ", b.storage().place()),
                 subject(kernel), "give them placements that meet");
        }
    }
    fail_internal("buffers have no queue in common", kernel.name());
}

}  // namespace

Targets find_targets(const KernelCore& kernel, const ContextCore& core, const std::optional<Queue>& on,
                     const detail::BoundArgument* arguments, std::size_t count, bool pinned) {
    Targets targets{{0, core.queue_count()}};
    for (std::size_t i = 0; i < count; ++i) {
        const AnyBuffer* buffer = arguments[i].buffer;
        if (buffer == nullptr) continue;
        const Storage& storage = buffer->storage();
        if (&storage.core() != &core) fail_context(kernel, *buffer, i + 1);
        if (!pinned && storage.destroyed()) storage.check_usable();
        targets.queues = intersect(targets.queues, storage.queues());
        targets.once_a_device |= storage.per_device();
        targets.shared |= storage.shared();
        if (on && !storage.queues().contains(on->index())) {
            fail(ErrorCode::InvalidLaunch,
                 cat("argument ", i + 1, " has no memory on queue ", on->index(), ": it lives on ",
                     storage.place()),
                 cat(buffer->name(), ", ", subject(kernel)),
                 "launch on a queue where all its buffers are, or give the buffer another placement");
        }
    }
    if (on) {
        targets.queues = {on->index(), on->index() + 1};
    } else if (targets.queues.empty()) {
        fail_apart(kernel, arguments, count);
    }
    // One queue is one set of replicas, whether or not it is its device's first.
    if (targets.queues.count() == 1) targets.once_a_device = false;
    return targets;
}

}  // namespace runtime

namespace detail {

using runtime::CachedKernel;
using runtime::ContextCore;
using runtime::KernelCore;
using runtime::Recorder;
using runtime::Storage;

namespace {

constexpr std::size_t inline_arguments = 16;

/// What can be refused is refused, and what has to be made is made, before anything starts on that queue.
void prepare(ContextCore& core, unsigned k, CachedKernel& cached, const BoundArgument* bound,
             std::span<backends::Argument> arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (const AnyBuffer* buffer = bound[i].buffer) {
            Storage& storage = buffer->storage();
            storage.check_not_mapped(k);
            arguments[i].memory = &storage.allocate(k);
            arguments[i].offset = buffer->offset();
            arguments[i].elements = buffer->window_elements();
        } else {
            arguments[i].value = bound[i].value;
        }
    }
    const unsigned device = core.device_of(k);
    static_cast<void>(cached.program(device, core.device(device)));
}

/// Puts the launch, which was prepared, on one queue.
backends::Point launch_on(ContextCore& core, unsigned k, CachedKernel& cached, const runtime::Grid& grid,
                          bool shared, const BoundArgument* bound,
                          std::span<const backends::Argument> arguments) {
    const unsigned device = core.device_of(k);
    backends::Program& program = cached.program(device, core.device(device));
    const runtime::KernelFacts& facts = cached.facts();
    const auto lock = shared ? core.lock_order() : std::unique_lock<std::mutex>();
    const auto queue_lock = core.lock_queue(k);
    backends::Point after = core.ordered(k);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (!facts.reads[i] && !facts.writes[i]) continue;
        const AnyBuffer& buffer = *bound[i].buffer;
        after = std::max(after, buffer.storage().order(k, runtime::bytes_of(buffer), facts.writes[i]));
    }
    const backends::Point point = core.queue(k).launch({&program, grid.global, grid.local, arguments, after});
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (bound[i].buffer == nullptr) continue;
        const AnyBuffer& buffer = *bound[i].buffer;
        runtime::Replica& replica = buffer.storage().replica(k);
        if (facts.writes[i]) {
            replica.wrote(k, point, runtime::bytes_of(buffer));
        } else if (facts.reads[i]) {
            replica.used(k, point, runtime::bytes_of(buffer));
        } else {
            replica.held(k, point);
        }
    }
    return point;
}

}  // namespace

namespace {

[[noreturn]] void fail_dynamic(const KernelCore& kernel, const DynamicName& name) {
    fail(ErrorCode::InvalidLaunch,
         cat("a kernel was called with dyn(\"", name.name, "\") outside of a recording"),
         runtime::subject(kernel), "give it a value, or record the call: record([&] { ... })");
}

/// Keeps the call, checked for the queues that it would run on now.
Event record_launch(Recorder& recorder, KernelCore& kernel, CachedKernel& cached,
                    const runtime::Targets& targets, const runtime::Wanted& wanted,
                    const LaunchConfig& config, const BoundArgument* bound, std::size_t count) {
    ContextCore& core = recorder.core();
    if (config.queue && ContextCore::core_of(*config.queue).get() != &core) {
        fail(ErrorCode::WrongContext, "a launch on a queue of another context was recorded",
             runtime::subject(kernel), "record in the queue's context (ctx.use())");
    }
    for (unsigned k = targets.queues.begin; k < targets.queues.end && !wanted.empty; ++k)
        static_cast<void>(runtime::check_limits(kernel, cached, wanted, core.device(core.device_of(k))));
    runtime::RecordedLaunch launch{kernel.shared_from_this(), &cached, wanted, {}};
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
    if (wanted.empty) return ContextCore::recorded_event();
    std::optional<unsigned> on;
    if (config.queue) on = config.queue->index();
    return recorder.add({std::move(launch), on});
}

}  // namespace

Event launch(KernelCore& kernel, const LaunchConfig& config, const BoundArgument* bound, std::size_t count) {
    if (lang::tracing()) static_cast<void>(kernel.traced());  // fails, saying so
    Recorder* const recorder = Recorder::current();
    const std::shared_ptr<ContextCore>& current = config.queue          ? ContextCore::core_of(*config.queue)
                                                  : recorder != nullptr ? recorder->shared_core()
                                                                        : runtime::current_core();
    ContextCore& core = *current;
    core.check_open(config.queue ? "a queue" : "the current context");
    CachedKernel& cached = kernel.in(core);
    if (count != cached.function().params.size())
        fail_internal("a launch has the wrong number of arguments", kernel.name());
    const runtime::Targets targets = runtime::find_targets(kernel, core, config.queue, bound, count);
    const runtime::Wanted wanted = runtime::check_sizes(kernel, cached.function(), config, bound);
    for (std::size_t i = 0; i < count; ++i) {
        if (bound[i].dynamic != nullptr && recorder == nullptr) fail_dynamic(kernel, *bound[i].dynamic);
    }
    if (recorder != nullptr)
        return record_launch(*recorder, kernel, cached, targets, wanted, config, bound, count);
    if (wanted.empty) return {};

    backends::Argument few[inline_arguments];
    std::vector<backends::Argument> many(count > inline_arguments ? count : 0);
    const std::span<backends::Argument> arguments(many.empty() ? few : many.data(), count);
    const auto is_target = [&](unsigned k) {
        return !targets.once_a_device || core.queues_of(core.device_of(k)).begin == k;
    };
    if (targets.queues.count() > 1) {
        // What one queue cannot run is refused before another has started.
        for (unsigned k = targets.queues.begin; k < targets.queues.end; ++k) {
            if (!is_target(k)) continue;
            const backends::Device& device = core.device(core.device_of(k));
            static_cast<void>(runtime::check_limits(kernel, cached, wanted, device));
            prepare(core, k, cached, bound, arguments);
        }
    }

    Event event;
    for (unsigned k = targets.queues.begin; k < targets.queues.end; ++k) {
        if (!is_target(k)) continue;
        const backends::Device& device = core.device(core.device_of(k));
        const runtime::Grid grid = runtime::check_limits(kernel, cached, wanted, device);
        prepare(core, k, cached, bound, arguments);
        const runtime::TimedCommand timed(core, k, [&] {
            return runtime::CommandLabel{CommandKind::Launch, &cached, grid.global, grid.local};
        });
        const backends::Point point =
            timed.give([&] { return launch_on(core, k, cached, grid, targets.shared, bound, arguments); });
        core.add_part(event, k, point, "kernel", &cached);
        timed.add_to(event);
    }
    return event;
}

std::string device_code(KernelCore& kernel, const LaunchConfig& config) {
    const std::shared_ptr<ContextCore> core =
        config.queue ? ContextCore::core_of(*config.queue) : runtime::current_core();
    core->check_open("the context");
    CachedKernel& cached = kernel.in(*core);
    const unsigned device = core->device_of(config.queue ? config.queue->index() : 0);
    runtime::Wanted wanted;
    wanted.by_groups = true;
    wanted.groups = {1, 1, 1};
    if (config.local.rank() > 0 || cached.function().local_size) {
        LaunchConfig sizes = config;
        sizes.groups = GridSize();
        sizes.over = GridSize(1);
        wanted.local = runtime::check_sizes(kernel, cached.function(), sizes, nullptr).local;
    }
    const runtime::Grid grid = runtime::check_limits(kernel, cached, wanted, core->device(device));
    return cached.program(device, core->device(device)).code(grid.local);
}

}  // namespace detail
}  // namespace volley
