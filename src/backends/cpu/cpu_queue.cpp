// Launches, callbacks and batches. The hot path is launch() of a small grid on an idle queue followed by a
// wait: one uncontended lock, the arguments packed on the stack, the kernel's call, two stores, one load. It
// neither allocates nor makes a system call.
#include "backends/cpu/cpu_queue.hpp"

#include "backends/cpu/cpu_batch.hpp"
#include "backends/cpu/cpu_launch.hpp"
#include "backends/cpu/cpu_program.hpp"
#include "core/fail.hpp"

#include <cstring>
#include <utility>

namespace volley::backends::cpu {

Point CpuQueue::launch(const backends::Launch& launch) {
    KernelRun run = prepare_launch(launch, timeline_.threads());
    const std::size_t size = run.program->args().size;
    CpuTimeline::Lock lock = timeline_.lock();
    if (timeline_.idle() && run.pieces.small && size <= CpuCommand::inline_bytes) {
        alignas(64) std::byte args[CpuCommand::inline_bytes];
        pack_arguments(*run.program, launch.args, args);
        run.work.args = args;
        return timeline_.run_here([&] {
            const backends::TimedHere timed;
            run_kernel(run, 0);
        });
    }
    lock.unlock();
    timeline_.make_room();
    lock.lock();
    CpuCommand* command = timeline_.take_free();
    command->kind = CpuCommandKind::Launch;
    command->pieces = run.pieces.count;
    command->brief = run.pieces.brief;
    command->kernel = run;
    std::byte* args = command->reserve(size);
    pack_arguments(*run.program, launch.args, args);
    command->kernel.work.args = args;
    return timeline_.submit(command, lock);
}

Point CpuQueue::call(std::function<void()> callback) {
    CpuTimeline::Lock lock = timeline_.lock();
    timeline_.need_keeper();
    CpuCommand* command = timeline_.take_free();
    command->kind = CpuCommandKind::Call;
    command->pieces = 1;
    command->callback = std::move(callback);
    return timeline_.submit(command, lock);
}

Point CpuQueue::wait_for(backends::Timeline& other, Point point) { return timeline_.follow(other, point); }

Point CpuQueue::mark() {
    CpuTimeline::Lock lock = timeline_.lock();
    if (timeline_.idle()) return timeline_.run_here([] { const backends::TimedHere timed; });
    CpuCommand* command = timeline_.take_free();
    command->kind = CpuCommandKind::Mark;
    command->pieces = 1;
    command->brief = true;
    return timeline_.submit(command, lock);
}

std::unique_ptr<backends::Batch> CpuQueue::prepare(backends::BatchPlan plan) {
    return std::make_unique<CpuBatch>(std::move(plan), timeline_.threads());
}

Point CpuQueue::submit(backends::Batch& given, std::uint32_t instances, std::span<const std::byte> values) {
    auto& batch = static_cast<CpuBatch&>(given);
    if (batch.empty() || instances == 0) return last();
    if (values.size() < instances * batch.value_bytes()) fail_internal("a batch's instances lack values");
    CpuTimeline::Lock lock = timeline_.lock();
    if (timeline_.idle() && batch.runs_at_once(instances)) {
        return timeline_.run_here([&] { batch.run_all(values, instances, backends::TimesScope::tag()); });
    }
    lock.unlock();
    timeline_.make_room();
    lock.lock();
    CpuCommand* command = timeline_.take_free();
    command->kind = CpuCommandKind::Batch;
    command->pieces = 1;  // the claiming thread begins the first instance, which adds more
    command->brief = batch.is_brief();
    command->batch = &batch;
    command->instances = instances;
    std::byte* kept = command->reserve(values.size());
    if (!values.empty()) std::memcpy(kept, values.data(), values.size());
    command->values = kept;
    return timeline_.submit(command, lock);
}

}  // namespace volley::backends::cpu
