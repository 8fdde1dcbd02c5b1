// Divides long rows into buckets of similar sizes, which fit a thread's cache. The highest bits of the keys
// number their bins, many more than buckets; the keys are counted per bin, and neighbouring bins form a
// bucket.
#include "algorithms/sort_radix_kernels.hpp"

#include <volley/lang/math.hpp>

namespace volley::algorithms {
namespace {

constexpr unsigned bin_bits = 11;
constexpr unsigned bins = 1U << bin_bits;

// One invocation per row: bucket_of[row][bin], and the begins of the buckets.
AnyKernel divide_kernel() {
    return find_kernel(KernelKey("sort divide"), [] {
        return any_kernel("sort.divide", {}, [](ParameterList& list) {
            const AnyArray totals = list.const_buffer(dtype_of<u32>());
            const AnyArray bucket_of = list.buffer(dtype_of<u32>());
            const AnyArray begins = list.buffer(dtype_of<u32>());
            const AnyArray done = list.buffer(dtype_of<u32>());
            const Value<u32> length = list.value<u32>(), most_allowed = list.value<u32>();
            const Value<u32> row = global_id().x;
            const Value<float> scale = static_cast<float>(bucket_count) / cast<float>(length);
            const Value<u32> first = row * (bucket_count + 1);
            const Value<u32> base = row * length;
            Var<u32> before = 0U;  // keys of the bins so far
            Var<u32> bucket = 0U;  // of the bin before
            Var<u32> begin = 0U;   // of that bucket
            Var<u32> most = 0U;    // keys of a bucket
            begins.store(first, base);
            $for (bin, 0U, bins) {
                const Value<u32> count = totals.load(row * bins + bin).as<u32>();
                // The middle of the bin decides, so that bins of equal sizes form buckets of equal sizes.
                const Value<u32> chosen =
                    min(cast<u32>(cast<float>(before + (count >> 1U)) * scale), Value<u32>(bucket_count - 1));
                $while (bucket < chosen) {
                    bucket += 1U;
                    most = max(Value<u32>(most), before - begin);
                    begin = before;
                    begins.store(first + bucket, base + before);
                }
                bucket_of.store(row * bins + bin, Value<u32>(bucket));
                before += count;
            }
            most = max(Value<u32>(most), before - begin);
            $for (b, bucket + 1U, Value<u32>(bucket_count + 1)) {
                begins.store(first + b, base + length);
            }
            done.store(row, select(most <= most_allowed, Value<u32>(1U), Value<u32>(0U)));
        });
    });
}

AnyKernel move_to_buckets_kernel(const RadixShape& shape) {
    return find_kernel(shape.key("sort to buckets"), [&] {
        return any_kernel("sort.to_buckets", {.local = {shape.lanes}}, [&](ParameterList& list) {
            const KeyBuffers buffers(list, shape);
            const AnyArray bucket_of = list.const_buffer(dtype_of<u32>());
            const AnyArray begins = list.const_buffer(dtype_of<u32>());
            const AnyArray done = list.const_buffer(dtype_of<u32>());
            const AnyArray counts = list.const_buffer(dtype_of<u32>());
            const StripParameters p(list);
            const DigitTable next(bucket_count, shape.lanes);
            // One invocation alone copies the table to memory that is surely cached.
            std::optional<DigitTable> buckets;
            if (shape.lanes == 1) buckets.emplace(bins, 1);
            p.for_strip(shape.lanes, [&](const Value<u32>& row, const Value<u32>& number,
                                         const Value<u32>& begin, const Value<u32>& end) {
                $if (done.load(row).as<u32>() != 0U) {
                    $for (b, 0U, bucket_count) {
                        next.set(b, begins.load(row * (bucket_count + 1) + b).as<u32>());
                    }
                    const Value<u32> from = (row * p.strips + number) * bins;
                    $for (bin, 0U, bins) {
                        const Value<u32> bucket = bucket_of.load(row * bins + bin).as<u32>();
                        next.set(bucket, next.count(bucket) + counts.load(from + bin).as<u32>());
                        if (buckets) buckets->set(bin, bucket);
                    }
                    unrolled(begin, end, [&](const Value<u32>& i, unsigned) {
                        const AnyValue key = buffers.keys[0].load(i);
                        const Value<u32> bin = digit_value(key, p.shift, bin_bits);
                        const Value<u32> bucket =
                            buckets ? buckets->count(bin) : bucket_of.load(row * bins + bin).as<u32>();
                        buffers.move(0, i, key, next.take(bucket));
                    });
                }
            });
        });
    });
}

}  // namespace

Buckets launch_buckets(const Execution& execution, const Target& target, const RadixSort& sort,
                       const StripPlan& plan, RadixShape shape, std::int64_t most) {
    const unsigned shift = sort.bits - bin_bits;
    const AnyBuffer counts = execution.scratch(dtype_of<u32>(), {plan.workers, std::int64_t{bins}});
    const AnyBuffer totals = execution.scratch(dtype_of<u32>(), {sort.rows, std::int64_t{bins}});
    const AnyBuffer bucket_of = execution.scratch(dtype_of<u32>(), {sort.rows, std::int64_t{bins}});
    Buckets result{.begins = execution.scratch(dtype_of<u32>(), {sort.rows, std::int64_t{bucket_count} + 1}),
                   .done = execution.scratch(dtype_of<u32>(), {sort.rows})};
    RadixShape counting = shape;
    counting.digit_bits = bin_bits;
    launch_count(target, sort, plan, counting, shift, 0, counts, totals, totals, {});
    launch(divide_kernel().over(sort.rows), target,
           std::vector<AnyArgument>{totals, bucket_of, result.begins, result.done,
                                    static_cast<u32>(sort.length), static_cast<u32>(most)});
    std::vector<AnyArgument> arguments;
    KeyBuffers::add_arguments(arguments, sort);
    arguments.insert(arguments.end(), {bucket_of, result.begins, result.done, counts});
    StripParameters::add_arguments(arguments, sort, plan, shift, 0);
    launch(move_to_buckets_kernel(shape).groups(divide_up(plan.workers, shape.lanes)), target, arguments);
    return result;
}

}  // namespace volley::algorithms
