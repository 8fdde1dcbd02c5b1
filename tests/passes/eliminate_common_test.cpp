// Merging of equal operations and known memory: what may be reused, and every kind of write that prevents it.
#include "passes/eliminate_common.hpp"

#include "pass_support.hpp"

#include <gtest/gtest.h>

namespace volley::passes {
namespace {

using ir::Op;

constexpr std::string_view common_start = R"(%a = buffer f32 "a"
%c = buffer f32 "c"
%i = param u32 "i"
%j = param u32 "j"
%b = param bool "b"
%tile = shared array<f32, 64>
)";

ir::Function merged(std::string_view body) {
    ir::Function fn = kernel(std::string(common_start) + std::string(body));
    eliminate_common(fn);
    ir::verify(fn);
    return fn;
}
std::size_t loads_left(std::string_view body) { return count(merged(body), Op::Load); }

TEST(EliminateCommon, MergesEqualOperations) {
    const ir::Function fn = merged(R"(%f = const 1.0 : f32
%x = add %i, %j : u32
%y = add %j, %i : u32
%p = sub %i, %j : u32
%q = sub %j, %i : u32
store %a[%x], %f
store %a[%y], %f
store %a[%p], %f
store %a[%q], %f)");
    EXPECT_EQ(count(fn, Op::Add), 1u);
    EXPECT_EQ(count(fn, Op::Sub), 2u);
}

TEST(EliminateCommon, MergesOnlyWithDominatingOperations) {
    const ir::Function fn = merged(R"(%f = const 1.0 : f32
if %b {
  %x = add %i, %j : u32
  store %a[%x], %f
} else {
  %x = add %i, %j : u32
  store %a[%x], %f
}
%y = add %i, %j : u32
if %b {
  %z = add %i, %j : u32
  store %a[%z], %f
}
store %a[%y], %f)");
    EXPECT_EQ(count(fn, Op::Add), 3u);
}

TEST(EliminateCommon, ReusesALoadWithoutAnInterveningWrite) {
    EXPECT_EQ(
        loads_left("%x = load %a[%i] : f32\n%y = load %a[%i] : f32\n%s = add %x, %y : f32\nstore %c[%i], %s"),
        1u);
}

TEST(EliminateCommon, AStoreToAnotherBufferMayAlias) {
    EXPECT_EQ(
        loads_left("%x = load %a[%i] : f32\nstore %c[%j], %x\n%y = load %a[%i] : f32\nstore %c[%i], %y"), 2u);
}

TEST(EliminateCommon, AStoreToAnotherIndexMayAlias) {
    EXPECT_EQ(
        loads_left("%x = load %a[%i] : f32\nstore %a[%j], %x\n%y = load %a[%i] : f32\nstore %c[%i], %y"), 2u);
    // Different constants are different locations.
    EXPECT_EQ(loads_left("%x = load %a[0] : f32\nstore %a[1], %x\n%y = load %a[0] : f32\nstore %c[%i], %y"),
              1u);
}

TEST(EliminateCommon, ForwardsAStoreToALoad) {
    const ir::Function fn =
        merged("%f = const 1.0 : f32\nstore %a[%i], %f\n%y = load %a[%i] : f32\nstore %c[%i], %y");
    EXPECT_EQ(count(fn, Op::Load), 0u);
    EXPECT_EQ(stored(fn, 1), stored(fn, 0));
}

TEST(EliminateCommon, SharedMemoryDoesNotAliasBuffers) {
    EXPECT_EQ(loads_left(
                  "%x = load %tile[%i] : f32\nstore %a[%i], %x\n%y = load %tile[%i] : f32\nstore %c[%i], %y"),
              1u);
    EXPECT_EQ(
        loads_left("%x = load %a[%i] : f32\nstore %tile[%i], %x\n%y = load %a[%i] : f32\nstore %c[%i], %y"),
        1u);
}

TEST(EliminateCommon, BarriersAndFencesInvalidateBuffersAndSharedMemory) {
    for (const char* sync : {"barrier", "subgroup_barrier", "fence all"}) {
        EXPECT_EQ(loads_left("%x = load %tile[%i] : f32\n" + std::string(sync) +
                             "\n%y = load %tile[%i] : f32\n%s = add %x, %y : f32\nstore %c[%i], %s"),
                  2u)
            << sync;
        EXPECT_EQ(loads_left("%f = const 2.0 : f32\nstore %a[%i], %f\n" + std::string(sync) +
                             "\n%y = load %a[%i] : f32\nstore %c[%i], %y"),
                  1u)
            << sync;
    }
    // A variable is private to the invocation.
    EXPECT_EQ(loads_left("%v = var f32\n%f = load %a[%i] : f32\nstore %v, %f\nbarrier\n%y = load %v : "
                         "f32\nstore %c[%i], %y"),
              1u);
}

TEST(EliminateCommon, AtomicsInvalidateTheirLocation) {
    EXPECT_EQ(loads_left("%x = load %a[%i] : f32\n%o = atomic_add %a[%j], %x : f32\n%y = load %a[%i] : "
                         "f32\nstore %c[%i], %y"),
              2u);
    EXPECT_EQ(loads_left("%x = load %a[%i] : f32\n%o = atomic_add %tile[%j], %x : f32\n%y = load %a[%i] : "
                         "f32\nstore %c[%i], %y"),
              1u);
}

TEST(EliminateCommon, WritesInControlFlowInvalidateValuesAfterIt) {
    EXPECT_EQ(loads_left("%v = var f32\n%f = const 1.0 : f32\nstore %v, %f\nif %b {\n%g = const 2.0 : "
                         "f32\nstore %v, %g\n}\n"
                         "%y = load %v : f32\nstore %c[%i], %y"),
              1u);
    EXPECT_EQ(loads_left("%v = var f32\n%f = const 1.0 : f32\nstore %v, %f\nif %b {\n%y = load %v : "
                         "f32\nstore %c[%i], %y\n}"),
              0u);
}

TEST(EliminateCommon, MemoryThatALoopWritesIsUnknownAtItsStart) {
    const ir::Function fn = merged(R"(%v = var f32
%w = var f32
%f = const 1.0 : f32
%one = const 1 : u32
store %v, %f
store %w, %f
%k = for %i, %j, %one : u32 {
  %x = load %v : f32
  %y = load %w : f32
  %s = add %x, %y : f32
  store %v, %s
  %t = load %v : f32
  store %c[%k], %t
}
%r = load %v : f32
store %c[%i], %r)");
    EXPECT_EQ(count(fn, Op::Load), 2u);  // of %v at the start of the loop and after it
}

TEST(EliminateCommon, AVariableStartsAsZero) {
    EXPECT_EQ(
        after(eliminate_common, "%a = buffer f32 \"a\"\n%v = var f32\n%x = load %v : f32\nstore %a[0], %x"),
        "%0 = buffer f32 \"a\"\n%1 = zero : f32\nstore %0[0], %1\n");
    // Again in each iteration.
    EXPECT_EQ(
        loads_left(
            "loop {\n%v = var f32\n%x = load %v : f32\nstore %a[%i], %x\nstore %v, %x\nif %b {\nbreak\n}\n}"),
        0u);
}

TEST(EliminateCommon, PartsOfKnownCompositesAreExtracted) {
    const ir::Function fn = kernel(R"(%p = buffer vec4<f32> "p"
%i = param u32 "i"
%v = var vec4<f32>
%x = load %p[%i] : vec4<f32>
%y = load %p[%i, 2] : f32
store %v, %x
%z = load %v[%i] : f32
%w = load %v[1] : f32
%s = add %y, %w : f32
%t = add %s, %z : f32
store %p[%i, 0], %t)");
    ir::Function done = fn;
    eliminate_common(done);
    ir::verify(done);
    EXPECT_EQ(count(done, Op::Extract), 2u);
    EXPECT_EQ(count(done, Op::Load), 2u);  // a computed component stays a load of the variable
}

TEST(EliminateCommon, AStoreToAPartInvalidatesTheWhole) {
    const std::string head =
        "%p = buffer vec2<f32> \"p\"\n%i = param u32 \"i\"\n%f = const 1.0 : f32\n%v = var vec2<f32>\n"
        "%x = load %p[%i] : vec2<f32>\nstore %v, %x\n";
    ir::Function fn = kernel(head + "store %v[0], %f\n%y = load %v : vec2<f32>\nstore %p[%i], %y");
    eliminate_common(fn);
    EXPECT_EQ(count(fn, Op::Load), 2u);
    ir::Function other =
        kernel(head +
               "%a = load %v[1] : f32\nstore %v[0], %f\n%y = load %v[1] : f32\n%s = add %a, %y : f32\n"
               "store %p[%i, 0], %s");
    eliminate_common(other);
    EXPECT_EQ(count(other, Op::Load), 1u);
}

}  // namespace
}  // namespace volley::passes
