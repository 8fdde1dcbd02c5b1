// Host to device. Each target's route is chosen first; then one command follows it.
#include "core/fail.hpp"
#include "core/text.hpp"
#include "runtime/buffer_access.hpp"
#include "runtime/host_side.hpp"
#include "runtime/recording.hpp"
#include "runtime/storage.hpp"
#include "runtime/transfer.hpp"

#include <volley/host_array.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace volley {
namespace runtime {
namespace {

/// How the host's bytes reach one queue's replica.
enum class WriteRoute : std::uint8_t {
    Fetch,   // the device copies from the page-locked memory that it allocated
    Import,  // the device copies from the caller's memory, which it can use as it is
    Copy,    // the device that allocated the host array copies it, in its order: another device's target
    Stage,   // the queue takes the bytes before the call returns
};

/// One write, for all of its targets.
struct HostWrite {
    const AnyBuffer& to;
    const detail::HostSide& from;
    Rows rows;
    std::size_t extent = 0;  // bytes from the first to the last one of the host's data
    bool async = false;
    std::shared_ptr<const void> owner;  // of the data, kept until an asynchronous write has completed

    /// The target's memory must be allocated.
    [[nodiscard]] WriteRoute route(ContextCore& core, unsigned k) const {
        // If the host shares the device's memory and has to wait anyway, it copies the data itself.
        const bool fetches = async || storage_of(to).allocate(k).host() == nullptr;
        if (fetches && pinned_memory(from, core, k) != nullptr) return WriteRoute::Fetch;
        if (async && core.device(core.device_of(k)).import_alignment() == 1) return WriteRoute::Import;
        if (async && tracked_array(from, core) != nullptr) return WriteRoute::Copy;
        return WriteRoute::Stage;
    }
    /// Submits one command by a route other than Copy; returns its point.
    backends::Point submit(ContextCore& core, unsigned k, WriteRoute route, Event& event) const;
};

backends::Point submit_write(ContextCore& core, unsigned k, backends::Memory& to, const std::byte* data,
                             const Rows& rows) {
    count(core, k, rows);
    return submit_rects(rows,
                        [&](const backends::RectMove& move) { return core.queue(k).write(to, data, move); });
}

backends::Point HostWrite::submit(ContextCore& core, unsigned k, WriteRoute route, Event& event) const {
    // At most three: the target, the host array, the caller's memory.
    std::array<Footprint, 3> uses = {footprint(to, k, Usage::Written)};
    std::size_t count = 1;
    const auto reads = [&](Storage& storage, unsigned queue, const ByteRange& bytes) {
        uses[count++] = footprint(storage, queue, bytes, Usage::Read);
    };
    Storage* const array = route == WriteRoute::Stage ? nullptr : tracked_array(from, core);
    if (array != nullptr) reads(*array, array->home(0), bytes_of(*from.array));
    backends::Memory* source = nullptr;
    Rows moved = rows;
    std::shared_ptr<Storage> imported;
    if (route == WriteRoute::Fetch) {
        source = pinned_memory(from, core, k);
        moved.from_offset += layout_of(*from.array).offset;
    } else if (route == WriteRoute::Import) {
        std::shared_ptr<const void> kept = owner;
        if (array != nullptr) kept = shared_storage_of(*from.array);
        imported =
            Storage::adopt(core.shared_from_this(), k,
                           core.device(core.device_of(k)).import_host({from.data, extent}), std::move(kept));
        reads(*imported, k, {0, imported->bytes()});
        source = imported->find(k)->memory();
    }
    backends::Memory& target = *uses[0].replica->memory();
    Submission submission(core, k, std::span(uses.data(), count),
                          [&] { return label_of(CommandKind::Write, rows); });
    submission.submit([&] {
        return source != nullptr ? submit_copy(core, k, target, *source, moved)
                                 : submit_write(core, k, target, from.data, rows);
    });
    submission.add_to(event, to_string(CommandKind::Write));
    return submission.point();
}

/// Records a write. Later runs write what a host array of this context holds then; other data is copied now,
/// into a host array of the recording.
Event record_write(Recorder& recorder, const AnyBuffer& to, const detail::HostSide& from,
                   const Layout& layout, std::optional<unsigned> on) {
    const auto add = [&](const AnyHostArray& array) {
        const AnyBuffer source = as_any_buffer(array);
        return recorder.add(
            {RecordedCopy{
                 PinnedBuffer(to), PinnedBuffer(source), plan_copy(to, source), {}, CommandKind::Write},
             on});
    };
    if (tracked_array(from, recorder.core()) != nullptr) return add(*from.array);
    HostArrayOptions options;
    options.queue = recorder.core().make_queue(on.value_or(storage_of(to).home(0)));
    const AnyHostArray kept(to.dtype(), to.shape(), options);
    wait_for_array(from, false);
    std::byte* out = kept.bytes();
    for_each_element(layout, [&](std::int64_t i, std::int64_t offset) {
        std::memcpy(out + i * element_of(to), from.data + offset, to.dtype().size());
    });
    return add(kept);
}

}  // namespace
}  // namespace runtime

