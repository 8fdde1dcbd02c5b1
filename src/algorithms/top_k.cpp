// The first elements of sorted rows: sorts short rows. Of long rows, selects the last key that belongs to the
// result, then collects the elements with lesser keys and as many with that key as are missing, in their
// order, and sorts these.
#include "algorithms/ranks.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/algorithms/sort.hpp>
#include <volley/algorithms/top_k.hpp>
#include <volley/lang/cast.hpp>
#include <volley/lang/control.hpp>
#include <volley/lang/ids.hpp>
#include <volley/lang/math.hpp>
#include <volley/lang/operators.hpp>
#include <volley/lang/subgroup.hpp>
#include <volley/lang/var.hpp>

#include <algorithm>
#include <string_view>

namespace volley {
namespace {

using algorithms::divide_up;
using algorithms::Execution;
using algorithms::KeyCode;
using algorithms::RankSelection;
using algorithms::RowPositions;
using algorithms::Rows;
using algorithms::Target;

/// A checked call, without its outputs.
struct TopCall {
    TopCall(std::string_view call_name, const AnySource& call_source, std::int64_t call_k,
            const TopKOptions& call_options)
        : name(call_name),
          source(call_source),
          options(call_options),
          rows(source.shape(), call_options.axis, call_name),
          k(call_k),
          code{source.dtype(), call_options.largest} {
        algorithms::check_sortable(source.dtype(), name);
        if (k < 1 || k > rows.length) {
            fail(ErrorCode::InvalidArgument,
                 cat("k is ", k, ", but the axis has ", rows.length,
                     rows.length == 1 ? " element" : " elements"),
                 name, "use a k from 1 to the length of the axis");
        }
        shape = rows.with_length(k);
    }

    Event run(const AnySink* values_to, const AnySink& indices_to, const Execution& execution) const;

    std::string_view name;
    const AnySource& source;
    const TopKOptions& options;
    Rows rows;
    std::int64_t k;
    KeyCode code;
    Shape shape;  // of the results
};

// Stores the results. `order` has the indices of the elements: in the shape of the source if `whole`, else as
// [row][k].
Event store_top(const TopCall& call, const AnyBuffer& order, bool whole, const AnySink* values_to,
                const AnySink& indices_to, const Target& target) {
    const Rows result_rows(call.shape, call.rows.axis, call.name);
    RowPositions from(call.rows, {&call.source});
    RowPositions to(result_rows, {}, {&indices_to, values_to != nullptr ? values_to : &indices_to});
    KernelKey key("top_k store");
    key.add(values_to != nullptr).add(whole);
    from.identify(key);
    to.identify(key);
    call.source.identify(key);
    indices_to.identify(key);
    if (values_to != nullptr) values_to->identify(key);
    const AnyKernel kernel = algorithms::find_kernel(key, [&] {
        return any_kernel("top_k.store", {}, [&](ParameterList& list) {
            const AnyArray numbers = list.const_buffer(dtype_of<u32>());
            const StoreElement store_index = indices_to.declare(list);
            const StoreElement store_value = values_to != nullptr ? values_to->declare(list) : StoreElement();
            const LoadElement load = values_to != nullptr ? call.source.declare(list) : LoadElement();
            const Value<u32> k = list.value<u32>();
            from.declare(list);
            to.declare(list);
            const Value<u32> j = global_id().x, row = global_id().y;
            const Value<u32> index = numbers.load(whole ? from.at(row, j).number() : row * k + j).as<u32>();
            const Position at = to.at(row, j);
            store_index(at, index);
            if (values_to != nullptr) store_value(at, load(from.at(row, index)));
        });
    });
    std::vector<AnyArgument> arguments{order};
    indices_to.add_arguments(arguments);
    if (values_to != nullptr) {
        values_to->add_arguments(arguments);
        call.source.add_arguments(arguments);
    }
    arguments.emplace_back(static_cast<u32>(call.k));
    from.add_arguments(arguments);
    to.add_arguments(arguments);
    return algorithms::launch(kernel.over({call.k, call.rows.count}), target, arguments);
}

/// How rows are divided for collecting.
struct CollectPlan {
    std::int64_t strip = 0;
    std::int64_t strips = 0;
};

/// The parameters of the kernels that read strips.
struct StripReader {
    StripReader(ParameterList& list, const TopCall& call, RowPositions& row_positions, unsigned lane_count)
        : call_(call),
          lanes(lane_count),
          limits(list.const_buffer(call.code.word())),
          load(call.source.declare(list)),
          length(list.value<u32>()),
          strip(list.value<u32>()),
          strips(list.value<u32>()),
          positions(row_positions) {
        positions.declare(list);
    }
    static void add_arguments(std::vector<AnyArgument>& arguments, const TopCall& call,
                              const CollectPlan& plan, const AnyBuffer& limits,
                              const RowPositions& positions) {
        arguments.emplace_back(limits);
        call.source.add_arguments(arguments);
        for (const std::int64_t x : {call.rows.length, plan.strip, plan.strips})
            arguments.emplace_back(static_cast<u32>(x));
        positions.add_arguments(arguments);
    }

