// The granularity at which threads share a batch. Commands too small to justify another thread are grouped
// into tasks. One thread runs a task's commands in sequence; dependencies are counted only between tasks.
#pragma once

#include "backends/api/batch.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace volley::backends::cpu {

/// The cost of a command, for grouping.
struct Weight {
    double ns = 0;
    std::uint32_t pieces = 1;
};

struct TaskPlan {
    std::vector<std::uint32_t> commands;  // in execution order; exactly one if it has several pieces
    std::vector<std::uint32_t> after;     // distinct, earlier tasks that must complete first
    Weight weight;
};

/// Assigns each command to one task; a task starts when all tasks that it is `after` have completed.
/// Preserves as much of the commands' parallelism as that many threads can use:
/// - commands that can only run in sequence form one task, up to the cost of a piece;
/// - so do commands that depend on a single task, as long as the whole is cheaper than a second thread;
/// - small tasks that could run concurrently are merged, leaving several for each thread.
[[nodiscard]] std::vector<TaskPlan> plan_tasks(std::span<const backends::BatchCommand> commands,
                                               std::span<const Weight> weights, unsigned threads);

}  // namespace volley::backends::cpu
