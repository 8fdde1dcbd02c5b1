// Logs every command.
#include "support/null/null_queue.hpp"

#include "backends/api/times.hpp"
#include "backends/common/host_rect.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"
#include "support/null/null_batch.hpp"
#include "support/null/null_uses.hpp"

#include <algorithm>

namespace volley::backends::null {

void NullTimeline::wait(Point point) {
    if (completed() >= point) return;
    NullEntry entry;
    entry.kind = NullKind::Wait;
    entry.queue = queue_;
    entry.point = point;
    entry.lines = {cat("q", queue_, " wait ", point)};
    log_->add(std::move(entry));
    finish(point);
}

bool NullTimeline::wait_for(Point point, std::chrono::nanoseconds timeout) {
    if (timeout >= patience) wait(point);
    return completed() >= point;
}

void NullTimeline::finish(Point point) noexcept {
    Point now = completed_.load();
    while (now < point && !completed_.compare_exchange_weak(now, point)) {
    }
}

NullQueue::NullQueue(std::shared_ptr<NullLog> log, unsigned number, bool overlaps)
    : log_(std::move(log)), number_(number), overlaps_(overlaps), timeline_(log_, number) {}

Point NullQueue::add(NullEntry entry, const std::string& what) {
    const std::scoped_lock lock(mutex_);
    log_->take_command();
    const backends::TimedHere timed;
    const Point point = ++last_;
    entry.queue = number_;
    entry.point = point;
    entry.lines.insert(entry.lines.begin(), cat("q", number_, " ", what, " -> ", point));
    log_->add(std::move(entry));
    return point;
}

Point NullQueue::add(NullKind kind, std::vector<NullUse> uses, const std::string& what) {
    NullEntry entry;
    entry.kind = kind;
    entry.uses = std::move(uses);
    return add(std::move(entry), what);
}

Point NullQueue::launch(const backends::Launch& launch) {
    NullEntry entry;
    entry.uses = uses_of(launch);
    std::string what = text_of(launch);
    if (overlaps_ && launch.after != backends::Launch::everything) {
        entry.after = launch.after;
        what += cat(" after ", launch.after);
    }
    return add(std::move(entry), what);
}

Point NullQueue::write(backends::Memory& to, const std::byte* from, const backends::RectMove& move) {
    std::vector<NullUse> uses;
    add_rows(uses, host_use(from, 0, false), move.from, move.rect);
    add_rows(uses, use_of(to, 0, 0, true), move.to, move.rect);
    return add(NullKind::Write, std::move(uses), cat("write ", text_of(move.rect)));
}

Point NullQueue::read(std::byte* to, const backends::Memory& from, const backends::RectMove& move) {
    const std::byte zero{0};
    if (move.rect.row != 0) backends::fill_rows(to, move.to, move.rect, {&zero, 1});
    std::vector<NullUse> uses;
    add_rows(uses, use_of(from, 0, 0, false), move.from, move.rect);
    add_rows(uses, host_use(to, 0, true), move.to, move.rect);
    return add(NullKind::Read, std::move(uses), cat("read ", text_of(move.rect)));
}

Point NullQueue::copy(backends::Memory& to, const backends::Memory& from, const backends::RectMove& move) {
    std::vector<NullUse> uses;
    add_rows(uses, use_of(from, 0, 0, false), move.from, move.rect);
    add_rows(uses, use_of(to, 0, 0, true), move.to, move.rect);
    return add(NullKind::Copy, std::move(uses), cat("copy ", text_of(move.rect)));
}

Point NullQueue::fill(backends::Memory& to, const backends::RectPlace& at, const backends::Rect& rect,
                      std::span<const std::byte> /*pattern*/) {
    std::vector<NullUse> uses;
    add_rows(uses, use_of(to, 0, 0, true), at, rect);
    return add(NullKind::Fill, std::move(uses), cat("fill ", text_of(rect)));
}

Point NullQueue::call(std::function<void()> callback) {
    const Point point = add(NullKind::Call, {}, "call");
    const backends::TimesScope others({});  // commands that the callback submits are not timed
    callback();
    return point;
}

Point NullQueue::wait_for(backends::Timeline& other, Point point) {
    NullEntry entry;
    entry.kind = NullKind::WaitFor;
    entry.other_point = point;
    const auto* known = dynamic_cast<const NullTimeline*>(&other);
    if (known != nullptr) entry.other_queue = known->queue();
    return add(
        std::move(entry),
        cat("wait_for ", known != nullptr ? cat("q", known->queue()) : "another device's", " ", point));
}

std::unique_ptr<backends::Batch> NullQueue::prepare(backends::BatchPlan plan) {
    return std::make_unique<NullBatch>(std::move(plan));
}

Point NullQueue::submit(backends::Batch& batch, std::uint32_t instances, std::span<const std::byte> values) {
    const auto& known = static_cast<const NullBatch&>(batch);
    if (values.size() != std::size_t{instances} * known.value_bytes())
        fail_internal("a batch was submitted with values of another size", cat(values.size(), " bytes"));
    if (instances == 0) return last();
    NullEntry entry;
    entry.kind = NullKind::Batch;
    entry.commands = known.commands();
    entry.instances = instances;
    entry.values.assign(values.begin(), values.end());
    entry.lines = known.lines();
    const std::size_t count = entry.commands.size();
    const backends::TimesTag times = backends::TimesScope::tag();
    const backends::TimesScope each({});
    const std::int64_t now = times ? backends::steady_now() : 0;
    for (std::uint32_t i = 0; times && i < instances * count; ++i) times.times->ran(i, now, now);
    return add(std::move(entry),
               cat("batch ", count, count == 1 ? " command" : " commands", " x ", instances));
}

Point NullQueue::mark() { return add(NullKind::Mark, {}, "mark"); }

}  // namespace volley::backends::null
