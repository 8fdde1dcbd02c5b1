// Selections: checks, and the choice and order of kernels.
#include "algorithms/execution.hpp"
#include "algorithms/select_elements.hpp"
#include "algorithms/sort_rows.hpp"
#include "algorithms/source_node.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/algorithms/scan.hpp>
#include <volley/algorithms/transform.hpp>
#include <volley/command_graph.hpp>
#include <volley/lang/control.hpp>
#include <volley/lang/ids.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace volley {
namespace {

using algorithms::Execution;
using algorithms::SelectPieces;
using algorithms::SelectRequest;
using algorithms::Target;

constexpr u32 most_tile_bytes = 1U << 20U;
constexpr u32 longest_strip = 1U << 15U;  // drivers may end longer loops early

/// How a selection runs on a device.
struct SelectPlan {
    bool tiles = false;
    bool chain = false;
    u32 width = 1;  ///< of the subgroups, if `tiles`
    SelectPieces pieces;
};

SelectPieces cut_elements(std::int64_t size, std::int64_t length) {
    return {.length = length, .pieces = algorithms::divide_up(size, length)};
}

SelectPlan plan_selection(const SelectRequest& request, const DeviceInfo& device,
                          const SelectTuning& tuning) {
    constexpr std::int64_t small_tile = 16 << 10, large_tile = 64 << 10;
    constexpr std::int64_t gpu_strip = 32, least_strip = 256;
    SelectPlan plan;
    const std::int64_t n = request.size();
    if (device.backend == "cpu") {
        plan.tiles = true;
        plan.width = std::max(device.subgroup_size, 1U);
        std::size_t bytes = request.values_to ? request.from.dtype().size() : 0;
        if (request.indices_to || bytes == 0) bytes += sizeof(u32);
        // Large tiles cost less each, if there are enough for all threads.
        const auto size = static_cast<std::int64_t>(bytes);
        const bool many = n * size >= large_tile * 8 * std::max(device.compute_units, 1U);
        const std::int64_t budget = tuning.tile_bytes != 0 ? tuning.tile_bytes
                                    : many                 ? large_tile
                                                           : small_tile;
        const std::int64_t width = plan.width;
        const std::int64_t tile = std::max<std::int64_t>(budget / size / width, 1) * width;
        plan.pieces = cut_elements(n, tile);
        plan.chain = request.count_to && !request.divides && tuning.two_passes != 1 &&
                     static_cast<std::uint64_t>(tile) * bytes <= device.max_shared_bytes;
        return plan;
    }
    std::int64_t strip = tuning.strip;
    if (strip == 0 && device_class(device) == DeviceClass::Gpu) strip = gpu_strip;
    if (strip == 0) {
        const std::int64_t workers =
            std::int64_t{8} * std::max(device.compute_units, 1U) * std::max(device.subgroup_size, 1U);
        strip = std::clamp<std::int64_t>(algorithms::divide_up(n, workers), least_strip, longest_strip / 2);
    }
    plan.pieces = cut_elements(n, strip);
    return plan;
}

/// Launches the kernel that counts, and a scan of the counts. Returns the scanned counts; the last one is the
/// number of all selected elements.
AnyBuffer count_selected(const SelectRequest& request, const SelectPlan& plan, const Execution& execution,
                         const Target& target) {
    const AnyBuffer counts = execution.scratch(dtype_of<u32>(), Shape(plan.pieces.pieces + 1));
    const std::vector<AnyArgument> arguments =
        algorithms::select_arguments(request, plan.pieces, counts, true);
    if (plan.tiles) {
        algorithms::launch(
            algorithms::select_tile_count_kernel(request, plan.width, static_cast<u32>(plan.pieces.length))
                .groups(plan.pieces.pieces),
            target, arguments);
    } else {
        algorithms::launch(algorithms::select_strip_count_kernel(request).over(plan.pieces.pieces), target,
                           arguments);
    }
    detail::run_scan(counts, counts,
                     {.op = detail::scan_addition<u32>(), .initial = u32{0}, .exclusive = true},
                     {.queue = target.queue});
    return counts;
}

Event write_selected(const SelectRequest& request, const SelectPlan& plan, const Target& target,
                     const AnyBuffer& counts) {
    const std::vector<AnyArgument> arguments =
        algorithms::select_arguments(request, plan.pieces, counts, false);
    if (plan.tiles) {
        return algorithms::launch(
            algorithms::select_tile_write_kernel(request, plan.width, static_cast<u32>(plan.pieces.length))
                .groups(plan.pieces.pieces),
            target, arguments);
    }
    return algorithms::launch(algorithms::select_strip_write_kernel(request).over(plan.pieces.pieces), target,
                              arguments);
}

Event select_in_one_pass(const SelectRequest& request, const SelectPlan& plan, const Execution& execution,
                         const Target& target) {
    const AnyBuffer states = execution.scratch(dtype_of<u64>(), Shape(plan.pieces.pieces + 1));
    transform(states, AnySource::filled(states.shape(), u64{0}), {.queue = target.queue});
    return algorithms::launch(
        algorithms::select_chain_kernel(request, plan.width, static_cast<u32>(plan.pieces.length))
            .groups(plan.pieces.pieces),
        target, algorithms::select_arguments(request, plan.pieces, states, false));
}

/// Selects on one target, without blocking.
Event select_on(const SelectRequest& request, const Execution& execution, const Target& target,
                const SelectOptions& options) {
    if (request.size() == 0)
        return transform(*request.count_to, AnySource::filled(request.count_to->shape(), u32{0}),
                         {.queue = target.queue});
    const SelectPlan plan = plan_selection(request, *target.device, options.tuning);
    if (plan.chain) return select_in_one_pass(request, plan, execution, target);
    return write_selected(request, plan, target, count_selected(request, plan, execution, target));
}

// ---- checks ----

void check_select_tuning(const SelectTuning& tuning, std::string_view name) {
    if (tuning.tile_bytes <= most_tile_bytes && tuning.strip <= longest_strip && tuning.two_passes <= 2)
        return;
    fail(ErrorCode::InvalidArgument,
         cat("the tuning parameters (", tuning.tile_bytes, " bytes, strips of ", tuning.strip,
             ", two_passes ", tuning.two_passes, ") are out of range"),
         name, cat("use at most ", most_tile_bytes, " bytes, strips of ", longest_strip, " and 2"));
}

void check_select_test(const AnySource& from, const detail::SelectTest& test, std::string_view name) {
    if (test.mask) {
        const DType type = test.mask->dtype();
        if (!type.is_scalar()) {
            fail(ErrorCode::TypeMismatch, cat("elements of type ", type.name(), " are not zero or non-zero"),
                 name, "use bool or numbers");
        }
        if (test.mask->shape() == from.shape()) return;
        fail(ErrorCode::SizeMismatch,
             cat("the mask has the shape ", test.mask->shape().to_string(), ", but the array has ",
                 from.shape().to_string()),
             name, "use a mask with one element for each; broadcast_to() repeats them");
    }
    const std::span<const FunctionParameter> parameters = test.function->parameters();
    const bool fits = parameters.size() == (test.runs ? 2U : 1U) &&
                      std::all_of(parameters.begin(), parameters.end(),
                                  [&](const FunctionParameter& parameter) {
                                      return !parameter.is_buffer && parameter.type == from.dtype();
                                  }) &&
                      test.function->result() == dtype_of<bool>();
    if (fits) return;
    fail(ErrorCode::TypeMismatch,
         cat(test.runs ? "the equality does not take two values of "
                       : "the predicate does not take a value of ",
             from.dtype().name()),
         name, "use a function of elements that returns a bool");
}

/// Throws ArgumentError unless the output takes up to `size` elements of this type.
void check_select_output(const AnySink& sink, DType type, std::int64_t size, std::string_view name) {
    const std::string on = cat(name, ", ", sink.buffer() != nullptr ? sink.buffer()->name() : "a store map");
    if (sink.dtype() != type) {
        fail(ErrorCode::TypeMismatch,
             cat("the output takes ", sink.dtype().name(), ", but the result is ", type.name()), on,
             "use an output of the result's type, or convert the input");
    }
    if (sink.shape().rank() == 1 && sink.shape()[0] >= size) return;
    fail(ErrorCode::SizeMismatch,
         cat("the output has the shape ", sink.shape().to_string(), ", but up to ", size,
             " elements may be selected"),
         on, "use an output with one axis and as many elements as the input");
}

void check_select_count(const AnySink& count, std::string_view name) {
    const std::string on =
        cat(name, ", ", count.buffer() != nullptr ? count.buffer()->name() : "a store map");
    if (count.dtype() != dtype_of<u32>()) {
        fail(ErrorCode::TypeMismatch, cat("the output for the count takes ", count.dtype().name()), on,
             "use a Buffer<u32> with one element");
    }
    if (count.shape().elements() == 1) return;
    fail(ErrorCode::SizeMismatch, cat("the output for the count has the shape ", count.shape().to_string()),
         on, "use a Buffer<u32> with one element");
}

/// Checks a selection and makes all its arrays one-dimensional.
SelectRequest checked_request(SelectRequest request, std::string_view name, const SelectOptions& options) {
    check_select_tuning(options.tuning, name);
    check_select_test(request.from, request.test, name);
    const std::int64_t n = request.size();
    std::vector<const AnySink*> outputs;
    if (request.values_to) {
        check_select_output(*request.values_to, request.from.dtype(), n, name);
        outputs.push_back(&*request.values_to);
    }
    if (request.indices_to) {
        check_select_output(*request.indices_to, dtype_of<u32>(), n, name);
        outputs.push_back(&*request.indices_to);
    }
    if (request.count_to) {
        check_select_count(*request.count_to, name);
        outputs.push_back(&*request.count_to);
    }
    for (std::size_t k = 0; k < outputs.size(); ++k) {
        algorithms::check_no_overlap(*outputs[k], request.from, false, name);
        if (request.test.mask) algorithms::check_no_overlap(*outputs[k], *request.test.mask, false, name);
        for (std::size_t j = 0; j < k; ++j) algorithms::check_apart(*outputs[j], *outputs[k], name);
    }
    const Shape line(n);
    request.from = request.from.reshape(line);
    if (request.test.mask) request.test.mask = request.test.mask->reshape(line);
    if (request.count_to) request.count_to = request.count_to->reshape(Shape(1));
    return request;
}

const AnySource& mask_or_source(const AnySource& from, const detail::SelectTest& test) {
    return test.mask ? *test.mask : from;
}

Execution execution_of(const SelectRequest& request, const SelectOptions& options,
                       std::initializer_list<const AnySink*> more = {}) {
    std::array<const AnySink*, 3> sinks{};
    std::size_t count = 0;
    for (const std::optional<AnySink>* sink : {&request.values_to, &request.indices_to, &request.count_to}) {
        if (*sink) sinks[count++] = &**sink;
    }
    const AnySink* some = count > 0 ? sinks[0] : nullptr;
    const AnySource& mask = mask_or_source(request.from, request.test);
    if (some == nullptr) return {options.queue, {&request.from, &mask}};
    return {options.queue,
            {&request.from, &mask},
            {some, count > 1 ? sinks[1] : some, count > 2 ? sinks[2] : some,
             more.size() > 0 ? *more.begin() : some}};
}

Event run_selection(const SelectRequest& given, std::string_view name, const SelectOptions& options) {
    const SelectRequest request = checked_request(given, name, options);
    const Execution execution = execution_of(request, options);
    Event done;
    for (const Target& target : execution.targets()) done = select_on(request, execution, target, options);
    return done;
}

/// Blocks until the number of selected elements is known, calls `make(execution, number)`, which adds outputs
/// of that size to the request, and writes them.
template <class Make>
void select_exactly(SelectRequest request, std::string_view name, const SelectOptions& options, Make&& make) {
    if (is_recording()) {
        fail(ErrorCode::InvalidArgument,
             "the number of selected elements was read in a recording, where no command has run yet", name,
             "pass outputs with as many elements as the input, and one for the number");
    }
    request = checked_request(std::move(request), name, options);
    const Execution execution = execution_of(request, options);
    if (request.size() == 0) {
        make(execution, request, 0);
        return;
    }
    struct Counted {
        SelectPlan plan;
        AnyBuffer counts;
    };
    std::vector<Counted> counted;
    for (const Target& target : execution.targets()) {
        const SelectPlan plan = plan_selection(request, *target.device, options.tuning);
        counted.push_back({plan, count_selected(request, plan, execution, target)});
    }
    std::vector<u32> numbers;
    for (std::size_t k = 0; k < counted.size(); ++k) {
        const std::int64_t last = counted[k].plan.pieces.pieces;
        const Buffer<u32> total(counted[k].counts.sub({slice(last, last + 1)}));
        if (const std::optional<Queue>& queue = execution.targets()[k].queue) {
            numbers.push_back(total.item(*queue));
            continue;
        }
        for (const std::vector<u32>& replica : total.read()) numbers.push_back(replica.front());
    }
    const std::int64_t number = numbers.front();
    if (std::any_of(numbers.begin(), numbers.end(), [&](u32 other) { return other != numbers.front(); })) {
        fail(ErrorCode::SizeMismatch, "the replicas of the input select different numbers of elements", name,
             "set `queue`, or pass outputs with as many elements as the input");
    }
    make(execution, request, number);
    if (number == 0) return;
    for (std::size_t k = 0; k < counted.size(); ++k)
        write_selected(request, counted[k].plan, execution.targets()[k], counted[k].counts);
}

// ---- runs ----

/// Stores the lengths of runs, from the numbers of their first elements. If `counted`, a buffer has the
/// number of runs, which is stored to `count_to`, too.
AnyKernel run_lengths_kernel(const AnySink& lengths, const AnySink* count_to, bool counted) {
    KernelKey key("run lengths");
    lengths.identify(key);
    key.add(counted).add(count_to != nullptr);
    if (count_to != nullptr) count_to->identify(key);
    return algorithms::find_kernel(key, [&] {
        return any_kernel("run_length_encode: lengths", {}, [&](ParameterList& parameters) {
            const StoreElement store = lengths.declare(parameters);
            const StoreElement store_count =
                count_to != nullptr ? count_to->declare(parameters) : StoreElement();
            const AnyArray starts = parameters.const_buffer(dtype_of<u32>());
            const Value<u32> size = parameters.value<u32>(), known = parameters.value<u32>();
            const Value<u32> count =
                counted ? parameters.const_buffer(dtype_of<u32>()).load(Value<u32>(0U)).as<u32>() : known;
            const Value<u32> k = global_id().x;
            $if (k + 1U < count) {
                store(Position(k), starts.load(k + 1U).as<u32>() - starts.load(k).as<u32>());
            }
            $if (k + 1U == count) {
                store(Position(k), size - starts.load(k).as<u32>());
            }
            if (!store_count) return;
            $if (k == 0U) {
                store_count(Position(Value<u32>(0U)), count);
            }
        });
    });
}

constexpr std::string_view copying = "copy_if";
constexpr std::string_view encoding = "run_length_encode";

std::string_view selection_name(const detail::SelectTest& test) { return test.runs ? "unique" : copying; }

}  // namespace

