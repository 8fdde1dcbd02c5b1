// Ranges of numbers, which are computed from the row-major number of an element.
#include "algorithms/source_node.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/algorithms/ranges.hpp>
#include <volley/lang/cast.hpp>
#include <volley/lang/operators.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace volley {
namespace {

constexpr std::string_view range_name = "arange";
constexpr std::string_view spaced_name = "linspace";

/// Element i is first + i * step in the first `half` elements, and last - (end - i) * step in the others.
class RangeSource final : public detail::SourceNode {
public:
    struct Numbers {
        AnyArgument first;
        AnyArgument step;
        std::optional<AnyArgument> last = {};  ///< unset: all elements are computed from the first
        u32 half = 0;
        u32 end = 0;
    };

    RangeSource(DType type, const Shape& shape, Numbers numbers)
        : SourceNode(type, shape), numbers_(std::move(numbers)) {}

    [[nodiscard]] bool is_flat() const noexcept override { return true; }
    void identify(KernelKey& key) const override {
        key.add(detail::ArrangedKind::Range).add(type()).add(numbers_.last.has_value());
    }
    void add_arguments(std::vector<AnyArgument>& arguments) const override {
        arguments.push_back(numbers_.first);
        arguments.push_back(numbers_.step);
        if (!numbers_.last) return;
        arguments.push_back(*numbers_.last);
        arguments.emplace_back(numbers_.half);
        arguments.emplace_back(numbers_.end);
    }
    [[nodiscard]] LoadElement declare(ParameterList& parameters) const override {
        const DType computed = numbers_.first.dtype();
        const AnyValue first = parameters.value(computed), step = parameters.value(computed);
        if (!numbers_.last) {
            return [type = type(), computed, first, step](const Position& at) {
                return convert(first + convert(at.number(), computed) * step, type);
            };
        }
        const AnyValue last = parameters.value(computed);
        const Value<u32> half = parameters.value<u32>(), end = parameters.value<u32>();
        return [type = type(), computed, first, step, last, half, end](const Position& at) {
            const Value<u32> i = at.number();
            const AnyValue from_first = first + convert(i, computed) * step;
            const AnyValue from_last = last - convert(end - i, computed) * step;
            return convert(select(i < half, from_first, from_last), type);
        };
    }
    [[nodiscard]] std::shared_ptr<const SourceNode> with_shape(const Shape& shape) const override {
        return std::make_shared<RangeSource>(type(), shape, numbers_);
    }

private:
    Numbers numbers_;
};

void check_step(bool zero) {
    if (!zero) return;
    fail(ErrorCode::InvalidArgument, "the step is 0", range_name, "use a positive or negative step");
}

std::int64_t whole_length(std::uint64_t distance, std::uint64_t step) {
    const std::uint64_t length = distance == 0 ? 0 : (distance - 1) / step + 1;
    constexpr std::uint64_t most = std::uint64_t{1} << 62U;  // no array has as many: refused later
    return static_cast<std::int64_t>(std::min(length, most));
}

}  // namespace

std::int64_t detail::range_length(std::int64_t first, std::int64_t end, std::int64_t step) {
    check_step(step == 0);
    const auto a = static_cast<std::uint64_t>(first), b = static_cast<std::uint64_t>(end);
    const auto by = static_cast<std::uint64_t>(step);
    if (step > 0) return first < end ? whole_length(b - a, by) : 0;
    return end < first ? whole_length(a - b, 0 - by) : 0;
}

std::int64_t detail::range_length(std::uint64_t first, std::uint64_t end, std::int64_t step) {
    check_step(step == 0);
    const auto by = static_cast<std::uint64_t>(step);
    if (step > 0) return first < end ? whole_length(end - first, by) : 0;
    return end < first ? whole_length(first - end, 0 - by) : 0;
}

std::int64_t detail::range_length(double first, double end, double step) {
    check_step(step == 0);
    const double length = std::ceil((end - first) / step);
    if (!std::isfinite(first) || !std::isfinite(step) || !std::isfinite(length)) {
        fail(ErrorCode::InvalidArgument, cat("there is no range from ", first, " to ", end, " by ", step),
             range_name, "use finite numbers");
    }
    return length <= 0 ? 0 : static_cast<std::int64_t>(std::min(length, 0x1p62));
}

AnySource detail::range_of(DType type, const AnyArgument& first, const AnyArgument& step,
                           std::int64_t count) {
    const Shape shape{count};
    check_countable(shape, range_name);
    return AnySource(
        std::make_shared<RangeSource>(type, shape, RangeSource::Numbers{.first = first, .step = step}));
}

AnySource detail::spaced(DType type, double first, double last, std::int64_t count, bool endpoint) {
    if (count < 0 || !std::isfinite(first) || !std::isfinite(last)) {
        fail(ErrorCode::InvalidArgument, cat("there are no ", count, " numbers from ", first, " to ", last),
             spaced_name, "use finite numbers, and a count that is not negative");
    }
    const Shape shape{count};
    check_countable(shape, spaced_name);
    const std::int64_t steps = endpoint ? count - 1 : count;
    // Not (last - first) / steps, which may overflow.
    const double step =
        steps > 0 ? last / static_cast<double>(steps) - first / static_cast<double>(steps) : 0;
    const auto number = [&](double value) -> AnyArgument {
        if (type == dtype_of<double>()) return value;
        return static_cast<float>(value);
    };
    return AnySource(
        std::make_shared<RangeSource>(type, shape,
                                      RangeSource::Numbers{.first = number(first),
                                                           .step = number(step),
                                                           .last = number(last),
                                                           .half = static_cast<u32>((count + 1) / 2),
                                                           .end = static_cast<u32>(steps)}));
}

}  // namespace volley
