// The hot path is a chain of small launches: a loop of run_kernel() over kernels whose arguments are packed.
// Nothing allocates after the batch has been prepared.
#include "backends/cpu/cpu_batch.hpp"

#include "backends/cpu/cpu_launch.hpp"
#include "backends/cpu/cpu_program.hpp"
#include "backends/cpu/cpu_tasks.hpp"
#include "backends/cpu/cpu_transfer.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace volley::backends::cpu {
namespace {

constexpr double call_ns = 20;  // of an empty command
/// Sequential work goes to another thread if it takes longer than waking that thread.
constexpr double in_line_ns = 50'000;

constexpr std::size_t aligned(std::size_t bytes) { return (bytes + 15) / 16 * 16; }

/// Returns the bytes that a batch stores for a command.
std::size_t kept_bytes(const BatchCommand& command) {
    if (command.kind != BatchKind::Launch) return aligned(command.pattern.size());
    return aligned(static_cast<const CpuProgram&>(*command.program).args().size);
}

/// A command before it is stored. Empty transfers have no pieces.
struct Prepared {
    KernelRun kernel;
    Transfer transfer;
    std::uint32_t pieces = 0;
    double ns = call_ns;
    bool brief = true;
};

Prepared prepare_command(const BatchCommand& command, unsigned threads) {
    Prepared prepared;
    if (command.kind == BatchKind::Launch) {
        prepared.kernel = prepare_launch(command.launch(), threads);
        prepared.pieces = prepared.kernel.pieces.count;
        prepared.brief = prepared.kernel.pieces.brief;
        prepared.ns += estimated_ns(*prepared.kernel.program, command.global);
        return prepared;
    }
    const backends::RectMove& move = command.move;
    if (move.rect.bytes() == 0) return prepared;
    prepared.transfer = command.kind == BatchKind::Copy
                            ? copying(command.to->host(), command.from->host(), move)
                            : filling(command.to->host(), move.to, move.rect, command.pattern);
    prepared.pieces = arrange(prepared.transfer, threads);
    prepared.ns += estimated_ns(prepared.transfer);
    return prepared;
}

}  // namespace

// ---- preparing ----

CpuBatch::CpuBatch(backends::BatchPlan plan, unsigned threads)
    : value_bytes_(plan.value_bytes),
      commands_(static_cast<std::uint32_t>(plan.commands.size())),
      threads_(threads) {
    std::vector<Prepared> prepared;
    std::vector<Weight> weights;
    std::size_t bytes = 0;
    prepared.reserve(plan.commands.size());
    for (const BatchCommand& command : plan.commands) {
        const Prepared& made = prepared.emplace_back(prepare_command(command, threads));
        weights.push_back({made.ns, std::max(made.pieces, 1u)});
        bytes += kept_bytes(command);
        ns_ += made.ns;
        brief_ = brief_ && made.brief;
    }
    const std::vector<TaskPlan> tasks = plan_tasks(plan.commands, weights, threads);
    tasks_ = std::vector<Task>(tasks.size());
    bytes_ = std::make_unique<std::byte[]>(bytes);
    std::byte* place = bytes_.get();
    for (std::size_t t = 0; t < tasks.size(); ++t) {
        tasks_[t].begin = static_cast<std::uint32_t>(steps_.size());
        for (const std::uint32_t c : tasks[t].commands) {
            const BatchCommand& command = plan.commands[c];
            const Prepared& made = prepared[c];
            if (command.kind == BatchKind::Launch) {
                steps_.push_back(add_launch(command, made.kernel, place));
                steps_.back().command = c;
            } else if (made.pieces != 0) {
                steps_.push_back(add_transfer(command, made.transfer, place));
                steps_.back().command = c;
            }
            place += kept_bytes(command);
        }
        tasks_[t].end = static_cast<std::uint32_t>(steps_.size());
    }
    connect(tasks);
}

