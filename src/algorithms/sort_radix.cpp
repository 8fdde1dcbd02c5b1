// The kernels of the radix sort. Invariant: before the pass of digit d, each row is ordered by its digits
// below d, and flips[d * rows + row] is the number of the buffer that has it.
#include "algorithms/sort_radix.hpp"

#include <volley/lang/cast.hpp>
#include <volley/lang/control.hpp>
#include <volley/lang/ids.hpp>
#include <volley/lang/operators.hpp>
#include <volley/lang/shared.hpp>
#include <volley/lang/var.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace volley::algorithms {
namespace {

constexpr std::string_view radix_subject = "sort";

/// What a kernel of the radix sort is compiled for.
struct RadixShape {
    DType word;
    DType payload;  // void: none
    unsigned lanes;
    unsigned digit_bits;

    [[nodiscard]] unsigned values() const noexcept { return 1U << digit_bits; }
    [[nodiscard]] KernelKey key(std::string_view name) const {
        KernelKey key(name);
        key.add(word).add(payload).add(lanes).add(digit_bits);
        return key;
    }
};

/// How the rows are divided.
struct RadixPlan {
    std::int64_t strip;    // keys of a strip
    std::int64_t strips;   // of a row
    std::int64_t workers;  // strips of all rows
};

/// The parameters and ids that the counting and the moving kernel have in common.
struct StripParameters {
    explicit StripParameters(ParameterList& list)
        : length(list.value<u32>()),
          strip(list.value<u32>()),
          strips(list.value<u32>()),
          workers(list.value<u32>()),
          rows(list.value<u32>()),
          digit(list.value<u32>()) {}
    static void add_arguments(std::vector<AnyArgument>& arguments, const RadixSort& sort,
                              const RadixPlan& plan, unsigned digit) {
        for (const std::int64_t x :
             {sort.length, plan.strip, plan.strips, plan.workers, sort.rows, std::int64_t{digit}})
            arguments.emplace_back(static_cast<u32>(x));
    }

