// Submitting, running and waiting. Completing a small command on an idle queue takes two stores, and a wait
// for it one load.
#include "backends/cpu/cpu_timeline.hpp"

#include "backends/common/host_cores.hpp"
#include "backends/cpu/cpu_batch.hpp"
#include "backends/cpu/cpu_program.hpp"

#include <algorithm>
#include <utility>

namespace volley::backends::cpu {

namespace {

constexpr Point backlog = 4096;  // pending commands before the submitting thread helps

}  // namespace

CpuTimeline::CpuTimeline(std::shared_ptr<CpuPool> pool) : pool_(std::move(pool)), shares_(pool_->threads()) {
    pool_->add(*this);
}

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
    pool_->start();  // here, before anything has changed: it may fail
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
        if (command->brief) word |= CpuCommand::brief_pieces;
        if (command->pieces > 1) deal(shares_, command->pieces);
        const bool is_batch = command->kind == CpuCommandKind::Batch;
        const bool for_several = is_batch ? !command->batch->is_in_line() : command->pieces > 1;
        // The pool's thread is the only one that computes: one that waits would be a second.
        if (for_several && pool_->threads() == 1) word |= CpuCommand::workers_only;
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
    const Point point = submitted_.load(std::memory_order_relaxed) + 1;
    command->point = point;
    command->next = nullptr;
    if (backends::TimesScope::requested()) command->times = backends::TimesScope::tag();
    (was_idle ? first_ : last_->next) = command;
    last_ = command;
    if (is_hosts(*command)) hosts_.fetch_add(1, std::memory_order_relaxed);
    submitted_.store(point, std::memory_order_release);
    if (was_idle) open_first();
    lock.unlock();
    if (was_idle) pool_->notify();
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
    if (point < completed() + backlog || CpuPool::thread_number() != 0 || has_host_commands()) return;
    help_until(point - backlog / 2, forever);
}

// ---- running ----

Claim CpuTimeline::claim(const Turn& turn) noexcept {
    CpuCommand* command = open_.load(std::memory_order_acquire);
    if (command == nullptr) return {};
    std::uint64_t word = command->claim.load(std::memory_order_acquire);
    while (turn.can_claim(word)) {
        if (!command->claim.compare_exchange_weak(word, word - 1, std::memory_order_acq_rel,
                                                  std::memory_order_acquire))
            continue;
        // With the claim, the thread may read the command.
        if (command->pieces == 1) return {command, 0};
        return {command, take_piece(shares_, turn.thread)};
    }
    return {};
}

bool CpuTimeline::has_work() const noexcept {
    const CpuCommand* command = open_.load(std::memory_order_acquire);
    return command != nullptr && CpuCommand::left(command->claim.load(std::memory_order_acquire)) != 0;
}

bool CpuTimeline::can_help(const Turn& turn) const noexcept {
    const CpuCommand* command = open_.load(std::memory_order_acquire);
    if (command == nullptr) return false;
    const std::uint64_t word = command->claim.load(std::memory_order_acquire);
    if ((word & CpuCommand::elsewhere) != 0) return !CpuCommand::is_after(word, turn.until);
    return turn.can_claim(word);
}

void CpuTimeline::run_claimed(Claim claim, unsigned worker, Clock::time_point deadline) {
    constexpr int in_a_row = 64;  // commands, or pieces of a batch, before other queues have their turn
    run(claim, {.thread = worker, .budget = in_a_row, .deadline = deadline});
}

void CpuTimeline::run(Claim mine, Turn turn) {
    while (mine) {
        CpuCommand* command = mine.command;
        if (!command->brief && turn.thread != 0) pool_->guard_workers();
        if (command->kind == CpuCommandKind::Batch) {
            if (!run_batch(*command, turn)) return;
            mine = finish(command, turn);
            continue;
        }
        const std::uint32_t pieces = command->pieces;
        execute(*command, mine.piece);
        // Claims the next piece before returning this one: a held piece keeps command and queue alive.
        mine = turn.is_late() ? Claim{} : claim(turn);
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
    CpuBatch::Next next = batch.take(turn.thread, command.values, command.instances);
    for (;;) {
        if (next.claimable != 0) publish(command, next.claimable);
        if (std::exception_ptr error = batch.run(next.piece, command.times))
            errors_.add(command.point, std::move(error));
        // As in run(), claims the next piece before returning this one.
        const std::uint32_t claimed = claim(turn) ? 1 : 0;
        next = batch.give_back(turn.thread, next.piece);
        if (next.kind == Kind::End) return true;
        if (next.kind == Kind::Nothing && claimed == 0) return false;
        if (--turn.budget <= 0 || turn.is_late()) {
            if (next.kind == Kind::Run) {
                batch.put_back(next.piece);
                ++next.claimable;
            }
            publish(command, next.claimable + claimed);
            return false;
        }
        if (next.kind == Kind::Run) {
            next.claimable += claimed;  // prefers what became ready here: it is in this core's caches
        } else {
            next = batch.take(turn.thread, command.values, command.instances);
        }
    }
}

void CpuTimeline::publish(CpuCommand& command, std::uint32_t pieces) noexcept {
    CpuPool& pool = *pool_;
    {
        const std::scoped_lock lock(mutex_);
        command.claim.fetch_add(pieces, std::memory_order_release);
        if (sleepers_ > 0) progress_.notify_all();
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
            if (goes_on) next = claim(turn);
            more = has_work();
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

bool CpuTimeline::spin_until(const Turn& turn, Deadline end) const noexcept {
    do {
        for (int i = 0; i < 32; ++i) {
            if (completed() >= turn.until || can_help(turn)) return true;
            pause();
        }
        backends::HostCoresUse::give_way();
    } while (Clock::now() < end);
    return false;
}

bool CpuTimeline::sleep_until(const Turn& turn) {
    const auto ready = [&] { return completed() >= turn.until || can_help(turn); };
    std::unique_lock lock(mutex_);
    ++sleepers_;
    bool in_time = true;
    if (turn.deadline == forever) {
        progress_.wait(lock, ready);
    } else {
        in_time = progress_.wait_until(lock, turn.deadline, ready);
    }
    --sleepers_;
    return in_time;
}

bool CpuTimeline::help_until(Point point, Deadline deadline) {
    const bool limited = deadline != forever;
    const Turn turn{
        .thread = CpuPool::thread_number(), .until = point, .deadline = deadline, .only_brief = limited};
    while (completed() < point) {
        if (limited && Clock::now() >= deadline) return false;
        if (const Claim mine = claim(turn)) {
            run(mine, turn);
            continue;
        }
        if (can_help(turn)) {
            if (!help_awaited(turn)) pause();
            continue;
        }
        if (!spin_until(turn, std::min(Clock::now() + pool_->spin_time(), deadline))) {
            if (!sleep_until(turn)) return completed() >= point;
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
