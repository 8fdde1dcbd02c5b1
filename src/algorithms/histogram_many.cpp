// Histograms of more bins than tables hold.
#include "algorithms/histogram_tables.hpp"
#include "algorithms/sort_rows.hpp"

#include <volley/algorithms/scan.hpp>
#include <volley/algorithms/sort.hpp>
#include <volley/algorithms/transform.hpp>
#include <volley/lang/atomic.hpp>
#include <volley/lang/cast.hpp>
#include <volley/lang/control.hpp>
#include <volley/lang/ids.hpp>
#include <volley/lang/operators.hpp>

#include <utility>

namespace volley::algorithms {
namespace {

AnySource zeros(DType type, const Shape& shape) {
    const std::uint64_t zero = 0;
    return AnySource::filled(shape, AnyArgument(type, &zero));
}

// Invariant: counts are sums modulo 2^32, so that the order of the atomics does not matter.
AnyKernel atomics_kernel(const TableTask& task) {
    KernelKey key("histogram atomics");
    key.add(task.weighted);
    task.elements.identify(key);
    return find_kernel(key, [&] {
        return any_kernel("histogram.atomics", {}, [&](ParameterList& list) {
            const DeclaredElements elements = task.elements.declare(list);
            const AnyArray counts = list.buffer(dtype_of<u32>());
            const Value<u32> bins = list.value<u32>();
            const Value<u32> i = global_id().x, row = global_id().y;
            const BinnedElement element = elements.bin(row, i);
            const auto add = [&] {
                const lang::ElementIndex at(row * bins + element.bin);
                const Value<u32> weight = task.weighted
                                              ? convert(elements.weight(row, i), dtype_of<u32>()).as<u32>()
                                              : Value<u32>(1U);
                Atomic<u32>(lang::locate(ref_of(counts), &at.ref, 1)).add(weight);
            };
            if (!element.counts) {
                add();
                return;
            }
            $if (*element.counts) {
                add();
            }
        });
    });
}

AnyKernel store_kernel(const BinResults& results) {
    KernelKey key("histogram store");
    results.identify(key);
    return find_kernel(key, [&] {
        return any_kernel("histogram.store", {}, [&](ParameterList& list) {
            const AnyArray counts = list.const_buffer(dtype_of<u32>());
            const auto store = results.declare(list);
            const Value<u32> bins = list.value<u32>();
            const Value<u32> bin = global_id().x, row = global_id().y;
            store(row, bin, counts.load(row * bins + bin));
        });
    });
}

// Stores the bins, or `bins` for elements that are not counted, and the weights.
AnyKernel keys_kernel(const TableTask& task) {
    KernelKey key("histogram keys");
    key.add(task.results.type());
    task.elements.identify(key);
    return find_kernel(key, [&] {
        return any_kernel("histogram.keys", {}, [&](ParameterList& list) {
            const DeclaredElements elements = task.elements.declare(list);
            const AnyArray keys = list.buffer(dtype_of<u32>()), weights = list.buffer(task.results.type());
            const Value<u32> length = list.value<u32>(), bins = list.value<u32>();
            const Value<u32> i = global_id().x, row = global_id().y;
            const BinnedElement element = elements.bin(row, i);
            const Value<u32> at = row * length + i;
            keys.store(at, element.counts ? select(*element.counts, element.bin, bins) : element.bin);
            weights.store(at, elements.weight(row, i));
        });
    });
}

// Stores the sum at the end of each run of equal bins, and zero to the bins between them.
AnyKernel runs_kernel(const BinResults& results) {
    KernelKey key("histogram runs");
    results.identify(key);
    return find_kernel(key, [&] {
        return any_kernel("histogram.runs", {}, [&](ParameterList& list) {
            const AnyArray keys = list.const_buffer(dtype_of<u32>());
            const AnyArray sums = list.const_buffer(results.type());
            const auto store = results.declare(list);
            const Value<u32> length = list.value<u32>(), bins = list.value<u32>();
            const Value<u32> i = global_id().x, row = global_id().y;
            const Value<u32> at = row * length + i;
            const Value<u32> bin = keys.load(at).as<u32>();
            const Value<u32> after = select(i + 1U < length, i + 1U, i);
            const Value<u32> next = keys.load(row * length + after).as<u32>();
            $if (bin < bins && (next != bin || i + 1U == length)) {
                store(row, bin, sums.load(at));
            }
        });
    });
}

}  // namespace

Event count_with_atomics(const Execution& execution, const Target& target, const TableTask& task) {
    const std::int64_t results = task.rows * task.bins;
    const std::optional<AnyBuffer> memory = task.results.memory();
    const AnyBuffer counts = memory ? *memory : execution.scratch(dtype_of<u32>(), {results});
    Event done = transform(counts, zeros(dtype_of<u32>(), {results}), {.queue = target.queue});
    if (task.length > 0) {
        std::vector<AnyArgument> arguments;
        task.elements.add_arguments(arguments);
        arguments.emplace_back(counts);
        arguments.emplace_back(task.bins);
        done = launch(atomics_kernel(task).over({task.length, task.rows}), target, arguments);
    }
    if (memory) return done;
    std::vector<AnyArgument> arguments{counts};
    task.results.add_arguments(arguments);
    arguments.emplace_back(task.bins);
    return launch(store_kernel(task.results).over({std::int64_t{task.bins}, task.rows}), target, arguments);
}

Event count_by_sorting(const Execution& execution, const Target& target, const TableTask& task) {
    const BinResults& results = task.results;
    const Event cleared =
        transform(results.sink(), zeros(results.type(), results.sink().shape()), {.queue = target.queue});
    if (task.length == 0) return cleared;
    const Shape shape{task.rows, task.length};
    const AnyBuffer keys = execution.scratch(dtype_of<u32>(), shape);
    const AnyBuffer weights = execution.scratch(results.type(), shape);
    std::vector<AnyArgument> arguments;
    task.elements.add_arguments(arguments);
    arguments.insert(arguments.end(), {keys, weights, static_cast<u32>(task.length), task.bins});
    launch(keys_kernel(task).over({task.length, task.rows}), target, arguments);
    sort_by_key(keys, weights, keys, weights, {.queue = target.queue});
    const auto add = [&]() -> AnyFunction {
        switch (results.type().scalar()) {
            case ScalarType::U64: return detail::scan_addition<u64>();
            case ScalarType::I64: return detail::scan_addition<i64>();
            case ScalarType::F64: return detail::scan_addition<double>();
            default: return detail::scan_addition<float>();
        }
    };
    detail::run_scan(
        weights, weights, {.op = add()},
        {.segments = ScanSegments(AnySource(keys), detail::scan_equality<u32>()), .queue = target.queue});
    arguments = {keys, weights};
    results.add_arguments(arguments);
    arguments.insert(arguments.end(), {static_cast<u32>(task.length), task.bins});
    return launch(runs_kernel(results).over({task.length, task.rows}), target, arguments);
}

}  // namespace volley::algorithms
