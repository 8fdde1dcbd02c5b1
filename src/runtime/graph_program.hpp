// A recording made ready for some queues: which commands run where, in which order, as few submissions as
// that allows.
//
// Commands are laid out by queue, and their order is found (command_order.hpp). A stage is a batch on each of
// some queues; a new one begins only where a command must follow one of another queue, or one that is no part
// of a batch: a function of the host's, a copy between devices. Batches wait for other queues and for earlier
// work as any command does: each knows the bytes that it touches.
#pragma once

#include "backends/api/batch.hpp"
#include "runtime/command_times.hpp"
#include "runtime/context_core.hpp"
#include "runtime/recording.hpp"
#include "runtime/storage.hpp"

#include <volley/command_graph.hpp>
#include <volley/event.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace volley::runtime {

/// Where temporaries lie: in one storage, at these offsets.
struct Arena {
    std::shared_ptr<Storage> storage;
    std::unordered_map<const Storage*, std::uint64_t> offsets;
    GraphMemory memory;
};

class GraphProgram {
public:
    /// For one queue, or for all. `order` are the recording's commands as they are to be laid out. Allocates
    /// the memory of all buffers and compiles what is not compiled yet. Throws what launching the commands
    /// would throw.
    GraphProgram(std::shared_ptr<ContextCore> core, const Recording& recording,
                 const std::vector<std::uint32_t>& order, const Arena& arena, std::optional<unsigned> queue);
    /// Lets the batches go when their last submission is done; does not wait.
    ~GraphProgram();
    GraphProgram(const GraphProgram&) = delete;
    GraphProgram& operator=(const GraphProgram&) = delete;

    /// Which instances of a submission of the graph's it is given; `submission` counts those of a profile.
    struct Run {
        std::uint32_t instances = 1;
        std::span<const std::byte> values;  // of all of them
        std::uint32_t first = 0;
        std::uint64_t submission = 0;
    };
    /// The hot path: no allocation, a lock for each replica, one submission for each queue.
    Event submit(const Run& run);
    /// Throws ArgumentError where the host has a buffer mapped.
    void check_usable() const;
    /// Whether its copies would still read the replicas that they were laid out for: a nearer one may have
    /// been written since.
    [[nodiscard]] bool is_current() const;

private:
    friend class ContextCore;
    friend class MemberList<GraphProgram>;
    struct Layout;
    /// Bytes that a step touches.
    struct Footprint {
        Storage* storage = nullptr;
        Replica* replica = nullptr;
        Range bytes;
        bool writes = false;
    };
    /// Between devices.
    struct Hop {
        backends::Memory* to = nullptr;
        unsigned from_queue = 0;
        const backends::Memory* from = nullptr;
        Rows rows;
        std::unique_ptr<HopStaging> staging;
    };
    /// A copy to queue `target` reads another queue's replica, as its own was not written.
    struct Choice {
        Storage* storage = nullptr;
        unsigned target = 0;
        unsigned source = 0;
    };
    struct Step {
        unsigned queue = 0;
        std::unique_ptr<backends::Batch> batch;  // one of these three;
        std::optional<Hop> hop;                  //   none is a barrier, which the stages are
        std::shared_ptr<const HostFunction> call;
        bool between_all = false;     // a call: between what all queues of the context have to do
        std::vector<Footprint> uses;  // of a hop: the destination's, then the source's
        std::shared_ptr<const BatchLabels> labels;
        backends::Point last = 0;  // of its last submission
    };

    void run_step(Step& step, const Run& run);
    void run_hop(Step& step, const Run& run);
    void run_call(Step& step, const Run& run);
    /// The queues that a call stands between.
    [[nodiscard]] std::span<const unsigned> around(const Step& step) const noexcept {
        return step.between_all ? all_ : around_;
    }
    /// The step's commands, on a queue of its own or on another one.
    [[nodiscard]] TimedCommand timed(const Step& step, unsigned queue, const Run& run) const;
    /// Its context ends.
    void let_go() noexcept;

    std::shared_ptr<ContextCore> core_;
    std::vector<Step> steps_;       // in the order of their stages
    std::vector<unsigned> queues_;  // that have steps
    std::vector<unsigned> around_;  // the same, and those that copies between devices read on: calls stand
                                    // between what these have to do, at least
    std::vector<unsigned> all_;     // of the context
    std::vector<std::shared_ptr<Storage>> kept_;
    std::vector<Choice> choices_;
    bool at_once_ =
        true;  // each queue has one step, and no step follows another: instances are the batches' own
    bool shared_ = false;             // some replica serves several queues
    GraphProgram* before_ = nullptr;  // the context's list, guarded by it
    GraphProgram* after_ = nullptr;
};

}  // namespace volley::runtime
