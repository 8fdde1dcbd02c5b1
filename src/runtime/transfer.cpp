// Order in each of these: everything is checked, then memory is made for all replicas, then commands are
// given. The commands of one replica follow what other queues have done to it.
#include "runtime/transfer.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"
#include "runtime/command_times.hpp"
#include "runtime/nearest_replica.hpp"
#include "runtime/recording.hpp"
#include "runtime/storage.hpp"

#include <volley/host_array.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <optional>
#include <ostream>
#include <utility>
#include <vector>

namespace volley {
namespace runtime {

void fail_unwritten(const AnyBuffer& buffer, unsigned k) {
    fail(ErrorCode::NotAllocated, cat("queue ", k, "'s replica was read before anything was written to it"),
         buffer.name(), "write to it, or run a kernel on that queue that does");
}

namespace {

constexpr std::uint64_t direct_read = 64 * 1024;  // bytes that are not worth a queue's help

// ---- checks ----

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
    if (buffer.size() != 0 && !replica.written()) fail_unwritten(buffer, k);
}

// ---- host arrays that no driver takes ----

/// Whether rows follow each other in memory as they do in row-major order, gaps allowed.
bool is_regular(const Layout& layout, std::int64_t element) {
    std::int64_t inner = element;
    if (layout.shape.elements() == 0) return true;  // whose strides may be 0
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

void count(ContextCore& core, const backends::Queue& queue, const Moves& moves) {
    count(core.transfers(), moves.path, calls_of(queue, moves), moves.bytes());
}

/// What other commands of this context do with a host array is known to its replica.
Replica* array_replica(const detail::HostSide& host, const ContextCore& core) {
    if (host.array == nullptr || &host.array->storage().core() != &core) return nullptr;
    return &host.array->storage().replica(host.array->storage().home(0));
}

/// The host reads or writes the array itself: what devices still do with it comes first.
void wait_for_array(const detail::HostSide& host, bool writes) {
    if (host.array == nullptr) return;
    Storage& storage = host.array->storage();
    storage.wait_for_uses(storage.home(0), {0, storage.bytes()}, writes);
}

// ---- host memory by the host itself ----

void copy_rows(const Rows& rows, std::byte* to_base, const std::byte* from_base) {
    for_each_rect(rows, [&](const backends::RectPlace& to, const backends::RectPlace& from,
                            const backends::Rect& rect) {
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
backends::Point give_write(backends::Queue& queue, backends::Memory& to, const std::byte* data,
                           const Moves& moves) {
    if (moves.whole()) {
        return queue.write(to, static_cast<std::uint64_t>(moves.rows.to_offset),
                           {data + moves.rows.from_offset, static_cast<std::size_t>(moves.rows.row)});
    }
    backends::Point point = 0;
    for_each_rect(moves.rows, [&](const auto& to_at, const auto& from_at, const backends::Rect& rect) {
        point = queue.write_rect(to, to_at, data, from_at, rect);
    });
    return point;
}

backends::Point give_read(backends::Queue& queue, const backends::Memory& from, std::byte* data,
                          const Moves& moves) {
    if (moves.whole()) {
        return queue.read(from, static_cast<std::uint64_t>(moves.rows.from_offset),
                          {data + moves.rows.to_offset, static_cast<std::size_t>(moves.rows.row)});
    }
    backends::Point point = 0;
    for_each_rect(moves.rows, [&](const auto& to_at, const auto& from_at, const backends::Rect& rect) {
        point = queue.read_rect(from, from_at, data, to_at, rect);
    });
    return point;
}

backends::Point give_copy(backends::Queue& queue, backends::Memory& to, const backends::Memory& from,
                          const Moves& moves) {
    const Rows& rows = moves.rows;
    if (moves.whole()) {
        return queue.copy(to, static_cast<std::uint64_t>(rows.to_offset), from,
                          static_cast<std::uint64_t>(rows.from_offset), static_cast<std::uint64_t>(rows.row));
    }
    backends::Point point = 0;
    for_each_rect(rows, [&](const auto& to_at, const auto& from_at, const backends::Rect& rect) {
        point = queue.copy_rect(to, to_at, from, from_at, rect);
    });
    return point;
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

CommandLabel label_of(CommandKind kind, const Moves& moves) { return {.kind = kind, .bytes = moves.bytes()}; }

/// Gives one command to each target, in order with other queues: command(k, memory) returns its point.
template <class F>
Event write_targets(const AnyBuffer& buffer, const std::vector<unsigned>& queues, CommandKind kind,
                    const Moves& moves, F&& command) {
    Storage& storage = buffer.storage();
    ContextCore& core = storage.core();
    prepare_targets(buffer, queues);
    Event event;
    for (const unsigned k : queues) {
        const auto lock = storage.lock_order();
        const auto queue_lock = core.lock_queue(k);
        Replica& replica = storage.replica(k);
        if (buffer.size() == 0) {
            replica.wrote();
            continue;
        }
        storage.order(k, bytes_of(buffer), true);
        const TimedCommand timed(core, k, [&] { return label_of(kind, moves); });
        const backends::Point point = give_noted(
            core.queue(k), [&] { return timed.give([&] { return command(k, *replica.memory()); }); },
            [&](backends::Point last) { replica.wrote(k, last, bytes_of(buffer)); });
        core.add_part(event, k, point, to_string(kind));
        timed.add_to(event);
    }
    return event;
}

/// The source's replica that is nearest to queue k. Fails where none was written.
unsigned nearest(const AnyBuffer& from, unsigned k) {
    Storage& storage = from.storage();
    const auto found = nearest_replica(storage, k, [](const Replica& replica) { return replica.written(); });
    if (!found && from.size() != 0) fail_unwritten(from, storage.home(0));
    return found.value_or(k);
}

/// The same from another buffer: from the nearest of its replicas that was written, or, between devices,
/// through the host.
Event copy_targets(const AnyBuffer& buffer, const std::vector<unsigned>& queues, const AnyBuffer& other,
                   const Moves& moves, CommandKind kind) {
    Storage& own = buffer.storage();
    Storage& theirs = other.storage();
    ContextCore& core = own.core();
    std::vector<unsigned> sources;
    for (const unsigned k : queues) {
        sources.push_back(nearest(other, k));
        theirs.check_not_mapped(sources.back());
    }
    prepare_targets(buffer, queues);
    const Range to_bytes = bytes_of(buffer);
    const Range from_bytes = bytes_of(other);
    Event event;
    for (std::size_t i = 0; i < queues.size(); ++i) {
        const unsigned k = queues[i];
        const unsigned q = sources[i];
        std::optional<HopStaging> staging;
        if (!moves.empty() && core.device_of(k) != core.device_of(q)) staging.emplace(core, k, moves.rows);
        const auto lock = own.shared() ? own.lock_order() : theirs.lock_order();
        Replica& to = own.replica(k);
        if (moves.empty()) {
            to.wrote();
            continue;
        }
        const auto first_lock = core.lock_queue(std::min(k, q));
        const auto second_lock = k == q ? std::unique_lock<std::mutex>() : core.lock_queue(std::max(k, q));
        Replica& from = theirs.replica(q);
        own.order(k, to_bytes, true);
        if (core.device_of(k) == core.device_of(q)) {
            theirs.order(from, k, from_bytes, false);
            const TimedCommand timed(core, k, [&] { return label_of(kind, moves); });
            const auto give = [&] { return give_copy(core.queue(k), *to.memory(), *from.memory(), moves); };
            const backends::Point point = give_noted(
                core.queue(k), [&] { return timed.give(give); },
                [&](backends::Point last) {
                    from.used(k, last, from_bytes);
                    to.wrote(k, last, to_bytes);
                });
            count(core, core.queue(k), moves);
            core.add_part(event, k, point, to_string(kind));
            timed.add_to(event);
        } else {
            theirs.order(from, q, from_bytes, false);
            const auto label = [&] { return label_of(kind, moves); };
            const TimedCommand reading(core, q, label);
            const TimedCommand writing(core, k, label);
            HopPoints points;
            const auto note = [&] {
                if (points.read) from.used(q, *points.read, from_bytes);
                if (points.written) to.wrote(k, *points.written, to_bytes);
            };
            try {
                hop(core, {k, to.memory(), &writing}, {q, from.memory(), &reading}, moves.rows, *staging,
                    points);
            } catch (...) {
                note();
                throw;
            }
            note();
            count(core.transfers(), TransferPath::ThroughHost, hop_calls(moves.rows), moves.bytes());
            core.add_part(event, k, *points.written, to_string(kind));
            writing.add_to(event);
        }
    }
    return event;
}

/// Host bytes as memory of queue k's device, where that costs nothing: then a write need not wait for them.
std::shared_ptr<Storage> wrap(ContextCore& core, unsigned k, std::span<std::byte> bytes,
                              std::shared_ptr<const void> owner) {
    backends::Device& device = core.device(core.device_of(k));
    if (device.import_alignment() != 1) return nullptr;
    return Storage::adopt(core.shared_from_this(), k, device.import_host(bytes), std::move(owner));
}

/// A host array as a buffer on its storage.
AnyBuffer as_any_buffer(const AnyHostArray& array) {
    return {array.shared_storage(), array.dtype(), array.shape(), array.strides(), "a host array"};
}

/// Later runs write what the host array holds then. Other data is fixed now, in a host array of the
/// recording's own.
Event record_write(Recorder& recorder, const AnyBuffer& to, const detail::HostSide& from,
                   const Queue* queue) {
    std::optional<unsigned> on;
    if (queue != nullptr) on = queue->index();
    if (from.array != nullptr && &from.array->storage().core() == &recorder.core()) {
        const AnyBuffer source = as_any_buffer(*from.array);
        return recorder.add(
            {RecordedCopy{
                 PinnedBuffer(to), PinnedBuffer(source), plan_copy(to, source), {}, CommandKind::Write},
             on});
    }
    HostArrayOptions options;
    options.queue = recorder.core().make_queue(on.value_or(to.storage().home(0)));
    const AnyHostArray kept(to.dtype(), to.shape(), options);
    const Layout layout = host_layout(from, to, "it was written with");
    wait_for_array(from, false);
    std::byte* out = kept.bytes();
    for_each_element(layout, [&](std::int64_t i, std::int64_t offset) {
        std::memcpy(out + i * element_of(to), from.data + offset, to.dtype().size());
    });
    const AnyBuffer source = as_any_buffer(kept);
    return recorder.add(
        {RecordedCopy{PinnedBuffer(to), PinnedBuffer(source), plan_copy(to, source), {}, CommandKind::Write},
         on});
}

Event record_read(Recorder& recorder, const AnyBuffer& from, const detail::HostSide& to, unsigned k,
                  bool async) {
    if (!async || to.array == nullptr || &to.array->storage().core() != &recorder.core()) {
        Recorder::refuse("a buffer was read", from.name(),
                         "read after submit(), or read_async() into a HostArray of the same context");
    }
    static_cast<void>(replica_on(from, k));
    const AnyBuffer target = as_any_buffer(*to.array);
    const ContextCore& core = recorder.core();
    // On the queue itself where it can reach the array's memory, else on the array's.
    const unsigned home = target.storage().home(0);
    const unsigned on = core.device_of(home) == core.device_of(k) ? k : home;
    return recorder.add({RecordedCopy{PinnedBuffer(target), PinnedBuffer(from), plan_copy(target, from), k,
                                      CommandKind::Read},
                         on});
}

}  // namespace

}  // namespace runtime

using runtime::ContextCore;
using runtime::Moves;
using runtime::Recorder;
using runtime::Replica;
using runtime::Storage;

// ---- host to device ----

Event AnyBuffer::write_from(const detail::HostSide& from, const Queue* queue, bool async,
                            std::shared_ptr<const void> owner) {
    runtime::refuse_while_tracing("a buffer was written", *this);
    Storage& own = storage();
    own.check_usable();
    const Layout source = runtime::host_layout(from, *this, "it was written with");
    const auto element = runtime::element_of(*this);
    if (!runtime::is_regular(source, element)) {
        const auto dense = std::make_shared<std::vector<std::byte>>(bytes());
        runtime::for_each_element(source, [&](std::int64_t i, std::int64_t offset) {
            std::memcpy(dense->data() + i * element, from.data + offset, dtype_.size());
        });
        return write_from({.data = dense->data(), .count = size()}, queue, async, dense);
    }
    std::vector<unsigned> queues = runtime::targets(*this, queue);
    ContextCore& core = own.core();
    // Another context knows nothing of what this one does with its array, so its bytes are taken now.
    if (from.array != nullptr && &from.array->storage().core() != &core) async = false;
    if (Recorder* recorder = Recorder::current()) return runtime::record_write(*recorder, *this, from, queue);
    const Moves moves = runtime::plan_moves(runtime::layout_of(*this), source, element,
                                            from.array != nullptr && owns_window_);
    const auto extent_of_data = static_cast<std::size_t>(moves.empty() ? 0 : extent(source, element));
    // The device fetches what is page-locked; unless the host shares its memory and has to wait for the
    // result anyway.
    const auto fetched_by = [&](unsigned k) -> backends::Memory* {
        return async || own.allocate(k).host() == nullptr ? runtime::pinned_memory(from, core, k) : nullptr;
    };
    // No lock is held while anybody is waited for: what that is may need it.
    std::vector<runtime::QueuePoint> fetching;
    Event copied;
    if (from.array != nullptr) {
        runtime::prepare_targets(*this, queues);
        const auto by_host = [&](unsigned k) {
            return fetched_by(k) == nullptr &&
                   !(async && core.device(core.device_of(k)).import_alignment() == 1);
        };
        const auto far = std::stable_partition(queues.begin(), queues.end(), std::not_fn(by_host));
        if (async && far != queues.end() && &from.array->storage().core() == &core) {
            // The device that made the array reads it, in its order, as functions of the host's may change
            // it until then.
            const AnyBuffer array = runtime::as_any_buffer(*from.array);
            copied = runtime::copy_targets(*this, {far, queues.end()}, array,
                                           runtime::plan_copy(*this, array), CommandKind::Write);
            queues.erase(far, queues.end());
        } else if (far != queues.end()) {
            runtime::wait_for_array(from, false);
        }
    }
    const auto give = [&](unsigned k, backends::Memory& memory) {
        backends::Queue& to = core.queue(k);
        runtime::count(core, to, moves);
        if (backends::Memory* pinned = fetched_by(k)) {
            Storage& host = from.array->storage();
            host.order(host.replica(host.home(0)), k, {0, host.bytes()}, false);
            const backends::Point point = runtime::give_noted(
                to, [&] { return runtime::give_copy(to, memory, *pinned, moves); },
                [&](backends::Point last) {
                    host.replica(host.home(0)).used(k, last, {0, host.bytes()});
                });
            if (!async) fetching.push_back({k, point});
            return point;
        }
        if (async) {
            const std::shared_ptr<const void> kept =
                from.array != nullptr ? std::shared_ptr<const void>(from.array->shared_storage()) : owner;
            if (const auto wrapped = runtime::wrap(core, k, {from.data, extent_of_data}, kept)) {
                Replica* const array = runtime::array_replica(from, core);
                if (array != nullptr)
                    from.array->storage().order(*array, k, {0, from.array->storage().bytes()}, false);
                return runtime::give_noted(
                    to, [&] { return runtime::give_copy(to, memory, *wrapped->find(k)->memory(), moves); },
                    [&](backends::Point last) {
                        wrapped->replica(k).used(k, last, {0, extent_of_data});
                        if (array != nullptr) array->used(k, last, {0, from.array->storage().bytes()});
                    });
            }
        }
        return runtime::give_write(to, memory, from.data, moves);
    };
    Event event = runtime::write_targets(*this, queues, CommandKind::Write, moves, give);
    if (!fetching.empty()) {
        const runtime::TimedHost timed(core);
        for (const runtime::QueuePoint& copy : fetching) core.queue(copy.queue).timeline().wait(copy.point);
    }
    ContextCore::append(event, copied);
    return event;
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
    runtime::refuse_while_tracing("a buffer was read", *this);
    Storage& own = storage();
    own.check_usable();
    const Layout target = runtime::host_layout(to, *this, "it was read into");
    if (Recorder* recorder = Recorder::current()) return runtime::record_read(*recorder, *this, to, k, async);
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
    std::optional<runtime::TimedHost> waiting;
    if (!async) waiting.emplace(core, true);
    backends::Queue& queue = core.queue(k);
    Replica& replica = own.replica(k);
    backends::Memory& memory = *replica.memory();
    const Moves moves =
        runtime::plan_moves(target, runtime::layout_of(*this), element, to.array != nullptr && owns_window_);
    if (!async && memory.host() != nullptr) {
        own.wait_for_uses(k, runtime::bytes_of(*this), false);
        const bool idle = queue.timeline().completed() >= queue.last();
        if (moves.bytes() <= runtime::direct_read || !idle) {
            // The bytes are there: joining the queue would wait for work that this read does not need.
            runtime::wait_for_array(to, true);
            runtime::copy_rows(moves.rows, to.data, memory.host());
            runtime::TransferCounters::add(core.transfers().direct);
            runtime::TransferCounters::add(core.transfers().bytes, moves.bytes());
            return {};
        }
    }
    auto lock = own.lock_order();
    auto queue_lock = core.lock_queue(k);
    own.order(k, runtime::bytes_of(*this), false);
    runtime::count(core, queue, moves);
    backends::Memory* pinned = runtime::pinned_memory(to, core, k);
    Replica* const array = runtime::array_replica(to, core);
    if (array != nullptr) to.array->storage().order(*array, k, {0, to.array->storage().bytes()}, true);
    const runtime::TimedCommand timed(core, k, [&] { return runtime::label_of(CommandKind::Read, moves); });
    const auto give = [&] {
        return pinned != nullptr ? runtime::give_copy(queue, *pinned, memory, moves)
                                 : runtime::give_read(queue, memory, to.data, moves);
    };
    const auto note = [&](backends::Point last) {
        replica.used(k, last, runtime::bytes_of(*this));
        if (array != nullptr) array->wrote(k, last, {0, to.array->storage().bytes()});
    };
    backends::Point point = 0;
    try {
        point = runtime::give_noted(
            queue, [&] { return timed.give(give); }, note);
    } catch (...) {
        // What was given before writes into memory that the caller may free now.
        const backends::Point last = queue.last();
        queue_lock = {};
        lock = {};
        while (!queue.timeline().wait_for(last, std::chrono::seconds(1))) {
        }
        throw;
    }
    queue_lock = {};
    lock = {};                                                  // what is waited for may need them
    const bool kept = to.array == nullptr || array != nullptr;  // until then
    if (!async || !kept) queue.timeline().wait(point);
    Event event = core.make_event(k, point, to_string(CommandKind::Read));
    timed.add_to(event);
    return event;
}

void AnyBuffer::read_bytes(std::span<std::byte> data, unsigned k) const {
    read_to(runtime::bytes_side(data, *this), k, false);
}

Event AnyBuffer::read_async(unsigned k, const AnyHostArray& to) const { return read_to(to.side(), k, true); }

// ---- on the device ----

Event AnyBuffer::fill_bytes(std::span<const std::byte> element) {
    runtime::refuse_while_tracing("a buffer was filled", *this);
    storage().check_usable();
    if (element.size() != dtype_.size()) {
        fail(ErrorCode::SizeMismatch, cat("it was filled with an element of ", element.size(), " bytes"),
             name(), cat("its elements have ", dtype_.size()));
    }
    const Moves moves = runtime::plan_fill(*this);
    ContextCore& core = storage().core();
    if (Recorder* recorder = Recorder::current()) {
        return recorder->add(
            {runtime::RecordedFill{runtime::PinnedBuffer(*this), {element.begin(), element.end()}, moves},
             {}});
    }
    const auto give = [&](unsigned k, backends::Memory& memory) {
        backends::Queue& queue = core.queue(k);
        runtime::count(core, queue, moves);
        if (moves.whole()) {
            return queue.fill(memory, static_cast<std::uint64_t>(moves.rows.to_offset),
                              static_cast<std::uint64_t>(moves.rows.row), element);
        }
        backends::Point point = 0;
        runtime::for_each_rect(moves.rows,
                               [&](const auto& to, const auto& /*from*/, const backends::Rect& rect) {
                                   point = queue.fill_rect(memory, to, rect, element);
                               });
        return point;
    };
    return runtime::write_targets(*this, runtime::targets(*this, nullptr), CommandKind::Fill, moves, give);
}

Event AnyBuffer::zero() {
    const std::vector<std::byte> element(dtype_.size());
    return fill_bytes(element);
}

Event AnyBuffer::copy_within(std::size_t to, std::size_t from, std::size_t count) {
    return view(to, count).copy_from(view(from, count));
}

Event AnyBuffer::copy_from(const AnyBuffer& other) {
    runtime::refuse_while_tracing("a buffer was copied", *this);
    Storage& own = storage();
    Storage& theirs = other.storage();
    own.check_usable();
    theirs.check_usable();
    const Moves moves = runtime::plan_copy(*this, other);
    if (Recorder* recorder = Recorder::current()) {
        return recorder->add(
            {runtime::RecordedCopy{runtime::PinnedBuffer(*this), runtime::PinnedBuffer(other), moves, {}},
             {}});
    }
    const std::vector<unsigned> queues = runtime::targets(*this, nullptr);
    return runtime::copy_targets(*this, queues, other, moves, CommandKind::Copy);
}

}  // namespace volley
