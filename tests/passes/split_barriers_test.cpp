// Segments between barriers, and the values that are live across them.
#include "passes/split_barriers.hpp"

#include "pass_support.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace volley::passes {
namespace {

using ir::NodeId;
using ir::Op;

constexpr std::string_view barriers_start = R"(%a = buffer f32 "a"
%p = param u32 "p"
%l = local_index : u32
%one = const 1 : u32
%tile = shared array<f32, 64>
)";

struct Planned {
    ir::Function fn;
    SegmentPlan plan;
};

Planned planned(std::string_view body) {
    Planned result;
    result.fn = kernel(std::string(barriers_start) + std::string(body));
    const Uniformity uniformity = analyse_uniformity(result.fn);
    check_barriers(result.fn, uniformity);
    result.plan = split_barriers(result.fn, uniformity);
    return result;
}

bool contains(const std::vector<NodeId>& nodes, NodeId id) {
    return std::find(nodes.begin(), nodes.end(), id) != nodes.end();
}

TEST(SplitBarriers, KernelsWithoutBarriersNeedNoPlan) {
    EXPECT_FALSE(
        has_barrier(kernel(std::string(barriers_start) + "%x = load %a[%l] : f32\nstore %a[%l], %x")));
    EXPECT_TRUE(has_barrier(kernel(std::string(barriers_start) + "barrier")));
}

TEST(SplitBarriers, ValuesFromMemoryAreSpilled) {
    const Planned p = planned(
        "%x = load %a[%l] : f32\nstore %tile[%l], %x\nbarrier\n%y = load %tile[%l] : f32\n"
        "%s = add %x, %y : f32\nstore %a[%l], %s");
    ASSERT_EQ(p.plan.segments.size(), 2u);
    const NodeId x = nodes_of(p.fn, Op::Load)[0];
    EXPECT_EQ(p.plan.spilled, std::vector<NodeId>{x});
    EXPECT_EQ(p.plan.segments[0].save, std::vector<NodeId>{x});
    EXPECT_EQ(p.plan.segments[1].reload, std::vector<NodeId>{x});
}

TEST(SplitBarriers, ArithmeticOnIdsIsRecomputed) {
    const Planned p = planned(
        "%f = const 1.0 : f32\n%i = mul %l, %p : u32\n%j = add %i, %one : u32\nstore %tile[%j], %f\n"
        "barrier\n%y = load %tile[%j] : f32\nstore %a[%j], %y");
    EXPECT_TRUE(p.plan.spilled.empty());
    EXPECT_EQ(p.plan.segments[1].recompute,
              (std::vector<NodeId>{nodes_of(p.fn, Op::LocalIndex)[0], nodes_of(p.fn, Op::Mul)[0],
                                   nodes_of(p.fn, Op::Add)[0]}));
}

TEST(SplitBarriers, UniformValuesAreComputedOncePerGroup) {
    const Planned p = planned("%n = load %a[%p] : f32\nbarrier\nstore %a[%l], %n");
    EXPECT_TRUE(p.plan.spilled.empty());
    const NodeId load = nodes_of(p.fn, Op::Load)[0];
    bool at_group_level = false;
    for (const GroupItem& item : p.plan.body.items)
        at_group_level |= item.kind == GroupItem::Node && item.node == load;
    EXPECT_TRUE(at_group_level);
}

TEST(SplitBarriers, AUniformLoadSeesEarlierWritesOfTheGroup) {
    const Planned p = planned(
        "%f = const 1.0 : f32\nstore %a[%p], %f\n%n = load %a[%p] : f32\nstore %tile[%l], %n\nbarrier");
    ASSERT_EQ(p.plan.segments.size(), 2u);
    EXPECT_TRUE(contains(p.plan.segments[0].nodes, nodes_of(p.fn, Op::Store)[0]));
    EXPECT_TRUE(contains(p.plan.segments[1].nodes, nodes_of(p.fn, Op::Store)[1]));
}

TEST(SplitBarriers, BodiesOfLoopsWithBarriersAreSplit) {
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
    EXPECT_EQ(p.plan.segments.size(), 5u);
    const auto loads = nodes_of(p.fn, Op::Load);
    EXPECT_EQ(p.plan.spilled, (std::vector<NodeId>{loads[0], loads[1]}));
    EXPECT_TRUE(contains(p.plan.segments[3].recompute, nodes_of(p.fn, Op::Add)[0]));
}

TEST(SplitBarriers, ControlFlowWithoutBarriersIsPartOfItsSegment) {
    const Planned p = planned(
        "%g = const 1.0 : f32\n%d = eq %l, %one : bool\nif %d {\nstore %a[0], %g\n}\nbarrier\n"
        "store %a[%l], %g");
    ASSERT_EQ(p.plan.segments.size(), 2u);
    EXPECT_TRUE(contains(p.plan.segments[0].nodes, nodes_of(p.fn, Op::If)[0]));
}

TEST(SplitBarriers, VariablesOfOneSegmentStayInIt) {
    const Planned p = planned(R"(%kept = var f32
%f = load %a[%l] : f32
store %kept, %f
barrier
%local = var f32
%g = load %tile[%l] : f32
store %local, %g
%y = load %local : f32
%z = load %kept : f32
%s = add %y, %z : f32
store %a[%l], %s)");
    const auto variables = nodes_of(p.fn, Op::Var);
    EXPECT_TRUE(p.plan.spilled_variable(variables[0]));
    EXPECT_FALSE(p.plan.spilled_variable(variables[1]));
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
    EXPECT_TRUE(p.plan.spilled_variable(nodes_of(p.fn, Op::Var)[0]));
}

TEST(SplitBarriers, UniformVariablesAreStoredOncePerGroup) {
    const Planned p = planned(R"(%width = var u32
store %width, %p
loop {
  %w = load %width : u32
  %done = eq %w, %one : bool
  if %done {
    break
  }
  barrier
  %half = shr %w, %one : u32
  store %width, %half
})");
    EXPECT_TRUE(p.plan.group_variable(nodes_of(p.fn, Op::Var)[0]));
    // No invocation accesses it.
    for (const Segment& segment : p.plan.segments) {
        for (const NodeId id : segment.nodes) EXPECT_EQ(p.fn[id].op, Op::LocalIndex);
    }
}

TEST(SplitBarriers, ExpensiveValuesAreSpilledNotRecomputed) {
    const Planned p =
        planned("%c = convert %l : f32\n%s = sin %c : f32\nbarrier\nstore %a[%l], %s\nstore %a[%p], %c");
    EXPECT_EQ(p.plan.spilled, nodes_of(p.fn, Op::Sin));
    EXPECT_TRUE(contains(p.plan.segments[1].recompute, nodes_of(p.fn, Op::Convert)[0]));
}

TEST(SplitBarriers, LanesThatReturnSeparatelyNeedAMask) {
    const Planned p = planned(
        "barrier\n%f = const 1.0 : f32\n%d = eq %l, %one : bool\nif %d {\nreturn\n}\nstore %a[%l], %f");
    EXPECT_TRUE(p.plan.masks);
}

}  // namespace
}  // namespace volley::passes
