// The tracer's bookkeeping around ir::Builder, and trace(), which begins and ends every trace.
#include "lang/tracer.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"
#include "ir/verifier.hpp"

#include <cxxabi.h>
#include <atomic>
#include <exception>
#include <new>

namespace volley::lang {
namespace {

thread_local Tracer* current_tracer = nullptr;

// Zero means no trace. The counter wraps after 2^32 traces; a stale value goes unnoticed only if it meets a
// trace with its own number.
std::uint32_t next_serial() noexcept {
    static std::atomic<std::uint32_t> counter{0};
    std::uint32_t serial = 0;
    while (serial == 0) serial = ++counter;
    return serial;
}

std::string where(Site at) { return at.file == nullptr ? std::string() : cat(at.file, ":", at.line); }

class CurrentTracer {
public:
    explicit CurrentTracer(Tracer& tracer) noexcept { current_tracer = &tracer; }
    ~CurrentTracer() { current_tracer = nullptr; }
    CurrentTracer(const CurrentTracer&) = delete;
    CurrentTracer& operator=(const CurrentTracer&) = delete;
};

[[noreturn]] void fail_with_nested(const Tracer& tracer, std::string_view thrown) {
    std::throw_with_nested(TraceError(
        cat("the body of the kernel threw an exception while it was traced", thrown), tracer.subject(),
        "do not throw from the body, which runs on the host to record the kernel"));
}

}  // namespace

Tracer::Tracer(std::string_view name, const TraceOptions& options)
    : builder_(fn_), serial_(next_serial()), max_operations_(options.max_operations) {
    fn_.name = name;
    const auto& local = options.local_size;
    if (local[0] != 0 || local[1] != 0 || local[2] != 0) {
        fn_.local_size = ir::Dim3{local[0] == 0 ? 1 : local[0], local[1] == 0 ? 1 : local[1],
                                  local[2] == 0 ? 1 : local[2]};
    }
    for (const std::string_view parameter : options.names) names_.emplace_back(parameter);
    open_.push_back({0, false});
    scope_open_.push_back(true);
}

Tracer* Tracer::find() noexcept { return current_tracer; }

Tracer& Tracer::current(Site at) {
    Tracer* const tracer = current_tracer;
    if (tracer == nullptr) {
        volley::fail(ErrorCode::TraceError, "an operation of the kernel language is used outside a kernel",
                     where(at), "use it in the function passed to kernel(...), or in one that it calls");
    }
    tracer->move_to(at);
    if (tracer->fn_.nodes.size() > tracer->max_operations_) {
        tracer->fail(cat("the kernel has recorded more than ", tracer->max_operations_, " operations"),
                     "use $for to loop on the device: a host loop is unrolled into the kernel");
    }
    return *tracer;
}

void Tracer::move_to(Site at) {
    if (at.file == nullptr) return;
    if (at.file != file_) {
        file_index_ = fn_.add_file(at.file);
        file_ = at.file;
    }
    builder_.set_loc({file_index_, at.line, note_});
}

void Tracer::comment(std::string_view text) { note_ = fn_.add_note(text); }

std::string Tracer::subject() const {
    const std::string place = fn_.where(builder_.loc());
    return cat("kernel '", fn_.name, "'", place.empty() ? "" : ", ", place);
}

void Tracer::fail(std::string_view what, std::string_view advice) const {
    volley::fail(ErrorCode::TraceError, what, subject(), advice);
}

bool Tracer::is_visible(ir::NodeId id) const {
    if (id >= scope_of_.size()) return true;  // belongs to the current scope
    const ir::Op op = fn_[id].op;
    if (op == ir::Op::Shared || op == ir::Op::Buffer || op == ir::Op::Param) return true;
    return scope_open_[scope_of_[id]];
}

void Tracer::check(Ref ref) const {
    if (ref.trace() != serial_ || ref.node() >= fn_.nodes.size()) {
        fail("a value of another kernel, or of an earlier trace of this one, is used",
             "use values only in the function of their kernel, while it is traced");
    }
    if (!is_visible(ref.node())) {
        fail("a value computed in the body of a $if, $for or $while is used after the end of the body",
             "declare a Var before the body and assign to it in the body");
    }
    if (ref.steps() > Ref::max_steps) {
        fail("a member is selected through too many levels of structs",
             cat("select at most ", Ref::max_steps, " levels at once, and name the intermediate part"));
    }
}

void Tracer::append_steps(Ref ref, std::vector<ir::NodeId>& path) {
    for (unsigned k = 0; k < ref.steps(); ++k) path.push_back(builder_.constant_u32(ref.step(k)));
}

ir::NodeId Tracer::read(Ref ref) {
    check(ref);
    switch (ref.kind()) {
        case Ref::Kind::Partial:
            fail("a shared array is used with too few indices", "index all its dimensions, as in tile[y][x]");
        case Ref::Kind::Var: {
            std::vector<ir::NodeId> path;
            append_steps(ref, path);
            return builder_.load(ref.node(), path);
        }
        case Ref::Kind::Value:
        case Ref::Kind::Place: break;
    }
    if (ref.steps() == 0) return ref.node();
    std::vector<ir::NodeId> operands = {ref.node()};
    append_steps(ref, operands);
    return builder_.emit(ir::Op::Extract, operands);
}

ir::Region& Tracer::region() {
    const ir::NodeId owner = builder_.innermost();
    if (owner == ir::none) return fn_.regions[fn_.body];
    const auto& regions = fn_[owner].regions;
    return fn_.regions[regions[1] != ir::none ? regions[1] : regions[0]];
}

void Tracer::drop_unused(ir::NodeId load) {
    // Uses of the load have later operand slots; it was recorded for the current expression, so there are few
    // of them.
    constexpr std::size_t reach = 64;
    const std::size_t first = fn_[load].first + fn_[load].count;
    if (fn_.operands.size() - first > reach) return;
    for (std::size_t k = first; k < fn_.operands.size(); ++k) {
        if (fn_.operands[k] == load) return;
    }
    std::vector<ir::NodeId>& nodes = region().nodes;
    for (std::size_t k = nodes.size(), steps = 0; k-- > 0 && steps < reach; ++steps) {
        if (nodes[k] != load) continue;
        nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(k));
        return;
    }
}