CpuBatch::Step CpuBatch::add_launch(const BatchCommand& command, KernelRun run, std::byte* args) {
    const CpuProgram& program = *run.program;
    pack_arguments(program, command.args, args);
    for (std::size_t i = 0; i < command.args.size(); ++i) {
        const std::uint32_t from = command.args[i].dynamic;
        if (from == backends::Argument::fixed) continue;
        const auto bytes = static_cast<std::uint32_t>(program.function().params[i].type.size());
        patches_.push_back({args + program.args().offsets[i], from, bytes});
    }
    run.work.args = args;
    kernels_.push_back(run);
    return {CpuCommandKind::Launch, static_cast<std::uint32_t>(kernels_.size() - 1)};
}

CpuBatch::Step CpuBatch::add_transfer(const BatchCommand& command, Transfer transfer, std::byte* pattern) {
    const bool fills = command.kind == BatchKind::Fill;
    if (fills) {
        std::memcpy(pattern, command.pattern.data(), command.pattern.size());
        transfer.from = pattern;
    }
    transfers_.push_back(transfer);
    return {fills ? CpuCommandKind::Fill : CpuCommandKind::Copy,
            static_cast<std::uint32_t>(transfers_.size() - 1)};
}

void CpuBatch::connect(const std::vector<TaskPlan>& plans) {
    std::vector<std::vector<std::uint32_t>> followers(plans.size());
    std::uint32_t shares = 0;
    for (std::uint32_t t = 0; t < plans.size(); ++t) {
        const TaskPlan& plan = plans[t];
        Task& task = tasks_[t];
        task.pieces = plan.weight.pieces;
        task.left = task.pieces;
        task.after = static_cast<std::uint32_t>(plan.after.size());
        task.waiting = task.after;
        for (const std::uint32_t before : plan.after) followers[before].push_back(t);
        if (task.after == 0) roots_.push_back(t);
        const bool follows_last = t == 0 || (task.after == 1 && plan.after[0] == t - 1);
        in_line_ = in_line_ && follows_last && task.pieces == 1;
        if (task.pieces > 1) task.shares_begin = std::exchange(shares, shares + threads_);
    }
    shares_ = std::vector<Share>(shares);
    for (std::size_t t = 0; t < plans.size(); ++t) {
        tasks_[t].followers_begin = static_cast<std::uint32_t>(followers_.size());
        followers_.insert(followers_.end(), followers[t].begin(), followers[t].end());
        tasks_[t].followers_end = static_cast<std::uint32_t>(followers_.size());
        if (followers[t].empty()) ++ends_;
    }
    ready_.resize(2 * plans.size());  // per task the pieces not taken, and one that was put back
}

// ---- on one thread ----

bool CpuBatch::runs_at_once(std::uint32_t instances) const noexcept {
    return brief_ && ns_ * instances <= (in_line_ ? in_line_ns : small_ns);
}

void CpuBatch::run_all(std::span<const std::byte> values, std::uint32_t instances,
                       const backends::TimesTag& times) {
    std::exception_ptr error;
    for (std::uint32_t i = 0; i < instances; ++i) {
        instance_ = i;
        patch(values.data() + i * value_bytes_);
        for (std::uint32_t t = 0; t < tasks_.size(); ++t) {
            for (std::uint32_t piece = 0; piece < tasks_[t].pieces; ++piece) {
                std::exception_ptr failed = run({t, piece}, times);
                if (failed && !error) error = std::move(failed);
            }
        }
    }
    if (error) std::rethrow_exception(error);
}

void CpuBatch::patch(const std::byte* values) noexcept {
    for (const Patch& patch : patches_) std::memcpy(patch.to, values + patch.from, patch.bytes);
}

std::exception_ptr CpuBatch::run(Piece piece, const backends::TimesTag& times) const noexcept {
    const Task& task = tasks_[piece.task];
    std::exception_ptr error;
    for (std::uint32_t i = task.begin; i < task.end; ++i) {
        const std::int64_t begin = times ? backends::steady_now() : 0;
        try {
            run_step(steps_[i], piece.index);
        } catch (...) {
            if (!error) error = std::current_exception();  // only the first is reported; the others still run
        }
        if (times) times.times->ran(instance_ * commands_ + steps_[i].command, begin, backends::steady_now());
    }
    return error;
}

