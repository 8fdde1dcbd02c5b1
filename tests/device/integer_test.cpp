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

struct IntegerOperators {
    template <class T, class Visit>
    static void of(Visit&& visit) {
        visit("+", [](auto x, auto y) { return x + y; }, [](T x, T y) { return narrow<T>(wide(x) + wide(y)); });
        visit("-", [](auto x, auto y) { return x - y; }, [](T x, T y) { return narrow<T>(wide(x) - wide(y)); });
        visit("*", [](auto x, auto y) { return x * y; }, [](T x, T y) { return narrow<T>(wide(x) * wide(y)); });
        visit("/", [](auto x, auto y) { return x / y; }, [](T x, T y) { return divide(x, y); });
        visit("%", [](auto x, auto y) { return x % y; }, [](T x, T y) { return remainder(x, y); });
        visit("&", [](auto x, auto y) { return x & y; }, [](T x, T y) { return static_cast<T>(x & y); });
        visit("|", [](auto x, auto y) { return x | y; }, [](T x, T y) { return static_cast<T>(x | y); });
        visit("^", [](auto x, auto y) { return x ^ y; }, [](T x, T y) { return static_cast<T>(x ^ y); });
        visit("<<", [](auto x, auto y) { return x << y; },
              [](T x, T y) { return narrow<T>(wide(x) << (wide(y) % width<T>)); });
        visit(">>", [](auto x, auto y) { return x >> y; },
              [](T x, T y) { return static_cast<T>(x >> (wide(y) % width<T>)); });
        visit("min", [](auto x, auto y) { return min(x, y); }, [](T x, T y) { return std::min(x, y); });
        visit("max", [](auto x, auto y) { return max(x, y); }, [](T x, T y) { return std::max(x, y); });
        visit("fma", [](auto x, auto y) { return fma(x, y, x); },
              [](T x, T y) { return narrow<T>(wide(x) * wide(y) + wide(x)); });
        visit("x + 3", [](auto x, auto) { return x + 3; }, [](T x, T) { return narrow<T>(wide(x) + 3); });
        visit("7 - x", [](auto x, auto) { return 7 - x; }, [](T x, T) { return narrow<T>(7 - wide(x)); });
        visit("x / 5", [](auto x, auto) { return x / 5; }, [](T x, T) { return static_cast<T>(x / 5); });
        visit("x % 5", [](auto x, auto) { return x % 5; }, [](T x, T) { return static_cast<T>(x % 5); });
        visit("x / 8", [](auto x, auto) { return x / 8; }, [](T x, T) { return static_cast<T>(x / 8); });
        visit("x % 8", [](auto x, auto) { return x % 8; }, [](T x, T) { return static_cast<T>(x % 8); });
        visit("select", [](auto x, auto y) { return select(x < y, x, y * 2); },
              [](T x, T y) { return x < y ? x : narrow<T>(wide(y) * 2); });
    }
};

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

struct IntegerFunctions {
    template <class T, class Visit>
    static void of(Visit&& visit) {
        visit("-x", [](auto x) { return -x; }, [](T x) { return narrow<T>(0 - wide(x)); });
        visit("~x", [](auto x) { return ~x; }, [](T x) { return static_cast<T>(~x); });
        visit("abs", [](auto x) { return abs(x); }, [](T x) { return x < 0 ? narrow<T>(0 - wide(x)) : x; });
        visit("sign", [](auto x) { return sign(x); }, [](T x) { return static_cast<T>((x > 0) - (x < 0)); });
        visit("popcount", [](auto x) { return popcount(x); },
              [](T x) { return static_cast<T>(std::popcount(static_cast<std::make_unsigned_t<T>>(x))); });
        visit("clz", [](auto x) { return clz(x); }, [](T x) { return count_leading(x); });
        visit("ctz", [](auto x) { return ctz(x); }, [](T x) { return count_trailing(x); });
        visit("reverse_bits", [](auto x) { return reverse_bits(x); }, [](T x) { return reversed(x); });
    }
};

