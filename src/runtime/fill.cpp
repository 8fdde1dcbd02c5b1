// Fills: one element repeated over one or all replicas of a buffer.
#include "core/fail.hpp"
#include "core/text.hpp"
#include "runtime/recording.hpp"
#include "runtime/storage.hpp"
#include "runtime/transfer.hpp"

#include <vector>

namespace volley {
namespace runtime {
namespace {

backends::Point submit_fill(ContextCore& core, unsigned k, backends::Memory& to, const Rows& rows,
                            std::span<const std::byte> element) {
    count(core, k, rows);
    return submit_rects(rows, [&](const backends::RectMove& move) {
        return core.queue(k).fill(to, move.to, move.rect, element);
    });
}

}  // namespace
}  // namespace runtime

Event AnyBuffer::fill_bytes(std::span<const std::byte> element, std::optional<QueueRef> queue) {
    runtime::refuse_while_tracing("a buffer was filled", *this);
    runtime::Storage& own = storage();
    const runtime::ContextCore::Visit visit(own.core(), own);
    own.check_usable();
    if (element.size() != dtype_.size()) {
        fail(ErrorCode::SizeMismatch, cat("a fill passes an element of ", element.size(), " bytes"), name(),
             cat("pass ", dtype_.size(), " bytes, the size of its elements"));
    }
    const Rows rows = runtime::plan_fill(*this);
    const std::vector<unsigned> queues = runtime::target_queues(*this, queue);
    if (runtime::Recorder* recorder = runtime::Recorder::current()) {
        return recorder->add(
            {runtime::RecordedFill{runtime::PinnedBuffer(*this), {element.begin(), element.end()}, rows},
             runtime::recorded_queue(queue, queues)});
    }
    runtime::ContextCore& core = own.core();
    runtime::prepare_targets(*this, queues);
    Event event;
    for (const unsigned k : queues) {
        if (rows.empty()) {
            own.replica(k).wrote();
            continue;
        }
        const runtime::Footprint use = runtime::footprint(*this, k, runtime::Usage::Written);
        runtime::Submission submission(core, k, {&use, 1},
                                       [&] { return runtime::label_of(CommandKind::Fill, rows); });
        submission.submit(
            [&] { return runtime::submit_fill(core, k, *use.replica->memory(), rows, element); });
        submission.add_to(event, to_string(CommandKind::Fill));
    }
    return event;
}

Event AnyBuffer::zero(std::optional<QueueRef> queue) {
    const std::vector<std::byte> element(dtype_.size());
    return fill_bytes(element, queue);
}

}  // namespace volley