void Tracer::settle() { scope_of_.resize(fn_.nodes.size(), open_.back().number); }

void Tracer::enter(bool loop) {
    settle();
    open_.push_back({static_cast<std::uint32_t>(scope_open_.size()), loop || open_.back().in_loop});
    scope_open_.push_back(true);
}

void Tracer::leave() {
    settle();
    scope_open_[open_.back().number] = false;
    open_.pop_back();
}

void Tracer::bind_to_scope(ir::NodeId id) { scope_of_[id] = open_.back().number; }

bool Tracer::in_loop() const noexcept { return open_.back().in_loop; }

void Tracer::unwind(std::uint32_t depth) noexcept {
    try {
        while (open_.size() > depth && builder_.depth() > 0) {
            const ir::Op op = fn_[builder_.innermost()].op;
            leave();
            if (op == ir::Op::If) builder_.end_if();
            if (op == ir::Op::For) builder_.end_for();
            if (op == ir::Op::Loop) builder_.end_loop();
        }
    } catch (...) {
        // Only std::bad_alloc can occur here. The function is not used, because the caller poisons the trace.
        poisoned_ = true;
    }
}

void Tracer::poison(Site at, std::string_view what) noexcept {
    if (poisoned_) return;
    poisoned_ = true;
    try {
        poison_what_ = what;
        poison_loc_ = {at.file == nullptr ? 0 : fn_.add_file(at.file), at.line};
    } catch (...) {
        poison_what_.clear();
    }
}

std::string_view Tracer::next_parameter_name() {
    const std::size_t k = fn_.params.size();
    if (k < names_.size()) return names_[k];
    generated_name_ = cat("arg", k);
    return generated_name_;
}

ir::Function Tracer::finish() {
    if (poisoned_) {
        builder_.set_loc(poison_loc_);
        fail(poison_what_.empty() ? "control left a body before its end" : poison_what_,
             "use $break, $continue or $return: the C++ statements end the tracing of a body, not its "
             "execution");
    }
    ir::verify(fn_);
    return std::move(fn_);
}

ir::Function trace(std::string_view name, void (*body)(void*), void* context, const TraceOptions& options) {
    if (const Tracer* outer = Tracer::find()) {
        volley::fail(ErrorCode::TraceError,
                     cat("kernel '", name, "' is created in the body of another kernel"), outer->subject(),
                     "create kernels in host code, and call plain functions in kernels");
    }
    Tracer tracer(name, options);
    {
        const CurrentTracer current(tracer);
        try {
            body(context);
        } catch (const Error&) {
            throw;
        } catch (const std::bad_alloc&) {
            throw;
        } catch (const abi::__forced_unwind&) {
            throw;  // the thread is being cancelled
        } catch (const std::exception& e) {
            fail_with_nested(tracer, cat(": ", e.what()));
        } catch (...) {
            fail_with_nested(tracer, {});
        }
    }
    return tracer.finish();
}

bool tracing() noexcept { return current_tracer != nullptr; }

TracedKernel run_trace(std::string_view name, void (*body)(void*), void* context,
                       const TraceOptions& options) {
    return TracedKernel(std::make_shared<const ir::Function>(trace(name, body, context, options)));
}

}  // namespace volley::lang
