// Fills with random numbers. Each invocation computes one or two blocks of Philox and stores the elements
// that depend on them. Invariant: element i of a stream does not depend on where the fill begins or ends.
#include "algorithms/execution.hpp"
#include "algorithms/philox.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/algorithms/random.hpp>
#include <volley/lang/cast.hpp>
#include <volley/lang/control.hpp>
#include <volley/lang/ids.hpp>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace volley::random {
namespace {

/// The values that a distribution computes from a block. `numbers` are its parameters.
using BlockValues =
    std::function<std::vector<AnyValue>(const Words4& words, const std::vector<AnyValue>& numbers)>;

struct Distribution {
    std::string_view name;
    KernelKey key;  // what determines the code of `values`
    unsigned per_block = 4;
    std::vector<AnyArgument> numbers = {};
    BlockValues values = {};
};

struct Stream {
    const Seed& seed;
    u64 number;
    u64 offset;
};

// A part of a fill: how its elements lie in the blocks of the stream, and how invocations share the blocks.
struct Extent {
    u32 begin;    // number of the first element of the part
    u32 count;    // elements
    u32 before;   // elements of the first block that precede the part
    u64 first;    // block
    u32 each;     // blocks of an invocation
    u32 items;    // invocations; their blocks are as many apart
    bool whole;   // no block has other elements, and begin is 0
    bool narrow;  // the high words of all counters are equal
};

// The distance of an invocation's blocks is a multiple of this, so that vectors of all of them are aligned.
constexpr u32 unit = 64;

/// Returns how many blocks to compute in an invocation, as many as there are registers for: a round of a
/// block takes longer than a processor needs to start the same round of the next ones.
u32 blocks_of_invocation(const DeviceInfo& device) {
    if (device_class(device) != DeviceClass::Cpu) return 1;
    return device.subgroup_size >= 16 ? 4 : 2;
}

/// Returns the part of [begin, count) that one launch fills.
Extent extent_of(std::int64_t begin, std::int64_t count, u64 offset, unsigned per_block,
                 const DeviceInfo& device) {
    Extent e{};
    offset += static_cast<u64>(begin);
    e.begin = static_cast<u32>(begin);
    e.before = static_cast<u32>(offset % per_block);
    e.first = offset / per_block;
    e.each = blocks_of_invocation(device);
    const std::int64_t several = std::int64_t{e.each} * per_block * unit;
    const std::int64_t whole = (count - begin) / several * several;
    if (e.each > 1 && begin == 0 && e.before == 0 && whole >= 4 * several) {
        e.count = static_cast<u32>(whole);
    } else {
        e.each = 1;
        e.count = static_cast<u32>(count - begin);
    }
    const std::int64_t blocks = algorithms::divide_up(std::int64_t{e.count} + e.before, per_block);
    e.items = static_cast<u32>(blocks / e.each);
    e.whole = begin == 0 && e.before == 0 && e.count % per_block == 0;
    e.narrow = (e.first & 0xffffffff) + static_cast<u64>(blocks) <= 0xffffffff;
    return e;
}

AnyKernel fill_kernel(const AnySink& to, const Distribution& distribution, const Extent& extent) {
    KernelKey key("random fill");
    key.add(distribution.key.text()).add(extent.whole).add(extent.narrow).add(extent.each);
    to.identify(key);
    return algorithms::find_kernel(key, [&] {
        return any_kernel(distribution.name, {}, [&](ParameterList& parameters) {
            const StoreElement store = to.declare(parameters);
            const Words2 seed = halves_of(parameters.value<u64>());
            const Words2 stream = halves_of(parameters.value<u64>());
            const Words2 first = halves_of(parameters.value<u64>());
            const Value<u32> begin = parameters.value<u32>();
            const Value<u32> before = parameters.value<u32>();
            const Value<u32> count = parameters.value<u32>();
            std::vector<AnyValue> numbers;
            for (const AnyArgument& number : distribution.numbers)
                numbers.push_back(parameters.value(number.dtype()));

            const Value<u32> items = parameters.value<u32>() * unit;

            std::vector<Value<u32>> blocks{global_id().x};
            while (blocks.size() < extent.each) blocks.push_back(blocks.back() + items);
            std::vector<Words4> counters;
            for (const Value<u32>& block : blocks) {
                const Value<u32> low = first.x + block;
                const Value<u32> high = extent.narrow ? first.y : first.y + select(low < block, 1U, 0U);
                counters.push_back(make<vec<u32, 4>>(low, high, stream.x, stream.y));
            }
            const std::vector<Words4> words = philox_blocks(seed, counters);
            for (std::size_t b = 0; b < blocks.size(); ++b) {
                const std::vector<AnyValue> values = distribution.values(words[b], numbers);
                for (u32 k = 0; k < distribution.per_block; ++k) {
                    const Value<u32> element = blocks[b] * distribution.per_block + k;
                    if (extent.whole) {
                        store(Position(element), values[k]);
                    } else {
                        $if (element >= before && element - before < count) {
                            store(Position(element - before + begin), values[k]);
                        }
                    }
                }
            }
        });
    });
}

Event fill(const AnySink& to, const Stream& stream, const Distribution& distribution,
           const std::optional<Queue>& queue) {
    const std::int64_t count = to.shape().elements();
    if (count > std::int64_t{0xffffffff} - 4) {
        fail(ErrorCode::Overflow, cat("the output has ", count, " elements, more than a fill can count"),
             distribution.name, "fill parts of it, with an offset");
    }
    const AnySink flat = to.is_flat() ? to : to.reshape(Shape(count));
    const algorithms::Execution execution(queue, {}, {&flat});
    Event done;
    for (const algorithms::Target& target : execution.targets()) {
        std::int64_t begin = 0;
        do {
            const Extent extent =
                extent_of(begin, count, stream.offset, distribution.per_block, *target.device);
            std::vector<AnyArgument> arguments;
            flat.add_arguments(arguments);
            arguments.push_back(stream.seed.value());
            arguments.emplace_back(stream.number);
            arguments.emplace_back(extent.first);
            for (const u32 number : {extent.begin, extent.before, extent.count})
                arguments.emplace_back(number);
            arguments.insert(arguments.end(), distribution.numbers.begin(), distribution.numbers.end());
            arguments.emplace_back(extent.items / unit);
            const AnyKernel kernel = fill_kernel(flat, distribution, extent).over(extent.items);
            done = algorithms::launch(kernel, target, arguments);
            begin += extent.count;
        } while (begin < count);
    }
    return done;
}

[[noreturn]] void refuse_parameters(std::string_view name, const std::string& what, std::string_view advice) {
    fail(ErrorCode::InvalidArgument, what, name, advice);
}

void check_float(const AnySink& to, std::string_view name) {
    const DType type = to.dtype();
    if (type.is_scalar() && type.is_float()) return;
    fail(ErrorCode::TypeMismatch,
         cat("the output takes ", type.name(), ", but the result is f16, f32 or f64"),
         cat(name, ", ", to.buffer() != nullptr ? to.buffer()->name() : "a store map"),
         "use an output of floats; random::integers() makes whole numbers");
}

// Numbers are computed in f32, or in f64 for an output of f64.
bool is_wide(const AnySink& to) { return to.dtype().scalar() == ScalarType::F64; }

AnyArgument number_for(bool wide, double x) {
    return wide ? AnyArgument(x) : AnyArgument(static_cast<float>(x));
}

/// Returns the largest number of the type below `high`.
double number_below(DType type, double high) {
    if (type.scalar() == ScalarType::F64)
        return std::nextafter(high, -std::numeric_limits<double>::infinity());
    if (type.scalar() == ScalarType::F32) {
        const auto rounded = static_cast<float>(high);
        return rounded < high ? rounded : std::nextafter(rounded, -std::numeric_limits<float>::infinity());
    }
    const half rounded(static_cast<float>(high));
    if (static_cast<float>(rounded) < high) return static_cast<float>(rounded);
    // The bits of halves are ordered by magnitude.
    const std::uint16_t bits = rounded.bits();
    if ((bits & 0x7fffU) == 0) return -0x1p-24;
    const int step = (bits & 0x8000U) != 0 ? 1 : -1;
    return static_cast<float>(half::from_bits(static_cast<std::uint16_t>(bits + step)));
}

// Returns x * scale + shift.
template <class T>
AnyValue scaled(const Value<T>& x, const std::vector<AnyValue>& numbers) {
    return fma(x, numbers[0].as<T>(), numbers[1].as<T>());
}

std::vector<AnyValue> converted(std::vector<AnyValue> values, DType type) {
    for (AnyValue& value : values) value = convert(value, type);
    return values;
}

}  // namespace

