// The weights of masked sums, and the reduction that they are.
#include "algorithms/execution.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/algorithms/masked_sum.hpp>

#include <vector>

namespace volley::detail {

AnySource weights_along(const AnySource& weights, const Shape& shape, const MaskedSumOptions& options) {
    constexpr std::string_view subject = "masked_sum";
    const int axis = algorithms::checked_axis(options.axis, shape.rank(), subject);
    if (weights.shape().rank() != 1 || weights.shape()[0] != shape[axis]) {
        fail(ErrorCode::SizeMismatch,
             cat("the weights have the shape ", weights.shape().to_string(), ", but axis ", axis,
                 " of the array has the length ", shape[axis]),
             subject, "pass one weight for each index of the axis");
    }
    std::vector<std::int64_t> extents(static_cast<std::size_t>(shape.rank()), 1);
    extents[static_cast<std::size_t>(axis)] = shape[axis];
    return weights.reshape(Shape(std::span<const std::int64_t>(extents)));
}

ReduceOptions reduction_along(const MaskedSumOptions& options) {
    return {.axes = {options.axis},
            .keepdims = options.keepdims,
            .queue = options.queue,
            .tuning = options.tuning};
}

}  // namespace volley::detail
