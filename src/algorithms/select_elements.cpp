// Loads, tests and stores of selections, and their kernels for strips.
#include "algorithms/select_elements.hpp"

#include "algorithms/execution.hpp"

#include <volley/lang/cast.hpp>
#include <volley/lang/control.hpp>
#include <volley/lang/ids.hpp>
#include <volley/lang/math.hpp>
#include <volley/lang/var.hpp>

#include <string_view>

namespace volley::algorithms {

SelectElements::SelectElements(ParameterList& parameters, const SelectRequest& request, bool counts_only)
    : load_(request.from.declare(parameters)), function_(request.test.function), runs_(request.test.runs) {
    if (request.test.mask) mask_ = request.test.mask->declare(parameters);
    if (counts_only) return;
    if (request.values_to) store_value_ = request.values_to->declare(parameters);
    if (request.indices_to) store_index_ = request.indices_to->declare(parameters);
    if (request.count_to) store_count_ = request.count_to->declare(parameters);
}

void SelectElements::identify(KernelKey& key, const SelectRequest& request, bool counts_only) {
    request.from.identify(key);
    key.add(request.test.mask.has_value()).add(request.test.runs).add(request.divides).add(counts_only);
    if (request.test.mask) request.test.mask->identify(key);
    if (request.test.function) key.add(request.test.function->hash());
    if (counts_only) return;
    for (const std::optional<AnySink>* sink : {&request.values_to, &request.indices_to, &request.count_to}) {
        key.add(sink->has_value());
        if (*sink) (*sink)->identify(key);
    }
}

void SelectElements::add_arguments(std::vector<AnyArgument>& arguments, const SelectRequest& request,
                                   bool counts_only) {
    request.from.add_arguments(arguments);
    if (request.test.mask) request.test.mask->add_arguments(arguments);
    if (counts_only) return;
    for (const std::optional<AnySink>* sink : {&request.values_to, &request.indices_to, &request.count_to}) {
        if (*sink) (*sink)->add_arguments(arguments);
    }
}

SelectCandidate SelectElements::test(const Value<u32>& i, const std::optional<AnyValue>& before) const {
    if (mask_) return {convert(mask_(Position(i)), dtype_of<bool>()).as<bool>(), {}};
    const AnyValue x = load(i);
    if (!runs_) return {function_->call({x}).as<bool>(), x};
    return test_neighbours(i, *before, x);
}

SelectCandidate SelectElements::test_neighbours(const Value<u32>& i, const AnyValue& before,
                                                const AnyValue& x) const {
    return {i == 0U || !function_->call({before, x}).as<bool>(), x};
}

void SelectElements::store(const Value<u32>& to, const SelectCandidate& candidate,
                           const Value<u32>& i) const {
    if (has_values()) store_value(to, value_of(candidate, i));
    if (has_indices()) store_index(to, i);
}

void SelectElements::store_count(const Value<u32>& count) const {
    if (store_count_) store_count_(Position(Value<u32>(0U)), count);
}

std::vector<AnyArgument> select_arguments(const SelectRequest& request, const SelectPieces& pieces,
                                          const AnyBuffer& numbers, bool counts_only) {
    std::vector<AnyArgument> arguments;
    SelectElements::add_arguments(arguments, request, counts_only);
    for (const std::int64_t x : {request.size(), pieces.length, pieces.pieces})
        arguments.emplace_back(static_cast<u32>(x));
    arguments.emplace_back(numbers);
    return arguments;
}

namespace {

/// The strip of an invocation.
struct SelectStrip {
    SelectStrip(ParameterList& parameters, const SelectRequest& request, bool counts_only)
        : elements(parameters, request, counts_only),
          size(parameters.value<u32>()),
          length(parameters.value<u32>()),
          strips(parameters.value<u32>()),
          numbers(counts_only ? parameters.buffer(dtype_of<u32>())
                              : parameters.const_buffer(dtype_of<u32>())),
          number(global_id().x) {}

    /// Records `body(i, candidate)` for the elements of the strip, one after the other.
    template <class F>
    void each(F&& body) const {
        const Value<u32> begin = number * length;
        std::optional<AnyVar> before;
        if (elements.compares_neighbours()) before.emplace(elements.load(max(begin, 1U) - 1U));
        $for (j, 0U, min(size - begin, length)) {
            const Value<u32> i = begin + j;
            const SelectCandidate candidate =
                elements.test(i, before ? std::optional(before->load()) : std::nullopt);
            body(i, candidate);
            if (before) *before = *candidate.value;
        }
    }

    SelectElements elements;
    Value<u32> size;
    Value<u32> length;
    Value<u32> strips;
    AnyArray numbers;
    Value<u32> number;
};

KernelKey strip_key(std::string_view name, const SelectRequest& request, bool counts_only) {
    KernelKey key(name);
    SelectElements::identify(key, request, counts_only);
    return key;
}

}  // namespace

AnyKernel select_strip_count_kernel(const SelectRequest& request) {
    return find_kernel(strip_key("select strip count", request, true), [&] {
        return any_kernel("select: count", {}, [&](ParameterList& parameters) {
            const SelectStrip strip(parameters, request, true);
            Var<u32> count = 0U;
            strip.each([&](const Value<u32>&, const SelectCandidate& candidate) {
                count += select(candidate.selected, 1U, 0U);
            });
            strip.numbers.store(strip.number, Value<u32>(count));
            $if (strip.number == 0U) {
                strip.numbers.store(strip.strips, Value<u32>(0U));
            }
        });
    });
}

AnyKernel select_strip_write_kernel(const SelectRequest& request) {
    return find_kernel(strip_key("select strip write", request, false), [&] {
        return any_kernel("select: write", {}, [&](ParameterList& parameters) {
            const SelectStrip strip(parameters, request, false);
            const SelectElements& elements = strip.elements;
            Var<u32> to = strip.numbers.load(strip.number).as<u32>();
            const Value<u32> count = strip.numbers.load(strip.strips).as<u32>();
            strip.each([&](const Value<u32>& i, const SelectCandidate& candidate) {
                const Value<u32> at = to;
                $if (candidate.selected) {
                    elements.store(at, candidate, i);
                    to += 1U;
                }
                if (!request.divides) return;
                // i - at elements before this one are not selected.
                $if (!candidate.selected) {
                    elements.store(count + (i - at), candidate, i);
                }
            });
            $if (strip.number == 0U) {
                elements.store_count(count);
            }
        });
    });
}

}  // namespace volley::algorithms
