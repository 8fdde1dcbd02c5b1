// Divides a plan into runs, and places their barriers.
#include "backends/vulkan/vulkan_batch.hpp"

#include "backends/common/pattern.hpp"
#include "backends/vulkan/vulkan_transfer.hpp"

#include <algorithm>
#include <utility>

namespace volley::backends::vulkan {

namespace {

bool has_dynamic_values(const BatchCommand& command) {
    return std::any_of(command.args.begin(), command.args.end(), [](const backends::Argument& argument) {
        return argument.dynamic != backends::Argument::fixed;
    });
}

}  // namespace

VulkanBatch::VulkanBatch(std::shared_ptr<LogicalDevice> device, std::shared_ptr<Heap> host,
                         std::shared_ptr<backends::RectPrograms> rects, backends::BatchPlan plan)
    : device_(std::move(device)),
      plan_(std::move(plan)),
      kept_(backends::keep_values(plan_)),
      pool_(device_) {
    const PhysicalDevice& physical = device_->physical();
    std::vector<ReadyCommand> run;
    std::uint32_t after_barrier = 0;  // the first command after the last barrier
    const auto end_run = [&](std::uint32_t next) {
        after_barrier = next;
        if (run.empty()) return;
        parts_.push_back({std::make_unique<RecordedRun>(pool_, host, rects, std::exchange(run, {}), size()),
                          backends::Launch{}});
    };
    for (std::uint32_t i = 0; i < plan_.commands.size(); ++i) {
        const BatchCommand& command = plan_.commands[i];
        ReadyCommand ready;
        ready.command = &command;
        ready.index = i;
        if (command.kind == BatchKind::Launch) {
            const backends::Launch launch = command.launch();
            const bool dynamic = has_dynamic_values(command);
            ready.launch.emplace(physical, launch, LaunchUse{.patched = dynamic});
            const KernelVariant& kernel = ready.launch->kernel();
            if (kernel.module.reports || !ready.launch->is_patchable()) {
                // Compiles its variants now, as for other commands.
                if (dynamic) static_cast<void>(PlannedLaunch(physical, launch));
                end_run(i + 1);
                parts_.push_back({nullptr, launch, i});
                continue;
            }
            // A kernel may ignore a dynamic argument.
            ready.launch->for_each_dynamic(
                [&](std::uint64_t, const backends::Argument&, std::uint32_t) { ready.patched = true; });
            if (kernel.bindings) {
                ready.set =
                    std::make_unique<BoundSet>(device_, *kernel.bindings, kernel.module.bindings, launch);
            }
        } else if (command.kind == BatchKind::Fill) {
            ready.rows = backends::joined({command.move.rect, command.move.to, command.move.to});
            ready.word = fill_word(of(*command.to), ready.rows, command.pattern, physical.info.software);
            if (!ready.word) ready.seed = backends::seed_of(command.pattern, ready.rows.rect.row);
        }
        // Indirect dependencies are further back than direct ones.
        ready.ordered = std::any_of(command.after.begin(), command.after.end(),
                                    [&](std::uint32_t other) { return other >= after_barrier; });
        if (ready.ordered) after_barrier = i;
        run.push_back(std::move(ready));
    }
    end_run(0);
}

VulkanBatch::~VulkanBatch() {
    // All points count as passed on a lost device, but the driver may still use the command buffers.
    if (device_->lost()) device_->vk.vkDeviceWaitIdle(device_->handle());
}

RecordedRun* VulkanBatch::whole() const noexcept {
    return parts_.size() == 1 ? parts_.front().run.get() : nullptr;
}

std::uint32_t VulkanBatch::barriers() const noexcept {
    std::uint32_t count = 0;
    for (const Part& part : parts_) count += part.run ? part.run->barriers() : 0;
    return count;
}

std::size_t VulkanBatch::recordings() const noexcept {
    std::size_t count = 0;
    for (const Part& part : parts_) count += part.run ? part.run->recordings() : 0;
    return count;
}

}  // namespace volley::backends::vulkan
