// Works in two steps. First, each command joins the task of the commands that it depends on, or starts a new
// one. A task's dependencies are those of its first command, so no cycle can arise. Second, tasks of the same
// level (the longest dependency path to them) are merged. Dependencies always lead from lower levels to
// higher ones, before and after merging.
#include "backends/cpu/cpu_tasks.hpp"

#include "backends/cpu/cpu_launch.hpp"

#include <algorithm>

namespace volley::backends::cpu {
namespace {

using Tasks = std::vector<TaskPlan>;

void sort_once(std::vector<std::uint32_t>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
}

/// Returns whether a command that depends only on commands of `task` should run in it, after them.
bool joins(const TaskPlan& task, const Weight& weight, bool in_line) {
    if (task.weight.pieces != 1 || weight.pieces != 1) return false;
    return task.weight.ns + weight.ns <= (in_line ? piece_ns : small_ns);
}

Tasks join_followers(std::span<const backends::BatchCommand> commands, std::span<const Weight> weights) {
    std::vector<std::uint32_t> followers(commands.size(), 0);
    for (const backends::BatchCommand& command : commands) {
        for (const std::uint32_t before : command.after) ++followers[before];
    }
    Tasks tasks;
    std::vector<std::uint32_t> task_of(commands.size());
    for (std::uint32_t i = 0; i < commands.size(); ++i) {
        std::vector<std::uint32_t> after;
        for (const std::uint32_t before : commands[i].after) after.push_back(task_of[before]);
        sort_once(after);
        if (after.size() == 1) {
            TaskPlan& task = tasks[after[0]];
            const std::uint32_t last = task.commands.back();
            const bool in_line =
                commands[i].after.size() == 1 && commands[i].after[0] == last && followers[last] == 1;
            if (joins(task, weights[i], in_line)) {
                task.commands.push_back(i);
                task.weight.ns += weights[i].ns;
                task_of[i] = after[0];
                continue;
            }
        }
        task_of[i] = static_cast<std::uint32_t>(tasks.size());
        tasks.push_back({{i}, std::move(after), weights[i]});
    }
    return tasks;
}

/// Groups tasks by level, keeping their order.
std::vector<std::vector<std::uint32_t>> levels_of(const Tasks& tasks) {
    std::vector<std::vector<std::uint32_t>> levels;
    std::vector<std::size_t> level(tasks.size(), 0);
    for (std::uint32_t i = 0; i < tasks.size(); ++i) {
        for (const std::uint32_t before : tasks[i].after) level[i] = std::max(level[i], level[before] + 1);
        if (level[i] >= levels.size()) levels.resize(level[i] + 1);
        levels[level[i]].push_back(i);
    }
    return levels;
}

/// Returns the target duration of merged small tasks of a level, or 0 if the level has few enough tasks.
double bundle_ns(const Tasks& tasks, std::span<const std::uint32_t> level, unsigned threads) {
    // Four tasks per thread balance the load.
    const std::size_t enough = std::size_t{4} * threads;
    double sum = 0;
    for (const std::uint32_t i : level) sum += tasks[i].weight.ns;
    return level.size() <= enough ? 0 : std::min(small_ns, sum / static_cast<double>(enough));
}

Tasks join_neighbours(Tasks tasks, unsigned threads) {
    Tasks result;
    std::vector<std::uint32_t> moved(tasks.size());  // index of each task in the result
    for (const std::vector<std::uint32_t>& level : levels_of(tasks)) {
        const double limit = bundle_ns(tasks, level, threads);
        const std::size_t first = result.size();
        for (const std::uint32_t i : level) {
            TaskPlan& task = tasks[i];
            for (std::uint32_t& before : task.after) before = moved[before];
            TaskPlan* to = result.size() > first ? &result.back() : nullptr;
            const bool fits = to != nullptr && to->weight.pieces == 1 && task.weight.pieces == 1 &&
                              to->weight.ns + task.weight.ns <= limit;
            if (fits) {
                to->commands.insert(to->commands.end(), task.commands.begin(), task.commands.end());
                to->after.insert(to->after.end(), task.after.begin(), task.after.end());
                to->weight.ns += task.weight.ns;
            } else {
                result.push_back(std::move(task));
            }
            moved[i] = static_cast<std::uint32_t>(result.size() - 1);
        }
        for (std::size_t i = first; i < result.size(); ++i) sort_once(result[i].after);
    }
    return result;
}

}  // namespace

std::vector<TaskPlan> plan_tasks(std::span<const backends::BatchCommand> commands,
                                 std::span<const Weight> weights, unsigned threads) {
    return join_neighbours(join_followers(commands, weights), threads);
}

}  // namespace volley::backends::cpu
