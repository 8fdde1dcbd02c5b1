// Plans transfers: checks both ends, and finds the rows to move and the path. transfer_plan() reports the
// same plan.
#include "core/fail.hpp"
#include "core/text.hpp"
#include "runtime/buffer_access.hpp"
#include "runtime/hop.hpp"
#include "runtime/host_side.hpp"
#include "runtime/nearest_replica.hpp"
#include "runtime/storage.hpp"
#include "runtime/transfer.hpp"

#include <volley/host_array.hpp>

#include <ostream>

namespace volley {
namespace runtime {

TransferPath path_of(const Rows& rows) noexcept {
    if (rows.empty()) return TransferPath::None;
    if (rows.rank == 0) return TransferPath::Whole;
    std::int64_t commands = 1;
    for (std::size_t d = 2; static_cast<int>(d) < rows.rank; ++d) commands *= rows.count[d];
    return commands == 1 ? TransferPath::Rect : TransferPath::Rows;
}

void check_same_shape(const Shape& given, const AnyBuffer& buffer, std::string_view doing) {
    if (given == buffer.shape()) return;
    fail(ErrorCode::SizeMismatch,
         cat(doing, " an array of shape ", given.to_string(), ", but the buffer has the shape ",
             buffer.shape().to_string()),
         buffer.name(), "use equal shapes: transfers do not broadcast");
}

Rows plan_move(const Layout& to, const Layout& from, std::int64_t element, bool with_padding) {
    if (to.shape.elements() == 0) return {};
    if (!with_padding || to.strides != from.strides) return collapse(to, from, element);
    Rows one_piece;
    one_piece.row = extent(to, element);
    one_piece.to_offset = to.offset;
    one_piece.from_offset = from.offset;
    return one_piece;
}

Rows plan_fill(const AnyBuffer& to) {
    return plan_move(layout_of(to), layout_of(to), element_of(to), owns_window(to));
}

Rows plan_copy(const AnyBuffer& to, const AnyBuffer& from) {
    if (&storage_of(to).core() != &storage_of(from).core()) {
        fail(ErrorCode::WrongContext, "a buffer was copied from another context",
             cat(to.name(), " from ", from.name()), "read() and write() it, or create both in one context");
    }
    if (to.dtype() != from.dtype()) {
        fail(ErrorCode::TypeMismatch,
             cat("a copy reads elements of type ", from.dtype().name(),
                 ", but the target has elements of type ", to.dtype().name()),
             cat(to.name(), " from ", from.name()),
             "reinterpret the bytes with view_as(), or convert the values with a kernel");
    }
    check_same_shape(from.shape(), to, "a copy reads");
    const Layout to_layout = layout_of(to);
    const Layout from_layout = layout_of(from);
    if (to.storage_id() == from.storage_id() && overlap(to_layout, from_layout, element_of(to))) {
        fail(ErrorCode::InvalidView, "the source and destination of a copy overlap",
             cat(to.name(), " from ", from.name()), "copy through another buffer");
    }
    return plan_move(to_layout, from_layout, element_of(to), owns_window(to) && owns_window(from));
}

std::uint64_t calls_of(const backends::Queue& queue, const Rows& rows) {
    if (rows.whole()) return 1;
    if (rows.empty()) return 0;
    std::uint64_t calls = 0;
    for_each_rect(rows, [&](const backends::RectMove& move) { calls += queue.driver_calls(move); });
    return calls;
}

}  // namespace runtime

using runtime::ContextCore;

std::string_view to_string(TransferPath path) noexcept {
    switch (path) {
        case TransferPath::None: return "none";
        case TransferPath::Whole: return "whole";
        case TransferPath::Rect: return "rect";
        case TransferPath::Rows: return "rows";
        case TransferPath::ThroughHost: return "through the host";
    }
    return "unknown";
}

std::ostream& operator<<(std::ostream& out, const TransferPlan& plan) {
    return out << to_string(plan.path) << ": " << plan.bytes << " bytes in " << plan.rows << " row(s), "
               << plan.driver_calls << " driver call(s)" << (plan.page_locked ? ", page-locked" : "");
}

namespace runtime {
namespace {

TransferPlan describe(const Rows& rows, ContextCore& core, unsigned k, bool page_locked) {
    TransferPlan plan;
    plan.path = path_of(rows);
    plan.rows = static_cast<std::uint64_t>(rows.rows());
    plan.bytes = static_cast<std::uint64_t>(rows.bytes());
    plan.page_locked = page_locked;
    plan.driver_calls = calls_of(core.queue(k), rows);
    return plan;
}

}  // namespace
}  // namespace runtime

TransferPlan transfer_plan(const AnyHostArray& from, const AnyBuffer& to) {
    runtime::storage_of(to).check_usable();
    const detail::HostSide side = detail::side_of(from);
    const Layout source = runtime::host_layout(side, to, "a write passes");
    const Rows rows = runtime::plan_move(runtime::layout_of(to), source, runtime::element_of(to),
                                         runtime::owns_padding(side) && runtime::owns_window(to));
    const unsigned k = runtime::storage_of(to).home(0);
    ContextCore& core = runtime::storage_of(to).core();
    return runtime::describe(rows, core, k, runtime::pinned_memory(side, core, k) != nullptr);
}

TransferPlan transfer_plan(const AnyBuffer& from, const AnyHostArray& to) {
    runtime::storage_of(from).check_usable();
    const detail::HostSide side = detail::side_of(to);
    const Layout target = runtime::host_layout(side, from, "a read passes");
    const Rows rows = runtime::plan_move(target, runtime::layout_of(from), runtime::element_of(from),
                                         runtime::owns_padding(side) && runtime::owns_window(from));
    const unsigned k = runtime::storage_of(from).home(0);
    ContextCore& core = runtime::storage_of(from).core();
    return runtime::describe(rows, core, k, runtime::pinned_memory(side, core, k) != nullptr);
}

TransferPlan transfer_plan(const AnyBuffer& from, const AnyBuffer& to) {
    runtime::storage_of(to).check_usable();
    runtime::storage_of(from).check_usable();
    const Rows rows = runtime::plan_copy(to, from);
    const unsigned k = runtime::storage_of(to).home(0);
    ContextCore& core = runtime::storage_of(to).core();
    TransferPlan plan = runtime::describe(rows, core, k, false);
    // If nothing was written yet, the nearest replica counts.
    const auto written = runtime::nearest_replica(
        runtime::storage_of(from), k, [](const runtime::Replica& replica) { return replica.written(); });
    const unsigned q =
        written ? *written
                : runtime::nearest_replica(runtime::storage_of(from), k, [](const runtime::Replica&) {
                      return true;
                  }).value_or(k);
    if (core.device_of(q) != core.device_of(k) && !rows.empty()) {
        plan.path = TransferPath::ThroughHost;
        const auto memory_of = [](const AnyBuffer& buffer, unsigned queue) {
            const runtime::Replica* replica = runtime::storage_of(buffer).find(queue);
            return replica == nullptr ? nullptr : replica->memory();
        };
        const backends::Memory* source = memory_of(from, q);
        const bool direct =
            source != nullptr && runtime::is_direct(core.queue(k), memory_of(to, k), *source, rows);
        if (!direct) plan.driver_calls = runtime::hop_calls(rows);
        plan.page_locked = !direct;
    }
    return plan;
}

}  // namespace volley
