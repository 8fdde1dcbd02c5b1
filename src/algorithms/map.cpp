// The shape of a map.
#include "core/fail.hpp"

#include <volley/algorithms/map.hpp>

namespace volley::detail {

Shape shape_of_map(const std::vector<AnyArgument>& arguments, unsigned indices) {
    for (const AnyArgument& argument : arguments) {
        if (!argument.is_buffer()) continue;
        const AnyBuffer& buffer = argument.buffer();
        if (indices == 1 && !buffer.is_contiguous()) {
            fail(ErrorCode::InvalidView, "a map with one index is used over a buffer that is not contiguous",
                 buffer.name(),
                 "declare one index per axis and access the buffer by position, a(y, x); or set the shape: "
                 "map(f).over(shape)(arguments...)");
        }
        return buffer.shape();
    }
    fail(ErrorCode::InvalidShape, "the shape of a map without buffers is unknown", "a map",
         "set it: map(f).over(shape)(arguments...)");
}

}  // namespace volley::detail
