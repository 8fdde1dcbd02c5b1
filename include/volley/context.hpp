// A context: some devices, their queues, and everything that was made for them.
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
    /// `backend`, `backend:index`, `backend:*` or `backend:part of the name`, in any case. Empty:
    /// VOLLEY_DEVICES, else the default device (a GPU if there is one, else the CPU).
    std::vector<std::string> devices = {};
    unsigned queues_per_device = 1;
    unsigned cpu_width =
        0;  ///< lanes of the CPU backend's vectors; 0: VOLLEY_CPU_WIDTH, else the processor's
    unsigned cpu_threads = 0;  ///< 0: VOLLEY_CPU_THREADS, else one for each core
    std::uint64_t memory_limit =
        0;  ///< bytes that may be live on a device; 0: VOLLEY_MEMORY_LIMIT, else all of it
    /// Bytes of freed memory that are kept for reuse on each device; 0: none. Unset: 1 GiB, or an eighth of
    /// the device's memory if that is less.
    std::optional<std::uint64_t> cache_bytes = {};
    /// Every command's event carries the time of its end, for elapsed() (timing.hpp). Each command costs more
    /// to give; mark() times single places without that.
    bool timestamps = false;
};

/// Makes a context current in this thread until the end of the scope. Ends in the order of nesting, in its
/// thread.
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

/// A value; copies are the same context. When the last copy ends, it waits for its work and frees its memory;
/// its buffers are unusable from then on (an error that says so), though safe to destroy.
///
///     auto ctx = make_context({.devices = {"cpu:0"}, .queues_per_device = 2});
///     auto scope = ctx.use();
class VOLLEY_API Context {
public:
    [[nodiscard]] ContextScope use() const;
    /// One entry for each device, in the order of the options.
    [[nodiscard]] std::vector<DeviceInfo> devices() const;
    [[nodiscard]] unsigned queue_count() const noexcept;
    /// Throws ArgumentError (IndexError) when there is no queue k.
    [[nodiscard]] Queue queue(unsigned k) const;
    /// Blocks until all work given so far to all queues is done. Rethrows the first error, once.
    void wait() const;
    /// The same for the queues of one device, by its place in devices().
    void wait(unsigned device) const;
    [[nodiscard]] ContextId id() const noexcept;

    /// What its devices hold. Cheap: waits for nothing.
    [[nodiscard]] MemoryStats memory_stats() const;
    /// Memory, and how transfers were done.
    [[nodiscard]] Statistics statistics() const;
    /// Gives cached memory back to the drivers; see volley::trim.
    void trim() const;

    friend bool operator==(const Context&, const Context&) noexcept = default;

private:
    friend class runtime::ContextOwner;
    explicit Context(std::shared_ptr<runtime::ContextOwner> owner) noexcept : owner_(std::move(owner)) {}
    std::shared_ptr<runtime::ContextOwner> owner_;
};

/// Opens devices. Throws DeviceError (UnknownDevice) for a name that no device has, ArgumentError for
/// impossible options.
[[nodiscard]] VOLLEY_API Context make_context(const ContextOptions& options = {});

/// The context that calls of this thread use: the innermost use(), else the default context, which is made at
/// the first call that needs one and lives until the process ends.
[[nodiscard]] VOLLEY_API Context current_context();

/// Waits for all work of the current context.
VOLLEY_API void wait();

}  // namespace volley
