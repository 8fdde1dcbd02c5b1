// Sorts by digits: encodes the keys into row-major rows of words, sorts these, and decodes them. Or sorts by
// a comparison: copies the keys to rows, and merges these. The keys and their payload are sorted in the
// memory of the outputs where these are plain arrays of the right size.
#include "algorithms/sort_keys.hpp"
#include "algorithms/sort_merge.hpp"
#include "algorithms/sort_radix.hpp"
#include "algorithms/sort_rows.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/algorithms/sort.hpp>
#include <volley/algorithms/transform.hpp>
#include <volley/lang/cast.hpp>
#include <volley/lang/control.hpp>
#include <volley/lang/ids.hpp>
#include <volley/lang/operators.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace volley {
namespace {

using algorithms::Execution;
using algorithms::KeyCode;
using algorithms::MergePlan;
using algorithms::MergeSort;
using algorithms::RadixResult;
using algorithms::RadixSort;
using algorithms::RowPositions;
using algorithms::Rows;
using algorithms::Target;

// Larger values stay where they are while their numbers move, and are gathered at the end.
constexpr std::size_t most_moved_bytes = 16;

/// One call: where keys and values come from and go to. `values` without `values_to` does not occur; without
/// `values`, `values_to` gets the numbers of the elements in their rows.
struct SortCall {
    std::string_view name;
    AnySource keys;
    std::optional<AnySource> values;
    std::optional<AnySink> keys_to, values_to;
    const SortOptions& options;
    const AnyFunction* less = nullptr;  // null: by the digits of the keys

