// The layout of RfftBuffer: shapes for in-place real transforms.
#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/rfft_buffer.hpp>

#include <algorithm>
#include <array>
#include <span>

namespace volley::detail {
namespace {

Shape with_last(const Shape& shape, std::int64_t last) {
    std::array<std::int64_t, max_rank> extents{};
    std::copy(shape.begin(), shape.end(), extents.begin());
    const std::span<std::int64_t> used(extents.data(), static_cast<std::size_t>(shape.rank()));
    used.back() = last;
    return Shape(used);
}

}  // namespace

Shape half_spectrum_shape(const Shape& real, std::string_view name) {
    if (real.rank() == 0 || real[real.rank() - 1] == 0) {
        fail(ErrorCode::InvalidShape, "a real transform requires a non-empty last axis",
             cat(name.empty() ? std::string("an RfftBuffer") : cat("buffer '", name, "'"), ", shape ",
                 real.to_string()),
             "use a shape such as {rows, n}");
    }
    return with_last(real, real[real.rank() - 1] / 2 + 1);
}

Shape padded_real_shape(const Shape& real, std::string_view name) {
    const Shape half = half_spectrum_shape(real, name);
    return with_last(real, checked_multiply(half[half.rank() - 1], 2, "the padded row of a real transform"));
}

}  // namespace volley::detail
