// Sources: buffers, maps, elementwise functions, broadcast, reshaped and converted arrays.
#include "algorithms/source_node.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace volley {
namespace detail {

void check_fits(bool fits, DType type) {
    if (fits) return;
    fail(ErrorCode::InvalidArgument, cat("a number does not fit its type, ", type.name()), "a mapped array",
         "use a number in the range of the type, or convert the array to a wider type");
}

void check_countable(const Shape& shape, std::string_view subject) {
    const std::int64_t count = shape.elements();
    if (std::cmp_less_equal(count, std::numeric_limits<std::uint32_t>::max())) return;
    fail(ErrorCode::Overflow, cat("the array has ", count, " elements, more than algorithms can index"),
         subject, "split it into parts of at most 4294967295 elements, for example with sub()");
}

void check_map(const AnyFunction& function, unsigned indices, unsigned values, const Shape& shape,
               const std::vector<AnyArgument>& arguments) {
    check_countable(shape, "a map");
    const std::span<const FunctionParameter> parameters = function.parameters();
    if (indices != 1 && std::cmp_not_equal(indices, shape.rank())) {
        fail(ErrorCode::InvalidShape,
             cat("a map with ", indices, " indices is used over the shape ", shape.to_string()), "a map",
             "declare one index for the row-major number, or one index per axis");
    }
    const std::size_t first = indices + values;
    if (parameters.size() != first + arguments.size()) {
        fail(ErrorCode::InvalidArgument,
             cat("a map with ", parameters.size(), " parameters was called with ", arguments.size(),
                 " arguments after ", indices, indices == 1 ? " index" : " indices",
                 values == 0 ? "" : " and the value"),
             "a map", "pass one argument for each parameter");
    }
    for (std::size_t k = 0; k < first; ++k) {
        if (!parameters[k].is_buffer && (k >= indices || parameters[k].type == dtype_of<u32>())) continue;
        fail(ErrorCode::TypeMismatch,
             cat("parameter ", k + 1, " of a map is a ", parameters[k].is_buffer ? "buffer of " : "",
                 parameters[k].type.name(), ", but it receives ", k < indices ? "an index" : "the value"),
             "a map", "declare u32 indices first, and then, for a store map, the value");
    }
    if (function.result().is_void() != (values > 0)) {
        fail(ErrorCode::TypeMismatch,
             values > 0 ? "the function of a store map returns a value"
                        : "the function of a map returns nothing",
             "a map", "return the element from a map, and nothing from a store map");
    }
    for (std::size_t k = 0; k < arguments.size(); ++k) {
        const FunctionParameter& parameter = parameters[first + k];
        if (arguments[k].is_buffer() == parameter.is_buffer && arguments[k].dtype() == parameter.type)
            continue;
        fail(ErrorCode::TypeMismatch,
             cat("argument ", k + 1, " of a map is a ", arguments[k].is_buffer() ? "buffer of " : "",
                 arguments[k].dtype().name(), ", but the parameter is a ",
                 parameter.is_buffer ? "buffer of " : "", parameter.type.name()),
             "a map", "pass an argument of the parameter's type");
    }
}

std::vector<Value<u32>> declare_extents(ParameterList& parameters, int rank) {
    std::vector<Value<u32>> extents;
    extents.reserve(static_cast<std::size_t>(rank));
    for (int axis = 0; axis < rank; ++axis) extents.push_back(parameters.value<u32>());
    return extents;
}

void add_extents(std::vector<AnyArgument>& arguments, const Shape& shape) {
    for (const std::int64_t extent : shape) arguments.emplace_back(static_cast<u32>(extent));
}

std::vector<lang::Ref> declare_arguments(ParameterList& parameters, const AnyFunction& function,
                                         std::size_t first) {
    std::vector<lang::Ref> refs;
    for (const FunctionParameter& parameter : function.parameters().subspan(first)) {
        if (!parameter.is_buffer) {
            refs.push_back(ref_of(parameters.value(parameter.type)));
        } else if (parameter.read_only) {
            refs.push_back(ref_of(parameters.const_buffer(parameter.type)));
        } else {
            refs.push_back(ref_of(parameters.buffer(parameter.type)));
        }
    }
    return refs;
}

std::vector<lang::Ref> index_arguments(const Position& at, unsigned indices) {
    if (indices == 1) return {lang::ref_of(at.number())};
    std::vector<lang::Ref> refs;
    for (const Value<u32>& index : at.indices()) refs.push_back(lang::ref_of(index));
    return refs;
}

namespace {

using NodePointer = std::shared_ptr<const SourceNode>;

enum class Kind : std::uint8_t { Flat, Strided, Map, Computed, Filled, Reshaped, Broadcast, Converted };

class BufferSource final : public SourceNode {
public:
    BufferSource(const AnyBuffer& buffer, const Shape& shape)
        : SourceNode(buffer.dtype(), shape), buffer_(buffer), flat_(buffer.is_contiguous()) {}

