// Merges along an axis. Element d of a merged row comes from the first i elements of a and the first d - i of
// b, for a number i that bisection finds (merge path). Each invocation does so for the start of its strip,
// and merges from there.
#include "algorithms/execution.hpp"
#include "algorithms/sort_keys.hpp"
#include "algorithms/sort_rows.hpp"
#include "algorithms/source_node.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/algorithms/merge.hpp>
#include <volley/algorithms/transform.hpp>
#include <volley/lang/cast.hpp>
#include <volley/lang/control.hpp>
#include <volley/lang/ids.hpp>
#include <volley/lang/math.hpp>
#include <volley/lang/operators.hpp>
#include <volley/lang/var.hpp>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace volley {
namespace {

using algorithms::Execution;
using algorithms::KeyCode;
using algorithms::RowPositions;
using algorithms::Rows;
using algorithms::Target;
using detail::MergeInputs;

constexpr u32 longest_merge_strip = 1U << 15U;  // drivers may end longer loops early

struct MergeCall {
    std::string_view name;
    AnySink to;
    std::optional<AnySink> values_to;
    MergeInputs inputs;
    const MergeOptions& options;
    Rows rows_a, rows_b, rows;

    [[nodiscard]] bool pairs() const { return values_to.has_value(); }
};

std::int64_t merge_strip(const MergeCall& call, const DeviceInfo& device) {
    if (call.options.tuning.strip != 0) return call.options.tuning.strip;
    const DeviceClass kind = device_class(device);
    if (kind == DeviceClass::Gpu) return 16;
    const std::int64_t workers =
        std::int64_t{8} * std::max(device.compute_units, 1U) * std::max(device.subgroup_size, 1U);
    return std::clamp<std::int64_t>(algorithms::divide_up(call.rows.elements(), workers), 64,
                                    kind == DeviceClass::Cpu ? 4096 : longest_merge_strip / 2);
}

/// The order of the elements, while a kernel is traced.
class MergeOrder {
public:
    MergeOrder(const MergeInputs& inputs, bool descending)
        : code_{inputs.a.dtype(), descending}, less_(inputs.less), descending_(descending) {}

