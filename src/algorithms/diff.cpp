// Differences of neighbours. Within an outer index, elements are numbered along the axis and the axes after
// it: the neighbour of element f is f + inner, in the input and in the output.
#include "algorithms/execution.hpp"
#include "algorithms/lines.hpp"
#include "algorithms/source_node.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/algorithms/diff.hpp>
#include <volley/lang/ids.hpp>

#include <algorithm>
#include <vector>

namespace volley {
namespace {

constexpr std::string_view name_of_diff = "diff";

void check_subtraction(const AnySource& from, const AnyFunction& subtract) {
    const std::span<const FunctionParameter> parameters = subtract.parameters();
    const DType type = from.dtype();
    const bool fits = parameters.size() == 2 && !parameters[0].is_buffer && !parameters[1].is_buffer &&
                      parameters[0].type == type && parameters[1].type == type && subtract.result() == type;
    if (fits) return;
    fail(ErrorCode::TypeMismatch, cat("the operator does not combine two values of ", type.name(), " to one"),
         name_of_diff, "use a function of two elements that returns an element");
}

Shape shape_of_differences(const Shape& shape, int axis) {
    std::vector<std::int64_t> extents(shape.begin(), shape.end());
    std::int64_t& length = extents[static_cast<std::size_t>(axis)];
    length = std::max<std::int64_t>(length - 1, 0);
    return Shape(std::span<const std::int64_t>(extents));
}

AnyKernel diff_kernel(const AnySink& to, const AnySource& from, const AnyFunction& subtract,
                      const algorithms::Lines& lines, bool rows) {
    KernelKey key("diff");
    lines.identify(key);
    key.add(rows).add(subtract.hash());
    to.identify(key);
    from.identify(key);
    return algorithms::find_kernel(key, [&] {
        return any_kernel(name_of_diff, {}, [&](ParameterList& parameters) {
            const StoreElement store = to.declare(parameters);
            const LoadElement load = from.declare(parameters);
            const algorithms::DeclaredLines in(parameters, lines, false);
            algorithms::Lines less = lines;
            less.shape = shape_of_differences(lines.shape, lines.axis);
            const algorithms::DeclaredLines out(parameters, less, false);
            const Value<u32>& inner = in.inner();
            const auto id = global_id();
            const Value<u32> block = out.length() * inner;
            const Value<u32> outer = rows ? Value<u32>(id.y) : id.x / block;
            const Value<u32> f = rows ? Value<u32>(id.x) : id.x - outer * block;
            const auto numbers = [&](const algorithms::DeclaredLines& of) {
                return lines.outer() == 1 ? f : outer * (of.length() * inner) + f;
            };
            if (lines.flat) {
                const Value<u32> first = numbers(in);
                const AnyValue next = load(Position(first + inner));
                store(Position(numbers(out)), subtract.call({next, load(Position(first))}));
                return;
            }
            const Value<u32> k = f / inner;
            const Value<u32> across = f - k * inner;
            const algorithms::Line from_line = in.line(outer, across);
            const AnyValue next = load(from_line.at(k + 1U));
            store(out.line(outer, across).at(k), subtract.call({next, load(from_line.at(k))}));
        });
    });
}

}  // namespace

Event detail::run_diff(const AnySink& to, const AnySource& from, const AnyFunction& subtract,
                       const DiffOptions& options) {
    check_subtraction(from, subtract);
    algorithms::Lines lines{
        .shape = from.shape(),
        .axis = algorithms::checked_axis(options.axis, from.shape().rank(), name_of_diff)};
    algorithms::check_sink(to, from.dtype(), shape_of_differences(lines.shape, lines.axis), name_of_diff);
    algorithms::check_no_overlap(to, from, false, name_of_diff);
    lines.flat = from.is_flat() && to.is_flat();
    const algorithms::Execution execution(options.queue, {&from}, {&to});
    Event done;
    const std::int64_t count = to.shape().elements();
    if (count == 0) return done;
    algorithms::Lines less = lines;
    less.shape = to.shape();
    std::vector<AnyArgument> arguments;
    to.add_arguments(arguments);
    from.add_arguments(arguments);
    lines.add_arguments(arguments);
    less.add_arguments(arguments);
    // Rows of a grid need no division, but devices limit their number.
    constexpr std::int64_t most_rows = 65535, long_row = 64;
    const std::int64_t outer = lines.outer();
    const bool rows = outer == 1 || (outer <= most_rows && count / outer >= long_row);
    const AnyKernel kernel = diff_kernel(to, from, subtract, lines, rows)
                                 .over(rows ? GridSize{count / outer, outer} : GridSize{count});
    for (const algorithms::Target& target : execution.targets())
        done = algorithms::launch(kernel, target, arguments);
    return done;
}

AnyBuffer detail::new_diff(const AnySource& from, const AnyFunction& subtract, const DiffOptions& options) {
    const int axis = algorithms::checked_axis(options.axis, from.shape().rank(), name_of_diff);
    const algorithms::Execution execution(options.queue, {&from});
    AnyBuffer result = execution.result(from.dtype(), shape_of_differences(from.shape(), axis));
    run_diff(result, from, subtract, options);
    return result;
}

}  // namespace volley
