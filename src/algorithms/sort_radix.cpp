// The passes of the radix sort. Invariant: before pass d, each row is ordered by its digits below d, and
// flips[(d - 1) * rows + row] is the number of the buffer that has it; the first one before pass 0.
#include "algorithms/sort_radix_kernels.hpp"

#include <algorithm>
#include <utility>

namespace volley::algorithms {

StripParameters::StripParameters(ParameterList& list)
    : length(list.value<u32>()),
      strip(list.value<u32>()),
      strips(list.value<u32>()),
      workers(list.value<u32>()),
      rows(list.value<u32>()),
      shift(list.value<u32>()),
      pass(list.value<u32>()) {}

void StripParameters::add_arguments(std::vector<AnyArgument>& arguments, const RadixSort& sort,
                                    const StripPlan& plan, unsigned shift, unsigned pass) {
    for (const std::int64_t x : {sort.length, plan.strip, plan.strips, plan.workers, sort.rows,
                                 std::int64_t{shift}, std::int64_t{pass}})
        arguments.emplace_back(static_cast<u32>(x));
}

namespace {

Value<u32> flip_of(const AnyArray& flips, const StripParameters& p, const Value<u32>& row) {
    Var<u32> flip = 0U;
    $if (p.pass != 0U) {
        flip = flips.load((p.pass - 1U) * p.rows + row).as<u32>();
    }
    return flip;
}

/// Records a body for rows that are not done.
template <class F>
void unless_done(const std::vector<AnyArray>& done, const Value<u32>& row, F&& body) {
    if (done.empty()) {
        body();
        return;
    }
    $if (done.front().load(row).as<u32>() == 0U) {
        body();
    }
}

AnyKernel count_kernel(const RadixShape& shape) {
    return find_kernel(shape.key("sort count"), [&] {
        return any_kernel("sort.count", {.local = {shape.lanes}}, [&](ParameterList& list) {
            const AnyArray keys[2] = {list.const_buffer(shape.word), list.const_buffer(shape.word)};
            const AnyArray flips = list.const_buffer(dtype_of<u32>());
            std::vector<AnyArray> done;
            if (shape.may_be_done) done.push_back(list.const_buffer(dtype_of<u32>()));
            const AnyArray counts = list.buffer(dtype_of<u32>());
            const StripParameters p(list);
            const unsigned values = shape.values(), lanes = shape.lanes;
            const DigitTable table(values, lanes, lanes == 1 && values <= 256 ? radix_unroll : 1);
            p.for_strip(lanes, [&](const Value<u32>& row, const Value<u32>& number, const Value<u32>& begin,
                                   const Value<u32>& end) {
                unless_done(done, row, [&] {
                    table.clear();
                    const auto run = [&](const AnyArray& from) {
                        unrolled(begin, end, [&](const Value<u32>& i, unsigned step) {
                            table.increase(digit_value(from.load(i), p.shift, shape.digit_bits), step);
                        });
                    };
                    $if (flip_of(flips, p, row) == 0U) {
                        run(keys[0]);
                    }
                    $else { run(keys[1]); }
                    const Value<u32> to = (row * p.strips + number) * values;
                    $for (v, 0U, values) {
                        counts.store(to + v, table.count(v));
                    }
                });
            });
        });
    });
}

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
            const KeyBuffers buffers(list, shape);
            const AnyArray flips = list.buffer(dtype_of<u32>());
            std::vector<AnyArray> done;
            if (shape.may_be_done) done.push_back(list.const_buffer(dtype_of<u32>()));
            const AnyArray counts = list.const_buffer(dtype_of<u32>());
            const AnyArray totals = list.const_buffer(dtype_of<u32>());
            const StripParameters p(list);
            const unsigned values = shape.values();
            const DigitTable next(values, shape.lanes);
            p.for_strip(shape.lanes, [&](const Value<u32>& row, const Value<u32>& number,
                                         const Value<u32>& begin, const Value<u32>& end) {
                const Value<u32> place = p.pass * p.rows + row;
                if (!done.empty()) {
                    $if (number == 0U) {
                        flips.store(place, Value<u32>(0U));
                    }
                }
                unless_done(done, row, [&] {
                    const Value<u32> from = (row * p.strips + number) * values;
                    Var<u32> before = row * p.length;
                    Var<u32> most = 0U;
                    $for (v, 0U, values) {
                        const Value<u32> total = totals.load(row * values + v).as<u32>();
                        next.set(v, before + counts.load(from + v).as<u32>());
                        before += total;
                        most = select(total > most, total, most);
                    }
                    const Value<u32> flip = flip_of(flips, p, row);
                    const Value<bool> equal = most == p.length;
                    $if (number == 0U) {
                        flips.store(place, select(equal, flip, 1U - flip));
                    }
                    const auto run = [&](unsigned here) {
                        unrolled(begin, end, [&](const Value<u32>& i, unsigned) {
                            const AnyValue key = buffers.keys[here].load(i);
                            buffers.move(here, i, key,
                                         next.take(digit_value(key, p.shift, shape.digit_bits)));
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
    });
}

/// The default shapes and limits of a device class.
struct RadixDefaults {
    unsigned lanes;
    std::int64_t most_strip;
    std::int64_t most_segment;  // a segment takes one loop over its keys for each digit and buffer
    std::int64_t most_bucket;
    std::int64_t least_bucketed;  // rows of fewer keys are sorted by passes
};

RadixDefaults defaults_of(const Target& target, unsigned bits) {
    // A driver may end loops after 65,535 iterations.
    if (device_class(*target.device) != DeviceClass::Cpu)
        return {8, 16'384, bits > 32 ? 2048 : 4096, bits > 32 ? 2048 : 4096, INT64_MAX};
    return {1, std::int64_t{1} << 24, std::int64_t{1} << 18, INT64_MAX, std::int64_t{1} << 17};
}

StripPlan plan_strips(const RadixSort& sort, const RadixShape& shape, const Target& target,
                      std::int64_t given, std::int64_t most) {
    std::int64_t strip = given;
    if (strip == 0) {
        // Few long strips keep the tables of counts small; several per thread balance the threads.
        const std::int64_t threads = std::max<std::int64_t>(target.device->compute_units, 1) * shape.lanes;
        strip = std::clamp(divide_up(sort.rows * sort.length, 4 * threads),
                           std::int64_t{4} << shape.digit_bits, most);
    }
    strip = std::min(strip, sort.length);
    const std::int64_t strips = divide_up(sort.length, strip);
    return {strip, strips, strips * sort.rows};
}

}  // namespace

void launch_count(const Target& target, const RadixSort& sort, const StripPlan& plan, const RadixShape& shape,
                  unsigned shift, unsigned pass, const AnyBuffer& counts, const AnyBuffer& totals,
                  const AnyBuffer& flips, const AnyBuffer& done) {
    std::vector<AnyArgument> arguments{sort.keys[0], sort.keys[1], flips};
    if (shape.may_be_done) arguments.emplace_back(done);
    arguments.emplace_back(counts);
    StripParameters::add_arguments(arguments, sort, plan, shift, pass);
    RadixShape keys_only = shape;
    keys_only.payload = {};
    launch(count_kernel(keys_only).groups(divide_up(plan.workers, shape.lanes)), target, arguments);
    launch(sum_kernel(shape).over({std::int64_t{shape.values()}, sort.rows}), target,
           std::vector<AnyArgument>{counts, totals, static_cast<u32>(plan.strips)});
}

RadixResult radix_sort(const Execution& execution, const Target& target, const RadixSort& sort,
                       const SortTuning& tuning) {
    const RadixDefaults defaults = defaults_of(target, sort.bits);
    RadixShape shape{.word = sort.keys[0].dtype(), .payload = sort.payload[0].dtype()};
    shape.lanes = tuning.lanes != 0 ? tuning.lanes : defaults.lanes;
    shape.digit_bits = std::min(tuning.digit_bits != 0 ? tuning.digit_bits : 8, sort.bits);

    const std::int64_t threads = std::max<std::int64_t>(target.device->compute_units, 1) * shape.lanes;
    const std::int64_t most_segment = tuning.segment != 0 ? tuning.segment
                                      : sort.rows < 2 * threads
                                          ? std::min<std::int64_t>(defaults.most_segment, 8192)
                                          : defaults.most_segment;
    if (sort.length <= most_segment) {
        launch_segments(target, sort, {.segments = sort.rows, .length = sort.length}, shape);
        return {};
    }
    const StripPlan plan = plan_strips(sort, shape, target, tuning.strip, defaults.most_strip);
    const std::int64_t least_bucketed = tuning.bucketed != 0 ? tuning.bucketed : defaults.least_bucketed;
    Buckets buckets;
    if (sort.bits >= 32 && sort.length >= least_bucketed) {
        // Larger buckets would keep few threads busy.
        const std::int64_t most = std::min(defaults.most_bucket, sort.length / (4 * threads));
        buckets = launch_buckets(execution, target, sort, plan, shape, most);
        shape.may_be_done = true;
        launch_segments(
            target, sort,
            {.segments = sort.rows * bucket_count, .begins = buckets.begins, .done = buckets.done}, shape);
    }

    const auto values = static_cast<std::int64_t>(shape.values());
    const unsigned digits = (sort.bits + shape.digit_bits - 1) / shape.digit_bits;
    const AnyBuffer counts = execution.scratch(dtype_of<u32>(), {plan.workers, values});
    const AnyBuffer totals = execution.scratch(dtype_of<u32>(), {sort.rows, values});
    const AnyBuffer flips = execution.scratch(dtype_of<u32>(), {std::int64_t{digits}, sort.rows});
    const AnyKernel move = move_kernel(shape).groups(divide_up(plan.workers, shape.lanes));
    for (unsigned pass = 0; pass < digits; ++pass) {
        const unsigned shift = pass * shape.digit_bits;
        launch_count(target, sort, plan, shape, shift, pass, counts, totals, flips, buckets.done);
        std::vector<AnyArgument> arguments;
        KeyBuffers::add_arguments(arguments, sort);
        arguments.emplace_back(flips);
        if (shape.may_be_done) arguments.emplace_back(buckets.done);
        arguments.insert(arguments.end(), {counts, totals});
        StripParameters::add_arguments(arguments, sort, plan, shift, pass);
        launch(move, target, arguments);
    }
    return {flips, static_cast<std::uint32_t>((digits - 1) * sort.rows)};
}

}  // namespace volley::algorithms
