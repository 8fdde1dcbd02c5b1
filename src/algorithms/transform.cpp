// Elementwise evaluation. Flat arrays are one row; for others x runs along the last axis, y along the one
// before it, and z counts the rest.
#include "algorithms/execution.hpp"
#include "algorithms/permutation.hpp"
#include "algorithms/source_node.hpp"

#include <volley/algorithms/transform.hpp>
#include <volley/lang/ids.hpp>
#include <volley/slice.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

namespace volley {
namespace {

constexpr std::string_view subject = "transform";

AnyKernel flat_kernel(const AnySink& to, const AnySource& from) {
    KernelKey key("transform flat");
    to.identify(key);
    from.identify(key);
    return algorithms::find_kernel(key, [&] {
        return any_kernel(subject, {}, [&](ParameterList& parameters) {
            const StoreElement store = to.declare(parameters);
            const LoadElement load = from.declare(parameters);
            const Position at(global_id().x);
            store(at, load(at));
        });
    });
}

AnyKernel axes_kernel(const AnySink& to, const AnySource& from) {
    const int rank = to.shape().rank();
    KernelKey key("transform axes");
    key.add(rank);
    to.identify(key);
    from.identify(key);
    return algorithms::find_kernel(key, [&] {
        return any_kernel(subject, {}, [&](ParameterList& parameters) {
            const StoreElement store = to.declare(parameters);
            const LoadElement load = from.declare(parameters);
            const std::vector<Value<u32>> extents = detail::declare_extents(parameters, rank);
            const auto id = global_id();
            std::vector<Value<u32>> indices;
            if (rank > 2) {
                const Position outer = position_of(id.z, {extents.begin(), extents.end() - 2});
                for (const Value<u32>& index : outer.indices()) indices.push_back(index);
            }
            if (rank > 1) indices.push_back(id.y);
            if (rank > 0) indices.push_back(id.x);
            const Position at(std::move(indices), extents);
            store(at, load(at));
        });
    });
}

// Evaluates the parts of an array on the queues that have all buffers of the whole.
Event transform_parts(const AnyBuffer& to, const AnySource& from, std::span<const detail::ArrayPart> parts,
                      TransformOptions options) {
    std::vector<AnyArgument> arguments{to};
    from.add_arguments(arguments);
    for (const AnyArgument& argument : arguments) {
        if (options.queue || !argument.is_buffer()) continue;
        const Placement placement = argument.buffer().placement();
        if (placement.kind() == Placement::Kind::OnQueue) options.queue = placement.queue();
    }
    Event done;
    for (const detail::ArrayPart& part : parts) {
        std::vector<Selector> place(static_cast<std::size_t>(part.axis));
        place.emplace_back(slice(part.begin, part.begin + part.source.shape()[part.axis]));
        done = transform(to.sub(Selection(place)), part.source, options);
    }
    return done;
}

}  // namespace

Event transform(const AnySink& to, const AnySource& from, const TransformOptions& options) {
    const AnySource source = from.broadcast_to(to.shape());
    algorithms::check_sink(to, source.dtype(), source.shape(), subject);
    algorithms::check_no_overlap(to, source, !source.node().moves_elements(), subject);
    if (const detail::Permutation* permutation = source.node().permutation()) {
        if (const auto done = algorithms::transpose_in_tiles(to, *permutation, options.queue, {}))
            return *done;
    }
    const algorithms::Execution execution(options.queue, {&source}, {&to});
    if (to.is_flat()) {
        if (const std::optional<AnySource> merged = source.node().merged())
            return transform(to.reshape(merged->shape()), *merged, options);
    }
    if (to.buffer() != nullptr) {
        const std::vector<detail::ArrayPart> parts = source.node().parts();
        if (!parts.empty()) return transform_parts(*to.buffer(), source, parts, options);
    }

    std::vector<AnyArgument> arguments;
    to.add_arguments(arguments);
    source.add_arguments(arguments);
    const bool flat = to.is_flat() && source.is_flat();
    if (!flat) detail::add_extents(arguments, to.shape());
    const AnyKernel kernel =
        flat ? flat_kernel(to, source).over(to.shape().elements()) : axes_kernel(to, source).over(to.shape());
    Event done;
    for (const algorithms::Target& target : execution.targets())
        done = algorithms::launch(kernel, target, arguments);
    return done;
}

AnyBuffer detail::evaluate(const AnySource& source, const TransformOptions& options) {
    const algorithms::Execution execution(options.queue, {&source});
    AnyBuffer result = execution.result(source.dtype(), source.shape());
    transform(result, source, options);
    return result;
}

}  // namespace volley
