// The hot path is gather(): it looks for recordings that have completed and copies values into their argument
// memory.
#include "backends/vulkan/vulkan_recorded_run.hpp"

#include "backends/vulkan/vulkan_commands.hpp"
#include "backends/vulkan/vulkan_times.hpp"
#include "backends/vulkan/vulkan_transfer.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace volley::backends::vulkan {

namespace {

constexpr std::size_t most_copies = 4;             // recordings of one size
constexpr std::uint64_t most_recorded = 8192;      // commands in one recording, unless an instance has more
constexpr std::uint64_t worth_recording = 64;      // enough to outweigh the cost of a command buffer
constexpr std::uint32_t most_submitted = 1 << 16;  // command buffers of one submission
constexpr std::uint64_t most_argument_bytes = std::uint64_t{16} << 20;

constexpr std::uint64_t aligned(std::uint64_t bytes) { return (bytes + 15) / 16 * 16; }

}  // namespace

RecordedRun::RecordedRun(RecordingPool& pool, std::shared_ptr<Heap> host,
                         std::shared_ptr<backends::RectPrograms> rects, std::vector<ReadyCommand> commands,
                         std::uint32_t batch_size)
    : pool_(pool),
      host_(std::move(host)),
      rects_(std::move(rects)),
      commands_(std::move(commands)),
      batch_size_(batch_size) {
    const auto ordered = std::count_if(commands_.begin(), commands_.end(),
                                       [](const ReadyCommand& command) { return command.ordered; });
    barriers_ = 1 + static_cast<std::uint32_t>(ordered);
    place_arguments();
    std::uint64_t most = worth_recording / commands_.size();
    if (instance_bytes_ == 0) {
        recordings_[0].push_back(record(1, {}));
    } else {
        most = std::min(most_recorded / commands_.size(), most_argument_bytes / instance_bytes_);
    }
    largest_ = most == 0 ? 0 : std::min<unsigned>(static_cast<unsigned>(std::bit_width(most)) - 1, sizes - 1);
}

void RecordedRun::place_arguments() {
    std::uint64_t constant_bytes = 0;
    for (ReadyCommand& command : commands_) {
        std::uint64_t& bytes = command.patched ? instance_bytes_ : constant_bytes;
        command.memory = bytes;
        bytes += aligned(command.launch ? command.launch->memory_bytes() : command.seed.size());
        if (!command.patched) continue;
        command.launch->for_each_dynamic(
            [&](std::uint64_t at, const backends::Argument& argument, std::uint32_t size) {
                patches_.push_back({command.memory + at, argument.dynamic, size});
            });
    }
    if (constant_bytes == 0) return;
    constants_ = std::make_unique<VulkanMemory>(host_, constant_bytes);
    for (const ReadyCommand& command : commands_) {
        if (command.patched) continue;
        std::byte* to = constants_->mapped() + command.memory;
        std::copy(command.seed.begin(), command.seed.end(), to);
        if (command.launch) command.launch->write(to, {});
    }
}

std::unique_ptr<BatchRecording> RecordedRun::record(std::uint32_t instances, const Timing& timing) {
    std::unique_ptr<VulkanMemory> memory;
    VkCommandBufferUsageFlags usage = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
    if (instance_bytes_ != 0) {
        memory = std::make_unique<VulkanMemory>(host_, instances * instance_bytes_);
        usage = 0;
    }
    auto recording = std::make_unique<BatchRecording>(pool_, std::move(memory), usage);
    CommandRecorder recorder(pool_.device(), *rects_, recording->buffer());
    for (std::uint32_t i = 0; i < instances; ++i) {
        const std::uint64_t at = i * instance_bytes_;
        for (const ReadyCommand& command : commands_) {
            if (command.patched)
                command.launch->write(recording->memory()->mapped() + at + command.memory, {});
        }
        const std::uint64_t address = instance_bytes_ == 0 ? 0 : recording->memory()->address() + at;
        Timing of_instance = timing;
        of_instance.first.index += i * batch_size_;
        record_instance(recorder, recording->buffer(), address, of_instance);
    }
    recording->end();
    return recording;
}

void RecordedRun::record_instance(CommandRecorder& recorder, VkCommandBuffer buffer, std::uint64_t address,
                                  const Timing& timing) {
    order_device(pool_.device(), buffer);
    bool first = true;
    for (const ReadyCommand& ready : commands_) {
        if (ready.ordered) order_device(pool_.device(), buffer);
        if (timing.times == nullptr) {
            record_command(recorder, ready, address);
            continue;
        }
        const backends::TimesTag tag{timing.first.times, timing.first.index + ready.index};
        timing.times->begin(buffer, tag,
                            first || ready.ordered ? TimedPlace::Ordered : TimedPlace::Overlapping);
        record_command(recorder, ready, address);
        timing.times->end(buffer);
        first = false;
    }
}