    /// Records `body(row, at)` for the strip of this workgroup, which is one subgroup; `at` is the place of
    /// its two numbers.
    template <class F>
    void for_strip(F&& body) const {
        const Value<u32> group = group_id().x;
        body(group / strips, group * 2U);
    }
    /// Records `body(i, key, less, equal)` for the elements of the strip; the flags are 0 or 1. Lanes have
    /// neighbouring elements.
    template <class F>
    void each(const Value<u32>& row, F&& body) const {
        const AnyValue limit = limits.load(row * 2U);
        const Value<u32> begin = (Value<u32>(group_id().x) - row * strips) * strip;
        const Value<u32> end = begin + min(strip, length - begin);
        $for (first, begin, end, lanes) {
            const Value<u32> i = first + lane();
            const Value<u32> loaded = lanes == 1 ? i : min(i, end - 1U);
            const AnyValue key = call_.code.encode(load(positions.at(row, loaded)));
            const auto flag = [&](ir::Op op) {
                const Value<bool> holds = compare(op, key, limit);
                return select(lanes == 1 ? holds : holds && i < end, Value<u32>(1U), Value<u32>(0U));
            };
            body(i, key, flag(ir::Op::Lt), flag(ir::Op::Eq));
        }
    }
    [[nodiscard]] Value<u32> lane() const {
        return lanes == 1 ? Value<u32>(0U) : Value<u32>(subgroup_lane());
    }
    [[nodiscard]] Value<u32> sum(const Value<u32>& own) const { return lanes == 1 ? own : subgroup_add(own); }
    [[nodiscard]] Value<u32> before(const Value<u32>& own) const {
        return lanes == 1 ? Value<u32>(0U) : subgroup_exclusive_add(own);
    }
    /// Records a body for one lane.
    template <class F>
    void once(F&& body) const {
        if (lanes == 1) {
            body();
            return;
        }
        $if (lane() == 0U) {
            body();
        }
    }

