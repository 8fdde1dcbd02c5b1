// Laying commands out on queues, and giving them.
#include "runtime/graph_program.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"
#include "runtime/command_order.hpp"
#include "runtime/host_function.hpp"
#include "runtime/nearest_replica.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_set>
#include <utility>

namespace volley::runtime {

/// Commands on their queues, before they become steps.
struct GraphProgram::Layout {
    struct Node {
        unsigned queue = 0;
        bool alone = false;  // no part of a batch
        std::uint32_t stage = 0;
        std::uint32_t level = 0;  // in its batch
        std::vector<backends::BatchCommand>
            commands;  // of one recorded command, in no order among themselves
        std::optional<Hop> hop;
        std::shared_ptr<const HostFunction> call;
        bool between_all = false;
        std::vector<Footprint> uses;
        CommandLabel label;
    };

    ContextCore& core;
    const Recording& recording;
    const Arena& arena;
    std::optional<unsigned> only;
    std::vector<Node> nodes;
    CommandOrder order;
    std::unordered_set<const Replica*> written = {};  // by the commands that were added
    std::vector<Choice> choices = {};
    // Where a node's commands are in its batch: first and behind the last.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> places = {};

    /// A buffer's place on a queue.
    struct Place {
        Footprint use;
        backends::Memory* memory = nullptr;
        std::uint64_t shift = 0;  // of its bytes, against the buffer's own offset
    };
    [[nodiscard]] Place place(const AnyBuffer& buffer, unsigned queue, bool writes) const {
        Storage* storage = &buffer.storage();
        Place result;
        if (storage->temporary()) {
            result.shift = arena.offsets.at(storage);
            storage = arena.storage.get();
        }
        result.memory = &storage->allocate(queue);
        const Range bytes = bytes_of(buffer);
        result.use = {storage,
                      &storage->replica(queue),
                      {bytes.begin + result.shift, bytes.end + result.shift},
                      writes};
        return result;
    }

    void add(std::uint32_t index) {
        const RecordedCommand& command = recording.commands[index];
        const std::size_t first = nodes.size();
        std::visit([&](const auto& what) { add(what, command.queue); }, command.what);
        for (std::size_t i = first; i < nodes.size(); ++i) nodes[i].label.index = index;
    }
    void add(const RecordedLaunch& launch, std::optional<unsigned> queue);
    void add(const RecordedCopy& copy, std::optional<unsigned> queue);
    void add(const RecordedFill& fill, std::optional<unsigned> queue);
    void add(const RecordedFence& fence, std::optional<unsigned> queue);
    void add(Node node);
    void find_stages();
    /// The nodes of one step, in their order, as a batch; adds what it touches and what its commands are.
    [[nodiscard]] backends::BatchPlan plan_batch(std::span<const std::uint32_t> members,
                                                 std::vector<Footprint>& uses, BatchLabels& labels);
    [[nodiscard]] std::vector<unsigned> targets(const AnyBuffer& to, std::optional<unsigned> queue) const;
    /// The queue whose replica a copy to queue k reads. Throws NotAllocated where nothing was written.
    [[nodiscard]] unsigned source(const RecordedCopy& copy, unsigned k);
};

void GraphProgram::Layout::add(Node node) {
    std::vector<Access> accesses;
    for (const Footprint& use : node.uses) {
        accesses.push_back({use.replica, use.bytes, use.writes});
        if (use.writes) written.insert(use.replica);
    }
    order.add(std::move(accesses));
    nodes.push_back(std::move(node));
}

void GraphProgram::Layout::add(const RecordedLaunch& launch, std::optional<unsigned> queue) {
    std::vector<detail::BoundArgument> bound;
    for (const RecordedArgument& argument : launch.arguments)
        bound.push_back({argument.buffer.empty() ? nullptr : &argument.buffer.get(), argument.value.data()});
    std::optional<Queue> on;
    if (const std::optional<unsigned> k = queue ? queue : only) on = core.make_queue(*k);
    const Targets where = find_targets(*launch.kernel, core, on, bound.data(), bound.size(), true);
    for (unsigned k = where.queues.begin; k < where.queues.end; ++k) {
        if (where.once_a_device && core.queues_of(core.device_of(k)).begin != k) continue;
        const unsigned device = core.device_of(k);
        const Grid grid = check_limits(*launch.kernel, *launch.cached, launch.wanted, core.device(device));
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
            const Place at = place(buffer, k, given.writes);
            argument.memory = at.memory;
            argument.offset = buffer.offset() + at.shift;
            argument.elements = buffer.window_elements();
            if (given.reads || given.writes) node.uses.push_back(at.use);
        }
        node.label = {CommandKind::Launch, launch.cached, grid.global, grid.local};
        node.commands.push_back(std::move(command));
        add(std::move(node));
    }
}

