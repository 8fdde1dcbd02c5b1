// Conversions between all scalar types on edge values, against the rules of docs/ir.md section 5; and
// bit_cast.
#include "device/operations.hpp"

#include <bit>

namespace volley::testing {
namespace {

template <class T>
constexpr bool is_floating = std::is_floating_point_v<T> || std::is_same_v<T, half>;

template <class To, class From>
To converted(From x) {
    if constexpr (std::is_same_v<To, bool>) {
        if constexpr (is_floating<From>)
            return static_cast<double>(x) != 0;
        else
            return x != From(0);
    } else if constexpr (is_floating<From> && std::is_integral_v<To>) {
        const auto wide = static_cast<long double>(static_cast<double>(x));
        if (std::isnan(wide)) return 0;
        if (wide >= static_cast<long double>(std::numeric_limits<To>::max()))
            return std::numeric_limits<To>::max();
        if (wide <= static_cast<long double>(std::numeric_limits<To>::min()))
            return std::numeric_limits<To>::min();
        return static_cast<To>(wide);
    } else if constexpr (std::is_same_v<To, half> && !is_floating<From>) {
        return half(static_cast<double>(x));
    } else {
        return static_cast<To>(x);
    }
}

template <class From>
std::vector<From> inputs() {
    std::vector<From> values = edge_values<From>();
    if constexpr (is_floating<From>) {
        // Around the ends of the integer types, and halves, which must not round.
        for (const double v : {127.0,
                               127.5,
                               128.0,
                               255.0,
                               255.9,
                               256.0,
                               32767.5,
                               32768.0,
                               65504.0,
                               65535.5,
                               65536.0,
                               2147483520.0,
                               2147483647.0,
                               2147483648.0,
                               4294967040.0,
                               4294967296.0,
                               9.2233720368547748e18,
                               9.2233720368547758e18,
                               1.8446744073709550e19,
                               1.8446744073709552e19,
                               1e30}) {
            values.push_back(From(v));
            values.push_back(From(-v));
        }
    }
    if constexpr (std::is_integral_v<From> && sizeof(From) >= 4) {
        // Ties and near ties of rounding to floats.
        for (const u64 v :
             {u64{2049}, u64{2051}, u64{65519}, u64{65520}, u64{16777217}, u64{16777219}, u64{2147483583}}) {
            values.push_back(static_cast<From>(v));
        }
        if constexpr (sizeof(From) == 8) {
            for (const u64 v : {u64{0x20000000000001}, u64{0x20000000000003}, u64{0x7fffff4000000001},
                                u64{0x8000008000000001}}) {
                values.push_back(static_cast<From>(v));
            }
        }
    }
    return values;
}

template <class From, class To>
void check_conversion(const std::vector<From>& values) {
    using V = const Value<From>&;
    const std::vector<Unary<From, To>> list = {
        {type_name<To>().c_str(), [](V x) { return cast<To>(x); }, [](From x) { return converted<To>(x); }}};
    const std::string name = "to " + type_name<To>();
    check_unary(values, std::vector<Unary<From, To>>{{name.c_str(), list[0].device, list[0].host}});
}

template <class From>
void check_conversions_from() {
    const auto values = inputs<From>();
    check_conversion<From, bool>(values);
    check_conversion<From, i8>(values);
    check_conversion<From, u8>(values);
    check_conversion<From, i16>(values);
    check_conversion<From, u16>(values);
    check_conversion<From, i32>(values);
    check_conversion<From, u32>(values);
    check_conversion<From, i64>(values);
    check_conversion<From, u64>(values);
    check_conversion<From, half>(values);
    check_conversion<From, float>(values);
    check_conversion<From, double>(values);
}

VOLLEY_DEVICE_TEST(Conversion, FromBool) { check_conversions_from<bool>(); }
VOLLEY_DEVICE_TEST(Conversion, FromI8) { check_conversions_from<i8>(); }
VOLLEY_DEVICE_TEST(Conversion, FromU8) { check_conversions_from<u8>(); }
VOLLEY_DEVICE_TEST(Conversion, FromI16) { check_conversions_from<i16>(); }
VOLLEY_DEVICE_TEST(Conversion, FromU16) { check_conversions_from<u16>(); }
VOLLEY_DEVICE_TEST(Conversion, FromI32) { check_conversions_from<i32>(); }
VOLLEY_DEVICE_TEST(Conversion, FromU32) { check_conversions_from<u32>(); }
VOLLEY_DEVICE_TEST(Conversion, FromI64) { check_conversions_from<i64>(); }
VOLLEY_DEVICE_TEST(Conversion, FromU64) { check_conversions_from<u64>(); }
VOLLEY_DEVICE_TEST(Conversion, FromF16) { check_conversions_from<half>(); }
VOLLEY_DEVICE_TEST(Conversion, FromF32) { check_conversions_from<float>(); }
VOLLEY_DEVICE_TEST(Conversion, FromF64) { check_conversions_from<double>(); }

VOLLEY_DEVICE_TEST(Conversion, VectorsAndComplexNumbersConvertByComponent) {
    Buffer<vec<float, 3>> in = as_buffer({vec3(1.9f, -1.9f, 300.0f)});
    Buffer<vec<i8, 3>> out(1);
    Buffer<std::complex<double>> z(1);
    kernel("convert", [](Buff<const vec3> x, Buff<vec<i8, 3>> y, Buff<std::complex<double>> w) {
        y[0] = cast<i8>(x[0]);
        w[0] = cast<std::complex<double>>(make_complex(x[0].x, x[0].y));
    }).over(1)(in, out, z);
    EXPECT_EQ(out.read(0)[0], (vec<i8, 3>(1, -1, 127)));
    EXPECT_EQ(z.read(0)[0], std::complex<double>(1.9f, -1.9f));
}

VOLLEY_DEVICE_TEST(Conversion, BitCastKeepsBits) {
    const std::vector<float> inputs = {1.0f, -2.5f, 0.0f, -0.0f, 3e38f};
    const auto n = static_cast<u32>(inputs.size());
    Buffer<float> in = as_buffer(inputs);
    Buffer<u32> bits(n);
    Buffer<u64> joined(n);
    Buffer<float> back(n);
    kernel("bits", [](Buff<const float> x, Buff<u32> b, Buff<u64> j, Buff<float> y) {
        const auto i = global_id().x;
        const auto raw = bit_cast<u32>(x[i]);
        b[i] = raw;
        j[i] = bit_cast<u64>(make_vec(raw, raw + 1));
        y[i] = bit_cast<float>(raw);
    }).over(n)(in, bits, joined, back);
    for (u32 i = 0; i < n; ++i) {
        const u32 raw = std::bit_cast<u32>(inputs[i]);
        EXPECT_EQ(bits.read(0)[i], raw);
        EXPECT_EQ(joined.read(0)[i], (u64{raw + 1} << 32) | raw);
    }
    expect_same(back.read(0), inputs);
}

}  // namespace
}  // namespace volley::testing
