// Sinks: buffers, store maps, and sinks in another shape.
#include "algorithms/source_node.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <utility>

namespace volley {
namespace detail {
namespace {

using SinkPointer = std::shared_ptr<const SinkNode>;

enum class SinkKind : std::uint8_t { Flat, Strided, Map, Reshaped };

class BufferSink final : public SinkNode {
public:
    BufferSink(const AnyBuffer& buffer, const Shape& shape)
        : SinkNode(buffer.dtype(), shape), buffer_(buffer), flat_(buffer.is_contiguous()) {}

    [[nodiscard]] bool is_flat() const noexcept override { return flat_; }
    [[nodiscard]] const AnyBuffer* buffer() const noexcept override { return &buffer_; }
    void identify(KernelKey& key) const override {
        key.add(flat_ ? SinkKind::Flat : SinkKind::Strided).add(type());
    }
    void add_arguments(std::vector<AnyArgument>& arguments) const override {
        arguments.emplace_back(buffer_);
    }
    [[nodiscard]] StoreElement declare(ParameterList& parameters) const override {
        const AnyArray array = parameters.buffer(type());
        if (flat_)
            return [array](const Position& at, const AnyValue& value) { array.store(at.number(), value); };
        return [array](const Position& at, const AnyValue& value) { array.store_at(at.indices(), value); };
    }
    [[nodiscard]] SinkPointer with_shape(const Shape& shape) const override {
        return std::make_shared<BufferSink>(buffer_.reshape(shape), shape);
    }

private:
    AnyBuffer buffer_;
    bool flat_;
};

class MapSink final : public SinkNode {
public:
    MapSink(AnyFunction function, unsigned indices, const Shape& shape, std::vector<AnyArgument> arguments)
        : SinkNode(function.parameters()[indices].type, shape),
          function_(std::move(function)),
          indices_(indices),
          arguments_(std::move(arguments)) {}

    [[nodiscard]] bool is_flat() const noexcept override { return indices_ == 1; }
    void identify(KernelKey& key) const override {
        key.add(SinkKind::Map).add(indices_).add(function_.hash());
    }
    void add_arguments(std::vector<AnyArgument>& arguments) const override {
        arguments.insert(arguments.end(), arguments_.begin(), arguments_.end());
    }
    [[nodiscard]] StoreElement declare(ParameterList& parameters) const override {
        return [function = function_, indices = indices_,
                others = declare_arguments(parameters, function_, indices_ + 1)](const Position& at,
                                                                                 const AnyValue& value) {
            std::vector<lang::Ref> refs = index_arguments(at, indices);
            refs.push_back(ref_of(value));
            refs.insert(refs.end(), others.begin(), others.end());
            function.call(refs);
        };
    }
    [[nodiscard]] SinkPointer with_shape(const Shape& shape) const override {
        return std::make_shared<MapSink>(function_, indices_, shape, arguments_);
    }

private:
    AnyFunction function_;
    unsigned indices_;
    std::vector<AnyArgument> arguments_;
};

/// Finds the element of a node that is not flat by its number.
class ReshapedSink final : public SinkNode {
public:
    ReshapedSink(SinkPointer sink, const Shape& shape)
        : SinkNode(sink->type(), shape), sink_(std::move(sink)) {}

    [[nodiscard]] bool is_flat() const noexcept override { return true; }
    void identify(KernelKey& key) const override {
        key.add(SinkKind::Reshaped).add(sink_->shape().rank());
        sink_->identify(key);
    }
    void add_arguments(std::vector<AnyArgument>& arguments) const override {
        add_extents(arguments, sink_->shape());
        sink_->add_arguments(arguments);
    }
    [[nodiscard]] StoreElement declare(ParameterList& parameters) const override {
        std::vector<Value<u32>> extents = declare_extents(parameters, sink_->shape().rank());
        return [extents = std::move(extents), store = sink_->declare(parameters)](const Position& at,
                                                                                  const AnyValue& value) {
            store(position_of(at.number(), extents), value);
        };
    }
    [[nodiscard]] SinkPointer with_shape(const Shape& shape) const override {
        if (shape == sink_->shape()) return sink_;
        return std::make_shared<ReshapedSink>(sink_, shape);
    }

private:
    SinkPointer sink_;
};

}  // namespace
}  // namespace detail

AnySink::AnySink(const AnyBuffer& buffer) {
    if (buffer.dtype().is_void()) {
        fail(ErrorCode::InvalidArgument, "a default-constructed buffer was passed to an algorithm",
             "a buffer", "create it with a shape");
    }
    detail::check_countable(buffer.shape(), buffer.name());
    node_ = std::make_shared<detail::BufferSink>(buffer, buffer.shape());
}

AnySink AnySink::mapped(const AnyFunction& function, unsigned indices, const Shape& shape,
                        std::vector<AnyArgument> arguments) {
    detail::check_map(function, indices, 1, shape, arguments);
    return AnySink(std::make_shared<detail::MapSink>(function, indices, shape, std::move(arguments)));
}

DType AnySink::dtype() const noexcept { return node_->type(); }
const Shape& AnySink::shape() const noexcept { return node_->shape(); }
bool AnySink::is_flat() const noexcept { return node_->is_flat(); }
const AnyBuffer* AnySink::buffer() const noexcept { return node_->buffer(); }

AnySink AnySink::reshape(const Shape& shape) const {
    if (shape == node_->shape()) return *this;
    if (shape.elements() != node_->shape().elements()) {
        fail(ErrorCode::SizeMismatch,
             cat("an array of shape ", node_->shape().to_string(), " cannot have the shape ",
                 shape.to_string()),
             "an array", "use a shape with as many elements");
    }
    if (node_->is_flat()) return AnySink(node_->with_shape(shape));
    return AnySink(std::make_shared<detail::ReshapedSink>(node_, shape));
}

void AnySink::identify(KernelKey& key) const { node_->identify(key); }
StoreElement AnySink::declare(ParameterList& parameters) const { return node_->declare(parameters); }
void AnySink::add_arguments(std::vector<AnyArgument>& arguments) const { node_->add_arguments(arguments); }

}  // namespace volley
