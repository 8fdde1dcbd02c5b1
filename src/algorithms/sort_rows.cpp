// Rows along an axis, and overlaps of the arrays of a sort.
#include "algorithms/sort_rows.hpp"

#include "algorithms/source_node.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/lang/operators.hpp>

#include <algorithm>

namespace volley::algorithms {

Rows::Rows(const Shape& array, int axis_or_negative, std::string_view algorithm)
    : shape(array), axis(checked_axis(axis_or_negative, array.rank(), algorithm)), length(array[axis]) {
    count = 1;
    for (int k = 0; k < shape.rank(); ++k) {
        if (k != axis) count *= shape[k];
    }
}

Shape Rows::with_length(std::int64_t other) const {
    std::vector<std::int64_t> extents(shape.begin(), shape.end());
    extents[static_cast<std::size_t>(axis)] = other;
    return Shape(std::span<const std::int64_t>(extents));
}

RowPositions::RowPositions(const Rows& rows, std::initializer_list<const AnySource*> sources,
                           std::initializer_list<const AnySink*> sinks)
    : rows_(rows), flat_(rows.contiguous()) {
    for (const AnySource* source : sources) flat_ = flat_ && source->is_flat();
    for (const AnySink* sink : sinks) flat_ = flat_ && sink->is_flat();
}

void RowPositions::identify(KernelKey& key) const {
    key.add(flat_);
    if (!flat_) key.add(rows_.axis).add(rows_.shape.rank());
}

void RowPositions::declare(ParameterList& parameters) {
    extents_ = detail::declare_extents(parameters, flat_ ? 1 : rows_.shape.rank());
}

void RowPositions::add_arguments(std::vector<AnyArgument>& arguments) const {
    detail::add_extents(arguments, flat_ ? Shape(rows_.length) : rows_.shape);
}

Position RowPositions::at(const Value<u32>& row, const Value<u32>& i) const {
    if (flat_) return Position(row * extents_[0] + i);
    std::vector<Value<u32>> others;
    for (int k = 0; k < rows_.shape.rank(); ++k) {
        if (k != rows_.axis) others.push_back(extents_[static_cast<std::size_t>(k)]);
    }
    std::vector<Value<u32>> indices;
    const Position outer = position_of(row, others);
    for (int k = 0, from = 0; k < rows_.shape.rank(); ++k)
        indices.push_back(k == rows_.axis ? i : outer[from++]);
    return {std::move(indices), extents_};
}

namespace {

bool shares_bytes(const AnyBuffer& a, const AnyBuffer& b) {
    return a.storage_id() == b.storage_id() && a.offset() < b.offset() + b.window_bytes() &&
           b.offset() < a.offset() + a.window_bytes();
}

}  // namespace

bool reads(const AnySource& source, const AnyBuffer& buffer) {
    std::vector<AnyArgument> arguments;
    source.add_arguments(arguments);
    return std::any_of(arguments.begin(), arguments.end(), [&](const AnyArgument& argument) {
        return argument.is_buffer() && shares_bytes(argument.buffer(), buffer);
    });
}

bool reads_part_of(const AnySource& source, const AnyBuffer& buffer) {
    if (const AnyBuffer* same = source.buffer()) {
        if (same->storage_id() == buffer.storage_id() && same->offset() == buffer.offset() &&
            same->dtype() == buffer.dtype() && same->shape() == buffer.shape() &&
            same->strides() == buffer.strides())
            return false;
    }
    return reads(source, buffer);
}

void check_apart(const AnySink& a, const AnySink& b, std::string_view algorithm) {
    if (a.buffer() == nullptr || b.buffer() == nullptr || !shares_bytes(*a.buffer(), *b.buffer())) return;
    fail(ErrorCode::InvalidView, "two outputs overlap",
         cat(algorithm, ", ", a.buffer()->name(), " and ", b.buffer()->name()),
         "write to buffers that share no bytes");
}

}  // namespace volley::algorithms
