// Makes the steps of a laid-out graph, and submits them.
#include "runtime/graph_program.hpp"

#include "runtime/host_function.hpp"
#include "runtime/nearest_replica.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace volley::runtime {

GraphProgram::GraphProgram(std::shared_ptr<ContextCore> core, const Recording& recording,
                           const std::vector<std::uint32_t>& order, const Arena& arena,
                           std::optional<unsigned> queue)
    : core_(std::move(core)) {
    GraphLayout layout{*core_, recording, arena, queue};
    for (const std::uint32_t command : order) layout.add(command);
    layout.find_stages();

    // The nodes of one queue and stage form a batch; a node that is alone is a step of its own.
    std::vector<std::uint32_t> sorted(layout.nodes.size());
    for (std::uint32_t i = 0; i < sorted.size(); ++i) sorted[i] = i;
    const auto key = [&](std::uint32_t i) {
        const GraphLayout::Node& node = layout.nodes[i];
        return std::tuple(node.stage, node.alone, node.queue, node.level, i);
    };
    std::sort(sorted.begin(), sorted.end(),
              [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    layout.places.resize(sorted.size());
    for (std::size_t begin = 0; begin < sorted.size();) {
        const GraphLayout::Node& first = layout.nodes[sorted[begin]];
        Step step;
        step.queue = first.queue;
        BatchLabels labels;
        std::size_t end = begin + 1;
        if (first.alone) {
            labels = {{first.label}, {0}};
            GraphLayout::Node& node = layout.nodes[sorted[begin]];
            step.hop = std::move(node.hop);
            step.call = std::move(node.call);
            step.between_all = node.between_all;
            step.uses = std::move(node.uses);
            at_once_ = false;
        } else {
            while (end < sorted.size() && !layout.nodes[sorted[end]].alone &&
                   layout.nodes[sorted[end]].stage == first.stage &&
                   layout.nodes[sorted[end]].queue == first.queue)
                ++end;
            step.batch =
                core_->queue(step.queue)
                    .prepare(layout.plan_batch({sorted.data() + begin, end - begin}, step.uses, labels));
        }
        step.labels = std::make_shared<const BatchLabels>(std::move(labels));
        for (const Footprint& use : step.uses) shared_ |= use.storage->shared();
        if (std::find(queues_.begin(), queues_.end(), step.queue) == queues_.end()) {
            queues_.push_back(step.queue);
        } else {
            at_once_ = false;
        }
        if (first.stage != 0) at_once_ = false;
        steps_.push_back(std::move(step));
        begin = end;
    }
    around_ = queues_;
    for (const Step& step : steps_) {
        if (step.hop && std::find(around_.begin(), around_.end(), step.hop->from_queue) == around_.end())
            around_.push_back(step.hop->from_queue);
    }
    all_.resize(core_->queue_count());
    std::iota(all_.begin(), all_.end(), 0u);
    if (arena.storage) kept_.push_back(arena.storage);
    choices_ = std::move(layout.choices);
    core_->add(*this);
}

GraphProgram::~GraphProgram() {
    const ContextCore::Visit visit(*core_);
    core_->remove(*this);
}

void GraphProgram::retire() noexcept {
    for (Step& step : steps_) {
        if (step.batch)
            core_->retire({step.queue, step.last}, std::shared_ptr<backends::Batch>(std::move(step.batch)));
        if (step.call) core_->retire({step.queue, step.last}, std::move(step.call));
    }
}

bool GraphProgram::is_current() const {
    return std::ranges::all_of(choices_, [](const SourceChoice& choice) {
        const auto now = nearest_replica(*choice.storage, choice.target,
                                         [](const Replica& replica) { return replica.written(); });
        return !now || *now == choice.source;  // none: the graph itself writes it
    });
}

void GraphProgram::check_usable() const {
    for (const Step& step : steps_) {
        for (const Footprint& use : step.uses) {
            if (use.replica->mapped()) use.storage->check_not_mapped(use.replica->home());
        }
    }
}

template <class F>
void GraphProgram::submit_step(Step& step, Submission& submission, F&& f) {
    try {
        submission.submit(std::forward<F>(f));
    } catch (...) {
        step.last = std::max(step.last, submission.point());  // a part may have been submitted
        throw;
    }
    step.last = submission.point();
}

void GraphProgram::run_hop(Step& step, const Run& run) {
    const PlannedHop& planned = *step.hop;
    const auto label = [&] { return place_of(step, run); };
    if (!planned.staging) {
        Submission submission(*core_, step.queue, step.uses, label,
                              {.with_queue = planned.from_queue, .order_locked = true});
        return submit_step(step, submission, [&] {
            return submit_direct(core_->queue(step.queue), *planned.to, *planned.from, planned.rows);
        });
    }
    Hop hop(*core_, {step.queue, planned.to, step.uses[0]}, {planned.from_queue, planned.from, step.uses[1]},
            label, true);
    try {
        hop.submit(planned.rows, *planned.staging);
    } catch (...) {
        step.last = std::max(step.last, hop.point());
        throw;
    }
    step.last = hop.point();
}

void GraphProgram::run_call(Step& step, const Run& run) {
    for (const unsigned other : around(step)) {
        if (other != step.queue) core_->order().after(step.queue, {other, core_->queue(other).last()});
    }
    // By pointer: a copy of the function would lose what it changes in itself. The step outlives the call.
    const auto call = [function = step.call.get()] { (*function)(); };
    const TimedCommand timed(*core_, step.queue, [&] { return place_of(step, run); });
    step.last = timed.submit([&] { return core_->queue(step.queue).call(call); });
    for (const unsigned other : around(step)) core_->order().after(other, {step.queue, step.last});
}

void GraphProgram::run_step(Step& step, const Run& run) {
    if (step.hop) return run_hop(step, run);
    if (step.call) return run_call(step, run);
    if (!step.batch) return;
    Submission submission(*core_, step.queue, step.uses, [&] { return place_of(step, run); },
                          {.order_locked = true});
    submit_step(step, submission,
                [&] { return core_->queue(step.queue).submit(*step.batch, run.instances, run.values); });
}

Event GraphProgram::submit(const Run& run) {
    const auto lock = shared_ ? core_->order().lock() : std::unique_lock<std::mutex>();
    if (at_once_) {
        for (Step& step : steps_) run_step(step, run);
    } else {
        const std::size_t stride = run.values.size() / run.instances;
        for (std::uint32_t i = 0; i < run.instances; ++i) {
            const Run one{1, run.values.subspan(i * stride, stride), run.first + i, run.submission};
            for (Step& step : steps_) run_step(step, one);
        }
    }
    Event event;
    for (const unsigned k : queues_) {
        if ((core_->timing() & ContextCore::stamped) != 0) {
            core_->add_mark(event, k, "command graph");
            continue;
        }
        core_->add_part(event, k, core_->queue(k).last(), "command graph");
    }
    return event;
}

}  // namespace volley::runtime
