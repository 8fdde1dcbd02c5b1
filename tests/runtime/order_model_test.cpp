// The order of whole programs on several queues: compares all short programs and random longer ones with the
// definition of what must be ordered.
#include "support/order_programs.hpp"
#include "support/random.hpp"
#include "support/sanitized.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace volley::testing {
namespace {

using How = OrderProgram::How;

constexpr auto share = unless_sanitized(1u, 10u);  // divides the number of programs

/// Parameter: whether the launches of a queue may overlap.
class OrderModel : public ::testing::TestWithParam<bool> {
protected:
    OrderProgram program{{.overlaps = GetParam()}};
    OrderProgram devices{{.devices = {"null:0", "null:1"}, .overlaps = GetParam()}};

    void TearDown() override { EXPECT_GT(program.commands() + devices.commands(), 1000 / share); }
};
INSTANTIATE_TEST_SUITE_P(Queues, OrderModel, ::testing::Bool(), [](const auto& test) {
    return std::string(test.param ? "overlapping" : "in_order");
});

std::vector<ProgramStep> together(std::vector<std::vector<ProgramStep>> lists) {
    std::vector<ProgramStep> steps;
    for (std::vector<ProgramStep>& list : lists)
        steps.insert(steps.end(), std::make_move_iterator(list.begin()), std::make_move_iterator(list.end()));
    return steps;
}

void expect_right(const std::string& wrong) {
    if (!wrong.empty()) ADD_FAILURE() << wrong;
}

TEST_P(OrderModel, HoldsOnViewsOfASharedReplica) {
    expect_right(program.run_all(steps_on_views(), 2));
    expect_right(program.run_random(steps_on_views(), 4, 2000 / share, seed_or(1)));
}

TEST_P(OrderModel, HoldsOnBuffersOfAllPlacements) {
    expect_right(program.run_all(steps_on_placements(), 2));
    expect_right(program.run_random(steps_on_placements(), 4, 2000 / share, seed_or(2)));
}

TEST_P(OrderModel, HoldsForTransfersAndShortLivedBuffers) {
    const std::vector<ProgramStep> steps = together({steps_with_the_host(), steps_at_once()});
    expect_right(program.run_all(steps, 2));
    expect_right(program.run_random(steps, 4, 2000 / share, seed_or(3)));
}

TEST_P(OrderModel, HoldsForCallbacks) {
    const std::vector<ProgramStep> steps = together({steps_on_placements(), steps_that_stop()});
    expect_right(program.run_random(steps, 4, 1000 / share, seed_or(4)));
    expect_right(program.run_random(steps, 8, 300 / share, seed_or(5), How::Recorded));
}

TEST_P(OrderModel, HoldsForLongPrograms) {
    const std::vector<ProgramStep> steps =
        together({steps_on_views(), steps_on_placements(), steps_with_the_host(), steps_at_once()});
    expect_right(program.run_random(steps, 40, 100 / share, seed_or(6)));
    expect_right(devices.run_random(steps, 40, 100 / share, seed_or(7)));
}

TEST_P(OrderModel, HoldsForGraphs) {
    expect_right(program.run_all(steps_on_views(), 2, How::Recorded));
    expect_right(program.run_all(steps_on_placements(), 2, How::Recorded));
    expect_right(program.run_random(together({steps_on_views(), steps_with_temporaries()}), 4, 300 / share,
                                    seed_or(8), How::Recorded));
}

TEST_P(OrderModel, HoldsForLongGraphs) {
    const std::vector<ProgramStep> steps =
        together({steps_on_views(), steps_on_placements(), steps_with_the_host(), steps_with_temporaries(),
                  steps_that_stop()});
    expect_right(program.run_random(steps, 15, 100 / share, seed_or(9), How::Recorded));
    expect_right(devices.run_random(steps, 15, 100 / share, seed_or(10), How::Recorded));
}

TEST_P(OrderModel, HoldsForInstancesOnSeveralQueues) {
    expect_right(program.run_random(together({steps_on_views(), steps_with_temporaries()}), 4, 300 / share,
                                    seed_or(11), How::Spread));
}

TEST_P(OrderModel, HoldsForGraphsAndLaterCommands) {
    expect_right(program.run_all(steps_on_views(), 2, How::PartlyRecorded));
    expect_right(program.run_random(together({steps_on_views(), steps_on_placements()}), 6, 300 / share,
                                    seed_or(12), How::PartlyRecorded));
}

TEST_P(OrderModel, HoldsBetweenDevices) {
    expect_right(devices.run_all(steps_on_placements(), 2));
    expect_right(devices.run_random(steps_on_placements(), 4, 300 / share, seed_or(13), How::Recorded));
}

}  // namespace
}  // namespace volley::testing
