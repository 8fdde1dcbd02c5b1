// Multiply and add are contracted in a well-defined way.
#include "passes/contract_fma.hpp"

#include "pass_support.hpp"

#include <gtest/gtest.h>

namespace volley::passes {
namespace {

std::string contracted(std::string_view type, std::string_view body) {
    const std::string t(type);
    const std::string start = "%o = buffer " + t + " \"o\"\n%x = param " + t + " \"x\"\n%y = param " + t +
                              " \"y\"\n%z = param " + t + " \"z\"\n%b = param bool \"b\"\n";
    const std::string text = after(contract_fma, start + std::string(body));
    return text.substr(text.find("bool \"b\"\n") + 9);
}

TEST(ContractFma, ContractsProductsOnEitherSide) {
    const std::string fma = "%5 = fma %1, %2, %3 : f32\nstore %0[0], %5\n";
    EXPECT_EQ(contracted("f32", "%m = mul %x, %y : f32\n%s = add %m, %z : f32\nstore %o[0], %s"), fma);
    EXPECT_EQ(contracted("f32", "%m = mul %x, %y : f32\n%s = add %z, %m : f32\nstore %o[0], %s"), fma);
}

TEST(ContractFma, NegatesForDifferences) {
    EXPECT_EQ(contracted("f64", "%m = mul %x, %y : f64\n%s = sub %m, %z : f64\nstore %o[0], %s"),
              "%5 = neg %3 : f64\n%6 = fma %1, %2, %5 : f64\nstore %0[0], %6\n");
    EXPECT_EQ(contracted("f64", "%m = mul %x, %y : f64\n%s = sub %z, %m : f64\nstore %o[0], %s"),
              "%5 = neg %1 : f64\n%6 = fma %5, %2, %3 : f64\nstore %0[0], %6\n");
}

TEST(ContractFma, PrefersTheLeftOfTwoProducts) {
    EXPECT_EQ(
        contracted("f32",
                   "%m = mul %x, %y : f32\n%n = mul %y, %z : f32\n%s = add %m, %n : f32\nstore %o[0], %s"),
        "%5 = mul %2, %3 : f32\n%6 = fma %1, %2, %5 : f32\nstore %0[0], %6\n");
}

TEST(ContractFma, WorksOnVectors) {
    EXPECT_NE(
        contracted("vec3<f32>", "%m = mul %x, %y : vec3<f32>\n%s = add %m, %z : vec3<f32>\nstore %o[0], %s")
            .find("fma"),
        std::string::npos);
}

TEST(ContractFma, DoesNotChangeHalfAndIntegers) {
    for (const char* t : {"f16", "u32"}) {
        const std::string type(t);
        const std::string text = contracted(
            type, "%m = mul %x, %y : " + type + "\n%s = add %m, %z : " + type + "\nstore %o[0], %s");
        EXPECT_EQ(text.find("fma"), std::string::npos) << t;
    }
}

TEST(ContractFma, KeepsProductsWithOtherUses) {
    EXPECT_EQ(
        contracted("f32", "%m = mul %x, %y : f32\n%s = add %m, %z : f32\nstore %o[0], %s\nstore %o[1], %m")
            .find("fma"),
        std::string::npos);
    EXPECT_EQ(contracted("f32", "%m = mul %x, %y : f32\n%s = add %m, %m : f32\nstore %o[0], %s").find("fma"),
              std::string::npos);
}

TEST(ContractFma, KeepsProductsOfOtherRegions) {
    EXPECT_EQ(contracted("f32", "%m = mul %x, %y : f32\nif %b {\n%s = add %m, %z : f32\nstore %o[0], %s\n}")
                  .find("fma"),
              std::string::npos);
    EXPECT_NE(contracted("f32", "if %b {\n%m = mul %x, %y : f32\n%s = add %m, %z : f32\nstore %o[0], %s\n}")
                  .find("fma"),
              std::string::npos);
}

TEST(ContractFma, ChainsSums) {
    EXPECT_EQ(
        contracted(
            "f32",
            "%m = mul %x, %y : f32\n%s = add %m, %z : f32\n%n = mul %z, %z : f32\n%t = add %s, %n : f32\n"
            "store %o[0], %t"),
        "%5 = fma %1, %2, %3 : f32\n%6 = fma %3, %3, %5 : f32\nstore %0[0], %6\n");
}

}  // namespace
}  // namespace volley::passes
