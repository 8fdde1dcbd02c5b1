// Arrays whose elements are those of another array, found by one rule per axis: parts, mirrored, rotated,
// padded and repeated arrays.
#include "algorithms/axis_rule.hpp"
#include "algorithms/execution.hpp"
#include "algorithms/source_node.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/algorithms/rearrange.hpp>
#include <volley/lang/control.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace volley {
namespace {

using algorithms::AxisRule;
using algorithms::RulePart;
using Extents = std::vector<std::int64_t>;

Shape shape_of(const Extents& extents) { return Shape(std::span<const std::int64_t>(extents)); }

class RearrangedSource final : public detail::SourceNode {
public:
    /// One rule per axis of the source. The fill is for AxisRule::Kind::Constant.
    RearrangedSource(const AnySource& source, const Shape& shape, std::vector<AxisRule> rules,
                     std::optional<AnyArgument> fill)
        : SourceNode(source.dtype(), shape),
          source_(source),
          rules_(std::move(rules)),
          fill_(std::move(fill)) {}

    [[nodiscard]] bool is_flat() const noexcept override { return false; }
    [[nodiscard]] bool moves_elements() const noexcept override { return true; }
    void identify(KernelKey& key) const override {
        key.add(detail::ArrangedKind::Rearranged).add(rules_.size()).add(fill_.has_value());
        for (const AxisRule& rule : rules_) rule.identify(key);
        source_.identify(key);
    }
    void add_arguments(std::vector<AnyArgument>& arguments) const override {
        detail::add_extents(arguments, source_.shape());
        for (const AxisRule& rule : rules_) rule.add_arguments(arguments);
        if (fill_) arguments.push_back(*fill_);
        source_.add_arguments(arguments);
    }
    [[nodiscard]] LoadElement declare(ParameterList& parameters) const override {
        std::vector<Value<u32>> extents = detail::declare_extents(parameters, source_.shape().rank());
        std::vector<algorithms::DeclaredRule> rules;
        for (const AxisRule& rule : rules_) rules.emplace_back(parameters, rule);
        std::vector<AnyValue> fill;  // none or one
        if (fill_) fill.push_back(parameters.value(type()));
        return [extents = std::move(extents), rules = std::move(rules), fill = std::move(fill),
                load = source_.declare(parameters)](const Position& at) {
            const Value<u32> nowhere(0U);
            std::vector<Value<u32>> indices;
            std::vector<Value<bool>> inside;  // all conditions so far, the last one
            for (const algorithms::DeclaredRule& rule : rules) {
                const Value<u32>& i = rule.from() < 0 ? nowhere : at[rule.from()];
                indices.push_back(rule.index(i));
                const std::optional<Value<bool>> condition = rule.inside(i);
                if (condition) inside.push_back(inside.empty() ? *condition : inside.back() && *condition);
            }
            const Position from(std::move(indices), extents);
            if (inside.empty()) return load(from);
            // Not select(): the load may be a map with effects that only elements of the array have.
            AnyVar element(fill.front());
            $if (inside.back()) {
                element = load(from);
            }
            return element.load();
        };
    }
    [[nodiscard]] std::vector<std::int64_t> breaks(int axis) const override;
    [[nodiscard]] std::optional<AnySource> part(int axis, std::int64_t begin,
                                                std::int64_t length) const override;
    [[nodiscard]] std::optional<AnySource> reshaped() const override;
    [[nodiscard]] std::shared_ptr<const SourceNode> with_shape(const Shape&) const override {
        return nullptr;  // not called: never flat
    }

private:
    // Whether each axis of the result is one of the source.
    [[nodiscard]] bool keeps_axes() const {
        for (std::size_t axis = 0; axis < rules_.size(); ++axis)
            if (std::cmp_not_equal(rules_[axis].from, axis)) return false;
        return std::cmp_equal(rules_.size(), shape().rank());
    }
    [[nodiscard]] std::optional<AnySource> merged() const;
    [[nodiscard]] std::optional<AnySource> split() const;

