// Validation of array views and nested lists.
#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/array_view.hpp>
#include <volley/nested_list.hpp>

namespace volley::detail {

void check_view(const void* data, const Shape& shape, const Strides& strides, std::int64_t size) {
    if (shape.rank() != strides.rank()) {
        fail(ErrorCode::InvalidShape,
             cat("a view has ", shape.rank(), " axes and ", strides.rank(), " strides"),
             cat("shape ", shape.to_string(), ", strides ", strides.to_string()), "pass one stride per axis");
    }
    if (data == nullptr && size != 0) {
        fail(ErrorCode::InvalidArgument, "a non-empty view has a null data pointer",
             cat("shape ", shape.to_string()), "pass the address of the first element, or an empty shape");
    }
}

void fail_not_strided() {
    fail(ErrorCode::InvalidArgument, "the layout of the mdspan has no strides", "as_view",
         "use layout_right, layout_left or layout_stride");
}

namespace {

[[noreturn]] void fail_ragged(std::string_view what) {
    fail(ErrorCode::InvalidShape, what, "nested lists", "use lists of equal length at each level");
}

}  // namespace

void fail_ragged_row(std::size_t row, std::size_t elements, std::size_t expected) {
    fail_ragged(cat("row ", row, " has ", elements, " elements, row 0 has ", expected));
}

void fail_ragged_row(std::size_t plane, std::size_t row, std::size_t elements, std::size_t expected) {
    fail_ragged(cat("row ", row, " of plane ", plane, " has ", elements, " elements, row 0 of plane 0 has ",
                    expected));
}

void fail_ragged_plane(std::size_t plane, std::size_t rows, std::size_t expected) {
    fail_ragged(cat("plane ", plane, " has ", rows, " rows, plane 0 has ", expected));
}

}  // namespace volley::detail
