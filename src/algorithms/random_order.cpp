// Random orders. A Feistel network is a keyed bijection of the numbers below a power of two; a number that it
// takes beyond the length is taken again, until it is below (cycle walking). Invariant: the numbers below the
// power of two exceed the length, so that odd permutations occur too.
#include "algorithms/execution.hpp"
#include "algorithms/philox.hpp"
#include "algorithms/sort_rows.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/algorithms/gather.hpp>
#include <volley/algorithms/random.hpp>
#include <volley/algorithms/transform.hpp>
#include <volley/lang/cast.hpp>
#include <volley/lang/control.hpp>
#include <volley/lang/ids.hpp>
#include <volley/lang/operators.hpp>
#include <volley/lang/var.hpp>

#include <algorithm>
#include <bit>
#include <string_view>
#include <vector>

namespace volley::random {
namespace {

// With fewer rounds, the orders of very short arrays are not equally frequent.
constexpr u32 rounds = 24;
// The high word of the counters of round keys, so that they differ from the blocks of fills.
constexpr u32 key_counter = 0xffffffff;

std::vector<Value<u32>> round_keys(const Words2& seed, const Words2& stream) {
    std::vector<Words4> counters;
    for (u32 block = 0; block < rounds / 4; ++block)
        counters.push_back(make<vec<u32, 4>>(block, key_counter, stream.x, stream.y));
    std::vector<Value<u32>> keys;
    for (const Words4& words : philox_blocks(seed, counters)) {
        for (const Value<u32>& word : {words.x, words.y, words.z, words.w}) keys.push_back(word);
    }
    return keys;
}

/// Returns `32 - unused` bits that depend on all bits of x and of the key.
Value<u32> mixed(const Value<u32>& x, const Value<u32>& key, const Value<u32>& unused) {
    const Value<u32> product = (x ^ key) * 0xcd9e8d57U;
    return ((product ^ (product >> 16U)) * 0xd2511f53U) >> unused;
}

AnyKernel order_kernel(const AnySink& to) {
    KernelKey key("random order");
    to.identify(key);
    return algorithms::find_kernel(key, [&] {
        return any_kernel("random::permutation", {}, [&](ParameterList& parameters) {
            const StoreElement store = to.declare(parameters);
            const Words2 seed = halves_of(parameters.value<u64>());
            const Words2 stream = halves_of(parameters.value<u64>());
            const Value<u32> count = parameters.value<u32>();
            const Value<u32> low_bits = parameters.value<u32>(), high_bits = parameters.value<u32>();
            const std::vector<Value<u32>> keys = round_keys(seed, stream);
            const Value<u32> not_low = 32U - low_bits, not_high = 32U - high_bits;
            const Value<u32> low_mask = (Value<u32>(1U) << low_bits) - 1U;
            const Value<u32> i = global_id().x;
            Var<u32> number = i;
            Var<bool> again = true;
            $while (again) {
                Var<u32> high = number >> low_bits, low = number & low_mask;
                for (u32 round = 0; round < rounds; round += 2) {
                    high = high ^ mixed(low, keys[round], not_high);
                    low = low ^ mixed(high, keys[round + 1], not_low);
                }
                number = (high << low_bits) | low;
                again = number >= count;
            }
            store(Position(i), Value<u32>(number));
        });
    });
}

}  // namespace

Event permutation(const AnySink& to, const PermutationOptions& options) {
    constexpr std::string_view name = "random::permutation";
    if (to.shape().rank() != 1) {
        fail(ErrorCode::InvalidShape, cat("the output has the shape ", to.shape().to_string()), name,
             "use a one-dimensional output");
    }
    algorithms::check_sink(to, dtype_of<u32>(), to.shape(), name);
    const std::int64_t count = to.shape()[0];
    if (count > std::int64_t{0xffffffff}) {
        fail(ErrorCode::Overflow, cat("the output has ", count, " elements, more than u32 can number"), name,
             "use at most 2^32 - 1 elements");
    }
    const algorithms::Execution execution(options.queue, {}, {&to});
    if (count == 0) return {};
    const auto bits = std::max<u32>(static_cast<u32>(std::bit_width(static_cast<u64>(count))), 2);
    std::vector<AnyArgument> arguments;
    to.add_arguments(arguments);
    arguments.push_back(options.seed.value());
    arguments.emplace_back(options.stream);
    for (const u32 number : {static_cast<u32>(count), bits - bits / 2, bits / 2})
        arguments.emplace_back(number);
    Event done;
    for (const algorithms::Target& target : execution.targets())
        done = algorithms::launch(order_kernel(to).over(count), target, arguments);
    return done;
}

Event shuffle(const AnySink& to, const AnySource& from, const ShuffleOptions& options) {
    constexpr std::string_view name = "random::shuffle";
    const int axis = algorithms::checked_axis(options.axis, from.shape().rank(), name);
    algorithms::check_sink(to, from.dtype(), from.shape(), name);
    const algorithms::Execution execution(options.queue, {&from}, {&to});
    const AnyBuffer order = execution.scratch(dtype_of<u32>(), Shape(from.shape()[axis]));
    permutation(order, {.seed = options.seed, .stream = options.stream, .queue = options.queue});
    const TakeOptions rows{.axis = axis, .queue = options.queue};
    if (to.buffer() == nullptr || !algorithms::reads(from, *to.buffer())) return take(to, from, order, rows);
    const AnyBuffer copy = execution.scratch(from.dtype(), from.shape());
    transform(copy, from, {.queue = options.queue});
    return take(to, copy, order, rows);
}

AnyBuffer detail::shuffled(const AnySource& source, const ShuffleOptions& options) {
    AnyBuffer result = algorithms::Execution(options.queue, {&source}).result(source.dtype(), source.shape());
    shuffle(result, source, options);
    return result;
}

}  // namespace volley::random
