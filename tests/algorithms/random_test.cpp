// Random numbers: the published vectors of Random123, fills against host implementations, and bad input.
#include "support/random.hpp"
#include "support/backend_test.hpp"

#include <volley/algorithms/random.hpp>

#include <cmath>
#include <numbers>
#include <thread>

namespace volley {
namespace {

using testing::error_of;
using testing::expect_contains;

// ---- host implementations, written from the paper ----

using HostWords = std::array<u32, 4>;
__extension__ using Wide = unsigned __int128;

HostWords philox_on_host(std::array<u32, 2> key, HostWords x) {
    for (int round = 0; round < 10; ++round) {
        const u64 p = u64{0xd2511f53} * x[0], q = u64{0xcd9e8d57} * x[2];
        x = {static_cast<u32>(q >> 32) ^ x[1] ^ key[0], static_cast<u32>(q),
             static_cast<u32>(p >> 32) ^ x[3] ^ key[1], static_cast<u32>(p)};
        key[0] += 0x9e3779b9;
        key[1] += 0xbb67ae85;
    }
    return x;
}

template <std::size_t N>
std::array<u32, N> threefry_on_host(const std::array<u32, N>& key, std::array<u32, N> x) {
    static constexpr int two[8] = {13, 15, 26, 6, 17, 29, 16, 24};
    static constexpr int four[8][2] = {{10, 26}, {11, 21}, {13, 27}, {23, 5},
                                       {6, 20},  {17, 11}, {25, 10}, {18, 20}};
    std::array<u32, N + 1> extended{};
    extended[N] = 0x1bd11bda;
    for (std::size_t i = 0; i < N; ++i) {
        extended[i] = key[i];
        extended[N] ^= key[i];
        x[i] += key[i];
    }
    for (u32 round = 0; round < 20; ++round) {
        if constexpr (N == 2) {
            x[0] += x[1];
            x[1] = std::rotl(x[1], two[round % 8]) ^ x[0];
        } else {
            const std::size_t b = round % 2 == 0 ? 1 : 3, d = 4 - b;
            x[0] += x[b];
            x[b] = std::rotl(x[b], four[round % 8][0]) ^ x[0];
            x[2] += x[d];
            x[d] = std::rotl(x[d], four[round % 8][1]) ^ x[2];
        }
        if (round % 4 != 3) continue;
        const u32 times = round / 4 + 1;
        for (std::size_t i = 0; i < N; ++i) x[i] += extended[(times + i) % (N + 1)];
        x[N - 1] += times;
    }
    return x;
}

/// Words of the stream that random.hpp documents.
class HostStream {
public:
    HostStream(u64 seed, u64 stream) : seed_(seed), stream_(stream) {}
    [[nodiscard]] HostWords block(u64 number) const {
        return philox_on_host({static_cast<u32>(seed_), static_cast<u32>(seed_ >> 32)},
                              {static_cast<u32>(number), static_cast<u32>(number >> 32),
                               static_cast<u32>(stream_), static_cast<u32>(stream_ >> 32)});
    }
    [[nodiscard]] u32 word(u64 i) const { return block(i / 4)[i % 4]; }
    /// Words 2 * i and 2 * i + 1, the first one high.
    [[nodiscard]] u64 pair(u64 i) const {
        const HostWords words = block(i / 2);
        return u64{words[i % 2 * 2]} << 32 | words[i % 2 * 2 + 1];
    }
    [[nodiscard]] float unit_float(u64 i) const { return static_cast<float>(word(i) >> 8) * 0x1p-24F; }
    [[nodiscard]] double unit_double(u64 i) const { return static_cast<double>(fifty_three(i)) * 0x1p-53; }
    /// The 53 bits of a double: 27 of the first word, and 26 of the second.
    [[nodiscard]] u64 fifty_three(u64 i) const {
        const u64 p = pair(i);
        return (p >> 37) << 26 | (p & 0xffffffff) >> 6;
    }

private:
    u64 seed_, stream_;
};

// ---- generators ----

struct Vector4 {
    HostWords counter, key, expected;
};
constexpr u32 ones = 0xffffffff;
constexpr HostWords zeros4{0, 0, 0, 0}, ones4{ones, ones, ones, ones};
constexpr HostWords pi4{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344};
constexpr HostWords more_pi4{0xa4093822, 0x299f31d0, 0x082efa98, 0xec4e6c89};

// kat_vectors of Random123: zeros, ones, and digits of pi.
const std::vector<Vector4> philox_vectors = {
    {zeros4, zeros4, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {ones4, ones4, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {pi4, more_pi4, {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};
const std::vector<Vector4> threefry4_vectors = {
    {zeros4, zeros4, {0x9c6ca96a, 0xe17eae66, 0xfc10ecd4, 0x5256a7d8}},
    {ones4, ones4, {0x2a881696, 0x57012287, 0xf6c7446e, 0xa16a6732}},
    {pi4, more_pi4, {0x59cd1dbb, 0xb8879579, 0x86b5d00c, 0xac8b6d84}},
};
const std::vector<Vector4> threefry2_vectors = {
    {zeros4, zeros4, {0x6b200159, 0x99ba4efe}},
    {ones4, ones4, {0x1cb996fc, 0xbb002be7}},
    {pi4, {0x13198a2e, 0x03707344}, {0xc4923a9c, 0x483df7a0}},
};

TEST(RandomOnHost, GivesThePublishedVectors) {
    for (const Vector4& v : philox_vectors)
        EXPECT_EQ(philox_on_host({v.key[0], v.key[1]}, v.counter), v.expected);
    for (const Vector4& v : threefry4_vectors) EXPECT_EQ(threefry_on_host<4>(v.key, v.counter), v.expected);
    for (const Vector4& v : threefry2_vectors) {
        EXPECT_EQ((threefry_on_host<2>({v.key[0], v.key[1]}, {v.counter[0], v.counter[1]})),
                  (std::array{v.expected[0], v.expected[1]}));
    }
}

// Published vectors, then random ones against the host.
std::vector<Vector4> with_random_vectors(std::vector<Vector4> vectors, HostWords (*host)(const Vector4&)) {
    testing::Random random(testing::seed_or(11));
    while (vectors.size() < 40) {
        Vector4 v{};
        for (u32& word : v.counter) word = static_cast<u32>(random.bits());
        for (u32& word : v.key) word = static_cast<u32>(random.bits());
        v.expected = host(v);
        vectors.push_back(v);
    }
    return vectors;
}

template <class Compute>
void expect_vectors(const std::vector<Vector4>& vectors, Compute compute) {
    using Words = vec<u32, 4>;
    std::vector<Words> counters, keys;
    for (const Vector4& v : vectors) {
        counters.emplace_back(v.counter[0], v.counter[1], v.counter[2], v.counter[3]);
        keys.emplace_back(v.key[0], v.key[1], v.key[2], v.key[3]);
    }
    const auto generate =
        kernel("generate", [&](Buff<const Words> counter, Buff<const Words> key, Buff<Words> out) {
            const auto i = global_id().x;
            out[i] = compute(Value<Words>(key[i]), Value<Words>(counter[i]));
        });
    const Buffer<Words> out(counters.size());
    generate(as_buffer(counters), as_buffer(keys), out);
    const std::vector<Words> got = out.read(0);
    for (std::size_t i = 0; i < vectors.size(); ++i) {
        const HostWords words{got[i].x, got[i].y, got[i].z, got[i].w};
        EXPECT_EQ(words, vectors[i].expected) << i;
    }
}

VOLLEY_DEVICE_TEST(RandomGenerators, PhiloxGivesThePublishedVectors) {
    expect_vectors(with_random_vectors(philox_vectors,
                                       [](const Vector4& v) {
                                           return philox_on_host({v.key[0], v.key[1]}, v.counter);
                                       }),
                   [](const random::Words4& key, const random::Words4& counter) {
                       return random::philox(key.xy(), counter);
                   });
}

VOLLEY_DEVICE_TEST(RandomGenerators, ThreefryGivesThePublishedVectors) {
    expect_vectors(
        with_random_vectors(threefry4_vectors,
                            [](const Vector4& v) { return threefry_on_host<4>(v.key, v.counter); }),
        [](const random::Words4& key, const random::Words4& counter) {
            return random::threefry(key, counter);
        });
    expect_vectors(
        with_random_vectors(
            threefry2_vectors,
            [](const Vector4& v) {
                const auto x = threefry_on_host<2>({v.key[0], v.key[1]}, {v.counter[0], v.counter[1]});
                return HostWords{x[0], x[1], 0, 0};
            }),
        [](const random::Words4& key, const random::Words4& counter) {
            const random::Words2 x = random::threefry(key.xy(), counter.xy());
            return make<vec<u32, 4>>(x.x, x.y, 0U, 0U);
        });
}

VOLLEY_DEVICE_TEST(RandomGenerators, KeepTheirStateInKernels) {
    constexpr std::size_t count = 33, draws = 11;
    const auto draw = kernel("draw", [](Buff<float> out, Const<u64> seed) {
        const auto i = global_id().x;
        random::Philox generator(seed, cast<u64>(i));
        $for (k, 0U, 5U) {
            out[i * 11U + k] = generator.uniform();
        }
        out[i * 11U + 5U] = cast<float>(generator.below(1000U));
        const random::Words4 words = generator.next4();
        out[i * 11U + 6U] = random::unit_float(words.w);
        $if (i % 2U == 0U) {
            out[i * 11U + 7U] = generator.uniform();
        }
        $else { out[i * 11U + 7U] = 0.F; }
        out[i * 11U + 8U] = generator.uniform();
        out[i * 11U + 9U] = generator.uniform();
        out[i * 11U + 10U] = generator.normal();
    });
    const Buffer<float> out(count * draws);
    draw.over(count)(out, u64{1} << 40 | 5);
    const std::vector<float> got = out.read(0);
    for (std::size_t i = 0; i < count; ++i) {
        const HostStream host(u64{1} << 40 | 5, i);
        const float* const x = got.data() + i * draws;
        for (u64 k = 0; k < 5; ++k) EXPECT_EQ(x[k], host.unit_float(k));
        const u64 two_words = u64{host.word(5)} << 32 | host.word(6);
        EXPECT_EQ(x[5], static_cast<float>(static_cast<Wide>(two_words) * 1000 >> 64));
        EXPECT_EQ(x[6], host.unit_float(11));
        const u64 next = i % 2 == 0 ? 13 : 12;
        EXPECT_EQ(x[7], i % 2 == 0 ? host.unit_float(12) : 0.F);
        EXPECT_EQ(x[8], host.unit_float(next));
        EXPECT_EQ(x[9], host.unit_float(next + 1));
        const double radius = std::sqrt(-2 * std::log((host.word(next + 2) + 0.5) * 0x1p-32));
        const double angle = static_cast<i32>(host.word(next + 3)) * 0x1p-31 * std::numbers::pi;
        EXPECT_NEAR(x[10], radius * std::cos(angle), 2e-6);
    }
}

// ---- fills ----

constexpr u64 some_seed = 0x0123456789abcdef, some_stream = 0xfedcba9876543210;
const std::vector<std::size_t> some_sizes = {0, 1, 2, 3, 4, 5, 31, 64, 65, 1000, 4099};

VOLLEY_DEVICE_TEST(RandomFills, UniformFloatsAreThoseOfTheStream) {
    const HostStream host(some_seed, some_stream);
    for (const std::size_t n : some_sizes) {
        for (const u64 offset : {u64{0}, u64{4}, u64{7}, (u64{1} << 34) - 6, (u64{1} << 34) - 8}) {
            const std::vector<float> got =
                random::uniform<float>(n, {.seed = some_seed, .stream = some_stream, .offset = offset})
                    .read(0);
            ASSERT_EQ(got.size(), n);
            for (std::size_t i = 0; i < n; ++i)
                ASSERT_EQ(got[i], host.unit_float(offset + i)) << n << ' ' << i;
        }
    }
}

VOLLEY_DEVICE_TEST(RandomFills, UniformNumbersHaveEveryFloatType) {
    const HostStream host(some_seed, 0);
    each_type<f16, f32, f64>([&]<class T>() {
        const std::vector<T> got = random::uniform<T>(67, {.seed = some_seed, .offset = 3}).read(0);
        const std::vector<T> moved =
            random::uniform<T>(67, {.seed = some_seed, .offset = 3, .low = -2, .high = 5}).read(0);
        for (std::size_t i = 0; i < got.size(); ++i) {
            const double unit = std::same_as<T, f64>   ? host.unit_double(i + 3)
                                : std::same_as<T, f32> ? double{host.unit_float(i + 3)}
                                                       : (host.word(i + 3) >> 21) * 0x1p-11;
            ASSERT_EQ(static_cast<double>(got[i]), unit) << i;
            const T expected = std::same_as<T, f64>
                                   ? static_cast<T>(std::fma(unit, 7.0, -2.0))
                                   : static_cast<T>(std::fma(static_cast<float>(unit), 7.F, -2.F));
            ASSERT_EQ(static_cast<double>(moved[i]), static_cast<double>(expected)) << i;
        }
    });
}

VOLLEY_DEVICE_TEST(RandomFills, UniformNumbersStayBelowTheirBound) {
    each_type<f16, f32, f64>([&]<class T>() {
        const double low = 1, high = std::same_as<T, f64>   ? 1 + 0x1p-51
                                     : std::same_as<T, f32> ? 1 + 0x1p-22
                                                            : 1 + 0x1p-9;
        for (const T x : random::uniform<T>(500, {.low = low, .high = high}).read(0)) {
            ASSERT_GE(static_cast<double>(x), low);
            ASSERT_LT(static_cast<double>(x), high);
        }
        for (const T x : random::uniform<T>(100, {.low = -1, .high = 0}).read(0)) {
            ASSERT_GE(static_cast<double>(x), -1);
            ASSERT_LT(static_cast<double>(x), 0);
        }
    });
}

VOLLEY_DEVICE_TEST(RandomFills, NormalNumbersAreThoseOfBoxAndMuller) {
    const HostStream host(some_seed, 1);
    constexpr std::size_t count = 4003;
    const std::vector<float> got = random::normal<float>(count, {.seed = some_seed, .stream = 1}).read(0);
    double worst = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const double radius = std::sqrt(-2 * std::log((host.word(i / 2 * 2) + 0.5) * 0x1p-32));
        const double angle = static_cast<i32>(host.word(i / 2 * 2 + 1)) * 0x1p-31 * std::numbers::pi;
        const double expected = radius * (i % 2 == 0 ? std::cos(angle) : std::sin(angle));
        worst = std::max(worst, std::abs(got[i] - expected));
    }
    EXPECT_LT(worst, 2e-6);
    const std::vector<float> moved =
        random::normal<float>(9, {.seed = some_seed, .stream = 1, .mean = 3, .stddev = 0.5}).read(0);
    for (std::size_t i = 0; i < moved.size(); ++i) EXPECT_NEAR(moved[i], got[i] * 0.5F + 3.F, 2e-6);
    if (!supports<f64>()) return;
    const std::vector<double> wide = random::normal<double>(99, {.seed = some_seed, .stream = 1}).read(0);
    for (std::size_t i = 0; i < wide.size(); ++i) {
        const u64 first = i / 2 * 2;
        const double radius =
            std::sqrt(-2 * std::log(static_cast<double>(host.fifty_three(first) + 1) * 0x1p-53));
        const double angle = (host.unit_double(first + 1) - 0.5) * (2 * std::numbers::pi);
        EXPECT_NEAR(wide[i], radius * (i % 2 == 0 ? std::cos(angle) : std::sin(angle)), 1e-14);
    }
}

VOLLEY_DEVICE_TEST(RandomFills, ExponentialNumbersAreLogarithms) {
    const HostStream host(some_seed, 2);
    const std::vector<float> got =
        random::exponential<float>(1000, {.seed = some_seed, .stream = 2, .rate = 4}).read(0);
    for (std::size_t i = 0; i < got.size(); ++i) {
        const double expected = -std::log((host.word(i) + 0.5) * 0x1p-32) / 4;
        ASSERT_NEAR(got[i], expected, expected * 1e-6 + 1e-8);
        ASSERT_GE(got[i], 0.F);
    }
    if (!supports<f64>()) return;
    const std::vector<double> wide =
        random::exponential<double>(10, {.seed = some_seed, .stream = 2}).read(0);
    for (std::size_t i = 0; i < wide.size(); ++i) {
        EXPECT_NEAR(wide[i], -std::log(static_cast<double>(host.fifty_three(i) + 1) * 0x1p-53), 1e-14);
    }
}

VOLLEY_DEVICE_TEST(RandomFills, IntegersCoverTheirRange) {
    const HostStream host(some_seed, 3);
    const std::vector<int> dice =
        random::integers<int>(1000, {.seed = some_seed, .stream = 3, .low = -3, .high = 4}).read(0);
    for (std::size_t i = 0; i < dice.size(); ++i) {
        const auto expected = static_cast<int>(static_cast<Wide>(host.pair(i)) * 7 >> 64) - 3;
        ASSERT_EQ(dice[i], expected) << i;
    }
    every_type<i8, u8, i16, u16, i32, u32, i64, u64>([&]<class T>() {
        if (sizeof(T) < 4 && !supports<T>()) return;
        const std::vector<T> all_values = random::integers<T>(100, {.seed = some_seed, .stream = 3}).read(0);
        for (std::size_t i = 0; i < all_values.size(); ++i) {
            const u64 low =
                sizeof(T) == 8 ? 0 : static_cast<u64>(std::int64_t{std::numeric_limits<T>::min()});
            u64 bits = 0;
            if (sizeof(T) == 8) {
                const HostWords words = host.block(i);
                bits = (u64{words[0]} << 32 | words[1]) + static_cast<u64>(std::numeric_limits<T>::min());
            } else {
                const auto range = static_cast<Wide>(1) << (8 * sizeof(T));
                bits = low + static_cast<u64>(host.pair(i) * range >> 64);
            }
            ASSERT_EQ(all_values[i], static_cast<T>(bits)) << i;
        }
    });
    // A range that needs 128 bits.
    const u64 range = 0xc000000000000001;
    const std::vector<u64> wide =
        random::integers<u64>(50, {.seed = some_seed, .stream = 3, .low = 5, .high = range + 5}).read(0);
    for (std::size_t i = 0; i < wide.size(); ++i) {
        const HostWords w = host.block(i);
        const u64 high = u64{w[0]} << 32 | w[1], low = u64{w[2]} << 32 | w[3];
        const Wide product = Wide{high} * range + (Wide{low} * range >> 64);
        ASSERT_EQ(wide[i], static_cast<u64>(product >> 64) + 5) << i;
    }
}

VOLLEY_DEVICE_TEST(RandomFills, WriteViewsAndStoreMaps) {
    const HostStream host(7, 0);
    Buffer<float> whole({6, 10});
    whole.fill(-1);
    random::uniform(whole.sub({slice(1, 6, 2), slice(1, 9, 3)}), {.seed = 7});  // 3 x 3
    const std::vector<float> got = whole.read(0);
    for (std::size_t y = 0; y < 6; ++y) {
        for (std::size_t x = 0; x < 10; ++x) {
            const bool inside = y % 2 == 1 && x % 3 == 1 && x < 9;
            const float expected = inside ? host.unit_float(y / 2 * 3 + x / 3) : -1.F;
            EXPECT_EQ(got[y * 10 + x], expected) << y << ' ' << x;
        }
    }
    Buffer<float> doubled(10);
    const auto twice = store_map([](Value<u32> i, Value<float> x, Buff<float> out) { out[i] = x * 2.F; });
    random::uniform(twice(doubled), {.seed = 7});
    const std::vector<float> two = doubled.read(0);
    for (std::size_t i = 0; i < two.size(); ++i) EXPECT_EQ(two[i], 2 * host.unit_float(i));
    const Buffer<float> padded({3, 5}, {.padded_shape = {4, 8}});
    random::uniform(padded, {.seed = 7});
    EXPECT_EQ(padded.read(0)[14], host.unit_float(14));
}

VOLLEY_BACKEND_TEST(RandomFills, AreEqualOnAllQueuesAndInAllShapes) {
    const std::vector<std::vector<float>> replicas = random::uniform<float>({30, 30}, {.seed = 3}).read();
    const std::vector<float> flat = random::uniform<float>(900, {.seed = 3}).read(0);
    for (const std::vector<float>& replica : replicas) EXPECT_EQ(replica, flat);
    const Buffer<float> one = random::uniform<float>(900, {.seed = 3, .queue = queue(1)});
    EXPECT_EQ(one.placement(), Placement::on(queue(1)));
    EXPECT_EQ(one.read(1), flat);
    EXPECT_NE(random::uniform<float>(900, {.seed = 4}).read(0), flat);
    EXPECT_NE(random::uniform<float>(900, {.seed = 3, .stream = 1}).read(0), flat);
}

VOLLEY_BACKEND_TEST(RandomFills, TakeSeedsInGraphs) {
    Buffer<float> sum(100);
    sum.fill(0);
    Buffer<float> x(100);
    CommandGraph graph = record([&] {
        random::uniform(x, {.seed = dyn<u64>("seed")});
        transform(sum, lazy(sum) + x);
    });
    graph.bind("seed", std::vector<u64>{1, 2, u64{3} << 32});
    graph.submit({.instances = 3, .queue = queue(1)});
    const std::vector<float> got = sum.read(1);
    for (std::size_t i = 0; i < got.size(); ++i) {
        float expected = 0;
        for (const u64 seed : {u64{1}, u64{2}, u64{3} << 32}) expected += HostStream(seed, 0).unit_float(i);
        ASSERT_EQ(got[i], expected) << i;
    }
}

VOLLEY_BACKEND_TEST(RandomFills, RunInSeveralThreads) {
    const std::vector<float> expected = random::normal<float>(1000, {.seed = 5}).read(0);
    const Context context = current_context();
    std::vector<std::thread> threads;
    for (int k = 0; k < 3; ++k) {
        threads.emplace_back([&] {
            const auto use = context.use();
            for (int n = 0; n < 5; ++n) EXPECT_EQ(random::normal<float>(1000, {.seed = 5}).read(0), expected);
        });
    }
    for (std::thread& thread : threads) thread.join();
}

VOLLEY_BACKEND_TEST(RandomErrors, RefuseWhatHasNoDistribution) {
    Buffer<float> out(10);
    out.fill(3);
    const double nan = std::nan("");
    const auto refused = [](auto call) { return error_of(ErrorCode::InvalidArgument, call); };
    expect_contains(refused([&] { random::uniform(out, {.low = 2, .high = 2}); }), "from 2 to 2");
    refused([&] { random::uniform(out, {.low = nan}); });
    refused([&] { random::uniform(out, {.high = INFINITY}); });
    refused([&] { random::normal(out, {.stddev = -1}); });
    refused([&] { random::normal(out, {.mean = nan}); });
    refused([&] { random::exponential(out, {.rate = 0}); });
    refused([&] { random::exponential(out, {.rate = nan}); });
    Buffer<u8> bytes(10);
    expect_contains(refused([&] { random::integers(bytes, {.low = 0, .high = 257}); }), "from 0 to 257");
    refused([&] { random::integers(bytes, {.low = -1, .high = 3}); });
    refused([&] { random::integers(bytes, {.low = 5, .high = 5}); });
    refused([&] { random::integers(bytes, {.high = 0}); });
    EXPECT_NO_THROW(random::integers(bytes, {.low = 0, .high = 256}));
    error_of(ErrorCode::TypeMismatch, [&] { random::uniform(bytes); });
    error_of(ErrorCode::TypeMismatch, [&] { random::integers(out); });
    error_of(ErrorCode::TypeMismatch, [&] { random::normal(Buffer<std::complex<float>>(3)); });
    error_of(ErrorCode::InvalidArgument, [&] { random::uniform(Buffer<float>()); });
    EXPECT_EQ(out.read(0)[9], 3.F) << "nothing was written";
    random::uniform(out);
    EXPECT_EQ(out.read(0)[9], HostStream(0, 0).unit_float(9));
}

}  // namespace
}  // namespace volley