    /// Returns what is compared in place of an element.
    [[nodiscard]] AnyValue key(const AnyValue& x) const { return less_ ? x : code_.encode(x); }
    [[nodiscard]] Value<bool> before(const AnyValue& x, const AnyValue& y) const {
        if (!less_) return compare(ir::Op::Lt, x, y);
        return (descending_ ? less_->call({y, x}) : less_->call({x, y})).as<bool>();
    }

private:
    KeyCode code_;
    std::optional<AnyFunction> less_;
    bool descending_;
};

AnyKernel merge_kernel(const MergeCall& call, RowPositions& at_a, RowPositions& at_b, RowPositions& at) {
    const MergeInputs& inputs = call.inputs;
    KernelKey key("merge");
    key.add(call.pairs()).add(call.options.descending).add(inputs.less.has_value());
    if (inputs.less) key.add(inputs.less->hash());
    call.to.identify(key);
    inputs.a.identify(key);
    inputs.b.identify(key);
    if (call.pairs()) {
        call.values_to->identify(key);
        inputs.values_a->identify(key);
        inputs.values_b->identify(key);
    }
    for (const RowPositions* positions : {&at_a, &at_b, &at}) positions->identify(key);
    return algorithms::find_kernel(key, [&] {
        return any_kernel(call.name, {}, [&](ParameterList& list) {
            const StoreElement store = call.to.declare(list);
            const LoadElement load_a = inputs.a.declare(list), load_b = inputs.b.declare(list);
            StoreElement store_value;
            LoadElement value_a, value_b;
            if (call.pairs()) {
                store_value = call.values_to->declare(list);
                value_a = inputs.values_a->declare(list);
                value_b = inputs.values_b->declare(list);
            }
            for (RowPositions* positions : {&at_a, &at_b, &at}) positions->declare(list);
            const Value<u32> length_a = list.value<u32>(), length_b = list.value<u32>();
            const Value<u32> strip = list.value<u32>();
            const MergeOrder order(inputs, call.options.descending);
            const Value<u32> row = global_id().y;
            const Value<u32> begin = global_id().x * strip;
            const Value<u32> length = length_a + length_b;
            const Value<u32> end = min(begin + min(strip, length - begin), length);

            // The first i for which a[i] is not merged before element `begin`.
            Var<u32> low = select(begin > length_b, begin - length_b, 0U);
            Var<u32> high = min(begin, length_a);
            $while (Value<u32>(low) < Value<u32>(high)) {
                const Value<u32> middle = Value<u32>(low) + (Value<u32>(high) - Value<u32>(low)) / 2U;
                const AnyValue x = order.key(load_a(at_a.at(row, middle)));
                const AnyValue y = order.key(load_b(at_b.at(row, begin - 1U - middle)));
                $if (order.before(y, x)) {
                    high = middle;
                }
                $else { low = middle + 1U; }
            }
            Var<u32> i = Value<u32>(low);
            Var<u32> j = begin - Value<u32>(low);
            // Beyond an end, the last element is loaded, and not used.
            const auto from_a = [&] { return load_a(at_a.at(row, min(Value<u32>(i), length_a - 1U))); };
            const auto from_b = [&] { return load_b(at_b.at(row, min(Value<u32>(j), length_b - 1U))); };
            AnyVar x(from_a()), y(from_b());
            $for (k, begin, end) {
                const AnyValue here_a = x.load(), here_b = y.load();
                const Value<bool> take_b =
                    Value<u32>(i) >= length_a ||
                    (Value<u32>(j) < length_b && order.before(order.key(here_b), order.key(here_a)));
                const Position to = at.at(row, k);
                $if (take_b) {
                    store(to, here_b);
                    if (store_value) store_value(to, value_b(at_b.at(row, j)));
                    j += 1U;
                    y = from_b();
                }
                $else {
                    store(to, here_a);
                    if (store_value) store_value(to, value_a(at_a.at(row, i)));
                    i += 1U;
                    x = from_a();
                }
            }
        });
    });
}

Event merge_on(const MergeCall& call, const Target& target) {
    const MergeInputs& inputs = call.inputs;
    const bool pairs = call.pairs();
    RowPositions at_a(call.rows_a, {&inputs.a, pairs ? &*inputs.values_a : &inputs.a});
    RowPositions at_b(call.rows_b, {&inputs.b, pairs ? &*inputs.values_b : &inputs.b});
    RowPositions at(call.rows, {}, {&call.to, pairs ? &*call.values_to : &call.to});
    const AnyKernel kernel = merge_kernel(call, at_a, at_b, at);
    std::vector<AnyArgument> arguments;
    call.to.add_arguments(arguments);
    inputs.a.add_arguments(arguments);
    inputs.b.add_arguments(arguments);
    if (pairs) {
        call.values_to->add_arguments(arguments);
        inputs.values_a->add_arguments(arguments);
        inputs.values_b->add_arguments(arguments);
    }
    for (const RowPositions* positions : {&at_a, &at_b, &at}) positions->add_arguments(arguments);
    const std::int64_t strip = merge_strip(call, *target.device);
    for (const std::int64_t x : {call.rows_a.length, call.rows_b.length, strip})
        arguments.emplace_back(static_cast<u32>(x));
    const std::int64_t strips = algorithms::divide_up(call.rows.length, strip);
    return algorithms::launch(kernel.over({strips, call.rows.count}), target, arguments);
}

// ---- checks ----

void check_merge_inputs(const MergeInputs& inputs, std::string_view name) {
    const DType type = inputs.a.dtype();
    if (inputs.b.dtype() != type) {
        fail(ErrorCode::TypeMismatch,
             cat("the arrays have elements of ", type.name(), " and of ", inputs.b.dtype().name()), name,
             "convert one of them");
    }
    algorithms::check_order(type, inputs.less, name);
    if (!inputs.values_a) return;
    if (inputs.values_a->dtype() != inputs.values_b->dtype()) {
        fail(
            ErrorCode::TypeMismatch,
            cat("the values are ", inputs.values_a->dtype().name(), " and ", inputs.values_b->dtype().name()),
            name, "convert one of them");
    }
    const auto check_values = [&](const AnySource& keys, const AnySource& values) {
        if (keys.shape() == values.shape()) return;
        fail(ErrorCode::SizeMismatch,
             cat("the values have the shape ", values.shape().to_string(), ", but the keys have ",
                 keys.shape().to_string()),
             name, "use one value for each key");
    };
    check_values(inputs.a, *inputs.values_a);
    check_values(inputs.b, *inputs.values_b);
}

/// Returns the shape of the result.
Shape merged_shape(const MergeInputs& inputs, const MergeOptions& options, std::string_view name) {
    const Shape &a = inputs.a.shape(), &b = inputs.b.shape();
    const int axis = algorithms::checked_axis(options.axis, a.rank(), name);
    bool fits = a.rank() == b.rank();
    for (int k = 0; fits && k < a.rank(); ++k) fits = k == axis || a[k] == b[k];
    if (!fits) {
        fail(ErrorCode::SizeMismatch,
             cat("arrays of the shapes ", a.to_string(), " and ", b.to_string(),
                 " cannot be merged along axis ", axis),
             name, "use arrays that differ only along this axis");
    }
    std::vector<std::int64_t> extents(a.begin(), a.end());
    extents[static_cast<std::size_t>(axis)] += b[axis];
    const Shape result{std::span<const std::int64_t>(extents)};
    detail::check_countable(result, name);
    return result;
}

}  // namespace

