// Segments between barriers, and what lives across them.
#include "passes/split_barriers.hpp"

#include "pass_support.hpp"

#include <gtest/gtest.h>

namespace volley::passes {
namespace {

using ir::NodeId;
using ir::Op;

constexpr std::string_view start = R"(%a = buffer f32 "a"
%p = param u32 "p"
%l = local_index : u32
%one = const 1 : u32
%tile = shared array<f32, 64>
)";

struct Planned {
    ir::Function fn;
    BarrierPlan plan;
};

Planned planned(std::string_view body) {
    Planned result;
    result.fn = kernel(std::string(start) + std::string(body));
    const Uniformity uniformity = analyse_uniformity(result.fn);
    check_barriers(result.fn, uniformity);
    result.plan = plan_barriers(result.fn, uniformity);
    return result;
}

TEST(SplitBarriers, NothingToDoWithoutBarriers) {
    const Planned p = planned("%x = load %a[%l] : f32\nstore %a[%l], %x");
    EXPECT_FALSE(p.plan.any);
    EXPECT_TRUE(p.plan.spilled.empty());
}

TEST(SplitBarriers, ValuesFromMemoryAreSpilled) {
    const Planned p = planned("%x = load %a[%l] : f32\nstore %tile[%l], %x\nbarrier\n%y = load %tile[%l] : f32\n"
                              "%s = add %x, %y : f32\nstore %a[%l], %s");
    EXPECT_TRUE(p.plan.any);
    EXPECT_EQ(p.plan.segment_count, 2u);
    EXPECT_EQ(p.plan.spilled, std::vector<NodeId>{nodes_of(p.fn, Op::Load)[0]});
    EXPECT_TRUE(p.plan.recompute.empty());
}

TEST(SplitBarriers, ArithmeticOnIdsIsDoneAgain) {
    const Planned p = planned("%f = const 1.0 : f32\n%i = mul %l, %p : u32\n%j = add %i, %one : u32\nstore %tile[%j], %f\n"
                              "barrier\n%y = load %tile[%j] : f32\nstore %a[%j], %y");
    EXPECT_TRUE(p.plan.spilled.empty());
    EXPECT_EQ(p.plan.recompute, (std::vector<NodeId>{nodes_of(p.fn, Op::Mul)[0], nodes_of(p.fn, Op::Add)[0]}));
}

TEST(SplitBarriers, UniformValuesAreCarriedOnce) {
    const Planned p = planned("%n = load %a[%p] : f32\nbarrier\nstore %a[%l], %n");
    EXPECT_TRUE(p.plan.spilled.empty());
    EXPECT_EQ(p.plan.carried, nodes_of(p.fn, Op::Load));
}

TEST(SplitBarriers, LoopsWithBarriersAreCutInside) {
    const Planned p = planned(R"(%x = load %a[%l] : f32
%k = for %one, %p, %one : u32 {
  store %tile[%l], %x
  barrier
  %i = add %l, %k : u32
  %y = load %tile[%i] : f32
  barrier
  store %a[%i], %y
}
store %a[%l], %x)");
    EXPECT_EQ(p.plan.segment_count, 5u);
    const auto loads = nodes_of(p.fn, Op::Load);
    EXPECT_EQ(p.plan.spilled, (std::vector<NodeId>{loads[0], loads[1]}));
    EXPECT_EQ(p.plan.recompute, nodes_of(p.fn, Op::Add));
    const NodeId loop = nodes_of(p.fn, Op::For)[0];
    EXPECT_TRUE(p.plan.region_has_barrier[p.fn[loop].regions[0]]);
    EXPECT_EQ(p.plan.segment[loop], ir::none);
}

TEST(SplitBarriers, ControlFlowWithoutBarriersIsPartOfItsSegment) {
    const Planned p = planned("%g = const 1.0 : f32\n%d = eq %l, %one : bool\nif %d {\nstore %a[0], %g\n}\nbarrier\n"
                              "store %a[%l], %g");
    EXPECT_EQ(p.plan.segment_count, 2u);
    const auto stores = nodes_of(p.fn, Op::Store);
    EXPECT_EQ(p.plan.segment[stores[0]], p.plan.segment[nodes_of(p.fn, Op::If)[0]]);
    EXPECT_EQ(p.plan.segment[stores[0]], 0u);
    EXPECT_EQ(p.plan.segment[stores[1]], 1u);
}

TEST(SplitBarriers, VariablesAreKeptOnlyWhenTheirValueCrosses) {
    const Planned p = planned(R"(%local = var f32
%kept = var f32
%f = load %a[%l] : f32
store %local, %f
store %kept, %f
%x = load %local : f32
store %tile[%l], %x
barrier
%g = load %tile[0] : f32
store %local, %g
%y = load %local : f32
%z = load %kept : f32
%s = add %y, %z : f32
store %a[%l], %s)");
    EXPECT_EQ(p.plan.spilled_vars, std::vector<NodeId>{nodes_of(p.fn, Op::Var)[1]});
}

TEST(SplitBarriers, AccumulatorsOfLoopsWithBarriersAreKept) {
    const Planned p = planned(R"(%acc = var f32
%k = for %one, %p, %one : u32 {
  barrier
  %x = load %acc : f32
  %y = load %tile[%l] : f32
  %s = add %x, %y : f32
  store %acc, %s
}
%r = load %acc : f32
store %a[%l], %r)");
    EXPECT_EQ(p.plan.spilled_vars, nodes_of(p.fn, Op::Var));
}

TEST(SplitBarriers, ExpensiveValuesAreSpilledNotDoneAgain) {
    const Planned p = planned("%c = convert %l : f32\n%s = sin %c : f32\nbarrier\nstore %a[%l], %s\nstore %a[%p], %c");
    EXPECT_EQ(p.plan.spilled, nodes_of(p.fn, Op::Sin));
    EXPECT_EQ(p.plan.recompute, nodes_of(p.fn, Op::Convert));
}

}  // namespace
}  // namespace volley::passes
