// Recorded commands, and the recorder of each thread.
#include "runtime/recording.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"
#include "lang/tracer.hpp"
#include "runtime/buffer_access.hpp"
#include "runtime/context_core.hpp"
#include "runtime/storage.hpp"

#include <algorithm>
#include <utility>

namespace volley::runtime {

PinnedBuffer::PinnedBuffer(AnyBuffer buffer) : buffer_(std::move(buffer)) {
    if (!empty()) storage_of(buffer_).pin();
}

PinnedBuffer::~PinnedBuffer() {
    if (!empty()) storage_of(buffer_).unpin();
}

std::string RecordedCommand::text() const {
    struct Describe {
        std::string operator()(const RecordedLaunch& launch) const {
            std::string text = cat("launch ", launch.kernel->name());
            for (const RecordedArgument& argument : launch.arguments) {
                if (!argument.buffer.empty()) text += cat(" ", argument.buffer.get().name());
            }
            return text;
        }
        std::string operator()(const RecordedCopy& copy) const {
            return cat("copy ", copy.from.get().name(), " to ", copy.to.get().name());
        }
        std::string operator()(const RecordedFill& fill) const { return cat("fill ", fill.to.get().name()); }
        std::string operator()(const RecordedFence& fence) const {
            return fence.call ? "host call" : "fence";
        }
    };
    return std::visit(Describe{}, what) + (queue ? cat(" on queue ", *queue) : "");
}

std::optional<std::uint32_t> Recording::find(std::string_view requested) const {
    const auto found = std::find_if(names.begin(), names.end(),
                                    [&](const RecordedName& one) { return one.name == requested; });
    if (found == names.end()) return std::nullopt;
    return static_cast<std::uint32_t>(found - names.begin());
}

std::uint32_t Recording::name(const detail::DynamicName& requested) {
    if (const auto known = find(requested.name)) {
        if (names[*known].type == requested.type) return *known;
        fail(ErrorCode::TypeMismatch,
             cat("the dynamic value '", requested.name, "' was recorded as ", names[*known].type.name(),
                 " and as ", requested.type.name()),
             "a recording", "use different names for different values");
    }
    constexpr std::uint32_t unit = 16;
    const std::uint32_t offset = value_bytes;
    value_bytes += static_cast<std::uint32_t>((requested.type.size() + unit - 1) / unit * unit);
    names.push_back({requested.name, requested.type, offset});
    return static_cast<std::uint32_t>(names.size() - 1);
}

bool Recording::owns(const Storage& temporary) const {
    return std::any_of(temporaries.begin(), temporaries.end(),
                       [&](const std::shared_ptr<Storage>& one) { return one.get() == &temporary; });
}

void refuse_while_tracing(std::string_view what, std::string_view on) {
    if (!lang::tracing()) return;
    fail(ErrorCode::TraceError, cat(what, " in the body of a kernel, which is only traced"), on,
         "call it on the host, outside the kernel");
}

void refuse_while_tracing(std::string_view what, const AnyBuffer& on) {
    if (lang::tracing()) refuse_while_tracing(what, on.name());
}

constinit thread_local Recorder* Recorder::thread_recorder = nullptr;

Recorder::Recorder(std::shared_ptr<ContextCore> core, const Recording& known)
    : core_(std::move(core)), outer_(std::exchange(thread_recorder, this)) {
    recording_.names = known.names;
    recording_.value_bytes = known.value_bytes;
    recording_.temporaries = known.temporaries;
}

Recorder::~Recorder() { thread_recorder = outer_; }

void Recorder::fail_refused(std::string_view what, std::string_view on, std::string_view instead) {
    fail(ErrorCode::InvalidArgument, cat(what, " in a recording, where no command has run yet"), on, instead);
}

void Recorder::check(const AnyBuffer& buffer) const {
    const Storage& storage = storage_of(buffer);
    if (&storage.core() != core_.get()) {
        fail(ErrorCode::WrongContext, "a buffer of another context was recorded", buffer.name(),
             "record in the buffer's context (ctx.use())");
    }
    if (storage.temporary() && !recording_.owns(storage)) {
        fail(ErrorCode::InvalidArgument, "a temporary was used outside the recording that created it",
             buffer.name(), "create it in the same record(), or use a Buffer");
    }
}

Event Recorder::add(RecordedCommand command) {
    if (const auto* launch = std::get_if<RecordedLaunch>(&command.what)) {
        for (const RecordedArgument& argument : launch->arguments) {
            if (!argument.buffer.empty()) check(argument.buffer.get());
        }
    } else if (const auto* copy = std::get_if<RecordedCopy>(&command.what)) {
        check(copy->to.get());
        check(copy->from.get());
    } else if (const auto* fill = std::get_if<RecordedFill>(&command.what)) {
        check(fill->to.get());
    }
    recording_.commands.push_back(std::move(command));
    return ContextCore::recorded_event();
}

}  // namespace volley::runtime
