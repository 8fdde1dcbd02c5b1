// Device to host.
#include "backends/common/host_rect.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"
#include "runtime/buffer_access.hpp"
#include "runtime/host_side.hpp"
#include "runtime/recording.hpp"
#include "runtime/storage.hpp"
#include "runtime/transfer.hpp"

#include <volley/host_array.hpp>

#include <array>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace volley {
namespace runtime {
namespace {

constexpr std::int64_t direct_read = 64 * 1024;  // bytes up to which the host copies faster than it submits

/// How a replica's bytes reach the host.
enum class ReadRoute : std::uint8_t {
    Direct,  // the calling thread copies from memory that the host shares
    Store,   // the device copies into the page-locked memory that it allocated
    Stage,   // the queue copies into any host memory
};

ReadRoute read_route(ContextCore& core, const detail::HostSide& to, unsigned k,
                     const backends::Memory& memory, const Rows& rows, bool async) {
    if (!async && memory.host() != nullptr) {
        backends::Queue& queue = core.queue(k);
        // A busy queue would first do work that this read does not need.
        const bool idle = queue.timeline().completed() >= queue.last();
        if (rows.bytes() <= direct_read || !idle) return ReadRoute::Direct;
    }
    return pinned_memory(to, core, k) != nullptr ? ReadRoute::Store : ReadRoute::Stage;
}

backends::Point submit_read(ContextCore& core, unsigned k, const backends::Memory& from, std::byte* data,
                            const Rows& rows) {
    count(core, k, rows);
    return submit_rects(rows,
                        [&](const backends::RectMove& move) { return core.queue(k).read(data, from, move); });
}

Event record_read(Recorder& recorder, const AnyBuffer& from, const detail::HostSide& to, unsigned k,
                  bool async) {
    ContextCore& core = recorder.core();
    if (!async || tracked_array(to, core) == nullptr) {
        Recorder::refuse("a buffer was read", from.name(),
                         "read after submit(), or read_async() into a HostArray of the same context");
    }
    const AnyBuffer target = as_any_buffer(*to.array);
    // On queue k if its device allocated the array, otherwise on the array's.
    const unsigned home = storage_of(target).home(0);
    const unsigned on = core.device_of(home) == core.device_of(k) ? k : home;
    return recorder.add({RecordedCopy{PinnedBuffer(target), PinnedBuffer(from), plan_copy(target, from), k,
                                      CommandKind::Read},
                         on});
}

}  // namespace
}  // namespace runtime

void AnyBuffer::check_readable(QueueRef queue) const {
    storage().check_usable();
    const unsigned k = queue_index(queue);
    if (size() != 0 && !storage().replica(k).written()) runtime::fail_unwritten(*this, k);
}

Event AnyBuffer::read_to(const detail::HostSide& to, QueueRef on, bool async) const {
    using runtime::ReadRoute;
    runtime::refuse_while_tracing("a buffer was read", *this);
    runtime::Storage& own = storage();
    const runtime::ContextCore::Visit visit(own.core(), own);
    own.check_usable();
    const runtime::ArrayVisit array_visit(to, own.core());
    const Layout target = runtime::host_layout(to, *this, "a read passes");
    const unsigned k = queue_index(on);
    if (runtime::Recorder* recorder = runtime::Recorder::current())
        return runtime::record_read(*recorder, *this, to, k, async);
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
    runtime::ContextCore& core = own.core();
    std::optional<runtime::TimedHost> waiting;
    if (!async) waiting.emplace(core, true);
    const backends::Memory& memory = *own.replica(k).memory();
    const Rows rows = runtime::plan_move(target, runtime::layout_of(*this), element,
                                         runtime::owns_padding(to) && owns_window_);
    if (!async && memory.host() != nullptr) own.wait_for_uses(k, runtime::bytes_of(*this), false);
    const ReadRoute route = runtime::read_route(core, to, k, memory, rows, async);
    if (route == ReadRoute::Direct) {
        runtime::wait_for_array(to, true);
        runtime::for_each_rect(
            rows, [&](const backends::RectMove& move) { backends::copy_rows(to.data, memory.host(), move); });
        runtime::TransferCounters::add(core.transfers().direct);
        runtime::TransferCounters::add(core.transfers().bytes, static_cast<std::uint64_t>(rows.bytes()));
        return {};
    }

    std::array<runtime::Footprint, 2> uses = {runtime::footprint(*this, k, runtime::Usage::Read)};
    std::size_t count = 1;
    runtime::Storage* const array = runtime::tracked_array(to, core);
    if (array != nullptr) {
        uses[count++] =
            runtime::footprint(*array, array->home(0), runtime::bytes_of(*to.array), runtime::Usage::Written);
    }
    Rows stored = rows;
    if (route == ReadRoute::Store) stored.to_offset += runtime::layout_of(*to.array).offset;
    backends::Queue& queue = core.queue(k);
    runtime::Submission submission(core, k, std::span(uses.data(), count),
                                   [&] { return runtime::label_of(CommandKind::Read, rows); });
    try {
        submission.submit([&] {
            return route == ReadRoute::Store
                       ? runtime::submit_copy(core, k, *runtime::pinned_memory(to, core, k), memory, stored)
                       : runtime::submit_read(core, k, memory, to.data, rows);
        });
    } catch (...) {
        // Commands that were submitted write into memory that the caller may free now.
        const backends::Point last = queue.last();
        submission.unlock();
        while (!queue.timeline().wait_for(last, std::chrono::seconds(1))) {
        }
        throw;
    }
    submission.unlock();
    const bool kept = to.array == nullptr || array != nullptr;  // the memory outlives the read
    if (!async || !kept) queue.timeline().wait(submission.point());
    Event event;
    submission.add_to(event, to_string(CommandKind::Read));
    return event;
}

void AnyBuffer::read_bytes(std::span<std::byte> data, QueueRef queue) const {
    read_to(runtime::bytes_side(data, *this), queue, false);
}

Event AnyBuffer::read_async(const AnyHostArray& to, QueueRef queue) const {
    return read_to(detail::side_of(to), queue, true);
}

}  // namespace volley