    [[nodiscard]] bool is_flat() const noexcept override { return flat_; }
    [[nodiscard]] const AnyBuffer* buffer() const noexcept override { return &buffer_; }
    void identify(KernelKey& key) const override { key.add(flat_ ? Kind::Flat : Kind::Strided).add(type()); }
    void add_arguments(std::vector<AnyArgument>& arguments) const override {
        arguments.emplace_back(buffer_);
    }
    [[nodiscard]] LoadElement declare(ParameterList& parameters) const override {
        const AnyArray array = parameters.const_buffer(type());
        if (flat_) return [array](const Position& at) { return array.load(at.number()); };
        return [array](const Position& at) { return array.load_at(at.indices()); };
    }
    [[nodiscard]] NodePointer with_shape(const Shape& shape) const override {
        return std::make_shared<BufferSource>(buffer_.reshape(shape), shape);
    }

private:
    AnyBuffer buffer_;
    bool flat_;
};

class MapSource final : public SourceNode {
public:
    MapSource(AnyFunction function, unsigned indices, const Shape& shape, std::vector<AnyArgument> arguments)
        : SourceNode(function.result(), shape),
          function_(std::move(function)),
          indices_(indices),
          arguments_(std::move(arguments)) {}

    [[nodiscard]] bool is_flat() const noexcept override { return indices_ == 1; }
    void identify(KernelKey& key) const override { key.add(Kind::Map).add(indices_).add(function_.hash()); }
    void add_arguments(std::vector<AnyArgument>& arguments) const override {
        arguments.insert(arguments.end(), arguments_.begin(), arguments_.end());
    }
    [[nodiscard]] LoadElement declare(ParameterList& parameters) const override {
        return [function = function_, indices = indices_,
                others = declare_arguments(parameters, function_, indices_)](const Position& at) {
            std::vector<lang::Ref> refs = index_arguments(at, indices);
            refs.insert(refs.end(), others.begin(), others.end());
            return function.call(refs);
        };
    }
    [[nodiscard]] NodePointer with_shape(const Shape& shape) const override {
        return std::make_shared<MapSource>(function_, indices_, shape, arguments_);
    }

private:
    AnyFunction function_;
    unsigned indices_;
    std::vector<AnyArgument> arguments_;
};

class ComputedSource final : public SourceNode {
public:
    ComputedSource(AnyFunction function, const Shape& shape, std::vector<NodePointer> sources)
        : SourceNode(function.result(), shape),
          function_(std::move(function)),
          sources_(std::move(sources)) {}