Event uniform(const AnySink& to, const UniformOptions& options) {
    constexpr std::string_view name = "random::uniform";
    check_float(to, name);
    const DType type = to.dtype();
    const double last = number_below(type, options.high);
    if (!(options.low < options.high) || !std::isfinite(options.high - options.low) || last < options.low) {
        refuse_parameters(name, cat("there are no numbers from ", options.low, " to ", options.high),
                          "use finite bounds with low < high");
    }
    const bool wide = is_wide(to), plain = options.low == 0 && options.high == 1;
    const ScalarType scalar = type.scalar();
    Distribution d{.name = name, .key = KernelKey("uniform"), .per_block = wide ? 2U : 4U};
    d.key.add(type).add(plain);
    if (!plain) {
        d.numbers = {number_for(wide, options.high - options.low), number_for(wide, options.low),
                     number_for(wide, last)};
    }
    d.values = [=](const Words4& words, const std::vector<AnyValue>& numbers) {
        std::vector<AnyValue> values;
        if (wide) {
            for (const Words2& pair : {words.xy(), words.zw()}) {
                const Value<double> fraction = unit_double(pair);
                values.push_back(plain
                                     ? AnyValue(fraction)
                                     : min(scaled(fraction, numbers).as<double>(), numbers[2].as<double>()));
            }
            return values;
        }
        for (const Value<u32>& word : {words.x, words.y, words.z, words.w}) {
            const Value<float> fraction =
                scalar == ScalarType::F16 ? cast<float>(word >> 21U) * 0x1p-11F : unit_float(word);
            values.push_back(plain ? AnyValue(fraction)
                                   : min(scaled(fraction, numbers).as<float>(), numbers[2].as<float>()));
        }
        return converted(std::move(values), type);
    };
    return fill(to, {options.seed, options.stream, options.offset}, d, options.queue);
}

