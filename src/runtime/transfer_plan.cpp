// Which rows a transfer moves, and by which path: checked and planned here, given in transfer.cpp.
#include "core/fail.hpp"
#include "core/text.hpp"
#include "runtime/nearest_replica.hpp"
#include "runtime/storage.hpp"
#include "runtime/transfer.hpp"

#include <volley/host_array.hpp>

#include <ostream>

namespace volley {
namespace runtime {
namespace {

TransferPath path_of(const Rows& rows) {
    if (rows.rank == 0) return TransferPath::Whole;
    std::int64_t commands = 1;
    for (std::size_t d = 2; static_cast<int>(d) < rows.rank; ++d) commands *= rows.count[d];
    return commands == 1 ? TransferPath::Rect : TransferPath::Rows;
}

Moves one_piece(std::int64_t to_offset, std::int64_t from_offset, std::int64_t bytes) {
    Moves moves;
    moves.rows.row = bytes;
    moves.rows.to_offset = to_offset;
    moves.rows.from_offset = from_offset;
    moves.path = TransferPath::Whole;
    return moves;
}

void check_shapes(const Shape& given, const AnyBuffer& buffer, std::string_view doing) {
    if (given == buffer.shape()) return;
    fail(ErrorCode::SizeMismatch,
         cat(doing, " an array of shape ", given.to_string(), ", where it has ", buffer.shape().to_string()),
         buffer.name(), "shapes must agree: there is no broadcasting");
}

}  // namespace

Moves plan_moves(const Layout& to, const Layout& from, std::int64_t element, bool with_padding) {
    if (to.shape.elements() == 0) return {};
    if (with_padding && to.strides == from.strides)
        return one_piece(to.offset, from.offset, extent(to, element));
    Moves moves;
    moves.rows = collapse(to, from, element);
    moves.path = path_of(moves.rows);
    return moves;
}

Moves plan_fill(const Layout& to, std::int64_t element, bool with_padding) {
    return plan_moves(to, to, element, with_padding);
}

Moves plan_fill(const AnyBuffer& to) { return plan_fill(layout_of(to), element_of(to), to.owns_window()); }

Moves plan_copy(const AnyBuffer& to, const AnyBuffer& from) {
    if (&to.storage().core() != &from.storage().core()) {
        fail(ErrorCode::WrongContext, "a buffer was copied from another context",
             cat(to.name(), " from ", from.name()), "read() it and write() it, or make both in one context");
    }
    if (to.dtype() != from.dtype()) {
        fail(ErrorCode::TypeMismatch,
             cat("it was copied from elements of type ", from.dtype().name(), ", where it has ",
                 to.dtype().name()),
             cat(to.name(), " from ", from.name()), "view_as() reinterprets bytes; a kernel converts values");
    }
    check_shapes(from.shape(), to, "it was copied from");
    const Layout to_layout = layout_of(to);
    const Layout from_layout = layout_of(from);
    if (to.storage_id() == from.storage_id() && overlap(to_layout, from_layout, element_of(to))) {
        fail(ErrorCode::InvalidView, "source and destination of a copy overlap",
             cat(to.name(), " from ", from.name()), "copy through another buffer");
    }
    return plan_moves(to_layout, from_layout, element_of(to), to.owns_window() && from.owns_window());
}

/// The host's array, checked against the buffer.
Layout host_layout(const detail::HostSide& host, const AnyBuffer& buffer, std::string_view doing) {
    if (host.array != nullptr && host.array->dtype() != buffer.dtype()) {
        fail(ErrorCode::TypeMismatch,
             cat(doing, " elements of type ", host.array->dtype().name(), ", where it has ",
                 buffer.dtype().name()),
             buffer.name(), "use a host array of the buffer's type");
    }
    if (host.shaped) {
        check_shapes(host.shape, buffer, doing);
    } else if (host.count != buffer.size()) {
        fail(ErrorCode::SizeMismatch,
             cat(doing, " ", host.count, " elements of ", buffer.dtype().size(), " bytes, where it has ",
                 buffer.size()),
             buffer.name(), "give exactly as many elements as the buffer has");
    }
    if (host.data == nullptr && buffer.size() != 0) {
        fail(ErrorCode::InvalidArgument, cat(doing, " a null pointer"), buffer.name(),
             "give memory of the buffer's size");
    }
    return {0, buffer.shape(),
            host.shaped ? host.strides : row_major_byte_strides(buffer.shape(), element_of(buffer))};
}

std::uint64_t calls_of(const backends::Queue& queue, const Moves& moves) {
    if (moves.whole()) return 1;
    std::uint64_t calls = 0;
    for_each_rect(moves.rows, [&](const auto& to, const auto& from, const backends::Rect& rect) {
        calls += queue.rect_calls(to, from, rect);
    });
    return calls;
}

/// The page-locked memory of a host array, where the queue's device made it.
backends::Memory* pinned_memory(const detail::HostSide& host, const ContextCore& core, unsigned k) {
    if (host.array == nullptr) return nullptr;
    Storage& storage = host.array->storage();
    if (&storage.core() != &core || core.device_of(storage.home(0)) != core.device_of(k)) return nullptr;
    return storage.find(storage.home(0))->memory();
}

}  // namespace runtime

using runtime::ContextCore;
using runtime::Moves;

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

TransferPlan describe(const Moves& moves, ContextCore& core, unsigned k, bool page_locked) {
    TransferPlan plan;
    plan.path = moves.path;
    plan.rows = static_cast<std::uint64_t>(moves.rows.rows());
    plan.bytes = moves.bytes();
    plan.page_locked = page_locked;
    if (!moves.empty()) plan.driver_calls = calls_of(core.queue(k), moves);
    return plan;
}

}  // namespace
}  // namespace runtime

