// profile(f): what every command that f gives took, on every backend.
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
    Fill,      ///< fill(), zero(), and memory that is zeroed when it is made
    Write,     ///< host to device
    Read,      ///< device to host
    HostCall,  ///< host_call()
    Wait,      ///< a queue for another one
    Mark,      ///< mark()
};
/// "launch", "host call" and so on.
[[nodiscard]] VOLLEY_API std::string_view to_string(CommandKind kind) noexcept;

/// Where a command stands in a command graph.
struct GraphPlace {
    std::uint64_t submission = 0;  ///< which submit() of the profile, counted from 1
    std::uint32_t instance = 0;
    std::uint32_t index = 0;  ///< as in CommandGraph::to_string()
    friend bool operator==(const GraphPlace&, const GraphPlace&) noexcept = default;
};

/// One command on one queue. Times are since the profile began, on the host's steady clock.
struct ProfiledCommand {
    CommandKind kind = CommandKind::Launch;
    unsigned queue = 0;
    unsigned device = 0;                      ///< its number in Profile::devices()
    std::string name;                         ///< the kernel's; of others, the kind
    std::string file;                         ///< where the kernel was written, if that is known
    unsigned line = 0;                        ///<   0: it is not
    std::array<std::uint32_t, 3> grid = {};   ///< a launch's invocations,
    std::array<std::uint32_t, 3> local = {};  ///<   and its workgroup size
    std::uint64_t bytes = 0;                  ///< that a transfer moved or filled
    std::optional<GraphPlace> graph = {};     ///< for commands of command graphs
    std::chrono::nanoseconds begin{};
    std::chrono::nanoseconds end{};

    [[nodiscard]] std::chrono::nanoseconds time() const noexcept { return end - begin; }
};

/// Time that a thread of the program's spent in the library for want of a result.
struct HostWait {
    bool read = false;    ///< in read() and kin; else in wait()
    unsigned thread = 0;  ///< threads are numbered as they first wait
    std::chrono::nanoseconds begin{};
    std::chrono::nanoseconds end{};
};

/// All commands of one name.
struct ProfileTotal {
    CommandKind kind = CommandKind::Launch;
    std::string name;
    std::size_t count = 0;
    std::chrono::nanoseconds total{};
    std::uint64_t bytes = 0;
    double share = 0;  ///< of the time of all commands, but for waits and marks

    [[nodiscard]] std::chrono::nanoseconds mean() const noexcept {
        return count == 0 ? std::chrono::nanoseconds{} : total / static_cast<std::int64_t>(count);
    }
};

/// What profile() gives back. A plain value.
class VOLLEY_API Profile {
public:
    /// By their beginning. What failed, and what was given by another thread after the end, is not there.
    [[nodiscard]] const std::vector<ProfiledCommand>& commands() const noexcept { return commands_; }
    [[nodiscard]] const std::vector<HostWait>& host_waits() const noexcept { return host_waits_; }
    /// "cpu:0 (its name)", of the context's devices.
    [[nodiscard]] const std::vector<std::string>& devices() const noexcept { return devices_; }
    /// The device of each of the context's queues.
    [[nodiscard]] const std::vector<unsigned>& queues() const noexcept { return queues_; }
    /// From the call of f to the end of all work.
    [[nodiscard]] std::chrono::nanoseconds duration() const noexcept { return duration_; }

    /// By kind and name, the longest first.
    [[nodiscard]] std::vector<ProfileTotal> totals() const;
    /// The totals as text, one line each.
    [[nodiscard]] std::string table() const;
    /// A trace for ui.perfetto.dev or chrome://tracing: a process for each device and one for the host, a
    /// track for each queue and thread. Commands of a queue that ran at the same time are on tracks side by
    /// side.
    [[nodiscard]] std::string to_json() const;
    /// Writes to_json() to a file. Throws ArgumentError where it cannot be written.
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

/// The current context is profiled while it lives.
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

/// Calls f, waits for the current context, and tells what each command took that was given to it meanwhile,
/// by any thread; commands of command graphs one by one. Commands run as they always do, on the same queues,
/// but each costs some more to give, and reads its device's clock before and after. Where f throws, or work
/// fails, that is thrown and the profile is over. Throws ArgumentError while another profile of the context
/// is under way, and inside of a recording.
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
