// The kernels of the merge sort. Invariant: all loops end and no access leaves the rows, whatever the
// comparison returns.
#include "algorithms/sort_merge.hpp"

#include "algorithms/sort_radix_kernels.hpp"

#include <volley/lang/math.hpp>

#include <algorithm>
#include <bit>
#include <deque>
#include <string_view>
#include <vector>

namespace volley::algorithms {
namespace {

constexpr unsigned group_size = 4;  // elements that are ordered in registers

/// A key and its payload.
struct Entry {
    AnyValue key;
    std::vector<AnyValue> payload;  // or none
};

struct EntryVar {
    explicit EntryVar(const Entry& entry) : key(entry.key) {
        for (const AnyValue& value : entry.payload) payload.emplace_back(value);
    }
    void operator=(const Entry& entry) {
        key = entry.key;
        for (std::size_t k = 0; k < payload.size(); ++k) payload[k] = entry.payload[k];
    }
    [[nodiscard]] Entry load() const {
        Entry entry{key.load(), {}};
        for (const AnyVar& value : payload) entry.payload.push_back(value.load());
        return entry;
    }

    AnyVar key;
    std::deque<AnyVar> payload;
};

/// The arrays and the order of a kernel while it is traced.
class Merger {
public:
    Merger(ParameterList& list, const MergeSort& sort)
        : less_(*sort.less),
          descending_(sort.descending),
          keys_{list.buffer(sort.keys[0].dtype()), list.buffer(sort.keys[0].dtype())} {
        const DType payload = sort.payload[0].dtype();
        for (int k = 0; !payload.is_void() && k < 2; ++k) payload_.push_back(list.buffer(payload));
    }
    static KernelKey key(std::string_view name, const MergeSort& sort, const MergePlan& plan) {
        KernelKey key(name);
        key.add(sort.less->hash()).add(sort.descending).add(plan.lanes).add(plan.chains);
        key.add(sort.keys[0].dtype()).add(sort.payload[0].dtype());
        return key;
    }
    static std::vector<AnyArgument> arguments(const MergeSort& sort) {
        std::vector<AnyArgument> arguments{sort.keys[0], sort.keys[1]};
        if (!sort.payload[0].dtype().is_void())
            arguments.insert(arguments.end(), {sort.payload[0], sort.payload[1]});
        return arguments;
    }

    [[nodiscard]] Entry load(unsigned from, const Value<u32>& i) const {
        Entry entry{keys_[from].load(i), {}};
        if (!payload_.empty()) entry.payload.push_back(payload_[from].load(i));
        return entry;
    }
    void store(unsigned to, const Value<u32>& i, const Entry& entry) const {
        keys_[to].store(i, entry.key);
        if (!payload_.empty()) payload_[to].store(i, entry.payload.front());
    }
    [[nodiscard]] AnyValue load_key(unsigned from, const Value<u32>& i) const { return keys_[from].load(i); }
    /// Records the move of the element that was found at i or j.
    void store_chosen(unsigned from, const Value<u32>& to, const Value<bool>& second, const AnyValue& a,
                      const AnyValue& b, const Value<u32>& i, const Value<u32>& j) const {
        keys_[1 - from].store(to, select(second, b, a));
        if (!payload_.empty()) payload_[1 - from].store(to, payload_[from].load(select(second, j, i)));
    }
    /// Returns whether a belongs before b.
    [[nodiscard]] Value<bool> before(const AnyValue& a, const AnyValue& b) const {
        return (descending_ ? less_.call({b, a}) : less_.call({a, b})).as<bool>();
    }

private:
    AnyFunction less_;
    bool descending_;
    AnyArray keys_[2];
    std::vector<AnyArray> payload_;
};

/// Two neighbouring runs: [begin, middle) and [middle, end). The second one may be empty.
struct RunPair {
    Value<u32> begin, middle, end;

    /// The pair of runs of up to `run` elements from `begin` on, in a row that ends at `end`.
    RunPair(const Value<u32>& first, const Value<u32>& run, const Value<u32>& row_end)
        : begin(first), middle(first + min(run, row_end - first)), end(middle + min(run, row_end - middle)) {}
};

/// A merge of some elements of a pair, in order.
class Chain {
public:
    /// Starts at the first elements of both runs, or at the merged element `number`.
    Chain(const Merger& merger, unsigned from, const RunPair& pair)
        : merger_(merger), from_(from), pair_(pair), i_(pair.begin), j_(pair.middle) {}
    Chain(const Merger& merger, unsigned from, const RunPair& pair, const Value<u32>& number)
        : Chain(merger, from, pair) {
        // The merge path: the number of elements of the first run among the first `number` ones.
        const Value<u32> first = pair.middle - pair.begin, second = pair.end - pair.middle;
        Var<u32> low = select(number > second, number - second, Value<u32>(0U));
        Var<u32> high = min(number, first);
        $while (low < high) {
            const Value<u32> half = (low + high) >> 1U;
            const AnyValue a = merger.load_key(from, pair.begin + half);
            const AnyValue b = merger.load_key(from, pair.middle + (number - 1U - half));
            const Value<bool> less = merger.before(b, a);
            high = select(less, half, Value<u32>(high));
            low = select(less, Value<u32>(low), half + 1U);
        }
        i_ = pair.begin + low;
        j_ = pair.middle + (number - low);
    }

