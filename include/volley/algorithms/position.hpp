// Position: where an element is in an array, while a kernel is traced.
#pragma once

#include <volley/api.hpp>
#include <volley/lang/value.hpp>
#include <volley/types.hpp>

#include <span>
#include <vector>

namespace volley {

/// One index per axis of an array. Records operations only for what is asked of it.
class VOLLEY_API Position {
public:
    /// An element of a one-dimensional array.
    explicit Position(const Value<u32>& number) : indices_{number} {}
    /// An element of an array with these extents. The first extent is never used.
    Position(std::vector<Value<u32>> indices, std::vector<Value<u32>> extents);

    [[nodiscard]] int rank() const noexcept { return static_cast<int>(indices_.size()); }
    [[nodiscard]] const Value<u32>& operator[](int axis) const {
        return indices_[static_cast<std::size_t>(axis)];
    }
    [[nodiscard]] std::span<const Value<u32>> indices() const& noexcept { return indices_; }
    std::span<const Value<u32>> indices() && = delete;
    /// Returns the row-major number of the element.
    [[nodiscard]] Value<u32> number() const;

private:
    std::vector<Value<u32>> indices_;
    std::vector<Value<u32>> extents_;
};

/// Splits a row-major number into one index per axis. Costs a division per axis but the first.
[[nodiscard]] VOLLEY_API Position position_of(const Value<u32>& number,
                                              const std::vector<Value<u32>>& extents);

}  // namespace volley
