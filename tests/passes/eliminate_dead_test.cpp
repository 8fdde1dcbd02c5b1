// Dead code is removed, and nothing observable.
#include "passes/eliminate_dead.hpp"

#include "pass_support.hpp"

#include <gtest/gtest.h>

namespace volley::passes {
namespace {

using ir::Op;

constexpr std::string_view dead_start = R"(%a = buffer u32 "a"
%i = param u32 "i"
%b = param bool "b"
)";

ir::Function cleaned(std::string_view body) {
    ir::Function fn = kernel(std::string(dead_start) + std::string(body));
    eliminate_dead(fn);
    ir::verify(fn);
    return fn;
}
std::string left(std::string_view body) { return body_of(cleaned(body)).substr(normal(dead_start).size()); }

TEST(EliminateDead, DropsUnusedOperations) {
    EXPECT_EQ(left("%x = add %i, %i : u32\n%y = load %a[%x] : u32\n%z = subgroup_add %y : u32"), "");
    EXPECT_EQ(left("%x = add %i, %i : u32\nstore %a[%i], %x"), "%3 = add %1, %1 : u32\nstore %0[%1], %3\n");
}

TEST(EliminateDead, KeepsUnusedParameters) { EXPECT_EQ(left(""), ""); }

TEST(EliminateDead, DropsVariablesThatAreOnlyStoredTo) {
    EXPECT_EQ(left("%v = var u32\nstore %v, %i\nif %b {\nstore %v, %i\n}"), "");
    EXPECT_EQ(left("%v = var u32\n%w = var u32\nstore %v, %i\n%x = load %v : u32\nstore %w, %x"), "");
}

TEST(EliminateDead, AVariableThatKeepsItselfAliveIsDead) {
    EXPECT_EQ(left("%v = var u32\n%one = const 1 : u32\n%k = for %one, %i, %one : u32 {\n%x = load %v : u32\n"
                   "%y = add %x, %k : u32\nstore %v, %y\n}"),
              "");
}

TEST(EliminateDead, DropsOverwrittenStores) {
    EXPECT_EQ(left("%v = var u32\n%one = const 1 : u32\nstore %v, %one\nstore %v, %i\n%x = load %v : "
                   "u32\nstore %a[0], %x"),
              "%3 = var u32\nstore %3, %1\n%4 = load %3 : u32\nstore %0[0], %4\n");
    // On one path only.
    EXPECT_EQ(count(cleaned("%v = var u32\n%one = const 1 : u32\nstore %v, %one\nif %b {\n"
                            "store %v, %i\n}\n%x = load %v : u32\nstore %a[0], %x"),
                    Op::Store),
              3u);
}

TEST(EliminateDead, AStoreAfterTheLastLoadIsDead) {
    EXPECT_EQ(left("%v = var u32\nstore %v, %i\n%x = load %v : u32\nstore %a[0], %x\n%y = add %x, %x : "
                   "u32\nstore %v, %y"),
              "%3 = var u32\nstore %3, %1\n%4 = load %3 : u32\nstore %0[0], %4\n");
}

TEST(EliminateDead, AStoreThatTheNextIterationReadsStays) {
    const ir::Function fn = cleaned(R"(%v = var u32
%one = const 1 : u32
%k = for %one, %i, %one : u32 {
  %x = load %v : u32
  store %a[%k], %x
  %y = add %x, %k : u32
  store %v, %y
})");
    EXPECT_EQ(count(fn, Op::Store), 2u);
}

TEST(EliminateDead, AStoreBeforeABreakStays) {
    const ir::Function fn = cleaned(R"(%v = var u32
%one = const 1 : u32
loop {
  store %v, %one
  if %b { 
    break
  }
  store %v, %i
  if %b { 
    break
  }
}
%x = load %v : u32
store %a[0], %x)");
    EXPECT_EQ(count(fn, Op::Store), 3u);
}

TEST(EliminateDead, DropsEmptyControlFlow) {
    EXPECT_EQ(left("%c = eq %i, %i : bool\nif %c {\n%x = add %i, %i : u32\n} else {\n}"), "");
    EXPECT_EQ(left("%one = const 1 : u32\n%k = for %one, %i, %one : u32 {\n%c = eq %k, %i : bool\nif %c "
                   "{\nbreak\n}\n}"),
              "");
}

TEST(EliminateDead, KeepsLoopsThatMayNotEnd) {
    EXPECT_EQ(left("loop {\nif %b {\nbreak\n}\n}"), "loop {\n  if %2 {\n    break\n  }\n}\n");
}

TEST(EliminateDead, KeepsBarriersPrintsAndReturns) {
    const std::string text = "barrier\nif %2 {\n  return\n}\nprint \"{}\", %1\nbarrier\n";
    EXPECT_EQ(left("barrier\nif %b {\nreturn\n}\nprint \"{}\", %i\nbarrier"), text);
}

TEST(EliminateDead, DropsRedundantJumps) {
    EXPECT_EQ(left("store %a[0], %i\nif %b {\nstore %a[1], %i\nreturn\n} else {\nreturn\n}"),
              "store %0[0], %1\nif %2 {\n  store %0[1], %1\n}\n");
    EXPECT_EQ(left("%one = const 1 : u32\n%k = for %one, %i, %one : u32 {\nif %b {\nstore %a[%k], "
                   "%k\ncontinue\n}\n}"),
              "%3 = const 1 : u32\n%4 = for %3, %1, %3 : u32 {\n  if %2 {\n    store %0[%4], %4\n  }\n}\n");
}

TEST(EliminateDead, DropsOperationsAfterIfsThatAlwaysJump) {
    EXPECT_EQ(left("loop {\nif %b {\nbreak\n} else {\nreturn\n}\nstore %a[0], %i\n}"),
              "loop {\n  if %2 {\n    break\n  } else {\n    return\n  }\n}\n");
}

TEST(EliminateDead, DropsSharedArraysThatAreNeverRead) {
    EXPECT_EQ(left("%t = shared array<u32, 4>\nstore %t[0], %i"), "");
    EXPECT_EQ(left("%t = shared array<u32, 4>\n%o = atomic_add %t[0], %i : u32"), "");
    const ir::Function fn = cleaned(
        "%t = shared array<u32, 4>\nstore %t[0], %i\n"
        "%o = atomic_add %t[0], %i : u32\nstore %a[0], %o");
    EXPECT_EQ(count(fn, Op::Store), 2u);
}

TEST(EliminateDead, AtomicsOnBuffersStay) { EXPECT_NE(left("%o = atomic_add %a[0], %i : u32"), ""); }

}  // namespace
}  // namespace volley::passes
