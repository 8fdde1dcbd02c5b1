// Grouping of a batch's commands into tasks.
#include "backends/cpu/cpu_tasks.hpp"

#include "backends/cpu/cpu_launch.hpp"
#include "support/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace volley::backends::cpu {
namespace {

using testing::Random;
using testing::seed_or;

/// Commands that have only dependencies and weights.
struct CommandList {
    std::vector<backends::BatchCommand> commands;
    std::vector<Weight> weights;

    std::uint32_t add(double ns, std::vector<std::uint32_t> after, std::uint32_t pieces = 1) {
        backends::BatchCommand command;
        command.after = std::move(after);
        commands.push_back(std::move(command));
        weights.push_back({ns, pieces});
        return static_cast<std::uint32_t>(commands.size() - 1);
    }
    [[nodiscard]] std::vector<TaskPlan> tasks(unsigned threads = 2) const {
        return plan_tasks(commands, weights, threads);
    }
};

TEST(CpuTasks, SplitsAChainAtTheCostOfAPiece) {
    CommandList list;
    std::uint32_t last = list.add(100, {});
    for (int k = 1; k < 1000; ++k) last = list.add(100, {last});
    const std::vector<TaskPlan> tasks = list.tasks();
    EXPECT_EQ(tasks.size(), 5u);
    for (std::size_t t = 0; t < tasks.size(); ++t) {
        EXPECT_LE(tasks[t].weight.ns, piece_ns);
        EXPECT_EQ(tasks[t].after.size(), t == 0 ? 0u : 1u);
    }
}

TEST(CpuTasks, KeepsIndependentChainsSeparate) {
    CommandList list;
    for (std::uint32_t k = 0; k < 400; ++k)
        list.add(1000, k < 2 ? std::vector<std::uint32_t>{} : std::vector{k - 2});
    const std::vector<TaskPlan> tasks = list.tasks();
    for (const TaskPlan& task : tasks) {
        for (const std::uint32_t command : task.commands) EXPECT_EQ(command % 2, task.commands[0] % 2);
    }
}

TEST(CpuTasks, MergesForksThatAreCheaperThanAnotherThread) {
    CommandList list;
    const std::uint32_t first = list.add(500, {});
    const std::uint32_t left = list.add(500, {first});
    const std::uint32_t right = list.add(500, {first});
    list.add(500, {left, right});
    EXPECT_EQ(list.tasks().size(), 1u);
}

TEST(CpuTasks, KeepsCostlyForksSeparate) {
    CommandList list;
    const std::uint32_t first = list.add(500, {});
    const std::uint32_t left = list.add(9000, {first});
    const std::uint32_t right = list.add(9000, {first});
    list.add(500, {left, right});
    EXPECT_EQ(list.tasks().size(), 4u);
}

TEST(CpuTasks, LeavesSeveralSmallTasksForEachThread) {
    CommandList list;
    for (int k = 0; k < 1000; ++k) list.add(100, {});
    for (const unsigned threads : {2u, 16u}) {
        const std::vector<TaskPlan> tasks = list.tasks(threads);
        EXPECT_GE(tasks.size(), std::size_t{4} * threads);
        EXPECT_LE(tasks.size(), std::size_t{10} * threads);
        EXPECT_LE(tasks[0].weight.ns, small_ns);
    }
}

TEST(CpuTasks, PutsACommandWithPiecesIntoItsOwnTask) {
    CommandList list;
    const std::uint32_t first = list.add(100, {});
    const std::uint32_t wide = list.add(100, {first}, 4);
    list.add(100, {wide});
    const std::vector<TaskPlan> tasks = list.tasks();
    ASSERT_EQ(tasks.size(), 3u);
    EXPECT_EQ(tasks[1].weight.pieces, 4u);
}

TEST(CpuTasks, KeepsEveryCommandAndItsOrder) {
    for (int k = 0; k < 300; ++k) {
        const std::uint64_t seed = seed_or(static_cast<std::uint64_t>(k) + 1);
        SCOPED_TRACE("VOLLEY_SEED=" + std::to_string(seed));
        Random random(seed);
        CommandList list;
        const std::uint64_t count = 1 + random.below(random.pick<std::uint64_t>({5, 50, 200}));
        for (std::uint64_t i = 0; i < count; ++i) {
            std::vector<std::uint32_t> after;
            const std::uint64_t wanted = random.pick<std::uint64_t>({0, 1, 1, 2, 3});
            for (std::uint64_t a = 0; a < std::min(wanted, i); ++a) {
                const std::uint64_t back =
                    1 + random.below(std::min<std::uint64_t>(i, random.chance(70) ? 4 : i));
                after.push_back(static_cast<std::uint32_t>(i - back));
            }
            std::sort(after.begin(), after.end());
            after.erase(std::unique(after.begin(), after.end()), after.end());
            const bool wide = random.chance(10);
            list.add(random.uniform(0, random.chance(80) ? 1000 : 50'000), std::move(after), wide ? 5 : 1);
        }
        const std::vector<TaskPlan> tasks = list.tasks(static_cast<unsigned>(1 + random.below(4)));

        // The position of each command, and the tasks known to have completed before each task starts.
        std::vector<std::pair<std::size_t, std::size_t>> place(count, {tasks.size(), 0});
        std::vector<std::vector<bool>> ended(tasks.size(), std::vector<bool>(tasks.size(), false));
        for (std::size_t t = 0; t < tasks.size(); ++t) {
            for (const std::uint32_t before : tasks[t].after) {
                ASSERT_LT(before, t);
                ended[t][before] = true;
                for (std::size_t i = 0; i < before; ++i) ended[t][i] = ended[t][i] || ended[before][i];
            }
            for (std::size_t i = 0; i < tasks[t].commands.size(); ++i) {
                const std::uint32_t command = tasks[t].commands[i];
                ASSERT_EQ(place[command].first, tasks.size()) << "command " << command << " occurs twice";
                place[command] = {t, i};
                ASSERT_EQ(list.weights[command].pieces, tasks[t].weight.pieces);
            }
        }
        for (std::uint32_t i = 0; i < count; ++i) {
            const auto [task, at] = place[i];
            ASSERT_LT(task, tasks.size()) << "command " << i << " is missing";
            for (const std::uint32_t before : list.commands[i].after) {
                const auto [other, other_at] = place[before];
                ASSERT_TRUE(other == task ? other_at < at : ended[task][other]) << before << " before " << i;
            }
        }
    }
}

}  // namespace
}  // namespace volley::backends::cpu
