// Compares scalar evaluation with a direct implementation of docs/ir.md sections 3 to 5: exhaustively for 8
// bits, with edge values for wider types.
#include "passes/eval.hpp"

#include <gtest/gtest.h>
#include <volley/half.hpp>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace volley::passes {
namespace {

using enum ScalarType;
using ir::Op;
using Bits = std::uint64_t;
constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

std::optional<Bits> eval(Op op, ScalarType type, std::initializer_list<Bits> in) {
    const ScalarType result =
        ir::form(op) == ir::Form::Compare || ir::form(op) == ir::Form::Classify ? Bool : type;
    return evaluate(op, result, type, std::span(in.begin(), in.size()));
}
std::optional<Bits> convert(ScalarType to, ScalarType from, Bits bits) {
    return evaluate(Op::Convert, to, from, std::span(&bits, 1));
}
Bits f32(float v) { return std::bit_cast<std::uint32_t>(v); }
Bits f64(double v) { return std::bit_cast<std::uint64_t>(v); }
Bits f16(float v) { return half(v).bits(); }

// Edge values of a type: near zero, near the limits, near powers of two.
std::vector<Bits> edges(ScalarType type) {
    std::vector<Bits> out;
    const Bits mask = mask_of(type);
    for (const Bits centre : {Bits{0}, mask >> 1, Bits{1} << (bits_of(type) / 2)}) {
        for (int d = -2; d <= 2; ++d) out.push_back((centre + static_cast<Bits>(d)) & mask);
    }
    return out;
}

// An implementation of each operation in arithmetic that cannot overflow.
std::optional<Bits> expected(Op op, ScalarType type, Bits a, Bits b) {
    using Wide = long double;  // 64 bits of mantissa: exact for all results of 32 bits and less
    const bool is_signed = is_signed_integer(type);
    const Bits mask = mask_of(type);
    const unsigned width = bits_of(type);
    const auto value = [&](Bits x) {
        const bool negative = is_signed && (x >> (width - 1)) != 0;
        return negative ? static_cast<Wide>(x) - static_cast<Wide>(mask) - 1 : static_cast<Wide>(x);
    };
    const auto magnitude = [&](Bits v) { return value(v) < 0 ? (0 - v) & mask : v; };
    const Wide x = value(a);
    const Wide y = value(b);
    const auto wrap = [&](Wide v) -> Bits {
        const Wide modulus = static_cast<Wide>(mask) + 1;
        Wide r = std::fmod(v, modulus);
        if (r < 0) r += modulus;
        return static_cast<Bits>(r) & mask;
    };
    switch (op) {
        case Op::Add: return width == 64 ? a + b : wrap(x + y);
        case Op::Sub: return width == 64 ? a - b : wrap(x - y);
        case Op::Mul: return width == 64 ? a * b : wrap(x * y);
        case Op::Div: {
            if (y == 0) return a;
            const Bits quotient = magnitude(a) / magnitude(b);
            return ((x < 0) != (y < 0) ? 0 - quotient : quotient) & mask;
        }
        case Op::Rem: {
            if (y == 0) return 0;
            const Bits rest = magnitude(a) % magnitude(b);
            return (x < 0 ? 0 - rest : rest) & mask;
        }
        case Op::Min: return x < y ? a : b;
        case Op::Max: return x < y ? b : a;
        case Op::Lt: return x < y;
        case Op::Le: return x <= y;
        case Op::Gt: return x > y;
        case Op::Ge: return x >= y;
        case Op::Eq: return x == y;
        case Op::Ne: return x != y;
        case Op::Shl:
            return wrap(std::fmod(std::ldexp(x, static_cast<int>(b % width)), static_cast<Wide>(mask) + 1));
        case Op::Shr: return wrap(std::floor(std::ldexp(x, -static_cast<int>(b % width))));
        case Op::And: return a & b;
        case Op::Or: return a | b;
        case Op::Xor: return a ^ b;
        default: return std::nullopt;
    }
}

constexpr std::array binary = {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Rem, Op::Min,
                               Op::Max, Op::Lt,  Op::Le,  Op::Gt,  Op::Ge,  Op::Eq,
                               Op::Ne,  Op::Shl, Op::Shr, Op::And, Op::Or,  Op::Xor};

TEST(Eval, BytesAreRightForAllPairs) {
    for (const ScalarType type : {I8, U8}) {
        for (const Op op : binary) {
            for (Bits a = 0; a < 256; ++a) {
                for (Bits b = 0; b < 256; ++b) {
                    ASSERT_EQ(eval(op, type, {a, b}), expected(op, type, a, b))
                        << ir::mnemonic(op) << ' ' << name_of(type) << ' ' << a << ' ' << b;
                }
            }
        }
    }
}

TEST(Eval, EdgesOfAllIntegersAreRight) {
    for (const ScalarType type : {I8, U8, I16, U16, I32, U32, I64, U64}) {
        for (const Op op : binary) {
            for (const Bits a : edges(type)) {
                for (const Bits b : edges(type)) {
                    ASSERT_EQ(eval(op, type, {a, b}), expected(op, type, a, b))
                        << ir::mnemonic(op) << ' ' << name_of(type) << ' ' << a << ' ' << b;
                }
            }
        }
    }
}

TEST(Eval, DivisionNeverFaults) {
    const Bits min32 = 0x80000000;
    const Bits min64 = Bits{1} << 63;
    EXPECT_EQ(eval(Op::Div, I32, {min32, 0xffffffff}), min32);
    EXPECT_EQ(eval(Op::Rem, I32, {min32, 0xffffffff}), 0u);
    EXPECT_EQ(eval(Op::Div, I64, {min64, ~Bits{0}}), min64);
    EXPECT_EQ(eval(Op::Rem, I64, {min64, ~Bits{0}}), 0u);
    EXPECT_EQ(eval(Op::Div, U32, {17, 0}), 17u);
    EXPECT_EQ(eval(Op::Rem, U32, {17, 0}), 0u);
    EXPECT_EQ(eval(Op::Div, I8, {0x80, 0}), 0x80u);
}

TEST(Eval, ShiftAmountsAreModuloTheWidth) {
    EXPECT_EQ(eval(Op::Shl, U8, {1, 9}), 2u);
    EXPECT_EQ(eval(Op::Shl, U32, {1, 32}), 1u);
    EXPECT_EQ(eval(Op::Shr, I32, {0x80000000, 0xffffffff}), 0xffffffffu);  // 31, arithmetic
    EXPECT_EQ(eval(Op::Shr, U32, {0x80000000, 31}), 1u);
    EXPECT_EQ(eval(Op::Shl, I64, {1, 63}), Bits{1} << 63);
}

TEST(Eval, UnaryIntegersWrapAndCount) {
    EXPECT_EQ(eval(Op::Neg, I8, {0x80}), 0x80u);
    EXPECT_EQ(eval(Op::Abs, I8, {0x80}), 0x80u);
    EXPECT_EQ(eval(Op::Abs, I32, {0xfffffffb}), 5u);
    EXPECT_EQ(eval(Op::Abs, U32, {0xfffffffb}), 0xfffffffbu);
    EXPECT_EQ(eval(Op::Sign, I16, {0x8000}), 0xffffu);
    EXPECT_EQ(eval(Op::Sign, U16, {0x8000}), 1u);
    EXPECT_EQ(eval(Op::Sign, I64, {0}), 0u);
    EXPECT_EQ(eval(Op::Not, U16, {0x00f0}), 0xff0fu);
    EXPECT_EQ(eval(Op::Fma, U8, {200, 2, 113}), 1u);
    for (const ScalarType type : {I8, U8, I16, U16, I32, U32, I64, U64}) {
        const unsigned width = bits_of(type);
        EXPECT_EQ(eval(Op::Clz, type, {0}), width);
        EXPECT_EQ(eval(Op::Ctz, type, {0}), width);
        EXPECT_EQ(eval(Op::Clz, type, {1}), width - 1);
        EXPECT_EQ(eval(Op::Ctz, type, {Bits{1} << (width - 1)}), width - 1);
        EXPECT_EQ(eval(Op::PopCount, type, {mask_of(type)}), width);
        EXPECT_EQ(eval(Op::ReverseBits, type, {1}), Bits{1} << (width - 1));
        EXPECT_EQ(eval(Op::ReverseBits, type, {3}), Bits{3} << (width - 2));
    }
}

TEST(Eval, BoolsAreLogical) {
    for (const Bits a : {0u, 1u}) {
        EXPECT_EQ(eval(Op::Not, Bool, {a}), 1 - a);
        for (const Bits b : {0u, 1u}) {
            EXPECT_EQ(eval(Op::And, Bool, {a, b}), a & b);
            EXPECT_EQ(eval(Op::Or, Bool, {a, b}), a | b);
            EXPECT_EQ(eval(Op::Xor, Bool, {a, b}), a ^ b);
            EXPECT_EQ(eval(Op::Eq, Bool, {a, b}), Bits{a == b});
            EXPECT_EQ(eval(Op::Ne, Bool, {a, b}), Bits{a != b});
        }
    }
}

TEST(Eval, FloatArithmeticRoundsOnce) {
    EXPECT_EQ(eval(Op::Add, F32, {f32(0.1f), f32(0.2f)}), f32(0.1f + 0.2f));
    EXPECT_EQ(eval(Op::Div, F32, {f32(1), f32(3)}), f32(1.0f / 3.0f));
    EXPECT_EQ(eval(Op::Div, F32, {f32(1), f32(-0.0f)}), f32(-inf));
    EXPECT_EQ(eval(Op::Mul, F64, {f64(1e-200), f64(1e-200)}), f64(0));
    EXPECT_EQ(eval(Op::Mul, F32, {f32(0x1p-100f), f32(0x1p-40f)}), f32(0x1p-140f));  // subnormals are kept
    // (1 + 2^-12)^2 - 1 needs the product's last bit.
    const float x = 1 + 0x1p-12f;
    EXPECT_EQ(eval(Op::Fma, F32, {f32(x), f32(x), f32(-1)}), f32(std::fma(x, x, -1.0f)));
    EXPECT_NE(eval(Op::Fma, F32, {f32(x), f32(x), f32(-1)}), f32(x * x - 1));
    EXPECT_EQ(eval(Op::Sqrt, F64, {f64(2)}), f64(std::sqrt(2.0)));
    EXPECT_EQ(eval(Op::Sqrt, F32, {f32(-0.0f)}), f32(-0.0f));
}

TEST(Eval, HalfArithmeticIsThatOfFloatRounded) {
    EXPECT_EQ(eval(Op::Add, F16, {f16(2048), f16(1)}), f16(2048));  // tie to even
    EXPECT_EQ(eval(Op::Add, F16, {f16(2048), f16(3)}), f16(2052));
    EXPECT_EQ(eval(Op::Mul, F16, {f16(300), f16(300)}), f16(inf));
    EXPECT_EQ(eval(Op::Mul, F16, {0x0001, f16(0.5f)}), 0u);  // half of the smallest: tie to even
    EXPECT_EQ(eval(Op::Fma, F16, {f16(1.5f), f16(1.5f), f16(-2.25f)}), 0u);
    EXPECT_EQ(eval(Op::Lt, F16, {f16(-1), f16(2)}), 1u);
}

TEST(Eval, NanResultsAreNotFoldedButNanOperandsAre) {
    EXPECT_EQ(eval(Op::Add, F32, {f32(inf), f32(-inf)}), std::nullopt);
    EXPECT_EQ(eval(Op::Div, F64, {f64(0), f64(0)}), std::nullopt);
    EXPECT_EQ(eval(Op::Rem, F32, {f32(1), f32(0)}), std::nullopt);
    EXPECT_EQ(eval(Op::Sqrt, F32, {f32(-1)}), std::nullopt);
    EXPECT_EQ(eval(Op::Min, F32, {f32(nan), f32(3)}), f32(3));
    EXPECT_EQ(eval(Op::Max, F32, {f32(-3), f32(nan)}), f32(-3));
    EXPECT_EQ(eval(Op::Min, F32, {f32(nan), f32(nan)}), std::nullopt);
    for (const Op op : {Op::Eq, Op::Lt, Op::Le, Op::Gt, Op::Ge})
        EXPECT_EQ(eval(op, F32, {f32(nan), f32(nan)}), 0u);
    EXPECT_EQ(eval(Op::Ne, F32, {f32(nan), f32(nan)}), 1u);
    EXPECT_EQ(eval(Op::IsNan, F16, {0x7e00}), 1u);
    EXPECT_EQ(eval(Op::IsInf, F64, {f64(-HUGE_VAL)}), 1u);
}

TEST(Eval, SignBitOperationsKeepPayloads) {
    EXPECT_EQ(eval(Op::Neg, F32, {0x7fc12345}), 0xffc12345u);
    EXPECT_EQ(eval(Op::Abs, F32, {0xffc12345}), 0x7fc12345u);
    EXPECT_EQ(eval(Op::Neg, F16, {0}), 0x8000u);
    EXPECT_EQ(eval(Op::Neg, F64, {f64(-0.0)}), f64(0.0));
    EXPECT_EQ(evaluate(Op::Select, F32, F32, std::array<Bits, 3>{1, 0x7fc12345, 0}), 0x7fc12345u);
    EXPECT_EQ(evaluate(Op::Bitcast, U32, F32, std::array<Bits, 1>{0xffc12345}), 0xffc12345u);
}

TEST(Eval, UnspecifiedSignsOfZeroAreNotFolded) {
    EXPECT_EQ(eval(Op::Min, F32, {f32(0.0f), f32(-0.0f)}), std::nullopt);
    EXPECT_EQ(eval(Op::Max, F64, {f64(-0.0), f64(0.0)}), std::nullopt);
    EXPECT_EQ(eval(Op::Sign, F32, {f32(-0.0f)}), std::nullopt);
    EXPECT_EQ(eval(Op::Min, F32, {f32(-0.0f), f32(-0.0f)}), f32(-0.0f));
    EXPECT_EQ(eval(Op::Sign, F32, {f32(-7.5f)}), f32(-1));
}

TEST(Eval, RoundingOfHalvesIsAsDocumented) {
    for (const auto& [x, away, even] : {std::array{0.5f, 1.0f, 0.0f},
                                        {1.5f, 2.0f, 2.0f},
                                        {2.5f, 3.0f, 2.0f},
                                        {-2.5f, -3.0f, -2.0f},
                                        {0.49999997f, 0.0f, 0.0f}}) {
        EXPECT_EQ(eval(Op::Round, F32, {f32(x)}), f32(away));
        EXPECT_EQ(eval(Op::RoundEven, F32, {f32(x)}), f32(even));
    }
    EXPECT_EQ(eval(Op::Floor, F32, {f32(-0.5f)}), f32(-1));
    EXPECT_EQ(eval(Op::Ceil, F32, {f32(-0.5f)}), f32(-0.0f));
    EXPECT_EQ(eval(Op::Trunc, F64, {f64(-1.9)}), f64(-1));
    EXPECT_EQ(eval(Op::Rem, F32, {f32(-5.5f), f32(2)}), f32(-1.5f));
}

TEST(Eval, FunctionsAreLeftToTheDevice) {
    for (const Op op : {Op::Sin, Op::Exp, Op::Log, Op::Rsqrt, Op::Cbrt})
        EXPECT_EQ(eval(op, F32, {f32(1)}), std::nullopt);
    EXPECT_EQ(eval(Op::Pow, F64, {f64(2), f64(2)}), std::nullopt);
}

TEST(Eval, IntegersConvertModulo) {
    EXPECT_EQ(convert(U8, I32, 0xffffff85), 0x85u);
    EXPECT_EQ(convert(I64, I8, 0x80), ~Bits{0} << 7);
    EXPECT_EQ(convert(U64, U8, 0x80), 0x80u);
    EXPECT_EQ(convert(U32, I16, 0xffff), 0xffffffffu);
    EXPECT_EQ(convert(I32, U16, 0xffff), 0xffffu);
    EXPECT_EQ(convert(Bool, I32, 0x100), 1u);
    EXPECT_EQ(convert(I64, Bool, 1), 1u);
}

TEST(Eval, IntegersRoundToFloats) {
    EXPECT_EQ(convert(F32, U32, 0xffffffff), f32(4294967296.0f));
    EXPECT_EQ(convert(F32, I32, 0x80000000), f32(-2147483648.0f));
    EXPECT_EQ(convert(F32, U64, 0x1000001000000001), f32(0x1.000002p60f));  // above a tie: no double rounding
    EXPECT_EQ(convert(F64, U64, ~Bits{0}), f64(18446744073709551616.0));
    EXPECT_EQ(convert(F64, I64, ~Bits{0}), f64(-1));
    EXPECT_EQ(convert(F16, I32, 65519), f16(65504));
    EXPECT_EQ(convert(F16, I32, 65520), f16(inf));
    EXPECT_EQ(convert(F16, U64, ~Bits{0}), f16(inf));
    EXPECT_EQ(convert(F32, Bool, 1), f32(1));
}

TEST(Eval, FloatsRoundToFloats) {
    EXPECT_EQ(convert(F32, F64, f64(1e300)), f32(inf));
    EXPECT_EQ(convert(F32, F64, f64(1 + 0x1p-24)), f32(1));
    EXPECT_EQ(convert(F16, F64, f64(1 + 0x1p-11 + 0x1p-40)), f16(1 + 0x1p-10f));  // rounded once
    EXPECT_EQ(convert(F64, F16, 0x0001), f64(0x1p-24));
    EXPECT_EQ(convert(F64, F32, f32(nan)), std::nullopt);
}

TEST(Eval, FloatsTruncateAndSaturateToIntegers) {
    struct Row {
        float from;
        ScalarType to;
        Bits bits;
    };
    const Row rows[] = {
        {-1.9f, I32, 0xffffffff},
        {1.9f, U8, 1},
        {-1.0f, U32, 0},
        {-0.9f, U64, 0},
        {300.0f, U8, 255},
        {-300.0f, I8, 0x80},
        {127.9f, I8, 127},
        {128.0f, I8, 127},
        {3e9f, I32, 0x7fffffff},
        {-3e9f, I32, 0x80000000},
        {5e9f, U32, 0xffffffff},
        {inf, U64, ~Bits{0}},
        {-inf, I64, Bits{1} << 63},
        {inf, I64, ~Bits{0} >> 1},
        {1e20f, U64, ~Bits{0}},
        {nan, I32, 0},
        {nan, U64, 0},
        {nan, Bool, 1},
        {-0.0f, Bool, 0},
        {0x1p-149f, Bool, 1},
    };
    for (const Row& row : rows)
        EXPECT_EQ(convert(row.to, F32, f32(row.from)), row.bits) << row.from << ' ' << name_of(row.to);
    EXPECT_EQ(convert(U64, F64, f64(0x1p63)), Bits{1} << 63);
    EXPECT_EQ(convert(I64, F64, f64(-0x1p63)), Bits{1} << 63);
    EXPECT_EQ(convert(U8, F16, 0x7c00), 255u);
}

TEST(Eval, TripCountsAreMathematical) {
    EXPECT_EQ(trip_count(U32, 0, 10, 3), 4u);
    EXPECT_EQ(trip_count(U32, 10, 0, 1), 0u);
    EXPECT_EQ(trip_count(U32, 0, 10, 0), 0u);
    EXPECT_EQ(trip_count(U8, 0, 255, 254), 2u);  // the next index would wrap
    EXPECT_EQ(trip_count(U64, 0, ~Bits{0}, 1), ~Bits{0});
    EXPECT_EQ(trip_count(I32, 0xfffffffb, 5, 1), 10u);
    EXPECT_EQ(trip_count(I32, 5, 0xfffffffb, 0xffffffff), 10u);
    EXPECT_EQ(trip_count(I32, 5, 0xfffffffb, 1), 0u);
    EXPECT_EQ(trip_count(I32, 0, 5, 0xffffffff), 0u);
    EXPECT_EQ(trip_count(I8, 0x80, 0x7f, 1), 255u);
    EXPECT_EQ(trip_count(I8, 0x7f, 0x80, 0x80), 2u);
    EXPECT_EQ(trip_count(I64, Bits{1} << 63, ~Bits{0} >> 1, 1), ~Bits{0});
}

}  // namespace
}  // namespace volley::passes
