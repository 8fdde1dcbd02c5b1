// AnySource: what an algorithm reads. A buffer, a mapped array (map.hpp) or a lazy expression (lazy.hpp).
#pragma once

#include <volley/algorithms/kernel_key.hpp>
#include <volley/algorithms/position.hpp>
#include <volley/any_buffer.hpp>
#include <volley/any_kernel.hpp>
#include <volley/lang/any_function.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace volley {

namespace detail {
class SourceNode;
}

/// Records the load of an element.
using LoadElement = std::function<AnyValue(const Position&)>;

/// An array of elements that a kernel loads or computes where it needs them. Immutable; copies are cheap and
/// keep the buffers alive. At most 2^32 - 1 elements.
///
/// An algorithm uses a source in four steps: it adds identify() to the key of its kernel, calls declare() for
/// all sources and sinks at the start of the kernel, then load() for elements, and passes arguments() when it
/// launches.
class VOLLEY_API AnySource {
public:
    /// The elements of a buffer, which may be a view with any strides. Throws ArgumentError for a buffer
    /// without a storage.
    AnySource(const AnyBuffer& buffer);  // NOLINT(google-explicit-constructor): a buffer is a source
    explicit AnySource(std::shared_ptr<const detail::SourceNode> node) noexcept : node_(std::move(node)) {}

    /// Elements computed by `function`, whose first parameters are `indices` u32 indices: 1 for the row-major
    /// number of the element, else one per axis. `arguments` are passed for the other parameters.
    [[nodiscard]] static AnySource mapped(const AnyFunction& function, unsigned indices, const Shape& shape,
                                          std::vector<AnyArgument> arguments);
    /// The result of an elementwise function of sources, which are broadcast to their common shape.
    [[nodiscard]] static AnySource computed(const AnyFunction& function,
                                            const std::vector<AnySource>& sources);
    /// An array of equal elements. Another value needs no other kernel.
    [[nodiscard]] static AnySource filled(const Shape& shape, const AnyArgument& value);

    [[nodiscard]] DType dtype() const noexcept;
    [[nodiscard]] const Shape& shape() const noexcept;
    [[nodiscard]] std::int64_t size() const;
    /// Returns whether elements are found by their row-major number, so that any position with the right
    /// number() will do.
    [[nodiscard]] bool is_flat() const noexcept;
    /// Returns the buffer, if the source is one.
    [[nodiscard]] const AnyBuffer* buffer() const noexcept;

    /// Returns the same elements in another shape. Throws ArgumentError (SizeMismatch).
    [[nodiscard]] AnySource reshape(const Shape& shape) const;
    /// Returns the array with axes of length 1 repeated, and leading axes added, as NumPy does. Throws
    /// ArgumentError (InvalidShape).
    [[nodiscard]] AnySource broadcast_to(const Shape& shape) const;
    /// Returns the elements converted to another type.
    [[nodiscard]] AnySource convert(DType type) const;

    // ---- for algorithms ----
    void identify(KernelKey& key) const;
    /// Declares the parameters that load elements need.
    [[nodiscard]] LoadElement declare(ParameterList& parameters) const;
    void add_arguments(std::vector<AnyArgument>& arguments) const;
    [[nodiscard]] const detail::SourceNode& node() const noexcept { return *node_; }

private:
    std::shared_ptr<const detail::SourceNode> node_;
};

/// Returns the shape that arrays of both shapes broadcast to. Throws ArgumentError (InvalidShape).
[[nodiscard]] VOLLEY_API Shape broadcast_shape(const Shape& a, const Shape& b);

/// A source of elements of type T: the result of map(), lazy() and operators on these.
template <class T>
class Mapped : public AnySource {
public:
    using value_type = T;
    explicit Mapped(AnySource source) : AnySource(std::move(source)) {}

    [[nodiscard]] Mapped reshape(const Shape& shape) const { return Mapped(AnySource::reshape(shape)); }
    [[nodiscard]] Mapped broadcast_to(const Shape& shape) const {
        return Mapped(AnySource::broadcast_to(shape));
    }
};

namespace detail {

/// Throws ArgumentError unless a host number fits the type that it is converted to.
VOLLEY_API void check_fits(bool fits, DType type);

template <class S>
struct SourceElement {};
template <class S>
requires std::derived_from<S, AnyBuffer> && requires { typename S::value_type; }
struct SourceElement<S> {
    using type = typename S::value_type;
};
template <class S>
requires std::derived_from<S, AnySource> && requires { typename S::value_type; }
struct SourceElement<S> {
    using type = typename S::value_type;
};

}  // namespace detail

/// Buffer<T> and Mapped<T>.
template <class S>
concept Source = requires {
    typename detail::SourceElement<S>::type;
};
template <Source S>
using source_element_t = typename detail::SourceElement<S>::type;

}  // namespace volley