    AnySource source_;
    std::vector<AxisRule> rules_;
    std::optional<AnyArgument> fill_;
};

AnySource rearranged(const AnySource& source, const Shape& shape, std::vector<AxisRule> rules,
                     std::optional<AnyArgument> fill = {}) {
    detail::check_countable(shape, "a rearranged array");
    const bool same = shape == source.shape() && std::ranges::all_of(rules, [](const AxisRule& r) {
                          return r.kind == AxisRule::Kind::Whole;
                      });
    if (same) return source;
    if (source.node().is_uniform() && !fill) return AnySource(source.node().with_shape(shape));
    const bool constant =
        std::ranges::any_of(rules, [](const AxisRule& r) { return r.kind == AxisRule::Kind::Constant; });
    if (!constant) fill.reset();
    return AnySource(std::make_shared<RearrangedSource>(source, shape, std::move(rules), std::move(fill)));
}

// Only along the last axis, whose elements are neighbours in vectors.
std::vector<std::int64_t> RearrangedSource::breaks(int axis) const {
    std::vector<std::int64_t> places;
    if (axis != shape().rank() - 1) return places;
    for (const AxisRule& rule : rules_) {
        if (rule.from != axis) continue;
        for (const RulePart& part : rule.parts(shape()[axis]))
            if (part.begin > 0) places.push_back(part.begin);
    }
    return places;
}

std::optional<AnySource> RearrangedSource::part(int axis, std::int64_t begin, std::int64_t length) const {
    Extents extents(shape().begin(), shape().end());
    extents[static_cast<std::size_t>(axis)] = length;
    std::vector<AxisRule> rules = rules_;
    for (AxisRule& rule : rules) {
        if (rule.from != axis) continue;
        std::int64_t place = begin;
        for (const RulePart& part : rule.parts(shape()[axis])) {
            if (begin < part.begin || begin + length > part.begin + part.length) continue;
            if (!part.rule) return AnySource::filled(shape_of(extents), *fill_);
            place -= part.begin;
            rule = *part.rule;
            break;
        }
        const std::optional<AxisRule> moved = rule.from_place(place);
        if (!moved) return std::nullopt;
        rule = *moved;
    }
    return rearranged(source_, shape_of(extents), std::move(rules), fill_);
}

std::optional<AnySource> RearrangedSource::reshaped() const {
    if (!keeps_axes()) return std::nullopt;
    if (const std::optional<AnySource> simpler = merged()) return simpler;
    return split();
}

// The places in a long period, or in a long repetition, are an axis of their own: no division, and neighbours
// are read together.
std::optional<AnySource> RearrangedSource::split() const {
    using Kind = AxisRule::Kind;
    constexpr std::int64_t long_block = 64;
    if (shape().rank() == max_rank) return std::nullopt;
    for (std::size_t axis = 0; axis < rules_.size(); ++axis) {
        const Kind kind = rules_[axis].kind;
        const std::int64_t block = rules_[axis].count;
        if ((kind != Kind::Tiled && kind != Kind::Repeated) || block < long_block) continue;
        Extents extents(shape().begin(), shape().end());
        extents[axis] /= block;
        extents.insert(extents.begin() + static_cast<std::ptrdiff_t>(axis) + 1, block);
        std::vector<AxisRule> rules = rules_;
        for (std::size_t k = axis; k < rules.size(); ++k) ++rules[k].from;
        rules[axis] = {.kind = Kind::Whole, .from = static_cast<int>(axis) + (kind == Kind::Tiled ? 1 : 0)};
        return rearranged(source_, shape_of(extents), std::move(rules), fill_);
    }
    return std::nullopt;
}

// An axis can take the whole axes after it if blocks of their elements stay together and in order.
std::optional<AnySource> RearrangedSource::merged() const {
    using Kind = AxisRule::Kind;
    if (!source_.is_flat()) return std::nullopt;
    const auto keeps_blocks = [](Kind kind) {
        return kind == Kind::Whole || kind == Kind::Shifted || kind == Kind::Rolled || kind == Kind::Tiled ||
               kind == Kind::Constant || kind == Kind::Wrapped || kind == Kind::WrappedFar;
    };
    Extents from, to;
    std::vector<AxisRule> rules;  // all from the last axis to the first
    for (std::size_t axis = rules_.size(); axis-- > 0;) {
        const std::int64_t from_extent = source_.shape()[static_cast<int>(axis)];
        const std::int64_t to_extent = shape()[static_cast<int>(axis)];
        AxisRule rule = rules_[axis];
        const bool block_follows =
            !rules.empty() && rules.back().kind == Kind::Whole && from.back() == to.back();
        if (block_follows && keeps_blocks(rule.kind)) {
            const auto elements = static_cast<std::uint32_t>(from.back());
            rule.first *= elements;
            rule.count *= elements;
            rules.back() = rule;
            from.back() *= from_extent;
            to.back() *= to_extent;
        } else {
            rules.push_back(rule);
            from.push_back(from_extent);
            to.push_back(to_extent);
        }
    }
    if (rules.size() == rules_.size()) return std::nullopt;
    std::ranges::reverse(from);
    std::ranges::reverse(to);
    std::ranges::reverse(rules);
    for (std::size_t axis = 0; axis < rules.size(); ++axis) rules[axis].from = static_cast<int>(axis);
    return rearranged(source_.reshape(shape_of(from)), shape_of(to), std::move(rules), fill_);
}

std::vector<AxisRule> whole_axes(int rank, int first = 0) {
    std::vector<AxisRule> rules(static_cast<std::size_t>(rank));
    for (int axis = 0; axis < rank; ++axis) rules[static_cast<std::size_t>(axis)].from = first + axis;
    return rules;
}

std::string counted(std::size_t count, std::string_view noun) {
    return cat(count, " ", noun, count == 1 ? " was" : "s were", " given");
}

AxisRule pad_rule(PadMode mode, int axis, std::int64_t extent, const PadWidth& width) {
    using Kind = AxisRule::Kind;
    AxisRule rule{.kind = Kind::Whole, .from = axis};
    if (width.before == 0 && width.after == 0) return rule;
    rule.first = static_cast<std::uint32_t>(width.before);
    rule.count = static_cast<std::uint32_t>(extent);
    const std::int64_t widest = std::max(width.before, width.after);
    switch (mode) {
        case PadMode::Constant: rule.kind = Kind::Constant; break;
        case PadMode::Edge: rule.kind = Kind::Edge; break;
        case PadMode::Wrap: rule.kind = widest <= extent ? Kind::Wrapped : Kind::WrappedFar; break;
        case PadMode::Symmetric: rule.kind = widest <= extent ? Kind::Symmetric : Kind::SymmetricFar; break;
        case PadMode::Reflect:
            rule.kind = extent == 1 ? Kind::Edge : widest < extent ? Kind::Reflected : Kind::ReflectedFar;
            break;
    }
    return rule;
}

Event write_rearranged(const AnySink& to, const AnySource& from, const std::optional<Queue>& queue,
                       std::string_view algorithm) {
    algorithms::check_sink(to, from.dtype(), from.shape(), algorithm);
    algorithms::check_no_overlap(to, from, false, algorithm);
    return transform(to, from, {.queue = queue});
}

template <class T, class N>
AnyArgument pad_number(DType type, N number) {
    const T converted = static_cast<T>(number);
    if (type.is_scalar()) return {type, &converted};
    const T parts[2] = {converted, T(0.F)};
    return {type, parts};
}

template <class N>
AnyArgument pad_number_of(DType type, N number) {
    switch (type.scalar()) {
        case ScalarType::Bool: return pad_number<bool>(type, number);
        case ScalarType::I8: return pad_number<std::int8_t>(type, number);
        case ScalarType::U8: return pad_number<std::uint8_t>(type, number);
        case ScalarType::I16: return pad_number<std::int16_t>(type, number);
        case ScalarType::U16: return pad_number<std::uint16_t>(type, number);
        case ScalarType::I32: return pad_number<std::int32_t>(type, number);
        case ScalarType::U32: return pad_number<std::uint32_t>(type, number);
        case ScalarType::I64: return pad_number<std::int64_t>(type, number);
        case ScalarType::U64: return pad_number<std::uint64_t>(type, number);
        case ScalarType::F16: return pad_number<half>(type, static_cast<double>(number));
        case ScalarType::F32: return pad_number<float>(type, number);
        case ScalarType::F64: return pad_number<double>(type, number);
    }
    return pad_number<double>(type, number);
}

// Whether a whole number fits an integer type or bool.
bool holds(ScalarType type, std::uint64_t number, bool negative) {
    if (type == ScalarType::Bool) return number <= 1;
    const unsigned value_bits = bits_of(type) - (is_signed_integer(type) ? 1U : 0U);
    const std::uint64_t greatest = std::numeric_limits<std::uint64_t>::max() >> (64U - value_bits);
    return negative ? is_signed_integer(type) && ~number <= greatest : number <= greatest;
}

}  // namespace

