// The order of whole programs, in enumerations too large for order_model_test.cpp.
#include "support/order_programs.hpp"
#include "support/random.hpp"
#include "support/sanitized.hpp"

#include <gtest/gtest.h>

namespace volley::testing {
namespace {

using How = OrderProgram::How;

void expect_it_holds(const std::string& wrong) {
    if (!wrong.empty()) ADD_FAILURE() << wrong;
}

TEST(OrderModelSlow, HoldsForAllProgramsOfThreeSteps) {
    for (const bool overlaps : {false, true}) {
        OrderProgram program({.overlaps = overlaps});
        for (const How how : {How::AtOnce, How::Recorded, How::PartlyRecorded}) {
            expect_it_holds(program.run_all(steps_on_views(), 3, how));
            expect_it_holds(program.run_all(steps_on_placements(), 3, how));
        }
        expect_it_holds(program.run_all(steps_with_the_host(), 3));
        expect_it_holds(program.run_all(steps_at_once(), 4));
    }
}

TEST(OrderModelSlow, HoldsForAllProgramsOfFourStepsOnViews) {
    if (sanitized) GTEST_SKIP() << "too slow; the tests with three steps suffice";
    OrderProgram program({.overlaps = true});
    expect_it_holds(program.run_all(steps_on_views(), 4));
}

TEST(OrderModelSlow, HoldsForAllProgramsOfThreeStepsOnTwoDevices) {
    OrderProgram devices({.devices = {"null:0", "null:1"}, .overlaps = true});
    expect_it_holds(devices.run_all(steps_on_placements(), 3));
    expect_it_holds(devices.run_all(steps_on_placements(), 3, How::Recorded));
}

TEST(OrderModelSlow, HoldsForLongRandomPrograms) {
    std::vector<ProgramStep> recorded;
    for (const auto& list :
         {steps_on_views(), steps_on_placements(), steps_with_the_host(), steps_that_stop()})
        recorded.insert(recorded.end(), list.begin(), list.end());
    std::vector<ProgramStep> at_once = recorded;
    for (const ProgramStep& step : steps_at_once()) at_once.push_back(step);
    for (const ProgramStep& step : steps_with_temporaries()) recorded.push_back(step);
    for (const std::vector<std::string>& names : {std::vector<std::string>{"null:0"}, {"null:0", "null:1"}}) {
        for (const bool overlaps : {false, true}) {
            OrderProgram program({.devices = names, .overlaps = overlaps});
            expect_it_holds(program.run_random(at_once, 60, 1000, seed_or(1)));
            expect_it_holds(program.run_random(recorded, 20, 1000, seed_or(2), How::Recorded));
        }
    }
}

}  // namespace
}  // namespace volley::testing
