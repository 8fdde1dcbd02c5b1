// Finds elements of batches of matrices. Flat arrays are reshaped to one batch axis, which costs nothing; in
// others, the number of a matrix is split into one index per axis.
#include "algorithms/matmul_operand.hpp"

#include <volley/lang/ids.hpp>
#include <volley/lang/operators.hpp>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace volley::algorithms {
namespace {

Shape leading_axes(const Shape& shape, int dropped) {
    std::vector<std::int64_t> extents;
    for (int axis = 0; axis + dropped < shape.rank(); ++axis) extents.push_back(shape[axis]);
    return Shape(std::span<const std::int64_t>(extents));
}

/// The shape with all batch axes merged into one.
Shape one_batch_axis(const Shape& shape, int matrix_axes) {
    std::vector<std::int64_t> extents{leading_axes(shape, matrix_axes).elements()};
    for (int axis = shape.rank() - matrix_axes; axis < shape.rank(); ++axis) extents.push_back(shape[axis]);
    return Shape(std::span<const std::int64_t>(extents));
}

/// Returns the position of an element. `extents` has one value per axis.
Position matrix_position(const std::vector<Value<u32>>& extents, MatrixAxes axes, const Value<u32>& batch,
                         const Value<u32>& row, const Value<u32>& column) {
    const auto lead = extents.end() - axes.count();
    std::vector<Value<u32>> indices;
    if (lead != extents.begin()) {
        const Position outer = position_of(batch, {extents.begin(), lead});
        for (const Value<u32>& index : outer.indices()) indices.push_back(index);
    }
    if (axes.transposed && axes.columns) indices.push_back(column);
    if (axes.rows) indices.push_back(row);
    if (!axes.transposed && axes.columns) indices.push_back(column);
    return {std::move(indices), extents};
}

void identify_axes(KernelKey& key, MatrixAxes axes, int rank) {
    key.add(axes.rows).add(axes.columns).add(axes.transposed).add(rank);
}

}  // namespace

MatmulOperand::MatmulOperand(const AnySource& source, MatrixAxes axes)
    : axes_(axes),
      batch_shape_(leading_axes(source.shape(), axes.count())),
      source_(source.is_flat() ? source.reshape(one_batch_axis(source.shape(), axes.count())) : source) {
    const Shape& shape = source.shape();
    const auto last = [&](int back) { return shape[shape.rank() - back]; };
    if (axes.count() == 2) {
        rows_ = last(axes.transposed ? 1 : 2);
        columns_ = last(axes.transposed ? 2 : 1);
        row_major_ = !axes.transposed;
        if (const AnyBuffer* buffer = source.buffer()) {
            const std::int64_t inner = std::abs(buffer->strides()[shape.rank() - 1]);
            const std::int64_t outer = std::abs(buffer->strides()[shape.rank() - 2]);
            if (outer < inner) row_major_ = !row_major_;
        }
    } else {
        (axes.rows ? rows_ : columns_) = last(1);
        row_major_ = axes.columns;
    }
}

void MatmulOperand::identify(KernelKey& key) const {
    identify_axes(key, axes_, source_.shape().rank());
    source_.identify(key);
}

LoadMatrix MatmulOperand::declare(ParameterList& parameters) const {
    std::vector<Value<u32>> extents = detail::declare_extents(parameters, source_.shape().rank());
    return [axes = axes_, extents = std::move(extents), load = source_.declare(parameters)](
               const Value<u32>& batch, const Value<u32>& row, const Value<u32>& column) {
        return load(matrix_position(extents, axes, batch, row, column));
    };
}

void MatmulOperand::add_arguments(std::vector<AnyArgument>& arguments) const {
    detail::add_extents(arguments, source_.shape());
    source_.add_arguments(arguments);
}

MatmulResult::MatmulResult(const AnySink& sink, MatrixAxes axes)
    : axes_(axes), sink_(sink.is_flat() ? sink.reshape(one_batch_axis(sink.shape(), axes.count())) : sink) {}

void MatmulResult::identify(KernelKey& key) const {
    identify_axes(key, axes_, sink_.shape().rank());
    sink_.identify(key);
}

StoreMatrix MatmulResult::declare(ParameterList& parameters) const {
    std::vector<Value<u32>> extents = detail::declare_extents(parameters, sink_.shape().rank());
    return [axes = axes_, extents = std::move(extents), store = sink_.declare(parameters)](
               const Value<u32>& batch, const Value<u32>& row, const Value<u32>& column,
               const AnyValue& value) { store(matrix_position(extents, axes, batch, row, column), value); };
}

void MatmulResult::add_arguments(std::vector<AnyArgument>& arguments) const {
    detail::add_extents(arguments, sink_.shape());
    sink_.add_arguments(arguments);
}

MatmulBatches::MatmulBatches(const Shape& a, const Shape& b) : shape_(broadcast_shape(a, b)) {
    std::int64_t in_a = 1, in_b = 1;
    std::vector<Axis> reversed;
    for (int back = 1; back <= shape_.rank(); ++back) {
        const std::int64_t of_a = back <= a.rank() ? a[a.rank() - back] : 1;
        const std::int64_t of_b = back <= b.rank() ? b[b.rank() - back] : 1;
        const Axis axis{shape_[shape_.rank() - back], of_a == 1 ? 0 : in_a, of_b == 1 ? 0 : in_b};
        in_a *= of_a;
        in_b *= of_b;
        if (axis.extent == 1) continue;
        if (!reversed.empty() && axis.a == reversed.back().a * reversed.back().extent &&
            axis.b == reversed.back().b * reversed.back().extent) {
            reversed.back().extent *= axis.extent;
        } else {
            reversed.push_back(axis);
        }
    }
    axes_.assign(reversed.rbegin(), reversed.rend());
}

void MatmulBatches::identify(KernelKey& key) const { key.add(axes_.size()); }

std::function<MatmulBatches::Pair(const Value<u32>&)> MatmulBatches::declare(
    ParameterList& parameters) const {
    const auto rank = static_cast<int>(axes_.size());
    std::vector<Value<u32>> extents = detail::declare_extents(parameters, rank);
    std::vector<Value<u32>> in_a = detail::declare_extents(parameters, rank);
    std::vector<Value<u32>> in_b = detail::declare_extents(parameters, rank);
    return [extents = std::move(extents), in_a = std::move(in_a),
            in_b = std::move(in_b)](const Value<u32>& batch) -> Pair {
        if (extents.empty()) return {Value<u32>(0U), Value<u32>(0U)};
        const Position at = position_of(batch, extents);
        std::vector<Value<u32>> a{at[0] * in_a[0]}, b{at[0] * in_b[0]};
        for (std::size_t k = 1; k < extents.size(); ++k) {
            a.push_back(a.back() + at[static_cast<int>(k)] * in_a[k]);
            b.push_back(b.back() + at[static_cast<int>(k)] * in_b[k]);
        }
        return {a.back(), b.back()};
    };
}

void MatmulBatches::add_arguments(std::vector<AnyArgument>& arguments) const {
    for (const Axis& axis : axes_) arguments.emplace_back(static_cast<u32>(axis.extent));
    for (const Axis& axis : axes_) arguments.emplace_back(static_cast<u32>(axis.a));
    for (const Axis& axis : axes_) arguments.emplace_back(static_cast<u32>(axis.b));
}

}  // namespace volley::algorithms
