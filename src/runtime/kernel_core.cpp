// Checks kernels when they are made, and finds their compiled form in a context.
#include "runtime/kernel_core.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"
#include "passes/uniformity.hpp"
#include "passes/unit_strides.hpp"

#include <algorithm>
#include <optional>

namespace volley {
namespace runtime {
namespace {

bool has_barrier(const ir::Function& fn) {
    bool found = false;
    ir::for_each_node(fn, fn.body, [&](ir::NodeId id) { found = found || fn[id].op == ir::Op::Barrier; });
    return found;
}

}  // namespace

KernelCore::KernelCore(lang::TracedKernel traced) : traced_(std::move(traced)) {
    const ir::Function& fn = traced_.function();
    if (has_barrier(fn)) passes::check_barriers(fn, passes::analyse_uniformity(fn));
}

CachedKernel& KernelCore::find(ContextCore& core) {
    if (CachedKernel* const known = kernels_.find(core.id())) return *known;
    const ir::Function* function = &traced_.function();
    std::optional<ir::Function> unit_strides;
    if (std::ranges::any_of(function->params, [](const ir::Param& p) { return p.rank != 0; })) {
        unit_strides = *function;
        passes::assume_unit_strides(*unit_strides);
        function = &*unit_strides;
    }
    return kernels_.add(core.id(), core.programs().find(*function));
}

CachedKernel& KernelCore::strided_in(ContextCore& core) {
    if (CachedKernel* const hit = strided_.peek(core.id())) return *hit;
    if (CachedKernel* const known = strided_.find(core.id())) return *known;
    return strided_.add(core.id(), core.programs().find(traced_.function()));
}

KernelUses::Entry* KernelUses::entry_of(ContextId context) noexcept {
    for (const auto& entry : entries_) {
        if (entry->context.load(std::memory_order_relaxed) == context.value()) return entry.get();
    }
    return nullptr;
}

CachedKernel* KernelUses::find(ContextId context) {
    const std::scoped_lock lock(mutex_);
    const Entry* const entry = entry_of(context);
    if (entry == nullptr) return nullptr;
    last_.store(entry, std::memory_order_release);
    return entry->use.get();
}

CachedKernel& KernelUses::add(ContextId context, KernelUse kernel) {
    const std::scoped_lock lock(mutex_);
    Entry* entry = entry_of(context);
    if (entry == nullptr) {
        for (const auto& old : entries_) {
            if (old->use.is_over()) entry = old.get();
        }
        if (entry == nullptr) entry = entries_.emplace_back(std::make_unique<Entry>()).get();
        entry->context.store(0, std::memory_order_relaxed);
        entry->use = std::move(kernel);
        entry->kernel.store(entry->use.get(), std::memory_order_relaxed);
        entry->context.store(context.value(), std::memory_order_release);
    }
    last_.store(entry, std::memory_order_release);
    return *entry->use.get();
}

}  // namespace runtime

namespace detail {

using runtime::KernelCore;

lang::TraceOptions trace_options(std::string_view name, const KernelOptions& options) {
    const GridSize& local = options.local;
    bool legal = local.rank() <= 3;
    for (int d = 0; d < 3; ++d) legal = legal && local[d] >= 1 && local[d] <= 0xffff;
    if (!legal) {
        fail(ErrorCode::InvalidLaunch, "the declared workgroup size is invalid", cat("kernel '", name, "'"),
             "declare .local with one to three numbers from 1 to 65535");
    }
    lang::TraceOptions trace;
    if (local.rank() > 0) {
        for (int d = 0; d < 3; ++d) trace.local_size[d] = static_cast<std::uint32_t>(local[d]);
    }
    return trace;
}

std::shared_ptr<KernelCore> make_kernel(lang::TracedKernel traced) {
    return std::make_shared<KernelCore>(std::move(traced));
}

const lang::TracedKernel& traced(const KernelCore& kernel) noexcept { return kernel.traced(); }

std::string_view kernel_name(const KernelCore& kernel) noexcept { return kernel.name(); }

void fail_argument_range(const KernelCore& kernel, std::size_t number, std::string_view type) {
    fail(ErrorCode::InvalidLaunch, cat("argument ", number, " has a value that ", type, " cannot hold"),
         cat("kernel '", kernel.name(), "'"), "pass a value within its range, or declare a wider type");
}

void fail_argument_type(const KernelCore& kernel, std::size_t number, DType requested, DType given) {
    fail(ErrorCode::TypeMismatch,
         cat("argument ", number, " is a buffer of ", given.is_void() ? "nothing" : given.name(), ", but ",
             requested.name(), " is required"),
         cat("kernel '", kernel.name(), "'"), "pass a buffer of the parameter's element type");
}

}  // namespace detail
}  // namespace volley
