// Single scalar operations of the interpreter, checked against values derived by hand from docs/ir.md.
#include "backends/reference/scalar.hpp"

#include <volley/half.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace volley::backends::reference {
namespace {

using ir::Op;
using S = ScalarType;

std::uint64_t u(std::int64_t v, S type) {
    return size_of(type) == 8 ? static_cast<std::uint64_t>(v)
                              : static_cast<std::uint64_t>(v) & ((std::uint64_t{1} << bits_of(type)) - 1);
}
std::int64_t integer(Op op, S type, std::int64_t a, std::int64_t b = 0, std::int64_t c = 0) {
    return as_int64(type, scalar_function(op, type)(u(a, type), u(b, type), u(c, type)));
}
std::uint64_t f(float v) { return std::bit_cast<std::uint32_t>(v); }
float f32(Op op, float a, float b = 0, float c = 0) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(scalar_function(op, S::F32)(f(a), f(b), f(c))));
}
double f64(Op op, double a, double b = 0) {
    const auto bits = [](double v) { return std::bit_cast<std::uint64_t>(v); };
    return std::bit_cast<double>(scalar_function(op, S::F64)(bits(a), bits(b), 0));
}

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

TEST(ReferenceScalar, IntegersWrap) {
    EXPECT_EQ(integer(Op::Add, S::I8, 127, 1), -128);
    EXPECT_EQ(integer(Op::Sub, S::U8, 0, 1), 255);
    EXPECT_EQ(integer(Op::Mul, S::U16, 65535, 65535), 1);
    EXPECT_EQ(integer(Op::Neg, S::I64, std::numeric_limits<std::int64_t>::min()),
              std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(integer(Op::Abs, S::I32, std::numeric_limits<std::int32_t>::min()),
              std::numeric_limits<std::int32_t>::min());
    EXPECT_EQ(integer(Op::Fma, S::I8, 100, 2, 57), 1);
}

TEST(ReferenceScalar, DivisionIsDefinedEverywhere) {
    EXPECT_EQ(integer(Op::Div, S::I32, -7, 2), -3);
    EXPECT_EQ(integer(Op::Rem, S::I32, -7, 2), -1);
    EXPECT_EQ(integer(Op::Div, S::I32, 5, 0), 5);
    EXPECT_EQ(integer(Op::Rem, S::U32, 5, 0), 0);
    EXPECT_EQ(integer(Op::Div, S::I8, -128, -1), -128);
    EXPECT_EQ(integer(Op::Rem, S::I8, -128, -1), 0);
    EXPECT_EQ(integer(Op::Div, S::U8, 200, 255), 0);
}

TEST(ReferenceScalar, ShiftsTakeTheAmountModuloTheWidth) {
    EXPECT_EQ(integer(Op::Shl, S::U32, 1, 33), 2);
    EXPECT_EQ(integer(Op::Shr, S::I8, -128, 7), -1);
    EXPECT_EQ(integer(Op::Shr, S::I8, -128, 8), -128);
    EXPECT_EQ(integer(Op::Shr, S::U8, 128, 7), 1);
    EXPECT_EQ(integer(Op::Shr, S::I64, -1, 63), -1);
    EXPECT_EQ(integer(Op::Shl, S::I16, 1, -1), -32768);
}

TEST(ReferenceScalar, BitCountsOfZeroAreTheWidth) {
    EXPECT_EQ(integer(Op::Clz, S::U16, 0), 16);
    EXPECT_EQ(integer(Op::Ctz, S::I64, 0), 64);
    EXPECT_EQ(integer(Op::Clz, S::I32, 1), 31);
    EXPECT_EQ(integer(Op::PopCount, S::I8, -1), 8);
    EXPECT_EQ(integer(Op::ReverseBits, S::U8, 1), 128);
    EXPECT_EQ(integer(Op::Sign, S::I8, -5), -1);
}

TEST(ReferenceScalar, MinAndMaxPreferNumbersToNan) {
    EXPECT_EQ(f32(Op::Min, nan, 2), 2);
    EXPECT_EQ(f32(Op::Max, 2, nan), 2);
    EXPECT_TRUE(std::isnan(f32(Op::Min, nan, nan)));
    EXPECT_EQ(f32(Op::Max, -inf, -3), -3);
}

TEST(ReferenceScalar, ComparisonsWithNanAreFalseExceptNe) {
    for (const Op op : {Op::Eq, Op::Lt, Op::Le, Op::Gt, Op::Ge}) {
        EXPECT_EQ(scalar_function(op, S::F32)(f(nan), f(1), 0), 0u);
    }
    EXPECT_EQ(scalar_function(Op::Ne, S::F32)(f(nan), f(nan), 0), 1u);
}

TEST(ReferenceScalar, NegActsOnTheSignBit) {
    EXPECT_TRUE(std::signbit(f32(Op::Neg, 0.0f)));
    EXPECT_NE(std::signbit(f32(Op::Neg, nan)), std::signbit(nan));
    EXPECT_FALSE(std::signbit(f32(Op::Abs, -nan)));
}

TEST(ReferenceScalar, RoundsInEveryMode) {
    EXPECT_EQ(f32(Op::Round, 2.5f), 3);
    EXPECT_EQ(f32(Op::Round, -2.5f), -3);
    EXPECT_EQ(f32(Op::RoundEven, 2.5f), 2);
    EXPECT_EQ(f32(Op::RoundEven, 3.5f), 4);
    EXPECT_TRUE(std::signbit(f32(Op::RoundEven, -0.25f)));
    EXPECT_EQ(f32(Op::RoundEven, 16777217.0f), 16777216.0f);
    EXPECT_EQ(f64(Op::RoundEven, -4503599627370495.5), -4503599627370496.0);
    EXPECT_EQ(f32(Op::Trunc, -1.9f), -1);
}

TEST(ReferenceScalar, FmaRoundsOnce) {
    const float a = 1.0f + 0x1p-12f;
    EXPECT_EQ(f32(Op::Fma, a, a, -1.0f - 0x1p-11f), 0x1p-24f);
}

TEST(ReferenceScalar, HalfArithmeticRoundsToHalf) {
    const auto h = [](float v) { return std::uint64_t{half(v).bits()}; };
    EXPECT_EQ(scalar_function(Op::Add, S::F16)(h(2048), h(1), 0), h(2048));
    EXPECT_EQ(scalar_function(Op::Mul, S::F16)(h(300), h(300), 0), h(inf));
    EXPECT_EQ(scalar_function(Op::Div, S::F16)(h(1), h(3), 0), h(1.0f / 3));
}

TEST(ReferenceScalar, FunctionsHandleTheEdgeCasesOfAnnexF) {
    EXPECT_EQ(f32(Op::Pow, 0.0f, -1.0f), inf);
    EXPECT_EQ(f32(Op::Pow, nan, 0.0f), 1);
    EXPECT_EQ(f32(Op::Log, 0.0f), -inf);
    EXPECT_TRUE(std::isnan(f32(Op::Sin, inf)));
    EXPECT_EQ(f32(Op::Rsqrt, 0.0f), inf);
    EXPECT_EQ(f32(Op::Hypot, inf, nan), inf);
    EXPECT_EQ(f32(Op::Exp10, 3.0f), 1000);
    EXPECT_EQ(f64(Op::Cbrt, -27.0), -3);
    EXPECT_TRUE(std::isnan(f32(Op::Rem, 1, 0)));
    EXPECT_EQ(f32(Op::Rem, -5.5f, 2), -1.5f);
}

TEST(ReferenceScalar, FloatsConvertToIntegersWithSaturation) {
    const auto to = [](S type, float v) { return as_int64(type, convert_scalar(S::F32, type, f(v))); };
    EXPECT_EQ(to(S::I8, 200), 127);
    EXPECT_EQ(to(S::I8, -200), -128);
    EXPECT_EQ(to(S::U8, -0.9f), 0);
    EXPECT_EQ(to(S::U8, -5), 0);
    EXPECT_EQ(to(S::I32, nan), 0);
    EXPECT_EQ(to(S::I32, -inf), std::numeric_limits<std::int32_t>::min());
    EXPECT_EQ(to(S::I64, 9.3e18f), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(static_cast<std::uint64_t>(to(S::U64, inf)), std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(to(S::I16, -1.99f), -1);
    EXPECT_EQ(convert_scalar(S::F32, S::Bool, f(nan)), 1u);
    EXPECT_EQ(convert_scalar(S::F32, S::Bool, f(-0.0f)), 0u);
}

TEST(ReferenceScalar, IntegersConvertByWrappingOrRounding) {
    EXPECT_EQ(as_int64(S::I8, convert_scalar(S::U32, S::I8, 0x1ff)), -1);
    EXPECT_EQ(convert_scalar(S::I8, S::U64, 0xff), ~std::uint64_t{0});
    EXPECT_EQ(convert_scalar(S::I32, S::F32, 16777217), f(16777216.0f));
    EXPECT_EQ(convert_scalar(S::I64, S::F16, 70000), std::uint64_t{0x7c00});
    EXPECT_EQ(convert_scalar(S::Bool, S::F16, 1), std::uint64_t{0x3c00});
    EXPECT_EQ(convert_scalar(S::F64, S::F16, std::bit_cast<std::uint64_t>(1.0 + 0x1p-11 + 0x1p-40)), 0x3c01u);
}

TEST(ReferenceScalar, IdentitiesChangeNothing) {
    EXPECT_EQ(identity_of(Op::Min, S::I8), 127u);
    EXPECT_EQ(identity_of(Op::Max, S::I8), 128u);
    EXPECT_EQ(identity_of(Op::Max, S::F32), f(-inf));
    EXPECT_EQ(identity_of(Op::And, S::U16), 0xffffu);
    EXPECT_EQ(identity_of(Op::And, S::Bool), 1u);
    EXPECT_EQ(identity_of(Op::Mul, S::F32), f(1));
}

}  // namespace
}  // namespace volley::backends::reference
