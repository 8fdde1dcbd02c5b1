// What the kernels of the radix sort have in common: the ranges of keys that one invocation orders alone
// ("strips" of a row, "segments" that are sorted completely), its table of counts, and its loops.
//
// An invocation is alone with its keys, so that the order of its loop is the order of the keys, and no
// barrier is needed. On the CPU backend its workgroup has no other invocations and runs as scalar code.
#pragma once

#include "algorithms/sort_radix.hpp"

#include <volley/lang/cast.hpp>
#include <volley/lang/control.hpp>
#include <volley/lang/ids.hpp>
#include <volley/lang/operators.hpp>
#include <volley/lang/shared.hpp>
#include <volley/lang/var.hpp>

#include <string_view>
#include <vector>

namespace volley::algorithms {

/// What a kernel of the radix sort is compiled for.
struct RadixShape {
    DType word;
    DType payload;  // void: none
    unsigned lanes = 1;
    unsigned digit_bits = 8;
    bool may_be_done = false;  // rows that are sorted in buckets need no passes

    [[nodiscard]] unsigned values() const noexcept { return 1U << digit_bits; }
    [[nodiscard]] bool pairs() const noexcept { return !payload.is_void(); }
    [[nodiscard]] KernelKey key(std::string_view name) const {
        KernelKey key(name);
        key.add(word).add(payload).add(lanes).add(digit_bits).add(may_be_done);
        return key;
    }
};

/// How the rows are divided into strips.
struct StripPlan {
    std::int64_t strip;    // keys of a strip
    std::int64_t strips;   // of a row
    std::int64_t workers;  // strips of all rows
};

constexpr unsigned radix_unroll = 4;

/// Returns the value of the digit at a bit position of a key.
[[nodiscard]] inline Value<u32> digit_value(const AnyValue& key, const Value<u32>& shift,
                                            unsigned digit_bits) {
    const u32 mask = (1U << digit_bits) - 1;
    if (key.dtype() == dtype_of<u64>()) return cast<u32>(key.as<u64>() >> cast<u64>(shift)) & mask;
    return (key.as<u32>() >> shift) & mask;
}

/// Records `body(i, step)` for i from begin to end, several steps at once.
template <class F>
void unrolled(const Value<u32>& begin, const Value<u32>& end, F&& body) {
    const Value<u32> whole = begin + (end - begin) / radix_unroll * radix_unroll;
    $for (i, begin, whole, radix_unroll) {
        for (unsigned k = 0; k < radix_unroll; ++k) body(i + k, k);
    }
    $for (i, whole, end) {
        body(i, 0U);
    }
}

/// Records `body(number of the invocation)` for invocations below `workers`.
template <class F>
void for_worker(unsigned lanes, const Value<u32>& workers, F&& body) {
    if (lanes == 1) {
        body(group_id().x);
        return;
    }
    const Value<u32> worker = group_id().x * lanes + local_index();
    $if (worker < workers) {
        body(worker);
    }
}

/// A table of one number for each digit value, of this invocation. A table for counting consists of several,
/// because the counts of neighbouring keys would wait for each other if these are equal.
class DigitTable {
public:
    DigitTable(unsigned values, unsigned lanes, unsigned tables = 1)
        : values_(values), lanes_(lanes), tables_(tables), count_(std::uint64_t{values} * lanes * tables) {}

    void clear() const {
        $for (v, 0U, values_ * tables_) {
            count_[place(v)] = 0U;
        }
    }
    void increase(const Value<u32>& value, unsigned step) const {
        count_[place(value + step % tables_ * values_)] += 1U;
    }
    /// Returns the count of a value in all tables.
    [[nodiscard]] Value<u32> count(const Value<u32>& value) const {
        Var<u32> sum = 0U;
        for (unsigned t = 0; t < tables_; ++t) sum += count_[place(value + t * values_)];
        return sum;
    }
    void set(const Value<u32>& value, const Value<u32>& number) const { count_[place(value)] = number; }
    /// Returns the number of a value, and increases it.
    [[nodiscard]] Value<u32> take(const Value<u32>& value) const {
        const Value<u32> at = place(value);
        Var<u32> number = count_[at];
        count_[at] = number + 1U;
        return number;
    }

private:
    [[nodiscard]] Value<u32> place(const Value<u32>& value) const {
        if (lanes_ == 1) return value;
        return value * lanes_ + local_index();
    }

