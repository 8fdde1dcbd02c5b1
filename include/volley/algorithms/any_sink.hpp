// AnySink: where an algorithm writes. A buffer, or a store map (map.hpp).
#pragma once

#include <volley/algorithms/any_source.hpp>

namespace volley {

namespace detail {
class SinkNode;
}

/// Records the store of an element.
using StoreElement = std::function<void(const Position&, const AnyValue&)>;

/// An array that a kernel stores elements to. Immutable; copies are cheap and keep the buffers alive.
/// Algorithms use it as they use an AnySource.
class VOLLEY_API AnySink {
public:
    /// The elements of a buffer, which may be a view with any strides.
    AnySink(const AnyBuffer& buffer);  // NOLINT(google-explicit-constructor): a buffer is a sink
    explicit AnySink(std::shared_ptr<const detail::SinkNode> node) noexcept : node_(std::move(node)) {}

    /// Elements stored by `function`, whose parameters are `indices` u32 indices, the value, and the
    /// parameters for `arguments`.
    [[nodiscard]] static AnySink mapped(const AnyFunction& function, unsigned indices, const Shape& shape,
                                        std::vector<AnyArgument> arguments);

    [[nodiscard]] DType dtype() const noexcept;
    [[nodiscard]] const Shape& shape() const noexcept;
    [[nodiscard]] bool is_flat() const noexcept;
    [[nodiscard]] const AnyBuffer* buffer() const noexcept;
    /// Returns the same elements in another shape. Throws ArgumentError (SizeMismatch).
    [[nodiscard]] AnySink reshape(const Shape& shape) const;

    void identify(KernelKey& key) const;
    [[nodiscard]] StoreElement declare(ParameterList& parameters) const;
    void add_arguments(std::vector<AnyArgument>& arguments) const;

private:
    std::shared_ptr<const detail::SinkNode> node_;
};

}  // namespace volley
