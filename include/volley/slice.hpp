// Selections of a part of an array, such as {slice(1, 3), all, -1, newaxis}, with one entry per axis. They
// are plain values that do not allocate; they are checked against an array when they are applied to it.
#pragma once

#include <volley/api.hpp>
#include <volley/shape.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace volley {

namespace detail {

[[noreturn]] VOLLEY_API void fail_index_overflow(std::uint64_t index);

template <ExtentInteger I>
[[nodiscard]] constexpr std::int64_t to_index(I value) {
    if (std::cmp_greater(value, std::numeric_limits<std::int64_t>::max()))
        fail_index_overflow(static_cast<std::uint64_t>(value));
    return static_cast<std::int64_t>(value);
}

// The words of a selection are functions, like std::hex for streams. `all` must be one, because all(v) for a
// kernel's vector is an overload of it. Where a template deduces the argument, as in emplace_back, write
// Selector(all).
template <class Tag>
using Word = Tag (*)(Tag);

struct WholeAxis {
    explicit WholeAxis() = default;
};
struct OpenBound {
    explicit OpenBound() = default;
};
struct NewAxis {
    explicit NewAxis() = default;
};
struct Ellipsis {
    explicit Ellipsis() = default;
};

}  // namespace detail

/// Selects the whole axis.
constexpr detail::WholeAxis all(detail::WholeAxis word) noexcept { return word; }
/// Leaves a bound of a slice open: slice(none, 5), slice(2, none).
constexpr detail::OpenBound none(detail::OpenBound word) noexcept { return word; }
/// Adds an axis of length 1 and stride 0.
constexpr detail::NewAxis newaxis(detail::NewAxis word) noexcept { return word; }
/// Selects all axes without an entry, once per selection: {ellipsis, 0} takes the first element of the last
/// axis. Without an ellipsis, the last axes are the ones without an entry.
constexpr detail::Ellipsis ellipsis(detail::Ellipsis word) noexcept { return word; }

// NOLINTBEGIN(google-explicit-constructor): selections are written as plain integers and words

/// One end of a slice: an integer of any type, or `none`. Throws ArgumentError (IndexError) for unsigned
/// integers from 2^63.
class Bound {
public:
    constexpr Bound(ExtentInteger auto value) : value_(detail::to_index(value)) {}
    constexpr Bound(detail::Word<detail::OpenBound> /*none*/) noexcept : open_(true) {}

    [[nodiscard]] constexpr bool is_open() const noexcept { return open_; }
    /// Returns 0 if the bound is open.
    [[nodiscard]] constexpr std::int64_t value() const noexcept { return value_; }

    friend constexpr bool operator==(const Bound&, const Bound&) noexcept = default;

private:
    std::int64_t value_ = 0;
    bool open_ = false;
};

/// Every step-th element of [begin, end). Negative bounds count from the end of the axis; bounds beyond the
/// axis are clamped. The length is (end - begin) / step, rounded up.
struct Slice {
    Bound begin;
    Bound end;
    std::int64_t step = 1;

    friend constexpr bool operator==(const Slice&, const Slice&) noexcept = default;
};

/// Returns a slice: slice(1, 3), slice(none, -1), slice(0, 5, 2) with elements 0, 2 and 4. Applying a slice
/// that selects nothing, or whose step is not positive, is an error.
template <ExtentInteger I = int>
[[nodiscard]] constexpr Slice slice(Bound begin, Bound end, I step = 1) {
    return {begin, end, detail::to_index(step)};
}

/// One entry of a selection.
///
/// | entry | what it does |
/// |---|---|
/// | `slice(begin, end, step)` | keeps a part of the axis |
/// | `all` | keeps the axis |
/// | an integer | selects one element and removes the axis; negative ones count from the end |
/// | `newaxis` | adds an axis of length 1 |
/// | `ellipsis` | keeps all axes without an entry |
class Selector {
public:
    enum class Kind : std::uint8_t { All, Slice, Index, NewAxis, Ellipsis };

