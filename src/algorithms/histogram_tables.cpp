// Histograms by tables in shared memory. Rows are divided into strips, one per workgroup. Its invocations
// take neighbouring elements and add to tables of their own ("copies"), or on GPUs to fewer copies with
// atomics; then the workgroup adds the copies, in order. Invariant: without atomics, the order of all
// additions is determined by the shape.
#include "algorithms/histogram_tables.hpp"

#include "algorithms/sort_rows.hpp"

#include <volley/lang/atomic.hpp>
#include <volley/lang/cast.hpp>
#include <volley/lang/control.hpp>
#include <volley/lang/ids.hpp>
#include <volley/lang/math.hpp>
#include <volley/lang/operators.hpp>
#include <volley/lang/var.hpp>

#include <algorithm>
#include <bit>
#include <utility>

namespace volley::algorithms {

void BinResults::identify(KernelKey& key) const {
    RowPositions(Rows(to_.shape(), axis_, "histogram"), {}, {&to_}).identify(key);
    to_.identify(key);
}

std::function<void(const Value<u32>&, const Value<u32>&, const AnyValue&)> BinResults::declare(
    ParameterList& list) const {
    RowPositions positions(Rows(to_.shape(), axis_, "histogram"), {}, {&to_});
    const StoreElement store = to_.declare(list);
    positions.declare(list);
    return [store, positions, type = type()](const Value<u32>& row, const Value<u32>& bin,
                                             const AnyValue& value) {
        store(positions.at(row, bin), convert(value, type));
    };
}

void BinResults::add_arguments(std::vector<AnyArgument>& arguments) const {
    to_.add_arguments(arguments);
    RowPositions(Rows(to_.shape(), axis_, "histogram"), {}, {&to_}).add_arguments(arguments);
}

std::optional<AnyBuffer> BinResults::memory() const {
    const AnyBuffer* buffer = to_.buffer();
    if (buffer == nullptr || !buffer->is_contiguous() || axis_ + 1 != to_.shape().rank()) return std::nullopt;
    if (type() == dtype_of<u32>()) return buffer->reshape({to_.shape().elements()});
    if (type() == dtype_of<i32>()) return buffer->view_as(dtype_of<u32>()).reshape({to_.shape().elements()});
    return std::nullopt;
}

namespace {

constexpr unsigned table_unroll = 4;

/// How a workgroup counts.
struct TableShape {
    DType type;            // of sums
    unsigned lanes = 1;    // of the workgroup
    unsigned copies = 1;   // for the lanes; less than the lanes: with atomics
    unsigned tables = 1;   // per copy, because the sums of neighbours would wait for each other if these are
                           // in one bin
    u32 bins = 0;          // of a pass
    bool checked = false;  // several passes, each for a part of the bins
    bool single = false;   // one row

    [[nodiscard]] bool is_atomic() const noexcept { return copies < lanes; }
};

/// The parts of a launch.
struct TablePlan {
    TableShape shape;
    std::int64_t strip = 0;   // elements of a workgroup
    std::int64_t strips = 0;  // of a row
    std::int64_t passes = 1;
};

/// The type in which weights are added: 32-bit integers modulo 2^32, as u32.
DType sum_type(DType type) { return type == dtype_of<i32>() ? dtype_of<u32>() : type; }

/// The tables of a workgroup while a kernel is traced.
class BinTables {
public:
    // One more bin in each table takes what is not counted.
    explicit BinTables(const TableShape& shape)
        : shape_(shape),
          sums_(AnyArray::shared(shape.type, std::uint64_t{shape.bins + 1} * shape.copies * shape.tables)) {}