TransferPlan transfer_plan(const AnyHostArray& from, const AnyBuffer& to) {
    to.storage().check_usable();
    const detail::HostSide side = from.side();
    const Layout source = runtime::host_layout(side, to, "it was written with");
    const Moves moves =
        runtime::plan_moves(runtime::layout_of(to), source, runtime::element_of(to), to.owns_window());
    const unsigned k = to.storage().home(0);
    ContextCore& core = to.storage().core();
    return runtime::describe(moves, core, k, runtime::pinned_memory(side, core, k) != nullptr);
}

TransferPlan transfer_plan(const AnyBuffer& from, const AnyHostArray& to) {
    from.storage().check_usable();
    const detail::HostSide side = to.side();
    const Layout target = runtime::host_layout(side, from, "it was read into");
    const Moves moves =
        runtime::plan_moves(target, runtime::layout_of(from), runtime::element_of(from), from.owns_window());
    const unsigned k = from.storage().home(0);
    ContextCore& core = from.storage().core();
    return runtime::describe(moves, core, k, runtime::pinned_memory(side, core, k) != nullptr);
}

TransferPlan transfer_plan(const AnyBuffer& from, const AnyBuffer& to) {
    to.storage().check_usable();
    from.storage().check_usable();
    const Moves moves = runtime::plan_copy(to, from);
    const unsigned k = to.storage().home(0);
    ContextCore& core = to.storage().core();
    TransferPlan plan = runtime::describe(moves, core, k, false);
    // Where nothing was written yet, the replica that would be nearest counts.
    const auto written = runtime::nearest_replica(
        from.storage(), k, [](const runtime::Replica& replica) { return replica.written(); });
    const unsigned q =
        written ? *written : runtime::nearest_replica(from.storage(), k, [](const runtime::Replica&) {
                                 return true;
                             }).value_or(k);
    if (core.device_of(q) != core.device_of(k) && !moves.empty()) {
        plan.path = TransferPath::ThroughHost;
        plan.driver_calls = runtime::hop_calls(moves.rows);
        plan.page_locked = true;
    }
    return plan;
}

}  // namespace volley
