// Sorts segments that fit the cache of a thread by all of their digits, in one launch.
#include "algorithms/sort_radix_kernels.hpp"

#include <utility>

namespace volley::algorithms {
namespace {

constexpr std::int64_t few_keys = 4096;  // for which several tables of counts do not pay off

AnyKernel segment_kernel(const RadixShape& shape, bool buckets, unsigned tables) {
    KernelKey kernel_key = shape.key("sort segments");
    kernel_key.add(buckets).add(tables);
    return find_kernel(kernel_key, [&] {
        return any_kernel("sort.segments", {.local = {shape.lanes}}, [&](ParameterList& list) {
            const KeyBuffers buffers(list, shape);
            std::vector<AnyArray> bounds;  // begins, done
            for (int k = 0; buckets && k < 2; ++k) bounds.push_back(list.const_buffer(dtype_of<u32>()));
            const Value<u32> segments = list.value<u32>(), length = list.value<u32>();
            const Value<u32> digits = list.value<u32>();
            const unsigned values = shape.values();
            const DigitTable table(values, shape.lanes, tables);

            const auto sort_segment = [&](const Value<u32>& begin, const Value<u32>& end) {
                Var<u32> flip = buckets ? 1U : 0U;
                $for (digit, 0U, digits) {
                    const Value<u32> shift = digit * shape.digit_bits;
                    table.clear();
                    const auto count = [&](unsigned here) {
                        unrolled(begin, end, [&](const Value<u32>& i, unsigned step) {
                            table.increase(digit_value(buffers.keys[here].load(i), shift, shape.digit_bits),
                                           step);
                        });
                    };
                    $if (flip == 0U) {
                        count(0);
                    }
                    $else { count(1); }
                    Var<u32> before = begin;
                    Var<u32> most = 0U;
                    $for (v, 0U, values) {
                        const Value<u32> total = table.count(v);
                        table.set(v, before);
                        before += total;
                        most = select(total > most, total, most);
                    }
                    const auto move = [&](unsigned here) {
                        unrolled(begin, end, [&](const Value<u32>& i, unsigned) {
                            const AnyValue key = buffers.keys[here].load(i);
                            buffers.move(here, i, key, table.take(digit_value(key, shift, shape.digit_bits)));
                        });
                        flip = 1U - here;
                    };
                    $if (most != end - begin) {
                        $if (flip == 0U) {
                            move(0);
                        }
                        $else { move(1); }
                    }
                }
                $if (flip != 0U) {
                    unrolled(begin, end, [&](const Value<u32>& i, unsigned) {
                        buffers.move(1, i, buffers.keys[1].load(i), i);
                    });
                }
            };
            for_worker(shape.lanes, segments, [&](const Value<u32>& worker) {
                if (!buckets) {
                    sort_segment(worker * length, worker * length + length);
                    return;
                }
                const Value<u32> row = worker >> bucket_bits;
                const Value<u32> at = worker + row;  // a row has one more begin than buckets
                const Value<u32> begin = bounds[0].load(at).as<u32>();
                const Value<u32> end = bounds[0].load(at + 1U).as<u32>();
                $if (bounds[1].load(row).as<u32>() != 0U && end > begin) {
                    sort_segment(begin, end);
                }
            });
        });
    });
}

}  // namespace

void launch_segments(const Target& target, const RadixSort& sort, const SegmentSort& segments,
                     const RadixShape& shape) {
    const bool buckets = segments.length == 0;
    RadixShape plain = shape;
    plain.may_be_done = false;
    const std::int64_t expected = buckets ? sort.length / bucket_count : segments.length;
    const bool several = plain.lanes == 1 && plain.values() <= 256 && expected >= few_keys;
    const AnyKernel kernel = segment_kernel(plain, buckets, several ? radix_unroll : 1);
    std::vector<AnyArgument> arguments;
    KeyBuffers::add_arguments(arguments, sort);
    if (buckets) arguments.insert(arguments.end(), {segments.begins, segments.done});
    const unsigned digits = (sort.bits + shape.digit_bits - 1) / shape.digit_bits;
    arguments.insert(arguments.end(),
                     {static_cast<u32>(segments.segments), static_cast<u32>(segments.length), digits});
    launch(kernel.groups(divide_up(segments.segments, shape.lanes)), target, arguments);
}

}  // namespace volley::algorithms
