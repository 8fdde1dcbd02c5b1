// Overflow-checked arithmetic on shapes.
#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/shape.hpp>

namespace volley {
namespace {

std::string list(std::span<const std::int64_t> values) {
    std::string text = "(";
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i != 0) text += ", ";
        append(text, values[i]);
    }
    if (values.size() == 1) text += ',';  // distinguishes a shape from a number in parentheses
    return text + ")";
}

void check_same_rank(int a, int b, std::string_view what, const std::string& subject) {
    if (a == b) return;
    fail(ErrorCode::InvalidShape, cat(what, ": the ranks ", a, " and ", b, " differ"), subject,
         "pass one entry per dimension");
}

}  // namespace

void detail::fail_rank(std::size_t rank) {
    fail(ErrorCode::InvalidShape, cat("a shape cannot have ", rank, " dimensions"), "a shape",
         cat("use at most ", max_rank, ": merge contiguous dimensions"));
}

void detail::fail_negative_extent(std::int64_t extent) {
    fail(ErrorCode::InvalidShape, cat("the extent ", extent, " is negative"), "a shape",
         "use extents of zero or more");
}

void detail::fail_extent_overflow(std::uint64_t extent) {
    fail(ErrorCode::Overflow, cat("the extent ", extent, " does not fit in 63 bits"), "a shape",
         "check the expression for a negative value that was converted to unsigned");
}

std::int64_t checked_multiply(std::int64_t a, std::int64_t b, std::string_view what) {
    std::int64_t result = 0;
    if (!__builtin_mul_overflow(a, b, &result)) return result;
    fail(ErrorCode::Overflow, cat(what, " does not fit in 63 bits"), cat(a, " * ", b), "use smaller sizes");
}

std::int64_t checked_add(std::int64_t a, std::int64_t b, std::string_view what) {
    std::int64_t result = 0;
    if (!__builtin_add_overflow(a, b, &result)) return result;
    fail(ErrorCode::Overflow, cat(what, " does not fit in 63 bits"), cat(a, " + ", b), "use smaller sizes");
}

std::int64_t Shape::elements() const { return bytes(1); }

std::int64_t Shape::bytes(std::int64_t element_size) const {
    // An empty array has no bytes, even if the product of its other extents overflows.
    for (const std::int64_t extent : *this) {
        if (extent == 0) return 0;
    }
    std::int64_t product = element_size;
    for (const std::int64_t extent : *this) {
        if (__builtin_mul_overflow(product, extent, &product)) {
            fail(ErrorCode::Overflow,
                 cat("the size of a shape in ", element_size == 1 ? "elements" : "bytes",
                     " does not fit in 63 bits"),
                 cat("shape ", to_string(), ", element size ", element_size), "use smaller extents");
        }
    }
    return product;
}

std::string Shape::to_string() const { return list(span()); }
std::string Strides::to_string() const { return list(span()); }
std::string Index::to_string() const { return list(span()); }

Strides row_major_strides(const Shape& padded) { return row_major_byte_strides(padded, 1); }

Strides row_major_byte_strides(const Shape& padded, std::int64_t element_size) {
    std::array<std::int64_t, max_rank> strides{};
    std::int64_t stride = element_size;
    for (int axis = padded.rank() - 1; axis >= 0; --axis) {
        strides[static_cast<std::size_t>(axis)] = stride;
        if (axis > 0) stride = checked_multiply(stride, padded[axis], "a stride");
    }
    return Strides(std::span(strides).first(static_cast<std::size_t>(padded.rank())));
}

bool is_dense(const Shape& shape, const Strides& strides, std::int64_t unit) {
    auto expected = static_cast<std::uint64_t>(unit);  // may wrap for shapes larger than any memory
    bool dense = true;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
        if (shape[axis] == 0) return true;
        if (shape[axis] == 1 || !dense) continue;
        dense = static_cast<std::uint64_t>(strides[axis]) == expected;
        expected *= static_cast<std::uint64_t>(shape[axis]);
    }
    return dense;
}

void check_padding(const Shape& shape, const Shape& padded) {
    const std::string subject = cat("shape ", shape.to_string(), ", padded shape ", padded.to_string());
    check_same_rank(shape.rank(), padded.rank(), "padding", subject);
    for (int axis = 0; axis < shape.rank(); ++axis) {
        if (padded[axis] >= shape[axis]) continue;
        fail(ErrorCode::InvalidShape,
             cat("the padded extent of dimension ", axis, " is less than the extent"), subject,
             "pad to at least the shape");
    }
}

std::int64_t ravel_index(const Index& index, const Shape& shape) {
    const auto subject = [&] { return cat("index ", index.to_string(), ", shape ", shape.to_string()); };
    if (index.rank() != shape.rank()) check_same_rank(index.rank(), shape.rank(), "an index", subject());
    std::int64_t linear = 0;
    for (int axis = 0; axis < shape.rank(); ++axis) {
        if (index[axis] < 0 || index[axis] >= shape[axis]) {
            fail(ErrorCode::IndexError, cat("the index of dimension ", axis, " is out of range"), subject(),
                 shape[axis] == 0 ? "an empty array has no elements" : cat("use 0 to ", shape[axis] - 1));
        }
        linear = checked_add(checked_multiply(linear, shape[axis], "an index"), index[axis], "an index");
    }
    return linear;
}

Index unravel_index(std::int64_t linear, const Shape& shape) {
    if (linear < 0 || linear >= shape.elements()) {
        fail(ErrorCode::IndexError, cat("the linear index ", linear, " is out of range"),
             cat("shape ", shape.to_string()), cat("use 0 to ", shape.elements() - 1));
    }
    std::array<std::int64_t, max_rank> index{};
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
        index[static_cast<std::size_t>(axis)] = linear % shape[axis];
        linear /= shape[axis];
    }
    return Index(std::span(index).first(static_cast<std::size_t>(shape.rank())));
}

std::int64_t strided_offset(const Index& index, const Strides& strides) {
    if (index.rank() != strides.rank()) {
        check_same_rank(index.rank(), strides.rank(), "strided_offset",
                        cat("index ", index.to_string(), ", strides ", strides.to_string()));
    }
    std::int64_t offset = 0;
    for (int axis = 0; axis < index.rank(); ++axis) {
        offset = checked_add(offset, checked_multiply(index[axis], strides[axis], "an offset"), "an offset");
    }
    return offset;
}

}  // namespace volley