Event AnyBuffer::write_from(const detail::HostSide& from, std::optional<QueueRef> queue, bool async,
                            std::shared_ptr<const void> owner) {
    using runtime::WriteRoute;
    runtime::refuse_while_tracing("a buffer was written", *this);
    runtime::Storage& own = storage();
    const runtime::ContextCore::Visit visit(own.core(), own);
    own.check_usable();
    const runtime::ArrayVisit array_visit(from, own.core());
    const Layout source = runtime::host_layout(from, *this, "a write passes");
    const auto element = runtime::element_of(*this);
    if (!runtime::is_regular(source, element)) {
        const auto dense = std::make_shared<std::vector<std::byte>>(bytes());
        runtime::for_each_element(source, [&](std::int64_t i, std::int64_t offset) {
            std::memcpy(dense->data() + i * element, from.data + offset, dtype_.size());
        });
        return write_from({.data = dense->data(), .count = size()}, queue, async, dense);
    }
    const std::vector<unsigned> queues = runtime::target_queues(*this, queue);
    if (runtime::Recorder* recorder = runtime::Recorder::current())
        return runtime::record_write(*recorder, *this, from, source, runtime::recorded_queue(queue, queues));
    runtime::ContextCore& core = own.core();
    const bool foreign = from.array != nullptr && runtime::tracked_array(from, core) == nullptr;
    const runtime::HostWrite write{
        *this,
        from,
        runtime::plan_move(runtime::layout_of(*this), source, element,
                           runtime::owns_padding(from) && owns_window_),
        static_cast<std::size_t>(extent(source, element)),
        async && !foreign,  // another context does not track this one's use of its array
        std::move(owner)};
    runtime::prepare_targets(*this, queues);
    if (write.rows.empty()) {
        for (const unsigned k : queues) own.replica(k).wrote();
        return {};
    }

    std::vector<WriteRoute> routes;
    routes.reserve(queues.size());
    for (const unsigned k : queues) routes.push_back(write.route(core, k));
    if (std::ranges::find(routes, WriteRoute::Stage) != routes.end()) runtime::wait_for_array(from, false);
    std::vector<unsigned> copied;
    std::vector<runtime::QueuePoint> fetched;
    Event event;
    for (std::size_t i = 0; i < queues.size(); ++i) {
        const unsigned k = queues[i];
        if (routes[i] == WriteRoute::Copy) {
            copied.push_back(k);
            continue;
        }
        const backends::Point point = write.submit(core, k, routes[i], event);
        if (routes[i] == WriteRoute::Fetch && !write.async) fetched.push_back({k, point});
    }
    if (!fetched.empty()) {
        const runtime::TimedHost timed(core);
        for (const runtime::QueuePoint& fetch : fetched) core.queue(fetch.queue).timeline().wait(fetch.point);
    }
    if (!copied.empty()) {
        const AnyBuffer array = runtime::as_any_buffer(*from.array);
        runtime::ContextCore::append(
            event, runtime::copy_to_queues(*this, copied, array, runtime::plan_copy(*this, array),
                                           CommandKind::Write));
    }
    return event;
}

void AnyBuffer::write_bytes(std::span<const std::byte> data, std::optional<QueueRef> queue) {
    write_from(runtime::bytes_side(data, *this), queue, false);
}

Event AnyBuffer::write_async(const AnyHostArray& from, std::optional<QueueRef> queue) {
    return write_from(detail::side_of(from), queue, true);
}

}  // namespace volley
