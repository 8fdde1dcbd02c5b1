// The public interface of command graphs, and the free functions that can be recorded: host_call() and
// fence().
#include "core/fail.hpp"
#include "runtime/buffer_access.hpp"
#include "runtime/command_times.hpp"
#include "runtime/graph_core.hpp"

#include <volley/command_graph.hpp>

namespace volley {

using runtime::ContextCore;
using runtime::GraphCore;
using runtime::Recorder;

CommandGraph::CommandGraph() : core_(std::make_shared<GraphCore>(runtime::current_core())) {}

void CommandGraph::record_with(Body body, void* data) { core_->record(body, data); }

void CommandGraph::reset() { core_->reset(); }

void CommandGraph::bind_values(std::string_view name, DType type, const void* values, std::size_t count) {
    core_->bind(name, type, static_cast<const std::byte*>(values), count, false);
}

void CommandGraph::bind_same(std::string_view name, DType type, const void* value) {
    core_->bind(name, type, static_cast<const std::byte*>(value), 1, true);
}

void CommandGraph::rebind(const AnyBuffer& from, const AnyBuffer& to) { core_->rebind(from, to); }

Event CommandGraph::submit(const SubmitOptions& options) { return core_->submit(options); }

void CommandGraph::prepare(const SubmitOptions& options) { core_->prepare(options); }

std::size_t CommandGraph::size() const { return core_->size(); }

GraphMemory CommandGraph::memory() const { return core_->memory(); }

std::string CommandGraph::to_string() const { return core_->to_string(); }

bool is_recording() noexcept { return Recorder::current() != nullptr; }

namespace {

/// Submits a host call to `queue`, or, without one, as a synchronisation point of all queues.
Event call_host(ContextCore& core, std::function<void()> function, std::optional<unsigned> queue) {
    if (!function) fail(ErrorCode::InvalidArgument, "the function is empty", "host_call", "pass a callable");
    runtime::refuse_while_tracing("host_call() was called", "host_call");
    const runtime::HostFunction call(core.shared_from_this(), std::move(function));
    if (Recorder* recorder = Recorder::current()) {
        if (&recorder->core() != &core) {
            fail(ErrorCode::WrongContext, "the queue belongs to another context than the recording",
                 "host_call", "record in the queue's context (ctx.use())");
        }
        return recorder->add(
            {runtime::RecordedFence{std::make_shared<const runtime::HostFunction>(call)}, queue});
    }
    const ContextCore::Visit visit(core, "host_call");
    const unsigned home = queue.value_or(0);
    const bool all = !queue && core.queue_count() > 1;
    for (unsigned k = 0; all && k < core.queue_count(); ++k) {
        if (k != home) core.order().after(home, {k, core.queue(k).last()});
    }
    const runtime::TimedCommand timed(core, home,
                                      [] { return runtime::CommandLabel{.kind = CommandKind::HostCall}; });
    const backends::Point point = timed.submit([&] { return core.queue(home).call(call); });
    core.order().after(home, {home, point});
    for (unsigned k = 0; all && k < core.queue_count(); ++k) {
        if (k != home) core.order().after(k, {home, point});
    }
    Event event = core.make_event(home, point, to_string(CommandKind::HostCall));
    timed.add_to(event);
    return event;
}

}  // namespace

Event host_call(std::function<void()> function) {
    const Recorder* const recorder = Recorder::current();
    ContextCore& core = recorder != nullptr ? recorder->core() : *runtime::current_core();
    return call_host(core, std::move(function), std::nullopt);
}

Event host_call(std::function<void()> function, const Queue& queue) {
    return call_host(*ContextCore::core_of(queue), std::move(function), queue.index());
}

void fence() {
    runtime::refuse_while_tracing("fence() was called", "fence");
    if (Recorder* recorder = Recorder::current()) {
        recorder->add({runtime::RecordedFence{}, {}});
        return;
    }
    ContextCore& core = *runtime::current_core();
    const ContextCore::Visit visit(core, "fence");
    for (unsigned k = 0; k < core.queue_count(); ++k) core.order().after(k, {k, core.queue(k).last()});
}

AnyBuffer detail::make_temporary(DType type, const Shape& shape) {
    AnyBuffer buffer(type, shape);
    Recorder* recorder = Recorder::current();
    if (recorder == nullptr) return buffer;
    auto storage =
        std::make_shared<runtime::Storage>(recorder->shared_core(), buffer.bytes(),
                                           runtime::StorageOptions{.name = "a temporary", .temporary = true});
    recorder->recording().temporaries.push_back(storage);
    return runtime::make_buffer(std::move(storage), type, shape, buffer.strides(), "a temporary");
}

}  // namespace volley
