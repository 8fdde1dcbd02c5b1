// Recording commands into a graph, binding values, and selecting the program of a submission.
#include "runtime/graph_core.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"
#include "lang/tracer.hpp"
#include "runtime/arena_plan.hpp"
#include "runtime/buffer_access.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace volley::runtime {
namespace {

constexpr std::string_view a_graph = "a command graph";

/// Calls f(buffer, reads, writes) for each buffer of a command.
template <class F>
void for_each_buffer(const RecordedCommand& command, F&& f) {
    if (const auto* launch = std::get_if<RecordedLaunch>(&command.what)) {
        for (const RecordedArgument& argument : launch->arguments) {
            if (!argument.buffer.empty()) f(argument.buffer.get(), argument.reads, argument.writes);
        }
    } else if (const auto* copy = std::get_if<RecordedCopy>(&command.what)) {
        f(copy->to.get(), false, true);
        f(copy->from.get(), true, false);
    } else if (const auto* fill = std::get_if<RecordedFill>(&command.what)) {
        f(fill->to.get(), false, true);
    }
}

/// Calls f(PinnedBuffer&) for each buffer slot of a command.
template <class F>
void for_each_pin(RecordedCommand& command, F&& f) {
    if (auto* launch = std::get_if<RecordedLaunch>(&command.what)) {
        for (RecordedArgument& argument : launch->arguments) f(argument.buffer);
    } else if (auto* copy = std::get_if<RecordedCopy>(&command.what)) {
        f(copy->to);
        f(copy->from);
    } else if (auto* fill = std::get_if<RecordedFill>(&command.what)) {
        f(fill->to);
    }
}

/// Calls f(index of the name) for each dynamic value of a command.
template <class F>
void for_each_dynamic(RecordedCommand& command, F&& f) {
    auto* launch = std::get_if<RecordedLaunch>(&command.what);
    if (launch == nullptr) return;
    for (RecordedArgument& argument : launch->arguments) {
        if (argument.dynamic != RecordedArgument::fixed) f(argument.dynamic);
    }
}

bool uses_name(Recording& recording, std::size_t name) {
    bool found = false;
    for (RecordedCommand& command : recording.commands)
        for_each_dynamic(command, [&](std::uint32_t dynamic) { found |= dynamic == name; });
    return found;
}

}  // namespace

// ---- recording ----

void GraphCore::record(void (*body)(void*), void* data) {
    refuse_while_tracing("record() was called", a_graph);
    core_->check_open(a_graph);
    Recording known;
    {
        const std::scoped_lock lock(mutex_);
        known.names = recording_.names;
        known.value_bytes = recording_.value_bytes;
        known.temporaries = recording_.temporaries;
    }
    Recorder recorder(core_, known);
    body(data);
    Recording& fresh = recorder.recording();

    // Another thread or the body itself may have changed the graph meanwhile, so indices of names are mapped
    // to those of the graph. Everything that can throw runs before the graph is modified.
    const std::scoped_lock lock(mutex_);
    Recording names;
    names.names = recording_.names;
    names.value_bytes = recording_.value_bytes;
    std::vector<std::uint32_t> places(fresh.names.size());
    for (std::size_t i = 0; i < fresh.names.size(); ++i) {
        const RecordedName& name = fresh.names[i];
        if (i >= known.names.size() || uses_name(fresh, i)) places[i] = names.name({name.name, name.type});
    }
    for (RecordedCommand& command : fresh.commands) {
        for_each_dynamic(command, [&](std::uint32_t& dynamic) { dynamic = places[dynamic]; });
    }
    recording_.commands.reserve(recording_.commands.size() + fresh.commands.size());
    recording_.temporaries.reserve(recording_.temporaries.size() + fresh.temporaries.size());
    bound_.resize(names.names.size());
    changed();
    for (RecordedCommand& command : fresh.commands) recording_.commands.push_back(std::move(command));
    for (std::shared_ptr<Storage>& temporary : fresh.temporaries) {
        if (!recording_.owns(*temporary)) recording_.temporaries.push_back(std::move(temporary));
    }
    recording_.names = std::move(names.names);
    recording_.value_bytes = names.value_bytes;
}

void GraphCore::reset() {
    const std::scoped_lock lock(mutex_);
    changed();
    recording_ = {};
    bound_.clear();
}

void GraphCore::changed() {
    everywhere_.reset();
    by_queue_.clear();
    order_.reset();
    arena_ = {};
    common_.reset();
    packed_instances_ = 0;
}

// ---- values ----

