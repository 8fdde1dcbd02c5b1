// The hot path is launch() of a small grid on an idle queue followed by wait(): one uncontended lock, the
// arguments packed on the stack, the kernel's call, two stores, one load. Nothing there allocates or makes a
// system call.
#include "backends/cpu/cpu_queue.hpp"

#include "backends/cpu/cpu_batch.hpp"
#include "backends/cpu/cpu_launch.hpp"
#include "backends/cpu/cpu_program.hpp"
#include "core/fail.hpp"

#include <algorithm>
#include <cstring>

namespace volley::backends::cpu {

using backends::Point;

namespace {

constexpr Point backlog = 4096;  // commands that may wait in a queue before the submitting thread helps

}  // namespace

CpuQueue::CpuQueue(std::shared_ptr<CpuPool> pool) : pool_(std::move(pool)) { pool_->add(*this); }

CpuQueue::~CpuQueue() {
    help_until(last(), forever);
    { const std::scoped_lock lock(mutex_); }  // whoever finished the last command has counted our guests
    while (guests_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
    stop_keeper();
    pool_->remove(*this);
    const std::scoped_lock lock(mutex_);  // whoever finished the last command has left by now
}

// ---- submitting ----

CpuCommand* CpuQueue::take_free() {
    if (free_ == nullptr) return &commands_.emplace_back();
    return std::exchange(free_, free_->next);
}

bool CpuQueue::open(CpuCommand* command) noexcept {
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
        // A batch's pieces are counted as they become ready, and have no ends.
        const bool can_cut = command->pieces > 1 && command->pieces <= CpuCommand::most_pieces;
        if (can_cut && command->kind != CpuCommandKind::Batch) word |= CpuCommand::two_ended;
    }
    command->finished.store(0, std::memory_order_relaxed);
    open_.store(command, std::memory_order_release);
    command->claim.store(word, std::memory_order_release);
    return true;
}

void CpuQueue::open_first() noexcept {
    while (first_ != nullptr && !open(first_)) {
        if (first_->times) first_->times.ran(first_->wait.begin, backends::steady_now());
        retire_first();
    }
}

void CpuQueue::retire_first() noexcept {
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

Point CpuQueue::submit(CpuCommand* command, std::unique_lock<std::mutex>& lock) {
    const bool was_idle = idle();
    // Else it is run right here.
    if (is_alone() && !was_idle) need_keeper();
    const Point point = submitted_.load(std::memory_order_relaxed) + 1;
    command->point = point;
    command->next = nullptr;
    if (backends::TimesScope::wanted()) command->times = backends::TimesScope::tag();
    (was_idle ? first_ : last_->next) = command;
    last_ = command;
    if (is_hosts(*command)) hosts_.fetch_add(1, std::memory_order_relaxed);
    submitted_.store(point, std::memory_order_release);
    if (was_idle) open_first();
    if (is_alone()) {
        lock.unlock();
        while (const Claim mine = claim(false)) run(mine, {});  // there is no one else
    } else {
        lock.unlock();
        if (was_idle) pool_->notify();
    }
    return point;
}

Point CpuQueue::pass() noexcept {
    const Point point = submitted_.load(std::memory_order_relaxed) + 1;
    submitted_.store(point, std::memory_order_release);
    completed_.store(point, std::memory_order_release);
    return point;
}

void CpuQueue::make_room() {
    const Point point = last();
    // Behind a function or a wait this might never end: this thread may be what they wait for.
    if (point < completed() + backlog || CpuPool::on_worker() || hosts_.load(std::memory_order_relaxed) != 0)
        return;
    help_until(point - backlog / 2, forever);
}

Point CpuQueue::launch(const backends::Launch& launch) {
    KernelRun run = prepare_launch(launch, pool_->threads());
    const std::size_t size = run.program->args().size;
    std::unique_lock lock(mutex_);
    if (idle() && run.pieces.count == 1 && size <= CpuCommand::inline_bytes) {
        alignas(64) std::byte args[CpuCommand::inline_bytes];
        pack_arguments(*run.program, launch.args, args);
        run.work.args = args;
        return run_here([&] {
            const backends::TimedHere timed;
            run_kernel(run, 0);
        });
    }
    lock.unlock();
    make_room();
    lock.lock();
    CpuCommand* command = take_free();
    command->kind = CpuCommandKind::Launch;
    command->pieces = run.pieces.count;
    command->kernel = run;
    std::byte* args = command->reserve(size);
    pack_arguments(*run.program, launch.args, args);
    command->kernel.work.args = args;
    return submit(command, lock);
}

Point CpuQueue::call(std::function<void()> callback) {
    std::unique_lock lock(mutex_);
    need_keeper();
    CpuCommand* command = take_free();
    command->kind = CpuCommandKind::Call;
    command->pieces = 1;
    command->callback = std::move(callback);
    return submit(command, lock);
}

Point CpuQueue::mark() {
    std::unique_lock lock(mutex_);
    if (idle()) return run_here([] { const backends::TimedHere timed; });
    CpuCommand* command = take_free();
    command->kind = CpuCommandKind::Mark;
    command->pieces = 1;
    return submit(command, lock);
}

std::unique_ptr<backends::Batch> CpuQueue::prepare(backends::BatchPlan plan) {
    return std::make_unique<CpuBatch>(std::move(plan), pool_->threads());
}

Point CpuQueue::submit(backends::Batch& given, std::uint32_t instances, std::span<const std::byte> values) {
    auto& batch = static_cast<CpuBatch&>(given);
    if (batch.empty() || instances == 0) return last();
    if (values.size() < instances * batch.value_bytes()) fail_internal("a batch's instances lack values");
    std::unique_lock lock(mutex_);
    if (idle() && batch.runs_at_once(instances)) {
        return run_here([&] { batch.run_all(values, instances, backends::TimesScope::tag()); });
    }
    lock.unlock();
    make_room();
    lock.lock();
    CpuCommand* command = take_free();
    command->kind = CpuCommandKind::Batch;
    command->pieces = 1;  // whoever claims it begins the first instance, which has more
    command->batch = &batch;
    command->instances = instances;
    std::byte* kept = command->reserve(values.size());
    if (!values.empty()) std::memcpy(kept, values.data(), values.size());
    command->values = kept;
    return submit(command, lock);
}

// ---- running ----

Claim CpuQueue::claim(bool worker, Point until) noexcept {
    CpuCommand* command = open_.load(std::memory_order_acquire);
    if (command == nullptr) return {};
    std::uint64_t word = command->claim.load(std::memory_order_acquire);
    while (CpuCommand::has_piece(word, until)) {
        const std::uint32_t left = CpuCommand::left(word);
        // Threads that wait begin at the front and workers at the back, so that in the next command over the
        // same memory each finds in its own caches what it had in this one.
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

bool CpuQueue::can_claim(Point until) const noexcept {
    const CpuCommand* command = open_.load(std::memory_order_acquire);
    if (command == nullptr) return false;
    return CpuCommand::has_piece(command->claim.load(std::memory_order_acquire), until);
}

bool CpuQueue::can_help(Point until) const noexcept {
    const CpuCommand* command = open_.load(std::memory_order_acquire);
    if (command == nullptr) return false;
    const std::uint64_t word = command->claim.load(std::memory_order_acquire);
    if ((word & CpuCommand::elsewhere) != 0) return !CpuCommand::is_behind(word, until);
    return CpuCommand::has_piece(word, until);
}

void CpuQueue::run_claimed(Claim claim) {
    constexpr int in_a_row = 64;  // commands, or pieces of a batch: then other queues have their turn
    run(claim, {.worker = true, .budget = in_a_row});
}

void CpuQueue::run(Claim mine, Turn turn) {
    while (mine) {
        CpuCommand* command = mine.command;
        if (command->kind == CpuCommandKind::Batch) {
            if (!run_batch(*command, turn)) return;
            mine = finish(command, turn);
            continue;
        }
        const std::uint32_t pieces = command->pieces;
        execute(*command, mine.piece);
        // The next piece is claimed before this one is given back: while one is held, command and queue stay.
        mine = turn.is_late() ? Claim{} : claim(turn.worker, turn.until);
        if (command->finished.fetch_add(1, std::memory_order_acq_rel) + 1 == pieces)
            mine = finish(command, turn);
    }
}

void CpuQueue::execute(CpuCommand& command, std::uint32_t piece) noexcept {
    const std::int64_t begin = command.times ? backends::steady_now() : 0;
    try {
        execute_piece(command, piece);
    } catch (...) {
        errors_.add(command.point, std::current_exception());
    }
    if (command.times) command.times.ran(begin, backends::steady_now());
}

void CpuQueue::execute_piece(CpuCommand& command, std::uint32_t piece) {
    switch (command.kind) {
        case CpuCommandKind::Launch: run_kernel(command.kernel, piece); break;
        case CpuCommandKind::Copy: run_copy(command.transfer, piece); break;
        case CpuCommandKind::Fill: run_fill(command.transfer, piece); break;
        case CpuCommandKind::Call: {
            const std::function<void()> callback = std::move(command.callback);
            command.callback = nullptr;
            // A thread that gives another command may be the one to run this.
            const backends::TimesScope others({});
            callback();
            break;
        }
        // Only the keeper comes here. Errors of others are for those who wait for them.
        case CpuCommandKind::Wait:
            while (!command.wait.timeline->wait_for(command.wait.point, std::chrono::seconds(1))) {
            }
            break;
        case CpuCommandKind::Mark: break;
        case CpuCommandKind::Batch: break;  // run_batch()
    }
}

bool CpuQueue::run_batch(CpuCommand& command, Turn& turn) noexcept {
    using Kind = CpuBatch::Next::Kind;
    CpuBatch& batch = *command.batch;
    CpuBatch::Next next = batch.take(command.values, command.instances);
    for (;;) {
        if (next.claimable != 0) publish(command, next.claimable, false);
        if (std::exception_ptr error = batch.run(next.piece, command.times))
            errors_.add(command.point, std::move(error));
        // As with other pieces, the next one is claimed before this one is given back.
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
            next.claimable += claimed;  // what became ready here is still in this core's caches
        } else {
            next = batch.take(command.values, command.instances);
        }
    }
}

void CpuQueue::publish(CpuCommand& command, std::uint32_t pieces, bool leaves) noexcept {
    CpuPool& pool = *pool_;
    {
        const std::scoped_lock lock(mutex_);
        command.claim.fetch_add(pieces, std::memory_order_release);
        if (sleepers_ > 0) progress_.notify_all();
        if (leaves && is_alone()) keeper_wake_.notify_one();
    }
    // From here on the queue may be gone, unless a piece of it is held.
    pool.notify();
}

Claim CpuQueue::finish(CpuCommand* command, Turn& turn) noexcept {
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
    // From here on the queue may be gone, unless a piece of it is held or somebody is to be told.
    if (more) pool.notify();
    if (passed != nullptr) tell_passed(passed);
    return next;
}

// ---- waiting ----

bool CpuQueue::spin_until(Point point, Deadline end) const noexcept {
    do {
        for (int i = 0; i < 32; ++i) {
            if (completed() >= point || can_help(point)) return true;
            pause();
        }
    } while (Clock::now() < end);
    return false;
}

bool CpuQueue::sleep_until(Point point, Deadline deadline) {
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

bool CpuQueue::help_until(Point point, Deadline deadline) {
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

void CpuQueue::wait(Point point) {
    if (completed() < point) help_until(std::min(point, last()), forever);
    errors_.rethrow(point);
}

bool CpuQueue::wait_for(Point point, std::chrono::nanoseconds timeout) {
    if (completed() >= point) return true;
    const auto now = Clock::now();
    const bool bounded = timeout < forever - now;
    return help_until(std::min(point, last()), bounded ? now + timeout : forever);
}

}  // namespace volley::backends::cpu