    constexpr Selector() noexcept = default;  // all
    constexpr Selector(detail::Word<detail::WholeAxis> /*all*/) noexcept {}
    constexpr Selector(detail::Word<detail::NewAxis> /*newaxis*/) noexcept : kind_(Kind::NewAxis) {}
    constexpr Selector(detail::Word<detail::Ellipsis> /*ellipsis*/) noexcept : kind_(Kind::Ellipsis) {}
    constexpr Selector(const Slice& part) noexcept : part_(part), kind_(Kind::Slice) {}
    constexpr Selector(ExtentInteger auto index) : part_{index, none}, kind_(Kind::Index) {}

    [[nodiscard]] constexpr Kind kind() const noexcept { return kind_; }
    /// Returns the slice of a Kind::Slice.
    [[nodiscard]] constexpr const Slice& part() const noexcept { return part_; }
    /// Returns the index of a Kind::Index.
    [[nodiscard]] constexpr std::int64_t index() const noexcept { return part_.begin.value(); }
    /// Returns whether the entry applies to exactly one axis of the array.
    [[nodiscard]] constexpr bool takes_axis() const noexcept {
        return kind_ != Kind::NewAxis && kind_ != Kind::Ellipsis;
    }
    /// Returns the entry as it is written: "slice(1, none, 2)".
    [[nodiscard]] VOLLEY_API std::string to_string() const;

    friend constexpr bool operator==(const Selector&, const Selector&) noexcept = default;

private:
    Slice part_ = {none, none};
    Kind kind_ = Kind::All;
};

/// A part of an array: `{slice(1, 3), all}`, or `2` or `slice(0, 4)` where a Selection is expected; `{}` is
/// the whole array. Axes without an entry are kept.
///
///     copy_region(dst, {slice(1, 3), all, slice(4, 8, 2)}, src, {slice(2, 4), all, slice(3, 7, 2)});
class Selection {
public:
    /// One more than the longest valid selection (an integer for each axis, as many new axes, an ellipsis).
    /// Further entries are dropped, because a selection of this size is an error for every array.
    static constexpr std::size_t capacity = 2 * std::size_t{max_rank} + 2;

    constexpr Selection() noexcept = default;
    constexpr Selection(std::initializer_list<Selector> entries) noexcept
        : Selection(std::span<const Selector>(entries.begin(), entries.size())) {}
    /// Creates a selection from entries that are known at run time.
    constexpr explicit Selection(std::span<const Selector> entries) noexcept {
        for (const Selector& entry : entries) {
            if (size_ == capacity) break;
            entries_[size_++] = entry;
        }
    }
    constexpr Selection(const Selector& entry) noexcept : size_(1) { entries_[0] = entry; }
    constexpr Selection(const Slice& part) noexcept : Selection(Selector(part)) {}
    constexpr Selection(ExtentInteger auto index) : Selection(Selector(index)) {}
    constexpr Selection(detail::Word<detail::WholeAxis> word) noexcept : Selection(Selector(word)) {}
    constexpr Selection(detail::Word<detail::NewAxis> word) noexcept : Selection(Selector(word)) {}
    constexpr Selection(detail::Word<detail::Ellipsis> word) noexcept : Selection(Selector(word)) {}

    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
    [[nodiscard]] constexpr const Selector* begin() const noexcept { return entries_.data(); }
    [[nodiscard]] constexpr const Selector* end() const noexcept { return entries_.data() + size_; }
    /// Returns "{slice(1, 3), all}".
    [[nodiscard]] VOLLEY_API std::string to_string() const;

private:
    std::array<Selector, capacity> entries_{};
    std::size_t size_ = 0;
};

// NOLINTEND(google-explicit-constructor)

namespace detail {

/// Replaces an array's shape and strides (in any unit) by those of the selected part and returns the offset
/// of its first element in the same unit. `subject` names the array in errors.
///
/// Throws ArgumentError and changes nothing: IndexError for integers out of range, slices that select nothing
/// (`all` of an empty axis is allowed), steps that are not positive, more entries than axes, and two
/// ellipses; InvalidShape if the result has more than 8 axes.
VOLLEY_API std::int64_t select(Shape& shape, Strides& strides, const Selection& selection,
                               std::string_view subject);

}  // namespace detail
}  // namespace volley