    [[nodiscard]] Value<u32> lane() const {
        return shape_.lanes == 1 ? Value<u32>(0U) : Value<u32>(local_index());
    }
    void clear() const {
        const AnyValue zero = zero_of(shape_.type);
        $for (v, 0U, (shape_.bins + 1) * shape_.tables * shape_.copies, shape_.lanes) {
            const Value<u32> at = v + lane();
            if ((shape_.bins + 1) * shape_.tables * shape_.copies % shape_.lanes == 0) {
                sums_.store(at, zero);
            } else {
                $if (at < (shape_.bins + 1) * shape_.tables * shape_.copies) {
                    sums_.store(at, zero);
                }
            }
        }
    }
    void add(const Value<u32>& bin, unsigned table, const AnyValue& weight) const {
        const Value<u32> at = place(bin, table, lane());
        if (shape_.is_atomic()) {
            const lang::ElementIndex index(at);
            Atomic<u32>(lang::locate(ref_of(sums_), &index.ref, 1)).add(weight.as<u32>());
            return;
        }
        sums_.store(at, sums_.load(at) + weight);
    }
    /// Returns the sum of a bin in all tables.
    [[nodiscard]] AnyValue sum(const Value<u32>& bin) const {
        const auto sum_of_tables = [&](const Value<u32>& copy) {
            std::vector<AnyValue> sums{sums_.load(place(bin, 0, copy))};
            for (unsigned t = 1; t < shape_.tables; ++t)
                sums.push_back(sums.back() + sums_.load(place(bin, t, copy)));
            return sums.back();
        };
        AnyVar total(sum_of_tables(Value<u32>(0U)));
        if (shape_.copies == 1) return total.load();
        $for (copy, 1U, shape_.copies) {
            total = total.load() + sum_of_tables(copy);
        }
        return total.load();
    }

private:
    [[nodiscard]] Value<u32> place(const Value<u32>& bin, unsigned table, const Value<u32>& lane) const {
        const Value<u32> row = bin + table * (shape_.bins + 1);
        if (shape_.copies == 1) return row;
        return row * shape_.copies + (shape_.is_atomic() ? lane & (shape_.copies - 1) : lane);
    }

