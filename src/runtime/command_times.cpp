// Command records, the events and profiles that hold them, and profiling of a context.
#include "runtime/command_times.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"

#include <algorithm>

namespace volley::runtime {

// ---- records ----

CommandRecord::CommandRecord(unsigned queue, BatchPlace batch)
    : queue_(queue),
      batch_(std::move(batch)),
      spans_(std::make_unique<Span[]>(batch_.labels->labels.size() * batch_.instances)) {}

void CommandRecord::Span::add(std::int64_t first, std::int64_t last) noexcept {
    std::int64_t known = begin.load(std::memory_order_relaxed);
    while (first < known && !begin.compare_exchange_weak(known, first, std::memory_order_acq_rel)) {
    }
    known = end.load(std::memory_order_relaxed);
    while (last > known && !end.compare_exchange_weak(known, last, std::memory_order_acq_rel)) {
    }
}

void CommandRecord::ran(std::uint32_t index, std::int64_t begin, std::int64_t end) noexcept {
    if (!spans_) {
        one_.add(begin, end);
        return;
    }
    const auto commands = static_cast<std::uint32_t>(batch_.labels->label_of.size());
    const std::size_t label = batch_.labels->label_of[index % commands];
    spans_[index / commands * batch_.labels->labels.size() + label].add(begin, end);
}

// ---- events ----

void EventTimes::add(Event& event, std::shared_ptr<const CommandRecord> record) {
    // Copies of the event may share the existing object, so it is replaced, not changed.
    auto times = event.times_ ? std::make_shared<EventTimes>(*event.times_) : std::make_shared<EventTimes>();
    times->records_.push_back(std::move(record));
    event.times_ = std::move(times);
}

void EventTimes::add(Event& event, const Event& other) {
    if (!other.times_) return;
    for (const auto& record : other.times_->records_) add(event, record);
}

std::int64_t EventTimes::end_of(const Event& event) {
    std::int64_t end = std::numeric_limits<std::int64_t>::min();
    // An event is timed only if all its parts are.
    if (!event.times_ || event.times_->records_.size() != event.parts_.all().size()) {
        fail(ErrorCode::InvalidArgument, "the event has no timestamp", "elapsed()",
             "use events returned by mark(), or create the context with {.timestamps = true}");
    }
    for (const auto& record : event.times_->records_) {
        const CommandRecord::Times times = record->times();
        if (!times.known()) {
            fail(ErrorCode::InvalidArgument, "the command of the event failed and has no time", "elapsed()",
                 "see the error thrown by the first wait for the event");
        }
        end = std::max(end, times.end);
    }
    return end;
}

// ---- submitting commands ----

TimedCommand TimedCommand::always(ContextCore& core, unsigned queue, const CommandLabel& label) {
    TimedCommand command;
    command.begin(core, queue, label);
    if (!command.record_) command.record_ = std::make_shared<CommandRecord>(queue, label);
    return command;
}

void TimedCommand::begin(ContextCore& core, unsigned queue, const CommandLabel& label) {
    const std::shared_ptr<Profiler> profiler = core.profiler();
    // Waits between queues return no event that could carry a time.
    const bool stamped = (core.timing() & ContextCore::stamped) != 0 && label.kind != CommandKind::Wait;
    if (!profiler && !stamped) return;
    record_ = std::make_shared<CommandRecord>(queue, label);
    if (profiler) profiler->add(record_);
}

void TimedCommand::begin(ContextCore& core, unsigned queue, BatchPlace batch) {
    const std::shared_ptr<Profiler> profiler = core.profiler();
    if (!profiler) return;
    record_ = std::make_shared<CommandRecord>(queue, std::move(batch));
    profiler->add(record_);
}

// ---- host waits ----

constinit thread_local bool TimedHost::inside_wait = false;

void TimedHost::begin(ContextCore& core, bool read) {
    if (inside_wait) return;
    profiler_ = core.profiler();
    if (!profiler_) return;
    inside_wait = true;
    read_ = read;
    begin_ = backends::steady_now();
}

void TimedHost::end() noexcept {
    inside_wait = false;
    try {
        profiler_->add_host(read_, begin_, backends::steady_now());
    } catch (...) {  // out of memory: the profile lacks this wait
        return;
    }
}

// ---- profiles ----

void Profiler::add(std::shared_ptr<const CommandRecord> record) {
    const std::scoped_lock lock(mutex_);
    records_.push_back(std::move(record));
}

void Profiler::add_host(bool read, std::int64_t begin, std::int64_t end) {
    using std::chrono::nanoseconds;
    const std::scoped_lock lock(mutex_);
    const std::thread::id self = std::this_thread::get_id();
    auto known = std::find(threads_.begin(), threads_.end(), self);
    if (known == threads_.end()) known = threads_.insert(known, self);
    const auto thread = static_cast<unsigned>(known - threads_.begin());
    host_waits_.push_back({read, thread, nanoseconds(begin - start_), nanoseconds(end - start_)});
}

namespace {

/// Sets the command's source location to that of the kernel's first operation that has one.
void locate(const ir::Function& fn, ProfiledCommand& command) {
    ir::Loc first;
    ir::for_each_node(fn, fn.body, [&](ir::NodeId node) {
        if (first.line == 0) first = fn[node].loc;
    });
    if (first.line == 0 || first.file >= fn.files.size()) return;
    command.file = fn.files[first.file];
    command.line = first.line;
}

}  // namespace

Profile Profiler::finish(ContextCore& core) {
    using std::chrono::nanoseconds;
    Profile profile;
    profile.duration_ = nanoseconds(backends::steady_now() - start_);
    for (unsigned d = 0; d < core.device_count(); ++d)
        profile.devices_.push_back(cat(core.info(d).id(), " (", core.info(d).name, ")"));
    for (unsigned k = 0; k < core.queue_count(); ++k) profile.queues_.push_back(core.device_of(k));
    const std::scoped_lock lock(mutex_);
    for (const auto& record : records_) {
        record->for_each([&](unsigned queue, const CommandLabel& label,
                             const std::optional<GraphPlace>& place, const CommandRecord::Times& times) {
            ProfiledCommand& command = profile.commands_.emplace_back();
            command.kind = label.kind;
            command.queue = queue;
            command.device = core.device_of(queue);
            command.name = label.kernel != nullptr ? label.kernel->name : std::string(to_string(label.kind));
            if (label.kernel != nullptr) locate(*label.kernel, command);
            command.grid = label.global;
            command.local = label.local;
            command.bytes = label.bytes;
            command.graph = place;
            command.begin = nanoseconds(times.begin - start_);
            command.end = nanoseconds(times.end - start_);
        });
    }
    const auto earlier = [](const auto& a, const auto& b) {
        return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    };
    std::stable_sort(profile.commands_.begin(), profile.commands_.end(), earlier);
    profile.host_waits_ = host_waits_;
    std::stable_sort(profile.host_waits_.begin(), profile.host_waits_.end(), earlier);
    return profile;
}

// ---- profiling a context ----

std::shared_ptr<Profiler> ContextCore::profiler() {
    if ((timing() & profiled) == 0) return nullptr;
    const std::scoped_lock lock(profiler_mutex_);
    return profiler_;
}

void ContextCore::start_profile(std::shared_ptr<Profiler> profiler) {
    const std::scoped_lock lock(profiler_mutex_);
    if (profiler_) {
        fail(ErrorCode::InvalidArgument, "the context is already being profiled", "profile()",
             "wait until the first profile ends; it includes the commands of all threads");
    }
    profiler_ = std::move(profiler);
    timing_.fetch_or(profiled, std::memory_order_release);
}

void ContextCore::add_mark(Event& event, unsigned k, std::string_view work) {
    const TimedCommand timed = TimedCommand::always(*this, k, {.kind = CommandKind::Mark});
    const backends::Point point = timed.submit([&] { return queue(k).mark(); });
    add_part(event, k, point, work);
    timed.add_to(event);
}

void ContextCore::stop_profile() noexcept {
    const std::scoped_lock lock(profiler_mutex_);
    timing_.fetch_and(~profiled, std::memory_order_release);
    profiler_.reset();
}

}  // namespace volley::runtime
