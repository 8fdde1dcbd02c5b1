// Loads run only where their values are needed. The interpreter throws at a needed load out of bounds, so
// bodies are also run as they are and guarded, with the guarded form printed where its shape matters.
#include "passes/guard_loads.hpp"

#include "backends/reference/interpreter.hpp"
#include "pass_support.hpp"
#include "passes/check_bounds.hpp"
#include "passes/pipeline.hpp"

#include <volley/error.hpp>

#include <gtest/gtest.h>

namespace volley::passes {
namespace {

using Numbers = std::vector<std::uint32_t>;

constexpr std::string_view prologue = R"(%d = buffer u32 "data"
%o = buffer u32 "out"
%g = global_id : vec3<u32>
%x = extract %g[0] : u32
%0 = const 0 : u32
%1 = const 1 : u32
%2 = const 2 : u32
%4 = const 4 : u32
%before = sub %x, %1 : u32
%after = add %x, %1 : u32
%left = gt %x, %0 : bool
%right = lt %after, %4 : bool
)";

ir::Function guarded(std::string_view body) {
    ir::Function fn = kernel(std::string(prologue) + std::string(body));
    guard_loads(fn);
    ir::verify(fn);
    return fn;
}

// Runs four invocations on data = {10, 11, 12, 13} and returns the output.
Numbers interpreted(const ir::Function& fn) {
    Numbers data = {10, 11, 12, 13};
    Numbers out(4);
    const std::vector<backends::reference::Arg> args = {{data.data(), data.size()}, {out.data(), out.size()}};
    backends::reference::LaunchShape shape;
    shape.global = {4, 1, 1};
    unsigned reports = 0;
    backends::reference::interpret(fn, shape, args, [&](ir::NodeId, const std::byte*) { ++reports; });
    EXPECT_EQ(reports, 0u);
    return out;
}

// Returns the output, which must be the same as traced, guarded, optimised, and with checks of bounds.
Numbers output_of(std::string_view body) {
    ir::Function fn = kernel(std::string(prologue) + std::string(body));
    const Numbers expected = interpreted(fn);
    guard_loads(fn);
    ir::verify(fn);
    EXPECT_EQ(interpreted(fn), expected);
    ir::Function checked = fn;
    check_bounds(checked);
    optimise(checked, {.verify = true});
    EXPECT_EQ(interpreted(checked), expected);
    optimise(fn, {.verify = true});
    EXPECT_EQ(interpreted(fn), expected);
    return expected;
}

std::size_t loads_outside(const ir::Function& fn) {
    std::size_t n = 0;
    for (const ir::NodeId id : fn.nodes_of(fn.body)) {
        n += fn[id].op == ir::Op::Load && fn[fn.arg(id, 0)].op != ir::Op::Var ? 1 : 0;
    }
    return n;
}

constexpr std::string_view simple = R"(%v = load %d[%before] : u32
%s = select %left, %v, %0 : u32
store %o[%x], %s)";

