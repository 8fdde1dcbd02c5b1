// The whole pipeline, and the passes for hoisting and splitting.
#include "passes/pipeline.hpp"

#include "pass_support.hpp"
#include "passes/hoist_invariants.hpp"
#include "passes/split_composites.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace volley::passes {
namespace {

using ir::Op;

TEST(HoistInvariants, MovesInvariantsOutOfAllLoops) {
    EXPECT_EQ(after(hoist_invariants, R"(%a = buffer f32 "a"
%n = param u32 "n"
%f = param f32 "f"
%z = const 0 : u32
%one = const 1 : u32
%i = for %z, %n, %one : u32 {
  %j = for %z, %n, %one : u32 {
    %c = const 2.0 : f32
    %x = mul %f, %c : f32
    %s = add %i, %j : u32
    %t = mul %i, %n : u32
    store %a[%s], %x
    store %a[%t], %x
  }
})"),
              normal(R"(%a = buffer f32 "a"
%n = param u32 "n"
%f = param f32 "f"
%z = const 0 : u32
%one = const 1 : u32
%c = const 2.0 : f32
%x = mul %f, %c : f32
%i = for %z, %n, %one : u32 {
  %t = mul %i, %n : u32
  %j = for %z, %n, %one : u32 {
    %s = add %i, %j : u32
    store %a[%s], %x
    store %a[%t], %x
  }
})"));
}

TEST(HoistInvariants, KeepsLoadsThatMayFaultAndVariablesThatChange) {
    ir::Function fn = kernel(R"(%a = buffer f32 "a"
%n = param u32 "n"
%one = const 1 : u32
%v = var f32
%w = var f32
%i = for %one, %n, %one : u32 {
  %x = load %a[%n] : f32
  %y = load %v : f32
  %z = load %w : f32
  %s = add %x, %y : f32
  %t = add %s, %z : f32
  store %v, %t
  store %a[%i], %t
})");
    hoist_invariants(fn);
    ir::verify(fn);
    std::vector<Op> body;
    for (const ir::NodeId id : fn.nodes_of(fn.body)) body.push_back(fn[id].op);
    EXPECT_EQ(std::count(body.begin(), body.end(), Op::Load), 1);  // of %w
}

TEST(HoistInvariants, KeepsValuesInLoopsWithBarriers) {
    const std::string text = R"(%0 = buffer u32 "a"
%1 = param u32 "n"
%2 = local_index : u32
%3 = const 1 : u32
%4 = for %3, %1, %3 : u32 {
  %5 = add %2, %1 : u32
  barrier
  store %0[%5], %5
}
)";
    EXPECT_EQ(after(hoist_invariants, text), text);
}

TEST(SplitComposites, ComplexArithmeticIsSplitIntoParts) {
    EXPECT_EQ(after(split_composites, R"(%o = buffer complex<f32> "o"
%x = param complex<f32> "x"
%y = param complex<f32> "y"
%s = sub %x, %y : complex<f32>
store %o[0], %s)"),
              R"(%0 = buffer complex<f32> "o"
%1 = param complex<f32> "x"
%2 = param complex<f32> "y"
%3 = extract %1[0] : f32
%4 = extract %2[0] : f32
%5 = sub %3, %4 : f32
%6 = extract %1[1] : f32
%7 = extract %2[1] : f32
%8 = sub %6, %7 : f32
%9 = construct %5, %8 : complex<f32>
store %0[0], %9
)");
}

TEST(SplitComposites, VectorsAreSplitIfOnlyComponentsAreUsed) {
    const std::string_view apart = R"(%o = buffer f32 "o"
%x = param vec3<f32> "x"
%m = mul %x, %x : vec3<f32>
%s = add %m, %x : vec3<f32>
%r = extract %s[1] : f32
store %o[0], %r)";
    ir::Function fn = kernel(apart);
    optimise(fn);
    for (const ir::NodeId id : fn.nodes_of(fn.body))
        EXPECT_TRUE(fn[id].op == Op::Param || !fn.type(id).is_vector());
    const std::string text = R"(%0 = buffer vec3<f32> "o"
%1 = param vec3<f32> "x"
%2 = mul %1, %1 : vec3<f32>
store %0[0], %2
)";
    EXPECT_EQ(after(split_composites, text), text);
}

TEST(Pipeline, ContractsThroughComplexNumbers) {
    // acc += x * y, with the product written in parts.
    ir::Function fn = kernel(R"(%a = buffer complex<f32> "a"
%x = param complex<f32> "x"
%y = param complex<f32> "y"
%acc = load %a[0] : complex<f32>
%xr = extract %x[0] : f32
%xi = extract %x[1] : f32
%yr = extract %y[0] : f32
%yi = extract %y[1] : f32
%rr = mul %xr, %yr : f32
%ii = mul %xi, %yi : f32
%ri = mul %xr, %yi : f32
%ir = mul %xi, %yr : f32
%re = sub %rr, %ii : f32
%im = add %ri, %ir : f32
%p = construct %re, %im : complex<f32>
%s = add %acc, %p : complex<f32>
store %a[0], %s)");
    optimise(fn);
    EXPECT_EQ(count(fn, Op::Fma), 2u);
    EXPECT_EQ(count(fn, Op::Mul), 2u);
    EXPECT_EQ(count(fn, Op::Add), 2u);
    EXPECT_EQ(count(fn, Op::Load), 1u);
}

TEST(Pipeline, StraightLineVariablesDisappear) {
    ir::Function fn = kernel(R"(%a = buffer f32 "a"
%i = param u32 "i"
%v = var f32
%x = load %a[%i] : f32
store %v, %x
%y = load %v : f32
%z = mul %y, %y : f32
store %v, %z
%r = load %v : f32
store %a[%i], %r)");
    optimise(fn);
    EXPECT_EQ(
        body_of(fn),
        normal("%a = buffer f32 \"a\"\n%i = param u32 \"i\"\n%x = load %a[%i] : f32\n%z = mul %x, %x : f32\n"
               "store %a[%i], %z"));
}

TEST(Pipeline, DumpsEachPass) {
    ir::Function fn = kernel("%a = buffer f32 \"a\"");
    std::vector<std::string> names;
    optimise(fn, {.dump = [&](std::string_view pass, const ir::Function&) { names.emplace_back(pass); }});
    EXPECT_THAT(names, ::testing::IsSupersetOf({"fold_constants", "eliminate_common", "eliminate_dead",
                                                "narrow_loads", "contract_fma"}));
    EXPECT_EQ(names.front(), "guard_loads");
}

TEST(Pipeline, IsDeterministicAndReachesAFixpoint) {
    const std::string_view text = R"(%a = buffer vec4<f32> "a"
%n = param u32 "n"
%g = global_id : vec3<u32>
%i = extract %g[0] : u32
%z = const 0 : u32
%one = const 1 : u32
%v = var vec4<f32>
%k = for %z, %n, %one : u32 {
  %j = add %i, %k : u32
  %x = load %a[%j] : vec4<f32>
  %y = load %v : vec4<f32>
  %m = mul %x, %x : vec4<f32>
  %s = add %y, %m : vec4<f32>
  store %v, %s
}
%r = load %v : vec4<f32>
store %a[%i], %r)";
    ir::Function first = kernel(text);
    ir::Function second = kernel(text);
    optimise(first);
    optimise(second);
    EXPECT_EQ(ir::print(first), ir::print(second));
    optimise(second);
    EXPECT_EQ(ir::print(first), ir::print(second));
}

}  // namespace
}  // namespace volley::passes
