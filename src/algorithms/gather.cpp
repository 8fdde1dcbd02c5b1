// Arrays whose elements are those of another array at loaded indices.
#include "algorithms/execution.hpp"
#include "algorithms/placed_index.hpp"
#include "algorithms/source_node.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/algorithms/gather.hpp>
#include <volley/lang/control.hpp>

#include <utility>

namespace volley {
namespace {

using algorithms::PlacedIndex;

constexpr std::string_view take_name = "take";
constexpr std::string_view take_along_name = "take_along_axis";

AnyValue load_if(const std::optional<Value<bool>>& inside, DType type, const LoadElement& load,
                 const Position& at) {
    if (!inside) return load(at);
    AnyVar element(zero_of(type));
    $if (*inside) {
        element = load(at);
    }
    return element.load();
}

/// `along`: the indices have the shape of the array. Otherwise their axes take the place of the axis.
class GatheredSource final : public detail::SourceNode {
public:
    GatheredSource(const AnySource& source, const AnySource& indices, const Shape& shape, int axis,
                   OutOfRange policy, bool along)
        : SourceNode(source.dtype(), shape),
          source_(source),
          indices_(indices),
          axis_(axis),
          policy_(policy),
          along_(along) {}

    [[nodiscard]] bool is_flat() const noexcept override { return false; }
    [[nodiscard]] bool moves_elements() const noexcept override { return true; }
    void identify(KernelKey& key) const override {
        key.add(along_ ? detail::ArrangedKind::GatheredAlong : detail::ArrangedKind::Gathered);
        key.add(axis_).add(policy_).add(source_.shape().rank()).add(indices_.shape().rank());
        source_.identify(key);
        indices_.identify(key);
    }
    void add_arguments(std::vector<AnyArgument>& arguments) const override {
        detail::add_extents(arguments, source_.shape());
        detail::add_extents(arguments, indices_.shape());
        source_.add_arguments(arguments);
        indices_.add_arguments(arguments);
    }
    [[nodiscard]] LoadElement declare(ParameterList& parameters) const override {
        std::vector<Value<u32>> extents = detail::declare_extents(parameters, source_.shape().rank());
        std::vector<Value<u32>> index_extents = detail::declare_extents(parameters, indices_.shape().rank());
        LoadElement load = source_.declare(parameters);
        LoadElement load_index = indices_.declare(parameters);
        return [type = type(), axis = axis_, policy = policy_, along = along_, extents = std::move(extents),
                index_extents = std::move(index_extents), load = std::move(load),
                load_index = std::move(load_index)](const Position& at) {
            // The axes [begin, end) of the position are those of the indices.
            const int begin = along ? 0 : axis;
            const int end = begin + static_cast<int>(index_extents.size());
            std::vector<Value<u32>> index_at;
            for (int k = begin; k < end; ++k) index_at.push_back(at[k]);
            const PlacedIndex placed =
                algorithms::place_index(load_index(Position(std::move(index_at), index_extents)),
                                        extents[static_cast<std::size_t>(axis)], policy);
            std::vector<Value<u32>> from(at.indices().begin(), at.indices().begin() + axis);
            from.push_back(placed.index);
            for (int k = along ? axis + 1 : end; k < at.rank(); ++k) from.push_back(at[k]);
            return load_if(placed.inside, type, load, Position(std::move(from), extents));
        };
    }
    [[nodiscard]] std::shared_ptr<const SourceNode> with_shape(const Shape&) const override {
        return nullptr;  // not called: never flat
    }

private:
    AnySource source_;
    AnySource indices_;
    int axis_;
    OutOfRange policy_;
    bool along_;
};

Event write_gathered(const AnySink& to, const AnySource& from, const TakeOptions& options,
                     std::string_view algorithm) {
    algorithms::check_sink(to, from.dtype(), from.shape(), algorithm);
    algorithms::check_no_overlap(to, from, false, algorithm);
    return transform(to, from, {.queue = options.queue});
}

}  // namespace

AnySource detail::taken(const AnySource& source, const AnySource& indices, const TakeOptions& options) {
    const int axis = algorithms::checked_axis(options.axis, source.shape().rank(), take_name);
    algorithms::check_indices(indices, source.shape()[axis], options.out_of_range, take_name);
    const Shape shape = algorithms::shape_of_indexed(source.shape(), axis, indices.shape());
    check_countable(shape, take_name);
    return AnySource(
        std::make_shared<GatheredSource>(source, indices, shape, axis, options.out_of_range, false));
}

AnySource detail::taken_along(const AnySource& source, const AnySource& indices, const TakeOptions& options) {
    const int rank = source.shape().rank();
    const int axis = algorithms::checked_axis(options.axis, rank, take_along_name);
    const std::int64_t extent = source.shape()[axis];
    algorithms::check_indices(indices, extent, options.out_of_range, take_along_name);
    if (indices.shape().rank() != rank) {
        fail(ErrorCode::InvalidShape,
             cat("the indices have the shape ", indices.shape().to_string(), ", but the array has ",
                 source.shape().to_string()),
             take_along_name, "use as many axes as the array has, or take()");
    }
    const std::vector<std::int64_t> length{indices.shape()[axis]};
    const Shape line{std::span<const std::int64_t>(length)};
    const Shape shape =
        broadcast_shape(algorithms::shape_of_indexed(source.shape(), axis, line), indices.shape());
    const std::vector<std::int64_t> own{extent};
    const Shape from = algorithms::shape_of_indexed(shape, axis, Shape(std::span<const std::int64_t>(own)));
    return AnySource(std::make_shared<GatheredSource>(source.broadcast_to(from), indices.broadcast_to(shape),
                                                      shape, axis, options.out_of_range, true));
}

Event take(const AnySink& to, const AnySource& from, const AnySource& indices, const TakeOptions& options) {
    return write_gathered(to, detail::taken(from, indices, options), options, take_name);
}

Event take_along_axis(const AnySink& to, const AnySource& from, const AnySource& indices,
                      const TakeOptions& options) {
    return write_gathered(to, detail::taken_along(from, indices, options), options, take_along_name);
}

}  // namespace volley