Event detail::run_copy_if(const AnySink& to, const AnySink& count, const AnySource& from,
                          const SelectTest& test, const SelectOptions& options) {
    return run_selection({.from = from, .test = test, .values_to = to, .count_to = count},
                         selection_name(test), options);
}

AnyBuffer detail::new_copy_if(const AnySource& from, const SelectTest& test, const SelectOptions& options) {
    AnyBuffer result;
    select_exactly({.from = from, .test = test}, selection_name(test), options,
                   [&](const Execution& execution, SelectRequest& request, std::int64_t number) {
                       result = execution.result(from.dtype(), Shape(number));
                       request.values_to = result;
                   });
    return result;
}

Event detail::run_partition(const AnySink& to, const AnySink& count, const AnySource& from,
                            const SelectTest& test, const SelectOptions& options) {
    return run_selection({.from = from, .test = test, .values_to = to, .count_to = count, .divides = true},
                         "partition", options);
}

std::pair<AnyBuffer, AnyBuffer> detail::new_partition(const AnySource& from, const SelectTest& test,
                                                      const SelectOptions& options) {
    const Execution execution(options.queue, {&from, &mask_or_source(from, test)});
    std::pair<AnyBuffer, AnyBuffer> result{execution.result(from.dtype(), Shape(from.size())),
                                           execution.result(dtype_of<u32>(), Shape(1))};
    run_partition(result.first, result.second, from, test, options);
    return result;
}