void RecordedRun::record_command(CommandRecorder& recorder, const ReadyCommand& ready,
                                 std::uint64_t address) {
    const BatchCommand& command = *ready.command;
    switch (command.kind) {
        case BatchKind::Launch: {
            ArgumentSource source;
            if (ready.launch->memory_bytes() != 0)
                source.memory = ready.memory + (ready.patched ? address : constants_->address());
            recorder.launch(*ready.launch, source, ready.set ? ready.set->handle() : VK_NULL_HANDLE);
            break;
        }
        case BatchKind::Copy: recorder.copy(of(*command.to), of(*command.from), command.move); break;
        case BatchKind::Fill:
            if (ready.word) {
                recorder.fill(of(*command.to), ready.rows, *ready.word);
            } else {
                recorder.fill(of(*command.to), ready.rows,
                              FillSeed{constants_.get(), ready.memory, ready.seed.size()});
            }
            break;
    }
}

std::uint32_t RecordedRun::most_timed() const noexcept {
    const std::uint64_t most = most_recorded / commands_.size();
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(
        instance_bytes_ == 0 ? most : std::min(most, most_argument_bytes / instance_bytes_), 1));
}

RecordedRun::Timed RecordedRun::record_timed(std::uint32_t instances, const std::byte* values,
                                             std::size_t stride, Point passed,
                                             const backends::TimesTag& first) {
    // A recording that was never submitted has point 0.
    std::erase_if(timed_, [&](const auto& recording) { return recording->point <= passed; });
    const auto times = std::make_shared<TimedCommands>(
        pool_.shared_device(), instances * static_cast<std::uint32_t>(commands_.size()));
    timed_.push_back(record(instances, {times.get(), first}));
    const BatchRecording& recording = *timed_.back();
    if (instance_bytes_ != 0) patch(recording, instances, values, stride);
    return {recording.buffer(), times};
}

std::uint32_t RecordedRun::gather(std::uint32_t instances, const std::byte* values, std::size_t stride,
                                  Point passed, bool many) {
    gathered_.clear();
    std::uint32_t done = 0;
    try {
        while (done < instances && gathered_.size() < most_submitted) {
            const unsigned size =
                std::min(largest_, static_cast<unsigned>(std::bit_width(instances - done)) - 1);
            BatchRecording* recording = find(size, passed, many);
            if (recording == nullptr) break;
            if (instance_bytes_ != 0) {
                taken_.push_back(recording);
                recording->taken = true;
                patch(*recording, 1u << size, values + done * stride, stride);
            }
            gathered_.push_back(recording->buffer());
            done += 1u << size;
        }
    } catch (...) {
        scatter();
        throw;
    }
    return done;
}

BatchRecording* RecordedRun::find(unsigned size, Point passed, bool many) {
    auto& list = recordings_[size];
    if (instance_bytes_ == 0) {
        if (list.empty()) list.push_back(record(1u << size, {}));
        return list.front().get();
    }
    const auto is_free = [&](const std::unique_ptr<BatchRecording>& recording) {
        return !recording->taken && recording->point <= passed;
    };
    // Recordings that were added while host commands were pending are not all needed later.
    while (!many && list.size() > most_copies && is_free(list.back())) list.pop_back();
    const auto found = std::find_if(list.begin(), list.end(), is_free);
    if (found != list.end()) return found->get();
    if (many || list.size() < most_copies) return list.emplace_back(record(1u << size, {})).get();
    oldest_ = (*std::min_element(list.begin(), list.end(), [](const auto& a, const auto& b) {
                  return a->point < b->point;
              }))->point;
    return nullptr;
}

void RecordedRun::patch(const BatchRecording& recording, std::uint32_t instances, const std::byte* values,
                        std::size_t stride) const noexcept {
    std::byte* to = recording.memory()->mapped();
    for (std::uint32_t i = 0; i < instances; ++i) {
        for (const Patch& patch : patches_) std::memcpy(to + patch.to, values + patch.from, patch.bytes);
        to += instance_bytes_;
        values += stride;
    }
}

void RecordedRun::keep(Point point) noexcept {
    for (BatchRecording* recording : taken_) recording->point = point;
    scatter();
}

void RecordedRun::scatter() noexcept {
    for (BatchRecording* recording : taken_) recording->taken = false;
    taken_.clear();
}

std::size_t RecordedRun::recordings() const noexcept {
    std::size_t count = 0;
    for (const auto& list : recordings_) count += list.size();
    return count;
}

}  // namespace volley::backends::vulkan
