// Compares binary16 with an independent implementation of rounding: the nearest of two neighbours, ties to
// even.
#include <gtest/gtest.h>
#include <volley/half.hpp>
#include <volley/types.hpp>

#include <cmath>
#include <random>

namespace volley {
namespace {

half bits(int pattern) { return half::from_bits(static_cast<std::uint16_t>(pattern)); }

double value_of(int pattern) {
    const int exponent = (pattern >> 10) & 31;
    const int mantissa = pattern & 1023;
    return exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
}

TEST(Half, WideningIsExactForEveryPattern) {
    for (int pattern = 0; pattern < 0x7c00; ++pattern) {
        ASSERT_EQ(static_cast<double>(float(bits(pattern))), value_of(pattern)) << pattern;
        ASSERT_EQ(static_cast<double>(float(bits(pattern | 0x8000))), -value_of(pattern)) << pattern;
    }
    EXPECT_EQ(float(bits(0x7c00)), INFINITY);
    EXPECT_EQ(float(bits(0xfc00)), -INFINITY);
    EXPECT_TRUE(std::isnan(float(bits(0x7e01))));
    EXPECT_TRUE(std::signbit(float(bits(0x8000))));
}

TEST(Half, EveryPatternRoundTripsThroughFloatAndDouble) {
    for (int pattern = 0; pattern < 0x10000; ++pattern) {
        const half h = bits(pattern);
        if (h != h) continue;
        ASSERT_EQ(half(float(h)).bits(), pattern);
        ASSERT_EQ(half(static_cast<double>(float(h))).bits(), pattern);
    }
}

TEST(Half, RoundsToNearestAndTiesToEven) {
    for (int pattern = 0; pattern < 0x7bff; ++pattern) {
        const double low = value_of(pattern);
        const double high = value_of(pattern + 1);
        const double middle = (low + high) / 2;
        const int even = pattern % 2 == 0 ? pattern : pattern + 1;
        ASSERT_EQ(half(middle).bits(), even) << pattern;
        ASSERT_EQ(half(float(middle)).bits(), even) << pattern;
        ASSERT_EQ(half(std::nextafter(middle, 0.0)).bits(), pattern) << pattern;
        ASSERT_EQ(half(std::nextafter(middle, 1e9)).bits(), pattern + 1) << pattern;
        ASSERT_EQ(half(std::nextafter(float(middle), 0.0f)).bits(), pattern) << pattern;
        ASSERT_EQ(half(std::nextafter(float(middle), 1e9f)).bits(), pattern + 1) << pattern;
        ASSERT_EQ(half(-middle).bits(), even | 0x8000) << pattern;
    }
}

TEST(Half, DoublesAreRoundedOnceNotThroughFloat) {
    // Above a tie by less than float resolves: through float it would round down, to even.
    const double above_tie = 1.0 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
    EXPECT_EQ(half(above_tie).bits(), 0x3c01);
    EXPECT_EQ(half(float(above_tie)).bits(), 0x3c00);
}

TEST(Half, OverflowsToInfinityAndUnderflowsToZero) {
    EXPECT_EQ(half(65519.0f).bits(), 0x7bff);
    EXPECT_EQ(half(65520.0f).bits(), 0x7c00);
    EXPECT_EQ(half(1e300).bits(), 0x7c00);
    EXPECT_EQ(half(-1e30f).bits(), 0xfc00);
    EXPECT_EQ(half(std::ldexp(1.0, -25)).bits(), 0);  // a tie between zero and the smallest
    EXPECT_EQ(half(std::nextafter(std::ldexp(1.0, -25), 1.0)).bits(), 1);
    EXPECT_EQ(half(-1e-30f).bits(), 0x8000);
    EXPECT_EQ(half(1e-320).bits(), 0);
    EXPECT_EQ(half(1e-42f).bits(), 0);
}

TEST(Half, NansStayNans) {
    EXPECT_TRUE(std::isnan(float(half(NAN))));
    EXPECT_TRUE(std::isnan(float(half(static_cast<double>(NAN)))));
    // A payload only in the low bits must not turn into infinity.
    EXPECT_TRUE(std::isnan(float(half(std::bit_cast<float>(0x7f800001u)))));
    const half nan = std::numeric_limits<half>::quiet_NaN();
    EXPECT_FALSE(nan == nan);
    EXPECT_FALSE(nan < half(1));
    EXPECT_FALSE(nan > half(1));
}

TEST(Half, ComputesAndCompares) {
    EXPECT_EQ(half(1.5f) + half(2), half(3.5f));
    EXPECT_EQ(half(1.5f) - half(2), half(-0.5f));
    EXPECT_EQ(half(3) * half(0.5), half(1.5f));
    EXPECT_EQ(half(1) / half(4), half(0.25f));
    EXPECT_EQ(-half(2), half(-2));
    EXPECT_LT(half(-1), half(0));
    EXPECT_EQ(half(0.0f), half(-0.0f));
    half h(2);
    h *= half(3);
    h += half(1);
    EXPECT_EQ(float(h), 7.0f);
    EXPECT_EQ(half(2) * 1.5f, 3.0f);  // widens
}

TEST(Half, KnowsItsLimits) {
    using limits = std::numeric_limits<half>;
    EXPECT_EQ(float(limits::max()), 65504.0f);
    EXPECT_EQ(float(limits::lowest()), -65504.0f);
    EXPECT_EQ(float(limits::min()), std::ldexp(1.0f, -14));
    EXPECT_EQ(float(limits::denorm_min()), std::ldexp(1.0f, -24));
    EXPECT_EQ(float(limits::epsilon()), std::ldexp(1.0f, -10));
    EXPECT_EQ(float(limits::infinity()), INFINITY);
    static_assert(half(1.5f) + half(1.0f) == half(2.5));
}

TEST(Half, CanBeAPartOfAComplexNumber) {
    static_assert(sizeof(complex<half>) == 4);
    const complex<half> c(half(1.5f), half(-2));
    EXPECT_EQ(float(c.real()), 1.5f);
    EXPECT_EQ(float(c.imag()), -2.0f);
}

}  // namespace
}  // namespace volley
