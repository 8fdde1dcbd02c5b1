// Lane shapes: which index arithmetic is contiguous over a vector of 8 lanes, and which is not.
#include "passes/access.hpp"

#include "pass_support.hpp"

#include <gtest/gtest.h>

namespace volley::passes {
namespace {

using ir::NodeId;
using ir::Op;

// Lanes run along x; vectors start at multiples of 8.
LaneModel model_of_rows() {
    const LaneShape along = {LaneShape::Affine, 1, 8};
    const LaneShape same = {LaneShape::Uniform, 0, 1};
    LaneModel model;
    model.width = 8;
    model.global_id[0] = model.local_id[0] = model.local_index = along;
    for (int k = 1; k < 3; ++k) model.global_id[k] = model.local_id[k] = same;
    return model;
}

constexpr std::string_view lanes_start = R"(%o = buffer u32 "o"
%p = param u32 "p"
%g = global_id : vec3<u32>
%x = extract %g[0] : u32
%y = extract %g[1] : u32
%c1 = const 1 : u32
%c3 = const 3 : u32
%c4 = const 4 : u32
%c7 = const 7 : u32
%c8 = const 8 : u32
%c12 = const 12 : u32
%c16 = const 16 : u32
%c24 = const 24 : u32
%c63 = const 63 : u32
%c64 = const 64 : u32
%d = eq %x, %c3 : bool
%u = eq %p, %c3 : bool
)";

struct Analysed {
    ir::Function fn;
    LaneAnalysis lanes;
};

Analysed analysed(std::string_view body, const LaneModel& model = model_of_rows()) {
    Analysed a;
    a.fn = kernel(std::string(lanes_start) + std::string(body));
    a.lanes = analyse_lanes(a.fn, model);
    return a;
}

// Returns the shape of the value that the last store writes.
LaneShape shape(std::string_view body, const LaneModel& model = model_of_rows()) {
    const Analysed a = analysed(body, model);
    return a.lanes.shape(a.fn.arg(nodes_of(a.fn, Op::Store).back(), 1));
}
LaneShape shape_of(std::string_view expression, std::string_view before = "") {
    return shape(std::string(before) + "\n%r = " + std::string(expression) + " : u32\nstore %o[0], %r");
}

::testing::AssertionResult is(const LaneShape& s, LaneShape::Kind kind, std::int64_t stride = 0) {
    if (s.kind == kind && (kind != LaneShape::Affine || s.stride == stride))
        return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure()
           << "kind " << int{s.kind} << " stride " << s.stride << " align " << s.align;
}
constexpr auto uniform = LaneShape::Uniform;
constexpr auto affine = LaneShape::Affine;
constexpr auto varying = LaneShape::Varying;

TEST(Lanes, IdsFollowTheModel) {
    const Analysed a = analysed("store %o[0], %x");
    const NodeId id = nodes_of(a.fn, Op::GlobalId)[0];
    EXPECT_TRUE(is(a.lanes.shape(id, 0), affine, 1));
    EXPECT_TRUE(is(a.lanes.shape(id, 1), uniform));
    EXPECT_FALSE(a.lanes.lane_uniform(id));
    EXPECT_TRUE(is(shape_of("subgroup_lane"), affine, 1));
    EXPECT_TRUE(is(shape_of("subgroup_id"), uniform));
}

TEST(Lanes, SumsAndProductsKeepStrides) {
    EXPECT_TRUE(is(shape_of("add %x, %p"), affine, 1));
    EXPECT_TRUE(is(shape_of("sub %p, %x"), affine, -1));
    EXPECT_TRUE(is(shape_of("mul %x, %c3"), affine, 3));
    EXPECT_TRUE(is(shape_of("mul %x, %p"), varying));
    EXPECT_TRUE(is(shape_of("shl %x, %c3"), affine, 8));
    EXPECT_TRUE(is(shape_of("shl %c3, %x"), varying));
    EXPECT_TRUE(is(shape_of("fma %x, %c4, %p"), affine, 4));
    EXPECT_TRUE(is(shape_of("sub %x, %x"), uniform));
    EXPECT_TRUE(is(shape_of("sub %z, %x", "%z = add %x, %p : u32"), uniform));
    EXPECT_TRUE(is(shape_of("not %x"), affine, -1));
    EXPECT_TRUE(is(shape_of("neg %x"), affine, -1));
    EXPECT_TRUE(is(shape_of("mul %x, %y"), varying));
    EXPECT_TRUE(is(shape_of("add %x, %row", "%row = mul %y, %p : u32"), affine, 1));
}

TEST(Lanes, AlignmentIsThatOfLaneZero) {
    EXPECT_EQ(shape_of("mul %x, %c4").align, 32u);
    EXPECT_EQ(shape_of("add %x, %c4").align, 4u);
    EXPECT_EQ(shape_of("mul %p, %c12").align, 4u);  // the product may wrap, so only factors of two remain
    EXPECT_EQ(shape_of("mul %y8, %c3", "%y8 = and %p, %c8 : u32").align, 24u);
}

TEST(Lanes, MasksAreContiguousIfVectorsDoNotStraddleThem) {
    EXPECT_TRUE(is(shape_of("and %x, %c7"), affine, 1));
    EXPECT_EQ(shape_of("and %x, %c7").align, 0u);
    const char* fifteen = "%m = const 15 : u32";
    EXPECT_TRUE(is(shape_of("and %x, %m", fifteen), affine, 1));
    EXPECT_TRUE(is(shape_of("and %x, %c3"), varying));
    EXPECT_TRUE(
        is(shape_of("and %z, %m", "%m = const 15 : u32\n%z = add %x, %c4 : u32"), varying));  // straddles
    EXPECT_TRUE(is(shape_of("and %z, %m", "%m = const 15 : u32\n%z = add %x, %c8 : u32"), affine, 1));
    EXPECT_TRUE(is(shape_of("and %x, %m", "%m = const 4294967280 : u32"), uniform));
    EXPECT_TRUE(is(shape_of("and %z, %c3", "%z = mul %x, %c4 : u32"), uniform));
    // j & (n - 1), where n is only known to be a multiple of 16.
    EXPECT_TRUE(is(shape_of("and %x, %m", "%n = mul %p, %c16 : u32\n%m = sub %n, %c1 : u32"), affine, 1));
    EXPECT_TRUE(is(shape_of("and %x, %m", "%m = sub %p, %c1 : u32"), varying));
}

TEST(Lanes, QuotientsAndRemaindersByMultiplesOfTheWidth) {
    EXPECT_TRUE(is(shape_of("rem %x, %c16"), affine, 1));
    EXPECT_TRUE(is(shape_of("div %x, %c16"), uniform));
    EXPECT_TRUE(is(shape_of("shr %x, %c3"), uniform));
    EXPECT_TRUE(is(shape_of("rem %x, %c24"), affine, 1));
    EXPECT_TRUE(is(shape_of("div %x, %c24"), uniform));
    EXPECT_TRUE(is(shape_of("rem %x, %c12"), varying));
    EXPECT_TRUE(is(shape_of("div %x, %c4"), varying));
    EXPECT_TRUE(is(shape_of("rem %x, %p"), varying));  // p may be 0, and then all lanes are 0
    EXPECT_TRUE(is(shape_of("rem %x, %n", "%n = mul %p, %c16 : u32"), varying));
    EXPECT_TRUE(is(shape_of("div %z, %c4", "%m = and %x, %c63 : u32\n%z = mul %m, %c4 : u32"), affine, 1));
    EXPECT_TRUE(is(shape_of("div %z, %c16", "%z = add %x, %c1 : u32"), varying));  // straddles
    EXPECT_TRUE(is(shape_of("div %z, %c16", "%z = add %x, %c8 : u32"), uniform));
}

TEST(Lanes, UnravelledIndicesStayContiguous) {
    // x -> (plane, row, column) of [*, 4, 64] and back to another layout.
    EXPECT_TRUE(is(shape(R"(%c256 = const 256 : u32
%plane = div %x, %c256 : u32
%rest = rem %x, %c256 : u32
%row = div %rest, %c64 : u32
%column = rem %rest, %c64 : u32
%a = mul %plane, %c4 : u32
%b = add %a, %row : u32
%c = mul %b, %c64 : u32
%r = add %c, %column : u32
store %o[0], %r)"),
                   affine, 1));
}

TEST(Lanes, SignedDivisionNeedsValuesThatAreNotNegative) {
    const std::string body =
        "%i = convert %x : i32\n%s = const 16 : i32\n%q = div %i, %s : i32\n%r = convert %q : u32\nstore "
        "%o[0], %r";
    EXPECT_TRUE(is(shape(body), varying));  // ids of 2^31 and above would be negative
    LaneModel small = model_of_rows();
    small.max_global_id = 0x7fff0000;
    EXPECT_TRUE(is(shape(body, small), uniform));
    // An arithmetic shift rounds down, so the sign does not matter.
    EXPECT_TRUE(is(shape("%i = convert %x : i32\n%s = const 4 : i32\n%q = shr %i, %s : i32\n%r = convert %q "
                         ": u32\nstore %o[0], %r"),
                   uniform));
}

TEST(Lanes, DisjointBitsAreAdded) {
    EXPECT_TRUE(is(shape_of("or %x, %c64"), affine, 1));
    EXPECT_TRUE(is(shape_of("xor %x, %c64"), affine, 1));
    EXPECT_TRUE(is(shape_of("or %x, %c1"), varying));
    EXPECT_TRUE(is(shape_of("or %z, %c1", "%z = mul %x, %c4 : u32"), affine, 4));
    EXPECT_TRUE(is(shape_of("xor %z, %c3", "%z = mul %x, %c4 : u32"), affine, 4));
    EXPECT_TRUE(is(shape_of("xor %z, %c7", "%z = mul %x, %c4 : u32"), varying));
    EXPECT_TRUE(is(shape_of("xor %x, %p"), varying));
}

TEST(Lanes, ComparisonsWithAlignedBoundsAreUniform) {
    const auto compared = [](std::string_view comparison) {
        const Analysed a =
            analysed("%r = " + std::string(comparison) + " : bool\nif %r {\nstore %o[0], %p\n}");
        const NodeId branch = nodes_of(a.fn, Op::If)[0];
        EXPECT_EQ(a.lanes.masked_region(a.fn[branch].regions[0]), !a.lanes.lane_uniform(a.fn.arg(branch, 0)));
        return a.lanes.lane_uniform(a.fn.arg(branch, 0));
    };
    EXPECT_TRUE(compared("lt %x, %c64"));
    EXPECT_TRUE(compared("ge %x, %c8"));
    EXPECT_TRUE(compared("gt %c16, %x"));
    EXPECT_TRUE(compared("le %x, %c7"));
    EXPECT_TRUE(compared("gt %x, %c7"));
    EXPECT_FALSE(compared("lt %x, %c12"));
    EXPECT_FALSE(compared("le %x, %c8"));
    EXPECT_FALSE(compared("lt %x, %p"));
    EXPECT_FALSE(compared("eq %x, %c8"));
}

TEST(Lanes, WrappingWithinAVectorIsDetected) {
    const auto wraps = [](std::string_view expression) {
        const Analysed a = analysed("%r = " + std::string(expression) + " : u32\nstore %o[0], %r");
        return a.lanes.may_wrap(stored(a.fn, 0));
    };
    EXPECT_FALSE(wraps("add %x, %c8"));
    EXPECT_TRUE(wraps("sub %x, %c1"));  // lane 0 of the first vector
    EXPECT_TRUE(wraps("sub %p, %x"));
    // The widened value is therefore not a progression.
    EXPECT_TRUE(
        is(shape("%m = sub %x, %c1 : u32\n%w = convert %m : u64\n%r = convert %w : u32\nstore %o[0], %r"),
           varying));
    EXPECT_TRUE(
        is(shape("%m = add %x, %c8 : u32\n%w = convert %m : u64\n%r = convert %w : u32\nstore %o[0], %r"),
           affine, 1));
    EXPECT_TRUE(is(shape("%m = convert %x : u16\n%r = convert %m : u32\nstore %o[0], %r"), varying));
}

TEST(Lanes, SelectsByUniformConditionsKeepEqualStrides) {
    EXPECT_TRUE(is(shape_of("select %u, %x, %z", "%z = add %x, %c8 : u32"), affine, 1));
    EXPECT_TRUE(is(shape_of("select %u, %x, %p"), varying));
    EXPECT_TRUE(is(shape_of("select %d, %x, %z", "%z = add %x, %c8 : u32"), varying));
    EXPECT_TRUE(is(shape_of("select %u, %p, %c8"), uniform));
    EXPECT_TRUE(is(shape_of("min %x, %p"), varying));
}

TEST(Lanes, LoadsAreUniformAtUniformAddresses) {
    EXPECT_TRUE(is(shape_of("load %o[%p]"), uniform));
    EXPECT_TRUE(is(shape_of("load %o[%x]"), varying));
    LaneModel several = model_of_rows();
    several.group_uniform = false;
    const std::string tile = "%t = shared array<u32, 8>\n%r = load %t[0] : u32\nstore %o[0], %r";
    EXPECT_TRUE(is(shape(tile), uniform));
    EXPECT_TRUE(is(shape(tile, several), varying));
    EXPECT_TRUE(is(shape_of("atomic_add %o[0], %p"), varying));
}

TEST(Lanes, SubgroupResultsAreUniformInTheirVector) {
    EXPECT_TRUE(is(shape_of("subgroup_add %x"), uniform));
    EXPECT_TRUE(is(shape_of("subgroup_inclusive_add %x"), varying));
    EXPECT_TRUE(is(shape_of("subgroup_broadcast %x, %c3"), uniform));
    EXPECT_TRUE(is(shape_of("subgroup_shuffle_xor %x, %c1"), varying));
}

// --- variables and control flow ---

TEST(Lanes, VariablesJoinTheirStores) {
    EXPECT_TRUE(is(shape("%v = var u32\nstore %v, %x\n%r = load %v : u32\nstore %o[0], %r"), affine, 1));
    EXPECT_TRUE(is(shape("%v = var u32\nstore %v, %x\nif %u {\n%z = add %x, %c8 : u32\nstore %v, %z\n}\n%r = "
                         "load %v : u32\nstore %o[0], %r"),
                   affine, 1));
    EXPECT_TRUE(is(shape("%v = var u32\nif %u {\nstore %v, %x\n}\n%r = load %v : u32\nstore %o[0], %r"),
                   varying));  // or zero
    EXPECT_TRUE(
        is(shape("%v = var u32\nstore %v, %x\nif %d {\nstore %v, %p\n}\n%r = load %v : u32\nstore %o[0], %r"),
           varying));
}

TEST(Lanes, VariablesThatStepKeepTheirStride) {
    const Analysed a = analysed(R"(%v = var u32
store %v, %x
loop {
  %i = load %v : u32
  store %o[%i], %p
  %j = add %i, %c4 : u32
  store %v, %j
  %c = load %o[0] : u32
  %done = gt %c, %p : bool
  if %done {
    break
  }
})");
    const LaneShape s = a.lanes.shape(nodes_of(a.fn, Op::Load)[0]);
    EXPECT_TRUE(is(s, affine, 1));
    EXPECT_EQ(s.align, 4u);
}

TEST(Lanes, StoresUnderAMaskMakeVariablesVarying) {
    EXPECT_TRUE(
        is(shape("%v = var u32\nif %d {\nstore %v, %p\n}\n%r = load %v : u32\nstore %o[0], %r"), varying));
    // Lanes that leave a loop early keep their values.
    EXPECT_TRUE(is(shape("%v = var u32\nloop {\n%i = load %v : u32\n%j = add %i, %c1 : u32\nstore %v, %j\nif "
                         "%d {\nbreak\n}\n}\n"
                         "%r = load %v : u32\nstore %o[0], %r"),
                   varying));
    // Lanes that continue miss the rest of the iteration.
    EXPECT_TRUE(is(shape("%v = var u32\n%k = for %c1, %p, %c1 : u32 {\nif %d {\ncontinue\n}\n%i = load %v : "
                         "u32\n%j = add %i, %c1 : u32\n"
                         "store %v, %j\n}\n%r = load %v : u32\nstore %o[0], %r"),
                   varying));
}

TEST(Lanes, ABreakAfterADivergentContinueIsDivergent) {
    // Lanes that continued stay in the loop and keep counting.
    EXPECT_TRUE(is(shape("%v = var u32\nloop {\n%i = load %v : u32\n%j = add %i, %c1 : u32\nstore %v, %j\n%e "
                         "= lt %j, %x : bool\n"
                         "if %e {\ncontinue\n}\nbreak\n}\n%r = load %v : u32\nstore %o[0], %r"),
                   varying));
}

TEST(Lanes, AVariableOfAMaskedRegionIsUniformInIt) {
    EXPECT_TRUE(
        is(shape("if %d {\n%v = var u32\nstore %v, %p\n%r = load %v : u32\nstore %o[0], %r\n}"), uniform));
    const std::string body = "if %d {\n%v = var u32\nstore %v, %x\n%r = load %v : u32\nstore %o[0], %r\n}";
    EXPECT_TRUE(is(shape(body), varying));  // unless stores are known to ignore the mask
    LaneModel plain = model_of_rows();
    plain.plain_stores = true;
    EXPECT_TRUE(is(shape(body, plain), affine, 1));
    // Lanes that returned never come back.
    EXPECT_TRUE(
        is(shape("%v = var u32\nif %d {\nreturn\n}\nstore %v, %p\n%r = load %v : u32\nstore %o[0], %r"),
           uniform));
}

TEST(Lanes, LoopIndices) {
    EXPECT_TRUE(is(shape("%k = for %c1, %p, %c1 : u32 {\nstore %o[0], %k\n}"), uniform));
    // Lanes leave at different times, but those in the loop agree.
    EXPECT_TRUE(is(shape("%k = for %c1, %x, %c1 : u32 {\nstore %o[0], %k\n}"), uniform));
    EXPECT_TRUE(is(shape("%s = global_size : vec3<u32>\n%n = extract %s[0] : u32\n%k = for %x, %p, %n : u32 "
                         "{\nstore %o[0], %k\n}"),
                   affine, 1));
    EXPECT_TRUE(is(shape("%k = for %c1, %p, %x : u32 {\nstore %o[0], %k\n}"), varying));
    const Analysed a = analysed(
        "%k = for %x, %p, %c8 : u32 {\nstore %o[0], %k\n}\n%j = for %c1, %p, %c1 : u32 {\nstore %o[0], "
        "%j\n}");
    const auto loops = nodes_of(a.fn, Op::For);
    EXPECT_TRUE(a.lanes.masked_region(a.fn[loops[0]].regions[0]));
    EXPECT_FALSE(a.lanes.masked_region(a.fn[loops[1]].regions[0]));
}

TEST(Lanes, MasksExtendToTheTargetsOfJumps) {
    const Analysed a = analysed(R"(store %o[0], %p
%k = for %c1, %p, %c1 : u32 {
  store %o[1], %p
  if %d {
    continue
  }
  store %o[2], %p
}
store %o[3], %p
loop {
  store %o[4], %p
  if %d {
    break
  }
}
store %o[5], %p
if %u {
  return
}
store %o[6], %p
if %d {
  return
}
store %o[7], %p)");
    std::vector<bool> masked;
    for (const NodeId id : nodes_of(a.fn, Op::Store)) masked.push_back(a.lanes.masked(id));
    EXPECT_EQ(masked, (std::vector<bool>{false, false, true, false, true, false, false, true}));
}

TEST(Lanes, OneLaneIsAlwaysUniform) {
    LaneModel one = model_of_rows();
    one.width = 1;
    EXPECT_TRUE(is(shape("store %o[0], %x", one), uniform));
}

}  // namespace
}  // namespace volley::passes
