// Order in each of these: everything is checked, then memory is made for all replicas, then commands are
// given. The commands of one replica follow what other queues have done to it.
#include "runtime/transfer.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"
#include "runtime/storage.hpp"

#include <volley/host_array.hpp>

#include <cstring>
#include <ostream>
#include <utility>
#include <vector>

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

namespace {

constexpr std::uint64_t direct_read = 64 * 1024;  // bytes that are not worth a queue's help

// ---- checks ----

std::int64_t element_of(const AnyBuffer& buffer) { return static_cast<std::int64_t>(buffer.dtype().size()); }

void check_shapes(const Shape& given, const AnyBuffer& buffer, std::string_view doing) {
    if (given == buffer.shape()) return;
    fail(ErrorCode::SizeMismatch,
         cat(doing, " with an array of shape ", given.to_string(), ", where it has ",
             buffer.shape().to_string()),
         buffer.name(), "shapes must agree: there is no broadcasting");
}

/// The host's array, checked against the buffer.
Layout host_layout(const detail::HostSide& host, const AnyBuffer& buffer, std::string_view doing) {
    if (host.array != nullptr && host.array->dtype() != buffer.dtype()) {
        fail(ErrorCode::TypeMismatch,
             cat(doing, " with elements of type ", host.array->dtype().name(), ", where it has ",
                 buffer.dtype().name()),
             buffer.name(), "use a host array of the buffer's type");
    }
    if (host.shaped) {
        check_shapes(host.shape, buffer, doing);
    } else if (host.count != buffer.size()) {
        fail(ErrorCode::SizeMismatch,
             cat(doing, " with ", host.count, " elements of ", buffer.dtype().size(), " bytes, where it has ",
                 buffer.size()),
             buffer.name(), "give exactly as many elements as the buffer has");
    }
    if (host.data == nullptr && buffer.size() != 0) {
        fail(ErrorCode::InvalidArgument, cat(doing, " with a null pointer"), buffer.name(),
             "give memory of the buffer's size");
    }
    return {0, buffer.shape(),
            host.shaped ? host.strides : row_major_byte_strides(buffer.shape(), element_of(buffer))};
}

detail::HostSide bytes_side(std::span<const std::byte> data, const AnyBuffer& buffer) {
    static_cast<void>(buffer.storage());  // fails for an empty handle
    const std::size_t element = buffer.dtype().size();
    if (data.size() % element != 0) {
        fail(ErrorCode::SizeMismatch, cat(data.size(), " bytes are no whole number of elements"),
             buffer.name(), cat("its elements have ", element, " bytes"));
    }
    return {.data = const_cast<std::byte*>(data.data()),
            .count = data.size() / element};  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

Replica& replica_on(const AnyBuffer& buffer, unsigned k) {
    Storage& storage = buffer.storage();
    const unsigned queues = storage.core().queue_count();
    Replica* replica = k < queues ? storage.find(k) : nullptr;
    if (replica != nullptr) return *replica;
    fail(ErrorCode::IndexError, cat("there is no replica ", k), buffer.name(),
         k >= queues ? cat("its context has ", queues, " queue(s), numbered from 0")
                     : cat("it was placed elsewhere: queue ", storage.home(0), " has one"));
}

void check_source(const AnyBuffer& buffer, const Replica& replica, unsigned k) {
    if (buffer.size() == 0 || replica.written()) return;
    fail(ErrorCode::NotAllocated, cat("queue ", k, "'s replica was read before anything was written to it"),
         buffer.name(), "write to it, or run a kernel on that queue that does");
}

// ---- host arrays that no driver takes ----

/// Whether rows follow each other in memory as they do in row-major order, gaps allowed.
bool is_regular(const Layout& layout, std::int64_t element) {
    std::int64_t inner = element;
    for (int d = layout.shape.rank() - 1; d >= 0; --d) {
        if (layout.shape[d] <= 1) continue;
        if (layout.strides[d] < inner) return false;
        inner = (layout.shape[d] - 1) * layout.strides[d] + inner;
    }
    return true;
}

/// Copies elements one by one between an array of any strides and a dense one: transposed, reversed,
/// repeated.
template <class F>
void for_each_element(const Layout& layout, F&& f) {
    std::array<std::int64_t, max_rank> index{};
    const std::int64_t count = layout.shape.elements();
    for (std::int64_t i = 0; i < count; ++i) {
        std::int64_t offset = 0;
        for (int d = 0; d < layout.shape.rank(); ++d)
            offset += index[static_cast<std::size_t>(d)] * layout.strides[d];
        f(i, offset);
        for (int d = layout.shape.rank() - 1; d >= 0; --d) {
            if (++index[static_cast<std::size_t>(d)] < layout.shape[d]) break;
            index[static_cast<std::size_t>(d)] = 0;
        }
    }
}

// ---- order and statistics ----

std::uint64_t calls_of(const backend::Queue& queue, const Moves& moves) {
    if (moves.whole()) return 1;
    std::uint64_t calls = 0;
    for_each_rect(moves.rows, [&](const auto& to, const auto& from, const backend::Rect& rect) {
        calls += queue.rect_calls(to, from, rect);
    });
    return calls;
}

void count(TransferCounters& counters, TransferPath path, std::uint64_t calls, std::uint64_t bytes) {
    switch (path) {
        case TransferPath::None: return;
        case TransferPath::Whole: TransferCounters::add(counters.whole); break;
        case TransferPath::Rect: TransferCounters::add(counters.rects); break;
        case TransferPath::Rows: TransferCounters::add(counters.rows); break;
        case TransferPath::ThroughHost: TransferCounters::add(counters.hops); break;
    }
    TransferCounters::add(counters.driver_calls, calls);
    TransferCounters::add(counters.bytes, bytes);
}

void count(ContextCore& core, const backend::Queue& queue, const Moves& moves) {
    count(core.transfers(), moves.path, calls_of(queue, moves), moves.bytes());
}

/// The page-locked memory of a host array, where the queue's device made it.
backend::Memory* pinned_memory(const detail::HostSide& host, const ContextCore& core, unsigned k) {
    if (host.array == nullptr) return nullptr;
    Storage& storage = host.array->storage();
    if (&storage.core() != &core || core.device_of(storage.home(0)) != core.device_of(k)) return nullptr;
    return storage.find(storage.home(0))->memory();
}

// ---- host memory by the host itself ----

void copy_rows(const Rows& rows, std::byte* to_base, const std::byte* from_base) {
    for_each_rect(
        rows, [&](const backend::RectPlace& to, const backend::RectPlace& from, const backend::Rect& rect) {
            for (std::uint64_t plane = 0; plane < rect.count[1]; ++plane) {
                std::byte* out = to_base + to.offset + plane * to.stride[1];
                const std::byte* in = from_base + from.offset + plane * from.stride[1];
                for (std::uint64_t row = 0; row < rect.count[0]; ++row) {
                    std::memcpy(out, in, rect.row);
                    out += to.stride[0];
                    in += from.stride[0];
                }
            }
        });
}

// ---- commands ----

/// Host to device; `data` is used before it returns.
backend::Point give_write(backend::Queue& queue, backend::Memory& to, const std::byte* data,
                          const Moves& moves) {
    if (moves.whole()) {
        return queue.write(to, static_cast<std::uint64_t>(moves.rows.to_offset),
                           {data + moves.rows.from_offset, static_cast<std::size_t>(moves.rows.row)});
    }
    backend::Point point = 0;
    for_each_rect(moves.rows, [&](const auto& to_at, const auto& from_at, const backend::Rect& rect) {
        point = queue.write_rect(to, to_at, data, from_at, rect);
    });
    return point;
}

backend::Point give_read(backend::Queue& queue, const backend::Memory& from, std::byte* data,
                         const Moves& moves) {
    if (moves.whole()) {
        return queue.read(from, static_cast<std::uint64_t>(moves.rows.from_offset),
                          {data + moves.rows.to_offset, static_cast<std::size_t>(moves.rows.row)});
    }
    backend::Point point = 0;
    for_each_rect(moves.rows, [&](const auto& to_at, const auto& from_at, const backend::Rect& rect) {
        point = queue.read_rect(from, from_at, data, to_at, rect);
    });
    return point;
}

backend::Point give_copy(backend::Queue& queue, backend::Memory& to, const backend::Memory& from,
                         const Moves& moves) {
    const Rows& rows = moves.rows;
    if (moves.whole()) {
        return queue.copy(to, static_cast<std::uint64_t>(rows.to_offset), from,
                          static_cast<std::uint64_t>(rows.from_offset), static_cast<std::uint64_t>(rows.row));
    }
    backend::Point point = 0;
    for_each_rect(rows, [&](const auto& to_at, const auto& from_at, const backend::Rect& rect) {
        point = queue.copy_rect(to, to_at, from, from_at, rect);
    });
    return point;
}

/// Adds a part to an event, which is empty at first.
void add_to(Event& event, bool& first, ContextCore& core, unsigned k, backend::Point point) {
    if (std::exchange(first, false)) {
        event = core.make_event(k, point);
    } else {
        ContextCore::append(event, k, point);
    }
}

/// The queues whose replicas a command without a named queue works on; or the one that was named.
std::vector<unsigned> targets(const AnyBuffer& buffer, const Queue* queue) {
    Storage& storage = buffer.storage();
    std::vector<unsigned> queues;
    if (queue != nullptr) {
        buffer.check_queue(*queue);
        static_cast<void>(replica_on(buffer, queue->index()));
        queues.push_back(queue->index());
        return queues;
    }
    for (unsigned r = 0; r < storage.replica_count(); ++r) queues.push_back(storage.home(r));
    return queues;
}

/// The memory of all targets, or none: checks, then allocates.
void prepare_targets(const AnyBuffer& buffer, const std::vector<unsigned>& queues) {
    Storage& storage = buffer.storage();
    for (const unsigned k : queues) storage.check_not_mapped(k);
    for (const unsigned k : queues) static_cast<void>(storage.allocate(k));
}

/// Gives one command to each target, in order with other queues: command(k, memory) returns its point.
template <class F>
Event write_targets(const AnyBuffer& buffer, const std::vector<unsigned>& queues, F&& command) {
    Storage& storage = buffer.storage();
    ContextCore& core = storage.core();
    prepare_targets(buffer, queues);
    Event event;
    bool first = true;
    for (const unsigned k : queues) {
        const auto lock = storage.lock_order();
        Replica& replica = storage.replica(k);
        if (buffer.size() == 0) {
            replica.wrote(k, 0);
            continue;
        }
        storage.order(k, true);
        const backend::Point point = command(k, *replica.memory());
        replica.wrote(k, point);
        add_to(event, first, core, k, point);
    }
    return event;
}

/// Host bytes as memory of queue k's device, where that costs nothing: then a write need not wait for them.
std::shared_ptr<Storage> wrap(ContextCore& core, unsigned k, std::span<std::byte> bytes,
                              std::shared_ptr<const void> owner) {
    backend::Device& device = core.device(core.device_of(k));
    if (device.import_alignment() != 1) return nullptr;
    return Storage::adopt(core.shared_from_this(), k, device.import_host(bytes), std::move(owner));
}

}  // namespace
}  // namespace runtime

