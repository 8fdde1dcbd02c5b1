// Binary searches. The number of steps depends only on the length of the array, so that all invocations take
// the same ones, without branches.
#include "algorithms/execution.hpp"
#include "algorithms/sort_keys.hpp"
#include "algorithms/source_node.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/algorithms/searchsorted.hpp>
#include <volley/algorithms/transform.hpp>
#include <volley/lang/cast.hpp>
#include <volley/lang/control.hpp>
#include <volley/lang/ids.hpp>
#include <volley/lang/operators.hpp>
#include <volley/lang/var.hpp>

#include <string_view>
#include <utility>
#include <vector>

namespace volley {
namespace {

using algorithms::Execution;
using algorithms::Target;

constexpr std::string_view searching = "searchsorted";

/// Whether one element comes before another, while a kernel is traced.
class SearchOrder {
public:
    SearchOrder(std::optional<AnyFunction> less, bool descending)
        : less_(std::move(less)), descending_(descending) {}

    [[nodiscard]] Value<bool> before(const AnyValue& x, const AnyValue& y) const {
        return descending_ ? ascending(y, x) : ascending(x, y);
    }

private:
    [[nodiscard]] Value<bool> ascending(const AnyValue& x, const AnyValue& y) const {
        if (less_) return less_->call({x, y}).as<bool>();
        if (x.dtype() == dtype_of<bool>()) return !x.as<bool>() && y.as<bool>();
        const Value<bool> less = compare(ir::Op::Lt, x, y);
        if (!x.dtype().is_float()) return less;
        return less || (compare(ir::Op::Ne, y, y) && compare(ir::Op::Eq, x, x));
    }

    std::optional<AnyFunction> less_;
    bool descending_;
};

AnyKernel search_kernel(const AnySink& to, const AnySource& sorted, const AnySource& values,
                        const std::optional<AnyFunction>& less, const SearchOptions& options) {
    KernelKey key("searchsorted");
    key.add(options.side).add(options.descending).add(less.has_value());
    if (less) key.add(less->hash());
    to.identify(key);
    sorted.identify(key);
    values.identify(key);
    return algorithms::find_kernel(key, [&] {
        return any_kernel(searching, {}, [&](ParameterList& list) {
            const StoreElement store = to.declare(list);
            const LoadElement load = sorted.declare(list), load_value = values.declare(list);
            const Value<u32> length = list.value<u32>();
            const SearchOrder order(less, options.descending);
            const Value<u32> i = global_id().x;
            const AnyValue v = load_value(Position(i));
            // Returns whether v belongs after the element.
            const auto after = [&](const Value<u32>& at) {
                const AnyValue x = load(Position(at));
                return options.side == SearchSide::Left ? order.before(x, v) : !order.before(v, x);
            };
            Var<u32> begin = 0U;
            Var<u32> rest = length;  // the place is from `begin` to `begin` + `rest`
            $while (Value<u32>(rest) > 1U) {
                const Value<u32> half = Value<u32>(rest) / 2U;
                const Value<u32> from = begin;
                begin = from + select(after(from + half - 1U), half, 0U);
                rest -= half;
            }
            const Value<u32> last = begin;
            store(Position(i), last + select(after(last), 1U, 0U));
        });
    });
}

}  // namespace

Event detail::run_search(const AnySink& to, const AnySource& sorted, const AnySource& values,
                         const std::optional<AnyFunction>& less, const SearchOptions& options) {
    if (sorted.dtype() != values.dtype()) {
        fail(ErrorCode::TypeMismatch,
             cat("the array has elements of ", sorted.dtype().name(), ", but the values are ",
                 values.dtype().name()),
             searching, "convert one of them");
    }
    algorithms::check_order(sorted.dtype(), less, searching);
    if (sorted.shape().rank() != 1) {
        fail(ErrorCode::InvalidShape, cat("the sorted array has the shape ", sorted.shape().to_string()),
             searching, "use an array with one axis");
    }
    algorithms::check_sink(to, dtype_of<u32>(), values.shape(), searching);
    algorithms::check_no_overlap(to, sorted, false, searching);
    algorithms::check_no_overlap(to, values, true,
                                 searching);  // each value is read before its place is stored
    const Execution execution(options.queue, {&sorted, &values}, {&to});
    if (values.size() == 0) return {};
    if (sorted.size() == 0)
        return transform(to, AnySource::filled(to.shape(), u32{0}), {.queue = options.queue});
    const Shape line(values.size());
    const AnySink line_to = to.reshape(line);
    const AnySource line_values = values.reshape(line);
    const AnyKernel kernel = search_kernel(line_to, sorted, line_values, less, options);
    std::vector<AnyArgument> arguments;
    line_to.add_arguments(arguments);
    sorted.add_arguments(arguments);
    line_values.add_arguments(arguments);
    arguments.emplace_back(static_cast<u32>(sorted.size()));
    Event done;
    for (const Target& target : execution.targets())
        done = algorithms::launch(kernel.over(values.size()), target, arguments);
    return done;
}

AnyBuffer detail::new_search(const AnySource& sorted, const AnySource& values,
                             const std::optional<AnyFunction>& less, const SearchOptions& options) {
    const Execution execution(options.queue, {&sorted, &values});
    AnyBuffer result = execution.result(dtype_of<u32>(), values.shape());
    run_search(result, sorted, values, less, options);
    return result;
}

Event searchsorted(const AnySink& to, const AnySource& sorted, const AnySource& values,
                   const SearchOptions& options) {
    return detail::run_search(to, sorted, values, {}, options);
}

}  // namespace volley
