// Assigns recorded commands to queues, finds their order, and plans batches.
#include "runtime/graph_layout.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"
#include "runtime/buffer_access.hpp"
#include "runtime/nearest_replica.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace volley::runtime {

GraphLayout::PlacedBuffer GraphLayout::place(const AnyBuffer& buffer, unsigned queue, Usage usage) const {
    Storage* storage = &storage_of(buffer);
    PlacedBuffer result;
    if (storage->temporary()) {
        result.shift = arena.offsets.at(storage);
        storage = arena.storage.get();
    }
    result.memory = &storage->allocate(queue);
    const ByteRange bytes = bytes_of(buffer);
    result.use = footprint(*storage, queue, {bytes.begin + result.shift, bytes.end + result.shift}, usage);
    return result;
}

void GraphLayout::add(std::uint32_t index) {
    const RecordedCommand& command = recording.commands[index];
    const std::size_t first = nodes.size();
    std::visit([&](const auto& what) { add(what, command.queue); }, command.what);
    for (std::size_t i = first; i < nodes.size(); ++i) nodes[i].label.index = index;
}

void GraphLayout::add(Node node) {
    std::vector<Access> accesses;
    for (const Footprint& use : node.uses) {
        accesses.push_back({use.replica, use.bytes, use.writes()});
        if (use.writes()) written.insert(use.replica);
    }
    order.add(std::move(accesses));
    nodes.push_back(std::move(node));
}

void GraphLayout::add(const RecordedLaunch& launch, std::optional<unsigned> queue) {
    std::vector<detail::BoundArgument> bound;
    for (const RecordedArgument& argument : launch.arguments)
        bound.push_back({argument.buffer.empty() ? nullptr : &argument.buffer.get(), argument.value.data()});
    std::optional<Queue> on;
    if (const std::optional<unsigned> k = queue ? queue : only) on = core.make_queue(*k);
    const LaunchTargets where = launch_targets(*launch.kernel, core, on, bound.data(), bound.size(), true);
    for (unsigned k = where.queues.begin; k < where.queues.end; ++k) {
        if (!where.contains(core, k)) continue;
        const unsigned device = core.device_of(k);
        const Grid grid = grid_on(*launch.kernel, *launch.cached, launch.requested, core.device(device));
        Node node;
        node.queue = k;
        backends::BatchCommand command;
        command.kind = backends::BatchKind::Launch;
        command.program = &launch.cached->program(device, core.device(device));
        command.global = grid.global;
        command.local = grid.local;
        for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
            const RecordedArgument& given = launch.arguments[i];
            backends::Argument& argument = command.args.emplace_back();
            if (given.buffer.empty()) {
                argument.value = given.dynamic == RecordedArgument::fixed ? given.value.data() : nullptr;
                if (given.dynamic != RecordedArgument::fixed)
                    argument.dynamic = recording.names[given.dynamic].offset;
                continue;
            }
            const AnyBuffer& buffer = given.buffer.get();
            const PlacedBuffer at = place(buffer, k, given.writes ? Usage::Written : Usage::Read);
            argument.memory = at.memory;
            argument.offset = buffer.offset() + at.shift;
            argument.elements = window_elements(buffer);
            if (given.reads || given.writes) node.uses.push_back(at.use);
        }
        node.label = {CommandKind::Launch, launch.cached->shared_function(), grid.global, grid.local};
        node.commands.push_back(std::move(command));
        add(std::move(node));
    }
}

std::vector<unsigned> GraphLayout::targets(const AnyBuffer& to, std::optional<unsigned> queue) const {
    Storage& storage = storage_of(to);
    if (!queue) queue = only;
    if (!queue) {
        std::vector<unsigned> homes;
        for (unsigned r = 0; r < storage.replica_count(); ++r) homes.push_back(storage.home(r));
        return homes;
    }
    if (storage.find(*queue) == nullptr) {
        fail(ErrorCode::InvalidLaunch,
             cat("a graph was submitted to queue ", *queue, ", on which a buffer has no memory"), to.name(),
             cat("submit the graph to ", storage.place(), ", or use another placement"));
    }
    return {*queue};
}

unsigned GraphLayout::source(const RecordedCopy& copy, unsigned k) {
    const AnyBuffer& from = copy.from.get();
    Storage& storage = storage_of(from);
    if (storage.temporary()) return copy.source.value_or(k);
    const auto is_written = [&](const Replica& replica) {
        return replica.written() || written.contains(&replica);
    };
    const unsigned own = copy.source.value_or(k);
    if (copy.source) {
        if (!is_written(storage.replica(own))) fail_unwritten(from, own);
        return own;
    }
    const std::optional<unsigned> found = nearest_replica(storage, k, is_written);
    if (!found) fail_unwritten(from, storage.home(0));
    if (*found != k) choices.push_back({&storage, k, *found});
    return *found;
}