using runtime::ContextCore;
using runtime::Moves;
using runtime::Replica;
using runtime::Storage;

// ---- host to device ----

Event AnyBuffer::write_from(const detail::HostSide& from, const Queue* queue, bool async,
                            std::shared_ptr<const void> owner) {
    Storage& own = storage();
    own.check_usable();
    const Layout source = runtime::host_layout(from, *this, "it was written");
    const auto element = runtime::element_of(*this);
    if (!runtime::is_regular(source, element)) {
        const auto dense = std::make_shared<std::vector<std::byte>>(bytes());
        runtime::for_each_element(source, [&](std::int64_t i, std::int64_t offset) {
            std::memcpy(dense->data() + i * element, from.data + offset, dtype_.size());
        });
        return write_from({.data = dense->data(), .count = size()}, queue, async, dense);
    }
    const std::vector<unsigned> queues = runtime::targets(*this, queue);
    ContextCore& core = own.core();
    const Moves moves = runtime::plan_moves(runtime::layout_of(*this), source, element,
                                            from.array != nullptr && owns_window_);
    const auto extent_of_data = static_cast<std::size_t>(moves.empty() ? 0 : extent(source, element));
    return runtime::write_targets(*this, queues, [&](unsigned k, backend::Memory& memory) {
        backend::Queue& to = core.queue(k);
        runtime::count(core, to, moves);
        backend::Memory* pinned = runtime::pinned_memory(from, core, k);
        // The device fetches what is page-locked; unless the host shares its memory and has to wait for the
        // result anyway.
        if (pinned != nullptr && (async || memory.host() == nullptr)) {
            const backend::Point point = runtime::give_copy(to, memory, *pinned, moves);
            from.array->storage().replica(from.array->storage().home(0)).used(k, point);
            if (!async) to.timeline().wait(point);
            return point;
        }
        if (async) {
            const std::shared_ptr<const void> kept =
                from.array != nullptr ? std::shared_ptr<const void>(from.array->shared_storage()) : owner;
            if (const auto wrapped = runtime::wrap(core, k, {from.data, extent_of_data}, kept)) {
                const backend::Point point =
                    runtime::give_copy(to, memory, *wrapped->find(k)->memory(), moves);
                wrapped->replica(k).used(k, point);
                return point;
            }
        }
        return runtime::give_write(to, memory, from.data, moves);
    });
}