void GraphCore::bind(std::string_view name, DType type, const std::byte* values, std::size_t count,
                     bool same) {
    const std::scoped_lock lock(mutex_);
    const auto found = recording_.find(name);
    if (!found) {
        std::string names;
        for (const RecordedName& one : recording_.names)
            names += cat(names.empty() ? "" : ", ", "'", one.name, "'");
        fail(ErrorCode::InvalidArgument,
             cat("a value was bound to '", name, "', but the graph has no dynamic value of that name"),
             a_graph,
             names.empty() ? "it has none; record launches with dyn<T>(name)" : cat("use one of: ", names));
    }
    const RecordedName& known = recording_.names[*found];
    if (known.type != type) {
        fail(ErrorCode::TypeMismatch,
             cat("values of type ", type.name(), " were bound to '", name, "', which is ", known.type.name()),
             a_graph, "bind values of that type");
    }
    Bound& bound = bound_[*found];
    bound.values.assign(values, values + count * type.size());
    bound.count = count;
    bound.same = same;
    packed_instances_ = 0;
}

void GraphCore::check_bound(std::uint32_t instances) const {
    for (std::size_t i = 0; i < recording_.names.size(); ++i) {
        const std::string& name = recording_.names[i].name;
        if (bound_[i].count == 0) {
            fail(ErrorCode::InvalidArgument, cat("the dynamic value '", name, "' has no value"), a_graph,
                 cat("call bind(\"", name, "\", ...) before submit()"));
        }
        if (!bound_[i].same && bound_[i].count < instances) {
            fail(ErrorCode::SizeMismatch,
                 cat(instances, " instances were requested, but '", name, "' has ", bound_[i].count,
                     " value(s)"),
                 a_graph, "bind one value per instance");
        }
    }
}

std::span<const std::byte> GraphCore::values(std::uint32_t instances) {
    const std::size_t stride = recording_.value_bytes;
    // The packed values of fewer instances are a prefix of those of more.
    if (packed_instances_ < instances) {
        packed_.resize(stride * instances);
        for (std::size_t n = 0; n < recording_.names.size(); ++n) {
            const Bound& bound = bound_[n];
            const std::size_t size = recording_.names[n].type.size();
            std::byte* to = packed_.data() + recording_.names[n].offset;
            for (std::uint32_t i = 0; i < instances; ++i, to += stride)
                std::memcpy(to, bound.values.data() + (bound.same ? 0 : i * size), size);
        }
        packed_instances_ = instances;
    }
    return std::span(packed_).first(stride * instances);
}

void GraphCore::rebind(const AnyBuffer& from, const AnyBuffer& to) {
    const std::scoped_lock lock(mutex_);
    storage_of(to).check_usable();
    if (&storage_of(to).core() != core_.get()) {
        fail(ErrorCode::WrongContext, "rebind() was called with a buffer of another context", to.name(),
             "use a buffer of the context in which the graph was recorded");
    }
    if (from.dtype() != to.dtype() || from.shape() != to.shape() || from.strides() != to.strides()) {
        fail(ErrorCode::SizeMismatch, "rebind() was called with a buffer of different type, shape or padding",
             cat(to.name(), " in place of ", from.name()), "record the graph again for such a buffer");
    }
    // Recorded kernels may also access the padding that the buffer owns.
    if (window_elements(to) < window_elements(from)) {
        fail(ErrorCode::SizeMismatch, "rebind() was called with a buffer that owns less padding",
             cat(to.name(), " in place of ", from.name()),
             "replace a padded buffer by a padded one, or record the graph again");
    }
    if (storage_of(to).temporary() || storage_of(from).temporary()) {
        fail(ErrorCode::InvalidArgument, "rebind() was called with a temporary of a recording", to.name(),
             "use a Buffer created outside the recording");
    }
    // Works on a copy of the commands: plan_copy() throws if source and destination now overlap.
    std::vector<RecordedCommand> commands = recording_.commands;
    bool found = false;
    for (RecordedCommand& command : commands) {
        bool here = false;
        for_each_pin(command, [&](PinnedBuffer& pin) {
            if (pin.empty() || pin.get().id() != from.id()) return;
            pin = PinnedBuffer(to);
            here = true;
        });
        if (!here) continue;
        found = true;
        if (auto* copy = std::get_if<RecordedCopy>(&command.what)) {
            copy->rows = plan_copy(copy->to.get(), copy->from.get());
        } else if (auto* fill = std::get_if<RecordedFill>(&command.what)) {
            fill->rows = plan_fill(fill->to.get());
        }
    }
    if (!found) {
        fail(ErrorCode::InvalidArgument, "rebind() was called for a buffer that the graph does not use",
             from.name(),
             "pass the buffer that the graph uses now; a view differs from its base, and after a rebind() "
             "the graph uses the new buffer");
    }
    changed();
    recording_.commands = std::move(commands);
}

// ---- planning ----

