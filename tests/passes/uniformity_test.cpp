// Which values are uniform in a workgroup, and where barriers are allowed.
#include "passes/uniformity.hpp"

#include "pass_support.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <volley/error.hpp>

namespace volley::passes {
namespace {

using ir::Op;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::string_view uniformity_start = R"(%a = buffer u32 "a"
%p = param u32 "p"
%l = local_index : u32
%one = const 1 : u32
%tile = shared array<u32, 64>
%u = eq %p, %one : bool
%d = eq %l, %one : bool
)";

ir::Function with(std::string_view body) { return kernel(std::string(uniformity_start) + std::string(body)); }

// Returns whether the value that the last store writes is uniform.
bool stores_uniform(std::string_view body) {
    const ir::Function fn = with(body);
    const Uniformity u = analyse_uniformity(fn);
    return u.uniform(fn.arg(nodes_of(fn, Op::Store).back(), 1));
}

std::string refusal(std::string_view body) {
    const ir::Function fn = with(body);
    try {
        check_barriers(fn, analyse_uniformity(fn));
    } catch (const IrError& e) {
        return e.what();
    }
    return "accepted";
}

TEST(Uniformity, StartsAtIdsSizesAndParameters) {
    EXPECT_TRUE(stores_uniform("store %a[0], %p"));
    EXPECT_FALSE(stores_uniform("store %a[0], %l"));
    for (const char* op : {"group_id", "global_size", "local_size", "group_count"}) {
        EXPECT_TRUE(stores_uniform("%x = " + std::string(op) +
                                   " : vec3<u32>\n%y = extract %x[1] : u32\nstore %a[0], %y"))
            << op;
    }
    for (const char* op : {"global_id", "local_id"}) {
        EXPECT_FALSE(stores_uniform("%x = " + std::string(op) +
                                    " : vec3<u32>\n%y = extract %x[1] : u32\nstore %a[0], %y"))
            << op;
    }
    for (const char* op : {"subgroup_size", "subgroup_count"})
        EXPECT_TRUE(stores_uniform("%x = " + std::string(op) + " : u32\nstore %a[0], %x"));
    for (const char* op : {"subgroup_id", "subgroup_lane"})
        EXPECT_FALSE(stores_uniform("%x = " + std::string(op) + " : u32\nstore %a[0], %x"));
}

TEST(Uniformity, FlowsThroughOperations) {
    EXPECT_TRUE(stores_uniform("%x = mul %p, %p : u32\nstore %a[0], %x"));
    EXPECT_FALSE(stores_uniform("%x = mul %p, %l : u32\nstore %a[0], %x"));
    EXPECT_FALSE(stores_uniform("%x = subgroup_add %p : u32\nstore %a[0], %x"));
    EXPECT_FALSE(stores_uniform("%x = atomic_add %a[0], %p : u32\nstore %a[0], %x"));
}

TEST(Uniformity, LoadsAtUniformAddressesAreUniform) {
    EXPECT_TRUE(stores_uniform("%x = load %a[%p] : u32\nstore %a[0], %x"));
    EXPECT_TRUE(stores_uniform("%x = load %tile[%p] : u32\nstore %a[0], %x"));
    EXPECT_FALSE(stores_uniform("%x = load %tile[%l] : u32\nstore %a[0], %x"));
}

TEST(Uniformity, VariablesAreVaryingIfAnyStoreIs) {
    EXPECT_TRUE(stores_uniform("%v = var u32\nstore %v, %p\n%x = load %v : u32\nstore %a[0], %x"));
    EXPECT_FALSE(
        stores_uniform("%v = var u32\nstore %v, %p\nstore %v, %l\n%x = load %v : u32\nstore %a[0], %x"));
    // Also if the varying store comes later in a loop.
    EXPECT_FALSE(stores_uniform(
        "%v = var u32\n%k = for %one, %p, %one : u32 {\n%x = load %v : u32\n%y = add %x, %one : u32\n"
        "store %v, %y\nif %u {\nstore %v, %l\n}\n}\n%z = load %v : u32\nstore %a[0], %z"));
}

TEST(Uniformity, StoresInDivergentControlMakeVariablesVarying) {
    EXPECT_FALSE(
        stores_uniform("%v = var u32\nif %d {\nstore %v, %p\n}\n%x = load %v : u32\nstore %a[0], %x"));
    EXPECT_TRUE(
        stores_uniform("%v = var u32\nif %u {\nstore %v, %p\n}\n%x = load %v : u32\nstore %a[0], %x"));
    // After a divergent break the loop continues for some invocations.
    EXPECT_FALSE(stores_uniform(
        "%v = var u32\nloop {\n%x = load %v : u32\n%y = add %x, %one : u32\nstore %v, %y\nif %d "
        "{\nbreak\n}\n}\n"
        "%z = load %v : u32\nstore %a[0], %z"));
    EXPECT_TRUE(stores_uniform(
        "%v = var u32\nloop {\n%x = load %v : u32\n%y = add %x, %one : u32\nstore %v, %y\n%c = gt "
        "%y, %p : bool\n"
        "if %c {\nbreak\n}\n}\n%z = load %v : u32\nstore %a[0], %z"));
}

TEST(Uniformity, LoopIndicesAreUniformWithUniformBoundsAndExits) {
    EXPECT_TRUE(stores_uniform("%k = for %one, %p, %one : u32 {\nstore %a[0], %k\n}"));
    EXPECT_FALSE(stores_uniform("%k = for %one, %l, %one : u32 {\nstore %a[0], %k\n}"));
    EXPECT_FALSE(stores_uniform("%k = for %one, %p, %one : u32 {\nif %d {\nbreak\n}\nstore %a[0], %k\n}"));
    EXPECT_TRUE(stores_uniform("%k = for %one, %p, %one : u32 {\nif %u {\nbreak\n}\nstore %a[0], %k\n}"));
}

TEST(CheckBarriers, AcceptsUniformControlFlow) {
    EXPECT_EQ(refusal("barrier"), "accepted");
    EXPECT_EQ(refusal("if %u {\nbarrier\n} else {\nbarrier\n}"), "accepted");
    EXPECT_EQ(refusal("%k = for %one, %p, %one : u32 {\nif %d {\nstore %tile[%l], %l\n}\nbarrier\n}"),
              "accepted");
    EXPECT_EQ(
        refusal("loop {\nbarrier\n%x = load %tile[0] : u32\n%c = gt %x, %p : bool\nif %c {\nbreak\n}\n}"),
        "accepted");
    // Invocations that continue reach the barrier of the next iteration.
    EXPECT_EQ(refusal("%k = for %one, %p, %one : u32 {\nbarrier\nif %d {\ncontinue\n}\nstore %tile[%l], "
                      "%l\n}\nbarrier"),
              "accepted");
}

TEST(CheckBarriers, NamesTheBarrierAndTheCondition) {
    EXPECT_THAT(refusal("if %d {  ; k.cpp:10\nbarrier  ; k.cpp:12\n}"),
                AllOf(HasSubstr("barrier at k.cpp:12"), HasSubstr("condition at k.cpp:10"),
                      HasSubstr("kernel 'k'"), HasSubstr("move the barrier out of the $if")));
    EXPECT_THAT(refusal("%k = for %one, %l, %one : u32 {  ; k.cpp:20\nbarrier  ; k.cpp:21\n}"),
                AllOf(HasSubstr("barrier at k.cpp:21"), HasSubstr("loop at k.cpp:20")));
}

TEST(CheckBarriers, RefusesBarriersAfterDivergentJumps) {
    EXPECT_THAT(refusal("if %d {  ; k.cpp:3\nreturn\n}\nbarrier  ; k.cpp:5"),
                AllOf(HasSubstr("barrier at k.cpp:5"), HasSubstr("k.cpp:3")));
    EXPECT_THAT(refusal("loop {\nbarrier  ; k.cpp:4\nif %d {  ; k.cpp:5\nbreak\n}\n}"),
                AllOf(HasSubstr("barrier at k.cpp:4"), HasSubstr("k.cpp:5")));
    EXPECT_THAT(
        refusal("%k = for %one, %p, %one : u32 {\nif %d {  ; k.cpp:5\ncontinue\n}\nbarrier  ; k.cpp:7\n}"),
        HasSubstr("barrier at k.cpp:7"));
    // A return in a loop affects barriers after the loop and earlier in its body.
    EXPECT_NE(refusal("loop {\nbarrier\nif %d {\nreturn\n}\nif %u {\nbreak\n}\n}"), "accepted");
    EXPECT_NE(refusal("loop {\nif %d {\nreturn\n}\nif %u {\nbreak\n}\n}\nbarrier"), "accepted");
    // A break does not affect barriers after its loop.
    EXPECT_EQ(refusal("loop {\nif %d {\nbreak\n}\n}\nbarrier"), "accepted");
}

TEST(CheckBarriers, SeesConditionsThroughVariables) {
    EXPECT_NE(refusal("%v = var bool\nif %d {\n%t = const true : bool\nstore %v, %t\n}\n%c = load %v : "
                      "bool\nif %c {\nbarrier\n}"),
              "accepted");
}

TEST(Uniformity, ReportsWhereControlDiverges) {
    const ir::Function fn = with("if %d {\nstore %a[0], %p\nif %u {\nreturn\n}\n}\nstore %a[1], %p");
    const Uniformity u = analyse_uniformity(fn);
    const auto stores = nodes_of(fn, Op::Store);
    const auto ifs = nodes_of(fn, Op::If);
    EXPECT_TRUE(u.divergent(stores[0]));
    EXPECT_TRUE(u.divergent(stores[1]));
    EXPECT_FALSE(u.divergent(ifs[0]));
    EXPECT_TRUE(u.divergent_region(fn[ifs[0]].regions[0]));
    EXPECT_FALSE(u.divergent_region(fn.body));
    EXPECT_EQ(u.cause(stores[1]), ifs[0]);
    EXPECT_TRUE(u.has_divergent_return());
}

}  // namespace
}  // namespace volley::passes
