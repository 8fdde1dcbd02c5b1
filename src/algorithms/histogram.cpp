// Histograms: checks, and the bins of elements.
#include "algorithms/histogram_tables.hpp"
#include "algorithms/row_source.hpp"
#include "algorithms/sort_rows.hpp"
#include "algorithms/source_node.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/algorithms/transpose.hpp>
#include <volley/lang/cast.hpp>
#include <volley/lang/control.hpp>
#include <volley/lang/math.hpp>
#include <volley/lang/operators.hpp>
#include <volley/lang/var.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <string_view>

namespace volley {
namespace {

using algorithms::BinnedElement;
using algorithms::DeclaredElements;
using algorithms::Execution;
using algorithms::RowPositions;
using algorithms::Rows;
using algorithms::Target;
using BinKind = HistogramBins::Kind;

constexpr std::string_view histogram_name = "histogram";

/// A checked call, without its output.
struct HistogramCall {
    HistogramCall(const AnySource& from, const HistogramBins& call_bins,
                  const std::optional<AnySource>& call_weights, const HistogramOptions& call_options);

    [[nodiscard]] DType type() const { return weights ? weights->dtype() : dtype_of<u32>(); }
    [[nodiscard]] Execution execution(std::initializer_list<const AnySink*> sinks = {}) const {
        return {options.queue,
                {&source, weights ? &*weights : &source, bins.edges() ? &*bins.edges() : &source},
                sinks};
    }
    Event run(const AnySink& to, const Execution& execution) const;

    AnySource source;  // of one axis if there is no axis in the options
    const HistogramBins& bins;
    std::optional<AnySource> weights;
    const HistogramOptions& options;
    Rows rows;
    Shape shape;  // of the result
};

/// Returns whether elements of a type are compared with even bins in f64, if the device has it.
bool is_wide(DType type) {
    return type == dtype_of<double>() || (!is_float(type.scalar()) && type.size() >= 4);
}

void check_elements(const HistogramBins& bins, DType type) {
    if (!type.is_scalar()) {
        fail(ErrorCode::TypeMismatch, cat("elements of type ", type.name(), " have no order"), histogram_name,
             "use an array of numbers, or a map of a component");
    }
    if (bins.kind() == BinKind::Keys && is_float(type.scalar())) {
        fail(ErrorCode::TypeMismatch, cat("elements of type ", type.name(), " are not numbers of bins"),
             histogram_name, "use integers, or even_bins() for floats");
    }
    if (bins.kind() == BinKind::Edges && bins.edges()->dtype() != type) {
        fail(ErrorCode::TypeMismatch,
             cat("the edges are ", bins.edges()->dtype().name(), ", but the elements are ", type.name()),
             histogram_name, "use edges of the type of the elements");
    }
    if (bins.kind() == BinKind::Even && type != dtype_of<double>()) {
        const double most = std::numeric_limits<float>::max();
        const double scale = bins.count() / (bins.high() - bins.low());
        if (static_cast<float>(bins.low()) < static_cast<float>(bins.high()) && std::abs(bins.low()) < most &&
            std::abs(bins.high()) < most && bins.high() - bins.low() < most && scale < most)
            return;
        fail(ErrorCode::InvalidArgument,
             cat("the range from ", bins.low(), " to ", bins.high(), " is too wide or too narrow for f32"),
             histogram_name, "use another range, or elements of f64");
    }
}

HistogramCall::HistogramCall(const AnySource& from, const HistogramBins& call_bins,
                             const std::optional<AnySource>& call_weights,
                             const HistogramOptions& call_options)
    : source(call_options.axis ? from : from.reshape(Shape(from.size()))),
      bins(call_bins),
      options(call_options),
      rows(source.shape(), call_options.axis.value_or(0), histogram_name),
      shape(rows.with_length(call_bins.count())) {
    check_elements(bins, source.dtype());
    if (call_weights) {
        if (call_weights->shape() != from.shape()) {
            fail(ErrorCode::SizeMismatch,
                 cat("the weights have the shape ", call_weights->shape().to_string(),
                     ", but the elements have ", from.shape().to_string()),
                 histogram_name, "use one weight for each element");
        }
        switch (call_weights->dtype().is_scalar() ? call_weights->dtype().scalar() : ScalarType::Bool) {
            case ScalarType::U32:
            case ScalarType::I32:
            case ScalarType::U64:
            case ScalarType::I64:
            case ScalarType::F32:
            case ScalarType::F64: break;
            default:
                fail(ErrorCode::TypeMismatch,
                     cat("weights of type ", call_weights->dtype().name(), " are not added"), histogram_name,
                     "convert the weights to u32, i32, u64, i64, f32 or f64");
        }
        weights = call_weights->reshape(source.shape());
    }
    detail::check_countable(shape, histogram_name);
    const HistogramTuning& tuning = options.tuning;
    constexpr unsigned most_lanes = 1024;
    if (tuning.lanes > most_lanes) {
        fail(ErrorCode::InvalidArgument, cat("tuning.lanes is ", tuning.lanes, ", which is out of range"),
             histogram_name, cat("use 1 to ", most_lanes, ", or 0 for the default"));
    }
}

class HistogramRows final : public algorithms::BinnedRows {
public:
    HistogramRows(const HistogramCall& call, const Target& target)
        : call_(call),
          wide_(call.bins.kind() == BinKind::Even && is_wide(call.source.dtype()) &&
                (target.device->f64 || call.source.dtype() == dtype_of<double>())),
          positions_(call.rows, {&call.source, call.weights ? &*call.weights : &call.source}) {}

