// Applies selections to shapes and strides. All checks of a selection are here, so that regions of buffers,
// host arrays and views report the same errors.
#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/slice.hpp>

#include <algorithm>

namespace volley {
namespace {

std::string text_of(const Bound& bound) { return bound.is_open() ? "none" : cat(bound.value()); }

/// Resolves the entries of one selection against a shape, and reports errors with both.
class Selecting {
public:
    Selecting(const Shape& shape, const Selection& selection, std::string_view subject)
        : shape_(shape), selection_(selection), subject_(subject) {}

    [[noreturn]] void refuse(ErrorCode code, std::string_view what, std::string_view advice) const {
        fail(code, what,
             cat(subject_, " of shape ", shape_.to_string(), ", selection ", selection_.to_string()), advice);
    }

    /// Returns the number of axes that an ellipsis, or the end of the selection, stands for.
    [[nodiscard]] int axes_left() const {
        int taken = 0;
        int ellipses = 0;
        int kept = 0;
        for (const Selector& entry : selection_) {
            taken += entry.takes_axis() ? 1 : 0;
            ellipses += entry.kind() == Selector::Kind::Ellipsis ? 1 : 0;
            kept += entry.kind() != Selector::Kind::Ellipsis && entry.kind() != Selector::Kind::Index ? 1 : 0;
        }
        if (ellipses > 1) {
            refuse(ErrorCode::IndexError, "a selection has more than one ellipsis",
                   "keep one: it selects all axes that have no other entry");
        }
        if (taken > shape_.rank()) {
            refuse(ErrorCode::IndexError,
                   cat("a selection has ", taken, " indices, but the array has ", shape_.rank(), " axes"),
                   "use at most one integer or slice per axis");
        }
        const int left = shape_.rank() - taken;
        if (kept + left > max_rank) {
            refuse(ErrorCode::InvalidShape,
                   cat("the result of a selection would have ", kept + left, " axes"),
                   cat("use fewer new axes: an array has at most ", max_rank));
        }
        return left;
    }

    [[nodiscard]] std::int64_t position(std::int64_t index, int axis) const {
        const std::int64_t extent = shape_[axis];
        if (index < -extent || index >= extent) {
            refuse(ErrorCode::IndexError,
                   cat("the index ", index, " is out of range for axis ", axis, ", which has the extent ",
                       extent),
                   extent == 0 ? "an empty axis has no elements to select"
                               : cat("use ", -extent, " to ", extent - 1));
        }
        return index < 0 ? index + extent : index;
    }

    struct ResolvedSlice {
        std::int64_t begin;
        std::int64_t length;
    };

    [[nodiscard]] ResolvedSlice resolve(const Selector& entry, int axis) const {
        const std::int64_t extent = shape_[axis];
        const Slice& part = entry.part();
        if (part.step <= 0) {
            refuse(ErrorCode::IndexError,
                   cat(entry.to_string(), " of axis ", axis, ", which has the extent ", extent,
                       ", has the invalid step ", part.step),
                   "use a step of 1 or more");
        }
        const auto clamped = [extent](std::int64_t bound) {
            return std::clamp(bound < 0 ? bound + extent : bound, std::int64_t{0}, extent);
        };
        const std::int64_t begin = part.begin.is_open() ? 0 : clamped(part.begin.value());
        const std::int64_t end = part.end.is_open() ? extent : clamped(part.end.value());
        if (begin >= end) {
            refuse(
                ErrorCode::IndexError,
                cat(entry.to_string(), " selects nothing of axis ", axis, ", which has the extent ", extent),
                "use bounds that include an element: the end is exclusive, and negative bounds count from "
                "the end of the axis");
        }
        return {begin, (end - begin - 1) / part.step + 1};
    }

private:
    const Shape& shape_;
    const Selection& selection_;
    std::string_view subject_;
};

}  // namespace

void detail::fail_index_overflow(std::uint64_t index) {
    fail(ErrorCode::IndexError, cat("the index ", index, " does not fit in 63 bits"), "a selection",
         "check the expression for a negative value that was converted to unsigned");
}

std::string Selector::to_string() const {
    switch (kind_) {
        case Kind::All: return "all";
        case Kind::Index: return cat(index());
        case Kind::NewAxis: return "newaxis";
        case Kind::Ellipsis: return "ellipsis";
        case Kind::Slice: break;
    }
    const std::string bounds = cat("slice(", text_of(part_.begin), ", ", text_of(part_.end));
    return part_.step == 1 ? bounds + ")" : cat(bounds, ", ", part_.step, ")");
}

std::string Selection::to_string() const {
    std::string text = "{";
    for (const Selector& entry : *this) {
        if (&entry != begin()) text += ", ";
        text += entry.to_string();
    }
    return text + "}";
}

std::int64_t detail::select(Shape& shape, Strides& strides, const Selection& selection,
                            std::string_view subject) {
    const Selecting selecting(shape, selection, subject);
    const int left = selecting.axes_left();

    std::array<std::int64_t, max_rank> extents{};
    std::array<std::int64_t, max_rank> steps{};
    std::size_t rank = 0;
    std::int64_t offset = 0;
    int axis = 0;
    const auto keep = [&](std::int64_t extent, std::int64_t stride) {
        extents[rank] = extent;
        steps[rank++] = stride;
    };
    const auto keep_whole = [&](int count) {
        for (; count > 0; --count, ++axis) keep(shape[axis], strides[axis]);
    };

    bool has_ellipsis = false;
    for (const Selector& entry : selection) {
        switch (entry.kind()) {
            case Selector::Kind::All: keep_whole(1); break;
            case Selector::Kind::NewAxis: keep(1, 0); break;
            case Selector::Kind::Index:
                offset += selecting.position(entry.index(), axis) * strides[axis];
                ++axis;
                break;
            case Selector::Kind::Ellipsis:
                has_ellipsis = true;
                keep_whole(left);
                break;
            case Selector::Kind::Slice: {
                const auto [begin, length] = selecting.resolve(entry, axis);
                offset += begin * strides[axis];
                // A step past the end of the axis is never taken, and its product with the stride might
                // overflow.
                keep(length, length == 1 ? strides[axis] : strides[axis] * entry.part().step);
                ++axis;
                break;
            }
        }
    }
    if (!has_ellipsis) keep_whole(left);

    shape = Shape(std::span<const std::int64_t>(extents.data(), rank));
    strides = Strides(std::span<const std::int64_t>(steps.data(), rank));
    return offset;
}

}  // namespace volley
