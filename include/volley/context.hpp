// Context: devices, their queues, and the memory and kernels created for them.
#pragma once

#include <volley/api.hpp>
#include <volley/device.hpp>
#include <volley/id.hpp>
#include <volley/memory_stats.hpp>
#include <volley/queue.hpp>
#include <volley/statistics.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace volley {

namespace runtime {
class ContextCore;
class ContextOwner;
}  // namespace runtime

using ContextId = Id<struct ContextTag>;

struct ContextOptions {
    /// Each is `backend`, `backend:index`, `backend:*` or `backend:part of the name`, in upper or lower case.
    /// Empty: VOLLEY_DEVICES, else the default device (a GPU if there is one, else the CPU).
    std::vector<std::string> devices = {};
    unsigned queues_per_device = 1;
    /// Vector lanes of the CPU backend; 0: VOLLEY_CPU_WIDTH, else as the processor has.
    unsigned cpu_width = 0;
    /// Threads of the CPU backend; 0: VOLLEY_CPU_THREADS, else one per core.
    unsigned cpu_threads = 0;
    /// Maximum of bytes in use per device; 0: VOLLEY_MEMORY_LIMIT, else the device's memory.
    std::uint64_t memory_limit = 0;
    /// Bytes of freed memory kept for reuse per device; 0: none. Unset: 1 GiB or an eighth of the device's
    /// memory, whichever is less.
    std::optional<std::uint64_t> cache_bytes = {};
    /// Bytes of compiled code that are kept of kernels that no Kernel and no graph refers to, in case they
    /// are created again; 0: none. Unset: VOLLEY_PROGRAM_CACHE, else 64 MiB.
    std::optional<std::uint64_t> program_cache_bytes = {};
    /// Records the completion time of every command in its event, for elapsed() (timing.hpp). Makes each
    /// submission more expensive; mark() takes single times without this option.
    bool timestamps = false;
};

/// Makes a context current in this thread while the object exists, and keeps the context open. Scopes must be
/// destroyed in reverse order of construction, in the thread that constructed them.
class VOLLEY_API ContextScope {
public:
    explicit ContextScope(std::shared_ptr<runtime::ContextOwner> owner) noexcept;
    ~ContextScope();
    ContextScope(const ContextScope&) = delete;
    ContextScope& operator=(const ContextScope&) = delete;

private:
    std::shared_ptr<runtime::ContextOwner> owner_;
    runtime::ContextOwner* former_;
};

/// A handle; copies refer to the same context. Destroying the last copy blocks until its work has completed,
/// and frees its memory. Afterwards its buffers throw LaunchError (WrongContext) when used, but are safe to
/// destroy. Thread-safe.
///
///     auto ctx = make_context({.devices = {"cpu:0"}, .queues_per_device = 2});
///     auto scope = ctx.use();
class VOLLEY_API Context {
public:
    /// Makes this context current in the calling thread until the returned scope is destroyed.
    [[nodiscard]] ContextScope use() const;
    /// Returns one entry per device, in the order of the options.
    [[nodiscard]] std::vector<DeviceInfo> devices() const;
    [[nodiscard]] unsigned queue_count() const noexcept;
    /// Returns queue k. Throws ArgumentError (IndexError) if it does not exist.
    [[nodiscard]] Queue queue(unsigned k) const;
    /// Blocks until all work submitted so far to all queues has completed. Rethrows the first error, once.
    void wait() const;
    /// Waits for the queues of one device only, which is an index into devices(). Throws ArgumentError
    /// (IndexError) if it does not exist.
    void wait(unsigned device) const;
    [[nodiscard]] ContextId id() const noexcept;

    /// Returns the memory in use on each device. Cheap; never blocks.
    [[nodiscard]] MemoryStats memory_stats() const;
    /// Returns the memory statistics and the counters of transfers.
    [[nodiscard]] Statistics statistics() const;
    /// Returns cached memory to the drivers; see volley::trim.
    void trim() const;

    friend bool operator==(const Context&, const Context&) noexcept = default;

private:
    friend class runtime::ContextOwner;
    explicit Context(std::shared_ptr<runtime::ContextOwner> owner) noexcept : owner_(std::move(owner)) {}
    std::shared_ptr<runtime::ContextOwner> owner_;
};

/// Opens devices and creates their queues. Throws DeviceError (UnknownDevice) if no device has a requested
/// name, and ArgumentError for invalid options.
[[nodiscard]] VOLLEY_API Context make_context(const ContextOptions& options = {});

/// Returns the context that calls of this thread use: that of the innermost use(), else the default context,
/// which is created at the first call that needs one and closed after `main` returns.
[[nodiscard]] VOLLEY_API Context current_context();

/// Blocks until all work of the current context has completed; see Context::wait().
VOLLEY_API void wait();

}  // namespace volley
