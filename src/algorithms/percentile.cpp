// Percentiles: selects the keys on both sides of each position, and interpolates between them.
#include "algorithms/ranks.hpp"
#include "algorithms/row_source.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/lang/cast.hpp>
#include <volley/lang/ids.hpp>
#include <volley/lang/math.hpp>
#include <volley/lang/operators.hpp>

#include <cmath>
#include <limits>
#include <string_view>

namespace volley {
namespace {

using algorithms::DeclaredTargets;
using algorithms::Execution;
using algorithms::RankPosition;
using algorithms::RankSelection;
using algorithms::RankTarget;
using algorithms::Rows;
using algorithms::SelectedRanks;
using algorithms::Target;

/// A checked call, without its output.
struct PercentileCall {
    PercentileCall(std::string_view call_name, const AnySource& from, const std::vector<double>& percents,
                   const PercentileOptions& call_options, bool is_median);

    /// Returns the type of the result if the output does not choose another.
    [[nodiscard]] DType type() const {
        return is_float(source.dtype().scalar()) ? source.dtype() : dtype_of<float>();
    }
    [[nodiscard]] bool picks() const {
        return options.method != PercentileMethod::Linear && options.method != PercentileMethod::Midpoint;
    }
    Event run(const AnySink& to, const Execution& execution) const;

    std::string_view name;
    AnySource source;  // of one axis if there is no axis in the options
    const PercentileOptions& options;
    Rows rows;
    std::vector<RankTarget> targets;
    Shape shape;  // of the result
};

std::uint64_t fraction_of(double percent) {
    const long double scaled = std::ldexp(static_cast<long double>(percent) / 100, 64);
    if (scaled >= std::ldexp(1.0L, 64)) return ~std::uint64_t{0};
    return static_cast<std::uint64_t>(scaled);
}

void check_percents(const std::vector<double>& percents, std::string_view name) {
    if (percents.empty()) {
        fail(ErrorCode::InvalidArgument, "there are no percents", name, "pass at least one, from 0 to 100");
    }
    for (const double q : percents) {
        if (q >= 0 && q <= 100) continue;
        fail(ErrorCode::InvalidArgument, cat("the percent ", q, " is out of range"), name,
             "use percents from 0 to 100; multiply quantiles by 100");
    }
}

PercentileCall::PercentileCall(std::string_view call_name, const AnySource& from,
                               const std::vector<double>& percents, const PercentileOptions& call_options,
                               bool is_median)
    : name(call_name),
      source(call_options.axis ? from : from.reshape(Shape(from.size()))),
      options(call_options),
      rows(source.shape(), call_options.axis.value_or(0), call_name) {
    check_percents(percents, name);
    if (!source.dtype().is_scalar()) {
        fail(ErrorCode::TypeMismatch, cat("elements of type ", source.dtype().name(), " have no order"), name,
             "use an array of numbers, or a map of a component");
    }
    std::vector<std::int64_t> extents;
    if (!is_median) extents.push_back(static_cast<std::int64_t>(percents.size()));
    const Shape& given = from.shape();
    for (int k = 0; k < given.rank(); ++k) {
        const bool selected = !options.axis || k == rows.axis;
        if (!selected) extents.push_back(given[k]);
        if (selected && options.keepdims) extents.push_back(1);
    }
    shape = Shape(std::span<const std::int64_t>(extents));
    if (rows.length == 0 && rows.count > 0) {
        fail(ErrorCode::InvalidArgument, "nothing has no percentiles: the axis has no elements",
             cat(name, " of an array of shape ", given.to_string()), "pass at least one element");
    }
    for (const double q : percents) targets.push_back({fraction_of(q)});
}

/// How the keys become results.
class ResultBuilder {
public:
    ResultBuilder(const PercentileCall& call, const algorithms::KeyCode& code, DType type)
        : code_(code), type_(type), method_(call.options.method), ignores_(call.options.ignore_nan) {}

    [[nodiscard]] AnyValue result(const AnyValue& lower, const AnyValue& upper, const RankPosition& at,
                                  const Value<u32>& count, const Value<u32>& length) const {
        const AnyValue value = combine(lower, upper, at);
        if (!is_float(code_.type.scalar())) return value;
        const Value<bool> is_nan = ignores_ ? count == 0U : count != length;
        const float nan = std::numeric_limits<float>::quiet_NaN();
        return select(is_nan, convert(Value<float>(nan), type_), value);
    }

private:
    [[nodiscard]] AnyValue combine(const AnyValue& lower, const AnyValue& upper,
                                   const RankPosition& at) const {
        constexpr u32 half_way = 0x8000'0000U;
        const Value<bool> at_half = at.high == half_way && at.low == 0U;
        const auto pick = [&](const Value<bool>& up) {
            return convert(code_.decode(select(up, upper, lower)), type_);
        };
        switch (method_) {
            case PercentileMethod::Lower: return convert(code_.decode(lower), type_);
            case PercentileMethod::Higher: return pick((at.high | at.low) != 0U);
            case PercentileMethod::Nearest:
                return pick(at.high >= half_way && (!at_half || (at.rank & 1U) == 1U));
            default: break;
        }
        if (type_ == dtype_of<double>()) return interpolate<double>(lower, upper, at);
        return convert(interpolate<float>(lower, upper, at), type_);
    }
    // As NumPy does: exact at both ends, and monotonic.
    template <class F>
    [[nodiscard]] Value<F> interpolate(const AnyValue& lower, const AnyValue& upper,
                                       const RankPosition& at) const {
        const auto decode = [&](const AnyValue& key) {
            return convert(code_.decode(key), dtype_of<F>()).template as<F>();
        };
        const Value<F> a = decode(lower);
        const Value<F> b = select((at.high | at.low) == 0U, a, decode(upper));
        constexpr F scale = F{1} / F{4294967296};
        const Value<F> fraction = sizeof(F) == sizeof(float)
                                      ? cast<F>(at.high) * scale
                                      : (cast<F>(at.low) * scale + cast<F>(at.high)) * scale;
        const Value<F> t = method_ == PercentileMethod::Midpoint ? Value<F>(F{0.5}) : fraction;
        const Value<F> difference = b - a;
        const Value<F> from_a = fma(difference, t, a), from_b = fma(difference, t - F{1}, b);
        const Value<F> between = select(t < F{0.5}, from_a, from_b);
        // The difference overflows between large numbers, and with infinities.
        const Value<F> weighted = a * (F{1} - t) + b * t;
        return select(a == b, a, select(isfinite(difference), between, weighted));
    }