TEST(GuardLoads, PutsALoadUnderTheConditionOfItsSelect) {
    EXPECT_EQ(after(guard_loads, std::string(prologue) + std::string(simple)),
              normal(R"(%d = buffer u32 "data"
%o = buffer u32 "out"
%g = global_id : vec3<u32>
%x = extract %g[0] : u32
%0 = const 0 : u32
%1 = const 1 : u32
%before = sub %x, %1 : u32
%left = gt %x, %0 : bool
%t = var u32
if %left {
  %v = load %d[%before] : u32
  store %t, %v
}
%r = load %t : u32
%s = select %left, %r, %0 : u32
store %o[%x], %s)"));
    EXPECT_EQ(output_of(simple), (Numbers{0, 10, 11, 12}));
}

TEST(GuardLoads, DoesNothingMoreTheSecondTime) {
    ir::Function fn = guarded(simple);
    const std::string once = body_of(fn);
    guard_loads(fn);
    EXPECT_EQ(body_of(fn), once);
}

TEST(GuardLoads, GuardsTheElseArmAndBothArms) {
    EXPECT_EQ(output_of(R"(%v = load %d[%before] : u32
%w = load %d[%after] : u32
%s = select %right, %w, %v : u32
store %o[%x], %s)"),
              (Numbers{11, 12, 13, 12}));
}

TEST(GuardLoads, GuardsTheRightOperandsOfAndAndOr) {
    EXPECT_EQ(output_of(R"(%v = load %d[%before] : u32
%odd = and %v, %1 : u32
%c = eq %odd, %1 : bool
%both = and %left, %c : bool
%n = select %both, %1, %0 : u32
store %o[%x], %n)"),
              (Numbers{0, 0, 1, 0}));
    EXPECT_EQ(output_of(R"(%v = load %d[%before] : u32
%odd = and %v, %1 : u32
%c = eq %odd, %1 : bool
%first = not %left : bool
%any = or %first, %c : bool
%n = select %any, %1, %0 : u32
store %o[%x], %n)"),
              (Numbers{1, 0, 1, 0}));
}

TEST(GuardLoads, KeepsLoadsThatAreUsedElsewhere) {
    const ir::Function fn = guarded(R"(%v = load %d[%x] : u32
%s = select %left, %v, %0 : u32
%sum = add %s, %v : u32
store %o[%x], %sum)");
    EXPECT_EQ(loads_outside(fn), 1u);
    EXPECT_EQ(count(fn, ir::Op::If), 0u);
}

TEST(GuardLoads, KeepsALoadThatBothArmsNeed) {
    EXPECT_EQ(loads_outside(guarded(R"(%v = load %d[%x] : u32
%w = add %v, %1 : u32
%s = select %left, %v, %w : u32
store %o[%x], %s)")),
              1u);
}

TEST(GuardLoads, ALoadOfTwoGuardsRunsUnderEither) {
    EXPECT_EQ(output_of(R"(%two = ge %x, %2 : bool
%v = load %d[%before] : u32
%s = select %left, %v, %0 : u32
%t = select %two, %v, %1 : u32
%sum = add %s, %t : u32
store %o[%x], %sum)"),
              (Numbers{1, 11, 22, 24}));
    const ir::Function fn = guarded(R"(%two = lt %x, %2 : bool
%v = load %d[%before] : u32
%s = select %left, %v, %0 : u32
%t = select %two, %v, %1 : u32
%sum = add %s, %t : u32
store %o[%x], %sum)");
    EXPECT_EQ(count(fn, ir::Op::Or), 1u);
}

TEST(GuardLoads, NestedGuardsNeedAllConditions) {
    // The second load's index is the result of the first.
    EXPECT_EQ(output_of(R"(%v = load %d[%before] : u32
%ten = const 10 : u32
%k = sub %v, %ten : u32
%small = lt %k, %2 : bool
%w = load %d[%k] : u32
%s = select %small, %w, %1 : u32
%t = select %left, %s, %0 : u32
store %o[%x], %t)"),
              (Numbers{0, 10, 11, 1}));
}

TEST(GuardLoads, AConditionOnTheLoadedValueItselfIsNoGuard) {
    EXPECT_EQ(output_of(R"(%v = load %d[%before] : u32
%ten = const 10 : u32
%big = gt %v, %ten : bool
%both = and %left, %big : bool
%s = select %both, %v, %0 : u32
store %o[%x], %s)"),
              (Numbers{0, 0, 11, 12}));
}

TEST(GuardLoads, TheConditionMayBeComputedAfterTheLoad) {
    EXPECT_EQ(output_of(R"(%v = load %d[%before] : u32
%c = lt %0, %x : bool
%s = select %c, %v, %0 : u32
store %o[%x], %s)"),
              (Numbers{0, 10, 11, 12}));
}

TEST(GuardLoads, NeverCrossesAStore) {
    // The old value is loaded, also if the condition is computed after the store.
    EXPECT_EQ(output_of(R"(%v = load %o[%before] : u32
%w = load %o[%x] : u32
store %o[%x], %4
%c = lt %0, %x : bool
%s = select %c, %w, %1 : u32
%t = select %c, %v, %0 : u32
%zero = mul %t, %0 : u32
%sum = add %s, %zero : u32
store %o[%x], %sum)"),
              (Numbers{1, 0, 0, 0}));
}

TEST(GuardLoads, MovesBelowAConditionWithAnEffect) {
    const std::string_view body = R"(%n = shared array<u32, 4>
%v = load %d[%before] : u32
%w = add %v, %1 : u32
%old = atomic_exchange %n[%x], %x : u32
%seen = load %n[%x] : u32
%c = gt %seen, %0 : bool
%s = select %c, %w, %0 : u32
store %o[%x], %s)";
    EXPECT_EQ(output_of(body), (Numbers{0, 11, 12, 13}));
    EXPECT_EQ(loads_outside(guarded(body)), 1u);  // of the shared array
}

TEST(GuardLoads, MovesNoLoadAboveAReturn) {
    EXPECT_EQ(output_of(R"(%v = load %d[%x] : u32
if %left {
  return
}
%y = add %x, %2 : u32
%u = load %d[%y] : u32
%c = gt %u, %0 : bool
%s = select %c, %v, %0 : u32
store %o[%x], %s)"),
              (Numbers{10, 0, 0, 0}));
}

TEST(GuardLoads, WorksInLoopsAndBranches) {
    EXPECT_EQ(output_of(R"(%sum = var u32
%k = for %0, %4, %1 : u32 {
  %at = add %x, %k : u32
  %in = lt %at, %4 : bool
  %v = load %d[%at] : u32
  %s = select %in, %v, %0 : u32
  %old = load %sum : u32
  %new = add %old, %s : u32
  store %sum, %new
  if %left {
    %far = sub %x, %2 : u32
    %u = load %d[%far] : u32
    %ok = ge %x, %2 : bool
    %t = select %ok, %u, %0 : u32
    %old2 = load %sum : u32
    %new2 = add %old2, %t : u32
    store %sum, %new2
  }
}
%r = load %sum : u32
store %o[%x], %r)"),
              (Numbers{46, 36, 65, 57}));
}

TEST(GuardLoads, GuardsIndexedArraysButNoConstantPlaces) {
    EXPECT_EQ(output_of(R"(%a = var array<u32, 2>
store %a[0], %4
store %a[1], %2
%in = lt %x, %2 : bool
%v = load %a[%x] : u32
%s = select %in, %v, %0 : u32
store %o[%x], %s)"),
              (Numbers{4, 2, 0, 0}));
    EXPECT_EQ(count(guarded(R"(%a = var array<u32, 2>
%v = load %a[1] : u32
%s = select %left, %v, %0 : u32
store %o[%x], %s)"),
                    ir::Op::If),
              0u);
}

TEST(GuardLoads, AVectorConditionGuardsTheWholeVector) {
    EXPECT_EQ(output_of(R"(%pair = construct %before, %x : vec2<u32>
%v = load %d[%before] : u32
%no = const false : bool
%c = construct %left, %no : vec2<bool>
%both = construct %v, %v : vec2<u32>
%s = select %c, %both, %pair : vec2<u32>
%first = extract %s[0] : u32
%i = add %first, %1 : u32
store %o[%x], %i)"),
              (Numbers{0, 11, 12, 13}));
}

TEST(GuardLoads, LoadsOfOneGuardShareABranch) {
    EXPECT_EQ(count(guarded(R"(%v = load %d[%before] : u32
%w = load %o[%before] : u32
%sum = add %v, %w : u32
%s = select %left, %sum, %0 : u32
store %o[%x], %s)"),
                    ir::Op::If),
              1u);
}

TEST(GuardLoads, ANeededLoadOutOfBoundsIsAnError) {
    EXPECT_THROW(output_of(R"(%v = load %d[%before] : u32
%s = select %right, %v, %0 : u32
store %o[%x], %s)"),
                 Error);
}

}  // namespace
}  // namespace volley::passes