Event detail::run_indices_if(const AnySink& to, const AnySink& count, const AnySource& from,
                             const SelectTest& test, const SelectOptions& options) {
    return run_selection({.from = from, .test = test, .indices_to = to, .count_to = count}, "indices_if",
                         options);
}

AnyBuffer detail::new_indices_if(const AnySource& from, const SelectTest& test,
                                 const SelectOptions& options) {
    AnyBuffer result;
    select_exactly({.from = from, .test = test}, "indices_if", options,
                   [&](const Execution& execution, SelectRequest& request, std::int64_t number) {
                       result = execution.result(dtype_of<u32>(), Shape(number));
                       request.indices_to = result;
                   });
    return result;
}

Event detail::run_length_encoding(const AnySink& values_to, const AnySink& lengths_to, const AnySink& count,
                                  const AnySource& from, const SelectTest& heads,
                                  const SelectOptions& options) {
    // The outputs that the last kernel writes, in place of the temporaries.
    checked_request(
        {.from = from, .test = heads, .values_to = values_to, .indices_to = lengths_to, .count_to = count},
        encoding, options);
    SelectRequest request{.from = from, .test = heads, .values_to = values_to, .count_to = count};
    const Execution execution = execution_of(request, options, {&lengths_to});
    Event done;
    for (const Target& target : execution.targets()) {
        if (from.size() == 0) {
            request.count_to = count.reshape(Shape(1));
            done = select_on(request, execution, target, options);
            continue;
        }
        const AnyBuffer starts = execution.scratch(dtype_of<u32>(), Shape(from.size()));
        const AnyBuffer total = execution.scratch(dtype_of<u32>(), Shape(1));
        request.indices_to = starts;
        request.count_to = total;
        select_on(checked_request(request, encoding, options), execution, target, options);
        const AnySink count_to = count.reshape(Shape(1));
        std::vector<AnyArgument> arguments;
        lengths_to.add_arguments(arguments);
        count_to.add_arguments(arguments);
        const auto n = static_cast<u32>(from.size());
        arguments.insert(arguments.end(), {starts, n, n, total});
        done = algorithms::launch(run_lengths_kernel(lengths_to, &count_to, true).over(from.size()), target,
                                  arguments);
    }
    return done;
}

std::pair<AnyBuffer, AnyBuffer> detail::new_run_lengths(const AnySource& from, const SelectTest& heads,
                                                        const SelectOptions& options) {
    std::pair<AnyBuffer, AnyBuffer> result;
    AnyBuffer starts;
    std::optional<Execution> selection;
    select_exactly({.from = from, .test = heads}, encoding, options,
                   [&](const Execution& execution, SelectRequest& request, std::int64_t number) {
                       selection = execution;
                       result = {execution.result(from.dtype(), Shape(number)),
                                 execution.result(dtype_of<u32>(), Shape(number))};
                       starts = execution.scratch(dtype_of<u32>(), Shape(number));
                       request.values_to = result.first;
                       request.indices_to = starts;
                   });
    const AnySink lengths(result.second);
    const std::int64_t number = result.second.shape()[0];
    if (number == 0) return result;
    for (const Target& target : selection->targets()) {
        std::vector<AnyArgument> arguments;
        lengths.add_arguments(arguments);
        arguments.insert(arguments.end(), {starts, static_cast<u32>(from.size()), static_cast<u32>(number)});
        algorithms::launch(run_lengths_kernel(lengths, nullptr, false).over(number), target, arguments);
    }
    return result;
}

}  // namespace volley
