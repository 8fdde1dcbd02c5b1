// Traces kernels, and finds their compiled form in a context.
#include "runtime/kernel_core.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"
#include "passes/unit_strides.hpp"

#include <algorithm>

namespace volley {

detail::KernelBody::~KernelBody() = default;

namespace runtime {

KernelCore::KernelCore(std::string_view name, const KernelOptions& options,
                       std::unique_ptr<detail::KernelBody> body)
    : name_(name), options_(options), body_(std::move(body)) {
    const GridSize& local = options_.local;
    bool legal = local.rank() <= 3;
    for (int d = 0; d < 3; ++d) legal = legal && local[d] >= 1 && local[d] <= 0xffff;
    if (!legal) {
        fail(ErrorCode::InvalidLaunch, "the declared workgroup size is invalid", cat("kernel '", name_, "'"),
             "declare .local with one to three numbers from 1 to 65535");
    }
}

lang::TracedKernel KernelCore::traced() {
    if (lang::tracing()) {
        fail(ErrorCode::TraceError, "a kernel was launched or traced in the body of another kernel",
             cat("kernel '", name_, "'"),
             "launch kernels from the host, or call a function that takes Values");
    }
    const std::scoped_lock lock(mutex_);
    if (traced_) return *traced_;
    lang::TraceOptions options;
    if (options_.local.rank() > 0) {
        for (int d = 0; d < 3; ++d) options.local_size[d] = static_cast<std::uint32_t>(options_.local[d]);
    }
    traced_ = body_->trace(name_, options);
    body_.reset();
    return *traced_;
}

CachedKernel& KernelCore::find(ContextCore& core) {
    if (CachedKernel* const known = kernels_.find(core.id())) return *known;
    const lang::TracedKernel mine = traced();
    const ir::Function* function = &mine.function();
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
    const lang::TracedKernel mine = traced();
    return strided_.add(core.id(), core.programs().find(mine.function()));
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

std::shared_ptr<KernelCore> make_kernel(std::string_view name, const KernelOptions& options,
                                        std::unique_ptr<KernelBody> body) {
    return std::make_shared<KernelCore>(name, options, std::move(body));
}

lang::TracedKernel traced(KernelCore& kernel) { return kernel.traced(); }

std::string_view kernel_name(const KernelCore& kernel) noexcept { return kernel.name(); }

void fail_argument_range(const KernelCore& kernel, std::size_t number, std::string_view type) {
    fail(ErrorCode::InvalidLaunch, cat("argument ", number, " has a value that ", type, " cannot hold"),
         cat("kernel '", kernel.name(), "'"), "pass a value within its range, or declare a wider type");
}

void fail_argument_type(const KernelCore& kernel, std::size_t number, DType wanted, DType given) {
    fail(ErrorCode::TypeMismatch,
         cat("argument ", number, " is a buffer of ", given.is_void() ? "nothing" : given.name(), ", but ",
             wanted.name(), " is required"),
         cat("kernel '", kernel.name(), "'"), "pass a buffer of the parameter's element type");
}

}  // namespace detail
}  // namespace volley