    [[nodiscard]] bool gathers() const { return values && values->dtype().size() > most_moved_bytes; }
    /// The source of the payload, if it is not the numbers of the elements.
    [[nodiscard]] const AnySource* payload() const { return values && !gathers() ? &*values : nullptr; }
    [[nodiscard]] DType payload_type() const {
        if (!values_to) return {};
        return payload() != nullptr ? payload()->dtype() : dtype_of<u32>();
    }
};

/// Returns the memory of an output as a row of words, if the rows can be sorted there.
std::optional<AnyBuffer> memory_of(const std::optional<AnySink>& sink, const Rows& rows, DType word,
                                   const SortCall& call) {
    if (!sink || sink->buffer() == nullptr || !rows.contiguous()) return std::nullopt;
    const AnyBuffer& buffer = *sink->buffer();
    if (!buffer.is_contiguous() || buffer.dtype().size() != word.size()) return std::nullopt;
    if (buffer.dtype() != word && (!buffer.dtype().is_scalar() || !word.is_scalar())) return std::nullopt;
    if (algorithms::reads_part_of(call.keys, buffer)) return std::nullopt;
    if (call.values && (call.gathers() ? algorithms::reads(*call.values, buffer)
                                       : algorithms::reads_part_of(*call.values, buffer)))
        return std::nullopt;
    const AnyBuffer words = buffer.dtype() == word ? buffer : buffer.view_as(word);
    return words.reshape({rows.elements()});
}

void add_optional(std::vector<AnyArgument>& arguments, const AnySource* source) {
    if (source != nullptr) source->add_arguments(arguments);
}

// The memory in which rows are sorted: keys as words, and their payload. Both change between two buffers.
struct RowMemory {
    AnyBuffer keys[2] = {};
    AnyBuffer payload[2] = {};
};

// Stores the encoded keys and their payload, row by row.
void prepare(const SortCall& call, const Rows& rows, const KeyCode& code, const RowMemory& memory,
             const Target& target) {
    const AnySource* payload = call.payload();
    const DType payload_type = call.payload_type();
    RowPositions positions(rows, {&call.keys, payload != nullptr ? payload : &call.keys});
    KernelKey key("sort prepare");
    key.add(code.type).add(code.descending).add(code.encoded).add(payload != nullptr).add(payload_type);
    positions.identify(key);
    call.keys.identify(key);
    if (payload != nullptr) payload->identify(key);
    const AnyKernel kernel = algorithms::find_kernel(key, [&] {
        return any_kernel("sort.prepare", {}, [&](ParameterList& list) {
            const AnyArray keys = list.buffer(code.word());
            std::optional<AnyArray> values;
            if (!payload_type.is_void()) values = list.buffer(payload_type);
            const LoadElement load_key = call.keys.declare(list);
            const LoadElement load_value = payload != nullptr ? payload->declare(list) : LoadElement();
            const Value<u32> length = list.value<u32>();
            positions.declare(list);
            const Value<u32> i = global_id().x, row = global_id().y;
            const Position at = positions.at(row, i);
            const AnyValue encoded = code.encode(load_key(at));
            const Value<u32> to = row * length + i;
            if (values) values->store(to, payload != nullptr ? load_value(at) : AnyValue(i));
            keys.store(to, encoded);
        });
    });
    std::vector<AnyArgument> arguments{memory.keys[0]};
    if (!payload_type.is_void()) arguments.emplace_back(memory.payload[0]);
    call.keys.add_arguments(arguments);
    add_optional(arguments, payload);
    arguments.emplace_back(static_cast<u32>(rows.length));
    positions.add_arguments(arguments);
    algorithms::launch(kernel.over({rows.length, rows.count}), target, arguments);
}

// Decodes the sorted keys and stores them and their values.
Event finish(const SortCall& call, const Rows& rows, const KeyCode& code, const RowMemory& memory,
             const RadixResult& result, const Target& target) {
    const bool gathers = call.gathers();
    const DType payload_type = call.payload_type();
    const bool flips_differ = !result.flips.dtype().is_void();
    const AnySink* keys_to = call.keys_to ? &*call.keys_to : nullptr;
    const AnySink* values_to = call.values_to ? &*call.values_to : nullptr;
    const AnySink* some = keys_to != nullptr ? keys_to : values_to;
    RowPositions positions(rows, {gathers ? &*call.values : &call.keys},
                           {some, values_to != nullptr ? values_to : some});
    KernelKey key("sort finish");
    key.add(code.type).add(code.descending).add(code.encoded).add(gathers).add(payload_type);
    key.add(keys_to != nullptr);
    key.add(flips_differ);
    positions.identify(key);
    if (keys_to != nullptr) keys_to->identify(key);
    if (values_to != nullptr) values_to->identify(key);
    if (gathers) call.values->identify(key);
    const AnyKernel kernel = algorithms::find_kernel(key, [&] {
        return any_kernel("sort.finish", {}, [&](ParameterList& list) {
            std::vector<AnyArray> keys, payload;
            for (int k = 0; keys_to != nullptr && k < 2; ++k) keys.push_back(list.const_buffer(code.word()));
            for (int k = 0; values_to != nullptr && k < 2; ++k)
                payload.push_back(list.const_buffer(payload_type));
            std::optional<AnyArray> flips;
            if (flips_differ) flips = list.const_buffer(dtype_of<u32>());
            const Value<u32> begin = list.value<u32>(), length = list.value<u32>();
            const StoreElement store_key = keys_to != nullptr ? keys_to->declare(list) : StoreElement();
            const StoreElement store_value = values_to != nullptr ? values_to->declare(list) : StoreElement();
            const LoadElement load_value = gathers ? call.values->declare(list) : LoadElement();
            positions.declare(list);
            const Value<u32> i = global_id().x, row = global_id().y;
            const Value<u32> from = row * length + i;
            const Position at = positions.at(row, i);
            const auto store_from = [&](std::size_t which) {
                if (keys_to != nullptr) store_key(at, code.decode(keys[which].load(from)));
                if (values_to == nullptr) return;
                const AnyValue value = payload[which].load(from);
                store_value(at, gathers ? load_value(positions.at(row, value.as<u32>())) : value);
            };
            if (!flips) {
                store_from(0);
                return;
            }
            $if (flips->load(begin + row).as<u32>() == 0U) {
                store_from(0);
            }
            $else { store_from(1); }
        });
    });
    std::vector<AnyArgument> arguments;
    if (keys_to != nullptr) arguments.insert(arguments.end(), {memory.keys[0], memory.keys[1]});
    if (values_to != nullptr) arguments.insert(arguments.end(), {memory.payload[0], memory.payload[1]});
    if (flips_differ) arguments.emplace_back(result.flips);
    arguments.insert(arguments.end(), {result.begin, static_cast<u32>(rows.length)});
    if (keys_to != nullptr) keys_to->add_arguments(arguments);
    if (values_to != nullptr) values_to->add_arguments(arguments);
    if (gathers) call.values->add_arguments(arguments);
    positions.add_arguments(arguments);
    return algorithms::launch(kernel.over({rows.length, rows.count}), target, arguments);
}

void check_tuning(const SortTuning& tuning, std::string_view name) {
    constexpr unsigned most_lanes = 64, most_digit_bits = 11;
    if (tuning.lanes <= most_lanes && tuning.digit_bits <= most_digit_bits) return;
    fail(ErrorCode::InvalidArgument,
         cat("the tuning parameters (", tuning.lanes, " lanes, ", tuning.digit_bits,
             " bits) are out of range"),
         name, cat("use at most ", most_lanes, " lanes and ", most_digit_bits, " bits"));
}

/// Copies values that are gathered at the end if an output overwrites them.
void protect_values(SortCall& call, const Execution& execution) {
    if (!call.gathers()) return;
    const auto overwrites = [&](const std::optional<AnySink>& sink) {
        return sink && sink->buffer() != nullptr && algorithms::reads(*call.values, *sink->buffer());
    };
    if (!overwrites(call.keys_to) && !overwrites(call.values_to)) return;
    const AnyBuffer copy = execution.scratch(call.values->dtype(), call.values->shape());
    transform(copy, *call.values, {.queue = call.options.queue});
    call.values = AnySource(copy);
}

// Sorts by digits.
Event run_radix(const SortCall& call, const Rows& rows, const KeyCode& code, const RowMemory& memory,
                const Execution& execution, const Target& target) {
    const RadixSort sort{.rows = rows.count,
                         .length = rows.length,
                         .bits = code.bits(),
                         .keys = {memory.keys[0], memory.keys[1]},
                         .payload = {memory.payload[0], memory.payload[1]}};
    prepare(call, rows, code, memory, target);
    const RadixResult result = algorithms::radix_sort(execution, target, sort, call.options.tuning);
    return finish(call, rows, code, memory, result, target);
}

// Sorts by a comparison. `in_place`: the first buffers are those of the outputs.
Event run_merge(const SortCall& call, const Rows& rows, const KeyCode& code, RowMemory memory, bool in_place,
                const Target& target) {
    const MergePlan plan = algorithms::plan_merge_sort(target, rows.length, call.options.tuning);
    const auto exchange = [&] {
        std::swap(memory.keys[0], memory.keys[1]);
        std::swap(memory.payload[0], memory.payload[1]);
    };
    if (plan.passes % 2 != 0) exchange();  // so that the last pass stores to the first buffers
    prepare(call, rows, code, memory, target);
    const MergeSort sort{.less = call.less,
                         .descending = code.descending,
                         .rows = rows.count,
                         .length = rows.length,
                         .keys = {memory.keys[0], memory.keys[1]},
                         .payload = {memory.payload[0], memory.payload[1]}};
    const Event sorted = algorithms::merge_sort(target, sort, plan);
    if (in_place) return sorted;
    if (plan.passes % 2 != 0) exchange();
    return finish(call, rows, code, memory, {}, target);
}

Event run(SortCall call) {
    if (call.less == nullptr) algorithms::check_sortable(call.keys.dtype(), call.name);
    const Rows rows(call.keys.shape(), call.options.axis, call.name);
    check_tuning(call.options.tuning, call.name);
    if (call.values && call.values->shape() != rows.shape) {
        fail(ErrorCode::SizeMismatch,
             cat("the values have the shape ", call.values->shape().to_string(), ", but the keys have ",
                 rows.shape.to_string()),
             call.name, "use one value for each key");
    }
    if (call.keys_to) algorithms::check_sink(*call.keys_to, call.keys.dtype(), rows.shape, call.name);
    if (call.values_to) {
        const DType type = call.values ? call.values->dtype() : dtype_of<u32>();
        algorithms::check_sink(*call.values_to, type, rows.shape, call.name);
    }
    if (call.keys_to && call.values_to) algorithms::check_apart(*call.keys_to, *call.values_to, call.name);
    const AnySource* values = call.values ? &*call.values : &call.keys;
    const AnySink* sink = call.keys_to ? &*call.keys_to : &*call.values_to;
    const Execution execution(call.options.queue, {&call.keys, values},
                              {sink, call.values_to ? &*call.values_to : sink});
    if (rows.empty()) return {};
    protect_values(call, execution);
    const KeyCode code{call.keys.dtype(), call.options.descending, call.less == nullptr};
    const Shape shape(rows.elements());
    const DType payload = call.payload_type();
    const std::optional<AnyBuffer> key_memory = memory_of(call.keys_to, rows, code.word(), call);
    const std::optional<AnyBuffer> value_memory =
        payload.is_void() ? std::nullopt : memory_of(call.values_to, rows, payload, call);
    const bool in_place =
        (!call.keys_to || key_memory) && (!call.values_to || value_memory) && !call.gathers();
    Event done;
    for (const Target& target : execution.targets()) {
        RowMemory memory;
        memory.keys[0] = key_memory ? *key_memory : execution.scratch(code.word(), shape);
        memory.keys[1] = execution.scratch(code.word(), shape);
        if (!payload.is_void()) {
            memory.payload[0] = value_memory ? *value_memory : execution.scratch(payload, shape);
            memory.payload[1] = execution.scratch(payload, shape);
        }
        done = call.less == nullptr ? run_radix(call, rows, code, memory, execution, target)
                                    : run_merge(call, rows, code, memory, in_place, target);
    }
    return done;
}

}  // namespace

