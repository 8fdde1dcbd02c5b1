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

// Evaluates an array in the parts between its breaks, if that is faster. All run on the queues that have all
// buffers of the whole.
std::optional<Event> transform_parts(const AnySink& to, const AnySource& from,
                                     const algorithms::Execution& execution, TransformOptions options) {
    constexpr std::int64_t worthwhile = 32768;  // elements: fewer do not pay for another launch
    constexpr std::size_t most = 8;             // breaks of an array that is not joined
    if (to.buffer() == nullptr) return std::nullopt;
    const bool joined = from.node().is_joined();
    // Only the CPU backend has faster code for neighbours than for any elements.
    const bool cpu = std::ranges::all_of(execution.targets(), [](const algorithms::Target& target) {
        return device_class(*target.device) == DeviceClass::Cpu;
    });
    if (!joined && (!cpu || to.shape().elements() < worthwhile)) return std::nullopt;
    for (int axis = to.shape().rank(); axis-- > 0;) {
        const std::vector<std::int64_t> breaks = from.node().breaks(axis);
        if (breaks.empty() || (!joined && breaks.size() > most)) continue;
        std::vector<AnyArgument> arguments;
        to.add_arguments(arguments);
        from.add_arguments(arguments);
        for (const AnyArgument& argument : arguments) {
            if (options.queue || !argument.is_buffer()) continue;
            const Placement placement = argument.buffer().placement();
            if (placement.kind() == Placement::Kind::OnQueue) options.queue = placement.queue();
        }
        Event done;
        std::int64_t begin = 0;
        for (std::size_t k = 0; k <= breaks.size(); ++k) {
            const std::int64_t end = k < breaks.size() ? breaks[k] : to.shape()[axis];
            std::vector<Selector> place(static_cast<std::size_t>(axis));
            place.emplace_back(slice(begin, end));
            done = transform(to.buffer()->sub(Selection(place)),
                             detail::part_of(from, axis, begin, end - begin), options);
            begin = end;
        }
        return done;
    }
    return std::nullopt;
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
        if (const std::optional<AnySource> better = source.node().reshaped())
            return transform(to.reshape(better->shape()), *better, options);
    }
    if (const std::optional<Event> done = transform_parts(to, source, execution, options)) return *done;

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