struct Comparisons {
    template <class T, class Visit>
    static void of(Visit&& visit) {
        visit("==", [](auto x, auto y) { return x == y; }, [](T x, T y) { return x == y; });
        visit("!=", [](auto x, auto y) { return x != y; }, [](T x, T y) { return x != y; });
        visit("<", [](auto x, auto y) { return x < y; }, [](T x, T y) { return x < y; });
        visit("<=", [](auto x, auto y) { return x <= y; }, [](T x, T y) { return x <= y; });
        visit(">", [](auto x, auto y) { return x > y; }, [](T x, T y) { return x > y; });
        visit(">=", [](auto x, auto y) { return x >= y; }, [](T x, T y) { return x >= y; });
    }
};

template <class T>
void check_integers() {
    const auto pairs = edge_pairs<T>();
    const auto name = type_name<T>();
    check_binary<T, T>(name, pairs.first, pairs.second,
                       [](auto&& visit) { IntegerOperators::of<T>(visit); });
    check_unary<T, T>(name, edge_values<T>(), [](auto&& visit) { IntegerFunctions::of<T>(visit); });
    check_binary<T, bool>(name, pairs.first, pairs.second, [](auto&& visit) { Comparisons::of<T>(visit); });
}

VOLLEY_DEVICE_TEST(Integer, I8OperationsAgreeWithTheHost) { check_integers<i8>(); }
VOLLEY_DEVICE_TEST(Integer, U8OperationsAgreeWithTheHost) { check_integers<u8>(); }
VOLLEY_DEVICE_TEST(Integer, I16OperationsAgreeWithTheHost) { check_integers<i16>(); }
VOLLEY_DEVICE_TEST(Integer, U16OperationsAgreeWithTheHost) { check_integers<u16>(); }
VOLLEY_DEVICE_TEST(Integer, I32OperationsAgreeWithTheHost) { check_integers<i32>(); }
VOLLEY_DEVICE_TEST(Integer, U32OperationsAgreeWithTheHost) { check_integers<u32>(); }
VOLLEY_DEVICE_TEST(Integer, I64OperationsAgreeWithTheHost) { check_integers<i64>(); }
VOLLEY_DEVICE_TEST(Integer, U64OperationsAgreeWithTheHost) { check_integers<u64>(); }

struct BoolOperators {
    template <class Visit>
    void operator()(Visit&& visit) const {
        visit("&&", [](auto x, auto y) { return x && y; }, [](bool x, bool y) { return x && y; });
        visit("||", [](auto x, auto y) { return x || y; }, [](bool x, bool y) { return x || y; });
        visit("&", [](auto x, auto y) { return x & y; }, [](bool x, bool y) { return x && y; });
        visit("|", [](auto x, auto y) { return x | y; }, [](bool x, bool y) { return x || y; });
        visit("^", [](auto x, auto y) { return x ^ y; }, [](bool x, bool y) { return x != y; });
        visit("==", [](auto x, auto y) { return x == y; }, [](bool x, bool y) { return x == y; });
        visit("!=", [](auto x, auto y) { return x != y; }, [](bool x, bool y) { return x != y; });
        visit("!x", [](auto x, auto) { return !x; }, [](bool x, bool) { return !x; });
        visit("select", [](auto x, auto y) { return select(x, y, true); }, [](bool x, bool y) { return x ? y : true; });
        visit("&& true", [](auto x, auto) { return x && true; }, [](bool x, bool) { return x; });
        visit("false ||", [](auto x, auto) { return false || x; }, [](bool x, bool) { return x; });
    }
};

VOLLEY_DEVICE_TEST(Integer, BoolOperationsAgreeWithTheHost) {
    const std::vector<bool> first = {false, true, false, true, true, false, true, true, false};
    const std::vector<bool> second = {false, false, true, true, false, true, true, false, false};
    check_binary<bool, bool>("bool", first, second, BoolOperators{});
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