void AnyBuffer::write_bytes(std::span<const std::byte> data) {
    write_from(runtime::bytes_side(data, *this), nullptr, false);
}

void AnyBuffer::write_bytes(std::span<const std::byte> data, const Queue& queue) {
    write_from(runtime::bytes_side(data, *this), &queue, false);
}

Event AnyBuffer::write_async(const AnyHostArray& from) { return write_from(from.side(), nullptr, true); }

Event AnyBuffer::write_async(const AnyHostArray& from, const Queue& queue) {
    return write_from(from.side(), &queue, true);
}

// ---- device to host ----

void AnyBuffer::check_readable(unsigned k) const {
    storage().check_usable();
    runtime::check_source(*this, runtime::replica_on(*this, k), k);
}

Event AnyBuffer::read_to(const detail::HostSide& to, unsigned k, bool async) const {
    Storage& own = storage();
    own.check_usable();
    const Layout target = runtime::host_layout(to, *this, "it was read");
    check_readable(k);
    if (size_ == 0) return {};
    const auto element = runtime::element_of(*this);
    if (!runtime::is_regular(target, element)) {
        std::vector<std::byte> dense(bytes());
        read_to({.data = dense.data(), .count = size()}, k, false);
        runtime::for_each_element(target, [&](std::int64_t i, std::int64_t offset) {
            std::memcpy(to.data + offset, dense.data() + i * element, dtype_.size());
        });
        return {};
    }
    own.check_not_mapped(k);
    ContextCore& core = own.core();
    backend::Queue& queue = core.queue(k);
    Replica& replica = own.replica(k);
    backend::Memory& memory = *replica.memory();
    const Moves moves =
        runtime::plan_moves(target, runtime::layout_of(*this), element, to.array != nullptr && owns_window_);
    if (!async && memory.host() != nullptr) {
        for (unsigned q = 0; q < core.queue_count(); ++q) {
            if (const backend::Point point = replica.last_write(q); point != 0)
                core.queue(q).timeline().wait(point);
        }
        const bool idle = queue.timeline().completed() >= queue.last();
        if (moves.bytes() <= runtime::direct_read || !idle) {
            // The bytes are there: joining the queue would wait for work that this read does not need.
            runtime::copy_rows(moves.rows, to.data, memory.host());
            runtime::TransferCounters::add(core.transfers().direct);
            runtime::TransferCounters::add(core.transfers().bytes, moves.bytes());
            return {};
        }
    }
    const auto lock = own.lock_order();
    own.order(k, false);
    runtime::count(core, queue, moves);
    backend::Memory* pinned = runtime::pinned_memory(to, core, k);
    const backend::Point point = pinned != nullptr ? runtime::give_copy(queue, *pinned, memory, moves)
                                                   : runtime::give_read(queue, memory, to.data, moves);
    replica.used(k, point);
    bool kept = true;  // until then
    if (to.array != nullptr) {
        Storage& host = to.array->storage();
        kept = &host.core() == &core;
        if (kept) host.replica(host.home(0)).wrote(k, point);
    }
    if (!async || !kept) queue.timeline().wait(point);
    return core.make_event(k, point);
}

