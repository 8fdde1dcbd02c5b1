// Folding and simplification: what is removed, and what must stay because of NaN, signed zeros and overflow.
#include "passes/fold_constants.hpp"

#include "pass_support.hpp"

#include <gtest/gtest.h>

namespace volley::passes {
namespace {

// Returns the definition of `%r` after folding a body that defines it from some given values.
std::string folded(std::string_view type, std::string_view body, std::string_view head = "kernel \"k\"") {
    const std::string start = "%out = buffer " + std::string(type) +
                              R"( "out"
%u = param u32 "u"
%i = param i32 "i"
%f = param f32 "f"
%g = param f32 "g"
%d = param f64 "d"
%h = param f16 "h"
%b = param bool "b"
%v = param vec2<u32> "v"
%z = param complex<f32> "z"
%zero = const 0 : u32
)";
    std::string text = after(fold_constants, start + std::string(body) + "\nstore %out[%zero], %r", head);
    text = text.substr(text.find("complex<f32> \"z\"\n") + 17);
    return text;
}

TEST(FoldConstants, EvaluatesConstantOperations) {
    EXPECT_EQ(folded("i32", "%a = const -7 : i32\n%c = const 2 : i32\n%r = div %a, %c : i32"),
              "%10 = const -3 : i32\nstore %0[0], %10\n");
    EXPECT_EQ(folded("bool", "%a = const 1.5 : f32\n%c = const 2.0 : f32\n%r = lt %a, %c : bool"),
              "%10 = const true : bool\nstore %0[0], %10\n");
    EXPECT_EQ(folded("u8", "%a = const 300.0 : f32\n%r = convert %a : u8"),
              "%10 = const 255 : u8\nstore %0[0], %10\n");
}

TEST(FoldConstants, EvaluatesVectorsByComponent) {
    const std::string text = folded("vec2<u32>",
                                    "%a = const 3 : u32\n%c = const 5 : u32\n"
                                    "%x = construct %a, %c : vec2<u32>\n%y = construct %c, %c : vec2<u32>\n"
                                    "%r = sub %x, %y : vec2<u32>");
    EXPECT_NE(text.find("const 4294967294 : u32"), std::string::npos) << text;
    EXPECT_EQ(folded("vec2<u32>", "%r = sub %v, %v : vec2<u32>"),
              "%10 = zero : vec2<u32>\nstore %0[0], %10\n");
}

struct Identity {
    const char* type;
    const char* body;
    const char* result;  // the stored value by number: %1 u, %2 i, %3 f, %4 g, %5 d, %6 h, %7 b, %8 v
};

class FoldsAway : public ::testing::TestWithParam<Identity> {};

TEST_P(FoldsAway, ToAnOperand) {
    EXPECT_EQ(folded(GetParam().type, GetParam().body),
              "store %0[0], " + std::string(GetParam().result) + "\n")
        << GetParam().body;
}

INSTANTIATE_TEST_SUITE_P(
    Identities, FoldsAway,
    ::testing::Values(
        Identity{"u32", "%r = add %zero, %u : u32", "%1"},
        Identity{"u32", "%c = const 1 : u32\n%r = mul %c, %u : u32", "%1"},
        Identity{"u32", "%r = div %u, %zero : u32", "%1"},
        Identity{"u32", "%c = const 32 : u32\n%r = shl %u, %c : u32", "%1"},
        Identity{"u32", "%r = or %u, %u : u32", "%1"},
        Identity{"u32", "%c = const 4294967295 : u32\n%r = and %u, %c : u32", "%1"},
        Identity{"u32", "%c = const 5 : u32\n%x = add %u, %c : u32\n%r = sub %x, %c : u32", "%1"},
        Identity{"u32", "%r = max %u, %zero : u32", "%1"},
        Identity{"i32", "%x = neg %i : i32\n%r = neg %x : i32", "%2"},
        Identity{"i32", "%x = convert %i : i64\n%r = convert %x : i32", "%2"},
        Identity{"i32", "%x = convert %i : f64\n%r = convert %x : i32", "%2"},
        Identity{"i32", "%x = bitcast %i : f32\n%r = bitcast %x : i32", "%2"},
        Identity{"f32", "%c = const 1.0 : f32\n%r = mul %f, %c : f32", "%3"},
        Identity{"f32", "%c = const -0.0 : f32\n%r = add %c, %f : f32", "%3"},
        Identity{"f32", "%c = const 0.0 : f32\n%r = sub %f, %c : f32", "%3"},
        Identity{"f32", "%c = const 1.0 : f32\n%r = div %f, %c : f32", "%3"},
        Identity{"f32", "%x = convert %f : f64\n%r = convert %x : f32", "%3"},
        Identity{"f32", "%r = min %f, %f : f32", "%3"},
        Identity{"f32", "%t = const true : bool\n%r = select %t, %f, %g : f32", "%3"},
        Identity{"f32", "%r = select %b, %g, %g : f32", "%4"},
        Identity{"bool", "%x = not %b : bool\n%r = not %x : bool", "%7"},
        Identity{"bool", "%t = const true : bool\n%r = eq %b, %t : bool", "%7"},
        Identity{"bool", "%t = const true : bool\n%n = const false : bool\n%r = select %b, %t, %n : bool",
                 "%7"},
        Identity{"bool", "%x = convert %b : i8\n%r = convert %x : bool", "%7"},
        Identity{"vec2<u32>", "%w = zero : vec2<u32>\n%r = add %v, %w : vec2<u32>", "%8"},
        Identity{"complex<f32>",
                 "%x = extract %z[0] : f32\n%y = extract %z[1] : f32\n"
                 "%r = construct %x, %y : complex<f32>",
                 "%9"}));

struct Constant {
    const char* type;
    const char* body;
    const char* result;
};

class FoldsTo : public ::testing::TestWithParam<Constant> {};

TEST_P(FoldsTo, AConstant) {
    EXPECT_EQ(folded(GetParam().type, GetParam().body), "%10 = const " + std::string(GetParam().result) +
                                                            " : " + GetParam().type + "\nstore %0[0], %10\n")
        << GetParam().body;
}

INSTANTIATE_TEST_SUITE_P(
    Identities, FoldsTo,
    ::testing::Values(
        Constant{"u32", "%r = mul %u, %zero : u32", "0"}, Constant{"u32", "%r = sub %u, %u : u32", "0"},
        Constant{"u32", "%r = xor %u, %u : u32", "0"}, Constant{"u32", "%r = rem %u, %zero : u32", "0"},
        Constant{"u32", "%r = rem %u, %u : u32", "0"},
        Constant{"u32", "%c = const 1 : u32\n%r = rem %u, %c : u32", "0"},
        Constant{"u32", "%r = div %zero, %u : u32", "0"}, Constant{"bool", "%r = le %i, %i : bool", "true"},
        Constant{"bool", "%r = ne %u, %u : bool", "false"},
        Constant{"bool", "%r = lt %u, %zero : bool", "false"},
        Constant{"bool", "%c = const -2147483648 : i32\n%r = ge %i, %c : bool", "true"},
        Constant{"bool", "%n = const false : bool\n%r = and %b, %n : bool", "false"}));

class Stays : public ::testing::TestWithParam<Constant> {};

TEST_P(Stays, BecauseSomeInputsDiffer) {
    const Constant& c = GetParam();
    const std::string start = "%out = buffer " + std::string(c.type) + R"( "out"
%i = param i32 "i"
%f = param f32 "f"
%d = param f64 "d"
%c = const true : bool
)";
    const std::string text = after(fold_constants, start + c.body + "\nstore %out[0], %r");
    EXPECT_NE(text.find(c.result), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Floats, Stays,
    ::testing::Values(
        Constant{"f32", "%z = const 0.0 : f32\n%r = add %f, %z : f32", "add"},       // -0 + 0
        Constant{"f32", "%z = const 0.0 : f32\n%r = mul %f, %z : f32", "mul"},       // NaN, inf, -1
        Constant{"f32", "%r = sub %f, %f : f32", "sub"},                             // inf - inf
        Constant{"f32", "%r = div %f, %f : f32", "div"},                             // 0 / 0
        Constant{"bool", "%r = eq %f, %f : bool", "eq"},                             // NaN
        Constant{"bool", "%x = lt %f, %f : bool\n%r = not %x : bool", "not"},        // NaN
        Constant{"f32", "%z = const 3.0 : f32\n%r = div %f, %z : f32", "div"},       // 1/3 is not exact
        Constant{"f32", "%x = convert %d : f32\n%r = convert %x : f32", "convert"},  // d is rounded
        Constant{"f64", "%x = convert %d : f32\n%r = convert %x : f64", "convert %"},
        Constant{"u8", "%x = convert %i : f64\n%r = convert %x : u8", "f64"},     // saturates
        Constant{"i32", "%x = convert %i : f32\n%r = convert %x : i32", "f32"},   // 24 bits
        Constant{"i64", "%x = convert %i : u32\n%r = convert %x : i64", "u32"},   // zero extension
        Constant{"f32", "%z = const 0.0 : f32\n%r = div %z, %z : f32", "div"}));  // NaN's payload

TEST(FoldConstants, DivisionByAPowerOfTwoIsAnExactProduct) {
    EXPECT_EQ(folded("f32", "%c = const 8.0 : f32\n%r = div %f, %c : f32"),
              "%10 = const 0.125 : f32\n%11 = mul %3, %10 : f32\nstore %0[0], %11\n");
    // 1 / 2^127 would be subnormal: some devices flush it.
    EXPECT_NE(folded("f32", "%c = const 1.7014118346046923e38 : f32\n%r = div %f, %c : f32").find("div"),
              std::string::npos);
}

TEST(FoldConstants, NegationsAreMergedIntoSums) {
    EXPECT_EQ(folded("f32", "%x = neg %g : f32\n%r = add %f, %x : f32"),
              "%10 = sub %3, %4 : f32\nstore %0[0], %10\n");
    EXPECT_EQ(folded("f32", "%x = neg %f : f32\n%r = add %x, %g : f32"),
              "%10 = sub %4, %3 : f32\nstore %0[0], %10\n");
    EXPECT_EQ(folded("f32", "%x = neg %g : f32\n%r = sub %f, %x : f32"),
              "%10 = add %3, %4 : f32\nstore %0[0], %10\n");
}

TEST(FoldConstants, IntegerConstantsAreCombined) {
    EXPECT_EQ(
        folded("u32", "%a = const 7 : u32\n%c = const 9 : u32\n%x = add %u, %a : u32\n%r = sub %x, %c : u32"),
        "%10 = const 2 : u32\n%11 = sub %1, %10 : u32\nstore %0[0], %11\n");
    EXPECT_EQ(
        folded("u32", "%a = const 7 : u32\n%c = const 9 : u32\n%x = mul %u, %a : u32\n%r = mul %c, %x : u32"),
        "%10 = const 63 : u32\n%11 = mul %1, %10 : u32\nstore %0[0], %11\n");
}

TEST(FoldConstants, ConversionsThroughWiderIntegersAreDirect) {
    EXPECT_EQ(folded("i64", "%x = convert %i : i64\n%y = convert %x : u64\n%r = convert %y : i64"),
              "%10 = convert %2 : i64\nstore %0[0], %10\n");
    EXPECT_EQ(folded("u8", "%x = convert %i : u16\n%r = convert %x : u8"),
              "%10 = convert %2 : u8\nstore %0[0], %10\n");
}

TEST(FoldConstants, ComparisonsAreNegatedOnlyIfNanAllows) {
    EXPECT_EQ(folded("bool", "%c = const 5 : i32\n%x = lt %i, %c : bool\n%r = not %x : bool"),
              "%10 = const 5 : i32\n%11 = ge %2, %10 : bool\nstore %0[0], %11\n");
    EXPECT_EQ(folded("bool", "%x = eq %f, %g : bool\n%r = not %x : bool"),
              "%10 = ne %3, %4 : bool\nstore %0[0], %10\n");
}

TEST(FoldConstants, ExtractsSeeThroughConstructs) {
    EXPECT_EQ(folded("f32", "%x = construct %f, %g : vec2<f32>\n%r = extract %x[1] : f32"),
              "store %0[0], %4\n");
    EXPECT_EQ(folded("f32",
                     "%x = construct %f, %g : vec2<f32>\n%m = construct %x, %x : mat2x2<f32>\n"
                     "%r = extract %m[0, 1] : f32"),
              "store %0[0], %4\n");
    EXPECT_EQ(
        folded("f32", "%m = zero : mat3x2<f32>\n%c = extract %m[2] : vec2<f32>\n%r = extract %c[%u] : f32"),
        "%10 = const 0.0 : f32\nstore %0[0], %10\n");
}

TEST(FoldConstants, LocalSizeIsAConstantOnceItIsKnown) {
    const char* head = "kernel \"k\" local(64, 2, 1)";
    EXPECT_EQ(folded("u32",
                     "%s = local_size : vec3<u32>\n%x = extract %s[0] : u32\n%y = extract %s[1] : u32\n"
                     "%r = mul %x, %y : u32",
                     head),
              "%10 = const 128 : u32\nstore %0[0], %10\n");
    EXPECT_EQ(folded("u32", "%s = local_id : vec3<u32>\n%r = extract %s[2] : u32", head),
              "%10 = const 0 : u32\nstore %0[0], %10\n");
    EXPECT_EQ(folded("u32", "%s = global_id : vec3<u32>\n%r = extract %s[2] : u32", head),
              "%10 = group_id : vec3<u32>\n%11 = extract %10[2] : u32\nstore %0[0], %11\n");
    EXPECT_EQ(folded("u32", "%r = local_index : u32", "kernel \"k\" local(64, 1, 1)"),
              "%10 = local_id : vec3<u32>\n%11 = extract %10[0] : u32\nstore %0[0], %11\n");
}

// --- control ---

std::string control(std::string_view body) {
    const std::string start =
        "%d = buffer u32 \"d\"\n%p = param u32 \"p\"\n%b = param bool \"b\"\n"
        "%t = const true : bool\n%n = const false : bool\n%one = const 1 : u32\n";
    const std::string text = after(fold_constants, start + std::string(body));
    return text.substr(text.find("bool \"b\"\n") + 9);
}

TEST(FoldConstants, ConstantConditionsSelectTheirBranch) {
    EXPECT_EQ(control("if %t {\nstore %d[0], %p\n} else {\nstore %d[1], %p\n}"), "store %0[0], %1\n");
    EXPECT_EQ(control("if %n {\nstore %d[0], %p\n} else {\nstore %d[1], %p\n}\nstore %d[2], %p"),
              "store %0[1], %1\nstore %0[2], %1\n");
    EXPECT_EQ(control("if %n {\nstore %d[0], %p\n}"), "");
}

TEST(FoldConstants, NothingFollowsASplicedJump) {
    EXPECT_EQ(control("if %t {\nstore %d[0], %p\nreturn\n}\nstore %d[1], %p"), "store %0[0], %1\n");
    EXPECT_EQ(control("loop {\nstore %d[0], %p\nif %t {\nbreak\n}\nstore %d[1], %p\n}"),
              "loop {\n  store %0[0], %1\n  break\n}\n");
    EXPECT_EQ(control("if %b {\nif %t {\nreturn\n}\n} else {\nreturn\n}\nstore %d[1], %p"), "");
}

TEST(FoldConstants, LoopsWithoutTripsAreRemoved) {
    EXPECT_EQ(control("%c = const 5 : u32\n%k = for %c, %one, %one : u32 {\nstore %d[%k], %k\n}"), "");
    EXPECT_EQ(control("%k = for %p, %p, %one : u32 {\nstore %d[%k], %k\n}"), "");
    EXPECT_EQ(control("%z = const 0 : u32\n%k = for %z, %p, %z : u32 {\nstore %d[%k], %k\n}"), "");
}

TEST(FoldConstants, LoopsOfOneTripBecomeTheirBody) {
    EXPECT_EQ(control("%c = const 5 : u32\n%e = const 6 : u32\n%k = for %c, %e, %one : u32 {\n"
                      "%x = add %k, %one : u32\nstore %d[0], %x\n}"),
              "%3 = const 6 : u32\nstore %0[0], %3\n");
    EXPECT_NE(
        control("%c = const 5 : u32\n%e = const 6 : u32\n%k = for %c, %e, %one : u32 {\nif %b {\nbreak\n}\n"
                "store %d[0], %k\n}")
            .find("for"),
        std::string::npos);
}

}  // namespace
}  // namespace volley::passes
