// The hot path is launch() of a small grid on an idle queue followed by wait(): one uncontended lock, the
// arguments packed on the stack, the kernel's call, two stores, one load. Nothing there allocates or makes a
// system call.
#include "backends/cpu/cpu_queue.hpp"

#include "backends/cpu/cpu_program.hpp"
#include "core/fail.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace volley::backends::cpu {

using backend::Point;

namespace {

constexpr double small_ns = 8'000;   // cheaper than handing it to another thread
constexpr double piece_ns = 20'000;  // a piece should dwarf the cost of claiming it
constexpr Point backlog = 4096;      // commands that may wait in a queue before the submitting thread helps

/// Packs a launch's arguments into `to`, laid out as the kernel expects them.
void pack_arguments(const CpuProgram& program, std::span<const backend::Argument> args, std::byte* to) {
    const auto& params = program.function().params;
    const auto& offsets = program.args().offsets;
    for (std::size_t i = 0; i < params.size(); ++i) {
        if (params[i].kind == ir::ParamKind::Buffer) {
            const codegen::llvm::BufferArg buffer{args[i].memory->host() + args[i].offset, args[i].elements};
            std::memcpy(to + offsets[i], &buffer, sizeof buffer);
        } else {
            std::memcpy(to + offsets[i], args[i].value, params[i].type.size());
        }
    }
}

bool is_whole(ir::Dim3 global, ir::Dim3 local) {
    return global[0] % local[0] == 0 && global[1] % local[1] == 0 && global[2] % local[2] == 0;
}

std::uint64_t last_cache_bytes() {
    static const std::uint64_t bytes = [] {
        const long size = sysconf(_SC_LEVEL3_CACHE_SIZE);
        return size > 0 ? static_cast<std::uint64_t>(size) : std::uint64_t{32} << 20;
    }();
    return bytes;
}

/// Results larger than the last cache are written past it: what is not read again soon only evicts what is.
bool pays_to_stream(const CpuProgram& program, std::span<const backend::Argument> args) {
    const auto& params = program.function().params;
    for (std::size_t i = 0; i < params.size(); ++i) {
        if (!program.written_only()[i]) continue;
        const auto start = reinterpret_cast<std::uintptr_t>(args[i].memory->host() + args[i].offset);
        if (start % 64 != 0 || args[i].elements * params[i].type.size() <= last_cache_bytes()) return false;
    }
    return true;
}

/// Everything of a launch but its arguments. Compiles the variant if it is new.
KernelRun prepare(const backend::Launch& launch, unsigned threads) {
    const auto& program = static_cast<const CpuProgram&>(*launch.program);
    const ir::Dim3 global = launch.global;
    const ir::Dim3 local = launch.local;
    codegen::llvm::Variant variant;
    variant.local = local;
    variant.full = program.flat() ? global[0] % program.width() == 0 : is_whole(global, local);
    variant.huge = std::any_of(global.begin(), global.end(),
                               [](std::uint32_t n) { return n >= codegen::llvm::huge_extent; });
    variant.streaming = variant.full && program.streams() && pays_to_stream(program, launch.args);
    const codegen::llvm::CompiledKernel& kernel = program.variant(variant);

    KernelRun run;
    run.program = &program;
    run.entry = kernel.entry();
    run.shared_bytes = kernel.shared_bytes();
    run.spill_bytes = kernel.spill_bytes();
    run.pieces = cut(program, global, local, threads);
    std::uint64_t groups = 1;
    for (std::size_t d = 0; d < 3; ++d) {
        run.work.global_size[d] = global[d];
        run.work.group_count[d] =
            static_cast<std::uint32_t>((std::uint64_t{global[d]} + local[d] - 1) / local[d]);
        groups *= run.work.group_count[d];
    }
    if (program.flat()) {
        run.work.end = global[0];
        run.work.row_end = std::uint64_t{global[1]} * global[2];
    } else {
        run.work.end = groups;
    }
    return run;
}

}  // namespace

Pieces cut(const CpuProgram& program, ir::Dim3 global, ir::Dim3 local, unsigned threads) {
    Pieces pieces;
    pieces.grouped = !program.flat();
    const std::uint64_t rows = std::uint64_t{global[1]} * global[2];
    const double total = program.cost() * static_cast<double>(global[0]) * static_cast<double>(rows);
    if (threads == 1 || total < small_ns) return pieces;
    const auto wanted = static_cast<std::uint64_t>(std::clamp(total / piece_ns, 2.0, 16.0 * threads));
    const auto ceil_div = [](std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; };
    if (pieces.grouped) {
        std::uint64_t groups = 1;
        for (std::size_t d = 0; d < 3; ++d) groups *= ceil_div(global[d], local[d]);
        pieces.rows = ceil_div(groups, wanted);
        pieces.count = static_cast<std::uint32_t>(ceil_div(groups, pieces.rows));
    } else if (rows >= wanted) {
        pieces.rows = ceil_div(rows, wanted);
        pieces.count = static_cast<std::uint32_t>(ceil_div(rows, pieces.rows));
    } else {
        // Whole cache lines of every element type, so that no two threads write to one.
        const std::uint64_t unit = std::max<std::uint64_t>(64, program.width());
        pieces.segment = ceil_div(ceil_div(global[0], ceil_div(wanted, rows)), unit) * unit;
        pieces.segments = ceil_div(global[0], pieces.segment);
        pieces.count = static_cast<std::uint32_t>(rows * pieces.segments);
    }
    return pieces;
}

