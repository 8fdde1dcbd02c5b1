// For tests of batches: commands, and plans whose order follows from what their commands read and write.
#pragma once

#include "backends/api/batch.hpp"
#include "backends/queue_support.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace volley::testing {

using backends::Argument;
using backends::BatchCommand;
using backends::BatchKind;
using backends::BatchPlan;

inline Argument buffer_argument(backends::Memory& memory, std::uint64_t elements, std::uint64_t offset = 0) {
    Argument argument;
    argument.memory = &memory;
    argument.offset = offset;
    argument.elements = elements;
    return argument;
}

/// What `value` points at is read when the batch is made.
inline Argument value_argument(const int& value) {
    Argument argument;
    argument.value = &value;
    return argument;
}

/// Its place in the instance's values.
inline Argument dynamic_argument(std::uint32_t place) {
    Argument argument;
    argument.dynamic = place;
    return argument;
}

inline BatchCommand launch_command(backends::Program& program, std::uint32_t count,
                                   std::vector<Argument> args) {
    BatchCommand command;
    command.program = &program;
    command.global = {count, 1, 1};
    command.local = {64, 1, 1};
    command.args = std::move(args);
    return command;
}

/// data[i] = data[i] * factor + i
inline BatchCommand multiply_add_command(backends::Program& program, backends::Memory& data,
                                         std::uint32_t count, const Argument& factor,
                                         std::uint64_t offset = 0) {
    return launch_command(program, count, {buffer_argument(data, count, offset), factor});
}

inline BatchCommand copy_command(backends::Memory& to, const backends::Memory& from,
                                 const backends::RectMove& move) {
    BatchCommand command;
    command.kind = BatchKind::Copy;
    command.to = &to;
    command.from = &from;
    command.move = move;
    return command;
}

inline BatchCommand fill_command(backends::Memory& to, const backends::Rect& rect,
                                 const backends::RectPlace& at, std::span<const std::byte> pattern) {
    BatchCommand command;
    command.kind = BatchKind::Fill;
    command.to = &to;
    command.move.rect = rect;
    command.move.to = at;
    command.pattern.assign(pattern.begin(), pattern.end());
    return command;
}

/// A fill with one number.
inline BatchCommand set_command(backends::Memory& to, std::uint64_t count, int value) {
    return fill_command(to, {count * sizeof(int), {1, 1}}, {}, std::as_bytes(std::span(&value, 1)));
}

/// Takes commands in the order in which they would run one by one; keeps of that what they need.
class PlanMaker {
public:
    /// What a command reads and writes has names that are numbers.
    void add(BatchCommand command, const std::vector<int>& reads, const std::vector<int>& writes) {
        const auto place = static_cast<std::uint32_t>(commands_.size());
        std::vector<std::uint32_t>& after = command.after;
        for (const int name : reads) {
            if (const auto found = writer_.find(name); found != writer_.end()) after.push_back(found->second);
        }
        for (const int name : writes) {
            if (const auto found = writer_.find(name); found != writer_.end()) after.push_back(found->second);
            std::vector<std::uint32_t>& readers = readers_[name];
            after.insert(after.end(), readers.begin(), readers.end());
            readers.clear();
            writer_[name] = place;
        }
        for (const int name : reads) readers_[name].push_back(place);
        // A command that reads what it writes is among the readers, but does not follow itself.
        std::erase(after, place);
        commands_.push_back(std::move(command));
    }
    /// For commands that all work on one thing.
    void add_in_line(BatchCommand command) { add(std::move(command), {0}, {0}); }

    [[nodiscard]] BatchPlan finish(std::uint32_t value_bytes = 0) {
        reduce();
        std::vector<std::uint32_t> order(commands_.size());
        std::iota(order.begin(), order.end(), 0u);
        std::stable_sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
            return commands_[a].level < commands_[b].level;
        });
        std::vector<std::uint32_t> moved(order.size());
        for (std::uint32_t i = 0; i < order.size(); ++i) moved[order[i]] = i;
        BatchPlan plan;
        plan.value_bytes = value_bytes;
        for (const std::uint32_t i : order) {
            for (std::uint32_t& before : commands_[i].after) before = moved[before];
            std::sort(commands_[i].after.begin(), commands_[i].after.end());
            plan.commands.push_back(std::move(commands_[i]));
        }
        return plan;
    }

private:
    /// Leaves out what follows from others, and finds the levels.
    void reduce() {
        std::vector<std::vector<bool>> before(commands_.size());
        for (std::size_t i = 0; i < commands_.size(); ++i) {
            BatchCommand& command = commands_[i];
            before[i].assign(commands_.size(), false);
            std::vector<std::uint32_t> kept;
            std::sort(command.after.rbegin(), command.after.rend());
            for (const std::uint32_t other : command.after) {
                if (before[i][other]) continue;
                kept.push_back(other);
                before[i][other] = true;
                for (std::size_t k = 0; k < other; ++k) before[i][k] = before[i][k] || before[other][k];
                command.level = std::max(command.level, commands_[other].level + 1);
            }
            command.after = std::move(kept);
        }
    }

    std::vector<BatchCommand> commands_;
    std::map<int, std::uint32_t> writer_;
    std::map<int, std::vector<std::uint32_t>> readers_;  // since the last writer
};

}  // namespace volley::testing
