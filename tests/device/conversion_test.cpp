// cast and bit_cast between all scalar types, for run-time values and constants: integers wrap, floats round
// once, floats to integers saturate, and NaN converts to 0.
#include "support/device_fixture.hpp"
#include "support/device_map.hpp"
#include "support/edge_values.hpp"
#include "support/host_model.hpp"

namespace volley {
namespace {

namespace model = testing::model;
using testing::check_exact;
using testing::expect_same;
using testing::samples;

// Types that every device has; f64 is tested separately.
#define COMMON_SCALARS bool, i8, u8, i16, u16, i32, u32, i64, u64, f16, f32
#define ALL_SCALARS COMMON_SCALARS, f64

/// Includes the limits of the other types, as far as From can represent them.
template <class From>
std::vector<From> conversion_samples() {
    auto values = samples<From>(300, 31);
    if constexpr (testing::is_float_scalar<From>) {
        for (const double bound :
             {127.0,  128.0,  255.0,   256.0,  32767.0, 65535.0, 65536.0, 65519.99, 65520.0, 0x1p31, 0x1p32,
              0x1p63, 0x1p64, 0x1p127, 3.5e38, 6.1e-5,  6e-8,    2.98e-8, 2.99e-8,  1e-45,   1e-46}) {
            for (const double v :
                 {bound, bound - 0.5, bound + 0.5, bound * (1 - 0x1p-23), bound * (1 + 0x1p-23), bound + 1}) {
                values.push_back(static_cast<From>(v));
                values.push_back(static_cast<From>(-v));
            }
        }
        testing::Random random(testing::seed_or(32));
        for (int i = 0; i < 2000; ++i) values.push_back(static_cast<From>(random.uniform(-70000, 70000)));
        for (int i = 0; i < 500; ++i) values.push_back(static_cast<From>(random.uniform(-1e-7, 1e-7)));
    } else if constexpr (sizeof(From) == 8) {
        // Halfway cases of the 24 and 53 bits of floats.
        for (int shift = 20; shift < 63; ++shift) {
            for (const u64 tail : {1u, 2u, 3u}) {
                for (const int place : {24, 25, 53, 54}) {
                    if (place > shift) continue;
                    values.push_back(static_cast<From>((u64{1} << shift) + (tail << (shift - place))));
                    values.push_back(static_cast<From>((u64{1} << shift) + (tail << (shift - place)) + 1));
                }
            }
        }
    } else if constexpr (sizeof(From) == 4) {
        for (const u32 v : {0x1000001u, 0x1000003u, 0x7fffff80u, 0x7fffffbfu, 0x7fffffc0u, 0xffffff7fu,
                            0xffffff80u, 2049u}) {
            values.push_back(static_cast<From>(v));
        }
    }
    return values;
}

template <class To, class From>
void expect_converted(const Buffer<To>& got, const std::vector<From>& from) {
    SCOPED_TRACE("to " + dtype_of<To>().name());
    std::vector<To> want;
    for (const From v : from) want.push_back(model::convert<To>(v));
    testing::expect_each(
        got.read(0), want,
        [&](const To& g, const To&, std::size_t i) {
            return testing::agrees(g, testing::same<To>, model::convert<To, From>, From(from[i]));
        },
        [&](std::size_t i) { return " from " + testing::show(From(from[i])); });
}

template <class From, class... To>
void check_casts() {
    const auto from = conversion_samples<From>();
    auto run = kernel("cast", [](Buff<const From> in, Buff<To>... out) {
        const auto i = global_id().x;
        ((out[i] = cast<To>(in[i])), ...);
    });
    std::tuple<Buffer<To>...> out{Buffer<To>(from.size())...};
    std::apply(
        [&](auto&... to) {
            run.over(from.size())(as_buffer(from), to...);
            (expect_converted(to, from), ...);
        },
        out);
}

VOLLEY_DEVICE_TEST(Conversion, BetweenAllScalars) {
    each_type<ALL_SCALARS>([this]<class From>() {
        check_casts<From, COMMON_SCALARS>();
        if (supports<f64>()) check_casts<From, f64>();
    });
}

// Constants, folded on the host.
template <class From, class... To>
void check_conversion_constants() {
    const auto from = testing::edge_values<From>();
    auto run = kernel("cast", [from](Buff<To>... out) {
        u32 i = 0;
        for (const From v : from) {
            ((out[i] = cast<To>(Value<From>(v))), ...);
            ++i;
        }
    });
    std::tuple<Buffer<To>...> out{Buffer<To>(from.size())...};
    std::apply(
        [&](auto&... to) {
            run.over(1)(to...);
            (expect_converted(to, from), ...);
        },
        out);
}

VOLLEY_DEVICE_TEST(Conversion, OfConstantsIsTheSame) {
    each_type<ALL_SCALARS>([this]<class From>() {
        check_conversion_constants<From, COMMON_SCALARS>();
        if (supports<f64>()) check_conversion_constants<From, f64>();
    });
}

// Uniform values.
template <class From, class... To>
void check_conversion_uniform() {
    auto run =
        kernel("cast", [](Const<From> v, Buff<To>... out) { ((out[global_id().x] = cast<To>(v)), ...); });
    for (const From v : testing::edge_values<From>()) {
        std::tuple<Buffer<To>...> out{Buffer<To>(5)...};
        std::apply(
            [&](auto&... to) {
                run.over(5)(v, to...);
                (expect_converted(to, std::vector<From>(5, v)), ...);
            },
            out);
    }
}

VOLLEY_DEVICE_TEST(Conversion, OfUniformValuesIsTheSame) {
    check_conversion_uniform<f32, i8, u8, i32, u32, i64, u64, f16>();
    check_conversion_uniform<i64, f16, f32, u8, i32>();
    check_conversion_uniform<u64, f16, f32, i8>();
    if (!supports<f64>()) return;
    check_conversion_uniform<f64, u8, i32, u64, i64, f16, f32>();
    check_conversion_uniform<i64, f64>();
    check_conversion_uniform<u64, f64>();
}

VOLLEY_DEVICE_TEST(Conversion, OfVectorsAndComplexNumbersConvertsParts) {
    const std::vector<vec3> v = {{1.5f, -2.5f, 300.0f}, {1e10f, -1e10f, NAN}, {0.0f, -0.0f, 0.99f}};
    check_exact<ivec3>({{"cast<int>", [](const Value<vec3>& x) { return cast<i32>(x); },
                         [](vec3 x) {
                             return ivec3(model::convert<i32>(x.x), model::convert<i32>(x.y),
                                          model::convert<i32>(x.z));
                         }}},
                       v);
    check_exact<u8vec3>({{"cast<u8vec3>", [](const Value<vec3>& x) { return cast<u8vec3>(x); },
                          [](vec3 x) {
                              return u8vec3(model::convert<u8>(x.x), model::convert<u8>(x.y),
                                            model::convert<u8>(x.z));
                          }}},
                        v);
    check_exact<bvec3>({{"cast<bool>", [](const Value<vec3>& x) { return cast<bool>(x); },
                         [](vec3 x) { return bvec3(x.x != 0, x.y != 0, x.z != 0); }}},
                       v);
    const std::vector<i32> n = {3, -4, 16777217};
    check_exact<c64>({{"from real", [](const Value<i32>& x) { return cast<c64>(x); },
                       [](i32 x) { return c64(static_cast<float>(x), 0); }}},
                     n);
    const std::vector<c64> z = {{1.1f, -2.2f}, {1e30f, 0.5f}};
    check_exact<c32>({{"to narrower parts", [](const Value<c64>& x) { return cast<c32>(x); },
                       [](c64 x) { return c32(half(x.real()), half(x.imag())); }}},
                     z);
    const std::vector<mat2x3> m = {{{{1.1f, 2.2f, 3.3f}, {4.4f, 1e-40f, 6.6f}}}};
    using hmat2x3 = mat<half, 2, 3>;
    check_exact<hmat2x3>({{"of matrices", [](const Value<mat2x3>& x) { return cast<f16>(x); },
                           [](mat2x3 x) {
                               hmat2x3 y;
                               for (int c = 0; c < 2; ++c) y[c] = hvec3(x[c]);
                               return y;
                           }}},
                         m);
    if (!supports<f64>()) return;
    check_exact<c128>({{"to wider parts", [](const Value<c64>& x) { return cast<c128>(x); },
                        [](c64 x) { return c128(x); }}},
                      z);
    check_exact<dmat2x3>({{"of matrices", [](const Value<mat2x3>& x) { return cast<f64>(x); },
                           [](mat2x3 x) {
                               dmat2x3 y;
                               for (int c = 0; c < 2; ++c) y[c] = dvec3(x[c]);
                               return y;
                           }}},
                         m);
}

template <class To, class From>
void check_conversion_bits(u64 seed) {
    static_assert(sizeof(To) == sizeof(From));
    testing::Random random(seed);
    std::vector<std::array<std::byte, sizeof(From)>> bytes(500);
    for (auto& element : bytes) {
        for (std::byte& b : element) b = static_cast<std::byte>(random.bits());
    }
    Buffer<From> in(bytes.size());
    in.write_bytes(std::as_bytes(std::span(bytes)));
    Buffer<To> out(bytes.size());
    kernel("bits", [](Buff<const From> x, Buff<To> y) { y[global_id().x] = bit_cast<To>(x[global_id().x]); })(
        in, out);
    std::vector<std::array<std::byte, sizeof(From)>> got(bytes.size());
    out.read_bytes(std::as_writable_bytes(std::span(got)), 0);
    EXPECT_TRUE(got == bytes) << dtype_of<From>().name() << " to " << dtype_of<To>().name();
}

VOLLEY_DEVICE_TEST(Conversion, BitCastsKeepEveryBitOfNanToo) {
    check_conversion_bits<u8, i8>(41);
    check_conversion_bits<f16, u16>(42);
    check_conversion_bits<i16, f16>(43);
    check_conversion_bits<f32, u32>(44);
    check_conversion_bits<i32, f32>(45);
    check_conversion_bits<f64, u64>(46);
    check_conversion_bits<i64, f64>(47);
    check_conversion_bits<u8vec4, u32>(48);
    check_conversion_bits<f32, hvec2>(49);
    check_conversion_bits<u64, vec2>(50);
    check_conversion_bits<c64, f64>(51);
    check_conversion_bits<uvec3, vec3>(52);
    check_conversion_bits<u16vec2, u8vec4>(53);
}

}  // namespace
}  // namespace volley