Event normal(const AnySink& to, const NormalOptions& options) {
    constexpr std::string_view name = "random::normal";
    check_float(to, name);
    if (!std::isfinite(options.mean) || !std::isfinite(options.stddev) || options.stddev < 0) {
        refuse_parameters(name,
                          cat("there is no normal distribution with mean ", options.mean,
                              " and standard deviation ", options.stddev),
                          "use finite numbers and a standard deviation of at least 0");
    }
    const DType type = to.dtype();
    const bool wide = is_wide(to), plain = options.mean == 0 && options.stddev == 1;
    Distribution d{.name = name, .key = KernelKey("normal"), .per_block = wide ? 2U : 4U};
    d.key.add(type).add(plain);
    if (!plain) d.numbers = {number_for(wide, options.stddev), number_for(wide, options.mean)};
    d.values = [=](const Words4& words, const std::vector<AnyValue>& numbers) {
        std::vector<AnyValue> values;
        if (wide) {
            const Value<vec<double, 2>> pair = normal_doubles(words);
            for (const Value<double>& z : {pair.x, pair.y})
                values.push_back(plain ? AnyValue(z) : scaled(z, numbers));
            return values;
        }
        for (const Words2& half_block : {words.xy(), words.zw()}) {
            const Value<vec<float, 2>> pair = normal_floats(half_block);
            for (const Value<float>& z : {pair.x, pair.y})
                values.push_back(plain ? AnyValue(z) : scaled(z, numbers));
        }
        return converted(std::move(values), type);
    };
    return fill(to, {options.seed, options.stream, options.offset}, d, options.queue);
}

Event exponential(const AnySink& to, const ExponentialOptions& options) {
    constexpr std::string_view name = "random::exponential";
    check_float(to, name);
    if (!(options.rate > 0) || !std::isfinite(1 / options.rate)) {
        refuse_parameters(name, cat("there is no exponential distribution with the rate ", options.rate),
                          "use a positive rate");
    }
    const DType type = to.dtype();
    const bool wide = is_wide(to);
    Distribution d{.name = name, .key = KernelKey("exponential"), .per_block = wide ? 2U : 4U};
    d.key.add(type);
    d.numbers = {number_for(wide, 1 / options.rate)};
    d.values = [=](const Words4& words, const std::vector<AnyValue>& numbers) {
        std::vector<AnyValue> values;
        if (wide) {
            for (const Words2& pair : {words.xy(), words.zw()})
                values.push_back(exponential_double(pair) * numbers[0].as<double>());
            return values;
        }
        for (const Value<u32>& word : {words.x, words.y, words.z, words.w})
            values.push_back(exponential_float(word) * numbers[0].as<float>());
        return converted(std::move(values), type);
    };
    return fill(to, {options.seed, options.stream, options.offset}, d, options.queue);
}