Event detail::run_merge(const AnySink& to, const std::optional<AnySink>& values_to, const MergeInputs& inputs,
                        const MergeOptions& options) {
    const std::string_view name = values_to ? "merge_by_key" : "merge";
    check_merge_inputs(inputs, name);
    if (options.tuning.strip > longest_merge_strip) {
        fail(ErrorCode::InvalidArgument,
             cat("the tuning parameter strip, ", options.tuning.strip, ", is out of range"), name,
             cat("use at most ", longest_merge_strip));
    }
    const Shape shape = merged_shape(inputs, options, name);
    algorithms::check_sink(to, inputs.a.dtype(), shape, name);
    if (values_to) {
        algorithms::check_sink(*values_to, inputs.values_a->dtype(), shape, name);
        algorithms::check_apart(to, *values_to, name);
    }
    std::vector<const AnySource*> sources{&inputs.a, &inputs.b};
    if (inputs.values_a) sources.insert(sources.end(), {&*inputs.values_a, &*inputs.values_b});
    for (const AnySource* source : sources) {
        algorithms::check_no_overlap(to, *source, false, name);
        if (values_to) algorithms::check_no_overlap(*values_to, *source, false, name);
    }
    const Execution execution(options.queue,
                              {sources[0], sources[1], sources[sources.size() - 2], sources.back()},
                              {&to, values_to ? &*values_to : &to});
    if (shape.elements() == 0) return {};
    if (inputs.a.size() == 0 || inputs.b.size() == 0) {
        const bool first = inputs.a.size() != 0;
        const Event done = transform(to, first ? inputs.a : inputs.b, {.queue = options.queue});
        if (!values_to) return done;
        return transform(*values_to, first ? *inputs.values_a : *inputs.values_b, {.queue = options.queue});
    }
    const MergeCall call{name,
                         to,
                         values_to,
                         inputs,
                         options,
                         Rows(inputs.a.shape(), options.axis, name),
                         Rows(inputs.b.shape(), options.axis, name),
                         Rows(shape, options.axis, name)};
    Event done;
    for (const Target& target : execution.targets()) done = merge_on(call, target);
    return done;
}

std::pair<AnyBuffer, AnyBuffer> detail::new_merge(const MergeInputs& inputs, const MergeOptions& options) {
    const bool pairs = inputs.values_a.has_value();
    const std::string_view name = pairs ? "merge_by_key" : "merge";
    check_merge_inputs(inputs, name);
    const Shape shape = merged_shape(inputs, options, name);
    const AnySource& values_a = pairs ? *inputs.values_a : inputs.a;
    const AnySource& values_b = pairs ? *inputs.values_b : inputs.b;
    const Execution execution(options.queue, {&inputs.a, &inputs.b, &values_a, &values_b});
    std::pair<AnyBuffer, AnyBuffer> result{execution.result(inputs.a.dtype(), shape), AnyBuffer()};
    std::optional<AnySink> values_to;
    if (pairs) {
        result.second = execution.result(values_a.dtype(), shape);
        values_to = result.second;
    }
    run_merge(result.first, values_to, inputs, options);
    return result;
}

Event merge(const AnySink& to, const AnySource& a, const AnySource& b, const MergeOptions& options) {
    return detail::run_merge(to, {}, {.a = a, .b = b}, options);
}

Event merge_by_key(const AnySink& keys_to, const AnySink& values_to, const AnySource& keys_a,
                   const AnySource& values_a, const AnySource& keys_b, const AnySource& values_b,
                   const MergeOptions& options) {
    return detail::run_merge(keys_to, values_to,
                             {.a = keys_a, .b = keys_b, .values_a = values_a, .values_b = values_b}, options);
}

}  // namespace volley
