// profile(f): times every command that f submits, on every backend.
#pragma once

#include <volley/api.hpp>
#include <volley/context.hpp>

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace volley {

namespace runtime {
class Profiler;
}

enum class CommandKind : std::uint8_t {
    Launch,    ///< a kernel
    Copy,      ///< between buffers of one device, or between two queues
    Fill,      ///< fill(), zero(), and zeroing of new memory
    Write,     ///< host to device
    Read,      ///< device to host
    HostCall,  ///< host_call()
    Wait,      ///< a queue waits for another one
    Mark,      ///< mark()
};
/// Returns "launch", "host call" and so on.
[[nodiscard]] VOLLEY_API std::string_view to_string(CommandKind kind) noexcept;

/// The position of a command in a command graph.
struct GraphPlace {
    std::uint64_t submission = 0;  ///< number of the submit() in the profile, from 1
    std::uint32_t instance = 0;
    std::uint32_t index = 0;  ///< as in CommandGraph::to_string()
    friend bool operator==(const GraphPlace&, const GraphPlace&) noexcept = default;
};

/// One command on one queue. Times are relative to the start of the profile, on the host's steady clock.
struct ProfiledCommand {
    CommandKind kind = CommandKind::Launch;
    unsigned queue = 0;
    unsigned device = 0;                      ///< index into Profile::devices()
    std::string name;                         ///< name of the kernel; for other commands the kind
    std::string file;                         ///< source file of the kernel; empty if unknown
    unsigned line = 0;                        ///< 0 if unknown
    std::array<std::uint32_t, 3> grid = {};   ///< invocations of a launch
    std::array<std::uint32_t, 3> local = {};  ///< workgroup size of a launch
    std::uint64_t bytes = 0;                  ///< bytes that a transfer or fill wrote
    std::optional<GraphPlace> graph = {};     ///< set for commands of command graphs
    std::chrono::nanoseconds begin{};
    std::chrono::nanoseconds end{};

    [[nodiscard]] std::chrono::nanoseconds time() const noexcept { return end - begin; }
};

/// Time that a thread of the program was blocked in the library.
struct HostWait {
    bool read = false;    ///< in read() or a variant of it; otherwise in wait() or another blocking call
    unsigned thread = 0;  ///< numbered in the order of their first waits
    std::chrono::nanoseconds begin{};
    std::chrono::nanoseconds end{};
};

/// The sum over all commands of one kind and name.
struct ProfileTotal {
    CommandKind kind = CommandKind::Launch;
    std::string name;
    std::size_t count = 0;
    std::chrono::nanoseconds total{};
    std::uint64_t bytes = 0;
    double share = 0;  ///< fraction of the time of all commands except waits and marks

    [[nodiscard]] std::chrono::nanoseconds mean() const noexcept {
        return count == 0 ? std::chrono::nanoseconds{} : total / static_cast<std::int64_t>(count);
    }
};

/// The result of profile(). A plain value.
class VOLLEY_API Profile {
public:
    /// Returns the commands by start time, without those that failed or that another thread submitted after
    /// the end of the profile.
    [[nodiscard]] const std::vector<ProfiledCommand>& commands() const noexcept { return commands_; }
    [[nodiscard]] const std::vector<HostWait>& host_waits() const noexcept { return host_waits_; }
    /// Returns "id (name)" for each device of the context: "cpu:0 (AMD EPYC ...)".
    [[nodiscard]] const std::vector<std::string>& devices() const noexcept { return devices_; }
    /// Returns the device of each queue of the context, as an index into devices().
    [[nodiscard]] const std::vector<unsigned>& queues() const noexcept { return queues_; }
    /// Returns the time from the call of f until all work has completed.
    [[nodiscard]] std::chrono::nanoseconds duration() const noexcept { return duration_; }

    /// Returns the totals by kind and name, in descending order of time.
    [[nodiscard]] std::vector<ProfileTotal> totals() const;
    /// Returns the totals as a text table, one line each.
    [[nodiscard]] std::string table() const;
    /// Returns a trace for ui.perfetto.dev or chrome://tracing, with a process for the host and for each
    /// device and a track for each thread and queue. Commands of a queue that ran concurrently are on
    /// separate tracks.
    [[nodiscard]] std::string to_json() const;
    /// Writes to_json() to a file. Throws ArgumentError if the file cannot be written.
    void write_trace(const std::string& path) const;

private:
    friend class runtime::Profiler;
    std::vector<ProfiledCommand> commands_;
    std::vector<HostWait> host_waits_;
    std::vector<std::string> devices_;
    std::vector<unsigned> queues_;
    std::chrono::nanoseconds duration_{};
};

/// Writes table().
VOLLEY_API std::ostream& operator<<(std::ostream& out, const Profile& profile);

namespace detail {

/// Profiles the current context while it exists.
class VOLLEY_API ProfileSession {
public:
    ProfileSession();
    ~ProfileSession();
    ProfileSession(const ProfileSession&) = delete;
    ProfileSession& operator=(const ProfileSession&) = delete;
    [[nodiscard]] Profile finish();

private:
    Context context_;
    std::shared_ptr<runtime::Profiler> profiler_;
};

}  // namespace detail

/// Calls `f`, waits for the current context, and returns the times of all commands that any thread submitted
/// to it meanwhile, including each command of command graphs. Commands run on the same queues in the same
/// order as without a profile, but submitting them costs more, and the device's clock is read before and
/// after each. Rethrows exceptions of `f` and errors of the work. Throws ArgumentError during another profile
/// of the context and while recording.
///
///     Profile p = profile([&] { for (int i = 0; i < 100; ++i) step(field); });
///     std::cout << p;                      // totals for each kernel
///     p.write_trace("/tmp/trace.json");    // for ui.perfetto.dev
template <std::invocable F>
[[nodiscard]] Profile profile(F&& f) {
    detail::ProfileSession session;
    std::forward<F>(f)();
    return session.finish();
}

}  // namespace volley
