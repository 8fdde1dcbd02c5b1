// The compiled kernels of a context, by the hash of their traced IR. A kernel that a function creates on each
// call is traced each time, but optimised and compiled only once.
//
// A kernel is in use while a KernelUse refers to it: handles of kernels hold one, and graphs hold handles.
// When the last one is destroyed, the kernel is cached: it keeps its code, and is used again if the same IR
// is looked up. Cached kernels are removed in the order in which they were released, when they exceed the
// limit and the commands that may use them have completed. These are the commands submitted before the
// release, so launches need not record their points in the kernel.
#pragma once

#include "backends/api/device.hpp"
#include "backends/api/program.hpp"
#include "ir/function.hpp"
#include "ir/hash.hpp"
#include "passes/launch_needs.hpp"
#include "runtime/queue_point.hpp"

#include <volley/memory_stats.hpp>

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace volley::runtime {

class ContextCore;

/// The properties of a kernel that a launch needs.
struct KernelFacts {
    bool has_barrier = false;
    std::uint64_t shared_bytes = 0;
    std::vector<bool> reads;    // by parameter: whether it is a buffer that the kernel loads from
    std::vector<bool> writes;   // by parameter: whether it is a buffer that the kernel stores to
    std::size_t arguments = 0;  // passed by the caller; extents and strides of buffers follow
    bool uses_layout = false;   // has such parameters, or accesses a buffer by position
    passes::LaunchNeeds needs;  // what its launches must set
};
[[nodiscard]] KernelFacts find_facts(const ir::Function& fn);

/// A kernel in one context: optimised once, and compiled for each device on first use.
class CachedKernel {
public:
    CachedKernel(const Hash128& key, ir::Function optimised, unsigned devices, unsigned queues);

    [[nodiscard]] const ir::Function& function() const noexcept { return *function_; }
    /// Returns the function, for those who need it longer than the kernel exists.
    [[nodiscard]] const std::shared_ptr<const ir::Function>& shared_function() const noexcept {
        return function_;
    }
    [[nodiscard]] const KernelFacts& facts() const noexcept { return facts_; }
    /// Returns the program for a device; the first call compiles it, later ones cost a load. Throws
    /// CompileError or DeviceError (Unsupported).
    [[nodiscard]] backends::Program& program(unsigned index, backends::Device& device) {
        backends::Program* program = programs_[index].load(std::memory_order_acquire);
        return program != nullptr ? *program : compile(index, device);
    }
    /// Returns the memory of its IR and its programs.
    [[nodiscard]] std::uint64_t bytes() const noexcept;

private:
    friend class ProgramCache;
    backends::Program& compile(unsigned index, backends::Device& device);

    const Hash128 key_;
    const std::shared_ptr<const ir::Function> function_;
    const KernelFacts facts_;
    std::mutex mutex_;
    std::vector<std::atomic<backends::Program*>> programs_;  // indexed by device
    std::vector<std::unique_ptr<backends::Program>> owned_;

    // Guarded by the cache.
    std::size_t uses_ = 0;
    std::vector<backends::Point> released_;  // by queue: its last command when the kernel was released
    std::uint64_t cached_bytes_ = 0;         // bytes() at that time
};

class ProgramCache;

/// Keeps a kernel in its cache. May outlive the context, which then has removed the kernel.
class KernelUse {
public:
    KernelUse() noexcept = default;
    KernelUse(KernelUse&& other) noexcept
        : cache_(std::move(other.cache_)), kernel_(std::exchange(other.kernel_, nullptr)) {}
    KernelUse& operator=(KernelUse other) noexcept {
        std::swap(cache_, other.cache_);
        std::swap(kernel_, other.kernel_);
        return *this;
    }
    ~KernelUse();

    [[nodiscard]] CachedKernel* get() const noexcept { return kernel_; }
    /// Returns whether the context of the kernel was closed.
    [[nodiscard]] bool is_over() const noexcept;

private:
    friend class ProgramCache;
    KernelUse(std::shared_ptr<ProgramCache> cache, CachedKernel& kernel) noexcept
        : cache_(std::move(cache)), kernel_(&kernel) {}

    std::shared_ptr<ProgramCache> cache_;
    CachedKernel* kernel_ = nullptr;
};

/// Thread-safe.
class ProgramCache : public std::enable_shared_from_this<ProgramCache> {
public:
    /// Keeps up to `limit` bytes of kernels that are not in use.
    ProgramCache(ContextCore& core, unsigned devices, std::uint64_t limit);
    ~ProgramCache();
    ProgramCache(const ProgramCache&) = delete;
    ProgramCache& operator=(const ProgramCache&) = delete;

    /// Returns the kernel with this IR, which was checked when it was traced; optimises it if it is new.
    /// Throws WrongContext if the context is closed.
    [[nodiscard]] KernelUse find(const ir::Function& traced);
    /// Returns the name of a kernel of which that command is a launch; nothing if the command has completed.
    /// A kernel exists while its launches are pending.
    [[nodiscard]] std::optional<std::string> name_of_pending(const CachedKernel* kernel, QueuePoint launch);
    /// Removes cached kernels beyond the limit, if the commands that use them have completed meanwhile. Costs
    /// a load if there are none.
    void collect() noexcept {
        if (excess_.load(std::memory_order_relaxed)) remove_down_to(limit_);
    }
    /// Removes all cached kernels whose commands have completed.
    void trim() noexcept { remove_down_to(0); }
    [[nodiscard]] ProgramStats stats();

    // Closing
    /// From here on no kernel is found, released or removed. Called when all work of the context has
    /// completed.
    void stop() noexcept;
    /// Removes all kernels. Called after stop().
    void clear() noexcept;
    [[nodiscard]] bool stopped() const noexcept { return stopped_.load(std::memory_order_acquire); }

private:
    friend class KernelUse;
    using Kernels = std::list<CachedKernel>;

    [[nodiscard]] KernelUse use(Kernels::iterator kernel);
    [[nodiscard]] KernelUse keep(const Hash128& key, ir::Function fn);
    void release(CachedKernel& kernel) noexcept;
    [[nodiscard]] bool is_done(const CachedKernel& kernel) const noexcept;
    void remove_down_to(std::uint64_t bytes) noexcept;
    /// Moves cached kernels to `removed`, which the caller destroys without the lock.
    void take_down_to(std::uint64_t bytes, Kernels& removed) noexcept;

    ContextCore& core_;  // not used once stopped
    const unsigned devices_;
    const std::uint64_t limit_;
    std::atomic<bool> stopped_{false};
    std::atomic<bool> excess_{false};  // the cached kernels exceed the limit, because of pending commands

    std::mutex mutex_;  // what follows
    Kernels used_;
    Kernels cached_;  // the first was released first
    std::unordered_map<Hash128, Kernels::iterator> index_;
    std::uint64_t cached_bytes_ = 0;
    std::uint64_t compilations_ = 0;
    std::uint64_t evictions_ = 0;
};

}  // namespace volley::runtime
