// Launches and the host's own commands. The hot path is launch(): one lock, the
// arguments packed on the stack, five calls that record, one that submits. Nothing of ours there allocates.
#include "backends/vulkan/vulkan_queue.hpp"

#include "core/fail.hpp"

#include <algorithm>
#include <cstring>

namespace volley::backends::vulkan {

using backend::Point;
using codegen::spirv::Field;
using codegen::spirv::FieldKind;

namespace {

constexpr std::size_t backlog = 1024;           // commands in flight before the submitting thread waits
constexpr std::size_t few_commands = 32;        // in flight before asking the driver which are done
constexpr std::size_t push_bytes = 256;         // the most that we use of push constants
constexpr std::uint32_t few_elements = 512;     // fewer are not worth a coarse launch
constexpr std::uint32_t coarse_local = 64;      // small, so that short launches have several workgroups
constexpr std::uint64_t coarse_arguments = 64;  // bytes: sure to be push constants in each variant
constexpr std::uint64_t argument_ring = std::uint64_t{1} << 20;

bool is_whole(ir::Dim3 global, ir::Dim3 local) {
    return global[0] % local[0] == 0 && global[1] % local[1] == 0 && global[2] % local[2] == 0;
}

ir::Dim3 groups_of(ir::Dim3 global, ir::Dim3 local) {
    ir::Dim3 groups{};
    for (std::size_t d = 0; d < 3; ++d)
        groups[d] = static_cast<std::uint32_t>((std::uint64_t{global[d]} + local[d] - 1) / local[d]);
    return groups;
}

bool exceeds(ir::Dim3 groups, ir::Dim3 limit) {
    return groups[0] > limit[0] || groups[1] > limit[1] || groups[2] > limit[2];
}

template <class T>
void put(std::byte* to, const T& value) {
    std::memcpy(to, &value, sizeof value);
}

/// Whether a launch is one for the coarse variant: large, and its blocks are aligned.
bool is_coarse(const VulkanProgram& program, const backend::Launch& launch) {
    const std::vector<bool>& blocks = program.blocks();
    if (blocks.empty() || launch.global[0] < few_elements || launch.global[0] >= (1u << 31) ||
        launch.global[1] != 1 || launch.global[2] != 1)
        return false;
    const passes::Coarsening& how = program.target().coarsening;
    std::uint64_t bytes = 0;
    for (const ir::Param& param : program.function().params)
        bytes += param.kind == ir::ParamKind::Buffer ? sizeof(std::uint64_t) : param.type.size();
    if (bytes > coarse_arguments) return false;
    for (std::size_t p = 0; p < blocks.size(); ++p) {
        if (!blocks[p]) continue;
        const backend::Argument& arg = launch.args[p];
        if ((static_cast<const VulkanMemory&>(*arg.memory).address() + arg.offset) % how.word_bytes != 0)
            return false;
    }
    return true;
}

/// Writes a launch's arguments as the module's fields say.
void pack(const Kernel& kernel, const backend::Launch& launch, std::uint64_t reports, ir::Dim3 base,
          std::byte* to) {
    for (const Field& field : kernel.module.fields) {
        std::byte* at = to + field.offset;
        switch (field.kind) {
            case FieldKind::GlobalSize: put(at, launch.global); break;
            case FieldKind::Address: {
                const backend::Argument& arg = launch.args[field.parameter];
                put(at, static_cast<const VulkanMemory&>(*arg.memory).address() + arg.offset);
                break;
            }
            case FieldKind::Elements: put(at, launch.args[field.parameter].elements); break;
            case FieldKind::Value: std::memcpy(at, launch.args[field.parameter].value, field.size); break;
            case FieldKind::Reports: put(at, reports); break;
            case FieldKind::GroupBase: put(at, base); break;
        }
    }
}

/// Calls f(base, count) for pieces of at most `limit` workgroups in each dimension.
template <class F>
void for_each_piece(ir::Dim3 groups, ir::Dim3 limit, F&& f) {
    ir::Dim3 base{};
    for (base[2] = 0; base[2] < groups[2]; base[2] += std::min(limit[2], groups[2] - base[2])) {
        for (base[1] = 0; base[1] < groups[1]; base[1] += std::min(limit[1], groups[1] - base[1])) {
            for (base[0] = 0; base[0] < groups[0]; base[0] += std::min(limit[0], groups[0] - base[0])) {
                ir::Dim3 count{};
                for (std::size_t d = 0; d < 3; ++d) count[d] = std::min(limit[d], groups[d] - base[d]);
                f(base, count);
            }
        }
    }
}

/// From one piece's argument block to the next.
std::uint64_t piece_bytes(const codegen::spirv::Module& module) {
    return (std::uint64_t{module.argument_bytes} + 15) / 16 * 16;
}

}  // namespace

VulkanQueue::VulkanQueue(std::shared_ptr<LogicalDevice> device, std::shared_ptr<Heap> host,
                         std::shared_ptr<backend::RectPrograms> rects, const QueueOptions& options)
    : device_(std::move(device)),
      host_(std::move(host)),
      rects_(std::move(rects)),
      options_(options),
      queue_(device_->next_queue()),
      reports_([heap = host_](std::uint64_t bytes) {
          auto memory = std::make_unique<VulkanMemory>(heap, bytes);
          std::byte* mapped = memory->mapped();
          return std::make_unique<backend::ReportBuffer>(std::move(memory), mapped);
      }),
      timeline_(device_, reports_),
      commands_(device_),
      host_commands_(mutex_, timeline_) {}

VulkanQueue::~VulkanQueue() {
    timeline_.await(timeline_.last(), VulkanTimeline::forever);
    host_commands_.stop();
    if (device_->lost()) device_->vk.vkDeviceWaitIdle(device_->handle());
}

// ---- submitting ----

void VulkanQueue::make_room(Lock& lock) {
    if (commands_.in_flight() < backlog) return;
    commands_.pass(timeline_.completed());
    // Behind the host's commands waiting might never end: a callback may be what submits.
    if (commands_.in_flight() < backlog || !host_commands_.empty()) return;
    const Point point = timeline_.last() - backlog / 2;
    lock.unlock();
    timeline_.await(point, VulkanTimeline::forever);
    lock.lock();
    device_->check_lost();
    commands_.pass(timeline_.completed());
}

Command& VulkanQueue::begin() {
    if (!commands_.has_free() && commands_.in_flight() >= few_commands) commands_.pass(timeline_.completed());
    return commands_.begin();
}

void VulkanQueue::give_to_device(VkCommandBuffer buffer, Point point, VkSemaphore wait, Point wait_point) {
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
    info.commandBufferCount = buffer == VK_NULL_HANDLE ? 0 : 1;
    info.pCommandBuffers = &buffer;
    info.signalSemaphoreCount = 1;
    info.pSignalSemaphores = &signal;
    VkResult result = VK_SUCCESS;
    {
        const std::scoped_lock lock(queue_.mutex);
        result = device_->vk.vkQueueSubmit(queue_.handle, 1, &info, VK_NULL_HANDLE);
    }
    device_->check(result, "vkQueueSubmit");
}

Point VulkanQueue::submit(Command& command, backend::Epilogue* epilogue) {
    const Point point = timeline_.last() + 1;
    const bool behind = !host_commands_.empty();
    bool added = false;
    try {
        commands_.end(command);
        if (epilogue != nullptr) {
            epilogue->point = point;
            timeline_.add(std::move(*epilogue));
            added = true;
        }
        if (behind) {
            host_commands_.add_behind(
                point, [this, buffer = command.buffer, point] { give_to_device(buffer, point); });
        } else {
            give_to_device(command.buffer, point);
        }
    } catch (...) {
        if (added) timeline_.cancel();
        commands_.abandon(command);
        throw;
    }
    commands_.keep(command, point);
    if (behind) {
        timeline_.issue(point);
    } else {
        timeline_.submitted(point);
    }
    return point;
}

std::uint64_t VulkanQueue::find_in(backend::Ring& ring, Lock& lock, std::uint64_t bytes) {
    for (;;) {
        if (const auto at = ring.find(bytes)) return *at;
        ring.pass(timeline_.completed());
        if (const auto at = ring.find(bytes)) return *at;
        const Point oldest = ring.oldest();
        if (bytes > ring.size() || !host_commands_.empty() || oldest == 0) return nowhere;
        lock.unlock();
        timeline_.await(oldest, VulkanTimeline::forever);
        lock.lock();
        device_->check_lost();
    }
}

Point VulkanQueue::launch(const backend::Launch& launch) {
    const auto& program = static_cast<const VulkanProgram&>(*launch.program);
    const PhysicalDevice& physical = device_->physical();
    const bool coarse = is_coarse(program, launch);
    ir::Dim3 invocations = launch.global;
    // A coarse launch leaves some elements at its end to one workgroup of the plain variant.
    const std::uint32_t factor = coarse ? program.target().coarsening.factor : 1;
    const std::uint32_t rest = invocations[0] % factor;
    invocations[0] /= factor;
    // Such a kernel does not see its workgroups.
    const ir::Dim3 local = coarse ? ir::Dim3{coarse_local, 1, 1} : launch.local;
    const ir::Dim3 groups = groups_of(invocations, local);
    const bool based = exceeds(groups, physical.max_groups);
    const Kernel& kernel = program.kernel({local, rest == 0 && is_whole(invocations, local), based, coarse});
    const Kernel* tail = rest == 0 ? nullptr : &program.kernel({{factor, 1, 1}, false, true, false});
    const codegen::spirv::Module& module = kernel.module;
    std::unique_ptr<backend::ReportBuffer> reports;
    if (module.reports) {
        const std::uint64_t count = std::uint64_t{launch.global[0]} * launch.global[1] * launch.global[2];
        reports = reports_.take(kernel.print_bytes, count);
        reports->arm();
    }
    const std::uint64_t reports_address =
        reports ? static_cast<const VulkanMemory&>(reports->memory()).address() : 0;
    std::uint64_t argument_bytes = module.argument_bytes;
    if (based) {
        argument_bytes = 0;
        for_each_piece(groups, physical.max_groups,
                       [&](ir::Dim3 /*base*/, ir::Dim3 /*count*/) { argument_bytes += piece_bytes(module); });
    }

    Lock lock(mutex_);
    device_->check_lost();
    make_room(lock);
    if (module.indirect && !arguments_) arguments_ = std::make_unique<StagingRing>(host_, argument_ring);
    const std::uint64_t place = module.indirect ? find_in(arguments_->places, lock, argument_bytes) : nowhere;
    Command& command = begin();
    try {
        alignas(16) std::byte push[push_bytes];
        std::uint32_t pushed = module.argument_bytes;
        if (module.indirect) {
            std::uint64_t address = 0;
            std::byte* block = nullptr;
            if (place != nowhere) {
                address = arguments_->memory.address() + place;
                block = arguments_->memory.mapped() + place;
            } else {
                command.staging = std::make_unique<VulkanMemory>(host_, argument_bytes);
                address = command.staging->address();
                block = command.staging->mapped();
            }
            std::uint64_t piece = 0;
            for_each_piece(groups, physical.max_groups, [&](ir::Dim3 base, ir::Dim3 /*count*/) {
                pack(kernel, launch, reports_address, base, block + piece++ * piece_bytes(module));
            });
            put(push, address);
            pushed = sizeof address;
        } else {
            pack(kernel, launch, reports_address, {}, push);
        }
        if (kernel.bindings) {
            command.set = std::make_unique<BoundSet>(device_, *kernel.bindings, module.bindings, launch);
            VkDescriptorSet set = command.set->handle();
            device_->vk.vkCmdBindDescriptorSets(command.buffer, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.layout,
                                                0, 1, &set, 0, nullptr);
        }
        record(command.buffer, kernel, groups, std::span(push, pushed));
        if (tail != nullptr) {
            pack(*tail, launch, 0, {invocations[0], 0, 0}, push);
            device_->vk.vkCmdBindPipeline(command.buffer, VK_PIPELINE_BIND_POINT_COMPUTE, tail->pipeline);
            dispatch(command.buffer, *tail, {1, 1, 1}, std::span(push, tail->module.argument_bytes));
        }
    } catch (...) {
        commands_.abandon(command);
        throw;
    }
    Point point = 0;
    const bool prints = reports && !module.prints.empty();
    if (reports) {
        backend::Epilogue epilogue;
        epilogue.source = {&program.function(), module.prints, device_->name(),
                           program.target().max_iterations};
        epilogue.reports = std::move(reports);
        epilogue.prints = prints;
        if (prints) host_commands_.start();
        point = submit(command, &epilogue);
    } else {
        point = submit(command);
    }
    if (place != nowhere) arguments_->places.commit(point);
    lock.unlock();
    if (prints) host_commands_.wake();
    return point;
}

void VulkanQueue::record_launch(VkCommandBuffer buffer, const backend::Launch& launch) {
    const auto& program = static_cast<const VulkanProgram&>(*launch.program);
    const ir::Dim3 groups = groups_of(launch.global, launch.local);
    // One variant for whole grids and others: what it saves is less than what compiling another costs.
    const Kernel& kernel =
        program.kernel({launch.local, false, exceeds(groups, device_->physical().max_groups), false});
    if (kernel.module.indirect || kernel.module.reports)
        fail_internal("a kernel of the library's own does not fit", program.function().name);
    alignas(16) std::byte push[push_bytes];
    pack(kernel, launch, 0, {}, push);
    record(buffer, kernel, groups, std::span(push, kernel.module.argument_bytes));
}

void VulkanQueue::dispatch(VkCommandBuffer buffer, const Kernel& kernel, ir::Dim3 groups,
                           std::span<const std::byte> push) {
    // Whole words, as the interface asks.
    const auto bytes = static_cast<std::uint32_t>((push.size() + 3) / 4 * 4);
    if (bytes != 0) {
        device_->vk.vkCmdPushConstants(buffer, kernel.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, bytes,
                                       push.data());
    }
    device_->vk.vkCmdDispatch(buffer, groups[0], groups[1], groups[2]);
}

void VulkanQueue::record(VkCommandBuffer buffer, const Kernel& kernel, ir::Dim3 groups,
                         std::span<const std::byte> push) {
    device_->vk.vkCmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.pipeline);
    if (!kernel.variant.based) {
        dispatch(buffer, kernel, groups, push);
        return;
    }
    // Each piece is told where it begins: in its own argument block, or in the push constants.
    const auto& fields = kernel.module.fields;
    const auto base_field = std::find_if(fields.begin(), fields.end(),
                                         [](const Field& f) { return f.kind == FieldKind::GroupBase; });
    const bool indirect = kernel.module.indirect;
    alignas(16) std::byte block[push_bytes];
    std::memcpy(block, push.data(), push.size());
    for_each_piece(groups, device_->physical().max_groups, [&](ir::Dim3 base, ir::Dim3 count) {
        if (base_field != fields.end() && !indirect) put(block + base_field->offset, base);
        dispatch(buffer, kernel, count, std::span(block, push.size()));
        if (indirect) {
            std::uint64_t address = 0;
            std::memcpy(&address, block, sizeof address);
            put(block, address + piece_bytes(kernel.module));
        }
    });
}

// ---- the host's own commands ----

Point VulkanQueue::call(std::function<void()> callback) { return host_commands_.call(std::move(callback)); }

Point VulkanQueue::wait_for(backend::Timeline& other, Point point) {
    const auto* sibling = dynamic_cast<const VulkanTimeline*>(&other);
    if (sibling != nullptr && &sibling->device() != device_.get()) sibling = nullptr;
    return host_commands_.wait_for(other, point, sibling, [&] {
        const Point own = timeline_.last() + 1;
        give_to_device(VK_NULL_HANDLE, own, sibling->semaphore(), point);
        timeline_.submitted(own);
        return own;
    });
}

}  // namespace volley::backends::vulkan
