// Conversion between the row-major number of an element and its indices.
#include <volley/algorithms/position.hpp>
#include <volley/lang/operators.hpp>

#include <utility>

namespace volley {

Position::Position(std::vector<Value<u32>> indices, std::vector<Value<u32>> extents)
    : indices_(std::move(indices)), extents_(std::move(extents)) {}

Value<u32> Position::number() const {
    if (indices_.empty()) return Value<u32>(0U);
    // A Value cannot be assigned to, so a vector keeps the partial results.
    std::vector<Value<u32>> partial{indices_.front()};
    for (std::size_t k = 1; k < indices_.size(); ++k)
        partial.push_back(partial.back() * extents_[k] + indices_[k]);
    return partial.back();
}

Position position_of(const Value<u32>& number, const std::vector<Value<u32>>& extents) {
    std::vector<Value<u32>> reversed;
    std::vector<Value<u32>> rest{number};
    for (std::size_t k = extents.size(); k-- > 1;) {
        const Value<u32> quotient = rest.back() / extents[k];
        reversed.push_back(rest.back() - quotient * extents[k]);
        rest.push_back(quotient);
    }
    if (!extents.empty()) reversed.push_back(rest.back());
    return {std::vector<Value<u32>>(reversed.rbegin(), reversed.rend()), extents};
}

}  // namespace volley
