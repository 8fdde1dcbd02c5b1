// The opened LLVM, and the functions that it calls to convert f16.
#include "codegen/llvm/compiler.hpp"
#include "codegen/llvm/half_calls.hpp"

#include <volley/half.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

namespace volley::codegen::llvm {
namespace {

TEST(LlvmLibrary, HasASupportedVersion) {
    EXPECT_GE(llvm_version(), 15u);
    EXPECT_LE(llvm_version(), 20u);
    // The test runs that choose a library with VOLLEY_LLVM_LIBRARY say which version it has.
    const char* const chosen = std::getenv("VOLLEY_TEST_LLVM_MAJOR");
    if (chosen != nullptr) {
        EXPECT_EQ(std::to_string(llvm_version()), chosen);
    }
}

#if defined(__x86_64__)
void* call_named(std::string_view name) {
    for (const HalfCall& call : half_calls()) {
        if (name == call.name) return call.address;
    }
    ADD_FAILURE() << name << " is missing";
    return nullptr;
}

/// An f16 in an SSE register, as generated code passes it: the other bits are garbage.
float in_register(std::uint16_t bits) { return std::bit_cast<float>(0x3fa50000u | bits); }
std::uint16_t from_register(float value) {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value));
}

/// The value of a finite f16, by the definition of the format.
double value_of(std::uint16_t bits) {
    const int exponent = (bits >> 10) & 31;
    const double fraction = (bits & 1023) / 1024.0;
    const double magnitude =
        exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1.0 + fraction, exponent - 15);
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(HalfCalls, WidenEveryHalf) {
    const auto extend = reinterpret_cast<float (*)(float)>(call_named("__extendhfsf2"));
    ASSERT_NE(extend, nullptr);
    for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
        const auto half_bits = static_cast<std::uint16_t>(bits);
        const float wide = extend(in_register(half_bits));
        if ((bits & 0x7fff) > 0x7c00) {
            ASSERT_TRUE(std::isnan(wide)) << bits;
        } else if ((bits & 0x7fff) == 0x7c00) {
            ASSERT_EQ(wide, std::copysign(std::numeric_limits<float>::infinity(), bits > 0x7fff ? -1 : 1));
        } else {
            ASSERT_EQ(wide, value_of(half_bits)) << bits;
            ASSERT_EQ(std::signbit(wide), bits > 0x7fff) << bits;
        }
    }
}

/// Checks a conversion to f16 at every f16, halfway between neighbours, and next to both, with both signs.
template <class T>
void check_rounding(const char* name) {
    const auto narrow = reinterpret_cast<float (*)(T)>(call_named(name));
    ASSERT_NE(narrow, nullptr);
    constexpr T infinity = std::numeric_limits<T>::infinity();
    const auto expect = [&](T value, std::uint16_t bits) {
        ASSERT_EQ(from_register(narrow(value)), bits) << std::hexfloat << value;
        ASSERT_EQ(from_register(narrow(-value)), bits | 0x8000) << std::hexfloat << -value;
    };
    for (std::uint16_t bits = 0; bits < 0x7c00; ++bits) {
        const auto next = static_cast<std::uint16_t>(bits + 1);
        const T here = static_cast<T>(value_of(bits));
        // The number after the largest would be 65536; from halfway on, numbers become infinity.
        const T there = next == 0x7c00 ? T{65536} : static_cast<T>(value_of(next));
        const T halfway = (here + there) / 2;
        expect(here, bits);
        expect(std::nextafter(here, infinity), bits);
        expect(std::nextafter(halfway, T{0}), bits);
        expect(halfway, bits % 2 == 0 ? bits : next);
        expect(std::nextafter(halfway, infinity), next);
        expect(std::nextafter(there, T{0}), next);
        if (::testing::Test::HasFatalFailure()) return;
    }
    expect(std::numeric_limits<T>::denorm_min(), 0);
    expect(std::numeric_limits<T>::min(), 0);
    expect(std::numeric_limits<T>::max(), 0x7c00);
    expect(infinity, 0x7c00);
    for (const T nan : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::signaling_NaN()}) {
        const std::uint16_t bits = from_register(narrow(nan));
        EXPECT_EQ(bits & 0x7e00, 0x7e00) << "a quiet NaN";
    }
}

TEST(HalfCalls, RoundFloats) { check_rounding<float>("__truncsfhf2"); }

TEST(HalfCalls, RoundDoublesOnce) { check_rounding<double>("__truncdfhf2"); }
#endif

}  // namespace
}  // namespace volley::codegen::llvm
