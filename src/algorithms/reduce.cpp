// Reductions: checks, results, and the launches of one or two stages.
#include "algorithms/reduce_plan.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/algorithms/reduce.hpp>

#include <bit>
#include <utility>

namespace volley {
namespace {

using detail::Reduction;

Shape result_shape(const Shape& shape, const std::vector<bool>& reduced, bool keepdims) {
    std::vector<std::int64_t> extents;
    for (int axis = 0; axis < shape.rank(); ++axis) {
        if (!reduced[static_cast<std::size_t>(axis)]) {
            extents.push_back(shape[axis]);
        } else if (keepdims) {
            extents.push_back(1);
        }
    }
    return Shape(std::span<const std::int64_t>(extents));
}

bool has_identity(Reduction reduction) {
    switch (reduction) {
        case Reduction::Min:
        case Reduction::Max:
        case Reduction::ArgMin:
        case Reduction::ArgMax:
        case Reduction::Mean: return false;
        default: return true;
    }
}

void check_count(const detail::ReduceCall& call, const Shape& shape, std::int64_t results,
                 std::int64_t count) {
    if (results == 0) return;
    if (call.reduction == Reduction::Variance || call.reduction == Reduction::Stddev) {
        if (static_cast<double>(count) > call.ddof) return;
        fail(ErrorCode::InvalidArgument,
             cat("the variance of ", count, count == 1 ? " element" : " elements", " with ddof ", call.ddof,
                 " is not defined"),
             cat(call.name, " of an array of shape ", shape.to_string()), "reduce more elements than ddof");
    }
    if (count > 0 || has_identity(call.reduction)) return;
    fail(ErrorCode::InvalidArgument, "a reduction of no elements has no result",
         cat(call.name, " of an array of shape ", shape.to_string()),
         "reduce at least one element, or use reduce::reduce() with an identity");
}

void check_tuning(const ReduceTuning& tuning, const algorithms::Execution& execution, std::string_view name) {
    if (tuning.local != 0 && !std::has_single_bit(tuning.local)) {
        fail(ErrorCode::InvalidArgument, cat("tuning.local is ", tuning.local, ", not a power of two"), name,
             "use a power of two, or 0 for the default");
    }
    if (tuning.unroll != 0 && (!std::has_single_bit(tuning.unroll) || tuning.unroll > 32)) {
        fail(ErrorCode::InvalidArgument,
             cat("tuning.unroll is ", tuning.unroll, ", not a power of two of at most 32"), name,
             "use 1, 2, 4, 8, 16 or 32, or 0 for the default");
    }
    for (const algorithms::Target& target : execution.targets()) {
        if (tuning.local <= target.device->max_local_size) continue;
        fail(ErrorCode::InvalidArgument,
             cat("tuning.local is ", tuning.local, ", but workgroups have at most ",
                 target.device->max_local_size, " invocations"),
             cat(name, " on ", target.device->id()), "use a smaller power of two, or 0 for the default");
    }
}

/// A checked call, without its output.
struct Request {
    Request(const detail::ReduceCall& reduction, const AnySource& array, const ReduceOptions& options)
        : call(reduction),
          source(array),
          reduced(algorithms::checked_axes(options.axes, source.shape().rank(), call.name)),
          shape(result_shape(source.shape(), reduced, options.keepdims)) {
        count = 1;
        for (int axis = 0; axis < source.shape().rank(); ++axis) {
            if (reduced[static_cast<std::size_t>(axis)]) count *= source.shape()[axis];
        }
        check_count(call, source.shape(), shape.elements(), count);
        if (call.reduction == Reduction::Operator && source.dtype() != call.result) {
            fail(ErrorCode::TypeMismatch,
                 cat("the operator takes ", call.result.name(), ", but the elements are ",
                     source.dtype().name()),
                 call.name, "convert the source, or use an operator of its type");
        }
    }

    Event run(const AnySink& to, const algorithms::Execution& execution, const ReduceTuning& tuning) const;

    const detail::ReduceCall& call;
    const AnySource& source;
    std::vector<bool> reduced;
    Shape shape;  // of the result
    std::int64_t count = 1;
};

Event Request::run(const AnySink& to, const algorithms::Execution& execution,
                   const ReduceTuning& tuning) const {
    check_tuning(tuning, execution, call.name);
    const algorithms::ReduceAxes axes = algorithms::reduce_axes(source.shape(), reduced, source.is_flat());
    const AnySource elements = source.reshape(axes.shape());
    const AnySink results = to.reshape(Shape(shape.elements()));
    const std::unique_ptr<algorithms::Reducer> reducer = algorithms::make_reducer(call, source.dtype());
    Event done;
    for (const algorithms::Target& target : execution.targets()) {
        const algorithms::ReduceTask task{target.device, tuning, source.is_flat(), reducer->commutative()};
        const algorithms::StagePlan first = algorithms::plan_elements(task, axes);
        if (first.splits == 1 && first.folded == 1) {
            done = run_stage(first, axes, {.source = &elements, .sink = &results}, *reducer, count, target);
            continue;
        }
        const algorithms::ReduceAxes rest = parts_axes(first, axes);
        const Shape size(rest.shape().elements());
        std::vector<AnyBuffer> parts;
        for (const DType type : reducer->state_types()) parts.push_back(execution.scratch(type, size));
        run_stage(first, axes, {.source = &elements, .parts = parts}, *reducer, count, target);
        done = run_stage(algorithms::plan_parts(task, rest), rest, {.states = parts, .sink = &results},
                         *reducer, count, target);
    }
    return done;
}

}  // namespace

AnyBuffer detail::reduce(const ReduceCall& call, const AnySource& source, const ReduceOptions& options) {
    const Request request(call, source, options);
    const algorithms::Execution execution(options.queue, {&source});
    const AnyBuffer result = execution.result(call.result, request.shape);
    static_cast<void>(request.run(result, execution, options.tuning));
    return result;
}

Event detail::reduce(const ReduceCall& call, const AnySink& to, const AnySource& source,
                     const ReduceOptions& options) {
    const Request request(call, source, options);
    algorithms::check_sink(to, call.result, request.shape, call.name);
    algorithms::check_no_overlap(to, source, false, call.name);
    const algorithms::Execution execution(options.queue, {&source}, {&to});
    return request.run(to, execution, options.tuning);
}

}  // namespace volley