CommandOrder GraphCore::find_order() const {
    CommandOrder order;
    for (const RecordedCommand& command : recording_.commands) {
        if (std::holds_alternative<RecordedFence>(command.what)) {
            order.add_fence();
            continue;
        }
        std::vector<Access> accesses;
        for_each_buffer(command, [&](const AnyBuffer& buffer, bool reads, bool writes) {
            if (reads || writes) accesses.push_back({&storage_of(buffer), bytes_of(buffer), writes});
        });
        order.add(std::move(accesses));
    }
    return order;
}

void GraphCore::plan() {
    if (order_) return;
    core_->check_open(a_graph);
    const CommandOrder order = find_order();
    std::vector<std::uint32_t> sorted(recording_.commands.size());
    std::iota(sorted.begin(), sorted.end(), 0u);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return order.level(a) < order.level(b); });

    std::unordered_map<const Storage*, std::size_t> places;
    std::vector<ArenaItem> items;
    for (std::uint32_t c = 0; c < recording_.commands.size(); ++c) {
        for_each_buffer(recording_.commands[c], [&](const AnyBuffer& buffer, bool, bool) {
            const Storage& storage = storage_of(buffer);
            if (!storage.temporary()) return;
            const auto [place, fresh] = places.try_emplace(&storage, items.size());
            if (fresh) items.push_back({storage.bytes(), order.level(c), order.level(c)});
            ArenaItem& item = items[place->second];
            item.first = std::min(item.first, order.level(c));
            item.last = std::max(item.last, order.level(c));
        });
    }
    Arena arena;
    const ArenaPlan planned = plan_arena(items);
    for (const auto& [storage, place] : places) arena.offsets[storage] = planned.offsets[place];
    arena.memory = {planned.bytes, planned.naive};
    if (!items.empty())
        arena.storage =
            std::make_shared<Storage>(core_, planned.bytes, StorageOptions{.name = "a graph's temporaries"});
    arena_ = std::move(arena);
    order_ = std::move(sorted);
}

GraphProgram& GraphCore::program(std::optional<unsigned> queue) {
    plan();
    if (!queue) {
        if (!everywhere_ || !everywhere_->is_current())
            everywhere_ = std::make_unique<GraphProgram>(core_, recording_, *order_, arena_, queue);
        return *everywhere_;
    }
    by_queue_.resize(core_->queue_count());
    std::unique_ptr<GraphProgram>& found = by_queue_[*queue];
    if (!found || !found->is_current())
        found = std::make_unique<GraphProgram>(core_, recording_, *order_, arena_, queue);
    return *found;
}

// ---- submitting ----

QueueRange GraphCore::common_queues() {
    if (!common_) common_ = find_common_queues();
    return *common_;
}

QueueRange GraphCore::find_common_queues() const {
    QueueRange common{0, core_->queue_count()};
    const auto meet = [&](const PinnedBuffer& buffer) {
        if (!buffer.empty() && !storage_of(buffer.get()).temporary())
            common = intersect(common, storage_of(buffer.get()).queues());
    };
    for (const RecordedCommand& command : recording_.commands) {
        if (command.queue) continue;
        if (const auto* launch = std::get_if<RecordedLaunch>(&command.what)) {
            for (const RecordedArgument& argument : launch->arguments) meet(argument.buffer);
        } else if (const auto* copy = std::get_if<RecordedCopy>(&command.what)) {
            meet(copy->to);  // the source may be on any queue
        } else if (const auto* fill = std::get_if<RecordedFill>(&command.what)) {
            meet(fill->to);
        }
    }
    return common.empty() ? QueueRange{0, core_->queue_count()} : common;
}

std::optional<unsigned> GraphCore::choose(const SubmitOptions& options) {
    if (options.queue) {
        if (ContextCore::core_of(*options.queue) != core_) {
            fail(ErrorCode::WrongContext, "a graph was submitted to a queue of another context", a_graph,
                 "use a queue of the context in which the graph was recorded");
        }
        return options.queue->index();
    }
    if (options.any) return core_->least_busy(common_queues());
    // With one queue, the program for that queue serves as the program for all queues.
    return core_->queue_count() == 1 ? std::optional<unsigned>(0) : std::nullopt;
}

namespace {

void check_submit_options(const SubmitOptions& options) {
    if (int{options.queue.has_value()} + int{options.any} + int{options.spread} <= 1) return;
    fail(ErrorCode::InvalidArgument, "more than one of `queue`, `any` and `spread` is set", a_graph,
         "set only one of them");
}

}  // namespace

Event GraphCore::submit(const SubmitOptions& options) {
    refuse_while_tracing("a graph was submitted", a_graph);
    check_submit_options(options);
    const ContextCore::Visit visit(*core_, a_graph);
    const std::scoped_lock lock(mutex_);
    if (Recorder* recorder = Recorder::current()) {
        record_into(*recorder, options);
        return ContextCore::recorded_event();
    }
    const std::optional<unsigned> queue = choose(options);
    if (options.instances == 0 || recording_.commands.empty()) return {};
    check_bound(options.instances);
    if (options.spread && core_->queue_count() > 1) return spread(options.instances);
    GraphProgram& chosen = program(queue);
    chosen.check_usable();
    return chosen.submit({options.instances, values(options.instances), 0, submission()});
}

