// Lines: an array divided into lines along one axis, which algorithms such as scans process independently.
// The array is seen as outer x length x inner; element k of a line is the k-th in the order of the scan,
// which may run from the end of the line to its start.
#pragma once

#include <volley/algorithms/any_sink.hpp>
#include <volley/algorithms/any_source.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace volley::algorithms {

/// How kernels find the elements of lines. Invariant: everything here that is not a product of extents is
/// part of the keys of kernels.
struct Lines {
    Shape shape;
    int axis = 0;
    bool flat = true;  ///< all arrays are flat: positions are row-major numbers only
    bool reverse = false;

    [[nodiscard]] std::int64_t length() const { return shape[axis]; }
    [[nodiscard]] std::int64_t outer() const;
    [[nodiscard]] std::int64_t inner() const;
    [[nodiscard]] std::int64_t count() const { return outer() * inner(); }

    void identify(KernelKey& key) const;
    void add_arguments(std::vector<AnyArgument>& arguments) const;
};

/// A line while a kernel is traced.
class Line {
public:
    /// Returns the position of element k.
    [[nodiscard]] Position at(const Value<u32>& k) const;

private:
    friend class DeclaredLines;
    using Values = std::vector<Value<u32>>;
    Line(bool flat, bool unit, bool reverse, Values before, Values after, Values extents, Values sizes)
        : flat_(flat),
          unit_(unit),
          reverse_(reverse),
          before_(std::move(before)),
          after_(std::move(after)),
          extents_(std::move(extents)),
          sizes_(std::move(sizes)) {}

    bool flat_;
    bool unit_;
    bool reverse_;
    Values before_;   // flat: the number of the line's first element; else the indices before the axis
    Values after_;    // not flat: the indices after the axis
    Values extents_;  // not flat: all extents
    Values sizes_;    // the distance of elements in a flat array, and the last index of the line
};

/// The parameters of Lines while a kernel is traced.
class DeclaredLines {
public:
    /// `unit` promises that inner() is 1. `aligned` is a number that divides the length.
    DeclaredLines(ParameterList& parameters, const Lines& lines, bool unit, u32 aligned = 1);

    [[nodiscard]] const Value<u32>& length() const { return numbers_[0]; }
    [[nodiscard]] const Value<u32>& inner() const { return numbers_[1]; }
    [[nodiscard]] Line line(const Value<u32>& outer, const Value<u32>& inner) const;

private:
    std::vector<Value<u32>> numbers_;  // length and inner
    std::vector<Value<u32>> extents_;
    int axis_;
    bool flat_;
    bool unit_;
    bool single_;
    bool reverse_;
};

}  // namespace volley::algorithms