CpuQueue::CpuQueue(std::shared_ptr<CpuPool> pool) : pool_(std::move(pool)) {
    errors_.reserve(64);  // keeping an error never allocates
    pool_->add(*this);
}

CpuQueue::~CpuQueue() {
    help_until(last(), forever);
    pool_->remove(*this);
    const std::scoped_lock lock(mutex_);  // whoever finished the last command has left by now
}

// ---- submitting ----

Command* CpuQueue::take_free() {
    if (free_ == nullptr) return &commands_.emplace_back();
    return std::exchange(free_, free_->next);
}

void CpuQueue::open(Command* command) noexcept {
    command->finished.store(0, std::memory_order_relaxed);
    open_.store(command, std::memory_order_release);
    const std::uint32_t only = command->kind == CommandKind::Call ? Command::workers_only : 0;
    command->claim.store(command->pieces | only, std::memory_order_release);
}

Point CpuQueue::submit(Command* command, std::unique_lock<std::mutex>& lock) {
    const Point point = submitted_.load(std::memory_order_relaxed) + 1;
    command->point = point;
    command->next = nullptr;
    const bool was_idle = idle();
    (was_idle ? first_ : last_->next) = command;
    last_ = command;
    submitted_.store(point, std::memory_order_release);
    if (was_idle) open(command);
    lock.unlock();
    if (pool_->workers() == 0) {
        while (const Claim mine = claim(true)) run(mine, point, 1);  // there is no one else
    } else if (was_idle) {
        pool_->notify();
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
    const Point point = submitted_.load(std::memory_order_relaxed);
    if (point - completed() < backlog || CpuPool::on_worker()) return;
    help_until(point - backlog / 2, forever);
}

Point CpuQueue::launch(const backend::Launch& launch) {
    KernelRun run = prepare(launch, pool_->threads());
    const std::size_t size = run.program->args().size;
    std::unique_lock lock(mutex_);
    if (idle() && run.pieces.count == 1 && size <= Command::inline_bytes) {
        alignas(64) std::byte args[Command::inline_bytes];
        pack_arguments(*run.program, launch.args, args);
        run.work.args = args;
        return run_here([&] { run_kernel(run, 0); });
    }
    lock.unlock();
    make_room();
    lock.lock();
    Command* command = take_free();
    command->kind = CommandKind::Launch;
    command->pieces = run.pieces.count;
    command->kernel = run;
    std::byte* args = command->reserve(size);
    pack_arguments(*run.program, launch.args, args);
    command->kernel.work.args = args;
    return submit(command, lock);
}

Point CpuQueue::call(std::function<void()> callback) {
    std::unique_lock lock(mutex_);
    Command* command = take_free();
    command->kind = CommandKind::Call;
    command->pieces = 1;
    command->callback = std::move(callback);
    return submit(command, lock);
}

Point CpuQueue::wait_for(backend::Timeline& other, Point point) {
    if (other.completed() >= point || &other == this) return last();
    std::unique_lock lock(mutex_);
    Command* command = take_free();
    command->kind = CommandKind::Wait;
    command->pieces = 1;
    command->awaited = &other;
    command->awaited_point = point;
    return submit(command, lock);
}

// ---- running ----

Claim CpuQueue::claim(bool worker) noexcept {
    Command* command = open_.load(std::memory_order_acquire);
    if (command == nullptr) return {};
    std::uint32_t word = command->claim.load(std::memory_order_acquire);
    for (;;) {
        const std::uint32_t left = word & ~Command::workers_only;
        if (left == 0 || (left != word && !worker)) return {};
        if (command->claim.compare_exchange_weak(word, word - 1, std::memory_order_acq_rel,
                                                 std::memory_order_acquire)) {
            return {command, command->pieces - left};
        }
    }
}

bool CpuQueue::can_claim(bool worker) const noexcept {
    const Command* command = open_.load(std::memory_order_acquire);
    if (command == nullptr) return false;
    const std::uint32_t word = command->claim.load(std::memory_order_acquire);
    const std::uint32_t left = word & ~Command::workers_only;
    return left != 0 && (left == word || worker);
}

bool CpuQueue::has_work() const noexcept { return can_claim(true); }

void CpuQueue::run_claimed(Claim claim) {
    constexpr int commands_in_a_row = 64;  // then other queues have their turn
    run(claim, ~Point{0}, commands_in_a_row);
}

void CpuQueue::run(Claim mine, Point until, int budget) {
    const bool worker = is_worker();
    while (mine) {
        Command* command = mine.command;
        const std::uint32_t pieces = command->pieces;
        execute(*command, mine.piece);
        // The next piece is claimed before this one is given back: while one is held, command and queue stay.
        mine = claim(worker);
        if (command->finished.fetch_add(1, std::memory_order_acq_rel) + 1 == pieces) {
            mine = finish(command, --budget > 0 && command->point < until);
        }
    }
}

void CpuQueue::execute(Command& command, std::uint32_t piece) noexcept {
    try {
        switch (command.kind) {
            case CommandKind::Launch: run_kernel(command.kernel, piece); break;
            case CommandKind::Copy: run_copy(command.transfer, piece); break;
            case CommandKind::Fill: run_fill(command.transfer, piece); break;
            case CommandKind::Call: {
                const std::function<void()> callback = std::move(command.callback);
                command.callback = nullptr;
                callback();
                break;
            }
            // Another CPU queue is helped meanwhile, so this wait ends even if this is the only thread. Its
            // errors are for those who wait for it.
            case CommandKind::Wait:
                while (!command.awaited->wait_for(command.awaited_point, std::chrono::seconds(1))) {
                }
                break;
        }
    } catch (...) {
        const std::scoped_lock lock(mutex_);
        add_error(command.point, std::current_exception());
    }
}

Claim CpuQueue::finish(Command* command, bool go_on) noexcept {
    CpuPool& pool = *pool_;
    Claim next;
    bool more = false;
    {
        const std::scoped_lock lock(mutex_);
        first_ = command->next;
        if (first_ == nullptr) {
            last_ = nullptr;
            open_.store(nullptr, std::memory_order_release);
        }
        completed_.store(command->point, std::memory_order_release);
        command->next = free_;
        free_ = command;
        if (first_ != nullptr) {
            open(first_);
            if (go_on) next = claim(is_worker());
            more = has_work();
        }
        if (sleepers_ > 0) progress_.notify_all();
    }
    // From here on the queue may be gone, unless a piece of it is held.
    if (more) pool.notify();
    return next;
}

void CpuQueue::add_error(Point point, std::exception_ptr error) noexcept {
    // The pieces of one command fail together: its first error stands for all.
    const auto same = [point](const auto& known) { return known.first == point; };
    if (std::any_of(errors_.begin(), errors_.end(), same)) return;
    if (errors_.size() == errors_.capacity())
        errors_.erase(errors_.begin());  // nobody asks: forget the oldest
    errors_.emplace_back(point, std::move(error));
    failed_.store(true, std::memory_order_release);
}

// ---- waiting ----

bool CpuQueue::spin_until(Point point, Deadline end, bool worker) const noexcept {
    do {
        for (int i = 0; i < 32; ++i) {
            if (completed() >= point || can_claim(worker)) return true;
            pause();
        }
    } while (Clock::now() < end);
    return false;
}

bool CpuQueue::sleep_until(Point point, Deadline deadline) {
    const bool worker = is_worker();
    const auto ready = [&] { return completed() >= point || can_claim(worker); };
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
    const bool worker = is_worker();
    while (completed() < point) {
        if (const Claim mine = claim(worker)) {
            run(mine, point, std::numeric_limits<int>::max());
            continue;
        }
        if (deadline != forever && Clock::now() >= deadline) return false;
        if (!spin_until(point, std::min(Clock::now() + spin_time, deadline), worker)) {
            if (!sleep_until(point, deadline)) return completed() >= point;
        }
    }
    return true;
}

void CpuQueue::throw_error(Point point) {
    std::exception_ptr error;
    {
        const std::scoped_lock lock(mutex_);
        const auto found =
            std::find_if(errors_.begin(), errors_.end(), [&](const auto& e) { return e.first <= point; });
        if (found == errors_.end()) return;
        error = found->second;
        errors_.erase(found);
        failed_.store(!errors_.empty(), std::memory_order_release);
    }
    std::rethrow_exception(error);
}

void CpuQueue::wait(Point point) {
    if (completed() < point) help_until(std::min(point, last()), forever);
    if (failed_.load(std::memory_order_acquire)) throw_error(point);
}

bool CpuQueue::wait_for(Point point, std::chrono::nanoseconds timeout) {
    if (completed() >= point) return true;
    const auto now = Clock::now();
    const bool bounded = timeout < forever - now;
    return help_until(std::min(point, last()), bounded ? now + timeout : forever);
}

}  // namespace volley::backends::cpu