std::uint64_t GraphCore::submission() const {
    const std::shared_ptr<Profiler> profiler = core_->profiler();
    return profiler ? profiler->next_submission() : 0;
}

Event GraphCore::spread(std::uint32_t instances) {
    const QueueRange queues = common_queues();
    for (unsigned k = queues.begin; k < queues.end; ++k) program(k).check_usable();
    const std::span<const std::byte> all = values(instances);
    const std::uint64_t number = submission();
    Event event;
    std::uint64_t begin = 0;
    for (unsigned k = queues.begin; k < queues.end; ++k) {
        const std::uint64_t end = std::uint64_t{instances} * (k - queues.begin + 1) / queues.count();
        if (end == begin) continue;
        const auto part = all.subspan(begin * recording_.value_bytes, (end - begin) * recording_.value_bytes);
        const GraphProgram::Run run{static_cast<std::uint32_t>(end - begin), part,
                                    static_cast<std::uint32_t>(begin), number};
        ContextCore::append(event, program(k).submit(run));
        begin = end;
    }
    return event;
}

void GraphCore::prepare(const SubmitOptions& options) {
    check_submit_options(options);
    const ContextCore::Visit visit(*core_, a_graph);
    const std::scoped_lock lock(mutex_);
    if (options.spread) {
        const QueueRange queues = common_queues();
        for (unsigned k = queues.begin; k < queues.end; ++k) static_cast<void>(program(k));
    } else {
        static_cast<void>(program(choose(options)));
    }
}

void GraphCore::record_into(Recorder& recorder, const SubmitOptions& options) {
    if (&recorder.core() != core_.get()) {
        fail(ErrorCode::WrongContext, "a graph of another context was submitted in a recording", a_graph,
             "record both graphs in the same context");
    }
    if (options.any || options.spread) {
        fail(ErrorCode::InvalidArgument, "`any` and `spread` cannot be set in a recording", a_graph,
             "set them when the outer graph is submitted, or set `queue`");
    }
    const std::optional<unsigned> queue = options.queue ? choose(options) : std::nullopt;
    if (options.instances > 1) check_bound(options.instances);
    Recording& outer = recorder.recording();
    for (const std::shared_ptr<Storage>& temporary : recording_.temporaries) {
        if (!outer.owns(*temporary)) outer.temporaries.push_back(temporary);
    }
    const std::size_t commands = outer.commands.size();
    const std::vector<RecordedName> names = outer.names;
    const std::uint32_t value_bytes = outer.value_bytes;
    const auto record_all = [&](std::uint32_t i) {
        for (RecordedCommand command : recording_.commands) {
            if (!command.queue) command.queue = queue;
            if (auto* launch = std::get_if<RecordedLaunch>(&command.what)) {
                for (RecordedArgument& argument : launch->arguments) {
                    if (argument.dynamic == RecordedArgument::fixed) continue;
                    const RecordedName& name = recording_.names[argument.dynamic];
                    const Bound& bound = bound_[argument.dynamic];
                    if (bound.count == 0) {
                        argument.dynamic = outer.name({name.name, name.type});
                        continue;
                    }
                    const std::byte* value = bound.values.data() + (bound.same ? 0 : i * name.type.size());
                    argument.value.assign(value, value + name.type.size());
                    argument.dynamic = RecordedArgument::fixed;
                }
            }
            recorder.add(std::move(command));
        }
    };
    try {
        for (std::uint32_t i = 0; i < options.instances; ++i) record_all(i);
    } catch (...) {
        // Strong guarantee: removes what was recorded so far.
        outer.commands.erase(outer.commands.begin() + static_cast<std::ptrdiff_t>(commands),
                             outer.commands.end());
        outer.names = names;
        outer.value_bytes = value_bytes;
        throw;
    }
}

// ---- queries ----

std::size_t GraphCore::size() const {
    const std::scoped_lock lock(mutex_);
    return recording_.commands.size();
}

GraphMemory GraphCore::memory() {
    const std::scoped_lock lock(mutex_);
    plan();
    return arena_.memory;
}

std::string GraphCore::to_string() {
    const std::scoped_lock lock(mutex_);
    const CommandOrder order = find_order();
    std::string text;
    for (std::uint32_t i = 0; i < recording_.commands.size(); ++i) {
        text += cat(i, ": ", recording_.commands[i].text());
        if (!order.after(i).empty()) text += cat(" after ", join(order.after(i), ", "));
        text += '\n';
    }
    return text;
}

}  // namespace volley::runtime