    [[nodiscard]] bool is_flat() const noexcept override {
        return std::ranges::all_of(sources_, [](const NodePointer& source) { return source->is_flat(); });
    }
    [[nodiscard]] bool moves_elements() const noexcept override {
        return std::ranges::any_of(sources_,
                                   [](const NodePointer& source) { return source->moves_elements(); });
    }
    [[nodiscard]] std::vector<std::int64_t> breaks(int axis) const override {
        std::vector<std::int64_t> places;
        for (const NodePointer& source : sources_) {
            const std::vector<std::int64_t> more = source->breaks(axis);
            places.insert(places.end(), more.begin(), more.end());
        }
        std::ranges::sort(places);
        places.erase(std::unique(places.begin(), places.end()), places.end());
        return places;
    }
    [[nodiscard]] std::optional<AnySource> part(int axis, std::int64_t begin,
                                                std::int64_t length) const override {
        std::vector<AnySource> parts;
        for (const NodePointer& source : sources_)
            parts.push_back(part_of(AnySource(source), axis, begin, length));
        return AnySource::computed(function_, parts);
    }
    void identify(KernelKey& key) const override {
        key.add(Kind::Computed).add(function_.hash()).add(sources_.size());
        for (const NodePointer& source : sources_) source->identify(key);
    }
    void add_arguments(std::vector<AnyArgument>& arguments) const override {
        for (const NodePointer& source : sources_) source->add_arguments(arguments);
    }
    [[nodiscard]] LoadElement declare(ParameterList& parameters) const override {
        std::vector<LoadElement> loads;
        for (const NodePointer& source : sources_) loads.push_back(source->declare(parameters));
        return [function = function_, loads = std::move(loads)](const Position& at) {
            std::vector<lang::Ref> refs;
            for (const LoadElement& load : loads) refs.push_back(ref_of(load(at)));
            return function.call(refs);
        };
    }
    [[nodiscard]] NodePointer with_shape(const Shape& shape) const override {
        std::vector<NodePointer> sources;
        for (const NodePointer& source : sources_) sources.push_back(source->with_shape(shape));
        return std::make_shared<ComputedSource>(function_, shape, std::move(sources));
    }

private:
    AnyFunction function_;
    std::vector<NodePointer> sources_;
};

class FilledSource final : public SourceNode {
public:
    FilledSource(const Shape& shape, AnyArgument value)
        : SourceNode(value.dtype(), shape), value_(std::move(value)) {}

    [[nodiscard]] bool is_flat() const noexcept override { return true; }
    [[nodiscard]] bool is_uniform() const noexcept override { return true; }
    void identify(KernelKey& key) const override { key.add(Kind::Filled).add(type()); }
    void add_arguments(std::vector<AnyArgument>& arguments) const override { arguments.push_back(value_); }
    [[nodiscard]] LoadElement declare(ParameterList& parameters) const override {
        return [value = parameters.value(type())](const Position&) { return value; };
    }
    [[nodiscard]] NodePointer with_shape(const Shape& shape) const override {
        return std::make_shared<FilledSource>(shape, value_);
    }

private:
    AnyArgument value_;
};

/// Finds the element of a node that is not flat by its number.
class ReshapedSource final : public SourceNode {
public:
    ReshapedSource(NodePointer source, const Shape& shape)
        : SourceNode(source->type(), shape), source_(std::move(source)) {}

    [[nodiscard]] bool is_flat() const noexcept override { return true; }
    [[nodiscard]] bool moves_elements() const noexcept override { return source_->moves_elements(); }
    void identify(KernelKey& key) const override {
        key.add(Kind::Reshaped).add(source_->shape().rank());
        source_->identify(key);
    }
    void add_arguments(std::vector<AnyArgument>& arguments) const override {
        add_extents(arguments, source_->shape());
        source_->add_arguments(arguments);
    }
    [[nodiscard]] LoadElement declare(ParameterList& parameters) const override {
        std::vector<Value<u32>> extents = declare_extents(parameters, source_->shape().rank());
        return [extents = std::move(extents), load = source_->declare(parameters)](const Position& at) {
            return load(position_of(at.number(), extents));
        };
    }
    [[nodiscard]] NodePointer with_shape(const Shape& shape) const override {
        if (shape == source_->shape()) return source_;
        return std::make_shared<ReshapedSource>(source_, shape);
    }

private:
    NodePointer source_;
};

class BroadcastSource final : public SourceNode {
public:
    BroadcastSource(NodePointer source, const Shape& shape)
        : SourceNode(source->type(), shape), source_(std::move(source)) {}

