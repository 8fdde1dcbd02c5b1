// The kernels of reductions: rows, columns, and one result per invocation. Extents are parameters; the roles
// of the axes and the shape of workgroups are constants.
#include "algorithms/reduce_stage.hpp"
#include "algorithms/source_node.hpp"

#include <volley/lang/lang.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

namespace volley::algorithms {
namespace {

using Number = Value<u32>;

/// Loads the element or state at a position as values to absorb or merge.
using LoadItem = std::function<Values(const Position&, const Number& number)>;
/// Stores the state of a result or part with this number.
using StoreState = std::function<void(const Number&, const Values&)>;

/// The state of an invocation.
class StateVar {
public:
    explicit StateVar(const Values& initial) {
        for (const AnyValue& value : initial) variables_.push_back(std::make_unique<AnyVar>(value));
    }
    [[nodiscard]] Values load() const {
        Values values;
        for (const auto& variable : variables_) values.push_back(variable->load());
        return values;
    }
    void store(const Values& values) const {
        for (std::size_t k = 0; k < values.size(); ++k) *variables_[k] = values[k];
    }

private:
    std::vector<std::unique_ptr<AnyVar>> variables_;
};

/// What all kernels declare, and how they combine what they load.
class StageBuilder {
public:
    StageBuilder(const ReduceAxes& axes, const StageArrays& arrays, Reducer& reducer,
                 ParameterList& parameters)
        : axes_(axes), reducer_(reducer), merges_(arrays.source == nullptr) {
        reducer.declare(parameters);
        if (arrays.source != nullptr) {
            load_ = [load = arrays.source->declare(parameters), &reducer](
                        const Position& at, const Number& number) { return reducer.lift(load(at), number); };
        } else {
            std::vector<AnyArray> states;
            for (const DType type : reducer.state_types()) states.push_back(parameters.const_buffer(type));
            load_ = [states = std::move(states)](const Position& at, const Number&) {
                const Number number = at.number();
                Values values;
                for (const AnyArray& state : states) values.push_back(state.load(number));
                return values;
            };
        }
        if (arrays.sink != nullptr) {
            store_ = [store = arrays.sink->declare(parameters), &reducer](const Number& number,
                                                                          const Values& state) {
                store(Position(number), reducer.finish(state));
            };
        } else {
            std::vector<AnyArray> parts;
            for (const DType type : reducer.state_types()) parts.push_back(parameters.buffer(type));
            store_ = [parts = std::move(parts)](const Number& number, const Values& state) {
                for (std::size_t k = 0; k < parts.size(); ++k) parts[k].store(number, state[k]);
            };
        }
        extents_ = detail::declare_extents(parameters, axes.rank());
    }

    [[nodiscard]] const std::vector<Number>& extents() const noexcept { return extents_; }
    [[nodiscard]] const LoadItem& load() const noexcept { return load_; }
    [[nodiscard]] const StoreState& store() const noexcept { return store_; }
    [[nodiscard]] const Reducer& reducer() const noexcept { return reducer_; }

    /// Combines loaded items, in order, with the state.
    void absorb(const StateVar& state, const std::vector<Values>& items) const {
        if (!merges_) {
            state.store(reducer_.absorb(state.load(), items));
            return;
        }
        state.store(reducer_.merge(state.load(), combine_pairwise(std::span<const Values>(items),
                                                                  [this](const Values& a, const Values& b) {
                                                                      return reducer_.merge(a, b);
                                                                  })));
    }