std::vector<unsigned> GraphProgram::Layout::targets(const AnyBuffer& to,
                                                    std::optional<unsigned> queue) const {
    Storage& storage = to.storage();
    if (!queue) queue = only;
    if (!queue) {
        std::vector<unsigned> homes;
        for (unsigned r = 0; r < storage.replica_count(); ++r) homes.push_back(storage.home(r));
        return homes;
    }
    if (storage.find(*queue) == nullptr) {
        fail(ErrorCode::InvalidLaunch,
             cat("a graph was submitted to queue ", *queue, ", where a buffer has no memory"), to.name(),
             cat("it lives on ", storage.place(), ": submit the graph there, or use another placement"));
    }
    return {*queue};
}

namespace {

backends::RectPlace moved(backends::RectPlace place, std::uint64_t shift) {
    place.offset += shift;
    return place;
}

}  // namespace

unsigned GraphProgram::Layout::source(const RecordedCopy& copy, unsigned k) {
    const AnyBuffer& from = copy.from.get();
    Storage& storage = from.storage();
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

void GraphProgram::Layout::add(const RecordedCopy& copy, std::optional<unsigned> queue) {
    const AnyBuffer& to = copy.to.get();
    const AnyBuffer& from = copy.from.get();
    // A host array has one replica, which all queues of its device work on.
    for (const unsigned k : targets(to, queue)) {
        if (copy.moves.empty()) continue;
        const unsigned q = source(copy, k);
        Node node;
        node.queue = k;
        const Place target = place(to, k, true);
        const Place source = place(from, q, false);
        node.uses = {target.use, source.use};
        node.label.kind = copy.kind;
        node.label.bytes = copy.moves.bytes();
        if (core.device_of(k) != core.device_of(q)) {
            node.alone = true;
            node.hop = Hop{target.memory, q, source.memory, copy.moves.rows,
                           std::make_unique<HopStaging>(core, k, copy.moves.rows)};
            node.hop->rows.to_offset += static_cast<std::int64_t>(target.shift);
            node.hop->rows.from_offset += static_cast<std::int64_t>(source.shift);
            add(std::move(node));
            continue;
        }
        for_each_rect(copy.moves.rows,
                      [&](const auto& to_at, const auto& from_at, const backends::Rect& rect) {
                          backends::BatchCommand& command = node.commands.emplace_back();
                          command.kind = backends::BatchKind::Copy;
                          command.to = target.memory;
                          command.from = source.memory;
                          command.move = {rect, moved(to_at, target.shift), moved(from_at, source.shift)};
                      });
        add(std::move(node));
    }
}

void GraphProgram::Layout::add(const RecordedFill& fill, std::optional<unsigned> queue) {
    const AnyBuffer& to = fill.to.get();
    for (const unsigned k : targets(to, queue)) {
        if (fill.moves.empty()) continue;
        Node node;
        node.queue = k;
        const Place target = place(to, k, true);
        node.uses = {target.use};
        node.label.kind = CommandKind::Fill;
        node.label.bytes = fill.moves.bytes();
        for_each_rect(fill.moves.rows,
                      [&](const auto& to_at, const auto& /*from*/, const backends::Rect& rect) {
                          backends::BatchCommand& command = node.commands.emplace_back();
                          command.kind = backends::BatchKind::Fill;
                          command.to = target.memory;
                          command.move = {rect, moved(to_at, target.shift), {}};
                          command.pattern = fill.element;
                      });
        add(std::move(node));
    }
}

void GraphProgram::Layout::add(const RecordedFence& fence, std::optional<unsigned> queue) {
    Node node;
    node.queue = queue ? *queue : only.value_or(0);
    node.alone = true;
    node.call = fence.call;
    node.between_all = !queue && !only;  // as outside of a recording
    node.label.kind = CommandKind::HostCall;
    order.add_fence();
    nodes.push_back(std::move(node));
}

void GraphProgram::Layout::find_stages() {
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
        for (const std::uint32_t other : order.after(i)) {
            const bool apart = nodes[other].queue != nodes[i].queue || nodes[other].alone || nodes[i].alone;
            nodes[i].stage = std::max(nodes[i].stage, nodes[other].stage + (apart ? 1 : 0));
        }
        // A long way to it through other batches is none in its own.
        for (const std::uint32_t other : order.after(i)) {
            const bool together =
                nodes[other].queue == nodes[i].queue && nodes[other].stage == nodes[i].stage;
            if (together && !nodes[other].alone)
                nodes[i].level = std::max(nodes[i].level, nodes[other].level + 1);
        }
    }
}