    [[nodiscard]] bool is_flat() const noexcept override { return false; }
    [[nodiscard]] bool moves_elements() const noexcept override { return source_->moves_elements(); }
    void identify(KernelKey& key) const override {
        key.add(Kind::Broadcast).add(shape().rank()).add(source_->shape().rank());
        for (const std::int64_t extent : source_->shape()) key.add(extent == 1);
        source_->identify(key);
    }
    void add_arguments(std::vector<AnyArgument>& arguments) const override {
        add_extents(arguments, source_->shape());
        source_->add_arguments(arguments);
    }
    [[nodiscard]] LoadElement declare(ParameterList& parameters) const override {
        const int lead = shape().rank() - source_->shape().rank();
        std::vector<bool> repeated;
        for (const std::int64_t extent : source_->shape()) repeated.push_back(extent == 1);
        std::vector<Value<u32>> extents = declare_extents(parameters, source_->shape().rank());
        return [lead, repeated = std::move(repeated), extents = std::move(extents),
                load = source_->declare(parameters)](const Position& at) {
            std::vector<Value<u32>> indices;
            for (std::size_t k = 0; k < repeated.size(); ++k) {
                indices.push_back(repeated[k] ? Value<u32>(0U) : at[lead + static_cast<int>(k)]);
            }
            return load(Position(std::move(indices), extents));
        };
    }
    [[nodiscard]] NodePointer with_shape(const Shape& shape) const override {
        return std::make_shared<BroadcastSource>(source_, shape);  // not called: never flat
    }

private:
    NodePointer source_;
};

class ConvertedSource final : public SourceNode {
public:
    ConvertedSource(NodePointer source, DType type)
        : SourceNode(type, source->shape()), source_(std::move(source)) {}

    [[nodiscard]] bool is_flat() const noexcept override { return source_->is_flat(); }
    [[nodiscard]] bool moves_elements() const noexcept override { return source_->moves_elements(); }
    [[nodiscard]] std::vector<std::int64_t> breaks(int axis) const override { return source_->breaks(axis); }
    [[nodiscard]] std::optional<AnySource> part(int axis, std::int64_t begin,
                                                std::int64_t length) const override {
        return part_of(AnySource(source_), axis, begin, length).convert(type());
    }
    void identify(KernelKey& key) const override {
        key.add(Kind::Converted).add(type());
        source_->identify(key);
    }
    void add_arguments(std::vector<AnyArgument>& arguments) const override {
        source_->add_arguments(arguments);
    }
    [[nodiscard]] LoadElement declare(ParameterList& parameters) const override {
        return [type = type(), load = source_->declare(parameters)](const Position& at) {
            return volley::convert(load(at), type);
        };
    }
    [[nodiscard]] NodePointer with_shape(const Shape& shape) const override {
        return std::make_shared<ConvertedSource>(source_->with_shape(shape), type());
    }

private:
    NodePointer source_;
};

void check_computed(const AnyFunction& function, const std::vector<AnySource>& sources) {
    const std::span<const FunctionParameter> parameters = function.parameters();
    bool fits = parameters.size() == sources.size() && !function.result().is_void();
    for (std::size_t k = 0; fits && k < sources.size(); ++k)
        fits = !parameters[k].is_buffer && parameters[k].type == sources[k].dtype();
    if (fits) return;
    std::string given;
    for (const AnySource& source : sources) given += cat(given.empty() ? "" : ", ", source.dtype().name());
    fail(ErrorCode::TypeMismatch,
         cat("an elementwise function cannot be applied to elements of type (", given, ")"),
         "a lazy expression",
         "use a function with one Value of these types for each array that returns a value");
}

NodePointer broadcast(const NodePointer& source, const Shape& shape) {
    if (source->shape() == shape) return source;
    const int lead = shape.rank() - source->shape().rank();
    bool fits = lead >= 0;
    for (int axis = 0; fits && axis < source->shape().rank(); ++axis)
        fits = source->shape()[axis] == shape[lead + axis] || source->shape()[axis] == 1;
    if (!fits) {
        fail(ErrorCode::InvalidShape,
             cat("an array of shape ", source->shape().to_string(), " cannot be broadcast to ",
                 shape.to_string()),
             source->buffer() != nullptr ? source->buffer()->name() : "a mapped array",
             "each axis, counted from the last, must have the same length or length 1");
    }
    check_countable(shape, "a broadcast array");
    if (source->is_uniform()) return source->with_shape(shape);
    if (source->is_flat() && source->shape().elements() == shape.elements()) return source->with_shape(shape);
    return std::make_shared<BroadcastSource>(source, shape);
}

}  // namespace
}  // namespace detail

