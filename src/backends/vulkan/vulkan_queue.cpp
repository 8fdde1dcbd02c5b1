// Launches, batches and host commands. The hot path is launch(): one lock, the arguments packed on the stack,
// five recording calls and one submission. It does not allocate.
#include "backends/vulkan/vulkan_queue.hpp"

#include "backends/vulkan/vulkan_batch.hpp"
#include "backends/vulkan/vulkan_times.hpp"

#include <algorithm>
#include <vector>

namespace volley::backends::vulkan {

namespace {

constexpr std::size_t backlog = 1024;     // pending points before the submitting thread waits
constexpr std::size_t few_commands = 32;  // pending before the driver is asked which have completed
constexpr std::uint64_t argument_ring = std::uint64_t{1} << 20;

}  // namespace

VulkanQueue::VulkanQueue(std::shared_ptr<LogicalDevice> device, std::shared_ptr<Heap> host,
                         std::shared_ptr<backends::RectPrograms> rects, const QueueOptions& options)
    : device_(std::move(device)),
      host_(std::move(host)),
      rects_(std::move(rects)),
      options_(options),
      queue_(device_->next_queue()),
      reports_([heap = host_](std::uint64_t bytes) {
          auto memory = std::make_unique<VulkanMemory>(heap, bytes);
          std::byte* mapped = memory->mapped();
          return std::make_unique<backends::ReportBuffer>(std::move(memory), mapped);
      }),
      timeline_(device_, reports_),
      commands_(device_),
      host_commands_(mutex_, timeline_),
      staging_(host_, options_.staging_bytes, timeline_, host_commands_),
      arguments_(host_, argument_ring, timeline_, host_commands_) {}

VulkanQueue::~VulkanQueue() {
    timeline_.await(timeline_.last(), VulkanTimeline::forever);
    host_commands_.stop();
    if (device_->lost()) device_->vk.vkDeviceWaitIdle(device_->handle());
}

// ---- submitting ----

void VulkanQueue::make_room(Lock& lock) {
    const auto has_room = [&] {
        return commands_.in_flight() < backlog && timeline_.last() - timeline_.reached() < backlog;
    };
    if (has_room()) return;
    commands_.pass(timeline_.completed());
    // With host commands pending, waiting might never end: a callback may be the submitting thread.
    if (has_room() || !host_commands_.empty()) return;
    const Point point = timeline_.last() - backlog / 2;
    lock.unlock();
    timeline_.await(point, VulkanTimeline::forever);
    lock.lock();
    device_->check_lost();
    commands_.pass(timeline_.completed());
}

bool VulkanQueue::needs_barrier(Point after) const noexcept {
    const Point last = std::min(after, timeline_.last());
    if (last <= ordered_) return false;
    // Completed work needs no ordering, but a device with its own caches still has to make it visible.
    return !is_software() || last > timeline_.reached();
}

VulkanCommand& VulkanQueue::begin(Point after) {
    if (!commands_.has_free() && commands_.in_flight() >= few_commands) commands_.pass(timeline_.completed());
    if (!backends::TimesScope::requested()) return commands_.begin(needs_barrier(after));
    calibrate();
    const auto times = std::make_shared<TimedCommands>(device_, 1);
    VulkanCommand& command = commands_.begin(needs_barrier(after));
    const bool overlaps = !command.ordered && after < timeline_.last();
    times->begin(command.buffer, backends::TimesScope::tag(),
                 command.ordered ? TimedPlace::Ordered
                 : overlaps      ? TimedPlace::Overlapping
                                 : TimedPlace::Free);
    command.times = times;
    return command;
}

void VulkanQueue::calibrate() { calibrate_clock(*device_, queue_, commands_, idle()); }

backends::Epilogue VulkanQueue::timing_epilogue(std::shared_ptr<TimedCommands> times) {
    backends::Epilogue epilogue;
    epilogue.report_times = [this, kept = std::move(times)] { kept->report(timeline_.times()); };
    return epilogue;
}

void VulkanQueue::submit_to_device(std::span<const VkCommandBuffer> buffers, Point point, VkSemaphore wait,
                                   Point wait_point) {
    VkSemaphore signal = timeline_.semaphore();
    constexpr VkPipelineStageFlags stages = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const std::uint32_t waits = wait == VK_NULL_HANDLE ? 0 : 1;
    auto values = structure<VkTimelineSemaphoreSubmitInfo>(VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
    values.waitSemaphoreValueCount = waits;
    values.pWaitSemaphoreValues = &wait_point;
    values.signalSemaphoreValueCount = 1;
    values.pSignalSemaphoreValues = &point;
    auto info = structure<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
    info.pNext = &values;
    info.waitSemaphoreCount = waits;
    info.pWaitSemaphores = &wait;
    info.pWaitDstStageMask = &stages;
    info.commandBufferCount = static_cast<std::uint32_t>(buffers.size());
    info.pCommandBuffers = buffers.data();
    info.signalSemaphoreCount = 1;
    info.pSignalSemaphores = &signal;
    VkResult result = VK_SUCCESS;
    {
        const std::scoped_lock lock(queue_.mutex);
        result = device_->vk.vkQueueSubmit(queue_.handle, 1, &info, VK_NULL_HANDLE);
    }
    device_->check(result, "vkQueueSubmit");
}

Point VulkanQueue::hand_over(std::span<const VkCommandBuffer> buffers, bool ordered) {
    const Point point = timeline_.last() + 1;
    if (host_commands_.empty()) {
        submit_to_device(buffers, point);
        timeline_.submitted(point);
    } else {
        host_commands_.defer(point, [this, kept = std::vector(buffers.begin(), buffers.end()), point] {
            submit_to_device(kept, point);
        });
        timeline_.issue(point);
    }
    // If a deferred submission fails, the host waits for everything before it instead.
    if (ordered) ordered_ = point - 1;
    return point;
}

Point VulkanQueue::submit(VulkanCommand& command, backends::Epilogue* epilogue) {
    bool added = false;
    try {
        backends::Epilogue timing;
        if (command.times) {
            command.times->end(command.buffer);
            timing = timing_epilogue(std::move(command.times));
            if (epilogue == nullptr) {
                epilogue = &timing;
            } else {
                epilogue->report_times = std::move(timing.report_times);
            }
        }
        commands_.end(command);
        if (epilogue != nullptr) {
            epilogue->point = timeline_.last() + 1;
            timeline_.add(std::move(*epilogue));
            added = true;
        }
        const Point point = hand_over(std::span(&command.buffer, 1), command.ordered);
        commands_.keep(command, point);
        return point;
    } catch (...) {
        if (added) timeline_.cancel();
        commands_.abandon(command);
        throw;
    }
}

Point VulkanQueue::launch(const backends::Launch& requested) { return launch(requested, nullptr); }

Point VulkanQueue::launch(const backends::Launch& requested, const std::byte* values) {
    const PlannedLaunch planned(device_->physical(), requested);
    const KernelVariant& kernel = planned.kernel();
    ArgumentSource source;
    source.values = values;
    std::unique_ptr<backends::ReportBuffer> reports;
    if (kernel.module.reports) {
        const std::uint64_t count =
            std::uint64_t{requested.global[0]} * requested.global[1] * requested.global[2];
        reports = reports_.take(kernel.print_bytes, count);
        reports->arm();
        source.reports = static_cast<const VulkanMemory&>(reports->memory()).address();
    }
    const std::uint64_t bytes = planned.memory_bytes();

    Lock lock(mutex_);
    device_->check_lost();
    make_room(lock);
    StagingRing::Piece piece;
    if (bytes != 0) piece = arguments_.take(lock, bytes);
    VulkanCommand& command = begin(requested.after);
    try {
        if (bytes != 0) {
            command.staging = piece.own;
            source.memory = piece.memory->address() + piece.offset;
            planned.write(piece.memory->mapped() + piece.offset, source);
        }
        if (kernel.bindings) {
            command.set =
                std::make_unique<BoundSet>(device_, *kernel.bindings, kernel.module.bindings, requested);
        }
        CommandRecorder(*device_, *rects_, command.buffer)
            .launch(planned, source, command.set ? command.set->handle() : VK_NULL_HANDLE);
    } catch (...) {
        commands_.abandon(command);
        throw;
    }
    Point point = 0;
    const bool prints = reports && !kernel.module.prints.empty();
    if (reports) {
        const auto& program = static_cast<const VulkanProgram&>(*requested.program);
        backends::Epilogue epilogue;
        epilogue.source = {&program.function(), kernel.module.prints, device_->name(),
                           program.target().max_iterations};
        epilogue.reports = std::move(reports);
        epilogue.prints = prints;
        if (prints) host_commands_.start();
        point = submit(command, &epilogue);
    } else {
        point = submit(command);
    }
    if (bytes != 0) arguments_.commit(piece, point);
    lock.unlock();
    if (prints) host_commands_.wake();
    return point;
}

// ---- batches ----

std::unique_ptr<backends::Batch> VulkanQueue::prepare(backends::BatchPlan plan) {
    device_->check_lost();
    return std::make_unique<VulkanBatch>(device_, host_, rects_, std::move(plan));
}

Point VulkanQueue::submit(backends::Batch& batch, std::uint32_t instances,
                          std::span<const std::byte> values) {
    auto& own = static_cast<VulkanBatch&>(batch);
    const std::size_t stride = instances == 0 ? 0 : values.size() / instances;
    Point point = last();
    const backends::TimesTag times = backends::TimesScope::tag();
    const auto submit_part = [&](RecordedRun& run, std::uint32_t first, std::uint32_t count) {
        const std::byte* of_first = values.data() + first * stride;
        if (!times) return submit_run(run, count, of_first, stride);
        return submit_timed(run, count, of_first, stride, {times.times, first * own.size()});
    };
    if (RecordedRun* whole = own.whole()) return submit_part(*whole, 0, instances);
    for (std::uint32_t i = 0; i < instances; ++i) {
        for (const VulkanBatch::Part& part : own.parts()) {
            if (part.run) {
                point = submit_part(*part.run, i, 1);
            } else {
                const backends::TimesScope timed({times.times, i * own.size() + part.index});
                point = launch(part.direct, values.data() + i * stride);
            }
        }
    }
    return point;
}

Point VulkanQueue::submit_timed(RecordedRun& run, std::uint32_t instances, const std::byte* values,
                                std::size_t stride, const backends::TimesTag& times) {
    Lock lock(mutex_);
    device_->check_lost();
    Point point = last();
    for (std::uint32_t done = 0; done < instances;) {
        make_room(lock);
        calibrate();
        const std::uint32_t count = std::min(instances - done, run.most_timed());
        const RecordedRun::Timed timed =
            run.record_timed(count, values + done * stride, stride, timeline_.completed(),
                             {times.times, times.index + done * run.batch_size()});
        backends::Epilogue epilogue = timing_epilogue(timed.times);
        epilogue.point = timeline_.last() + 1;
        timeline_.add(std::move(epilogue));
        try {
            point = hand_over(std::span(&timed.buffer, 1), true);
        } catch (...) {
            timeline_.cancel();
            throw;
        }
        run.keep_timed(point);
        done += count;
    }
    return point;
}

Point VulkanQueue::submit_run(RecordedRun& run, std::uint32_t instances, const std::byte* values,
                              std::size_t stride) {
    Lock lock(mutex_);
    device_->check_lost();
    Point point = last();
    for (std::uint32_t done = 0; done < instances;) {
        make_room(lock);
        const std::uint32_t ready = run.gather(instances - done, values + done * stride, stride,
                                               timeline_.completed(), !host_commands_.empty());
        if (ready == 0) {
            const Point oldest = run.oldest();
            lock.unlock();
            timeline_.await(oldest, VulkanTimeline::forever);
            lock.lock();
            device_->check_lost();
            continue;
        }
        try {
            point = hand_over(run.gathered(), true);
        } catch (...) {
            run.scatter();
            throw;
        }
        run.keep(point);
        done += ready;
    }
    return point;
}

// ---- host commands ----

Point VulkanQueue::call(std::function<void()> callback) { return host_commands_.call(std::move(callback)); }

Point VulkanQueue::wait_for(backends::Timeline& other, Point point) {
    auto* sibling = dynamic_cast<VulkanTimeline*>(&other);
    if (sibling != nullptr && &sibling->device() != device_.get()) sibling = nullptr;
    return host_commands_.wait_for(other, point, sibling, [&](backends::Epilogue* epilogue) {
        if (backends::TimesScope::requested()) return wait_timed(*sibling, point, epilogue);
        return wait_on_device(*sibling, point, {}, epilogue);
    });
}

Point VulkanQueue::wait_on_device(const VulkanTimeline& other, Point point,
                                  std::span<const VkCommandBuffer> buffers, backends::Epilogue* epilogue) {
    const Point own = timeline_.last() + 1;
    if (epilogue != nullptr) {
        epilogue->point = own;
        timeline_.add(std::move(*epilogue));
    }
    try {
        submit_to_device(buffers, own, other.semaphore(), point);
    } catch (...) {
        if (epilogue != nullptr) timeline_.cancel();
        throw;
    }
    timeline_.submitted(own);
    return own;
}

Point VulkanQueue::wait_timed(const VulkanTimeline& other, Point point, backends::Epilogue* epilogue) {
    calibrate();
    // Two commands: the first takes the time when the wait begins, the second when it ends.
    const auto times = std::make_shared<TimedCommands>(device_, 1);
    VulkanCommand& before = commands_.begin(false);
    times->begin(before.buffer, backends::TimesScope::tag(), TimedPlace::Ordered);
    static_cast<void>(submit(before));
    before.times = times;  // the device writes there until the point has passed, even if the rest fails
    VulkanCommand& after = commands_.begin(false);
    try {
        times->end(after.buffer);
        commands_.end(after);
        backends::Epilogue timing = timing_epilogue(times);
        if (epilogue == nullptr) {
            epilogue = &timing;
        } else {
            epilogue->report_times = std::move(timing.report_times);
        }
        const Point own = wait_on_device(other, point, std::span(&after.buffer, 1), epilogue);
        commands_.keep(after, own);
        return own;
    } catch (...) {
        commands_.abandon(after);
        throw;
    }
}

Point VulkanQueue::mark() {
    Lock lock(mutex_);
    device_->check_lost();
    make_room(lock);
    if (!backends::TimesScope::requested()) return submit(commands_.begin(false));
    calibrate();
    const auto times = std::make_shared<TimedCommands>(device_, 1);
    VulkanCommand& command = commands_.begin(false);
    // Its timestamps wait for all earlier commands, as after a barrier.
    times->begin(command.buffer, backends::TimesScope::tag(), TimedPlace::Ordered);
    command.times = times;
    return submit(command);
}

}  // namespace volley::backends::vulkan
