// Sinks that store elements at loaded indices, plainly or with atomic additions.
#include "algorithms/execution.hpp"
#include "algorithms/placed_index.hpp"
#include "algorithms/source_node.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/algorithms/gather.hpp>
#include <volley/lang/control.hpp>
#include <volley/lang/record.hpp>

#include <utility>

namespace volley {
namespace {

using algorithms::PlacedIndex;

constexpr std::string_view scatter_name = "scatter";
constexpr std::string_view scatter_add_name = "scatter_add";

enum class ScatterKind : std::uint8_t { Store = 100, Add };  // other numbers than those of other sinks

/// An array whose axes [axis, axis + rank of the indices) stand for one axis of another array.
class ScatteredSink final : public detail::SinkNode {
public:
    ScatteredSink(const AnySink& to, const AnySource& indices, const Shape& shape, int axis,
                  OutOfRange policy, bool add)
        : SinkNode(to.dtype(), shape), to_(to), indices_(indices), axis_(axis), policy_(policy), add_(add) {}

    [[nodiscard]] bool is_flat() const noexcept override { return false; }
    void identify(KernelKey& key) const override {
        key.add(add_ ? ScatterKind::Add : ScatterKind::Store).add(axis_).add(policy_);
        key.add(to_.shape().rank()).add(indices_.shape().rank());
        to_.identify(key);
        indices_.identify(key);
    }
    void add_arguments(std::vector<AnyArgument>& arguments) const override {
        detail::add_extents(arguments, to_.shape());
        detail::add_extents(arguments, indices_.shape());
        to_.add_arguments(arguments);
        indices_.add_arguments(arguments);
    }
    [[nodiscard]] StoreElement declare(ParameterList& parameters) const override {
        std::vector<Value<u32>> extents = detail::declare_extents(parameters, to_.shape().rank());
        std::vector<Value<u32>> index_extents = detail::declare_extents(parameters, indices_.shape().rank());
        StoreElement store = add_ ? declare_addition(parameters) : to_.declare(parameters);
        LoadElement load_index = indices_.declare(parameters);
        return [axis = axis_, policy = policy_, extents = std::move(extents),
                index_extents = std::move(index_extents), store = std::move(store),
                load_index = std::move(load_index)](const Position& at, const AnyValue& value) {
            const int end = axis + static_cast<int>(index_extents.size());
            std::vector<Value<u32>> index_at;
            for (int k = axis; k < end; ++k) index_at.push_back(at[k]);
            const PlacedIndex placed =
                algorithms::place_index(load_index(Position(std::move(index_at), index_extents)),
                                        extents[static_cast<std::size_t>(axis)], policy);
            std::vector<Value<u32>> place(at.indices().begin(), at.indices().begin() + axis);
            place.push_back(placed.index);
            for (int k = end; k < at.rank(); ++k) place.push_back(at[k]);
            const Position to(std::move(place), extents);
            if (!placed.inside) {
                store(to, value);
                return;
            }
            $if (*placed.inside) {
                store(to, value);
            }
        };
    }
    [[nodiscard]] std::shared_ptr<const SinkNode> with_shape(const Shape&) const override {
        return nullptr;  // not called: never flat
    }

private:
    // The sink is a buffer.
    [[nodiscard]] StoreElement declare_addition(ParameterList& parameters) const {
        return [array = parameters.buffer(type()), flat = to_.is_flat()](const Position& at,
                                                                         const AnyValue& value) {
            std::vector<lang::Ref> indices;
            if (flat) {
                indices.push_back(lang::ref_of(at.number()));
            } else {
                std::vector<lang::Ref> position;
                for (const Value<u32>& index : at.indices()) position.push_back(lang::ref_of(index));
                indices.push_back(lang::buffer_position(ref_of(array), position.data(), position.size()));
            }
            const lang::Ref element = lang::locate(ref_of(array), indices.data(), 1);
            const auto add = [](const lang::Ref& place, const AnyValue& number) {
                lang::atomic(ir::Op::AtomicAdd, place, {ref_of(number)}, lang::Site::here());
            };
            if (value.dtype().is_scalar()) {
                add(element, value);
                return;
            }
            for (unsigned k = 0; k < value.dtype().count(); ++k) add(element.part(k), value.part(k));
        };
    }

    AnySink to_;
    AnySource indices_;
    int axis_;
    OutOfRange policy_;
    bool add_;
};

Event run_scatter(const AnySink& to, const AnySource& indices, const AnySource& values,
                  const ScatterOptions& options, bool add) {
    const std::string_view subject = add ? scatter_add_name : scatter_name;
    const int axis = algorithms::checked_axis(options.axis, to.shape().rank(), subject);
    algorithms::check_indices(indices, to.shape()[axis], options.out_of_range, subject);
    if (values.dtype() != to.dtype()) {
        fail(ErrorCode::TypeMismatch,
             cat("the values are of type ", values.dtype().name(), ", but the output takes ",
                 to.dtype().name()),
             subject, "convert the values with convert<T>(values)");
    }
    const Shape shape = algorithms::shape_of_indexed(to.shape(), axis, indices.shape());
    detail::check_countable(shape, subject);
    const AnySource source = values.broadcast_to(shape);
    algorithms::check_no_overlap(to, source, false, subject);
    algorithms::check_no_overlap(to, indices, false, subject);
    const AnySink sink(std::make_shared<ScatteredSink>(to, indices, shape, axis, options.out_of_range, add));
    return transform(sink, source, {.queue = options.queue});
}

}  // namespace

Event scatter(const AnySink& to, const AnySource& indices, const AnySource& values,
              const ScatterOptions& options) {
    return run_scatter(to, indices, values, options, false);
}

Event scatter_add(const AnyBuffer& to, const AnySource& indices, const AnySource& values,
                  const ScatterOptions& options) {
    const DType type = to.dtype();
    const bool parts = type.is_scalar() || type.is_complex() || type.is_vector();
    if (!parts || size_of(type.scalar()) < 4) {
        fail(ErrorCode::TypeMismatch, cat("elements of type ", type.name(), " have no atomic addition"),
             cat(scatter_add_name, ", ", to.name()),
             "use 32- or 64-bit integers, float, double, or complex numbers and vectors of these");
    }
    return run_scatter(to, indices, values, options, true);
}

}  // namespace volley
