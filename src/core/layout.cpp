// Collapses and compares layouts. Products of extents and strides cannot overflow, because row_major has
// checked the size of the whole array.
#include "core/layout.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"

#include <algorithm>

namespace volley {
namespace {

/// Returns a / b rounded down; b > 0.
std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

/// The collapsed rows of one array as a tree: a block at level n spans the n innermost counts; level 0 is a
/// row.
struct Tree {
    Rows rows;
    std::array<std::int64_t, max_rank + 1> span{};  // bytes from the first to past the last byte, per level

    Tree(const Layout& layout, std::int64_t element) : rows(collapse(layout, element)) {
        span[0] = rows.row;
        for (std::size_t n = 0; n < static_cast<std::size_t>(rows.rank); ++n)
            span[n + 1] = (rows.count[n] - 1) * rows.to_stride[n] + span[n];
    }
};

struct RowBlock {
    const Tree& tree;
    int level;
    std::int64_t begin;

    [[nodiscard]] std::int64_t end() const { return begin + tree.span[static_cast<std::size_t>(level)]; }
    // The stride of the outermost count; 0 for a row.
    [[nodiscard]] std::int64_t stride() const { return level == 0 ? 0 : tree.rows.to_stride[top()]; }
    [[nodiscard]] std::int64_t count() const { return level == 0 ? 1 : tree.rows.count[top()]; }
    [[nodiscard]] std::int64_t inner_span() const { return tree.span[top()]; }
    [[nodiscard]] RowBlock child(std::int64_t i) const { return {tree, level - 1, begin + i * stride()}; }

private:
    [[nodiscard]] std::size_t top() const { return static_cast<std::size_t>(level - 1); }
};

bool meet(const RowBlock& a, const RowBlock& b);

/// Descends only into the children of `a` that reach into b. Blocks of a level are disjoint and ordered in
/// both trees, so the comparisons of two levels never outnumber their blocks.
bool children_meet(const RowBlock& a, const RowBlock& b) {
    const std::int64_t first = floor_div(b.begin - a.begin - a.inner_span(), a.stride()) + 1;
    const std::int64_t last = floor_div(b.end() - 1 - a.begin, a.stride());
    const std::int64_t end = std::min(last + 1, a.count());
    for (std::int64_t i = std::max<std::int64_t>(first, 0); i < end; ++i) {
        if (meet(a.child(i), b)) return true;
    }
    return false;
}

/// For equal strides only the distance between two children matters, and few distances make them meet: it is
/// enough to test one pair of children per distance.
bool children_meet_alike(const RowBlock& a, const RowBlock& b) {
    const std::int64_t apart = b.begin - a.begin;
    // Child i of a and child i + d of b meet only if apart + d * stride is between -(span of b's child) and
    // (span of a's child).
    const std::int64_t first = floor_div(-b.inner_span() - apart, a.stride()) + 1;
    const std::int64_t last = floor_div(a.inner_span() - 1 - apart, a.stride());
    for (std::int64_t d = std::max(first, 1 - a.count()); d <= std::min(last, b.count() - 1); ++d) {
        if (meet(a.child(std::max<std::int64_t>(-d, 0)), b.child(std::max<std::int64_t>(d, 0)))) return true;
    }
    return false;
}

bool meet(const RowBlock& a, const RowBlock& b) {
    if (a.end() <= b.begin || b.end() <= a.begin) return false;
    if (a.level == 0 && b.level == 0) return true;
    if (a.stride() == b.stride()) return children_meet_alike(a, b);
    return a.stride() > b.stride() ? children_meet(a, b) : children_meet(b, a);
}

}  // namespace

Layout row_major(const Shape& shape, const Shape& padded, std::int64_t element) {
    check_padding(shape, padded);
    (void)padded.bytes(element);
    return {0, shape, row_major_byte_strides(padded, element)};
}

Layout select(const Layout& layout, const Selection& selection, std::string_view subject) {
    Layout part = layout;
    part.offset += detail::select(part.shape, part.strides, selection, subject);
    return part;
}

std::int64_t extent(const Layout& layout, std::int64_t element) {
    constexpr std::string_view what = "the extent of an array in bytes";
    std::int64_t bytes = element;
    for (int axis = 0; axis < layout.shape.rank(); ++axis) {
        const std::int64_t count = layout.shape[axis];
        if (count == 0) return 0;
        if (count == 1) continue;
        bytes = checked_add(bytes, checked_multiply(count - 1, layout.strides[axis], what), what);
    }
    return bytes;
}

bool overlap(const Layout& a, const Layout& b, std::int64_t element) {
    const std::int64_t a_end = a.offset + extent(a, element);
    const std::int64_t b_end = b.offset + extent(b, element);
    if (a_end <= b.offset || b_end <= a.offset) return false;
    const Tree a_tree(a, element);
    const Tree b_tree(b, element);
    if (a_tree.rows.row == 0 || b_tree.rows.row == 0) return false;
    return meet({a_tree, a_tree.rows.rank, a.offset}, {b_tree, b_tree.rows.rank, b.offset});
}

std::int64_t Rows::rows() const noexcept {
    std::int64_t product = 1;
    for (const std::int64_t n : count) product *= n;
    return product;
}

Rows collapse(const Layout& to, const Layout& from, std::int64_t element) {
    if (to.shape != from.shape) {
        fail(ErrorCode::SizeMismatch, "the shapes of two regions differ",
             cat("to ", to.shape.to_string(), ", from ", from.shape.to_string()),
             "select equal shapes: there is no broadcasting; an integer index removes an axis and newaxis "
             "adds one");
    }
    Rows rows;
    rows.to_offset = to.offset;
    rows.from_offset = from.offset;
    if (to.shape.bytes(element) == 0) return rows;
    rows.row = element;
    for (int axis = to.shape.rank() - 1; axis >= 0; --axis) {
        const std::int64_t count = to.shape[axis];
        const std::int64_t to_stride = to.strides[axis];
        const std::int64_t from_stride = from.strides[axis];
        if (count == 1) continue;
        const auto last = static_cast<std::size_t>(std::max(rows.rank - 1, 0));
        if (rows.rank == 0 && to_stride == rows.row && from_stride == rows.row) {
            rows.row *= count;
        } else if (rows.rank > 0 && to_stride == rows.count[last] * rows.to_stride[last] &&
                   from_stride == rows.count[last] * rows.from_stride[last]) {
            rows.count[last] *= count;
        } else {
            const auto next = static_cast<std::size_t>(rows.rank++);
            rows.count[next] = count;
            rows.to_stride[next] = to_stride;
            rows.from_stride[next] = from_stride;
        }
    }
    return rows;
}

Rows collapse(const Layout& layout, std::int64_t element) { return collapse(layout, layout, element); }

}  // namespace volley