    /// Records the move of the next element.
    void step(const Value<u32>& to) {
        const Value<bool> has_first = i_ < pair_.middle, has_second = j_ < pair_.end;
        const Value<u32> i = min(Value<u32>(i_), pair_.middle - 1U), j = min(Value<u32>(j_), pair_.end - 1U);
        const AnyValue a = merger_.load_key(from_, i), b = merger_.load_key(from_, j);
        const Value<bool> second = has_second && (!has_first || merger_.before(b, a));
        merger_.store_chosen(from_, to, second, a, b, i, j);
        const Value<u32> one = select(second, Value<u32>(1U), Value<u32>(0U));
        j_ += one;
        i_ += 1U - one;
    }

private:
    const Merger& merger_;
    unsigned from_;
    const RunPair& pair_;
    Var<u32> i_, j_;
};

/// Merges two runs of `run` elements from both ends. As many steps as a run has elements cannot leave it.
void merge_from_both_ends(const Merger& merger, unsigned from, const RunPair& pair, const Value<u32>& run) {
    Var<u32> i = pair.begin, j = pair.middle;          // the next ones from the front
    Var<u32> m = pair.middle - 1U, n = pair.end - 1U;  // the next ones from the back
    $for (k, 0U, run) {
        const Value<u32> at_i = i, at_j = j, at_m = m, at_n = n;
        const AnyValue a = merger.load_key(from, at_i), b = merger.load_key(from, at_j);
        const AnyValue c = merger.load_key(from, at_m), d = merger.load_key(from, at_n);
        const Value<bool> second = merger.before(b, a), first = merger.before(d, c);
        merger.store_chosen(from, pair.begin + k, second, a, b, at_i, at_j);
        merger.store_chosen(from, pair.end - 1U - k, !first, c, d, at_m, at_n);
        const Value<u32> front = select(second, Value<u32>(1U), Value<u32>(0U));
        const Value<u32> back = select(first, Value<u32>(1U), Value<u32>(0U));
        j = at_j + front;
        i = at_i + (1U - front);
        m = at_m - back;
        n = at_n - (1U - back);
    }
}

/// Orders groups of elements by exchanges of neighbours, which keep equal elements in their order.
void sort_groups(const Merger& merger, const Value<u32>& begin, const Value<u32>& end) {
    $for (first, begin, end, group_size) {
        const Value<u32> last = end - 1U;
        std::deque<EntryVar> entries;
        for (unsigned k = 0; k < group_size; ++k) entries.emplace_back(merger.load(0, min(first + k, last)));
        for (unsigned round = 0; round < group_size; ++round) {
            for (unsigned k = round % 2; k + 1 < group_size; k += 2) {
                const Entry a = entries[k].load(), b = entries[k + 1].load();
                const Value<bool> swap = first + (k + 1) <= last && merger.before(b.key, a.key);
                Entry low{select(swap, b.key, a.key), {}}, high{select(swap, a.key, b.key), {}};
                for (std::size_t p = 0; p < a.payload.size(); ++p) {
                    low.payload.push_back(select(swap, b.payload[p], a.payload[p]));
                    high.payload.push_back(select(swap, a.payload[p], b.payload[p]));
                }
                entries[k] = low;
                entries[k + 1] = high;
            }
        }
        for (unsigned k = 0; k < group_size; ++k) {
            $if (first + k <= last) {
                merger.store(0, first + k, entries[k].load());
            }
        }
    }
}

/// Merges the runs of [begin, end) in pairs.
void merge_pairs(const Merger& merger, unsigned from, const Value<u32>& run, const Value<u32>& begin,
                 const Value<u32>& end) {
    $for (first, begin, end, run * 2U) {
        const RunPair pair(first, run, end);
        $if (pair.end - pair.middle == run) {
            merge_from_both_ends(merger, from, pair, run);
        }
        $else {
            Chain chain(merger, from, pair);
            $for (to, pair.begin, pair.end) {
                chain.step(to);
            }
        }
    }
}

/// Sorts runs, each by one invocation. The result is in the first buffer.
AnyKernel run_kernel(const MergeSort& sort, const MergePlan& plan) {
    return find_kernel(Merger::key("sort runs", sort, plan), [&] {
        return any_kernel("sort.runs", {.local = {plan.lanes}}, [&](ParameterList& list) {
            const Merger merger(list, sort);
            const Value<u32> length = list.value<u32>(), run = list.value<u32>();
            const Value<u32> runs = list.value<u32>(), workers = list.value<u32>();
            for_worker(plan.lanes, workers, [&](const Value<u32>& worker) {
                const Value<u32> row = worker / runs;
                const Value<u32> first = (worker - row * runs) * run;
                const Value<u32> begin = row * length + first;
                const Value<u32> end = begin + min(run, length - first);
                sort_groups(merger, begin, end);
                Var<u32> ordered = group_size;
                $while (ordered < run) {
                    merge_pairs(merger, 0, ordered, begin, end);
                    merge_pairs(merger, 1, ordered * 2U, begin, end);
                    ordered = ordered * 4U;
                }
            });
        });
    });
}

/// Merges pairs of runs of 2^log_run elements.
AnyKernel merge_kernel(const MergeSort& sort, const MergePlan& plan, unsigned from) {
    KernelKey key = Merger::key("sort merge", sort, plan);
    key.add(from);
    return find_kernel(key, [&] {
        return any_kernel("sort.merge", {.local = {plan.lanes}}, [&](ParameterList& list) {
            const Merger merger(list, sort);
            const Value<u32> length = list.value<u32>(), log_run = list.value<u32>();
            const Value<u32> chain_length = list.value<u32>();
            const Value<u32> strips = list.value<u32>(), workers = list.value<u32>();
            for_worker(plan.lanes, workers, [&](const Value<u32>& worker) {
                const Value<u32> row = worker / strips;
                const Value<u32> strip = chain_length * plan.chains;
                const Value<u32> number = (worker - row * strips) * strip;  // in the row
                const Value<u32> pair_number = number >> log_run >> 1U << 1U << log_run;
                const Value<u32> base = row * length;
                const RunPair pair(base + pair_number, Value<u32>(1U) << log_run, base + length);
                const Value<u32> begin = number - pair_number;  // in the pair
                const Value<u32> to = base + number;
                $if (strip <= pair.end - to) {
                    std::deque<Chain> chains;
                    for (unsigned c = 0; c < plan.chains; ++c)
                        chains.emplace_back(merger, from, pair, begin + chain_length * c);
                    $for (k, 0U, chain_length) {
                        for (unsigned c = 0; c < plan.chains; ++c)
                            chains[c].step(to + (chain_length * c + k));
                    }
                }
                $else {
                    Chain chain(merger, from, pair, begin);
                    $for (k, to, pair.end) {
                        chain.step(k);
                    }
                }
            });
        });
    });
}

}  // namespace

MergePlan plan_merge_sort(const Target& target, std::int64_t length, const SortTuning& tuning) {
    struct Defaults {
        std::int64_t run, strip;
        unsigned lanes, chains;
    };
    const Defaults defaults = [&]() -> Defaults {
        switch (device_class(*target.device)) {
            case DeviceClass::Cpu: return {4096, 8192, 1, 4};
            case DeviceClass::Software: return {256, 512, 8, 1};
            case DeviceClass::Gpu: break;
        }
        return {16, 16, 64, 1};
    }();
    MergePlan plan{.run = group_size,
                   .lanes = tuning.lanes != 0 ? tuning.lanes : defaults.lanes,
                   .chains = defaults.chains};
    constexpr std::int64_t longest = 1 << 20;
    const std::int64_t most = std::min(tuning.segment != 0 ? tuning.segment : defaults.run, longest);
    while (plan.run * 4 <= most && plan.run < length) plan.run *= 4;
    const std::int64_t strip = tuning.strip != 0 ? tuning.strip : defaults.strip;
    plan.strip = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(strip)));
    plan.strip = std::clamp<std::int64_t>(plan.strip, plan.chains, 2 * plan.run);
    for (std::int64_t run = plan.run; run < length; run *= 2) ++plan.passes;
    return plan;
}

Event merge_sort(const Target& target, const MergeSort& sort, const MergePlan& plan) {
    const auto number = [](std::int64_t value) { return AnyArgument(static_cast<u32>(value)); };
    const auto run = [&](const AnyKernel& kernel, std::int64_t workers, std::vector<AnyArgument> numbers) {
        std::vector<AnyArgument> arguments = Merger::arguments(sort);
        arguments.insert(arguments.end(), numbers.begin(), numbers.end());
        arguments.push_back(number(workers));
        return launch(kernel.groups(divide_up(workers, plan.lanes)), target, arguments);
    };
    const std::int64_t runs = divide_up(sort.length, plan.run);
    Event done =
        run(run_kernel(sort, plan), runs * sort.rows, {number(sort.length), number(plan.run), number(runs)});
    const std::int64_t strips = divide_up(sort.length, plan.strip);
    auto log_run = static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(plan.run)) - 1);
    for (unsigned pass = 0; pass < plan.passes; ++pass, ++log_run) {
        done = run(merge_kernel(sort, plan, pass % 2), strips * sort.rows,
                   {number(sort.length), number(log_run), number(plan.strip / plan.chains), number(strips)});
    }
    return done;
}

}  // namespace volley::algorithms