void GraphLayout::add(const RecordedCopy& copy, std::optional<unsigned> queue) {
    const AnyBuffer& to = copy.to.get();
    const AnyBuffer& from = copy.from.get();
    // A host array has one replica, which all queues of its device share.
    for (const unsigned k : targets(to, queue)) {
        if (copy.rows.empty()) continue;
        const unsigned q = source(copy, k);
        Node node;
        node.queue = k;
        const PlacedBuffer target = place(to, k, Usage::Written);
        const PlacedBuffer source = place(from, q, Usage::Read);
        node.uses = {target.use, source.use};
        node.label.kind = copy.kind;
        node.label.bytes = static_cast<std::uint64_t>(copy.rows.bytes());
        if (core.device_of(k) != core.device_of(q)) {
            node.alone = true;
            node.hop = PlannedHop{target.memory, q, source.memory, copy.rows, nullptr};
            if (!is_direct(core.queue(k), target.memory, *source.memory, copy.rows))
                node.hop->staging = std::make_unique<HopStaging>(core, k, copy.rows);
            node.hop->rows.to_offset += static_cast<std::int64_t>(target.shift);
            node.hop->rows.from_offset += static_cast<std::int64_t>(source.shift);
            add(std::move(node));
            continue;
        }
        for_each_rect(copy.rows, [&](const backends::RectMove& move) {
            backends::BatchCommand& command = node.commands.emplace_back();
            command.kind = backends::BatchKind::Copy;
            command.to = target.memory;
            command.from = source.memory;
            command.move = move;
            command.move.to.offset += target.shift;
            command.move.from.offset += source.shift;
        });
        add(std::move(node));
    }
}

void GraphLayout::add(const RecordedFill& fill, std::optional<unsigned> queue) {
    const AnyBuffer& to = fill.to.get();
    for (const unsigned k : targets(to, queue)) {
        if (fill.rows.empty()) continue;
        Node node;
        node.queue = k;
        const PlacedBuffer target = place(to, k, Usage::Written);
        node.uses = {target.use};
        node.label.kind = CommandKind::Fill;
        node.label.bytes = static_cast<std::uint64_t>(fill.rows.bytes());
        for_each_rect(fill.rows, [&](const backends::RectMove& move) {
            backends::BatchCommand& command = node.commands.emplace_back();
            command.kind = backends::BatchKind::Fill;
            command.to = target.memory;
            command.move = {move.rect, move.to, {}};
            command.move.to.offset += target.shift;
            command.pattern = fill.element;
        });
        add(std::move(node));
    }
}

void GraphLayout::add(const RecordedFence& fence, std::optional<unsigned> queue) {
    Node node;
    node.queue = queue ? *queue : only.value_or(0);
    node.alone = true;
    node.call = fence.call;
    node.between_all = !queue && !only;  // as outside a recording
    node.label.kind = CommandKind::HostCall;
    order.add_fence();
    nodes.push_back(std::move(node));
}

void GraphLayout::find_stages() {
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
        for (const std::uint32_t other : order.after(i)) {
            const bool apart = nodes[other].queue != nodes[i].queue || nodes[other].alone || nodes[i].alone;
            nodes[i].stage = std::max(nodes[i].stage, nodes[other].stage + (apart ? 1 : 0));
        }
        // Only predecessors in the same batch raise the level in that batch.
        for (const std::uint32_t other : order.after(i)) {
            const bool together =
                nodes[other].queue == nodes[i].queue && nodes[other].stage == nodes[i].stage;
            if (together && !nodes[other].alone)
                nodes[i].level = std::max(nodes[i].level, nodes[other].level + 1);
        }
    }
}

backends::BatchPlan GraphLayout::plan_batch(std::span<const std::uint32_t> members,
                                            std::vector<Footprint>& uses, BatchLabels& labels) {
    backends::BatchPlan plan;
    plan.value_bytes = recording.value_bytes;
    std::vector<Access> accesses;
    std::unordered_map<const void*, Storage*> storages;
    for (const std::uint32_t member : members) {
        Node& node = nodes[member];
        const auto place = static_cast<std::uint32_t>(plan.commands.size());
        std::vector<std::uint32_t> after;
        std::uint32_t level = 0;
        for (const std::uint32_t other : order.after(member)) {
            const Node& before = nodes[other];
            if (before.alone || before.stage != node.stage || before.queue != node.queue) continue;
            for (std::uint32_t c = places[other].first; c < places[other].second; ++c) {
                after.push_back(c);
                level = std::max(level, plan.commands[c].level + 1);
            }
        }
        std::sort(after.begin(), after.end());
        for (backends::BatchCommand& command : node.commands) {
            command.after = after;
            command.level = level;
            plan.commands.push_back(std::move(command));
        }
        places[member] = {place, static_cast<std::uint32_t>(plan.commands.size())};
        labels.label_of.resize(plan.commands.size(), static_cast<std::uint32_t>(labels.labels.size()));
        labels.labels.push_back(node.label);
        for (const Footprint& use : node.uses) {
            accesses.push_back({use.replica, use.bytes, use.writes()});
            storages[use.replica] = use.storage;
        }
    }
    for (const Access& access : merge_accesses(std::move(accesses))) {
        Storage* storage = storages[access.resource];
        // Accesses carry const pointers; the replica itself is mutable.
        uses.push_back({storage, const_cast<Replica*>(static_cast<const Replica*>(access.resource)),
                        access.range, access.writes ? Usage::Written : Usage::Read});
    }
    return plan;
}

}  // namespace volley::runtime
