// A recording compiled for some queues, in as few submissions as its order allows.
//
// GraphLayout assigns the commands to queues and stages. A stage has one batch on each of its queues; a new
// stage starts only where a command must follow a command of another queue, or one that is not part of a
// batch: a host function or a copy between devices. A batch waits for other queues and for earlier work as
// any command does, by the bytes that it uses.
#pragma once

#include "backends/api/batch.hpp"
#include "runtime/graph_layout.hpp"
#include "runtime/submission.hpp"

#include <volley/event.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace volley::runtime {

class GraphProgram {
public:
    /// For one queue, or for all. `order` lists the recording's commands in the order of their layout.
    /// Allocates the memory of all buffers and compiles what is not compiled yet. Throws what launching the
    /// commands would throw.
    GraphProgram(std::shared_ptr<ContextCore> core, const Recording& recording,
                 const std::vector<std::uint32_t>& order, const Arena& arena, std::optional<unsigned> queue);
    /// Destroys each batch when its last submission has completed; does not wait.
    ~GraphProgram();
    GraphProgram(const GraphProgram&) = delete;
    GraphProgram& operator=(const GraphProgram&) = delete;

    /// The instances of one submission.
    struct Run {
        std::uint32_t instances = 1;
        std::span<const std::byte> values;  // dynamic values of all instances
        std::uint32_t first = 0;            // number of the first instance
        std::uint64_t submission = 0;       // number of the submission in the profile
    };
    /// The hot path: allocates nothing, takes one lock per replica, submits once per queue.
    Event submit(const Run& run);
    /// Throws ArgumentError if the host has a buffer mapped.
    void check_usable() const;
    /// Returns whether the nearest written replicas are still those that its copies read.
    [[nodiscard]] bool is_current() const;

private:
    friend class ContextCore;
    friend class MemberList<GraphProgram>;
    struct Step {
        unsigned queue = 0;
        std::unique_ptr<backends::Batch> batch;  // one of these three;
        std::optional<PlannedHop> hop;           //   none is a barrier, which the stages are
        std::shared_ptr<const HostFunction> call;
        bool between_all = false;     // a call: ordered with all queues of the context
        std::vector<Footprint> uses;  // of a hop: the destination's, then the source's
        std::shared_ptr<const BatchLabels> labels;
        backends::Point last = 0;  // of its last submission
    };

    void run_step(Step& step, const Run& run);
    /// Submits with f, which returns the point, and records it in the step.
    template <class F>
    void submit_step(Step& step, Submission& submission, F&& f);
    void run_hop(Step& step, const Run& run);
    void run_call(Step& step, const Run& run);
    /// Returns the queues that a call is ordered with.
    [[nodiscard]] std::span<const unsigned> around(const Step& step) const noexcept {
        return step.between_all ? all_ : around_;
    }
    /// Returns what the profile calls the step's commands.
    [[nodiscard]] static BatchPlace place_of(const Step& step, const Run& run) {
        return {step.labels, run.submission, run.first, run.instances};
    }
    /// Makes the context keep the batches until their work has completed. Called when the graph or the
    /// context ends.
    void retire() noexcept;

    std::shared_ptr<ContextCore> core_;
    std::vector<Step> steps_;       // in the order of their stages
    std::vector<unsigned> queues_;  // that have steps
    std::vector<unsigned>
        around_;                 // these and the source queues of hops: calls are ordered with them at least
    std::vector<unsigned> all_;  // of the context
    std::vector<std::shared_ptr<Storage>> kept_;
    std::vector<SourceChoice> choices_;
    // Each queue has one step and no step follows another, so that a batch can run all instances in one
    // submission.
    bool at_once_ = true;
    bool shared_ = false;             // some replica serves several queues
    GraphProgram* before_ = nullptr;  // the context's list, guarded by it
    GraphProgram* after_ = nullptr;
};

}  // namespace volley::runtime