    unsigned values_, lanes_, tables_;
    Shared<u32> count_;
};

/// Two buffers for keys and payload, between which a pass moves them.
struct KeyBuffers {
    KeyBuffers(ParameterList& list, const RadixShape& shape)
        : keys{list.buffer(shape.word), list.buffer(shape.word)} {
        for (int k = 0; shape.pairs() && k < 2; ++k) payload.push_back(list.buffer(shape.payload));
    }
    static void add_arguments(std::vector<AnyArgument>& arguments, const RadixSort& sort) {
        arguments.insert(arguments.end(), {sort.keys[0], sort.keys[1]});
        if (!sort.payload[0].dtype().is_void())
            arguments.insert(arguments.end(), {sort.payload[0], sort.payload[1]});
    }
    /// Records the move of element i to another place in the other buffer.
    void move(std::size_t from, const Value<u32>& i, const AnyValue& key, const Value<u32>& to) const {
        keys[1 - from].store(to, key);
        if (!payload.empty()) payload[1 - from].store(to, payload[from].load(i));
    }

    AnyArray keys[2];
    std::vector<AnyArray> payload;
};

/// Sorts segments, each by one invocation: the rows, or the buckets of the rows that are done otherwise.
/// Their keys start in one of the buffers and end in the first one.
struct SegmentSort {
    std::int64_t segments = 0;
    std::int64_t length = 0;           ///< of each segment; 0: the buckets
    AnyBuffer begins = {}, done = {};  ///< of the buckets: as launch_buckets() returns them
};
void launch_segments(const Target& target, const RadixSort& sort, const SegmentSort& segments,
                     const RadixShape& shape);

/// The division of rows into buckets of keys: begins[row * (bucket_count + 1) + b] is the first place of a
/// bucket, and done[row] is 1 if the keys of the row were moved to their buckets in the second buffer, 0 if
/// not because some bucket has more than `most` keys.
struct Buckets {
    AnyBuffer begins, done;
};
constexpr unsigned bucket_bits = 8;
constexpr unsigned bucket_count = 1U << bucket_bits;
[[nodiscard]] Buckets launch_buckets(const Execution& execution, const Target& target, const RadixSort& sort,
                                     const StripPlan& plan, RadixShape shape, std::int64_t most);

/// The parameters that kernels over strips have in common.
struct StripParameters {
    explicit StripParameters(ParameterList& list);
    static void add_arguments(std::vector<AnyArgument>& arguments, const RadixSort& sort,
                              const StripPlan& plan, unsigned shift, unsigned pass);
    /// Records `body(row, number of the strip in its row, begin, end)` for the strip of this invocation.
    template <class F>
    void for_strip(unsigned lanes, F&& body) const {
        for_worker(lanes, workers, [&](const Value<u32>& worker) {
            const Value<u32> row = worker / strips;
            const Value<u32> number = worker - row * strips;
            const auto minimum = [](const Value<u32>& a, const Value<u32>& b) { return select(a < b, a, b); };
            const Value<u32> first = minimum(number * strip, length);
            const Value<u32> base = row * length + first;
            body(row, number, base, base + minimum(strip, length - first));
        });
    }

    Value<u32> length, strip, strips, workers, rows, shift, pass;
};

/// Counts the digits at a bit position: counts[strip][value] and totals[row][value]. The counts become the
/// numbers of equal digits in the strips before.
void launch_count(const Target& target, const RadixSort& sort, const StripPlan& plan, const RadixShape& shape,
                  unsigned shift, unsigned pass, const AnyBuffer& counts, const AnyBuffer& totals,
                  const AnyBuffer& flips, const AnyBuffer& done);

}  // namespace volley::algorithms