namespace {

// The high word of the product of two u64.
Value<u64> product_high(const Value<u64>& a, const Value<u64>& b) {
    constexpr u64 mask = 0xffffffff;
    const Value<u64> a0 = a & mask, a1 = a >> 32U, b0 = b & mask, b1 = b >> 32U;
    const Value<u64> middle = a1 * b0 + ((a0 * b0) >> 32U);
    const Value<u64> other = a0 * b1 + (middle & mask);
    return a1 * b1 + (middle >> 32U) + (other >> 32U);
}

Value<u64> joined(const Words2& words) { return (cast<u64>(words.x) << 32U) | cast<u64>(words.y); }

// Returns an integer below `range` from 128 random bits; all 2^64 if `range` is 0.
Value<u64> wide_integer_below(const Value<u64>& range, const Words4& words) {
    const Value<u64> high = joined(words.xy());
    const Value<u64> low = high * range;
    const Value<u64> sum = low + product_high(joined(words.zw()), range);
    const Value<u64> carry = select(sum < low, u64{1}, u64{0});
    return select(range == u64{0}, high, product_high(high, range) + carry);
}

// The smallest number of an integer type, and the number of its numbers minus 1.
struct TypeRange {
    Whole low;
    u64 last;
};

TypeRange range_of(ScalarType type) {
    const unsigned bits = bits_of(type);
    const u64 last = ~u64{0} >> (64 - bits);
    if (!is_signed_integer(type)) return {0, last};
    return {std::numeric_limits<std::int64_t>::min() >> (64 - bits), last};
}

bool is_below(const Whole& a, const Whole& b) {
    return a.is_negative() != b.is_negative() ? a.is_negative() : a.bits() < b.bits();
}

std::string text_of(const Whole& x) {
    return x.is_negative() ? std::to_string(static_cast<std::int64_t>(x.bits())) : std::to_string(x.bits());
}

// The integers low .. low + last.
struct IntegerRange {
    u64 low;
    u64 last;
};

IntegerRange checked_range(const IntegerOptions& options, DType type, std::string_view name) {
    const TypeRange all_numbers = range_of(type.scalar());
    const Whole least = all_numbers.low;
    const Whole low = options.low ? *options.low : options.high ? Whole(0) : least;
    const u64 greatest = least.bits() + all_numbers.last;  // wraps to the bits of the greatest number
    const Whole top = least.is_negative() ? Whole(static_cast<std::int64_t>(greatest)) : Whole(greatest);
    const bool fits = !is_below(low, least) && !is_below(top, low);
    if (!options.high) {
        if (fits) return {low.bits(), greatest - low.bits()};
    } else if (fits && is_below(low, *options.high)) {
        const Whole& high = *options.high;
        const u64 last = high.bits() - 1 - low.bits();
        const u64 at = high.bits() - 1;
        const Whole end = high.is_negative() ? Whole(static_cast<std::int64_t>(at)) : Whole(at);
        // 0 - 1 is negative.
        const Whole largest = high.bits() == 0 ? Whole(-1) : end;
        if (!is_below(top, largest)) return {low.bits(), last};
    }
    refuse_parameters(name,
                      cat("there are no numbers of type ", type.name(), " from ", text_of(low), " to ",
                          options.high ? text_of(*options.high) : text_of(top)),
                      "use bounds in the range of the type, with low < high");
}

}  // namespace

Event integers(const AnySink& to, const IntegerOptions& options) {
    constexpr std::string_view name = "random::integers";
    const DType type = to.dtype();
    if (!type.is_scalar() || !type.is_integer()) {
        fail(ErrorCode::TypeMismatch, cat("the output takes ", type.name(), ", but the result is integers"),
             cat(name, ", ", to.buffer() != nullptr ? to.buffer()->name() : "a store map"),
             "use an output of integers");
    }
    const IntegerRange range = checked_range(options, type, name);
    const bool wide = range.last > 0xffffffff;
    Distribution d{.name = name, .key = KernelKey("integers"), .per_block = wide ? 1U : 2U};
    d.key.add(type).add(wide);
    if (wide) {
        d.numbers = {AnyArgument(range.last + 1), AnyArgument(range.low)};
        d.values = [=](const Words4& words, const std::vector<AnyValue>& numbers) {
            return converted({wide_integer_below(numbers[0].as<u64>(), words) + numbers[1].as<u64>()}, type);
        };
    } else {
        const bool narrow = bits_of(type.scalar()) <= 32;
        d.numbers = {AnyArgument(static_cast<u32>(range.last + 1))};
        d.numbers.push_back(narrow ? AnyArgument(static_cast<u32>(range.low)) : AnyArgument(range.low));
        d.values = [=](const Words4& words, const std::vector<AnyValue>& numbers) {
            std::vector<AnyValue> values;
            for (const Words2& pair : {words.xy(), words.zw()}) {
                const Value<u32> x = integer_below(numbers[0].as<u32>(), pair);
                values.push_back(narrow ? AnyValue(x + numbers[1].as<u32>())
                                        : AnyValue(cast<u64>(x) + numbers[1].as<u64>()));
            }
            return converted(std::move(values), type);
        };
    }
    return fill(to, {options.seed, options.stream, options.offset}, d, options.queue);
}

AnyBuffer detail::new_result(DType type, const Shape& shape, const std::optional<Queue>& queue) {
    return algorithms::Execution(queue, {}).result(type, shape);
}

}  // namespace volley::random