AnyArgument PadValue::as(DType type) const {
    if (given_.dtype() == type) return given_;
    if (kind_ == Kind::Whole && bits_ == 0) return {type, std::vector<std::byte>(type.size()).data()};
    const bool number = kind_ != Kind::Other && (type.is_scalar() || type.is_complex());
    const bool real = is_float(type.scalar());
    if (!number || (kind_ == Kind::Real && !real)) {
        fail(ErrorCode::TypeMismatch,
             cat("a value of type ", given_.dtype().name(), " cannot be an element of type ", type.name()),
             "pad", "use a value of the element type, or convert the array");
    }
    const bool negative = kind_ == Kind::Negative;
    if (!real) detail::check_fits(holds(type.scalar(), bits_, negative), type);
    if (kind_ == Kind::Real) return pad_number_of(type, real_);
    if (negative) return pad_number_of(type, static_cast<std::int64_t>(bits_));
    return pad_number_of(type, bits_);
}

AnySource detail::selected(const AnySource& source, const Selection& selection) {
    using Kind = AxisRule::Kind;
    constexpr std::string_view subject = "a lazy array";
    if (source.buffer() != nullptr) return source.buffer()->sub(selection);
    const int rank = source.shape().rank();
    std::vector<AxisRule> rules(static_cast<std::size_t>(rank));
    Shape shape = source.shape();
    Strides unused(std::span<const std::int64_t>(Extents(static_cast<std::size_t>(rank))));
    static_cast<void>(select(shape, unused, selection, subject));
    for (int axis = 0; axis < rank; ++axis) {
        // With stride 1 along one axis and 0 along the others, the offset is where that axis starts.
        AxisRule& rule = rules[static_cast<std::size_t>(axis)];
        Extents units(static_cast<std::size_t>(rank));
        units[static_cast<std::size_t>(axis)] = 1;
        Shape part = source.shape();
        Strides steps{std::span<const std::int64_t>(units)};
        rule.first = static_cast<std::uint32_t>(select(part, steps, selection, subject));
        rule.kind = Kind::Fixed;
        for (int k = 0; k < part.rank(); ++k) {
            if (steps[k] == 0) continue;
            rule.from = k;
            rule.step = static_cast<std::uint32_t>(steps[k]);
            rule.kind = rule.step != 1 ? Kind::Stepped : rule.first != 0 ? Kind::Shifted : Kind::Whole;
        }
    }
    return rearranged(source, shape, std::move(rules));
}

