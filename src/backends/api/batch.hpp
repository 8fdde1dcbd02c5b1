// Commands that are prepared once and submitted many times: the part of a graph on one queue.
#pragma once

#include "backends/api/queue.hpp"
#include "backends/api/rect_parts.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace volley::backends {

enum class BatchKind : std::uint8_t { Launch, Copy, Fill };

/// One command of a batch. Memories and programs are not owned; they outlive the batch and its last point.
struct BatchCommand {
    BatchKind kind = BatchKind::Launch;

    // Launch: as backends::Launch. Only Queue::prepare reads the values of arguments that are not dynamic.
    Program* program = nullptr;
    ir::Dim3 global = {1, 1, 1};
    ir::Dim3 local = {1, 1, 1};
    std::vector<Argument> args;

    // Copy: as Queue::copy. Fill: as Queue::fill, with `move.to` as the place.
    Memory* to = nullptr;
    const Memory* from = nullptr;
    RectMove move;
    std::vector<std::byte> pattern;

    /// Indices of the commands that must complete before this one starts; all less than its own. Indirect
    /// dependencies are left out.
    std::vector<std::uint32_t> after;
    /// The length of the longest path to it through `after`. Commands of one level are independent.
    std::uint32_t level = 0;

    [[nodiscard]] Launch launch() const noexcept { return {program, global, local, args}; }
};

/// What Queue::prepare turns into a batch.
struct BatchPlan {
    std::vector<BatchCommand> commands;  // in the order of their levels
    std::uint32_t value_bytes = 0;       // dynamic values of one instance; a multiple of 16
};

/// Values that arguments point to.
using KeptValues = std::vector<std::vector<std::byte>>;
/// Copies all values that are not dynamic and points the plan's arguments to the copies. The plan is valid as
/// long as these live.
[[nodiscard]] KeptValues keep_values(BatchPlan& plan);

/// Ready for submission to the queue that prepared it. Destroyed after its last point has passed, and before
/// its queue.
class Batch {
public:
    virtual ~Batch() = default;
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

protected:
    Batch() = default;
};

/// The default: keeps the plan and submits its commands one by one, in order.
class PlainBatch final : public Batch {
public:
    explicit PlainBatch(BatchPlan plan);
    /// Submits the command at that index for an instance with these values.
    Point submit(Queue& queue, std::uint32_t place, std::uint32_t instance,
                 std::span<const std::byte> values);
    [[nodiscard]] const BatchCommand& operator[](std::uint32_t place) const noexcept {
        return plan_.commands[place];
    }
    [[nodiscard]] std::uint32_t size() const noexcept {
        return static_cast<std::uint32_t>(plan_.commands.size());
    }

private:
    BatchPlan plan_;
    KeptValues kept_;
};

}  // namespace volley::backends
