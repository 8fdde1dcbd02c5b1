// The operators and functions of integers and bool, for every type and on edge values, against the host.
#include "device/operations.hpp"

#include <bit>
#include <type_traits>

namespace volley::testing {
namespace {

// Arithmetic modulo 2^n by way of u64, in which nothing overflows.
template <class T>
u64 wide(T x) {
    return static_cast<u64>(x);
}
template <class T>
T narrow(u64 x) {
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(x));
}
template <class T>
constexpr u64 width = sizeof(T) * 8;

template <class T>
T divide(T x, T y) {
    if (y == 0) return x;
    if (std::is_signed_v<T> && y == static_cast<T>(-1)) return narrow<T>(0 - wide(x));
    return static_cast<T>(x / y);
}
template <class T>
T remainder(T x, T y) {
    if (y == 0 || (std::is_signed_v<T> && y == static_cast<T>(-1))) return 0;
    return static_cast<T>(x % y);
}

template <class T>
std::vector<Binary<T>> integer_operators() {
    using V = const Value<T>&;
    return {
        {"+", [](V x, V y) { return x + y; }, [](T x, T y) { return narrow<T>(wide(x) + wide(y)); }},
        {"-", [](V x, V y) { return x - y; }, [](T x, T y) { return narrow<T>(wide(x) - wide(y)); }},
        {"*", [](V x, V y) { return x * y; }, [](T x, T y) { return narrow<T>(wide(x) * wide(y)); }},
        {"/", [](V x, V y) { return x / y; }, [](T x, T y) { return divide(x, y); }},
        {"%", [](V x, V y) { return x % y; }, [](T x, T y) { return remainder(x, y); }},
        {"&", [](V x, V y) { return x & y; }, [](T x, T y) { return static_cast<T>(x & y); }},
        {"|", [](V x, V y) { return x | y; }, [](T x, T y) { return static_cast<T>(x | y); }},
        {"^", [](V x, V y) { return x ^ y; }, [](T x, T y) { return static_cast<T>(x ^ y); }},
        {"<<", [](V x, V y) { return x << y; },
         [](T x, T y) { return narrow<T>(wide(x) << (wide(y) % width<T>)); }},
        {">>", [](V x, V y) { return x >> y; },
         [](T x, T y) { return static_cast<T>(x >> (wide(y) % width<T>)); }},
        {"min", [](V x, V y) { return min(x, y); }, [](T x, T y) { return std::min(x, y); }},
        {"max", [](V x, V y) { return max(x, y); }, [](T x, T y) { return std::max(x, y); }},
        {"fma", [](V x, V y) { return fma(x, y, x); },
         [](T x, T y) { return narrow<T>(wide(x) * wide(y) + wide(x)); }},
        {"x + 3", [](V x, V) { return x + 3; }, [](T x, T) { return narrow<T>(wide(x) + 3); }},
        {"7 - x", [](V x, V) { return 7 - x; }, [](T x, T) { return narrow<T>(7 - wide(x)); }},
        {"x / 5", [](V x, V) { return x / 5; }, [](T x, T) { return static_cast<T>(x / 5); }},
        {"x % 5", [](V x, V) { return x % 5; }, [](T x, T) { return static_cast<T>(x % 5); }},
        {"x / 8", [](V x, V) { return x / 8; }, [](T x, T) { return static_cast<T>(x / 8); }},
        {"x % 8", [](V x, V) { return x % 8; }, [](T x, T) { return static_cast<T>(x % 8); }},
        {"select", [](V x, V y) { return select(x < y, x, y * 2); },
         [](T x, T y) { return x < y ? x : narrow<T>(wide(y) * 2); }},
    };
}

template <class T>
T count_leading(T x) {
    return static_cast<T>(std::countl_zero(static_cast<std::make_unsigned_t<T>>(x)));
}
template <class T>
T count_trailing(T x) {
    return static_cast<T>(std::countr_zero(static_cast<std::make_unsigned_t<T>>(x)));
}
template <class T>
T reversed(T x) {
    u64 result = 0;
    for (u64 k = 0; k < width<T>; ++k) result |= ((wide(x) >> k) & 1) << (width<T> - 1 - k);
    return narrow<T>(result);
}

template <class T>
std::vector<Unary<T>> integer_functions() {
    using V = const Value<T>&;
    return {
        {"-x", [](V x) { return -x; }, [](T x) { return narrow<T>(0 - wide(x)); }},
        {"~x", [](V x) { return ~x; }, [](T x) { return static_cast<T>(~x); }},
        {"abs", [](V x) { return abs(x); }, [](T x) { return x < 0 ? narrow<T>(0 - wide(x)) : x; }},
        {"sign", [](V x) { return sign(x); }, [](T x) { return static_cast<T>((x > 0) - (x < 0)); }},
        {"popcount", [](V x) { return popcount(x); },
         [](T x) { return static_cast<T>(std::popcount(static_cast<std::make_unsigned_t<T>>(x))); }},
        {"clz", [](V x) { return clz(x); }, [](T x) { return count_leading(x); }},
        {"ctz", [](V x) { return ctz(x); }, [](T x) { return count_trailing(x); }},
        {"reverse_bits", [](V x) { return reverse_bits(x); }, [](T x) { return reversed(x); }},
    };
}

template <class T>
std::vector<Binary<T, bool>> comparisons() {
    using V = const Value<T>&;
    return {
        {"==", [](V x, V y) { return x == y; }, [](T x, T y) { return x == y; }},
        {"!=", [](V x, V y) { return x != y; }, [](T x, T y) { return x != y; }},
        {"<", [](V x, V y) { return x < y; }, [](T x, T y) { return x < y; }},
        {"<=", [](V x, V y) { return x <= y; }, [](T x, T y) { return x <= y; }},
        {">", [](V x, V y) { return x > y; }, [](T x, T y) { return x > y; }},
        {">=", [](V x, V y) { return x >= y; }, [](T x, T y) { return x >= y; }},
    };
}

template <class T>
void check_integers() {
    const auto pairs = edge_pairs<T>();
    check_binary(pairs.first, pairs.second, integer_operators<T>());
    check_unary(edge_values<T>(), integer_functions<T>());
    check_binary(pairs.first, pairs.second, comparisons<T>());
}

VOLLEY_DEVICE_TEST(Integer, I8OperationsAgreeWithTheHost) { check_integers<i8>(); }
VOLLEY_DEVICE_TEST(Integer, U8OperationsAgreeWithTheHost) { check_integers<u8>(); }
VOLLEY_DEVICE_TEST(Integer, I16OperationsAgreeWithTheHost) { check_integers<i16>(); }
VOLLEY_DEVICE_TEST(Integer, U16OperationsAgreeWithTheHost) { check_integers<u16>(); }
VOLLEY_DEVICE_TEST(Integer, I32OperationsAgreeWithTheHost) { check_integers<i32>(); }
VOLLEY_DEVICE_TEST(Integer, U32OperationsAgreeWithTheHost) { check_integers<u32>(); }
VOLLEY_DEVICE_TEST(Integer, I64OperationsAgreeWithTheHost) { check_integers<i64>(); }
VOLLEY_DEVICE_TEST(Integer, U64OperationsAgreeWithTheHost) { check_integers<u64>(); }

std::vector<Binary<bool>> bool_operators() {
    using V = const Value<bool>&;
    return {
        {"&&", [](V x, V y) { return x && y; }, [](bool x, bool y) { return x && y; }},
        {"||", [](V x, V y) { return x || y; }, [](bool x, bool y) { return x || y; }},
        {"&", [](V x, V y) { return x & y; }, [](bool x, bool y) { return x && y; }},
        {"|", [](V x, V y) { return x | y; }, [](bool x, bool y) { return x || y; }},
        {"^", [](V x, V y) { return x ^ y; }, [](bool x, bool y) { return x != y; }},
        {"==", [](V x, V y) { return x == y; }, [](bool x, bool y) { return x == y; }},
        {"!=", [](V x, V y) { return x != y; }, [](bool x, bool y) { return x != y; }},
        {"!x", [](V x, V) { return !x; }, [](bool x, bool) { return !x; }},
        {"select", [](V x, V y) { return select(x, y, true); }, [](bool x, bool y) { return x ? y : true; }},
        {"&& true", [](V x, V) { return x && true; }, [](bool x, bool) { return x; }},
        {"false ||", [](V x, V) { return false || x; }, [](bool x, bool) { return x; }},
    };
}

VOLLEY_DEVICE_TEST(Integer, BoolOperationsAgreeWithTheHost) {
    const std::vector<bool> first = {false, true, false, true, true, false, true, true, false};
    const std::vector<bool> second = {false, false, true, true, false, true, true, false, false};
    check_binary(first, second, bool_operators());
}

VOLLEY_DEVICE_TEST(Integer, AnyNonZeroByteOfABufferReadsAsTrue) {
    Buffer<u8> bytes = as_buffer(std::vector<u8>{0, 1, 2, 128, 255});
    Buffer<bool> flags(5);
    std::vector<std::byte> raw;
    for (const u8 b : bytes.read(0)) raw.push_back(std::byte{b});
    flags.write_bytes(raw);
    Buffer<i32> out(5);
    kernel("truth", [](Buff<const bool> flag, Buff<i32> result) {
        const auto i = global_id().x;
        result[i] = select(flag[i], 1, 0);
    }).over(5)(flags, out);
    EXPECT_EQ(out.read(0), (std::vector<i32>{0, 1, 1, 1, 1}));
}

}  // namespace
}  // namespace volley::testing
