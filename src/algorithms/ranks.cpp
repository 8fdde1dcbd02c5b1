// Chooses how to select, and computes positions of percentiles.
#include "algorithms/ranks.hpp"

#include <volley/lang/cast.hpp>
#include <volley/lang/operators.hpp>

#include <algorithm>

namespace volley::algorithms {
namespace {

/// A number of 64 bits, on devices that have 32.
struct WideNumber {
    Value<u32> high, low;
};

WideNumber multiply_wide(const Value<u32>& a, const Value<u32>& b) {
    const Value<u32> a0 = a & 0xFFFFU, a1 = a >> 16U, b0 = b & 0xFFFFU, b1 = b >> 16U;
    const Value<u32> p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0;
    const Value<u32> middle = (p00 >> 16U) + (p01 & 0xFFFFU) + (p10 & 0xFFFFU);
    return {a1 * b1 + (p01 >> 16U) + (p10 >> 16U) + (middle >> 16U), (middle << 16U) | (p00 & 0xFFFFU)};
}

Value<u32> one_if(const Value<bool>& condition) { return select(condition, Value<u32>(1U), Value<u32>(0U)); }

/// Returns a + b modulo 2^64.
WideNumber add_wide(const WideNumber& a, const WideNumber& b) {
    const Value<u32> low = a.low + b.low;
    return {a.high + b.high + one_if(low < a.low), low};
}

Value<bool> is_less(const WideNumber& a, const WideNumber& b) {
    return a.high < b.high || (a.high == b.high && a.low < b.low);
}

}  // namespace

RankPosition rank_position(const Value<u32>& count, const Value<u32>& high, const Value<u32>& low) {
    const Value<u32> last = select(count > 0U, count - 1U, Value<u32>(0U));
    const WideNumber a = multiply_wide(last, high), b = multiply_wide(last, low);
    const Value<u32> middle = a.low + b.high;
    const Value<u32> rank = a.high + one_if(middle < b.high);
    const WideNumber rest{middle, b.low};
    // The error of a double: 2^-52 of the last rank.
    const WideNumber error{last >> 20U, last << 12U};
    const WideNumber doubled = add_wide(error, error);
    const auto is_near = [&](u32 place) {
        const WideNumber moved = add_wide(add_wide(rest, {Value<u32>(place), Value<u32>(0U)}), error);
        return !is_less(doubled, moved);
    };
    constexpr u32 half = 0x8000'0000U;
    const Value<bool> is_whole = is_near(0U), is_half = is_near(half);
    const Value<u32> zero = 0U;
    return {rank + one_if(is_whole && rest.high >= half),
            select(is_whole, zero, select(is_half, Value<u32>(half), rest.high)),
            select(is_whole || is_half, zero, rest.low)};
}

bool RankSelection::excludes_nans() const { return numbers && is_float(code.type.scalar()); }

std::uint64_t RankSelection::last_number() const {
    const unsigned mantissa = code.bits() == 16 ? 10 : code.bits() == 32 ? 23 : 52;
    const std::uint64_t most = ~std::uint64_t{0} >> (64 - code.bits());
    return most - 2 * ((std::uint64_t{1} << mantissa) - 1);
}

void RankSelection::identify(KernelKey& key) const {
    key.add(code.type).add(code.descending).add(fractions).add(excludes_nans()).add(next);
    key.add(targets.size());
}

DeclaredTargets::DeclaredTargets(ParameterList& list, std::size_t count) {
    for (std::size_t t = 0; t < count; ++t) {
        high_.push_back(list.value<u32>());
        low_.push_back(list.value<u32>());
    }
}

void DeclaredTargets::add_arguments(std::vector<AnyArgument>& arguments,
                                    const std::vector<RankTarget>& targets) {
    for (const RankTarget& target : targets) {
        arguments.emplace_back(static_cast<u32>(target.number >> 32U));
        arguments.emplace_back(static_cast<u32>(target.number));
    }
}

Value<u32> DeclaredTargets::choose(const std::vector<Value<u32>>& values, const Value<u32>& target) {
    std::vector<Value<u32>> chosen{values.front()};
    for (std::size_t t = 1; t < values.size(); ++t)
        chosen.push_back(select(target == static_cast<u32>(t), values[t], chosen.back()));
    return chosen.back();
}

Value<u32> DeclaredTargets::rank(const RankSelection& selection, const Value<u32>& target,
                                 const Value<u32>& count) const {
    if (!selection.fractions) return low(target);
    return rank_position(count, high(target), low(target)).rank;
}

SelectedRanks select_ranks(const Execution& execution, const Target& target, const RankSelection& selection,
                           const RankTuning& tuning) {
    const auto targets = static_cast<std::int64_t>(selection.targets.size());
    const SelectedRanks result{execution.scratch(selection.code.word(), {targets, selection.rows.count, 2}),
                               execution.scratch(dtype_of<u32>(), {selection.rows.count})};
    const DeviceInfo& device = *target.device;
    const unsigned lanes = device.subgroups ? std::max(device.subgroup_size, 1U) : 1;
    const auto word = static_cast<std::int64_t>(selection.code.word().size());
    // A driver may end loops after 65,535 iterations, and memory that is used up leaves processors idle.
    constexpr std::int64_t unroll = 4, most_iterations = 60'000, spare = 4096;
    const bool is_cpu = device_class(device) == DeviceClass::Cpu;
    std::int64_t most = is_cpu ? 32 * 1024 : 4096;
    if (!is_cpu) {
        const std::int64_t steps = targets * (std::int64_t{selection.code.bits()} + 2);
        most = std::min(most, most_iterations / (steps + 8) * lanes * unroll);
    }
    if (tuning.row != 0) most = std::min<std::int64_t>(tuning.row, most);
    most = std::min(most, (static_cast<std::int64_t>(device.max_shared_bytes) - spare) / word / 2);
    if (selection.rows.length <= most) {
        select_in_rows(target, selection, lanes, result);
    } else {
        select_by_digits(execution, target, selection, tuning, result);
    }
    return result;
}

}  // namespace volley::algorithms
