// Positions of the elements of lines.
#include "algorithms/lines.hpp"

#include "algorithms/source_node.hpp"

#include <volley/lang/operators.hpp>

#include <utility>

namespace volley::algorithms {

std::int64_t Lines::outer() const {
    std::int64_t product = 1;
    for (int k = 0; k < axis; ++k) product *= shape[k];
    return product;
}

std::int64_t Lines::inner() const {
    std::int64_t product = 1;
    for (int k = axis + 1; k < shape.rank(); ++k) product *= shape[k];
    return product;
}

void Lines::identify(KernelKey& key) const {
    key.add(flat).add(reverse).add(outer() == 1);
    if (!flat) key.add(shape.rank()).add(axis);
}

void Lines::add_arguments(std::vector<AnyArgument>& arguments) const {
    arguments.emplace_back(static_cast<u32>(length()));
    arguments.emplace_back(static_cast<u32>(inner()));
    if (!flat) detail::add_extents(arguments, shape);
}

DeclaredLines::DeclaredLines(ParameterList& parameters, const Lines& lines, bool unit, u32 aligned)
    : axis_(lines.axis),
      flat_(lines.flat),
      unit_(unit),
      single_(lines.outer() == 1),
      reverse_(lines.reverse) {
    const Value<u32> length = parameters.value<u32>();
    // The product shows that lines start at multiples of `aligned`.
    numbers_.push_back(aligned > 1 ? length / aligned * aligned : length);
    numbers_.push_back(parameters.value<u32>());
    if (!flat_) extents_ = detail::declare_extents(parameters, lines.shape.rank());
}

Line DeclaredLines::line(const Value<u32>& outer, const Value<u32>& inner) const {
    std::vector<Value<u32>> sizes{this->inner()};
    if (reverse_) sizes.push_back(length() - 1U);
    if (flat_) {
        const Value<u32> across = unit_ ? Value<u32>(0U) : inner;
        if (single_) return {flat_, unit_, reverse_, {across}, {}, {}, std::move(sizes)};
        const Value<u32> first = outer * length();
        return {flat_, unit_, reverse_,        {unit_ ? first : first * this->inner() + across},
                {},    {},    std::move(sizes)};
    }
    const auto split = [](const Value<u32>& number, const std::vector<Value<u32>>& extents) {
        const Position position = position_of(number, extents);
        return std::vector<Value<u32>>(position.indices().begin(), position.indices().end());
    };
    const auto middle = extents_.begin() + axis_;
    return {flat_,
            unit_,
            reverse_,
            split(outer, {extents_.begin(), middle}),
            split(inner, {middle + 1, extents_.end()}),
            extents_,
            std::move(sizes)};
}

Position Line::at(const Value<u32>& k) const {
    const Value<u32> index = reverse_ ? sizes_[1] - k : k;
    if (flat_) return Position(before_[0] + (unit_ ? index : index * sizes_[0]));
    std::vector<Value<u32>> indices(before_);
    indices.push_back(index);
    for (const Value<u32>& x : after_) indices.push_back(x);
    return {std::move(indices), extents_};
}

}  // namespace volley::algorithms