backends::BatchPlan GraphProgram::Layout::plan_batch(std::span<const std::uint32_t> members,
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
            accesses.push_back({use.replica, use.bytes, use.writes});
            storages[use.replica] = use.storage;
        }
    }
    for (const Access& access : merge_accesses(std::move(accesses))) {
        Storage* storage = storages[access.resource];
        // The replica is one of the storage's, which is ours to change.
        uses.push_back({storage, const_cast<Replica*>(static_cast<const Replica*>(access.resource)),
                        access.range, access.writes});
    }
    return plan;
}

GraphProgram::GraphProgram(std::shared_ptr<ContextCore> core, const Recording& recording,
                           const std::vector<std::uint32_t>& order, const Arena& arena,
                           std::optional<unsigned> queue)
    : core_(std::move(core)) {
    Layout layout{*core_, recording, arena, queue, {}, {}};
    for (const std::uint32_t command : order) layout.add(command);
    layout.find_stages();

    // Nodes by step: those of one queue and stage are a batch, those alone a step each.
    std::vector<std::uint32_t> sorted(layout.nodes.size());
    for (std::uint32_t i = 0; i < sorted.size(); ++i) sorted[i] = i;
    const auto key = [&](std::uint32_t i) {
        const Layout::Node& node = layout.nodes[i];
        return std::tuple(node.stage, node.alone, node.queue, node.level, i);
    };
    std::sort(sorted.begin(), sorted.end(),
              [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    layout.places.resize(sorted.size());
    for (std::size_t begin = 0; begin < sorted.size();) {
        const Layout::Node& first = layout.nodes[sorted[begin]];
        Step step;
        step.queue = first.queue;
        BatchLabels labels;
        std::size_t end = begin + 1;
        if (first.alone) {
            labels = {{first.label}, {0}};
            Layout::Node& node = layout.nodes[sorted[begin]];
            step.hop = std::move(node.hop);
            step.call = std::move(node.call);
            step.between_all = node.between_all;
            step.uses = std::move(node.uses);
            at_once_ = false;
        } else {
            while (end < sorted.size() && !layout.nodes[sorted[end]].alone &&
                   layout.nodes[sorted[end]].stage == first.stage &&
                   layout.nodes[sorted[end]].queue == first.queue)
                ++end;
            step.batch =
                core_->queue(step.queue)
                    .prepare(layout.plan_batch({sorted.data() + begin, end - begin}, step.uses, labels));
        }
        step.labels = std::make_shared<const BatchLabels>(std::move(labels));
        for (const Footprint& use : step.uses) shared_ |= use.storage->shared();
        if (std::find(queues_.begin(), queues_.end(), step.queue) == queues_.end()) {
            queues_.push_back(step.queue);
        } else {
            at_once_ = false;
        }
        if (first.stage != 0) at_once_ = false;
        steps_.push_back(std::move(step));
        begin = end;
    }
    around_ = queues_;
    for (const Step& step : steps_) {
        if (step.hop && std::find(around_.begin(), around_.end(), step.hop->from_queue) == around_.end())
            around_.push_back(step.hop->from_queue);
    }
    all_.resize(core_->queue_count());
    std::iota(all_.begin(), all_.end(), 0u);
    if (arena.storage) kept_.push_back(arena.storage);
    choices_ = std::move(layout.choices);
    core_->add(*this);
}

GraphProgram::~GraphProgram() {
    core_->remove(*this);
    for (Step& step : steps_) {
        if (step.batch)
            core_->retire({step.queue, step.last}, std::shared_ptr<backends::Batch>(std::move(step.batch)));
        if (step.call) core_->retire({step.queue, step.last}, std::move(step.call));
    }
}

void GraphProgram::let_go() noexcept {
    for (Step& step : steps_) step.batch.reset();
}

bool GraphProgram::is_current() const {
    return std::ranges::all_of(choices_, [](const Choice& choice) {
        const auto now = nearest_replica(*choice.storage, choice.target,
                                         [](const Replica& replica) { return replica.written(); });
        return !now || *now == choice.source;  // none: it is written by the graph itself
    });
}

void GraphProgram::check_usable() const {
    for (const Step& step : steps_) {
        for (const Footprint& use : step.uses) {
            if (use.replica->mapped()) use.storage->check_not_mapped(use.replica->home());
        }
    }
}

TimedCommand GraphProgram::timed(const Step& step, unsigned queue, const Run& run) const {
    return {*core_, queue, [&] { return BatchPlace{step.labels, run.submission, run.first, run.instances}; }};
}

void GraphProgram::run_hop(Step& step, const Run& run) {
    const Footprint& to = step.uses[0];
    const Footprint& from = step.uses[1];
    const Hop& hop = *step.hop;
    const auto first_lock = core_->lock_queue(std::min(step.queue, hop.from_queue));
    const auto second_lock = core_->lock_queue(std::max(step.queue, hop.from_queue));
    to.storage->order(*to.replica, step.queue, to.bytes, true);
    from.storage->order(*from.replica, hop.from_queue, from.bytes, false);
    const TimedCommand reading = timed(step, hop.from_queue, run);
    const TimedCommand writing = timed(step, step.queue, run);
    HopPoints points;
    const auto note = [&] {
        if (points.read) from.replica->used(hop.from_queue, *points.read, from.bytes);
        if (!points.written) return;
        to.replica->wrote(step.queue, *points.written, to.bytes);
        step.last = *points.written;
    };
    try {
        runtime::hop(*core_, {step.queue, hop.to, &writing}, {hop.from_queue, hop.from, &reading}, hop.rows,
                     *hop.staging, points);
    } catch (...) {
        note();
        throw;
    }
    note();
}

void GraphProgram::run_call(Step& step, const Run& run) {
    for (const unsigned other : around(step)) {
        if (other != step.queue) core_->order_after(step.queue, {other, core_->queue(other).last()});
    }
    // It stays until it has run: no copy, which would also forget what it changes of itself.
    const auto call = [function = step.call.get()] { (*function)(); };
    step.last = timed(step, step.queue, run).give([&] { return core_->queue(step.queue).call(call); });
    for (const unsigned other : around(step)) core_->order_after(other, {step.queue, step.last});
}

void GraphProgram::run_step(Step& step, const Run& run) {
    if (step.hop) return run_hop(step, run);
    if (step.call) return run_call(step, run);
    if (!step.batch) return;
    const auto lock = core_->lock_queue(step.queue);
    for (const Footprint& use : step.uses)
        use.storage->order(*use.replica, step.queue, use.bytes, use.writes);
    const auto note = [&](backends::Point last) {
        step.last = last;
        for (const Footprint& use : step.uses) {
            if (use.writes) {
                use.replica->wrote(step.queue, last, use.bytes);
            } else {
                use.replica->used(step.queue, last, use.bytes);
            }
        }
    };
    try {
        note(timed(step, step.queue, run).give([&] {
            return core_->queue(step.queue).submit(*step.batch, run.instances, run.values);
        }));
    } catch (...) {
        note(core_->queue(step.queue).last());  // some instances may have been given
        throw;
    }
}

Event GraphProgram::submit(const Run& run) {
    const auto lock = shared_ ? core_->lock_order() : std::unique_lock<std::mutex>();
    if (at_once_) {
        for (Step& step : steps_) run_step(step, run);
    } else {
        const std::size_t stride = run.values.size() / run.instances;
        for (std::uint32_t i = 0; i < run.instances; ++i) {
            const Run one{1, run.values.subspan(i * stride, stride), run.first + i, run.submission};
            for (Step& step : steps_) run_step(step, one);
        }
    }
    Event event;
    for (const unsigned k : queues_) {
        if ((core_->timing() & ContextCore::stamped) != 0) {
            core_->add_mark(event, k, "command graph");
            continue;
        }
        core_->add_part(event, k, core_->queue(k).last(), "command graph");
    }
    return event;
}

}  // namespace volley::runtime