    void identify(KernelKey& key) const override {
        key.add(call_.bins.kind())
            .add(wide_)
            .add(never_outside())
            .add(exact_count())
            .add(few_bins())
            .add(call_.weights.has_value());
        positions_.identify(key);
        call_.source.identify(key);
        if (call_.weights) call_.weights->identify(key);
        if (call_.bins.edges()) call_.bins.edges()->identify(key);
    }
    [[nodiscard]] DeclaredElements declare(ParameterList& list) const override {
        RowPositions positions = positions_;
        positions.declare(list);
        const LoadElement load = call_.source.declare(list);
        DeclaredElements declared;
        if (call_.weights) {
            declared.weight = [positions, load = call_.weights->declare(list)](const Value<u32>& row,
                                                                               const Value<u32>& i) {
                return load(positions.at(row, i));
            };
        }
        declared.bin = [positions, load, bin = declare_bins(list)](const Value<u32>& row,
                                                                   const Value<u32>& i) {
            return bin(load(positions.at(row, i)));
        };
        return declared;
    }
    void add_arguments(std::vector<AnyArgument>& arguments) const override {
        positions_.add_arguments(arguments);
        call_.source.add_arguments(arguments);
        if (call_.weights) call_.weights->add_arguments(arguments);
        const HistogramBins& bins = call_.bins;
        if (bins.edges()) bins.edges()->add_arguments(arguments);
        if (bins.kind() == BinKind::Even) {
            const double scale = bins.count() / (bins.high() - bins.low());
            for (const double x : {bins.low(), bins.high(), scale}) {
                if (wide_)
                    arguments.emplace_back(x);
                else
                    arguments.emplace_back(static_cast<float>(x));
            }
        }
        arguments.emplace_back(bins.count());
        if (bins.edges()) arguments.emplace_back(std::bit_floor(bins.count() + 1));
    }
    [[nodiscard]] bool is_costly() const override { return call_.bins.kind() == BinKind::Edges; }

private:
    using BinOf = std::function<BinnedElement(const AnyValue&)>;

    /// Returns whether no element can be outside the bins.
    [[nodiscard]] bool never_outside() const {
        if (call_.bins.kind() != BinKind::Keys) return false;
        const ScalarType type = call_.source.dtype().scalar();
        const unsigned bits = type == ScalarType::Bool ? 1 : bits_of(type);
        return !is_signed_integer(type) && bits < 32 && call_.bins.count() >= 1U << bits;
    }

