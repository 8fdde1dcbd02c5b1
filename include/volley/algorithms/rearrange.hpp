// Rearrangements: parts, mirrored, rotated, padded, repeated and joined arrays. As in NumPy most are no
// copies: they are lazy arrays that an algorithm reads in place, and that fuse with everything else.
//
//     Buffer<float> mirrored = flip(image, {1});
//     Buffer<float> bordered = pad(image, {{2, 2}, {4, 4}}, PadMode::Reflect);
//     float turn = reduce::sum(abs(lazy(x) - roll(x, 1))).item();  // one kernel, no temporary
//     Buffer<float> all_rows = concatenate({a, b, c});              // along axis 0
//     pad(out, image, {.widths = {{1, 1}}, .value = -1});          // into a buffer or store map
//
// Functions that return a Lazy<T> run nothing and copy nothing. Those that return an Event write to a buffer
// or store map of the result's type and shape, without blocking. Elements have any type. Negative axes count
// from the end. All throw ArgumentError before anything is written: IndexError for axes out of range,
// InvalidArgument for repeated ones, InvalidShape and SizeMismatch for shapes that do not fit, Overflow for
// results of more than 2^32 - 1 elements, InvalidView for outputs that overlap an input.
//
// Cost: one pass over memory in one kernel. Large results of pad(), roll() and concatenate() that are written
// to a buffer are evaluated in up to three parts, or one for each joined array, so that most elements are
// found without a test.
#pragma once

#include <volley/algorithms/lazy.hpp>
#include <volley/dyn.hpp>
#include <volley/slice.hpp>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace volley {

/// What lies outside of an array that is padded. With n elements, before the first and after the last:
enum class PadMode : std::uint8_t {
    Constant,   ///< `value | a b c d | value`
    Edge,       ///< `a a | a b c d | d d`: the nearest element
    Reflect,    ///< `c b | a b c d | c b`: mirrored at the first and last element, which are not repeated
    Symmetric,  ///< `b a | a b c d | d c`: mirrored at the edges
    Wrap,       ///< `c d | a b c d | a b`: periodic
};

/// How many elements are added to an axis.
struct PadWidth {
    std::int64_t before = 0;
    std::int64_t after = 0;
};

/// The value of PadMode::Constant: a host number, which adopts the type of the elements; another value of
/// their type; or while a graph is recorded, dyn<T>("name").
class VOLLEY_API PadValue {
public:
    // NOLINTBEGIN(google-explicit-constructor): written as a number
    PadValue() : PadValue(0) {}
    template <lang::HostNumber N>
    PadValue(N number) : given_(number) {
        if constexpr (std::integral<N>) {
            kind_ = std::is_signed_v<N> && std::cmp_less(static_cast<std::int64_t>(number), 0)
                        ? Kind::Negative
                        : Kind::Whole;
            bits_ = static_cast<std::uint64_t>(number);
        } else {
            kind_ = Kind::Real;
            real_ = static_cast<double>(number);
        }
    }
    template <class T>
    requires(!lang::HostNumber<T> && !std::same_as<T, PadValue>) PadValue(const T& value) : given_(value) {}
    // NOLINTEND(google-explicit-constructor)

    /// Returns the value as an element of a type. Zero is that of every type. Throws ArgumentError for
    /// numbers that the type cannot hold and for values of another type.
    [[nodiscard]] AnyArgument as(DType type) const;

private:
    enum class Kind : std::uint8_t { Other, Whole, Negative, Real };

    AnyArgument given_;
    Kind kind_ = Kind::Other;
    double real_ = 0;
    std::uint64_t bits_ = 0;
};

struct PadOptions {
    /// One entry per axis, or a single one for all axes.
    std::vector<PadWidth> widths = {};
    PadMode mode = PadMode::Constant;
    PadValue value = {};
    std::optional<Queue> queue = {};  ///< unset: all queues that have the buffers
};

struct FlipOptions {
    std::vector<int> axes = {};  ///< empty: all
    std::optional<Queue> queue = {};
};

struct RollOptions {
    /// By how many elements each of the axes is rotated; negative: towards the start. A single one serves all
    /// axes.
    std::vector<std::int64_t> shifts = {};
    std::vector<int> axes = {-1};
    std::optional<Queue> queue = {};
};

struct RepeatOptions {
    std::int64_t count = 1;
    int axis = -1;
    std::optional<Queue> queue = {};
};

struct TileOptions {
    /// How often the array is repeated along each axis, the last count for the last axis. More counts than
    /// axes add axes at the front.
    std::vector<std::int64_t> counts = {};
    std::optional<Queue> queue = {};
};

struct ConcatenateOptions {
    int axis = 0;
    std::optional<Queue> queue = {};
};

/// Writes the array with the order of the elements reversed along the axes.
VOLLEY_API Event flip(const AnySink& to, const AnySource& from, const FlipOptions& options = {});
/// Writes the array rotated along the axes: element k moves to (k + shift) mod n.
VOLLEY_API Event roll(const AnySink& to, const AnySource& from, const RollOptions& options);
/// Writes the array with a border.
VOLLEY_API Event pad(const AnySink& to, const AnySource& from, const PadOptions& options);
/// Writes each element `count` times in a row: a a b b c c.
VOLLEY_API Event repeat(const AnySink& to, const AnySource& from, const RepeatOptions& options);
/// Writes the array several times: a b c a b c.
VOLLEY_API Event tile(const AnySink& to, const AnySource& from, const TileOptions& options);
/// Writes the arrays one after the other along an axis. The other extents are equal.
VOLLEY_API Event concatenate(const AnySink& to, const std::vector<AnySource>& from,
                             const ConcatenateOptions& options = {});
