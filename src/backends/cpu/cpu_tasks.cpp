// In two steps. First each command joins the task of those that it follows, or begins one: a task's
// dependencies are then those of its first command, so that nothing can come to depend on itself. Then tasks
// of one level (the longest way to them through the others) are put together: dependencies go from lower
// levels to higher ones before and after.
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

/// Whether a command that follows commands of `task` alone is better run right behind it.
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

/// By level, in the order that they had.
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

/// How much of a level's small tasks is to be one; nothing if there are not too many of them.
double bundle_ns(const Tasks& tasks, std::span<const std::uint32_t> level, unsigned threads) {
    // Four a thread even out what the other threads do.
    const std::size_t enough = std::size_t{4} * threads;
    double sum = 0;
    for (const std::uint32_t i : level) sum += tasks[i].weight.ns;
    return level.size() <= enough ? 0 : std::min(small_ns, sum / static_cast<double>(enough));
}

Tasks join_neighbours(Tasks tasks, unsigned threads) {
    Tasks result;
    std::vector<std::uint32_t> moved(tasks.size());  // where a task is in the result
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
