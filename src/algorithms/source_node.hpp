// The kinds of sources and sinks. Invariant: load() and store() of a flat node use only the row-major number
// of a position; those of any other node use one index per axis of its shape.
#pragma once

#include <volley/algorithms/any_sink.hpp>
#include <volley/algorithms/any_source.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace volley::detail {

/// What sources and sinks have in common.
class ArrayNode {
public:
    ArrayNode(DType type, const Shape& shape) : type_(type), shape_(shape) {}
    ArrayNode(const ArrayNode&) = delete;
    ArrayNode& operator=(const ArrayNode&) = delete;
    virtual ~ArrayNode() = default;

    [[nodiscard]] DType type() const noexcept { return type_; }
    [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
    [[nodiscard]] virtual bool is_flat() const noexcept = 0;
    [[nodiscard]] virtual const AnyBuffer* buffer() const noexcept { return nullptr; }
    /// Adds what determines the code of load() or store().
    virtual void identify(KernelKey& key) const = 0;
    virtual void add_arguments(std::vector<AnyArgument>& arguments) const = 0;

private:
    DType type_;
    Shape shape_;
};

/// Kinds of sources besides those in source.cpp, with other numbers than these.
enum class ArrangedKind : std::uint8_t {
    Permuted = 100,
    Rearranged,
    Gathered,
    GatheredAlong,
    Joined,
    Range,
};

/// Axis k of an array is axis axes[k] of the source.
struct Permutation {
    AnySource source;
    std::vector<int> axes;
};

class SourceNode : public ArrayNode {
public:
    using ArrayNode::ArrayNode;
    [[nodiscard]] virtual LoadElement declare(ParameterList& parameters) const = 0;
    /// Returns whether all elements are equal, so that with_shape() takes any shape.
    [[nodiscard]] virtual bool is_uniform() const noexcept { return false; }
    /// Returns whether an element may be computed from elements of a buffer at other positions. A buffer that
    /// is written must not be read so. Maps are trusted.
    [[nodiscard]] virtual bool moves_elements() const noexcept { return false; }
    /// Returns what the array permutes, if it is no more than a permutation.
    [[nodiscard]] virtual const Permutation* permutation() const noexcept { return nullptr; }
    /// Returns the places along an axis, in order, where the way to find the elements changes. Between them
    /// part() needs fewer tests, so that transform() may evaluate the array in parts.
    [[nodiscard]] virtual std::vector<std::int64_t> breaks(int /*axis*/) const { return {}; }
    /// Returns the elements of a part that no break divides, if there is a better array for them than a
    /// selection.
    [[nodiscard]] virtual std::optional<AnySource> part(int /*axis*/, std::int64_t /*begin*/,
                                                        std::int64_t /*length*/) const {
        return std::nullopt;
    }
    /// Returns whether the parts are better evaluated one by one on every device, and even if they are small.
    [[nodiscard]] virtual bool is_joined() const noexcept { return false; }
    /// Returns the same elements in a shape that is faster to evaluate, if there is one.
    [[nodiscard]] virtual std::optional<AnySource> reshaped() const { return std::nullopt; }
    /// Returns a flat node with another shape of as many elements. Called only if is_flat().
    [[nodiscard]] virtual std::shared_ptr<const SourceNode> with_shape(const Shape& shape) const = 0;
};

class SinkNode : public ArrayNode {
public:
    using ArrayNode::ArrayNode;
    [[nodiscard]] virtual StoreElement declare(ParameterList& parameters) const = 0;
    [[nodiscard]] virtual std::shared_ptr<const SinkNode> with_shape(const Shape& shape) const = 0;
};

/// Returns the elements [begin, begin + length) along an axis.
[[nodiscard]] AnySource part_of(const AnySource& source, int axis, std::int64_t begin, std::int64_t length);

/// Throws ArgumentError if an array of this shape has more elements than 32-bit indices can count.
void check_countable(const Shape& shape, std::string_view subject);
/// Checks the function of a map: its index parameters and the arguments for its other parameters. `values` is
/// the number of parameters between both.
void check_map(const AnyFunction& function, unsigned indices, unsigned values, const Shape& shape,
               const std::vector<AnyArgument>& arguments);

/// Declares parameters for the extents of a shape, and adds their values to the arguments.
[[nodiscard]] std::vector<Value<u32>> declare_extents(ParameterList& parameters, int rank);
void add_extents(std::vector<AnyArgument>& arguments, const Shape& shape);

/// The parameters of a map that follow its indices.
[[nodiscard]] std::vector<lang::Ref> declare_arguments(ParameterList& parameters, const AnyFunction& function,
                                                       std::size_t first);
/// The index arguments of a map at a position.
[[nodiscard]] std::vector<lang::Ref> index_arguments(const Position& at, unsigned indices);

}  // namespace volley::detail
