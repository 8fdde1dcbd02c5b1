// The state of one trace: the function being built, where in the user's source it is, and which scopes are
// open.
//
// A thread has at most one tracer at a time, found by Tracer::current(). It lives exactly as long as the call
// of trace(), whatever the body does. Refs carry the tracer's serial number, so that a value that outlives
// its trace is recognised.
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

    /// This thread's tracer, its place in the source moved to `at` where that is known. Throws TraceError
    /// when there is none, and when the kernel has grown beyond its limit.
    [[nodiscard]] static Tracer& current(Site at = {});
    [[nodiscard]] static Tracer* find() noexcept;

    [[nodiscard]] ir::Builder& builder() noexcept { return builder_; }
    [[nodiscard]] ir::Function& function() noexcept { return fn_; }
    [[nodiscard]] std::uint32_t serial() const noexcept { return serial_; }
    [[nodiscard]] DType type(ir::NodeId id) const { return fn_.type(id); }

    void move_to(Site at);

    /// The SSA node behind a Ref of this trace: extracts and loads as needed.
    [[nodiscard]] ir::NodeId read(Ref ref);
    [[nodiscard]] Ref wrap(ir::NodeId id) const noexcept { return Ref(Ref::Kind::Value, id, serial_); }

    /// Throws TraceError unless the Ref belongs to this trace and to a scope that is still open.
    void check(Ref ref) const;
    [[noreturn]] void fail(std::string_view what, std::string_view advice) const;
    /// "kernel 'scale', file.cpp:12"
    [[nodiscard]] std::string subject() const;

    /// Constants for the steps that a Ref names, appended to a path.
    void append_steps(Ref ref, std::vector<ir::NodeId>& path);
    /// The region that is built at present.
    [[nodiscard]] ir::Region& region();
    /// Takes a load out of the kernel if nothing uses it: the read half of `data[i] = x`.
    void drop_unused(ir::NodeId load);

    // Scopes: the bodies of $if and kin. enter() comes after the builder has opened a region, leave() before
    // it closes one.
    void enter(bool loop = false);
    void leave();
    void bind_to_scope(ir::NodeId id);  // a loop's index is visible in its body only
    [[nodiscard]] std::uint32_t depth() const noexcept { return static_cast<std::uint32_t>(open_.size()); }
    [[nodiscard]] bool in_loop() const noexcept;
    /// Closes scopes until `depth` are left; never throws. For bodies that were left early.
    void unwind(std::uint32_t depth) noexcept;

    /// The trace cannot succeed any more, for this reason; the first one counts.
    void poison(Site at, std::string_view what) noexcept;

    /// What is recorded from now on stands under this comment.
    void comment(std::string_view text);

    [[nodiscard]] std::string_view next_parameter_name();

    /// The finished function. Throws what poisoned the trace.
    [[nodiscard]] ir::Function finish();

private:
    [[nodiscard]] bool is_visible(ir::NodeId id) const;
    void settle();  // gives the nodes made since the last call to the present scope

    ir::Function fn_;
    ir::Builder builder_;
    std::uint32_t serial_;
    std::size_t max_operations_;
    std::vector<std::string> names_;
    std::string generated_name_;

    const char* file_ = nullptr;  // of the latest Site, to intern its name once
    std::uint32_t file_index_ = 0;
    std::uint32_t note_ = 0;

    struct Scope {
        std::uint32_t number;
        bool in_loop;
    };
    std::vector<Scope> open_;              // innermost last
    std::vector<bool> scope_open_;         // by scope number
    std::vector<std::uint32_t> scope_of_;  // by node; shorter than the nodes by those of the present scope
    std::string poison_what_;
    ir::Loc poison_loc_;
    bool poisoned_ = false;
};

/// Traces one kernel on this thread; see run_trace.
[[nodiscard]] ir::Function trace(std::string_view name, void (*body)(void*), void* context,
                                 const TraceOptions& options = {});

}  // namespace volley::lang