    const TopCall& call_;
    unsigned lanes;
    AnyArray limits;
    LoadElement load;
    Value<u32> length, strip, strips;
    RowPositions& positions;
};

KernelKey collect_key(std::string_view name, const TopCall& call, const RowPositions& positions,
                      unsigned lanes) {
    KernelKey key(name);
    key.add(call.code.type).add(call.code.descending).add(lanes);
    positions.identify(key);
    call.source.identify(key);
    return key;
}

// Counts the elements before and at the limit in each strip: counts[row][strip][2].
AnyKernel count_kernel(const TopCall& call, RowPositions& positions, unsigned lanes) {
    return algorithms::find_kernel(collect_key("top_k count", call, positions, lanes), [&] {
        return any_kernel("top_k.count", {.local = {lanes}}, [&](ParameterList& list) {
            const AnyArray counts = list.buffer(dtype_of<u32>());
            const StripReader reader(list, call, positions, lanes);
            reader.for_strip([&](const Value<u32>& row, const Value<u32>& at) {
                Var<u32> less = 0U, equal = 0U;
                reader.each(row, [&](const Value<u32>&, const AnyValue&, const Value<u32>& is_less,
                                     const Value<u32>& is_equal) {
                    less += is_less;
                    equal += is_equal;
                });
                const Value<u32> all_less = reader.sum(less), all_equal = reader.sum(equal);
                reader.once([&] {
                    counts.store(at, all_less);
                    counts.store(at + 1U, all_equal);
                });
            });
        });
    });
}

// Replaces the counts of strips by the places of their first elements. Elements at the limit follow those
// before it.
AnyKernel place_kernel() {
    return algorithms::find_kernel(KernelKey("top_k place"), [] {
        return any_kernel("top_k.place", {}, [](ParameterList& list) {
            const AnyArray counts = list.buffer(dtype_of<u32>());
            const Value<u32> strips = list.value<u32>();
            const Value<u32> row = global_id().x;
            Var<u32> less = 0U, equal = 0U;
            $for (s, 0U, strips) {
                less += counts.load((row * strips + s) * 2U).as<u32>();
            }
            equal = Value<u32>(less);
            less = 0U;
            $for (s, 0U, strips) {
                const Value<u32> at = (row * strips + s) * 2U;
                const Value<u32> own_less = counts.load(at).as<u32>();
                const Value<u32> own_equal = counts.load(at + 1U).as<u32>();
                counts.store(at, Value<u32>(less));
                counts.store(at + 1U, Value<u32>(equal));
                less += own_less;
                equal += own_equal;
            }
        });
    });
}

AnyKernel collect_kernel(const TopCall& call, RowPositions& positions, unsigned lanes) {
    return algorithms::find_kernel(collect_key("top_k collect", call, positions, lanes), [&] {
        return any_kernel("top_k.collect", {.local = {lanes}}, [&](ParameterList& list) {
            const AnyArray places = list.const_buffer(dtype_of<u32>());
            const AnyArray keys = list.buffer(call.code.word()), order = list.buffer(dtype_of<u32>());
            const Value<u32> k = list.value<u32>();
            const StripReader reader(list, call, positions, lanes);
            reader.for_strip([&](const Value<u32>& row, const Value<u32>& at) {
                Var<u32> less = places.load(at).as<u32>(), equal = places.load(at + 1U).as<u32>();
                reader.each(row, [&](const Value<u32>& i, const AnyValue& key, const Value<u32>& is_less,
                                     const Value<u32>& is_equal) {
                    const Value<u32> less_place = less + reader.before(is_less);
                    const Value<u32> equal_place = equal + reader.before(is_equal);
                    const Value<u32> place = select(is_less != 0U, less_place, equal_place);
                    $if ((is_less | is_equal) != 0U && place < k) {
                        keys.store(row * k + place, key);
                        order.store(row * k + place, i);
                    }
                    less += reader.sum(is_less);
                    equal += reader.sum(is_equal);
                });
            });
        });
    });
}

/// Returns the indices of the first elements of each row, in order: [row][k].
AnyBuffer collect(const TopCall& call, const Execution& execution, const Target& target) {
    const RankSelection selection{.source = call.source,
                                  .rows = call.rows,
                                  .code = call.code,
                                  .fractions = false,
                                  .numbers = false,
                                  .next = false,
                                  .targets = {{static_cast<std::uint64_t>(call.k - 1)}}};
    const algorithms::SelectedRanks limits = algorithms::select_ranks(execution, target, selection, {});
    const DeviceInfo& device = *target.device;
    const unsigned lanes = device.subgroups ? std::max(device.subgroup_size, 1U) : 1;
    const std::int64_t groups =
        std::max<std::int64_t>(device.compute_units, 1) * (device_class(device) == DeviceClass::Gpu ? 32 : 4);
    // A driver may end loops after 65,535 iterations.
    const std::int64_t least_strip = std::int64_t{lanes} * 64, most_strip = std::int64_t{lanes} * 32 * 1024;
    CollectPlan plan;
    plan.strip = call.options.tuning.strip != 0
                     ? std::int64_t{call.options.tuning.strip}
                     : std::clamp(divide_up(call.rows.elements(), groups), least_strip, most_strip);
    plan.strip = std::min(plan.strip, call.rows.length);
    plan.strips = divide_up(call.rows.length, plan.strip);

    RowPositions positions(call.rows, {&call.source});
    const AnyBuffer places =
        execution.scratch(dtype_of<u32>(), {call.rows.count, plan.strips, std::int64_t{2}});
    const Shape shape{call.rows.count, call.k};
    const AnyBuffer keys = execution.scratch(call.code.word(), shape);
    const AnyBuffer order = execution.scratch(dtype_of<u32>(), shape);
    std::vector<AnyArgument> arguments{places};
    StripReader::add_arguments(arguments, call, plan, limits.keys, positions);
    algorithms::launch(count_kernel(call, positions, lanes).groups(plan.strips * call.rows.count), target,
                       arguments);
    algorithms::launch(place_kernel().over(call.rows.count), target,
                       std::vector<AnyArgument>{places, static_cast<u32>(plan.strips)});
    arguments = {places, keys, order, static_cast<u32>(call.k)};
    StripReader::add_arguments(arguments, call, plan, limits.keys, positions);
    algorithms::launch(collect_kernel(call, positions, lanes).groups(plan.strips * call.rows.count), target,
                       arguments);
    sort_by_key(keys, order, keys, order, {.queue = target.queue});
    return order;
}

Event TopCall::run(const AnySink* values_to, const AnySink& indices_to, const Execution& execution) const {
    if (rows.empty()) return {};
    const std::int64_t sorted = options.tuning.sorted != 0 ? options.tuning.sorted : 512;
    Event done;
    for (const Target& target : execution.targets()) {
        if (rows.length <= sorted || k > rows.length / 8) {
            const AnyBuffer order = execution.scratch(dtype_of<u32>(), rows.shape);
            argsort(order, source, {.axis = rows.axis, .descending = options.largest, .queue = target.queue});
            done = store_top(*this, order, true, values_to, indices_to, target);
        } else {
            done = store_top(*this, collect(*this, execution, target), false, values_to, indices_to, target);
        }
    }
    return done;
}

void check_outputs(const TopCall& call, const AnySink* values_to, const AnySink& indices_to) {
    algorithms::check_sink(indices_to, dtype_of<u32>(), call.shape, call.name);
    algorithms::check_no_overlap(indices_to, call.source, false, call.name);
    if (values_to == nullptr) return;
    algorithms::check_sink(*values_to, call.source.dtype(), call.shape, call.name);
    algorithms::check_no_overlap(*values_to, call.source, false, call.name);
    algorithms::check_apart(*values_to, indices_to, call.name);
}

}  // namespace

Event top_k(const AnySink& values_to, const AnySink& indices_to, const AnySource& from, std::int64_t k,
            const TopKOptions& options) {
    const TopCall call("top_k", from, k, options);
    check_outputs(call, &values_to, indices_to);
    return call.run(&values_to, indices_to, Execution(options.queue, {&from}, {&values_to, &indices_to}));
}

Event argtop_k(const AnySink& to, const AnySource& from, std::int64_t k, const TopKOptions& options) {
    const TopCall call("argtop_k", from, k, options);
    check_outputs(call, nullptr, to);
    return call.run(nullptr, to, Execution(options.queue, {&from}, {&to}));
}

std::pair<AnyBuffer, AnyBuffer> detail::top_elements(const AnySource& from, std::int64_t k,
                                                     const TopKOptions& options) {
    const TopCall call("top_k", from, k, options);
    const Execution execution(options.queue, {&from});
    std::pair<AnyBuffer, AnyBuffer> result{execution.result(from.dtype(), call.shape),
                                           execution.result(dtype_of<u32>(), call.shape)};
    const AnySink values(result.first), indices(result.second);
    call.run(&values, indices, execution);
    return result;
}

AnyBuffer detail::top_indices(const AnySource& from, std::int64_t k, const TopKOptions& options) {
    const TopCall call("argtop_k", from, k, options);
    const Execution execution(options.queue, {&from});
    AnyBuffer result = execution.result(dtype_of<u32>(), call.shape);
    call.run(nullptr, result, execution);
    return result;
}

}  // namespace volley
