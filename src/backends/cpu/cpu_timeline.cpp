// Submitting, running and waiting. Completing a small command on an idle queue takes two stores, and a wait
// for it one load.
#include "backends/cpu/cpu_timeline.hpp"

#include "backends/common/host_cores.hpp"
#include "backends/cpu/cpu_batch.hpp"
#include "backends/cpu/cpu_program.hpp"

#include <algorithm>
#include <utility>

namespace volley::backends::cpu {

using backends::Point;

namespace {

constexpr Point backlog = 4096;  // pending commands before the submitting thread helps

}  // namespace

CpuTimeline::CpuTimeline(std::shared_ptr<CpuPool> pool) : pool_(std::move(pool)) { pool_->add(*this); }

CpuTimeline::~CpuTimeline() {
    help_until(last(), forever);
    { const std::scoped_lock lock(mutex_); }  // the thread that finished the last command has counted guests_
    while (guests_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
    stop_keeper();
    pool_->remove(*this);
    const std::scoped_lock lock(mutex_);  // the thread that finished the last command has left by now
}

// ---- submitting ----

CpuCommand* CpuTimeline::take_free() {
    if (free_ == nullptr) return &commands_.emplace_back();
    return std::exchange(free_, free_->next);
}

bool CpuTimeline::open(CpuCommand* command) noexcept {
    std::uint64_t word = CpuCommand::word_of(command->point);
    if (command->kind == CpuCommandKind::Wait) {
        Wait& wait = command->wait;
        if (wait.queue == nullptr) wait.passed = wait.timeline->completed() >= wait.point;
        if (command->times) wait.begin = backends::steady_now();
        if (wait.passed) return false;
        if (wait.queue != nullptr) {
            word |= CpuCommand::elsewhere;
        } else {
            keep(command);
        }
    } else if (command->kind == CpuCommandKind::Call) {
        keep(command);
    } else {
        word |= command->pieces;
        // The pieces of a batch are counted as they become ready, so they have no front and back.
        const bool can_cut = command->pieces > 1 && command->pieces <= CpuCommand::most_pieces;
        if (can_cut && command->kind != CpuCommandKind::Batch) word |= CpuCommand::two_ended;
    }
    command->finished.store(0, std::memory_order_relaxed);
    open_.store(command, std::memory_order_release);
    command->claim.store(word, std::memory_order_release);
    return true;
}

void CpuTimeline::open_first() noexcept {
    while (first_ != nullptr && !open(first_)) {
        if (first_->times) first_->times.ran(first_->wait.begin, backends::steady_now());
        retire_first();
    }
}

void CpuTimeline::retire_first() noexcept {
    CpuCommand* command = first_;
    first_ = command->next;
    if (is_hosts(*command)) hosts_.fetch_sub(1, std::memory_order_relaxed);
    if (first_ == nullptr) {
        last_ = nullptr;
        open_.store(nullptr, std::memory_order_release);
    }
    command->claim.store(0, std::memory_order_relaxed);
    completed_.store(command->point, std::memory_order_release);
    if (command->times) command->times = {};
    command->next = free_;
    free_ = command;
}

Point CpuTimeline::submit(CpuCommand* command, Lock& lock) {
    const bool was_idle = idle();
    // On an idle queue the command runs below.
    if (is_alone() && !was_idle) need_keeper();
    const Point point = submitted_.load(std::memory_order_relaxed) + 1;
    command->point = point;
    command->next = nullptr;
    if (backends::TimesScope::requested()) command->times = backends::TimesScope::tag();
    (was_idle ? first_ : last_->next) = command;
    last_ = command;
    if (is_hosts(*command)) hosts_.fetch_add(1, std::memory_order_relaxed);
    submitted_.store(point, std::memory_order_release);
    if (was_idle) open_first();
    if (is_alone()) {
        lock.unlock();
        while (const Claim mine = claim(false)) run(mine, {});  // no other thread does
    } else {
        lock.unlock();
        if (was_idle) pool_->notify();
    }
    return point;
}

Point CpuTimeline::pass() noexcept {
    const Point point = submitted_.load(std::memory_order_relaxed) + 1;
    submitted_.store(point, std::memory_order_release);
    completed_.store(point, std::memory_order_release);
    return point;
}

void CpuTimeline::make_room() {
    const Point point = last();
    // After a callback or a wait this might never end: they may depend on this thread.
    if (point < completed() + backlog || CpuPool::on_worker() || has_host_commands()) return;
    help_until(point - backlog / 2, forever);
}

// ---- running ----

Claim CpuTimeline::claim(bool worker, Point until) noexcept {
    CpuCommand* command = open_.load(std::memory_order_acquire);
    if (command == nullptr) return {};
    std::uint64_t word = command->claim.load(std::memory_order_acquire);
    while (CpuCommand::has_piece(word, until)) {
        const std::uint32_t left = CpuCommand::left(word);
        // Waiting threads begin at the front and workers at the back, so that in the next command over the
        // same memory each finds in its caches what it used in this one.
        const bool two_ended = (word & CpuCommand::two_ended) != 0;
        const std::uint32_t front = static_cast<std::uint32_t>(word) >> CpuCommand::front_shift;
        const std::uint64_t taken = two_ended && !worker ? 1u << CpuCommand::front_shift : 0;
        if (command->claim.compare_exchange_weak(word, word - 1 + taken, std::memory_order_acq_rel,
                                                 std::memory_order_acquire)) {
            if (!two_ended) return {command, command->pieces - left};
            return {command, worker ? front + left - 1 : front};
        }
    }
    return {};
}

bool CpuTimeline::can_claim(Point until) const noexcept {
    const CpuCommand* command = open_.load(std::memory_order_acquire);
    if (command == nullptr) return false;
    return CpuCommand::has_piece(command->claim.load(std::memory_order_acquire), until);
}

bool CpuTimeline::can_help(Point until) const noexcept {
    const CpuCommand* command = open_.load(std::memory_order_acquire);
    if (command == nullptr) return false;
    const std::uint64_t word = command->claim.load(std::memory_order_acquire);
    if ((word & CpuCommand::elsewhere) != 0) return !CpuCommand::is_after(word, until);
    return CpuCommand::has_piece(word, until);
}

void CpuTimeline::run_claimed(Claim claim) {
    constexpr int in_a_row = 64;  // commands, or pieces of a batch, before other queues have their turn
    run(claim, {.worker = true, .budget = in_a_row});
}

void CpuTimeline::run(Claim mine, Turn turn) {
    while (mine) {
        CpuCommand* command = mine.command;
        if (command->kind == CpuCommandKind::Batch) {
            if (!run_batch(*command, turn)) return;
            mine = finish(command, turn);
            continue;
        }
        const std::uint32_t pieces = command->pieces;
        execute(*command, mine.piece);
        // Claims the next piece before returning this one: a held piece keeps command and queue alive.
        mine = turn.is_late() ? Claim{} : claim(turn.worker, turn.until);
        if (command->finished.fetch_add(1, std::memory_order_acq_rel) + 1 == pieces)
            mine = finish(command, turn);
    }
}

void CpuTimeline::execute(CpuCommand& command, std::uint32_t piece) noexcept {
    const std::int64_t begin = command.times ? backends::steady_now() : 0;
    try {
        execute_piece(command, piece);
    } catch (...) {
        errors_.add(command.point, std::current_exception());
    }
    if (command.times) command.times.ran(begin, backends::steady_now());
}

void CpuTimeline::execute_piece(CpuCommand& command, std::uint32_t piece) {
    switch (command.kind) {
        case CpuCommandKind::Launch: run_kernel(command.kernel, piece); break;
        case CpuCommandKind::Copy: run_copy(command.transfer, piece); break;
        case CpuCommandKind::Fill: run_fill(command.transfer, piece); break;
        case CpuCommandKind::Call: {
            const std::function<void()> callback = std::move(command.callback);
            command.callback = nullptr;
            // The thread that runs this may be in the middle of timing another command.
            const backends::TimesScope others({});
            callback();
            break;
        }
        // Only the keeper runs this. Errors of the other queue are thrown by its own waits.
        case CpuCommandKind::Wait:
            while (!command.wait.timeline->wait_for(command.wait.point, std::chrono::seconds(1))) {
            }
            break;
        case CpuCommandKind::Mark: break;
        case CpuCommandKind::Batch: break;  // run_batch()
    }
}

bool CpuTimeline::run_batch(CpuCommand& command, Turn& turn) noexcept {
    using Kind = CpuBatch::Next::Kind;
    CpuBatch& batch = *command.batch;
    CpuBatch::Next next = batch.take(command.values, command.instances);
    for (;;) {
        if (next.claimable != 0) publish(command, next.claimable, false);
        if (std::exception_ptr error = batch.run(next.piece, command.times))
            errors_.add(command.point, std::move(error));
        // As in run(), claims the next piece before returning this one.
        const std::uint32_t claimed = claim(turn.worker, turn.until) ? 1 : 0;
        next = batch.give_back(next.piece);
        if (next.kind == Kind::End) return true;
        if (next.kind == Kind::Nothing && claimed == 0) return false;
        if (--turn.budget <= 0 || turn.is_late()) {
            if (next.kind == Kind::Run) {
                batch.put_back(next.piece);
                ++next.claimable;
            }
            publish(command, next.claimable + claimed, true);
            return false;
        }
        if (next.kind == Kind::Run) {
            next.claimable += claimed;  // prefers what became ready here: it is in this core's caches
        } else {
            next = batch.take(command.values, command.instances);
        }
    }
}

void CpuTimeline::publish(CpuCommand& command, std::uint32_t pieces, bool leaves) noexcept {
    CpuPool& pool = *pool_;
    {
        const std::scoped_lock lock(mutex_);
        command.claim.fetch_add(pieces, std::memory_order_release);
        if (sleepers_ > 0) progress_.notify_all();
        if (leaves && is_alone()) keeper_wake_.notify_one();
    }
    // From here on the queue may be destroyed, unless this thread holds a piece of it.
    pool.notify();
}

Claim CpuTimeline::finish(CpuCommand* command, Turn& turn) noexcept {
    CpuPool& pool = *pool_;
    const bool goes_on = --turn.budget > 0 && !turn.is_late();
    Claim next;
    bool more = false;
    CpuCommand* passed = nullptr;
    command->let_go();
    {
        const std::scoped_lock lock(mutex_);
        retire_first();
        open_first();
        if (first_ != nullptr) {
            if (goes_on) next = claim(turn.worker, turn.until);
            more = has_work();
            if (more && !next && is_alone()) keeper_wake_.notify_one();
        }
        if (sleepers_ > 0) progress_.notify_all();
        if (waits_ != nullptr) passed = take_passed();
    }
    // From here on the queue may be destroyed, unless this thread holds a piece of it or a wait to notify.
    if (more) pool.notify();
    if (passed != nullptr) notify_passed(passed);
    return next;
}

// ---- waiting ----

bool CpuTimeline::spin_until(Point point, Deadline end) const noexcept {
    do {
        for (int i = 0; i < 32; ++i) {
            if (completed() >= point || can_help(point)) return true;
            pause();
        }
        backends::HostCoresUse::give_way();
    } while (Clock::now() < end);
    return false;
}

bool CpuTimeline::sleep_until(Point point, Deadline deadline) {
    const auto ready = [&] { return completed() >= point || can_help(point); };
    std::unique_lock lock(mutex_);
    ++sleepers_;
    bool in_time = true;
    if (deadline == forever) {
        progress_.wait(lock, ready);
    } else {
        in_time = progress_.wait_until(lock, deadline, ready);
    }
    --sleepers_;
    return in_time;
}

bool CpuTimeline::help_until(Point point, Deadline deadline) {
    const bool worker = CpuPool::on_worker();
    while (completed() < point) {
        if (deadline != forever && Clock::now() >= deadline) return false;
        if (const Claim mine = claim(worker, point)) {
            run(mine, {.worker = worker, .until = point, .deadline = deadline});
            continue;
        }
        if (can_help(point)) {
            if (!help_awaited(point, deadline)) pause();
            continue;
        }
        if (!spin_until(point, std::min(Clock::now() + spin_time, deadline))) {
            if (!sleep_until(point, deadline)) return completed() >= point;
        }
    }
    return true;
}

void CpuTimeline::wait(Point point) {
    if (completed() < point) help_until(std::min(point, last()), forever);
    errors_.rethrow(point);
}

bool CpuTimeline::wait_for(Point point, std::chrono::nanoseconds timeout) {
    if (completed() >= point) return true;
    const auto now = Clock::now();
    const bool bounded = timeout < forever - now;
    return help_until(std::min(point, last()), bounded ? now + timeout : forever);
}

}  // namespace volley::backends::cpu