Event sort(const AnySink& to, const AnySource& from, const SortOptions& options) {
    return run({"sort", from, std::nullopt, to, std::nullopt, options});
}

Event argsort(const AnySink& to, const AnySource& from, const SortOptions& options) {
    return run({"argsort", from, std::nullopt, std::nullopt, to, options});
}

Event sort_by_key(const AnySink& keys_to, const AnySink& values_to, const AnySource& keys,
                  const AnySource& values, const SortOptions& options) {
    return run({"sort_by_key", keys, values, keys_to, values_to, options});
}

Event detail::sort_compared(const AnySink& to, const AnySource& from, const AnyFunction& less,
                            const SortOptions& options) {
    return run({"sort", from, std::nullopt, to, std::nullopt, options, &less});
}

Event detail::argsort_compared(const AnySink& to, const AnySource& from, const AnyFunction& less,
                               const SortOptions& options) {
    return run({"argsort", from, std::nullopt, std::nullopt, to, options, &less});
}

Event detail::sort_by_key_compared(const AnySink& keys_to, const AnySink& values_to, const AnySource& keys,
                                   const AnySource& values, const AnyFunction& less,
                                   const SortOptions& options) {
    return run({"sort_by_key", keys, values, keys_to, values_to, options, &less});
}

AnyBuffer detail::sorted(const AnySource& source, const AnyFunction* less, const SortOptions& options) {
    const Execution execution(options.queue, {&source});
    AnyBuffer result = execution.result(source.dtype(), source.shape());
    run({"sort", source, std::nullopt, AnySink(result), std::nullopt, options, less});
    return result;
}

AnyBuffer detail::argsorted(const AnySource& source, const AnyFunction* less, const SortOptions& options) {
    const Execution execution(options.queue, {&source});
    AnyBuffer result = execution.result(dtype_of<u32>(), source.shape());
    run({"argsort", source, std::nullopt, std::nullopt, AnySink(result), options, less});
    return result;
}

std::pair<AnyBuffer, AnyBuffer> detail::sorted_by_key(const AnySource& keys, const AnySource& values,
                                                      const AnyFunction* less, const SortOptions& options) {
    const Execution execution(options.queue, {&keys, &values});
    std::pair<AnyBuffer, AnyBuffer> result{execution.result(keys.dtype(), keys.shape()),
                                           execution.result(values.dtype(), values.shape())};
    run({"sort_by_key", keys, values, AnySink(result.first), AnySink(result.second), options, less});
    return result;
}

}  // namespace volley
