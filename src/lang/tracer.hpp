// The state of one trace: the function being built, the current source location, and the open scopes.
//
// A thread has at most one tracer at a time, returned by Tracer::current(). It exists exactly for the
// duration of the call of trace(), even if the body throws. Refs store the tracer's serial number, so that a
// value that outlives its trace is detected.
#pragma once

#include "ir/builder.hpp"

#include <volley/lang/record.hpp>
#include <volley/lang/trace.hpp>

namespace volley::lang {

class Tracer {
public:
    Tracer(std::string_view name, const TraceOptions& options);
    Tracer(const Tracer&) = delete;
    Tracer& operator=(const Tracer&) = delete;

    /// Returns the tracer of this thread and sets its source location to `at`, if known. Throws TraceError if
    /// there is none, or if the kernel exceeds its limit of operations.
    [[nodiscard]] static Tracer& current(Site at = {});
    [[nodiscard]] static Tracer* find() noexcept;

    [[nodiscard]] ir::Builder& builder() noexcept { return builder_; }
    [[nodiscard]] ir::Function& function() noexcept { return fn_; }
    [[nodiscard]] std::uint32_t serial() const noexcept { return serial_; }
    [[nodiscard]] DType type(ir::NodeId id) const { return fn_.type(id); }

    void move_to(Site at);

    /// Returns the SSA node of a Ref of this trace; emits extracts and loads as needed.
    [[nodiscard]] ir::NodeId read(Ref ref);
    [[nodiscard]] Ref wrap(ir::NodeId id) const noexcept { return Ref(Ref::Kind::Value, id, serial_); }

    /// Throws TraceError unless the Ref belongs to this trace and to a scope that is still open.
    void check(Ref ref) const;
    [[noreturn]] void fail(std::string_view what, std::string_view advice) const;
    /// Returns "kernel 'scale', file.cpp:12".
    [[nodiscard]] std::string subject() const;

    /// Appends constants for the steps of a Ref to a path.
    void append_steps(Ref ref, std::vector<ir::NodeId>& path);
    /// Returns the region that is being built.
    [[nodiscard]] ir::Region& region();
    /// Removes a load from the kernel if nothing uses it, such as the load of `data[i]` in `data[i] = x`.
    void drop_unused(ir::NodeId load);

    // Scopes: the bodies of $if, $for and $while. Call enter() after the builder has opened a region, and
    // leave() before it closes one.
    void enter(bool loop = false);
    void leave();
    void bind_to_scope(ir::NodeId id);  // the index of a loop is visible only in its body
    [[nodiscard]] std::uint32_t depth() const noexcept { return static_cast<std::uint32_t>(open_.size()); }
    [[nodiscard]] bool in_loop() const noexcept;
    /// Closes scopes until `depth` remain, for bodies that are left early.
    void unwind(std::uint32_t depth) noexcept;

    /// Makes the trace fail for this reason; only the first reason is kept.
    void poison(Site at, std::string_view what) noexcept;

    /// Attaches this comment to subsequent operations.
    void comment(std::string_view text);

    [[nodiscard]] std::string_view next_parameter_name();

    /// Returns the finished, verified function. Throws TraceError if the trace is poisoned.
    [[nodiscard]] ir::Function finish();

private:
    [[nodiscard]] bool is_visible(ir::NodeId id) const;
    void settle();  // assigns the nodes created since the last call to the current scope

    ir::Function fn_;
    ir::Builder builder_;
    std::uint32_t serial_;
    std::size_t max_operations_;
    std::vector<std::string> names_;
    std::string generated_name_;

    const char* file_ = nullptr;  // of the last Site, to intern its name once
    std::uint32_t file_index_ = 0;
    std::uint32_t note_ = 0;

    struct Scope {
        std::uint32_t number;
        bool in_loop;
    };
    std::vector<Scope> open_;       // innermost last
    std::vector<bool> scope_open_;  // by scope number
    std::vector<std::uint32_t>
        scope_of_;  // by node; lacks the newest nodes, which belong to the current scope
    std::string poison_what_;
    ir::Loc poison_loc_;
    bool poisoned_ = false;
};

/// Traces one kernel on this thread; see run_trace.
[[nodiscard]] ir::Function trace(std::string_view name, void (*body)(void*), void* context,
                                 const TraceOptions& options = {});

}  // namespace volley::lang
