// Turns traced IR into programs: checks and passes run once per context, compilation once per device. Removes
// programs that are no longer in use.
#include "runtime/program_cache.hpp"

#include "backends/common/dump.hpp"
#include "core/fail.hpp"
#include "core/settings.hpp"
#include "core/text.hpp"
#include "ir/printer.hpp"
#include "passes/check_bounds.hpp"
#include "passes/effects.hpp"
#include "passes/guard_loads.hpp"
#include "passes/pipeline.hpp"
#include "runtime/context_core.hpp"

#include <algorithm>

namespace volley::runtime {
namespace {

passes::OptimiseOptions pass_options() {
    passes::OptimiseOptions options;
    if (settings().dump.ir) {
        options.dump = [](std::string_view pass, const ir::Function& now) {
            backends::dump(cat("IR of ", now.name, " after ", pass), ir::print(now));
        };
    }
    return options;
}

}  // namespace

KernelFacts find_facts(const ir::Function& fn) {
    KernelFacts facts;
    passes::BufferUses uses = passes::buffer_uses(fn);
    facts.reads = std::move(uses.reads);
    facts.writes = std::move(uses.writes);
    facts.shared_bytes = ir::shared_bytes(fn);
    for (const ir::Param& param : fn.params) {
        if (!param.is_layout()) ++facts.arguments;
        facts.uses_layout |= param.is_layout() || param.rank != 0;
    }
    facts.needs = passes::launch_needs(fn);
    ir::for_each_node(fn, fn.body, [&](ir::NodeId id) {
        if (fn[id].op == ir::Op::Barrier) facts.has_barrier = true;
    });
    return facts;
}

// ---- one kernel ----

CachedKernel::CachedKernel(const Hash128& key, ir::Function optimised, unsigned devices, unsigned queues)
    : key_(key),
      function_(std::make_shared<const ir::Function>(std::move(optimised))),
      facts_(find_facts(*function_)),
      programs_(devices),
      owned_(devices),
      released_(queues) {}

std::uint64_t CachedKernel::bytes() const noexcept {
    std::uint64_t bytes = ir::memory_bytes(*function_);
    for (const auto& program : programs_) {
        if (const backends::Program* made = program.load(std::memory_order_acquire)) bytes += made->bytes();
    }
    return bytes;
}

backends::Program& CachedKernel::compile(unsigned index, backends::Device& device) {
    const std::scoped_lock lock(mutex_);
    if (backends::Program* program = programs_[index].load(std::memory_order_acquire)) return *program;
    ir::Function fn = *function_;
    if (fn.foreign && !device.runs(fn.foreign->language)) {
        fail(ErrorCode::Unsupported, cat("the device does not run ", ir::name_of(fn.foreign->language)),
             cat("kernel '", fn.name, "' on ", device.info().id()),
             "launch it on a device that does, using .on(queue) or another context");
    }
    if (!fn.foreign && device.info().fused_fma) passes::contract(fn, pass_options());
    owned_[index] = device.compile(std::move(fn));
    programs_[index].store(owned_[index].get(), std::memory_order_release);
    return *owned_[index];
}

// ---- uses ----

KernelUse::~KernelUse() {
    if (kernel_ != nullptr) cache_->release(*kernel_);
}

bool KernelUse::is_over() const noexcept { return cache_ == nullptr || cache_->stopped(); }

// ---- all kernels of a context ----

ProgramCache::ProgramCache(ContextCore& core, unsigned devices, std::uint64_t limit)
    : core_(core), devices_(devices), limit_(limit) {}

ProgramCache::~ProgramCache() = default;

KernelUse ProgramCache::find(const ir::Function& traced) {
    const Hash128 key = ir::hash(traced);
    {
        const std::scoped_lock lock(mutex_);
        if (const auto known = index_.find(key); known != index_.end()) return use(known->second);
    }
    // Runs without the lock: two threads may do the same work, and the result of the first is kept.
    ir::Function fn = traced;
    if (fn.foreign) return keep(key, std::move(fn));
    if (settings().check_bounds) {
        passes::guard_loads(fn);  // a load that is not needed is not out of bounds
        passes::check_bounds(fn);
    }
    if (settings().dump.ir) backends::dump(cat("IR of ", fn.name, " as traced"), ir::print(fn));
    passes::clean(fn, pass_options());
    return keep(key, std::move(fn));
}

KernelUse ProgramCache::keep(const Hash128& key, ir::Function fn) {
    Kernels made;
    made.emplace_back(key, std::move(fn), devices_, core_.queue_count());
    const std::scoped_lock lock(mutex_);
    if (stopped()) core_.check_open(cat("kernel '", made.front().function().name, "'"));
    const auto [place, fresh] = index_.try_emplace(key, made.begin());
    if (fresh) {
        used_.splice(used_.end(), made);
        ++compilations_;
    }
    return use(place->second);
}

KernelUse ProgramCache::use(Kernels::iterator kernel) {
    KernelUse result(shared_from_this(), *kernel);
    if (kernel->uses_++ == 0 && kernel->cached_bytes_ != 0) {
        cached_bytes_ -= std::exchange(kernel->cached_bytes_, 0);
        used_.splice(used_.end(), cached_, kernel);
    }
    return result;
}

void ProgramCache::release(CachedKernel& kernel) noexcept {
    Kernels removed;
    const std::scoped_lock lock(mutex_);
    if (stopped()) return;  // the kernel may not exist any more
    if (--kernel.uses_ != 0) return;
    for (unsigned k = 0; k < kernel.released_.size(); ++k) kernel.released_[k] = core_.queue(k).last();
    kernel.cached_bytes_ = kernel.bytes();
    cached_bytes_ += kernel.cached_bytes_;
    cached_.splice(cached_.end(), used_, index_.find(kernel.key_)->second);
    take_down_to(limit_, removed);
}

bool ProgramCache::is_done(const CachedKernel& kernel) const noexcept {
    for (unsigned k = 0; k < kernel.released_.size(); ++k) {
        if (!core_.passed({k, kernel.released_[k]})) return false;
    }
    return true;
}

void ProgramCache::take_down_to(std::uint64_t bytes, Kernels& removed) noexcept {
    // The points of a kernel are no later than those of the kernels that were released after it.
    while (cached_bytes_ > bytes && is_done(cached_.front())) {
        CachedKernel& first = cached_.front();
        cached_bytes_ -= first.cached_bytes_;
        index_.erase(first.key_);
        ++evictions_;
        removed.splice(removed.end(), cached_, cached_.begin());
    }
    excess_.store(cached_bytes_ > limit_, std::memory_order_relaxed);
}

void ProgramCache::remove_down_to(std::uint64_t bytes) noexcept {
    Kernels removed;
    const std::scoped_lock lock(mutex_);
    if (!stopped()) take_down_to(bytes, removed);
}

std::optional<std::string> ProgramCache::name_of_pending(const CachedKernel* kernel, QueuePoint launch) {
    const std::scoped_lock lock(mutex_);
    if (stopped() || core_.passed(launch)) return std::nullopt;
    return kernel->function().name;
}

ProgramStats ProgramCache::stats() {
    const std::scoped_lock lock(mutex_);
    ProgramStats stats;
    stats.kernels = used_.size() + cached_.size();
    stats.bytes = cached_bytes_;
    for (const CachedKernel& kernel : used_) stats.bytes += kernel.bytes();
    stats.cached = cached_bytes_;
    stats.limit = limit_;
    stats.compilations = compilations_;
    stats.evictions = evictions_;
    return stats;
}

void ProgramCache::stop() noexcept {
    const std::scoped_lock lock(mutex_);
    stopped_.store(true, std::memory_order_release);
}

void ProgramCache::clear() noexcept {
    const std::scoped_lock lock(mutex_);
    index_.clear();
    used_.clear();
    cached_.clear();
    cached_bytes_ = 0;
}

}  // namespace volley::runtime