    const algorithms::KeyCode& code_;
    DType type_;
    PercentileMethod method_;
    bool ignores_;
};

Event store_percentiles(const PercentileCall& call, const RankSelection& selection,
                        const SelectedRanks& found, std::size_t first, const AnySink& to,
                        const Target& target) {
    const auto all = static_cast<std::int64_t>(call.targets.size());
    const AnySink flat = to.reshape({all, call.rows.count});
    KernelKey key("percentile");
    key.add(call.options.method).add(call.options.ignore_nan);
    selection.identify(key);
    flat.identify(key);
    const AnyKernel kernel = algorithms::find_kernel(key, [&] {
        return any_kernel("percentile", {}, [&](ParameterList& list) {
            const AnyArray keys = list.const_buffer(selection.code.word());
            const AnyArray counts = list.const_buffer(dtype_of<u32>());
            const StoreElement store = flat.declare(list);
            const Value<u32> rows = list.value<u32>(), length = list.value<u32>();
            const Value<u32> first_target = list.value<u32>(), all_targets = list.value<u32>();
            const DeclaredTargets targets(list, selection.targets.size());
            const Value<u32> row = global_id().x, t = global_id().y;
            const Value<u32> counted = counts.load(row).as<u32>();
            const RankPosition at = algorithms::rank_position(counted, targets.high(t), targets.low(t));
            const Value<u32> place = (t * rows + row) * 2U;
            const ResultBuilder builder(call, selection.code, flat.dtype());
            store(Position({first_target + t, row}, {all_targets, rows}),
                  builder.result(keys.load(place), keys.load(place + 1U), at, counted, length));
        });
    });
    std::vector<AnyArgument> arguments{found.keys, found.counts};
    flat.add_arguments(arguments);
    arguments.emplace_back(static_cast<u32>(call.rows.count));
    arguments.emplace_back(static_cast<u32>(call.rows.length));
    arguments.emplace_back(static_cast<u32>(first));
    arguments.emplace_back(static_cast<u32>(all));
    DeclaredTargets::add_arguments(arguments, selection.targets);
    return algorithms::launch(
        kernel.over({call.rows.count, static_cast<std::int64_t>(selection.targets.size())}), target,
        arguments);
}

Event PercentileCall::run(const AnySink& to, const Execution& execution) const {
    if (rows.empty()) return {};
    // Kernels have the fractions as parameters; the IR of very many would be large.
    constexpr std::size_t most_targets = 16;
    Event done;
    for (const Target& target : execution.targets()) {
        const algorithms::RowSource read = algorithms::rows_to_read(execution, target, source, rows);
        for (std::size_t first = 0; first < targets.size(); first += most_targets) {
            const std::size_t end = std::min(first + most_targets, targets.size());
            const RankSelection selection{.source = source,
                                          .rows = rows,
                                          .code = {source.dtype()},
                                          .next = options.method != PercentileMethod::Lower,
                                          .targets = {targets.begin() + static_cast<std::ptrdiff_t>(first),
                                                      targets.begin() + static_cast<std::ptrdiff_t>(end)}};
            const SelectedRanks found =
                algorithms::select_ranks(execution, target, selection, options.tuning);
            done = store_percentiles(*this, selection, found, first, to, target);
        }
    }
    return done;
}

Event run_percentiles(std::string_view name, const AnySink& to, const AnySource& from,
                      const std::vector<double>& percents, const PercentileOptions& options, bool is_median) {
    const PercentileCall call(name, from, percents, options, is_median);
    const bool exact = call.picks() && to.dtype() == from.dtype();
    algorithms::check_sink(to, exact ? from.dtype() : call.type(), call.shape, name);
    algorithms::check_no_overlap(to, from, false, name);
    return call.run(to, Execution(options.queue, {&from}, {&to}));
}

AnyBuffer new_percentiles(std::string_view name, const AnySource& from, const std::vector<double>& percents,
                          const PercentileOptions& options, bool is_median) {
    const PercentileCall call(name, from, percents, options, is_median);
    const Execution execution(options.queue, {&from});
    AnyBuffer result = execution.result(call.type(), call.shape);
    call.run(result, execution);
    return result;
}

}  // namespace

Event percentile(const AnySink& to, const AnySource& from, const std::vector<double>& percents,
                 const PercentileOptions& options) {
    return run_percentiles("percentile", to, from, percents, options, false);
}

Event median(const AnySink& to, const AnySource& from, const PercentileOptions& options) {
    return run_percentiles("median", to, from, {50}, options, true);
}

AnyBuffer detail::percentiles(const AnySource& from, const std::vector<double>& percents,
                              const PercentileOptions& options) {
    return new_percentiles("percentile", from, percents, options, false);
}

AnyBuffer detail::medians(const AnySource& from, const PercentileOptions& options) {
    return new_percentiles("median", from, {50}, options, true);
}

}  // namespace volley
