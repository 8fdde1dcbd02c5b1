// Out-of-bounds accesses are skipped and reported.
#include "passes/check_bounds.hpp"

#include "backends/common/print.hpp"
#include "backends/reference/interpreter.hpp"
#include "pass_support.hpp"
#include "passes/pipeline.hpp"

#include <gtest/gtest.h>

namespace volley::passes {
namespace {

struct Outcome {
    std::vector<std::uint32_t> data;
    std::vector<std::string> reports;
};

// Runs the body with four invocations and a buffer of four numbers; without the checks the interpreter
// throws.
Outcome run(std::string_view body) {
    const std::string start =
        "%d = buffer u32 \"data\"\n%g = global_id : vec3<u32>\n%x = extract %g[0] : u32\n";
    ir::Function fn = kernel(start + std::string(body));
    check_bounds(fn);
    ir::verify(fn);
    optimise(fn);
    ir::verify(fn);
    Outcome outcome;
    outcome.data = {10, 11, 12, 13};
    const std::vector<backends::reference::Arg> args = {{outcome.data.data(), outcome.data.size()}};
    backends::reference::LaunchShape shape;
    shape.global = {4, 1, 1};
    backends::reference::interpret(fn, shape, args, [&](ir::NodeId print, const std::byte* values) {
        std::vector<DType> types;
        for (const ir::NodeId id : fn.args(print)) types.push_back(fn.type(id));
        outcome.reports.push_back(backends::format_print(fn.strings[fn[print].imm], types, values));
    });
    return outcome;
}

TEST(CheckBounds, DoesNotChangeValidAccesses) {
    const Outcome outcome = run("%v = load %d[%x] : u32\n%w = add %v, %v : u32\nstore %d[%x], %w");
    EXPECT_EQ(outcome.data, (std::vector<std::uint32_t>{20, 22, 24, 26}));
    EXPECT_TRUE(outcome.reports.empty());
}

TEST(CheckBounds, ReportsLoadsWithTheirLineAndReturnsZero) {
    const Outcome outcome =
        run("%one = const 1 : u32\n%i = add %x, %one : u32\n%v = load %d[%i] : u32  ; k.cpp:12\nstore "
            "%d[%x], %v");
    EXPECT_EQ(outcome.data, (std::vector<std::uint32_t>{11, 12, 13, 0}));
    EXPECT_EQ(outcome.reports,
              std::vector<std::string>{
                  "\x01out of bounds: k.cpp:12: index 4 of parameter 1 'data', which has 4 elements, in "
                  "invocation (3, 0, 0)"});
}

TEST(CheckBounds, SkipsStoresAndAtomics) {
    const Outcome outcome =
        run("%two = const 2 : u32\n%i = add %x, %two : u32\nstore %d[%i], %x\n"
            "%o = atomic_add %d[%i], %two : u32");
    EXPECT_EQ(outcome.data, (std::vector<std::uint32_t>{10, 11, 2, 3}));
    EXPECT_EQ(outcome.reports.size(), 4u);
}

TEST(CheckBounds, NegativeIndicesAreOutOfBounds) {
    const Outcome outcome =
        run("%s = convert %x : i32\n%one = const 1 : i32\n%i = sub %s, %one : i32\nstore %d[%i], %x");
    EXPECT_EQ(outcome.data, (std::vector<std::uint32_t>{1, 2, 3, 13}));
    EXPECT_EQ(outcome.reports,
              std::vector<std::string>{"\x01out of bounds: index -1 of parameter 1 'data', which has 4 "
                                       "elements, in invocation (0, 0, 0)"});
}

TEST(CheckBounds, ChecksNestedArrays) {
    const Outcome outcome =
        run("%t = var array<u32, 2>\nstore %t[%x], %x\n%v = load %t[1] : u32\nstore %d[%x], %v");
    EXPECT_EQ(outcome.data, (std::vector<std::uint32_t>{0, 1, 0, 0}));
    EXPECT_EQ(outcome.reports.size(), 2u);
    EXPECT_EQ(outcome.reports[0],
              "\x01out of bounds: index 2 of array<u32, 2>, which has 2 elements, in "
              "invocation (2, 0, 0)");
}

}  // namespace
}  // namespace volley::passes
