// Constants and strings round-trip through text exactly.
#include "ir/literal.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <random>

namespace volley::ir {
namespace {

using enum ScalarType;

void expect_round_trip(ScalarType type, std::uint64_t bits) {
    const std::string text = constant_text(type, bits);
    EXPECT_EQ(constant_bits(type, text), bits) << name_of(type) << " " << text;
}

TEST(Literal, EveryHalfRoundTrips) {
    for (std::uint64_t bits = 0; bits <= 0xffff; ++bits) expect_round_trip(F16, bits);
}

TEST(Literal, RandomBitsOfEveryTypeRoundTrip) {
    std::mt19937_64 random(20240501);
    for (const ScalarType type : {I8, U8, I16, U16, I32, U32, I64, U64, F32, F64}) {
        const std::uint64_t mask = ~std::uint64_t{0} >> (64 - bits_of(type));
        for (int i = 0; i < 2000; ++i) expect_round_trip(type, random() & mask);
        expect_round_trip(type, 0);
        expect_round_trip(type, mask);
        expect_round_trip(type, mask >> 1);
        expect_round_trip(type, (mask >> 1) + 1);
    }
    expect_round_trip(Bool, 0);
    expect_round_trip(Bool, 1);
}

TEST(Literal, ReadsLikeANumber) {
    EXPECT_EQ(constant_text(F32, std::bit_cast<std::uint32_t>(0.1f)), "0.1");
    EXPECT_EQ(constant_text(F32, std::bit_cast<std::uint32_t>(1.0f)), "1.0");
    EXPECT_EQ(constant_text(F64, std::bit_cast<std::uint64_t>(-0.0)), "-0.0");
    EXPECT_EQ(constant_text(F32, 0x7f800000), "inf");
    EXPECT_EQ(constant_text(F64, 0xfff0000000000000), "-inf");
    EXPECT_EQ(constant_text(F32, 0x7fc00001), "0x7fc00001");
    EXPECT_EQ(constant_text(F16, 0x7e00), "0x7e00");
    EXPECT_EQ(constant_text(I8, 0x80), "-128");
    EXPECT_EQ(constant_text(Bool, 1), "true");
}

TEST(Literal, RefusesWhatDoesNotFit) {
    EXPECT_EQ(constant_bits(I8, "128"), std::nullopt);
    EXPECT_EQ(constant_bits(I8, "-129"), std::nullopt);
    EXPECT_EQ(constant_bits(U8, "256"), std::nullopt);
    EXPECT_EQ(constant_bits(U8, "-1"), std::nullopt);
    EXPECT_EQ(constant_bits(U64, "18446744073709551616"), std::nullopt);
    EXPECT_EQ(constant_bits(F16, "65520"), std::nullopt);
    EXPECT_EQ(constant_bits(F32, "1e39"), std::nullopt);
    EXPECT_EQ(constant_bits(F64, "1e309"), std::nullopt);
    EXPECT_EQ(constant_bits(U16, "0x10000"), std::nullopt);
    for (const char* text :
         {"", "-", "x", "1x", "0x", "1.5.2", "true", "nan", "nan(3)", "0x1g", "--1", "1e", "infinity"}) {
        EXPECT_EQ(constant_bits(I32, text), std::nullopt) << text;
        EXPECT_EQ(constant_bits(F32, text), std::nullopt) << text;
    }
    EXPECT_EQ(constant_bits(Bool, "1"), std::nullopt);
    EXPECT_EQ(constant_bits(I32, "1.0"), std::nullopt);
}

TEST(Literal, EveryByteOfAStringRoundTrips) {
    std::string all;
    for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
    EXPECT_EQ(unquote(quote(all)), all);
    EXPECT_EQ(quote("a\n\"\\\x01"), R"("a\n\"\\\x01")");
    for (const char* bad : {"", "\"", "a", "\"\\\"", "\"\\q\"", "\"\\x1\"", "\"\\xg0\"", "\"a\"b\""}) {
        EXPECT_EQ(unquote(bad), std::nullopt) << bad;
    }
}

}  // namespace
}  // namespace volley::ir
