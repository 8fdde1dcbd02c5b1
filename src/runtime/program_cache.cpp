// Turns traced IR into programs: checks and passes run once per context, compilation once per device.
#include "runtime/program_cache.hpp"

#include "backends/common/dump.hpp"
#include "core/fail.hpp"
#include "core/settings.hpp"
#include "core/text.hpp"
#include "ir/printer.hpp"
#include "ir/verifier.hpp"
#include "passes/check_bounds.hpp"
#include "passes/effects.hpp"
#include "passes/guard_loads.hpp"
#include "passes/pipeline.hpp"
#include "passes/uniformity.hpp"

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
    ir::for_each_node(fn, fn.body, [&](ir::NodeId id) {
        if (fn[id].op == ir::Op::Barrier) facts.has_barrier = true;
    });
    return facts;
}

CachedKernel::CachedKernel(ir::Function optimised, unsigned devices)
    : function_(std::move(optimised)), facts_(find_facts(function_)), programs_(devices), owned_(devices) {}

backends::Program& CachedKernel::compile(unsigned index, backends::Device& device) {
    const std::scoped_lock lock(mutex_);
    if (backends::Program* program = programs_[index].load(std::memory_order_acquire)) return *program;
    ir::Function fn = function_;
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

CachedKernel& ProgramCache::find(const ir::Function& traced) {
    const Hash128 key = ir::hash(traced);
    {
        const std::scoped_lock lock(mutex_);
        if (const auto known = kernels_.find(key); known != kernels_.end()) return *known->second;
    }
    // Runs without the lock: two threads may do the same work, and the result of the first is kept.
    ir::Function fn = traced;
    if (fn.foreign) return keep(key, std::move(fn));
    ir::verify(fn);
    passes::check_barriers(fn, passes::analyse_uniformity(fn));
    if (settings().check_bounds) {
        passes::guard_loads(fn);  // a load that is not needed is not out of bounds
        passes::check_bounds(fn);
    }
    if (settings().dump.ir) backends::dump(cat("IR of ", fn.name, " as traced"), ir::print(fn));
    passes::clean(fn, pass_options());
    return keep(key, std::move(fn));
}

CachedKernel& ProgramCache::keep(const Hash128& key, ir::Function fn) {
    auto made = std::make_unique<CachedKernel>(std::move(fn), devices_);
    const std::scoped_lock lock(mutex_);
    return *kernels_.try_emplace(key, std::move(made)).first->second;
}

void ProgramCache::clear() {
    const std::scoped_lock lock(mutex_);
    kernels_.clear();
}

}  // namespace volley::runtime
