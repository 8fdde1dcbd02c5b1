// Scans: checks, and the choice and order of kernels.
#include "algorithms/execution.hpp"
#include "algorithms/scan_kernels.hpp"
#include "algorithms/source_node.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/algorithms/scan.hpp>
#include <volley/algorithms/transform.hpp>
#include <volley/lang/atomic.hpp>
#include <volley/lang/cast.hpp>
#include <volley/lang/control.hpp>
#include <volley/lang/ids.hpp>

#include <algorithm>
#include <utility>

namespace volley {

ScanSegments::ScanSegments(AnySource keys, AnyFunction equal)
    : source_(std::move(keys)), equal_(std::move(equal)) {
    const std::span<const FunctionParameter> parameters = equal_->parameters();
    const DType type = source_.dtype();
    const bool fits = parameters.size() == 2 && !parameters[0].is_buffer && !parameters[1].is_buffer &&
                      parameters[0].type == type && parameters[1].type == type &&
                      equal_->result() == dtype_of<bool>();
    if (fits) return;
    fail(ErrorCode::TypeMismatch, cat("the comparison of keys does not take two values of ", type.name()),
         "segments of a scan", "use a function of two keys that returns a bool");
}

ScanSegments::ScanSegments(AnySource flags) : source_(std::move(flags)) {
    const DType type = source_.dtype();
    if (type.is_scalar() && !type.is_float()) return;
    fail(ErrorCode::TypeMismatch, cat("the flags of segments are ", type.name()), "segments of a scan",
         "use bool or integers, for example lazy(x) != 0.f");
}

namespace {

constexpr std::string_view name_of_scan = "scan";

void check_request(const AnySource& from, const detail::ScanRequest& request,
                   const std::optional<ScanSegments>& segments) {
    const DType type = from.dtype();
    const std::span<const FunctionParameter> parameters = request.op.parameters();
    const bool fits = parameters.size() == 2 && !parameters[0].is_buffer && !parameters[1].is_buffer &&
                      parameters[0].type == type && parameters[1].type == type && request.op.result() == type;
    if (!fits) {
        fail(ErrorCode::TypeMismatch,
             cat("the operator does not combine two values of ", type.name(), " to one"), name_of_scan,
             "use a function of two elements that returns an element");
    }
    if (request.exclusive && !request.initial) {
        fail(ErrorCode::InvalidArgument, "an exclusive scan has no initial value", name_of_scan,
             "pass the identity of the operator");
    }
    if (request.initial && (request.initial->is_buffer() || request.initial->dtype() != type)) {
        fail(ErrorCode::TypeMismatch,
             cat("the initial value is a ", request.initial->dtype().name(), ", but the elements are ",
                 type.name()),
             name_of_scan, "pass a value of the elements' type");
    }
    if (segments && segments->source().shape() != from.shape()) {
        fail(ErrorCode::SizeMismatch,
             cat("the keys or flags have the shape ", segments->source().shape().to_string(),
                 ", but the array has ", from.shape().to_string()),
             name_of_scan, "use one key or flag for each element; broadcast_to() repeats them");
    }
}

/// The devices of one call and the queue that its kernels run on.
struct Place {
    const algorithms::Execution* execution;
    const algorithms::Target* target;
};

/// How a scan runs on a device.
struct Plan {
    enum Kind { Parts, Rows, Chain } kind = Parts;
    algorithms::PartGrid grid;
    std::int64_t tile = 0;
};

std::uint32_t or_default(std::uint32_t chosen, std::uint32_t otherwise) {
    return chosen != 0 ? chosen : otherwise;
}

/// Bytes of a tile and its results that fit in the second-level cache.
constexpr std::int64_t largest_tile = 256 << 10;

Plan plan_scan(const algorithms::LineScan& scan, const DeviceInfo& device, const ScanTuning& tuning) {
    const std::int64_t length = scan.lines.length();
    const std::int64_t lines = scan.lines.count();
    const std::int64_t inner = scan.lines.inner();
    const auto width = static_cast<std::int64_t>(std::max(device.subgroup_size, 1U));
    const DeviceClass kind = device_class(device);
    const std::int64_t cores = std::max(device.compute_units, 2U);
    Plan plan;
    if (device.backend == "cpu" && inner == 1 && length > width) {
        const auto size = static_cast<std::int64_t>(scan.from.dtype().size());
        // A tile waits for the one before it on another core: few large ones wait less, but all cores need
        // some.
        const std::int64_t share = length * size / (8 * cores);
        const std::int64_t bytes = tuning.tile_bytes != 0
                                       ? tuning.tile_bytes
                                       : std::clamp<std::int64_t>(share, 16 << 10, largest_tile);
        plan.tile = std::max<std::int64_t>(bytes / size / width, 1) * width;
        const bool enough = lines >= or_default(tuning.enough_lines, static_cast<std::uint32_t>(8 * cores));
        plan.kind = enough || length <= 2 * plan.tile ? Plan::Rows : Plan::Chain;
        return plan;
    }
    const std::int64_t enough =
        or_default(tuning.enough_lines,
                   kind == DeviceClass::Gpu ? 16384U : static_cast<std::uint32_t>(16 * cores * width));
    plan.grid.length =
        std::max<std::int64_t>(or_default(tuning.part, kind == DeviceClass::Gpu ? 32 : 256), 2);
    // Drivers may end long loops early.
    constexpr std::int64_t longest = 16384;
    const bool whole = (lines >= enough && (kind == DeviceClass::Cpu || length <= longest)) ||
                       length <= 2 * plan.grid.length;
    if (whole) plan.grid.length = length;
    plan.grid.parts = algorithms::divide_up(length, plan.grid.length);
    plan.grid.flat = kind != DeviceClass::Cpu || inner < width;
    return plan;
}

Event run_parts(const algorithms::LineScan& scan, const algorithms::PartGrid& grid, const Place& place,
                const ScanTuning& tuning);

Event run_on(const algorithms::LineScan& scan, const Place& place, const ScanTuning& tuning) {
    const algorithms::Target& target = *place.target;
    const Plan plan = plan_scan(scan, *target.device, tuning);
    if (plan.kind == Plan::Parts) return run_parts(scan, plan.grid, place, tuning);
    const u32 width = std::max(target.device->subgroup_size, 1U);
    const std::int64_t lines = scan.lines.count();
    if (plan.kind == Plan::Rows) {
        return algorithms::launch(algorithms::rows_kernel(scan, width).groups(lines), target,
                                  algorithms::rows_arguments(scan));
    }
    const std::int64_t tiles = lines * algorithms::divide_up(scan.lines.length(), plan.tile);
    const algorithms::ChainState state{.states = place.execution->scratch(dtype_of<u32>(), Shape(tiles + 1)),
                                       .own = place.execution->scratch(scan.from.dtype(), Shape(tiles)),
                                       .complete = place.execution->scratch(scan.from.dtype(), Shape(tiles))};
    transform(state.states, AnySource::filled(state.states.shape(), u32{0}), {.queue = target.queue});
    const auto tile = static_cast<u32>(plan.tile);
    return algorithms::launch(algorithms::chain_kernel(scan, width, tile).groups(tiles), target,
                              algorithms::chain_arguments(scan, tile, state));
}

Event run_parts(const algorithms::LineScan& scan, const algorithms::PartGrid& grid, const Place& place,
                const ScanTuning& tuning) {
    const algorithms::Target& target = *place.target;
    const std::int64_t outer = scan.lines.outer();
    const std::int64_t inner = scan.lines.inner();
    const GridSize size =
        grid.flat ? GridSize{outer * grid.parts * inner} : GridSize{inner, outer * grid.parts};
    algorithms::PartSums sums;
    if (grid.parts > 1) {
        const Shape shape{outer, grid.parts, inner};
        sums.sums = place.execution->scratch(scan.from.dtype(), shape);
        if (scan.segments) sums.starts = place.execution->scratch(dtype_of<u32>(), shape);
        algorithms::launch(algorithms::part_sums_kernel(scan, grid).over(size), target,
                           algorithms::part_sums_arguments(scan, grid, sums));
        algorithms::LineScan next{.lines = {.shape = shape, .axis = 1},
                                  .from = sums.sums,
                                  .to = sums.sums,
                                  .request = {.op = scan.request.op},
                                  .segments = {}};
        if (sums.starts) next.segments.emplace(AnySource(*sums.starts));
        run_on(next, place, tuning);
    }
    return algorithms::launch(algorithms::parts_kernel(scan, grid).over(size), target,
                              algorithms::parts_arguments(scan, grid, sums));
}

Shape with_an_axis(const Shape& shape) { return shape.rank() == 0 ? Shape(1) : shape; }

}  // namespace

Event detail::run_scan(const AnySink& to, const AnySource& from, const ScanRequest& request,
                       const ScanOptions& options) {
    check_request(from, request, options.segments);
    algorithms::check_sink(to, from.dtype(), from.shape(), name_of_scan);
    algorithms::check_no_overlap(to, from, true, name_of_scan);
    if (options.segments) algorithms::check_no_overlap(to, options.segments->source(), false, name_of_scan);
    const Shape shape = with_an_axis(from.shape());
    algorithms::LineScan scan{
        .lines = {.shape = shape,
                  .axis = algorithms::checked_axis(options.axis, shape.rank(), name_of_scan),
                  .reverse = options.reverse},
        .from = from.reshape(shape),
        .to = to.reshape(shape),
        .request = request,
        .segments = options.segments};
    if (scan.segments && shape != from.shape()) scan.segments.reset();  // one element is one segment
    const AnySource& heads = scan.segments ? scan.segments->source() : scan.from;
    scan.lines.flat = scan.from.is_flat() && scan.to.is_flat() && heads.is_flat();
    const algorithms::Execution execution(options.queue, {&scan.from, &heads}, {&scan.to});
    Event done;
    if (from.size() == 0) return done;
    for (const algorithms::Target& target : execution.targets())
        done = run_on(scan, {&execution, &target}, options.tuning);
    return done;
}

AnyBuffer detail::new_scan(const AnySource& from, const ScanRequest& request, const ScanOptions& options) {
    const AnySource& heads = options.segments ? options.segments->source() : from;
    const algorithms::Execution execution(options.queue, {&from, &heads});
    AnyBuffer result = execution.result(from.dtype(), from.shape());
    run_scan(result, from, request, options);
    return result;
}

ScanSegments scan::by_offsets(const AnySource& offsets, std::int64_t length,
                              const std::optional<Queue>& queue) {
    constexpr std::string_view name = "scan::by_offsets";
    const DType type = offsets.dtype();
    if (!type.is_scalar() || !type.is_integer())
        fail(ErrorCode::TypeMismatch, cat("the offsets are ", type.name()), name, "use integers");
    if (length < 0) {
        fail(ErrorCode::InvalidShape, cat("the array has the length ", length), name,
             "pass the length of the array");
    }
    detail::check_countable(Shape(length), name);
    const algorithms::Execution execution(queue, {&offsets});
    const AnyBuffer flags = execution.scratch(dtype_of<u32>(), Shape(length));
    ScanSegments segments{AnySource(flags)};
    if (length == 0 || offsets.size() == 0) return segments;
    transform(flags, AnySource::filled(flags.shape(), u32{0}), {.queue = queue});
    const AnySource flat = offsets.reshape(Shape(offsets.size()));
    KernelKey key("scan flags of offsets");
    flat.identify(key);
    const AnyKernel kernel = algorithms::find_kernel(key, [&] {
        return any_kernel(name, {}, [&](ParameterList& parameters) {
            const LoadElement load = flat.declare(parameters);
            const AnyArray to = parameters.buffer(dtype_of<u32>());
            const Value<u32> count = parameters.value<u32>();
            // Negative offsets become large ones.
            const Value<u64> offset = convert(load(Position(global_id().x)), dtype_of<u64>()).as<u64>();
            $if (offset < cast<u64>(count)) {
                const lang::ElementIndex at(offset);
                Atomic<u32>(lang::locate(ref_of(to), &at.ref, 1)).exchange(1U);
            }
        });
    });
    std::vector<AnyArgument> arguments;
    flat.add_arguments(arguments);
    arguments.emplace_back(flags);
    arguments.emplace_back(static_cast<u32>(length));
    for (const algorithms::Target& target : execution.targets())
        algorithms::launch(kernel.over(offsets.size()), target, arguments);
    return segments;
}

}  // namespace volley
