// The commands of a recording on their queues, before they become the steps of a GraphProgram.
#pragma once

#include "backends/api/batch.hpp"
#include "runtime/command_order.hpp"
#include "runtime/hop.hpp"
#include "runtime/recording.hpp"
#include "runtime/submission.hpp"

#include <volley/command_graph.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace volley::runtime {

/// The memory of a graph's temporaries: one storage, and each temporary's offset in it.
struct Arena {
    std::shared_ptr<Storage> storage;
    std::unordered_map<const Storage*, std::uint64_t> offsets;
    GraphMemory memory;
};

/// A copy between devices that a graph repeats.
struct PlannedHop {
    backends::Memory* to = nullptr;
    unsigned from_queue = 0;
    backends::Memory* from = nullptr;
    Rows rows;
    std::unique_ptr<HopStaging> staging;  // null if it is direct
};

/// A copy to queue `target` that reads the replica of queue `source`, because its own was not written.
struct SourceChoice {
    Storage* storage = nullptr;
    unsigned target = 0;
    unsigned source = 0;
};

/// Requires commands in an order that respects their hazards; leaves nodes with stages and levels.
struct GraphLayout {
    struct Node {
        unsigned queue = 0;
        bool alone = false;  // not part of a batch
        std::uint32_t stage = 0;
        std::uint32_t level = 0;  // in its batch
        std::vector<backends::BatchCommand>
            commands;  // of one recorded command, not ordered among themselves
        std::optional<PlannedHop> hop;
        std::shared_ptr<const HostFunction> call;
        bool between_all = false;  // a call: ordered with all queues of the context
        std::vector<Footprint> uses;
        CommandLabel label;
    };

    ContextCore& core;
    const Recording& recording;
    const Arena& arena;
    std::optional<unsigned> only;  // the queue that the graph is submitted to; none: all
    std::vector<Node> nodes = {};
    CommandOrder order = {};
    std::unordered_set<const Replica*> written = {};  // by the commands added so far
    std::vector<SourceChoice> choices = {};
    // The commands of each node in its batch: the first, and one past the last.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> places = {};

    /// Adds a command of the recording. Allocates its memory and compiles its kernel.
    void add(std::uint32_t index);
    void find_stages();
    /// Returns the nodes of one step, in their order, as a batch. Adds what it uses and what its commands are
    /// called.
    [[nodiscard]] backends::BatchPlan plan_batch(std::span<const std::uint32_t> members,
                                                 std::vector<Footprint>& uses, BatchLabels& labels);

private:
    /// A buffer on a queue.
    struct PlacedBuffer {
        Footprint use;
        backends::Memory* memory = nullptr;
        std::uint64_t shift = 0;  // added to the buffer's own offset
    };
    [[nodiscard]] PlacedBuffer place(const AnyBuffer& buffer, unsigned queue, Usage usage) const;
    void add(const RecordedLaunch& launch, std::optional<unsigned> queue);
    void add(const RecordedCopy& copy, std::optional<unsigned> queue);
    void add(const RecordedFill& fill, std::optional<unsigned> queue);
    void add(const RecordedFence& fence, std::optional<unsigned> queue);
    void add(Node node);
    [[nodiscard]] std::vector<unsigned> targets(const AnyBuffer& to, std::optional<unsigned> queue) const;
    /// Returns the queue whose replica a copy to queue k reads. Throws NotAllocated if nothing was written.
    [[nodiscard]] unsigned source(const RecordedCopy& copy, unsigned k);
};

}  // namespace volley::runtime
