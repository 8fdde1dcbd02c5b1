// Kernels are specialised for contiguous last axes, so that accesses along them are known to be contiguous.
#include "passes/unit_strides.hpp"

#include "pass_support.hpp"
#include "passes/pipeline.hpp"

#include <gtest/gtest.h>

namespace volley::passes {
namespace {

constexpr std::string_view image = R"(%a = buffer u32 "a" rank 2
%i = param u32 "i"
%s0 = param u32 "a.stride0" stride(0, 0)
%s1 = param u32 "a.stride1" stride(0, 1)
%y = mul %i, %s0 : u32
%x = mul %i, %s1 : u32
%at = add %y, %x : u32
store %a[%at], %i
)";

TEST(UnitStrides, ReplacesTheStrideOfTheLastAxisOnly) {
    ir::Function fn = kernel(std::string(image));
    EXPECT_TRUE(assume_unit_strides(fn));
    ir::verify(fn);
    clean(fn, {});
    EXPECT_EQ(body_of(fn), normal(R"(%a = buffer u32 "a" rank 2
%i = param u32 "i"
%s0 = param u32 "a.stride0" stride(0, 0)
%s1 = param u32 "a.stride1" stride(0, 1)
%y = mul %i, %s0 : u32
%at = add %y, %i : u32
store %a[%at], %i
)"));
}

TEST(UnitStrides, LeavesKernelsWithoutPositionsUnchanged) {
    ir::Function fn = kernel("%a = buffer u32 \"a\"\n%i = param u32 \"i\"\nstore %a[%i], %i");
    const std::string before = body_of(fn);
    EXPECT_FALSE(assume_unit_strides(fn));
    EXPECT_EQ(body_of(fn), before);
}

}  // namespace
}  // namespace volley::passes