void AnyBuffer::read_bytes(std::span<std::byte> data, unsigned k) const {
    read_to(runtime::bytes_side(data, *this), k, false);
}

Event AnyBuffer::read_async(unsigned k, const AnyHostArray& to) const { return read_to(to.side(), k, true); }

// ---- on the device ----

Event AnyBuffer::fill_bytes(std::span<const std::byte> element) {
    storage().check_usable();
    if (element.size() != dtype_.size()) {
        fail(ErrorCode::SizeMismatch, cat("it was filled with an element of ", element.size(), " bytes"),
             name(), cat("its elements have ", dtype_.size()));
    }
    const Moves moves =
        runtime::plan_fill(runtime::layout_of(*this), runtime::element_of(*this), owns_window_);
    ContextCore& core = storage().core();
    return runtime::write_targets(
        *this, runtime::targets(*this, nullptr), [&](unsigned k, backend::Memory& memory) {
            backend::Queue& queue = core.queue(k);
            runtime::count(core, queue, moves);
            if (moves.whole()) {
                return queue.fill(memory, static_cast<std::uint64_t>(moves.rows.to_offset),
                                  static_cast<std::uint64_t>(moves.rows.row), element);
            }
            backend::Point point = 0;
            runtime::for_each_rect(moves.rows,
                                   [&](const auto& to, const auto& /*from*/, const backend::Rect& rect) {
                                       point = queue.fill_rect(memory, to, rect, element);
                                   });
            return point;
        });
}

