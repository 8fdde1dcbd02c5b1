// The rows of a sort: an array along one axis, for each place on the other axes.
#pragma once

#include "algorithms/execution.hpp"

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace volley::algorithms {

/// Divides an array into rows along an axis. Rows are numbered in row-major order of the other axes.
struct Rows {
    Shape shape;
    int axis = 0;
    std::int64_t length = 0;  ///< of a row
    std::int64_t count = 0;   ///< of rows

    /// Throws ArgumentError for an axis out of range.
    Rows(const Shape& array, int axis_or_negative, std::string_view algorithm);

    [[nodiscard]] bool empty() const noexcept { return length == 0 || count == 0; }
    [[nodiscard]] std::int64_t elements() const noexcept { return length * count; }
    /// Returns whether the element i of row r has the number r * length + i.
    [[nodiscard]] bool contiguous() const noexcept { return axis + 1 == shape.rank(); }
    /// Returns the shape with another length of the rows.
    [[nodiscard]] Shape with_length(std::int64_t other) const;
};

/// Finds the elements of rows while a kernel is traced. Its parameters are the extents of the array, unless
/// the rows are contiguous and all arrays are flat.
class RowPositions {
public:
    RowPositions(const Rows& rows, std::initializer_list<const AnySource*> sources,
                 std::initializer_list<const AnySink*> sinks = {});

    void identify(KernelKey& key) const;
    void declare(ParameterList& parameters);
    void add_arguments(std::vector<AnyArgument>& arguments) const;
    /// Returns the position of element i of a row.
    [[nodiscard]] Position at(const Value<u32>& row, const Value<u32>& i) const;

private:
    Rows rows_;
    bool flat_ = false;
    std::vector<Value<u32>> extents_;  // flat: the length of a row
};

/// Returns whether the source reads bytes of the buffer, other than as the same array.
[[nodiscard]] bool reads_part_of(const AnySource& source, const AnyBuffer& buffer);
/// Returns whether the source reads bytes of the buffer.
[[nodiscard]] bool reads(const AnySource& source, const AnyBuffer& buffer);
/// Throws ArgumentError (InvalidView) if both sinks are buffers that share bytes.
void check_apart(const AnySink& a, const AnySink& b, std::string_view algorithm);

}  // namespace volley::algorithms