void CpuBatch::run_step(const Step& step, std::uint32_t piece) const {
    switch (step.kind) {
        case CpuCommandKind::Copy: run_copy(transfers_[step.index], piece); break;
        case CpuCommandKind::Fill: run_fill(transfers_[step.index], piece); break;
        default: run_kernel(kernels_[step.index], piece);
    }
}

// ---- by several threads ----

CpuBatch::Next CpuBatch::take(unsigned thread, const std::byte* values, std::uint32_t instances) noexcept {
    if (!begun_) {  // then this is the only claim
        begun_ = true;
        values_ = values;
        instances_ = instances;
        instance_ = 0;
        return begin_instance(thread);
    }
    const std::scoped_lock lock(mutex_);
    return {Next::Kind::Run, pop(thread)};
}

CpuBatch::Piece CpuBatch::pop(unsigned thread) noexcept {
    constexpr std::size_t near = 4;  // looks no further, to keep the lock short
    for (std::size_t place = 0; place < std::min(ready_count_, near); ++place) {
        const Ready ready = ready_at(place);
        if (!ready.shared) continue;
        if (const auto own = take_own(shares_of(tasks_[ready.task]), thread)) {
            took(place);
            return {ready.task, *own};
        }
    }
    const Ready first = ready_at(0);
    took(0);
    return {first.task, first.shared ? take_piece(shares_of(tasks_[first.task]), thread) : first.index};
}

void CpuBatch::took(std::size_t place) noexcept {
    if (--ready_at(place).left != 0) return;
    for (; place > 0; --place) ready_at(place) = ready_at(place - 1);
    first_ready_ = first_ready_ + 1 == ready_.size() ? 0 : first_ready_ + 1;
    --ready_count_;
}

CpuBatch::Next CpuBatch::begin_instance(unsigned thread) noexcept {
    patch(values_);
    values_ += value_bytes_;
    ends_left_.store(ends_, std::memory_order_relaxed);
    Next next;
    for (const std::uint32_t root : roots_) make_ready(root, thread, next);
    return next;
}

CpuBatch::Next CpuBatch::give_back(unsigned thread, Piece piece) noexcept {
    Task& task = tasks_[piece.task];
    if (task.pieces > 1) {
        if (task.left.fetch_sub(1, std::memory_order_acq_rel) != 1) return {};
        task.left.store(task.pieces, std::memory_order_relaxed);
    }
    if (task.followers_begin == task.followers_end) {
        if (ends_ != 1 && ends_left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return {};
        if (--instances_ != 0) {
            ++instance_;
            return begin_instance(thread);
        }
        begun_ = false;
        return {Next::Kind::End, {}};
    }
    Next next;
    // Pending followers keep the batch alive: after the last of them nothing of it is accessed.
    const std::uint32_t* const end = followers_.data() + task.followers_end;
    for (const std::uint32_t* follower = followers_.data() + task.followers_begin; follower != end;
         ++follower) {
        Task& after = tasks_[*follower];
        if (after.after > 1) {
            if (after.waiting.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
            after.waiting.store(after.after, std::memory_order_relaxed);
        }
        make_ready(*follower, thread, next);
    }
    return next;
}

void CpuBatch::make_ready(std::uint32_t index, unsigned thread, Next& next) noexcept {
    Task& task = tasks_[index];
    const bool continues = next.kind == Next::Kind::Nothing;
    const bool shared = task.pieces > 1;
    if (shared) deal(shares_of(task), task.pieces);
    if (continues) {
        next.kind = Next::Kind::Run;
        next.piece = {index, shared ? take_piece(shares_of(task), thread) : 0};
    }
    const std::uint32_t left = task.pieces - (continues ? 1 : 0);
    if (left == 0) return;
    push({.task = index, .left = left, .index = 0, .shared = shared});
    next.claimable += left;
}

void CpuBatch::put_back(Piece piece) noexcept { push({.task = piece.task, .left = 1, .index = piece.index}); }

void CpuBatch::push(Ready ready) noexcept {
    const std::scoped_lock lock(mutex_);
    ready_at(ready_count_) = ready;
    ++ready_count_;
}

}  // namespace volley::backends::cpu