    /// Returns whether the number of bins is exact as a float.
    [[nodiscard]] bool exact_count() const { return wide_ || call_.bins.count() <= 1U << 24U; }

    /// Returns whether the numbers of bins have 22 bits.
    [[nodiscard]] bool few_bins() const { return call_.bins.count() <= 1U << 22U; }

    [[nodiscard]] BinOf declare_bins(ParameterList& list) const {
        switch (call_.bins.kind()) {
            case BinKind::Even: return wide_ ? declare_even<double>(list) : declare_even<float>(list);
            case BinKind::Edges: return declare_edges(list);
            case BinKind::Keys: break;
        }
        return declare_keys(list);
    }

    template <class F>
    [[nodiscard]] BinOf declare_even(ParameterList& list) const {
        const Value<F> low = list.value<F>(), high = list.value<F>(), scale = list.value<F>();
        const Value<u32> count = list.value<u32>();
        const Value<F> most = cast<F>(count - 1U);
        const bool exact = exact_count(), few = few_bins();
        return [=](const AnyValue& element) -> BinnedElement {
            const Value<F> x = convert(element, dtype_of<F>()).template as<F>();
            // The minimum of floats is an instruction; that of integers would often be a branch.
            const Value<F> place = (x - low) * scale;
            const Value<F> in_range = select(place < most, place, most);
            if constexpr (sizeof(F) == sizeof(float)) {
                if (few) {
                    // The low bits of 2^23 + n are n. Takes fewer instructions than a saturating conversion.
                    const Value<u32> bits = bit_cast<u32>(floor(in_range) + 0x1p23F);
                    return {bits & 0x7F'FFFFU, x >= low && x <= high};
                }
            }
            const Value<u32> bin = cast<u32>(in_range);
            return {exact ? bin : min(bin, count - 1U), x >= low && x <= high};
        };
    }

    [[nodiscard]] BinOf declare_edges(ParameterList& list) const {
        const LoadElement load = call_.bins.edges()->declare(list);
        const Value<u32> count = list.value<u32>(), largest = list.value<u32>();
        return [load, count, largest](const AnyValue& x) -> BinnedElement {
            // `first` edges are known to be at or below x. The steps do not depend on x.
            Var<u32> first = 0U, step = largest;
            $while (step > 0U) {
                const Value<u32> next = Value<u32>(first) + step;
                const Value<u32> probed = min(next, count + 1U) - 1U;
                const Value<bool> passes =
                    next <= count + 1U && compare(ir::Op::Le, load(Position(probed)), x);
                first = select(passes, next, Value<u32>(first));
                step = Value<u32>(step) >> 1U;
            }
            const Value<u32> above = first;
            const Value<bool> at_end = compare(ir::Op::Eq, load(Position(count)), x);
            return {select(at_end, count - 1U, above - 1U), at_end || (above > 0U && above <= count)};
        };
    }

    [[nodiscard]] BinOf declare_keys(ParameterList& list) const {
        const Value<u32> count = list.value<u32>();
        const bool never = never_outside();
        return [count, never](const AnyValue& key) -> BinnedElement {
            const ScalarType type = key.dtype().scalar();
            if (type == ScalarType::U64 || type == ScalarType::I64) {
                const Value<u64> wide = convert(key, dtype_of<u64>()).as<u64>();
                return {cast<u32>(wide), wide < cast<u64>(count)};
            }
            // Negative keys become large ones.
            const Value<u32> bin = convert(key, dtype_of<u32>()).as<u32>();
            if (never) return {bin, std::nullopt};
            const Value<bool> counts = bin < count;
            if (!is_signed_integer(type)) return {bin, counts};
            return {bin, counts && compare(ir::Op::Ge, key, zero_of(key.dtype()))};
        };
    }

    const HistogramCall& call_;
    bool wide_;
    RowPositions positions_;
};

Event HistogramCall::run(const AnySink& to, const Execution& execution) const {
    if (shape.elements() == 0) return {};
    Event done;
    for (const Target& target : execution.targets()) {
        HistogramCall read = *this;
        if (algorithms::copies_rows(source, rows)) {
            const algorithms::RowSource copy = algorithms::rows_to_read(execution, target, source, rows);
            read.source = copy.source;
            read.rows = copy.rows;
            if (weights) {
                // A contiguous one is copied too: both have one order.
                const AnyBuffer moved = execution.scratch(weights->dtype(), copy.rows.shape);
                const int rank = rows.shape.rank();
                transpose(moved, *weights,
                          {.axes = detail::moved_axis(rank, rows.axis, rank - 1), .queue = target.queue});
                read.weights = AnySource(moved);
            }
        }
        const HistogramRows elements(read, target);
        done = algorithms::count_tables(execution, target,
                                        {.elements = elements,
                                         .rows = rows.count,
                                         .length = rows.length,
                                         .bins = bins.count(),
                                         .weighted = weights.has_value(),
                                         .results = {to, rows.axis}},
                                        options.tuning);
    }
    return done;
}

Event run_histogram(const AnySink& to, const AnySource& from, const HistogramBins& bins,
                    const std::optional<AnySource>& weights, const HistogramOptions& options) {
    const HistogramCall call(from, bins, weights, options);
    algorithms::check_sink(to, call.type(), call.shape, histogram_name);
    algorithms::check_no_overlap(to, from, false, histogram_name);
    if (weights) algorithms::check_no_overlap(to, *weights, false, histogram_name);
    if (bins.edges()) algorithms::check_no_overlap(to, *bins.edges(), false, histogram_name);
    return call.run(to, call.execution({&to}));
}

void check_bin_count(std::uint32_t count, std::string_view name) {
    // The number of bins, and that of edges, are positive 32-bit integers.
    if (count >= 1 && count <= std::numeric_limits<std::int32_t>::max()) return;
    fail(ErrorCode::InvalidArgument, cat("a histogram cannot have ", count, " bins"), name,
         "use 1 to 2147483647 bins");
}

}  // namespace

HistogramBins even_bins(std::uint32_t count, double low, double high) {
    check_bin_count(count, "even_bins");
    if (!(low < high) || !std::isfinite(low) || !std::isfinite(high) || !std::isfinite(high - low) ||
        !std::isfinite(count / (high - low))) {
        fail(ErrorCode::InvalidArgument, cat("the range of the bins, ", low, " to ", high, ", is not valid"),
             "even_bins", "use finite numbers, the lower one first");
    }
    HistogramBins bins(HistogramBins::Kind::Even, count);
    bins.low_ = low;
    bins.high_ = high;
    return bins;
}

HistogramBins edge_bins(const AnySource& edges) {
    if (edges.shape().rank() != 1 || edges.size() < 2) {
        fail(ErrorCode::InvalidShape,
             cat("edges of the shape ", edges.shape().to_string(), " do not enclose bins"), "edge_bins",
             "use an array with one axis and at least two elements");
    }
    check_bin_count(static_cast<std::uint32_t>(edges.size() - 1), "edge_bins");
    HistogramBins bins(HistogramBins::Kind::Edges, static_cast<std::uint32_t>(edges.size() - 1));
    bins.edges_ = edges;
    return bins;
}

HistogramBins key_bins(std::uint32_t count) {
    check_bin_count(count, "key_bins");
    return {HistogramBins::Kind::Keys, count};
}

Event histogram(const AnySink& to, const AnySource& from, const HistogramBins& bins,
                const HistogramOptions& options) {
    return run_histogram(to, from, bins, std::nullopt, options);
}

Event detail::weighted_histogram(const AnySink& to, const AnySource& from, const HistogramBins& bins,
                                 const AnySource& weights, const HistogramOptions& options) {
    return run_histogram(to, from, bins, weights, options);
}

AnyBuffer detail::new_histogram(const AnySource& from, const HistogramBins& bins,
                                const std::optional<AnySource>& weights, const HistogramOptions& options) {
    const HistogramCall call(from, bins, weights, options);
    const Execution execution = call.execution();
    AnyBuffer result = execution.result(call.type(), call.shape);
    call.run(result, execution);
    return result;
}

}  // namespace volley