Event AnyBuffer::zero() {
    const std::vector<std::byte> element(dtype_.size());
    return fill_bytes(element);
}

Event AnyBuffer::copy_within(std::size_t to, std::size_t from, std::size_t count) {
    return view(to, count).copy_from(view(from, count));
}

namespace runtime {
namespace {

/// Checks that one can be copied onto the other, and plans it.
Moves plan_copy(const AnyBuffer& to, const AnyBuffer& from) {
    to.storage().check_usable();
    from.storage().check_usable();
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

/// The source's replica that is nearest to queue k: its own, its device's, or any that was written. Fails
/// where none was.
unsigned nearest(const AnyBuffer& from, unsigned k) {
    Storage& storage = from.storage();
    const ContextCore& core = storage.core();
    if (const Replica* own = storage.find(k); own != nullptr && own->written()) return k;
    unsigned found = ~0u;
    for (unsigned r = 0; r < storage.replica_count(); ++r) {
        const unsigned q = storage.home(r);
        if (!storage.replica(q).written()) continue;
        if (core.device_of(q) == core.device_of(k)) return q;
        if (found == ~0u) found = q;
    }
    if (found != ~0u || from.size() == 0) return found == ~0u ? k : found;
    check_source(from, storage.replica(storage.home(0)), storage.home(0));
    return k;
}

}  // namespace
}  // namespace runtime

Event AnyBuffer::copy_from(const AnyBuffer& other) {
    const Moves moves = runtime::plan_copy(*this, other);
    Storage& own = storage();
    Storage& theirs = other.storage();
    ContextCore& core = own.core();
    const std::vector<unsigned> queues = runtime::targets(*this, nullptr);
    std::vector<unsigned> sources;
    for (const unsigned k : queues) {
        sources.push_back(runtime::nearest(other, k));
        theirs.check_not_mapped(sources.back());
    }
    runtime::prepare_targets(*this, queues);
    Event event;
    bool first = true;
    for (std::size_t i = 0; i < queues.size(); ++i) {
        const unsigned k = queues[i];
        const unsigned q = sources[i];
        const auto lock = own.shared() ? own.lock_order() : theirs.lock_order();
        Replica& to = own.replica(k);
        if (moves.empty()) {
            to.wrote(k, 0);
            continue;
        }
        Replica& from = theirs.replica(q);
        own.order(k, true);
        if (core.device_of(k) == core.device_of(q)) {
            theirs.order(from, k, false);
            const backend::Point point =
                runtime::give_copy(core.queue(k), *to.memory(), *from.memory(), moves);
            runtime::count(core, core.queue(k), moves);
            from.used(k, point);
            to.wrote(k, point);
            runtime::add_to(event, first, core, k, point);
        } else {
            theirs.order(from, q, false);
            const runtime::HopPoints points =
                runtime::hop(core, k, *to.memory(), q, *from.memory(), moves.rows);
            runtime::count(core.transfers(), TransferPath::ThroughHost, runtime::hop_calls(moves.rows),
                           moves.bytes());
            from.used(q, points.read);
            to.wrote(k, points.written);
            runtime::add_to(event, first, core, k, points.written);
        }
    }
    return event;
}

// ---- plans ----

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
    const Layout source = runtime::host_layout(side, to, "it was written");
    const Moves moves =
        runtime::plan_moves(runtime::layout_of(to), source, runtime::element_of(to), to.owns_window());
    const unsigned k = to.storage().home(0);
    ContextCore& core = to.storage().core();
    return runtime::describe(moves, core, k, runtime::pinned_memory(side, core, k) != nullptr);
}