    /// Splits the number of a result, or of a reduced element, into the indices of the axes with a role,
    /// except one.
    [[nodiscard]] Position split(AxisRole role, int except, const Number& number) const {
        std::vector<Number> extents;
        for (int axis = 0; axis < axes_.rank(); ++axis) {
            if (axis != except && axes_.role(axis) == role) extents.push_back(extent(axis));
        }
        if (extents.size() == 1) return Position(number);
        return position_of(number, extents);
    }
    /// Joins the indices of kept axes, of reduced axes, and of one more axis.
    [[nodiscard]] Position join(const Position& kept, const Position& reduced, int inner,
                                const Number& index) const {
        std::vector<Number> indices;
        int next_kept = 0, next_reduced = 0;
        for (int axis = 0; axis < axes_.rank(); ++axis) {
            if (axis == inner) {
                indices.push_back(index);
            } else if (axes_.role(axis) == AxisRole::Kept) {
                indices.push_back(kept[next_kept++]);
            } else if (axes_.role(axis) == AxisRole::Reduced) {
                indices.push_back(reduced[next_reduced++]);
            } else {
                indices.push_back(Number(0U));
            }
        }
        return {std::move(indices), extents_};
    }
    [[nodiscard]] Number extent(int axis) const { return extents_[static_cast<std::size_t>(axis)]; }

private:
    const ReduceAxes& axes_;
    const Reducer& reducer_;
    bool merges_;
    LoadItem load_;
    StoreState store_;
    std::vector<Number> extents_;
};

Number least(const Number& a, const Number& b) { return min(a, b); }

// ---- rows ----

/// Merges the states of a workgroup and stores the result. All invocations must call it.
void merge_group(const StageBuilder& builder, const StagePlan& plan, const Values& own, const Number& lane,
                 const Number& number, bool again) {
    if (plan.local == 1) {
        builder.store()(number, own);
        return;
    }
    std::vector<AnyArray> shared;
    for (const AnyValue& value : own) shared.push_back(AnyArray::shared(value.dtype(), plan.local));
    const auto load = [&](const Number& at) {
        Values values;
        for (const AnyArray& array : shared) values.push_back(array.load(at));
        return values;
    };
    const auto store = [&](const Number& at, const Values& values) {
        for (std::size_t k = 0; k < shared.size(); ++k) shared[k].store(at, values[k]);
    };
    store(lane, own);
    barrier();
    for (std::uint32_t step = 1; step < plan.local / 2; step *= 2) {
        const std::uint32_t distance = plan.ordered ? step : plan.local / 2 / step;
        const Value<bool> active = plan.ordered ? lane % (2 * step) == 0U : lane < distance;
        $if (active) {
            store(lane, builder.reducer().merge(load(lane), load(lane + distance)));
        }
        barrier();
    }
    const std::uint32_t distance = plan.ordered ? plan.local / 2 : 1;
    $if (lane == 0U) {
        builder.store()(number, builder.reducer().merge(load(lane), load(lane + distance)));
    }
    if (again) barrier();
}

/// The loops of an invocation over its elements of [start, start + count) of a row.
void absorb_row(const StageBuilder& builder, const StagePlan& plan, const StateVar& state, const Number& lane,
                const Position& kept, const Position& outer, const Number& first, const Number& start,
                const Number& count) {
    const auto item = [&](const Number& index) {
        return builder.load()(builder.join(kept, outer, plan.inner, index), first + index);
    };
    if (plan.ordered) {
        // Each invocation has consecutive elements; the last ones may have fewer.
        const Number each = (count + (plan.local - 1)) / plan.local;
        const Number begin = least(lane * each, count);
        const Number own = least(each, count - begin);
        const Number blocks = own / plan.unroll;
        $for (block, 0U, blocks) {
            std::vector<Values> items;
            for (std::uint32_t k = 0; k < plan.unroll; ++k)
                items.push_back(item(start + begin + block * plan.unroll + k));
            builder.absorb(state, items);
        }
        $for (k, blocks * plan.unroll, own) {
            builder.absorb(state, {item(start + begin + k)});
        }
        return;
    }
    const std::uint32_t size = plan.local * plan.unroll;
    const Number blocks = count / size;
    $for (block, 0U, blocks) {
        std::vector<Values> items;
        for (std::uint32_t k = 0; k < plan.unroll; ++k)
            items.push_back(item(start + block * size + k * plan.local + lane));
        builder.absorb(state, items);
    }
    $for (k, blocks * size, count, plan.local) {
        $if (lane < count - k) {
            builder.absorb(state, {item(start + k + lane)});
        }
    }
}

void rows_body(const StagePlan& plan, const ReduceAxes& axes, const StageArrays& arrays, Reducer& reducer,
               ParameterList& parameters) {
    const StageBuilder builder(axes, arrays, reducer, parameters);
    const auto parts = parameters.value<u32>();   // of all results
    const auto run = parameters.value<u32>();     // parts of a workgroup
    const auto splits = parameters.value<u32>();  // parts of a result
    const auto units = parameters.value<u32>();   // chunks of rows of a result
    const auto each = parameters.value<u32>();    // of them in a part
    const auto chunks = parameters.value<u32>();  // of a row
    const auto chunk = parameters.value<u32>();   // elements
    const bool outer = axes.count(AxisRole::Reduced, plan.inner) > 1;
    const bool split = plan.splits > 1;
    const Number length = builder.extent(plan.inner);

    const auto lane = local_index();
    const auto part_at = [&](const Number& part) {
        const Number result = split ? part / splits : part;
        const Position kept = builder.split(AxisRole::Kept, plan.inner, result);
        const StateVar state(reducer.identity());
        const auto row = [&](const Number& number, const Number& start, const Number& count) {
            const Position reduced = builder.split(AxisRole::Reduced, plan.inner, number);
            absorb_row(builder, plan, state, lane, kept, reduced, number * length, start, count);
        };
        if (split) {
            const Number begin = (part - result * splits) * each;
            const Number own = least(each, units - begin);
            $for (unit, 0U, own) {
                const Number at = begin + unit;
                const Number number = at / chunks;
                const Number start = (at - number * chunks) * chunk;
                row(number, start, least(chunk, length - start));
            }
        } else if (outer) {
            $for (number, 0U, units) {
                row(number, Number(0U), length);
            }
        } else {
            row(Number(0U), Number(0U), length);
        }
        merge_group(builder, plan, state.load(), lane, part, plan.run > 1);
    };
    if (plan.run == 1) {
        part_at(group_id().x);
    } else {
        const Number begin = group_id().x * run;
        const Number own = least(run, parts - begin);
        $for (k, 0U, own) {
            part_at(begin + k);
        }
    }
}

// ---- columns ----

void columns_body(const StagePlan& plan, const ReduceAxes& axes, const StageArrays& arrays, Reducer& reducer,
                  ParameterList& parameters) {
    const StageBuilder builder(axes, arrays, reducer, parameters);
    const auto columns = parameters.value<u32>();  // of folded rows
    const auto rows = parameters.value<u32>();     // folded rows of a result, including an incomplete one
    const auto whole = parameters.value<u32>();    // complete ones
    const auto each = parameters.value<u32>();     // folded rows of a part
    const auto splits = parameters.value<u32>();
    const auto tiles = parameters.value<u32>();
    const auto elements = parameters.value<u32>();  // of all rows
    const auto folded = parameters.value<u32>();
    const auto width = parameters.value<u32>();  // columns of a row
    const bool folds = plan.folded > 1;

    const Number group = group_id().x;
    const Number outer = group / tiles;
    const Number left = (group - outer * tiles) * plan.local;  // the first column of the workgroup
    const Number batch = plan.splits > 1 ? outer / splits : outer;
    const Number begin = plan.splits > 1 ? (outer - batch * splits) * each : Number(0U);
    const Number end = begin + least(each, rows - begin);
    const Number x = left + local_index();
    const Position kept = builder.split(AxisRole::Kept, plan.inner, batch);

    const auto item = [&](const Number& row) {
        if (folds) {
            const Number at = row * columns + x;
            const Number number = reducer.needs_number() ? row * folded + x / width : row;
            return builder.load()(Position(batch * elements + at), number);
        }
        const Position reduced = builder.split(AxisRole::Reduced, plan.inner, row);
        return builder.load()(builder.join(kept, reduced, plan.inner, x), row);
    };
    const StateVar state(reducer.identity());
    const auto absorb_rows = [&](bool lockstep) {
        const Number complete = folds ? least(end, whole) : end;
        const Number blocks = (complete - least(begin, complete)) / plan.unroll;
        $for (block, 0U, blocks) {
            if (lockstep) barrier();
            std::vector<Values> items;
            for (std::uint32_t k = 0; k < plan.unroll; ++k)
                items.push_back(item(begin + block * plan.unroll + k));
            builder.absorb(state, items);
        }
        $for (row, begin + blocks * plan.unroll, end) {
            if (folds) {
                $if (row * columns + x < elements) {
                    builder.absorb(state, {item(row)});
                }
            } else {
                builder.absorb(state, {item(row)});
            }
        }
    };
    const auto finish = [&] { builder.store()(outer * columns + x, state.load()); };
    if (plan.lockstep) {
        $if (left + plan.local <= columns) {
            absorb_rows(true);
            finish();
        }
        $else {
            $if (x < columns) {
                absorb_rows(false);
                finish();
            }
        }
    } else {
        $if (x < columns) {
            absorb_rows(false);
            finish();
        }
    }
}

// ---- serial ----

void serial_body(const StagePlan& plan, const ReduceAxes& axes, const StageArrays& arrays, Reducer& reducer,
                 ParameterList& parameters) {
    const StageBuilder builder(axes, arrays, reducer, parameters);
    const auto results = parameters.value<u32>();
    const auto count = parameters.value<u32>();  // of each result
    const auto each = parameters.value<u32>();   // of a part
    const Number id = global_id().x;
    const Number part = plan.splits > 1 ? id / results : Number(0U);
    const Number result = plan.splits > 1 ? id - part * results : id;
    const Number begin = part * each;
    const Number own = plan.splits > 1 ? least(each, count - begin) : count;
    const Position kept = builder.split(AxisRole::Kept, -1, result);
    const StateVar state(reducer.identity());
    const auto item = [&](const Number& number) {
        const Position reduced = builder.split(AxisRole::Reduced, -1, number);
        return builder.load()(builder.join(kept, reduced, -1, Number(0U)), number);
    };
    const Number blocks = own / plan.unroll;
    $for (block, 0U, blocks) {
        std::vector<Values> items;
        for (std::uint32_t k = 0; k < plan.unroll; ++k)
            items.push_back(item(begin + block * plan.unroll + k));
        builder.absorb(state, items);
    }
    $for (k, blocks * plan.unroll, own) {
        builder.absorb(state, {item(begin + k)});
    }
    builder.store()(id, state.load());
}

u32 word(std::int64_t value) { return static_cast<u32>(value); }

}  // namespace

Event run_stage(const StagePlan& plan, const ReduceAxes& axes, const StageArrays& arrays, Reducer& reducer,
                std::int64_t count, const Target& target) {
    KernelKey key("reduce");
    key.add(plan.kind).add(plan.inner).add(plan.local).add(plan.unroll).add(plan.ordered).add(plan.lockstep);
    key.add(plan.splits > 1).add(plan.run > 1).add(plan.folded > 1);
    key.add(axes.count(AxisRole::Reduced, plan.inner) > 1).add(axes.rank());
    for (const AxisRole role : axes.roles) key.add(role);
    reducer.identify(key);
    key.add(arrays.source != nullptr).add(arrays.sink != nullptr);
    if (arrays.source != nullptr) arrays.source->identify(key);
    if (arrays.sink != nullptr) arrays.sink->identify(key);

    const AnyKernel kernel = find_kernel(key, [&] {
        const bool groups = plan.kind != StageKind::Serial;
        const KernelOptions options{.local = groups ? GridSize(plan.local) : GridSize()};
        return any_kernel("reduce", options, [&](ParameterList& parameters) {
            switch (plan.kind) {
                case StageKind::Rows: return rows_body(plan, axes, arrays, reducer, parameters);
                case StageKind::Columns: return columns_body(plan, axes, arrays, reducer, parameters);
                case StageKind::Serial: return serial_body(plan, axes, arrays, reducer, parameters);
            }
        });
    });

    std::vector<AnyArgument> arguments;
    reducer.add_arguments(arguments, count);
    if (arrays.source != nullptr) arrays.source->add_arguments(arguments);
    for (const AnyBuffer& state : arrays.states) arguments.emplace_back(state);
    if (arrays.sink != nullptr) arrays.sink->add_arguments(arguments);
    for (const AnyBuffer& part : arrays.parts) arguments.emplace_back(part);
    detail::add_extents(arguments, axes.shape());

    const std::int64_t results = axes.count(AxisRole::Kept);
    const std::int64_t reduced = axes.count(AxisRole::Reduced);
    const auto add = [&](std::int64_t value) { arguments.emplace_back(word(value)); };
    switch (plan.kind) {
        case StageKind::Rows: {
            const std::int64_t parts = results * plan.splits;
            const std::int64_t units = axes.count(AxisRole::Reduced, plan.inner) * plan.chunks;
            add(parts);
            add(plan.run);
            add(plan.splits);
            add(units);
            add(divide_up(units, plan.splits));
            add(plan.chunks);
            add(plan.chunk);
            return launch(kernel.groups(divide_up(parts, plan.run)), target, arguments);
        }
        case StageKind::Columns: {
            const std::int64_t width = axes.extent(plan.inner);
            const std::int64_t columns = width * plan.folded;
            const std::int64_t tiles = divide_up(columns, plan.local);
            add(columns);
            add(divide_up(reduced, plan.folded));
            add(reduced / plan.folded);
            add(plan.chunk);
            add(plan.splits);
            add(tiles);
            add(reduced * width);
            add(plan.folded);
            add(width);
            return launch(kernel.groups(results / width * plan.splits * tiles), target, arguments);
        }
        case StageKind::Serial: break;
    }
    add(results);
    add(reduced);
    add(plan.chunk);
    return launch(kernel.over(results * plan.splits), target, arguments);
}

}  // namespace volley::algorithms