    Value<u32> length, strip, strips, workers, rows, digit;
};

using Index = const Value<u32>&;

Value<u32> minimum(const Value<u32>& a, const Value<u32>& b) { return select(a < b, a, b); }

/// Records `body(row, number of the strip in its row, begin, end)` for the strip of this invocation.
template <class F>
void for_strip(const StripParameters& p, unsigned lanes, F&& body) {
    const auto run = [&](const Value<u32>& worker) {
        const Value<u32> row = worker / p.strips;
        const Value<u32> number = worker - row * p.strips;
        const Value<u32> first = minimum(number * p.strip, p.length);
        const Value<u32> end = first + minimum(p.strip, p.length - first);
        const Value<u32> base = row * p.length;
        body(row, number, base + first, base + end);
    };
    if (lanes == 1) {
        run(group_id().x);
        return;
    }
    const Value<u32> worker = group_id().x * lanes + local_index();
    $if (worker < p.workers) {
        run(worker);
    }
}

/// Records `body(i)` for i from begin to end, several at once.
template <class F>
void unrolled(const Value<u32>& begin, const Value<u32>& end, unsigned times, F&& body) {
    const Value<u32> whole = begin + (end - begin) / times * times;
    $for (i, begin, whole, times) {
        for (unsigned k = 0; k < times; ++k) body(i + k, k);
    }
    $for (i, whole, end) {
        body(i, 0U);
    }
}

/// Returns the value of a digit of a key.
Value<u32> digit_value(const AnyValue& key, const Value<u32>& digit, unsigned digit_bits) {
    const u32 mask = (1U << digit_bits) - 1;
    if (key.dtype() == dtype_of<u64>())
        return cast<u32>(key.as<u64>() >> cast<u64>(digit * digit_bits)) & mask;
    return (key.as<u32>() >> (digit * digit_bits)) & mask;
}

/// The buffer that has a row: at first the one with the number 0.
Value<u32> flip_of(const AnyArray& flips, const StripParameters& p, const Value<u32>& row) {
    Var<u32> flip = 0U;
    $if (p.digit != 0U) {
        flip = flips.load((p.digit - 1U) * p.rows + row).as<u32>();
    }
    return flip;
}

constexpr unsigned unroll = 4;

AnyKernel count_kernel(const RadixShape& shape) {
    return find_kernel(shape.key("sort count"), [&] {
        return any_kernel("sort.count", {.local = {shape.lanes}}, [&](ParameterList& list) {
            const AnyArray keys[2] = {list.const_buffer(shape.word), list.const_buffer(shape.word)};
            const AnyArray flips = list.const_buffer(dtype_of<u32>());
            const AnyArray counts = list.buffer(dtype_of<u32>());
            const StripParameters p(list);
            const unsigned values = shape.values(), lanes = shape.lanes;
            // One invocation has a table for each step of the loop, because neighbouring keys may be equal.
            const unsigned tables = lanes == 1 && values <= 256 ? unroll : 1;
            const Shared<u32> count(std::uint64_t{values} * lanes * tables);
            for_strip(p, lanes, [&](Index row, Index number, Index begin, Index end) {
                const Value<u32> lane = lanes == 1 ? Value<u32>(0U) : Value<u32>(local_index());
                const auto place = [&](const Value<u32>& value) { return value * lanes + lane; };
                $for (v, 0U, values * tables) {
                    count[place(v)] = 0U;
                }
                const auto run = [&](const AnyArray& from) {
                    unrolled(begin, end, unroll, [&](const Value<u32>& i, unsigned step) {
                        const Value<u32> value = digit_value(from.load(i), p.digit, shape.digit_bits);
                        count[place(value + step % tables * values)] += 1U;
                    });
                };
                $if (flip_of(flips, p, row) == 0U) {
                    run(keys[0]);
                }
                $else { run(keys[1]); }
                const Value<u32> to = (row * p.strips + number) * values;
                $for (v, 0U, values) {
                    Value<u32> sum = count[place(v)];
                    std::vector<Value<u32>> sums{sum};
                    for (unsigned t = 1; t < tables; ++t)
                        sums.push_back(sums.back() + count[place(v + t * values)]);
                    counts.store(to + v, sums.back());
                }
            });
        });
    });
}

// Replaces the counts of each digit value by the number of equal digits in the strips before.
AnyKernel sum_kernel(const RadixShape& shape) {
    KernelKey key("sort sum");
    key.add(shape.digit_bits);
    return find_kernel(key, [&] {
        return any_kernel("sort.sum", {}, [&](ParameterList& list) {
            const AnyArray counts = list.buffer(dtype_of<u32>());
            const AnyArray totals = list.buffer(dtype_of<u32>());
            const Value<u32> strips = list.value<u32>();
            const unsigned values = shape.values();
            const Value<u32> value = global_id().x, row = global_id().y;
            Var<u32> before = 0U;
            $for (k, 0U, strips) {
                const Value<u32> at = (row * strips + k) * values + value;
                const Value<u32> count = counts.load(at).as<u32>();
                counts.store(at, Value<u32>(before));
                before += count;
            }
            totals.store(row * values + value, Value<u32>(before));
        });
    });
}

AnyKernel move_kernel(const RadixShape& shape) {
    return find_kernel(shape.key("sort move"), [&] {
        return any_kernel("sort.move", {.local = {shape.lanes}}, [&](ParameterList& list) {
            const bool pairs = !shape.payload.is_void();
            const AnyArray keys[2] = {list.buffer(shape.word), list.buffer(shape.word)};
            std::vector<AnyArray> payload;
            for (int k = 0; pairs && k < 2; ++k) payload.push_back(list.buffer(shape.payload));
            const AnyArray flips = list.buffer(dtype_of<u32>());
            const AnyArray counts = list.const_buffer(dtype_of<u32>());
            const AnyArray totals = list.const_buffer(dtype_of<u32>());
            const StripParameters p(list);
            const unsigned values = shape.values(), lanes = shape.lanes;
            const Shared<u32> next(std::uint64_t{values} * lanes);
            for_strip(p, lanes, [&](Index row, Index number, Index begin, Index end) {
                const Value<u32> lane = lanes == 1 ? Value<u32>(0U) : Value<u32>(local_index());
                const auto place = [&](const Value<u32>& value) { return value * lanes + lane; };
                const Value<u32> from = (row * p.strips + number) * values;
                Var<u32> before = row * p.length;
                Var<u32> most = 0U;
                $for (v, 0U, values) {
                    const Value<u32> total = totals.load(row * values + v).as<u32>();
                    next[place(v)] = before + counts.load(from + v).as<u32>();
                    before += total;
                    most = select(total > most, total, most);
                }
                const Value<u32> flip = flip_of(flips, p, row);
                const Value<bool> equal = most == p.length;
                $if (number == 0U) {
                    flips.store(p.digit * p.rows + row, select(equal, flip, 1U - flip));
                }
                const auto run = [&](unsigned here) {
                    unrolled(begin, end, unroll, [&](const Value<u32>& i, unsigned) {
                        const AnyValue key = keys[here].load(i);
                        const Value<u32> at = place(digit_value(key, p.digit, shape.digit_bits));
                        const Value<u32> to = next[at];
                        next[at] = to + 1U;
                        keys[1 - here].store(to, key);
                        if (pairs) payload[1 - here].store(to, payload[here].load(i));
                    });
                };
                $if (!equal) {
                    $if (flip == 0U) {
                        run(0);
                    }
                    $else { run(1); }
                }
            });
        });
    });
}

RadixShape choose_shape(const RadixSort& sort, const Target& target, const SortTuning& tuning) {
    const DeviceClass device = device_class(*target.device);
    const unsigned lanes = tuning.lanes != 0 ? tuning.lanes : device == DeviceClass::Cpu ? 1 : 8;
    unsigned digit_bits = tuning.digit_bits != 0 ? tuning.digit_bits : 8;
    digit_bits = std::min(digit_bits, sort.bits);
    return {sort.keys[0].dtype(), sort.payload[0].dtype(), lanes, digit_bits};
}

RadixPlan choose_plan(const RadixSort& sort, const RadixShape& shape, const Target& target,
                      const SortTuning& tuning) {
    const DeviceClass device = device_class(*target.device);
    std::int64_t strip = tuning.strip;
    if (strip == 0) {
        // Few long strips keep the tables of counts small; several per thread balance the threads.
        const std::int64_t threads = std::max<std::int64_t>(target.device->compute_units, 1) * shape.lanes;
        const std::int64_t least = 4LL << shape.digit_bits;
        // A driver may end loops after 65,535 iterations.
        const std::int64_t most = device == DeviceClass::Cpu ? std::int64_t{1} << 24 : std::int64_t{1} << 14;
        strip = std::clamp(divide_up(sort.rows * sort.length, 4 * threads), least, most);
    }
    strip = std::min(strip, sort.length);
    const std::int64_t strips = divide_up(sort.length, strip);
    return {strip, strips, strips * sort.rows};
}

}  // namespace

