// Writes a profile in the Trace Event Format of chrome://tracing, which Perfetto also reads: a JSON object
// with a list of events, where "X" events are spans and "M" events name processes (devices) and threads
// (tracks).
#include "core/text.hpp"

#include <volley/profile.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace volley {
namespace {

using std::chrono::nanoseconds;

void append_text(std::string& json, std::string_view text) {
    json += '"';
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            json += '\\';
            json += c;
        } else if (code < 0x20) {
            json += cat("\\u", hex(code, 4));
        } else {
            json += c;
        }
    }
    json += '"';
}

/// Formats a time in microseconds, the unit of the format, with nanosecond precision.
std::string microseconds(nanoseconds time) {
    const std::int64_t ns = time.count();
    const auto size = static_cast<std::uint64_t>(ns < 0 ? -ns : ns);
    std::string rest = cat(size % 1000);
    rest.insert(0, 3 - rest.size(), '0');
    return cat(ns < 0 ? "-" : "", size / 1000, ".", rest);
}

class TraceWriter {
public:
    [[nodiscard]] std::string finish() && { return std::move(json_) + "\n]}\n"; }

    void name_process(unsigned pid, std::string_view name) { metadata("process_name", pid, 0, name); }
    void name_track(unsigned pid, unsigned tid, std::string_view name) {
        metadata("thread_name", pid, tid, name);
        begin_event();
        json_ += cat(R"({"ph":"M","name":"thread_sort_index","pid":)", pid, R"(,"tid":)", tid,
                     R"(,"args":{"sort_index":)", tid, "}}");
    }
    /// `args` holds the members of a JSON object, without braces.
    void span(unsigned pid, unsigned tid, std::string_view name, std::string_view category, nanoseconds begin,
              nanoseconds end, std::string_view args) {
        begin_event();
        json_ += R"({"ph":"X","name":)";
        append_text(json_, name);
        json_ += R"(,"cat":)";
        append_text(json_, category);
        json_ += cat(R"(,"pid":)", pid, R"(,"tid":)", tid, R"(,"ts":)", microseconds(begin), R"(,"dur":)",
                     microseconds(end - begin), R"(,"args":{)", args, "}}");
    }

private:
    void begin_event() { json_ += std::exchange(first_, false) ? "\n" : ",\n"; }
    void metadata(std::string_view what, unsigned pid, unsigned tid, std::string_view name) {
        begin_event();
        json_ +=
            cat(R"({"ph":"M","name":")", what, R"(","pid":)", pid, R"(,"tid":)", tid, R"(,"args":{"name":)");
        append_text(json_, name);
        json_ += "}}";
    }

    std::string json_ = R"({"displayTimeUnit":"ns","traceEvents":[)";
    bool first_ = true;
};

std::string args_of(const ProfiledCommand& command) {
    std::string args = R"("kind":)";
    append_text(args, to_string(command.kind));
    if (command.line != 0) {
        args += R"(,"source":)";
        append_text(args, cat(command.file, ":", command.line));
    }
    if (command.kind == CommandKind::Launch) {
        args += cat(R"(,"grid":[)", join(command.grid, ","), R"(],"local":[)", join(command.local, ","), "]");
    }
    if (command.bytes != 0) args += cat(R"(,"bytes":)", command.bytes);
    if (command.graph) {
        args += cat(R"(,"submission":)", command.graph->submission, R"(,"instance":)",
                    command.graph->instance, R"(,"index":)", command.graph->index);
    }
    return args;
}

/// Distributes the commands of a queue over lanes, since spans of one track must not overlap. take() returns
/// the first lane that is free at `begin`.
class TrackLanes {
public:
    unsigned take(nanoseconds begin, nanoseconds end) {
        const auto free =
            std::find_if(ends_.begin(), ends_.end(), [&](nanoseconds busy) { return busy <= begin; });
        const auto lane = static_cast<unsigned>(free - ends_.begin());
        if (free == ends_.end()) {
            ends_.push_back(end);
        } else {
            *free = end;
        }
        return lane;
    }
    [[nodiscard]] unsigned count() const noexcept { return static_cast<unsigned>(ends_.size()); }

private:
    std::vector<nanoseconds> ends_;
};

/// Track numbers reserved per queue, so that the tracks of one queue are adjacent.
constexpr unsigned lanes_of_queue = 1000;
unsigned track_of(unsigned queue, unsigned lane) {
    return queue * lanes_of_queue + std::min(lane, lanes_of_queue - 1);
}

}  // namespace

std::string Profile::to_json() const {
    TraceWriter trace;
    for (unsigned d = 0; d < devices_.size(); ++d) trace.name_process(d, devices_[d]);
    std::vector<TrackLanes> lanes(queues_.size());
    for (const ProfiledCommand& command : commands_) {  // sorted by begin
        const unsigned lane = lanes[command.queue].take(command.begin, command.end);
        trace.span(command.device, track_of(command.queue, lane), command.name, to_string(command.kind),
                   command.begin, command.end, args_of(command));
    }
    for (unsigned k = 0; k < queues_.size(); ++k) {
        for (unsigned lane = 0; lane < std::max(lanes[k].count(), 1u); ++lane) {
            const std::string name = lane == 0 ? cat("queue ", k) : cat("queue ", k, ", lane ", lane);
            trace.name_track(queues_[k], track_of(k, lane), name);
        }
    }
    const auto host = static_cast<unsigned>(devices_.size());
    trace.name_process(host, "host");
    unsigned threads = 0;
    for (const HostWait& wait : host_waits_) {
        trace.span(host, wait.thread, wait.read ? "read" : "wait", "host", wait.begin, wait.end, "");
        threads = std::max(threads, wait.thread + 1);
    }
    for (unsigned t = 0; t < threads; ++t) trace.name_track(host, t, cat("thread ", t));
    return std::move(trace).finish();
}

}  // namespace volley