AnySource detail::part_of(const AnySource& source, int axis, std::int64_t begin, std::int64_t length) {
    if (length == source.shape()[axis]) return source;
    if (const std::optional<AnySource> part = source.node().part(axis, begin, length)) return *part;
    std::vector<Selector> place(static_cast<std::size_t>(axis));
    place.emplace_back(slice(begin, begin + length));
    return selected(source, Selection(place));
}

AnySource detail::flipped(const AnySource& source, const std::vector<int>& axes) {
    const int rank = source.shape().rank();
    const std::vector<bool> chosen = algorithms::checked_axes(axes, rank, "flip");
    std::vector<AxisRule> rules = whole_axes(rank);
    for (int axis = 0; axis < rank; ++axis) {
        if (!chosen[static_cast<std::size_t>(axis)] || source.shape()[axis] <= 1) continue;
        AxisRule& rule = rules[static_cast<std::size_t>(axis)];
        rule.kind = AxisRule::Kind::Reversed;
        rule.first = static_cast<std::uint32_t>(source.shape()[axis] - 1);
    }
    return rearranged(source, source.shape(), std::move(rules));
}

AnySource detail::rolled(const AnySource& source, const std::vector<std::int64_t>& shifts,
                         const std::vector<int>& axes) {
    constexpr std::string_view subject = "roll";
    const int rank = source.shape().rank();
    if (axes.empty() || (shifts.size() != 1 && shifts.size() != axes.size())) {
        fail(ErrorCode::InvalidArgument,
             cat(counted(shifts.size(), "shift"), " for ", axes.size(), axes.size() == 1 ? " axis" : " axes"),
             subject, "name at least one axis, and give one shift for each or one for all");
    }
    static_cast<void>(algorithms::checked_axes(axes, rank, subject));
    std::vector<AxisRule> rules = whole_axes(rank);
    for (std::size_t k = 0; k < axes.size(); ++k) {
        const int axis = algorithms::checked_axis(axes[k], rank, subject);
        const std::int64_t extent = source.shape()[axis];
        if (extent <= 1) continue;
        const std::int64_t rest = shifts[shifts.size() == 1 ? 0 : k] % extent;
        if (rest == 0) continue;
        AxisRule& rule = rules[static_cast<std::size_t>(axis)];
        rule.kind = AxisRule::Kind::Rolled;
        rule.first = static_cast<std::uint32_t>(rest < 0 ? rest + extent : rest);
        rule.count = static_cast<std::uint32_t>(extent);
    }
    return rearranged(source, source.shape(), std::move(rules));
}

