// For tests of batches on Vulkan devices: commands that multiply and add, and a batch of them.
#pragma once

#include "backends/api/batch.hpp"
#include "backends/vulkan/vulkan_batch.hpp"
#include "backends/vulkan_support.hpp"
#include "backends/vulkan_watch.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

namespace volley::backends::vulkan {

class VulkanBatchFixture : public VulkanTest {
protected:
    void SetUp() override {
        VulkanTest::SetUp();
        if (IsSkipped()) return;
        device = open();
        watch.emplace(device->logical());
        queue = device->make_queue();
        program = device->compile(multiply_add_kernel());
    }
    void TearDown() override {
        if (queue) queue->timeline().wait_for(queue->last(), std::chrono::seconds(60));
        batch.reset();
        queue.reset();
        watch.reset();
        VulkanTest::TearDown();
    }

    /// Returns a command data[i] = data[i] * factor + i that depends on the commands `after`.
    backends::BatchCommand multiply(backends::Memory& memory, std::uint32_t count,
                                    std::vector<std::uint32_t> after = {}, const int* factor = &two) {
        backends::BatchCommand command;
        command.program = program.get();
        command.global = {count, 1, 1};
        command.local = {64, 1, 1};
        command.args.resize(2);
        command.args[0].memory = &memory;
        command.args[0].elements = count;
        command.args[1].value = factor;
        command.after = std::move(after);
        return command;
    }
    /// The same with the instance's value at that byte as the factor.
    backends::BatchCommand multiply_dynamic(backends::Memory& memory, std::uint32_t count,
                                            std::vector<std::uint32_t> after = {}, std::uint32_t at = 0) {
        backends::BatchCommand command = multiply(memory, count, std::move(after), nullptr);
        command.args[1].dynamic = at;
        return command;
    }
    VulkanBatch& prepare(std::vector<backends::BatchCommand> commands, std::uint32_t value_bytes = 0) {
        // Levels follow from `after`.
        for (backends::BatchCommand& command : commands) {
            for (const std::uint32_t other : command.after)
                command.level = std::max(command.level, commands[other].level + 1);
        }
        batch = queue->prepare({std::move(commands), value_bytes});
        return static_cast<VulkanBatch&>(*batch);
    }
    backends::Point submit(std::uint32_t instances = 1) { return queue->submit(*batch, instances, {}); }
    /// One instance for each value.
    backends::Point submit(const std::vector<int>& values) {
        std::vector<std::byte> bytes(values.size() * 16);
        for (std::size_t i = 0; i < values.size(); ++i) std::memcpy(&bytes[i * 16], &values[i], sizeof(int));
        return queue->submit(*batch, static_cast<std::uint32_t>(values.size()), bytes);
    }
    std::unique_ptr<backends::Memory> filled(std::size_t count, int value) {
        auto memory = device->allocate(count * sizeof(int));
        write_at(*queue, *memory, 0, bytes_of(std::vector<int>(count, value)));
        return memory;
    }
    unsigned last_of(const backends::Memory& memory) {
        const std::size_t count = memory.size() / sizeof(int);
        return static_cast<unsigned>(read_back(*queue, memory, 1, (count - 1) * sizeof(int))[0]);
    }

    static constexpr int two = 2, three = 3, five = 5;
    std::unique_ptr<VulkanDevice> device;
    std::optional<Watch> watch;
    std::unique_ptr<backends::Program> program;
    std::unique_ptr<backends::Queue> queue;
    std::unique_ptr<backends::Batch> batch;
};

/// value * factor + i for each factor, as the kernel computes it
inline unsigned after_all(unsigned value, const std::vector<int>& factors, unsigned i) {
    for (const int factor : factors) value = value * static_cast<unsigned>(factor) + i;
    return value;
}

inline std::vector<int> odd_numbers(std::size_t count, int first = 1) {
    std::vector<int> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = first + 2 * static_cast<int>(i);
    return values;
}

}  // namespace volley::backends::vulkan
