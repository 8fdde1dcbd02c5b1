// The profiling session, and the totals and the table of a profile.
#include "core/fail.hpp"
#include "core/text.hpp"
#include "runtime/command_times.hpp"
#include "runtime/context_owner.hpp"
#include "runtime/recording.hpp"

#include <volley/profile.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <ostream>

namespace volley {

using std::chrono::nanoseconds;

std::string_view to_string(CommandKind kind) noexcept {
    switch (kind) {
        case CommandKind::Launch: return "launch";
        case CommandKind::Copy: return "copy";
        case CommandKind::Fill: return "fill";
        case CommandKind::Write: return "write";
        case CommandKind::Read: return "read";
        case CommandKind::HostCall: return "host call";
        case CommandKind::Wait: return "wait";
        case CommandKind::Mark: return "mark";
    }
    return "unknown";
}

// ---- session ----

namespace detail {
namespace {

const std::shared_ptr<runtime::ContextCore>& profiled_core(const Context& context) {
    return runtime::ContextOwner::core_of(context);
}

}  // namespace

ProfileSession::ProfileSession()
    : context_(current_context()), profiler_(std::make_shared<runtime::Profiler>()) {
    runtime::refuse_while_tracing("profile() was called", "profile()");
    runtime::Recorder::refuse("profile() was called", "a command graph", "profile the submit() call");
    profiled_core(context_)->start_profile(profiler_);
}

ProfileSession::~ProfileSession() {
    if (profiler_) profiled_core(context_)->stop_profile();
}

Profile ProfileSession::finish() {
    const std::shared_ptr<runtime::ContextCore>& core = profiled_core(context_);
    core->wait();
    core->stop_profile();
    const std::shared_ptr<runtime::Profiler> profiler = std::exchange(profiler_, nullptr);
    Profile profile = profiler->finish(*core);
    return profile;
}

}  // namespace detail

// ---- totals ----

namespace {

/// Returns whether commands of this kind count towards the total: marks take no time, and waits do no work.
bool is_work(CommandKind kind) { return kind != CommandKind::Wait && kind != CommandKind::Mark; }

std::string padded(std::string text, std::size_t width, bool right) {
    if (text.size() >= width) return text;
    return right ? std::string(width - text.size(), ' ') + text
                 : text + std::string(width - text.size(), ' ');
}

/// Formats number / 1000 with three decimals.
std::string thousandths(std::int64_t number) {
    const std::int64_t whole = number / 1000;
    std::string rest = cat(std::abs(number % 1000));
    rest.insert(0, 3 - rest.size(), '0');
    return cat(number < 0 && whole == 0 ? "-" : "", whole, ".", rest);
}

/// Formats a time in a suitable unit: "12.345 us".
std::string time_text(nanoseconds time) {
    const std::int64_t ns = time.count();
    if (ns < 1'000) return cat(ns, " ns");
    if (ns < 1'000'000) return cat(thousandths(ns), " us");
    if (ns < 1'000'000'000) return cat(thousandths(ns / 1'000), " ms");
    return cat(thousandths(ns / 1'000'000), " s");
}

}  // namespace

std::vector<ProfileTotal> Profile::totals() const {
    std::map<std::pair<CommandKind, std::string_view>, ProfileTotal> found;
    nanoseconds all{};
    for (const ProfiledCommand& command : commands_) {
        ProfileTotal& total = found[{command.kind, command.name}];
        total.kind = command.kind;
        total.name = command.name;
        total.count += 1;
        total.total += command.time();
        total.bytes += command.bytes;
        if (is_work(command.kind)) all += command.time();
    }
    std::vector<ProfileTotal> totals;
    for (auto& [key, total] : found) {
        if (is_work(total.kind) && all.count() != 0)
            total.share = static_cast<double>(total.total.count()) / static_cast<double>(all.count());
        totals.push_back(std::move(total));
    }
    std::stable_sort(totals.begin(), totals.end(),
                     [](const ProfileTotal& a, const ProfileTotal& b) { return a.total > b.total; });
    return totals;
}

std::string Profile::table() const {
    std::vector<std::array<std::string, 6>> rows = {{"command", "kind", "count", "total", "mean", "share"}};
    for (const ProfileTotal& total : totals()) {
        const auto tenths = std::lround(total.share * 1000);
        rows.push_back({total.name, std::string(to_string(total.kind)), cat(total.count),
                        time_text(total.total), time_text(total.mean()),
                        is_work(total.kind) ? cat(tenths / 10, ".", tenths % 10, " %") : std::string("-")});
    }
    std::array<std::size_t, 6> widths{};
    for (const auto& row : rows) {
        for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
    }
    std::string text;
    for (const auto& row : rows) {
        for (std::size_t c = 0; c < row.size(); ++c)
            text += (c == 0 ? "" : "  ") + padded(row[c], widths[c], c >= 2);
        text.erase(text.find_last_not_of(' ') + 1);
        text += '\n';
    }
    nanoseconds waited{};
    for (const HostWait& wait : host_waits_) waited += wait.end - wait.begin;
    text += cat(commands_.size(), " command(s) in ", time_text(duration_), "; the host waited ",
                time_text(waited), "\n");
    return text;
}

std::ostream& operator<<(std::ostream& out, const Profile& profile) { return out << profile.table(); }

void Profile::write_trace(const std::string& path) const {
    std::ofstream file(path, std::ios::binary);
    file << to_json();
    file.close();
    if (!file)
        fail(ErrorCode::InvalidArgument, "the trace could not be written", path,
             "pass a path in a writable folder");
}

}  // namespace volley
