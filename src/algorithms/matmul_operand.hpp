// The arrays of a matrix product as batches of matrices, whatever their ranks and the order of their axes.
// Invariant: arguments are added in the order in which parameters are declared.
#pragma once

#include "algorithms/source_node.hpp"

#include <volley/algorithms/any_sink.hpp>
#include <volley/algorithms/any_source.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace volley::algorithms {

/// Records the load or store of the element (row, column) of a matrix of a batch.
using LoadMatrix =
    std::function<AnyValue(const Value<u32>& batch, const Value<u32>& row, const Value<u32>& column)>;
using StoreMatrix = std::function<void(const Value<u32>& batch, const Value<u32>& row,
                                       const Value<u32>& column, const AnyValue& value)>;

/// Which of the last axes of an array are rows and columns.
struct MatrixAxes {
    bool rows = true, columns = true;  ///< a vector lacks one
    bool transposed = false;           ///< the array has columns before rows

    [[nodiscard]] int count() const noexcept { return (rows ? 1 : 0) + (columns ? 1 : 0); }
};

/// A factor of a product.
class MatmulOperand {
public:
    MatmulOperand(const AnySource& source, MatrixAxes axes);

    [[nodiscard]] DType dtype() const noexcept { return source_.dtype(); }
    [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }
    [[nodiscard]] std::int64_t columns() const noexcept { return columns_; }
    [[nodiscard]] std::int64_t batches() const { return batch_shape_.elements(); }
    [[nodiscard]] const Shape& batch_shape() const noexcept { return batch_shape_; }
    /// Returns whether the elements of a row are next to each other, rather than those of a column.
    [[nodiscard]] bool row_major() const noexcept { return row_major_; }

    void identify(KernelKey& key) const;
    [[nodiscard]] LoadMatrix declare(ParameterList& parameters) const;
    void add_arguments(std::vector<AnyArgument>& arguments) const;

private:
    MatrixAxes axes_;
    std::int64_t rows_ = 1, columns_ = 1;
    bool row_major_ = true;
    Shape batch_shape_;
    AnySource source_;  // of rank 1 + axes if it is flat
};

/// The result of a product.
class MatmulResult {
public:
    MatmulResult(const AnySink& sink, MatrixAxes axes);

    [[nodiscard]] DType dtype() const noexcept { return sink_.dtype(); }
    /// Returns whether a store is a single one to memory, cheap enough to be repeated in the code.
    [[nodiscard]] bool is_buffer() const noexcept { return sink_.buffer() != nullptr; }

    void identify(KernelKey& key) const;
    [[nodiscard]] StoreMatrix declare(ParameterList& parameters) const;
    void add_arguments(std::vector<AnyArgument>& arguments) const;

private:
    MatrixAxes axes_;
    AnySink sink_;
};

/// Finds the matrices of both operands for each matrix of the result: leading axes are broadcast.
class MatmulBatches {
public:
    /// Throws ArgumentError (InvalidShape) if the shapes do not broadcast.
    MatmulBatches(const Shape& a, const Shape& b);

    [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
    struct Pair {
        Value<u32> a, b;
    };
    void identify(KernelKey& key) const;
    /// Returns a function of the number of a matrix of the result.
    [[nodiscard]] std::function<Pair(const Value<u32>&)> declare(ParameterList& parameters) const;
    void add_arguments(std::vector<AnyArgument>& arguments) const;

private:
    struct Axis {
        std::int64_t extent, a, b;  // the extent, and the distances in both operands
    };
    Shape shape_;
    std::vector<Axis> axes_;  // merged where possible
};

}  // namespace volley::algorithms
