// Copies between buffers: inside a device directly, between devices through page-locked memory.
#include "core/fail.hpp"
#include "runtime/buffer_access.hpp"
#include "runtime/hop.hpp"
#include "runtime/nearest_replica.hpp"
#include "runtime/recording.hpp"
#include "runtime/storage.hpp"
#include "runtime/transfer.hpp"

#include <optional>
#include <vector>

namespace volley {
namespace runtime {
namespace {

/// Returns the source's replica that is nearest to queue k. Throws if none was written.
unsigned nearest_source(const AnyBuffer& from, unsigned k) {
    Storage& storage = storage_of(from);
    const auto found = nearest_replica(storage, k, [](const Replica& replica) { return replica.written(); });
    if (!found && from.size() != 0) fail_unwritten(from, storage.home(0));
    return found.value_or(k);
}

}  // namespace

Event copy_to_queues(const AnyBuffer& to, const std::vector<unsigned>& queues, const AnyBuffer& from,
                     const Rows& rows, CommandKind kind) {
    ContextCore& core = storage_of(to).core();
    std::vector<unsigned> sources;
    for (const unsigned k : queues) {
        sources.push_back(nearest_source(from, k));
        storage_of(from).check_not_mapped(sources.back());
    }
    prepare_targets(to, queues);
    const auto label = [&] { return label_of(kind, rows); };
    Event event;
    for (std::size_t i = 0; i < queues.size(); ++i) {
        const unsigned k = queues[i];
        const unsigned q = sources[i];
        if (rows.empty()) {
            storage_of(to).replica(k).wrote();
            continue;
        }
        const Footprint uses[] = {footprint(to, k, Usage::Written), footprint(from, q, Usage::Read)};
        backends::Memory& target = *uses[0].replica->memory();
        backends::Memory& source = *uses[1].replica->memory();
        if (core.device_of(k) == core.device_of(q)) {
            Submission submission(core, k, uses, label, {.with_queue = q});
            submission.submit([&] { return submit_copy(core, k, target, source, rows); });
            submission.add_to(event, to_string(kind));
        } else if (is_direct(core.queue(k), &target, source, rows)) {
            Submission submission(core, k, uses, label, {.with_queue = q});
            submission.submit([&] { return submit_direct(core.queue(k), target, source, rows); });
            submission.add_to(event, to_string(kind));
            count(core.transfers(), TransferPath::ThroughHost, calls_of(core.queue(k), rows),
                  static_cast<std::uint64_t>(rows.bytes()));
        } else {
            HopStaging staging(core, k, rows);
            Hop hop(core, {k, &target, uses[0]}, {q, &source, uses[1]}, label);
            hop.submit(rows, staging);
            hop.add_to(event, to_string(kind));
            count(core.transfers(), TransferPath::ThroughHost, hop_calls(rows),
                  static_cast<std::uint64_t>(rows.bytes()));
        }
    }
    return event;
}

}  // namespace runtime

Event AnyBuffer::copy_from(const AnyBuffer& other, std::optional<QueueRef> queue) {
    runtime::refuse_while_tracing("a buffer was copied", *this);
    const runtime::ContextCore::Visit visit(storage().core(), storage());
    storage().check_usable();
    runtime::storage_of(other).check_usable();
    const Rows rows = runtime::plan_copy(*this, other);
    const std::vector<unsigned> queues = runtime::target_queues(*this, queue);
    if (runtime::Recorder* recorder = runtime::Recorder::current()) {
        return recorder->add(
            {runtime::RecordedCopy{runtime::PinnedBuffer(*this), runtime::PinnedBuffer(other), rows, {}},
             runtime::recorded_queue(queue, queues)});
    }
    return runtime::copy_to_queues(*this, queues, other, rows, CommandKind::Copy);
}

}  // namespace volley