AnySource::AnySource(const AnyBuffer& buffer) {
    if (buffer.dtype().is_void()) {
        fail(ErrorCode::InvalidArgument, "a default-constructed buffer was passed to an algorithm",
             "a buffer", "create it with a shape, or with as_buffer()");
    }
    detail::check_countable(buffer.shape(), buffer.name());
    node_ = std::make_shared<detail::BufferSource>(buffer, buffer.shape());
}

AnySource AnySource::mapped(const AnyFunction& function, unsigned indices, const Shape& shape,
                            std::vector<AnyArgument> arguments) {
    detail::check_map(function, indices, 0, shape, arguments);
    return AnySource(std::make_shared<detail::MapSource>(function, indices, shape, std::move(arguments)));
}

AnySource AnySource::computed(const AnyFunction& function, const std::vector<AnySource>& sources) {
    detail::check_computed(function, sources);
    Shape shape;
    for (const AnySource& source : sources) shape = broadcast_shape(shape, source.shape());
    std::vector<detail::NodePointer> nodes;
    nodes.reserve(sources.size());
    for (const AnySource& source : sources) nodes.push_back(detail::broadcast(source.node_, shape));
    return AnySource(std::make_shared<detail::ComputedSource>(function, shape, std::move(nodes)));
}

AnySource AnySource::filled(const Shape& shape, const AnyArgument& value) {
    detail::check_countable(shape, "a filled array");
    return AnySource(std::make_shared<detail::FilledSource>(shape, value));
}

DType AnySource::dtype() const noexcept { return node_->type(); }
const Shape& AnySource::shape() const noexcept { return node_->shape(); }
std::int64_t AnySource::size() const { return node_->shape().elements(); }
bool AnySource::is_flat() const noexcept { return node_->is_flat(); }
const AnyBuffer* AnySource::buffer() const noexcept { return node_->buffer(); }

AnySource AnySource::reshape(const Shape& shape) const {
    if (shape == node_->shape()) return *this;
    if (shape.elements() != size()) {
        fail(ErrorCode::SizeMismatch,
             cat("an array of shape ", node_->shape().to_string(), " cannot have the shape ",
                 shape.to_string()),
             "an array", "use a shape with as many elements");
    }
    if (node_->is_flat()) return AnySource(node_->with_shape(shape));
    return AnySource(std::make_shared<detail::ReshapedSource>(node_, shape));
}

AnySource AnySource::broadcast_to(const Shape& shape) const {
    return AnySource(detail::broadcast(node_, shape));
}

AnySource AnySource::convert(DType type) const {
    if (type == dtype()) return *this;
    return AnySource(std::make_shared<detail::ConvertedSource>(node_, type));
}

void AnySource::identify(KernelKey& key) const { node_->identify(key); }
LoadElement AnySource::declare(ParameterList& parameters) const { return node_->declare(parameters); }
void AnySource::add_arguments(std::vector<AnyArgument>& arguments) const { node_->add_arguments(arguments); }

Shape broadcast_shape(const Shape& a, const Shape& b) {
    const int rank = std::max(a.rank(), b.rank());
    std::vector<std::int64_t> extents(static_cast<std::size_t>(rank), 1);
    for (int k = 1; k <= rank; ++k) {
        const std::int64_t x = k <= a.rank() ? a[a.rank() - k] : 1;
        const std::int64_t y = k <= b.rank() ? b[b.rank() - k] : 1;
        if (x != y && x != 1 && y != 1) {
            fail(ErrorCode::InvalidShape,
                 cat("the shapes ", a.to_string(), " and ", b.to_string(), " cannot be broadcast together"),
                 "a lazy expression",
                 "each axis, counted from the last, must have the same length or length 1");
        }
        extents[static_cast<std::size_t>(rank - k)] = x == 1 ? y : x;
    }
    return Shape(std::span<const std::int64_t>(extents));
}

}  // namespace volley
