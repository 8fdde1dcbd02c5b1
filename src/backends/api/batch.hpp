// Commands that are made ready once and given to a queue many times: what a graph becomes on one queue.
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

/// One command of a batch. Memories and programs are not owned: they outlive the batch and its last point.
struct BatchCommand {
    BatchKind kind = BatchKind::Launch;

    // Launch: as backends::Launch. The values of arguments that are not dynamic are read by Queue::prepare
    // alone.
    Program* program = nullptr;
    ir::Dim3 global = {1, 1, 1};
    ir::Dim3 local = {1, 1, 1};
    std::vector<Argument> args;

    // Copy: as Queue::copy. Fill: as Queue::fill, with `move.to` as the place.
    Memory* to = nullptr;
    const Memory* from = nullptr;
    RectMove move;
    std::vector<std::byte> pattern;

    /// Commands of the batch that must be done before this one starts, by their places; all before its own.
    /// What the list of one of them has is left out.
    std::vector<std::uint32_t> after;
    /// The longest way to it through `after`: commands of one level need no order among themselves.
    std::uint32_t level = 0;

    [[nodiscard]] Launch launch() const noexcept { return {program, global, local, args}; }
};

/// What a queue makes a batch of.
struct BatchPlan {
    std::vector<BatchCommand> commands;  // levels only grow
    std::uint32_t value_bytes = 0;       // dynamic values of one instance; a multiple of 16
};

/// The bytes of values, where arguments point to.
using KeptValues = std::vector<std::vector<std::byte>>;
/// Copies all values that are not dynamic, and has the plan's arguments point to the copies: it can then be
/// used for as long as these live.
[[nodiscard]] KeptValues keep_values(BatchPlan& plan);

/// Ready to be given to the queue that made it. Ends only when its last point has passed, and before its
/// queue.
class Batch {
public:
    virtual ~Batch() = default;
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;

protected:
    Batch() = default;
};

/// For queues that have nothing better: keeps the plan, and gives its commands one by one, in their order.
class PlainBatch final : public Batch {
public:
    explicit PlainBatch(BatchPlan plan);
    /// The command at that place, for an instance with these values.
    Point give(Queue& queue, std::uint32_t place, std::uint32_t instance, std::span<const std::byte> values);
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