/// Writes arrays of one shape along a new axis of the result.
VOLLEY_API Event stack(const AnySink& to, const std::vector<AnySource>& from,
                       const ConcatenateOptions& options = {});

namespace detail {

[[nodiscard]] VOLLEY_API AnySource selected(const AnySource& source, const Selection& selection);
[[nodiscard]] VOLLEY_API AnySource flipped(const AnySource& source, const std::vector<int>& axes);
[[nodiscard]] VOLLEY_API AnySource rolled(const AnySource& source, const std::vector<std::int64_t>& shifts,
                                          const std::vector<int>& axes);
[[nodiscard]] VOLLEY_API AnySource padded(const AnySource& source, const std::vector<PadWidth>& widths,
                                          PadMode mode, const PadValue& value);
[[nodiscard]] VOLLEY_API AnySource repeated(const AnySource& source, std::int64_t count, int axis);
[[nodiscard]] VOLLEY_API AnySource tiled(const AnySource& source, const std::vector<std::int64_t>& counts);
[[nodiscard]] VOLLEY_API AnySource joined(const std::vector<AnySource>& sources, int axis, bool new_axis);

template <class Range>
[[nodiscard]] std::vector<AnySource> sources_of(const Range& range) {
    return {range.begin(), range.end()};
}

}  // namespace detail

/// Returns a part of the array: `sub(lazy(a) + b, {slice(1, 5), 0, newaxis})`. Selections are described in
/// slice.hpp.
template <Source S>
[[nodiscard]] Lazy<source_element_t<S>> sub(const S& source, const Selection& selection) {
    return Lazy<source_element_t<S>>(detail::selected(source, selection));
}
/// Returns the same elements in another shape.
template <Source S>
[[nodiscard]] Lazy<source_element_t<S>> reshape(const S& source, const Shape& shape) {
    return Lazy<source_element_t<S>>(AnySource(source).reshape(shape));
}
/// Returns the array with axes of length 1 repeated, and leading axes added.
template <Source S>
[[nodiscard]] Lazy<source_element_t<S>> broadcast_to(const S& source, const Shape& shape) {
    return Lazy<source_element_t<S>>(AnySource(source).broadcast_to(shape));
}

/// Returns the array with the order of the elements reversed along the axes; along all if none are named.
template <Source S>
[[nodiscard]] Lazy<source_element_t<S>> flip(const S& source, const std::vector<int>& axes = {}) {
    return Lazy<source_element_t<S>>(detail::flipped(source, axes));
}
/// Returns the array rotated along an axis: element k moves to (k + shift) mod n.
template <Source S>
[[nodiscard]] Lazy<source_element_t<S>> roll(const S& source, std::int64_t shift, int axis = -1) {
    return Lazy<source_element_t<S>>(detail::rolled(source, {shift}, {axis}));
}
/// Returns the array rotated along several axes, each by its shift or all by a single one.
template <Source S>
[[nodiscard]] Lazy<source_element_t<S>> roll(const S& source, const std::vector<std::int64_t>& shifts,
                                             const std::vector<int>& axes) {
    return Lazy<source_element_t<S>>(detail::rolled(source, shifts, axes));
}
/// Returns the array with a border of the value. One width per axis, or a single one for all.
template <Source S>
[[nodiscard]] Lazy<source_element_t<S>> pad(const S& source, const std::vector<PadWidth>& widths,
                                            const PadValue& value = {}) {
    return Lazy<source_element_t<S>>(detail::padded(source, widths, PadMode::Constant, value));
}
/// Returns the array with a border computed from its elements. Widths may exceed the extents of the array,
/// which is then mirrored or repeated several times. An axis without elements cannot be extended.
template <Source S>
[[nodiscard]] Lazy<source_element_t<S>> pad(const S& source, const std::vector<PadWidth>& widths,
                                            PadMode mode) {
    return Lazy<source_element_t<S>>(detail::padded(source, widths, mode, {}));
}
/// Returns the array with each element `count` times in a row along an axis: a a b b c c.
template <Source S>
[[nodiscard]] Lazy<source_element_t<S>> repeat(const S& source, std::int64_t count, int axis = -1) {
    return Lazy<source_element_t<S>>(detail::repeated(source, count, axis));
}
/// Returns the array several times along each axis: a b c a b c. The last count is that of the last axis.
template <Source S>
[[nodiscard]] Lazy<source_element_t<S>> tile(const S& source, const std::vector<std::int64_t>& counts) {
    return Lazy<source_element_t<S>>(detail::tiled(source, counts));
}

/// Returns the arrays one after the other along an axis: `concatenate({a, b, c}, 1)`, or a vector of buffers,
/// mapped or lazy arrays. Where a kernel reads it at any element, it tests one array after the other.
template <Source S>
[[nodiscard]] Lazy<source_element_t<S>> concatenate(std::initializer_list<S> sources, int axis = 0) {
    return Lazy<source_element_t<S>>(detail::joined(detail::sources_of(sources), axis, false));
}
template <Source S>
[[nodiscard]] Lazy<source_element_t<S>> concatenate(const std::vector<S>& sources, int axis = 0) {
    return Lazy<source_element_t<S>>(detail::joined(detail::sources_of(sources), axis, false));
}
/// Returns arrays of one shape along a new axis of the result: `stack({x, y})` has the shape (2, n).
template <Source S>
[[nodiscard]] Lazy<source_element_t<S>> stack(std::initializer_list<S> sources, int axis = 0) {
    return Lazy<source_element_t<S>>(detail::joined(detail::sources_of(sources), axis, true));
}
template <Source S>
[[nodiscard]] Lazy<source_element_t<S>> stack(const std::vector<S>& sources, int axis = 0) {
    return Lazy<source_element_t<S>>(detail::joined(detail::sources_of(sources), axis, true));
}

}  // namespace volley