AnySource detail::padded(const AnySource& source, const std::vector<PadWidth>& widths, PadMode mode,
                         const PadValue& value) {
    constexpr std::string_view subject = "pad";
    constexpr std::int64_t widest = std::numeric_limits<std::uint32_t>::max();
    const int rank = source.shape().rank();
    if (widths.size() != 1 && std::cmp_not_equal(widths.size(), rank)) {
        fail(ErrorCode::InvalidArgument,
             cat(counted(widths.size(), "width"), " for an array with ", rank,
                 rank == 1 ? " dimension" : " dimensions"),
             subject, "give one width {before, after} for each axis, or one for all");
    }
    std::vector<AxisRule> rules;
    Extents extents;
    for (int axis = 0; axis < rank; ++axis) {
        const PadWidth& width = widths[widths.size() == 1 ? 0 : static_cast<std::size_t>(axis)];
        const std::int64_t extent = source.shape()[axis];
        if (width.before < 0 || width.after < 0 || width.before > widest || width.after > widest) {
            fail(ErrorCode::InvalidArgument,
                 cat("the width {", width.before, ", ", width.after, "} of axis ", axis, " is out of range"),
                 subject, "use widths from 0 to 4294967295; sub() removes elements");
        }
        if (extent == 0 && mode != PadMode::Constant && width.before + width.after > 0) {
            fail(ErrorCode::InvalidShape, cat("axis ", axis, " has no elements to extend"), subject,
                 "use PadMode::Constant");
        }
        rules.push_back(pad_rule(mode, axis, extent, width));
        extents.push_back(extent + width.before + width.after);
    }
    std::optional<AnyArgument> fill;
    if (mode == PadMode::Constant) fill = value.as(source.dtype());
    return rearranged(source, shape_of(extents), std::move(rules), std::move(fill));
}

AnySource detail::repeated(const AnySource& source, std::int64_t count, int axis) {
    constexpr std::string_view subject = "repeat";
    const int rank = source.shape().rank(), chosen = algorithms::checked_axis(axis, rank, subject);
    constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
    if (count < 0 || count > most) {
        fail(ErrorCode::InvalidArgument, cat("the count ", count, " is out of range"), subject,
             "use a count from 0 to 4294967295");
    }
    Extents extents(source.shape().begin(), source.shape().end());
    extents[static_cast<std::size_t>(chosen)] *= count;
    std::vector<AxisRule> rules = whole_axes(rank);
    if (count != 1) {
        AxisRule& rule = rules[static_cast<std::size_t>(chosen)];
        rule.kind = AxisRule::Kind::Repeated;
        rule.count = static_cast<std::uint32_t>(count);
    }
    return rearranged(source, shape_of(extents), std::move(rules));
}

AnySource detail::tiled(const AnySource& source, const std::vector<std::int64_t>& counts) {
    constexpr std::string_view subject = "tile";
    constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();
    const int rank = source.shape().rank();
    const int to_rank = std::max(rank, static_cast<int>(counts.size()));
    const int given = static_cast<int>(counts.size());
    Extents extents;
    std::vector<AxisRule> rules = whole_axes(rank, to_rank - rank);
    for (int axis = 0; axis < to_rank; ++axis) {
        const int from = axis - (to_rank - rank), which = axis - (to_rank - given);
        const std::int64_t extent = from < 0 ? 1 : source.shape()[from];
        const std::int64_t count = which < 0 ? 1 : counts[static_cast<std::size_t>(which)];
        if (count < 0 || count > most) {
            fail(ErrorCode::InvalidArgument, cat("the count ", count, " is out of range"), subject,
                 "use counts from 0 to 4294967295");
        }
        extents.push_back(extent * count);
        if (from < 0 || count == 1 || extent == 0) continue;
        AxisRule& rule = rules[static_cast<std::size_t>(from)];
        rule.kind = extent == 1 ? AxisRule::Kind::Fixed : AxisRule::Kind::Tiled;
        rule.count = static_cast<std::uint32_t>(extent);
    }
    return rearranged(source, shape_of(extents), std::move(rules));
}

Event flip(const AnySink& to, const AnySource& from, const FlipOptions& options) {
    return write_rearranged(to, detail::flipped(from, options.axes), options.queue, "flip");
}

Event roll(const AnySink& to, const AnySource& from, const RollOptions& options) {
    return write_rearranged(to, detail::rolled(from, options.shifts, options.axes), options.queue, "roll");
}

Event pad(const AnySink& to, const AnySource& from, const PadOptions& options) {
    return write_rearranged(to, detail::padded(from, options.widths, options.mode, options.value),
                            options.queue, "pad");
}

Event repeat(const AnySink& to, const AnySource& from, const RepeatOptions& options) {
    return write_rearranged(to, detail::repeated(from, options.count, options.axis), options.queue, "repeat");
}

Event tile(const AnySink& to, const AnySource& from, const TileOptions& options) {
    return write_rearranged(to, detail::tiled(from, options.counts), options.queue, "tile");
}

}  // namespace volley
