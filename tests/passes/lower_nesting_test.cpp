// Flattening deep conditions preserves the results of the interpreter.
#include "passes/lower_nesting.hpp"
#include "passes/pass_support.hpp"
#include "passes/uniformity.hpp"
#include "random/execution.hpp"
#include "random/generator.hpp"

namespace volley::passes {
namespace {

TEST(LowerNesting, CountsNestedIfs) {
    EXPECT_EQ(nesting(kernel("%0 = local_index : u32")), 0u);
    const ir::Function fn = kernel(R"(%0 = buffer u32 "out"
%1 = const true : bool
if %1 {
  loop {
    if %1 {
      break
    }
  }
}
if %1 {
})");
    EXPECT_EQ(nesting(fn), 2u);
}

TEST(LowerNesting, DoesNotChangeShallowFunctions) {
    const std::string body = R"(%0 = buffer u32 "out"
%1 = local_index : u32
%2 = const true : bool
if %2 {
  if %2 {
    store %0[%1], %1
  }
})";
    ir::Function fn = kernel(body);
    lower_nesting(fn, 2);
    EXPECT_EQ(body_of(fn), normal(body));
}

TEST(LowerNesting, MovesInnerConditionsAfterTheOuterOne) {
    ir::Function fn = kernel(R"(%0 = buffer u32 "out"
%1 = local_index : u32
%2 = const 3 : u32
%3 = lt %1, %2 : bool
if %3 {
  %4 = add %1, %2 : u32
  %5 = eq %4, %2 : bool
  if %5 {
    store %0[%1], %4
  } else {
    store %0[%1], %1
  }
  store %0[%2], %4
})");
    lower_nesting(fn, 1);
    EXPECT_NO_THROW(ir::verify(fn));
    EXPECT_EQ(nesting(fn), 1u);
}

TEST(LowerNesting, KeepsTheMeaningOfRandomPrograms) {
    unsigned changed = 0;
    for (std::uint64_t seed = 1; seed <= 600; ++seed) {
        const testing::Program program = testing::generate(seed, testing::options_for(seed));
        const unsigned limit = static_cast<unsigned>(1 + seed % 2);
        ir::Function fn = program.fn;
        if (nesting(fn) <= limit) continue;
        ++changed;
        lower_nesting(fn, limit);
        ASSERT_NO_THROW(ir::verify(fn)) << "seed " << seed;
        ASSERT_LE(nesting(fn), limit) << "seed " << seed;
        ASSERT_NO_THROW(check_barriers(fn, analyse_uniformity(fn))) << "seed " << seed;
        const testing::Execution expected = testing::run_reference(program, program.fn, 8);
        const testing::Execution actual = testing::run_reference(program, fn, 8);
        const auto difference = testing::difference(program, expected, actual);
        ASSERT_FALSE(difference) << "seed " << seed << ": " << *difference << '\n'
                                 << testing::describe(program);
    }
    EXPECT_GT(changed, 50u);
}

}  // namespace
}  // namespace volley::passes