RadixResult radix_sort(const Execution& execution, const Target& target, const RadixSort& sort,
                       const SortTuning& tuning) {
    const RadixShape shape = choose_shape(sort, target, tuning);
    const RadixPlan plan = choose_plan(sort, shape, target, tuning);
    const auto values = static_cast<std::int64_t>(shape.values());
    const unsigned digits = (sort.bits + shape.digit_bits - 1) / shape.digit_bits;
    const bool pairs = !shape.payload.is_void();

    const AnyBuffer counts = execution.scratch(dtype_of<u32>(), {plan.workers, values});
    const AnyBuffer totals = execution.scratch(dtype_of<u32>(), {sort.rows, values});
    const AnyBuffer flips = execution.scratch(dtype_of<u32>(), {std::int64_t{digits}, sort.rows});
    const GridSize groups(divide_up(plan.workers, shape.lanes));
    const AnyKernel count = count_kernel(shape).groups(groups);
    const AnyKernel sum = sum_kernel(shape).over({values, sort.rows});
    const AnyKernel move = move_kernel(shape).groups(groups);
    for (unsigned digit = 0; digit < digits; ++digit) {
        std::vector<AnyArgument> arguments{sort.keys[0], sort.keys[1], flips, counts};
        StripParameters::add_arguments(arguments, sort, plan, digit);
        launch(count, target, arguments);
        launch(sum, target, std::vector<AnyArgument>{counts, totals, static_cast<u32>(plan.strips)});
        arguments = {sort.keys[0], sort.keys[1]};
        if (pairs) arguments.insert(arguments.end(), {sort.payload[0], sort.payload[1]});
        arguments.insert(arguments.end(), {flips, counts, totals});
        StripParameters::add_arguments(arguments, sort, plan, digit);
        launch(move, target, arguments);
    }
    return {flips, static_cast<std::uint32_t>((digits - 1) * sort.rows)};
}

}  // namespace volley::algorithms