TransferPlan transfer_plan(const AnyBuffer& from, const AnyHostArray& to) {
    from.storage().check_usable();
    const detail::HostSide side = to.side();
    const Layout target = runtime::host_layout(side, from, "it was read");
    const Moves moves =
        runtime::plan_moves(target, runtime::layout_of(from), runtime::element_of(from), from.owns_window());
    const unsigned k = from.storage().home(0);
    ContextCore& core = from.storage().core();
    return runtime::describe(moves, core, k, runtime::pinned_memory(side, core, k) != nullptr);
}

TransferPlan transfer_plan(const AnyBuffer& from, const AnyBuffer& to) {
    const Moves moves = runtime::plan_copy(to, from);
    const unsigned k = to.storage().home(0);
    ContextCore& core = to.storage().core();
    TransferPlan plan = runtime::describe(moves, core, k, false);
    // Where nothing was written yet, the replica that would be nearest counts.
    const unsigned q = from.storage().find(k) != nullptr ? k : from.storage().home(0);
    if (core.device_of(q) != core.device_of(k) && !moves.empty()) {
        plan.path = TransferPath::ThroughHost;
        plan.driver_calls = runtime::hop_calls(moves.rows);
        plan.page_locked = true;
    }
    return plan;
}

}  // namespace volley