    TableShape shape_;
    AnyArray sums_;
};

// Counts strips: stores the sums to the results if they are of whole rows, else to [row][strip][bin].
AnyKernel tables_kernel(const TableTask& task, const TableShape& shape, bool whole_rows) {
    KernelKey key("histogram tables");
    key.add(shape.type).add(shape.lanes).add(shape.copies).add(shape.tables).add(shape.bins);
    key.add(shape.checked).add(shape.single).add(whole_rows).add(task.weighted);
    task.elements.identify(key);
    if (whole_rows) task.results.identify(key);
    return find_kernel(key, [&] {
        return any_kernel("histogram.tables", {.local = {shape.lanes}}, [&](ParameterList& list) {
            const DeclaredElements elements = task.elements.declare(list);
            std::function<void(const Value<u32>&, const Value<u32>&, const AnyValue&)> store;
            std::optional<AnyArray> parts;
            if (whole_rows)
                store = task.results.declare(list);
            else
                parts = list.buffer(shape.type);
            const Value<u32> length = list.value<u32>(), packs = list.value<u32>();
            // The product shows that strips start at multiples of what a loop takes, so that the elements of
            // an iteration have one address.
            const Value<u32> strip = packs * table_unroll;
            const Value<u32> strips = list.value<u32>(), passes = list.value<u32>();
            const Value<u32> bins = list.value<u32>();
            const BinTables tables(shape);
            const Value<u32> lane = tables.lane();
            const Value<u32> group = group_id().x;
            const Value<u32> pass = shape.checked ? group % passes : Value<u32>(0U);
            const Value<u32> part = shape.checked ? group / passes : group;
            const Value<u32> row = shape.single ? Value<u32>(0U) : whole_rows ? part : part / strips;
            const Value<u32> in_row = shape.single ? part : part - row * strips;
            const Value<u32> begin = whole_rows ? Value<u32>(0U) : in_row * strip;
            const Value<u32> end = whole_rows ? length : begin + min(strip, length - begin);
            const Value<u32> first_bin = pass * shape.bins;

            tables.clear();
            if (shape.is_atomic()) barrier();
            const auto take = [&](const Value<u32>& i, unsigned table) {
                const BinnedElement element = elements.bin(row, i);
                std::vector<Value<u32>> bin{element.bin};
                if (shape.checked) {
                    bin.push_back(element.bin - first_bin);
                    const Value<bool> here = bin.back() < shape.bins;
                    bin.push_back(select(element.counts ? *element.counts && here : here, bin.back(),
                                         Value<u32>(shape.bins)));
                } else if (element.counts) {
                    bin.push_back(select(*element.counts, bin.back(), Value<u32>(shape.bins)));
                }
                const AnyValue one = convert(Value<u32>(1U), shape.type);
                tables.add(bin.back(), table % shape.tables,
                           task.weighted ? convert(elements.weight(row, i), shape.type) : one);
            };
            const u32 step = shape.lanes * table_unroll;
            const Value<u32> whole = begin + (end - begin) / step * step;
            $for (first, begin, whole, step) {
                for (unsigned k = 0; k < table_unroll; ++k) take(first + k * shape.lanes + lane, k);
            }
            $for (first, whole, end, shape.lanes) {
                const Value<u32> i = first + lane;
                if (shape.lanes == 1) {
                    take(i, 0);
                } else {
                    $if (i < end) {
                        take(i, 0);
                    }
                }
            }
            if (shape.lanes > 1) barrier();
            const Value<u32> stored = min(bins - first_bin, Value<u32>(shape.bins));
            $for (first, 0U, stored, shape.lanes) {
                const Value<u32> bin = first + lane;
                const auto store_bin = [&] {
                    const AnyValue sum = tables.sum(bin);
                    if (store)
                        store(row, first_bin + bin, sum);
                    else
                        parts->store(part * bins + first_bin + bin, sum);
                };
                if (shape.lanes == 1) {
                    store_bin();
                } else {
                    $if (bin < stored) {
                        store_bin();
                    }
                }
            }
        });
    });
}

// Adds the strips of rows.
AnyKernel sum_strips_kernel(const BinResults& results, DType type) {
    KernelKey key("histogram sum");
    key.add(type);
    results.identify(key);
    return find_kernel(key, [&] {
        return any_kernel("histogram.sum", {}, [&](ParameterList& list) {
            const AnyArray parts = list.const_buffer(type);
            const auto store = results.declare(list);
            const Value<u32> strips = list.value<u32>(), bins = list.value<u32>();
            const Value<u32> bin = global_id().x, row = global_id().y;
            AnyVar sum(zero_of(type));
            $for (k, 0U, strips) {
                sum = sum.load() + parts.load((row * strips + k) * bins + bin);
            }
            store(row, bin, sum.load());
        });
    });
}

/// The default shapes of a device class.
struct TableDefaults {
    unsigned lanes;
    std::int64_t table_bytes;
    std::int64_t groups;      // that keep the device busy
    std::int64_t most_strip;  // elements of an invocation: a driver may end loops after 65,535 iterations
    std::int64_t most_passes;
};

TableDefaults table_defaults(const Target& target, const TableTask& task) {
    const DeviceInfo& device = *target.device;
    const std::int64_t cores = std::max<std::int64_t>(device.compute_units, 1);
    constexpr std::int64_t kibi = 1024;
    // Atomics on the result cost less than a second pass over the source; sorting costs more than some.
    const std::int64_t passes = sum_type(task.results.type()) == dtype_of<u32>() ? 1 : 8;
    switch (device_class(device)) {
        case DeviceClass::Cpu: {
            const unsigned vector = std::max(device.subgroup_size, 1U);
            const bool in_vectors =
                task.elements.is_costly() && (task.bins + std::int64_t{1}) * vector * 8 <= 128 * kibi;
            return {in_vectors ? vector : 1, 256 * kibi, 4 * cores, INT64_MAX, passes};
        }
        case DeviceClass::Software: return {8, 32 * kibi, 4 * cores, 64 * kibi, 4};
        case DeviceClass::Gpu: break;
    }
    return {task.weighted && is_float(task.results.type().scalar()) ? 32U : 256U, 32 * kibi, 8 * cores,
            64 * kibi, 8};
}

/// Returns nothing if the bins need too many passes.
std::optional<TablePlan> plan_tables(const Target& target, const TableTask& task,
                                     const HistogramTuning& tuning) {
    const TableDefaults defaults = table_defaults(target, task);
    const DeviceInfo& device = *target.device;
    TablePlan plan;
    TableShape& shape = plan.shape;
    shape.type = sum_type(task.results.type());
    shape.lanes =
        std::min(tuning.lanes != 0 ? tuning.lanes : defaults.lanes, std::max(device.max_local_size, 1U));
    const auto size = static_cast<std::int64_t>(shape.type.size());
    const std::int64_t bytes =
        std::min(tuning.table_bytes != 0 ? std::int64_t{tuning.table_bytes} : defaults.table_bytes,
                 static_cast<std::int64_t>(device.max_shared_bytes));
    const std::int64_t most = bytes / size;  // bins of all tables
    const bool may_share = device_class(device) == DeviceClass::Gpu && shape.type == dtype_of<u32>();
    shape.copies = shape.lanes;
    if (may_share) {
        // Each copy serves some lanes of a subgroup, whose atomics would wait for each other.
        shape.copies = 8;
        while (shape.copies > 1 && (std::int64_t{task.bins} + 1) * shape.copies > most) shape.copies /= 2;
        if (shape.copies > shape.lanes) shape.copies = 1;
    }
    const std::int64_t most_bins = most / shape.copies - 1;
    if (most_bins < 1) return std::nullopt;
    plan.passes = divide_up(task.bins, most_bins);
    shape.bins = static_cast<u32>(divide_up(task.bins, plan.passes));
    shape.checked = plan.passes > 1;
    shape.single = task.rows == 1;
    if (shape.lanes == 1 && shape.bins <= 1024 && task.length >= 4 * std::int64_t{shape.bins} &&
        (std::int64_t{shape.bins} + 1) * table_unroll <= most)
        shape.tables = table_unroll;
    const std::int64_t most_passes = tuning.passes != 0 ? tuning.passes : defaults.most_passes;
    if (plan.passes > most_passes) return std::nullopt;
    // The bins of a strip must not cost more than its elements.
    const std::int64_t least = std::max<std::int64_t>(4096, 4 * std::int64_t{shape.bins});
    const std::int64_t most_strip =
        defaults.most_strip == INT64_MAX ? INT64_MAX : defaults.most_strip * shape.lanes;
    plan.strip = tuning.strip != 0 ? std::int64_t{tuning.strip}
                                   : std::max(divide_up(task.rows * task.length, defaults.groups), least);
    plan.strip = round_up(
        std::clamp<std::int64_t>(std::min(plan.strip, most_strip), 1, std::max<std::int64_t>(task.length, 1)),
        table_unroll);
    plan.strips = std::max<std::int64_t>(divide_up(task.length, plan.strip), 1);
    // Tables of all strips that are larger than the elements cost more than atomics.
    if (plan.strips > 1 && plan.strips * task.bins > 4 * task.length && tuning.strip == 0)
        return std::nullopt;
    return plan;
}

}  // namespace

Event count_tables(const Execution& execution, const Target& target, const TableTask& task,
                   const HistogramTuning& tuning) {
    const std::optional<TablePlan> plan = plan_tables(target, task, tuning);
    if (!plan || (plan->strips == 1 && std::int64_t{task.bins} > 64 * task.length + 4096)) {
        return sum_type(task.results.type()) == dtype_of<u32>() ? count_with_atomics(execution, target, task)
                                                                : count_by_sorting(execution, target, task);
    }
    const bool whole_rows = plan->strips == 1;
    const AnyKernel kernel = tables_kernel(task, plan->shape, whole_rows);
    std::vector<AnyArgument> arguments;
    task.elements.add_arguments(arguments);
    AnyBuffer parts;
    if (whole_rows) {
        task.results.add_arguments(arguments);
    } else {
        parts = execution.scratch(plan->shape.type, {task.rows, plan->strips, std::int64_t{task.bins}});
        arguments.emplace_back(parts);
    }
    for (const std::int64_t x : {task.length, plan->strip / table_unroll, plan->strips, plan->passes,
                                 static_cast<std::int64_t>(task.bins)})
        arguments.emplace_back(static_cast<u32>(x));
    const Event done = launch(kernel.groups(task.rows * plan->strips * plan->passes), target, arguments);
    if (whole_rows) return done;
    arguments = {parts};
    task.results.add_arguments(arguments);
    arguments.emplace_back(static_cast<u32>(plan->strips));
    arguments.emplace_back(task.bins);
    return launch(
        sum_strips_kernel(task.results, plan->shape.type).over({std::int64_t{task.bins}, task.rows}), target,
        arguments);
}

}  // namespace volley::algorithms
