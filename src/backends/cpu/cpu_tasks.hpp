// The grain at which threads share a batch. Commands that are too small to be worth another thread are put
// together into tasks: one thread runs a task's commands one after the other, and only between tasks is
// anything counted.
#pragma once

#include "backends/api/batch.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace volley::backends::cpu {

/// What grouping has to know of a command.
struct Weight {
    double ns = 0;
    std::uint32_t pieces = 1;
};

struct TaskPlan {
    std::vector<std::uint32_t>
        commands;                      // in the order in which they run; one alone if it has several pieces
    std::vector<std::uint32_t> after;  // tasks that must be done before, each once: all before it in the list
    Weight weight;
};

/// Each command in one task; a task starts when those that it is after have ended. What the tasks leave of
/// the commands' freedom to run side by side is what that many threads can use:
/// - commands that can only follow each other are one task, up to a piece's worth;
/// - so are those that depend on nothing but one task, as long as all of it is cheaper than a second thread;
/// - of many small tasks that could run at the same time, several are one, so that some are left for each
/// thread.
[[nodiscard]] std::vector<TaskPlan> plan_tasks(std::span<const backends::BatchCommand> commands,
                                               std::span<const Weight> weights, unsigned threads);

}  // namespace volley::backends::cpu
