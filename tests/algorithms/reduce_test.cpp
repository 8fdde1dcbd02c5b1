// Reductions against plain host loops: sizes, axes, types, special values, and users' operators.
#include "support/device_fixture.hpp"
#include "support/random.hpp"
#include "support/reduce_model.hpp"

#include <volley/algorithms/lazy.hpp>
#include <volley/algorithms/map.hpp>
#include <volley/algorithms/reduce.hpp>

#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>

namespace volley {
namespace {

/// x -> factor * x + offset, modulo 2^32. Composition is associative, and not commutative.
struct AffineStep {
    u32 factor = 1;
    u32 offset = 0;
    friend bool operator==(const AffineStep&, const AffineStep&) = default;
};
VOLLEY_STRUCT(AffineStep, factor, offset)

AffineStep then(const AffineStep& a, const AffineStep& b) {
    return {a.factor * b.factor, a.offset * b.factor + b.offset};
}
const auto then_traced = [](Value<AffineStep> a, Value<AffineStep> b) {
    return make<AffineStep>(a.factor * b.factor, a.offset * b.factor + b.offset);
};

std::vector<AffineStep> random_steps(std::size_t count, std::uint64_t seed) {
    testing::Random random(seed);
    std::vector<AffineStep> steps(count);
    for (AffineStep& step : steps)
        step = {static_cast<u32>(random.bits()) | 1U, static_cast<u32>(random.bits())};
    return steps;
}

std::vector<int> random_ints(std::size_t count, std::uint64_t seed, int limit = 1'000'000) {
    testing::Random random(seed);
    std::vector<int> values(count);
    for (int& value : values) value = static_cast<int>(random.between(-limit, limit));
    return values;
}

i64 add_number(i64 sum, int x, u32) { return sum + x; }

/// Compares sum, argmin and an operator that does not commute over the given axes.
void expect_reduced(const Shape& shape, const std::vector<int>& axes, const ReduceTuning& tuning = {}) {
    SCOPED_TRACE(shape.to_string() + " over " + ::testing::PrintToString(axes));
    const auto count = static_cast<std::size_t>(shape.elements());
    const std::vector<int> values = random_ints(count, 11, 50);
    const Buffer<int> a = as_buffer(values, shape);
    EXPECT_EQ(reduce::sum(a, {.axes = axes, .tuning = tuning}).read(0),
              testing::host_reduce<i64>(values, shape, axes, 0, add_number));
    if (count > 0) {
        struct Least {
            int value = std::numeric_limits<int>::max();
            u32 number = 0;
        };
        const std::vector<Least> least =
            testing::host_reduce<Least>(values, shape, axes, {}, [](Least best, int x, u32 number) {
                return x < best.value ? Least{x, number} : best;
            });
        std::vector<u32> numbers;
        for (const Least& one : least) numbers.push_back(one.number);
        EXPECT_EQ(reduce::argmin(a, {.axes = axes, .tuning = tuning}).read(0), numbers);
    }
    const std::vector<AffineStep> steps = random_steps(count, 12);
    const Buffer<AffineStep> s = as_buffer(steps, shape);
    EXPECT_EQ(reduce::reduce({}, then_traced, s, {.axes = axes, .tuning = tuning}).read(0),
              testing::host_reduce<AffineStep>(
                  steps, shape, axes, {},
                  [](const AffineStep& x, const AffineStep& y, u32) { return then(x, y); }));
}

VOLLEY_DEVICE_TEST(Reduce, TakesAnySize) {
    for (const int n : {0,  1,  2,   3,   7,   8,   15,   16,   17,   31,   33,   63,
                        64, 65, 127, 128, 129, 257, 1000, 1023, 1024, 1025, 4099, 70'001})
        expect_reduced(Shape(n), {});
}

VOLLEY_DEVICE_TEST(Reduce, TakesAnyAxis) {
    for (const Shape& shape : {Shape{37, 53}, Shape{300, 3}, Shape{5, 1, 70}, Shape{6, 20, 40}}) {
        for (const std::vector<int>& axes : testing::all_axes(shape.rank())) expect_reduced(shape, axes);
    }
}

VOLLEY_DEVICE_TEST(Reduce, SplitsLongResults) {
    expect_reduced({2, 70'000}, {1});
    expect_reduced({5000, 20}, {0});
    expect_reduced({30'000, 3}, {0});
    expect_reduced({2, 10'000, 5}, {1});
    expect_reduced({100, 2, 500}, {0, 2});
}

VOLLEY_DEVICE_TEST(Reduce, FollowsTuningParameters) {
    for (const ReduceTuning& tuning :
         {ReduceTuning{.local = 8, .unroll = 1}, ReduceTuning{.local = 64, .unroll = 2, .splits = 1},
          ReduceTuning{.unroll = 16}}) {
        expect_reduced({3, 5000}, {1}, tuning);
        expect_reduced({700, 65}, {0}, tuning);
    }
}

template <class T>
T small_number(int k) {
    if constexpr (std::is_same_v<T, bool>) return k % 3 != 0;
    if constexpr (std::is_unsigned_v<T>) return static_cast<T>(k % 50);
    return static_cast<T>(static_cast<float>(k % 50 - 20));
}

/// Makes n elements whose sums and products are exact in every type.
template <class T>
std::vector<T> small_numbers(int n) {
    std::vector<T> values;
    for (int k = 0; k < n; ++k) values.push_back(small_number<T>(k));
    return values;
}

VOLLEY_DEVICE_TEST(Reduce, SumsEveryType) {
    constexpr int n = 333;
    every_type<i8, u8, i16, u16, i32, u32, i64, u64, half, float>([&]<class T>() {
        using R = detail::sum_result_t<T>;
        const std::vector<T> values = small_numbers<T>(n);
        double sum = 0, largest = -1e9, smallest = 1e9;
        for (const T value : values) {
            const auto x = static_cast<double>(value);
            sum += x;
            largest = std::max(largest, x);
            smallest = std::min(smallest, x);
        }
        const Buffer<T> a = as_buffer(values);
        EXPECT_EQ(reduce::sum(a).item(), static_cast<R>(static_cast<float>(sum)));
        EXPECT_EQ(static_cast<double>(reduce::max(a).item()), largest);
        EXPECT_EQ(static_cast<double>(reduce::min(a).item()), smallest);
        EXPECT_EQ(reduce::argmax(a).item(), 49U);
        const Buffer<T> few = as_buffer(std::vector<T>{T(3), T(1), T(5), T(2)});
        EXPECT_EQ(static_cast<double>(reduce::prod(few).item()), 30);
        EXPECT_NEAR(static_cast<double>(reduce::mean(a).item()), sum / n, 1e-3 * std::abs(sum / n));
        EXPECT_TRUE(reduce::any(a).item());
        EXPECT_FALSE(reduce::all(a).item());
    });
    if (supports<double>()) {
        const Buffer<double> a = as_buffer(small_numbers<double>(n));
        EXPECT_EQ(reduce::sum(a).item(), reduce::sum(cast<float>(lazy(a))).item());
        EXPECT_EQ(reduce::max(a).item(), 29.0);
        EXPECT_EQ(reduce::argmin(a).item(), 0U);
    }
    const Buffer<bool> b = as_buffer(std::vector<bool>{true, false, true, true});
    EXPECT_EQ(reduce::sum(b).item(), 3U);
    EXPECT_EQ(reduce::mean(b).item(), 0.75F);
}

VOLLEY_DEVICE_TEST(Reduce, SumsComplexNumbersAndVectors) {
    std::vector<std::complex<float>> z;
    std::vector<vec<float, 3>> v;
    std::complex<float> sum = 0, product = 1;
    for (int k = 0; k < 500; ++k) {
        z.emplace_back(static_cast<float>(k % 17), static_cast<float>(k % 5 - 2));
        sum += z.back();
        v.push_back({static_cast<float>(k), 1.F, -2.F});
    }
    const Buffer<std::complex<float>> a = as_buffer(z);
    EXPECT_EQ(reduce::sum(a).item(), sum);
    const std::complex<float> mean = reduce::mean(a).item();
    EXPECT_NEAR(std::abs(mean - sum / 500.F), 0, 1e-5);
    for (const std::complex<float> x : {std::complex<float>(1, 2), {0, 3}, {-1, 1}}) product *= x;
    EXPECT_EQ(reduce::prod(as_buffer(std::vector<std::complex<float>>{{1, 2}, {0, 3}, {-1, 1}})).item(),
              product);
    const vec<float, 3> total = reduce::sum(as_buffer(v)).item();
    EXPECT_EQ(total[0], 124'750.F);
    EXPECT_EQ(total[1], 500.F);
    EXPECT_EQ(total[2], -1000.F);
}

VOLLEY_DEVICE_TEST(Reduce, CombinesBits) {
    const std::vector<u32> words = {0xff00ff0fU, 0x0ff0ff1eU, 0xfff0f03cU};
    const Buffer<u32> a = as_buffer(words);
    EXPECT_EQ(reduce::bit_and(a).item(), words[0] & words[1] & words[2]);
    EXPECT_EQ(reduce::bit_or(a).item(), words[0] | words[1] | words[2]);
    EXPECT_EQ(reduce::bit_xor(a).item(), words[0] ^ words[1] ^ words[2]);
    const Buffer<i8> bytes = as_buffer(std::vector<i8>(100, i8{-3}));
    EXPECT_EQ(reduce::bit_and(bytes).item(), -3);
    EXPECT_EQ(reduce::bit_xor(bytes).item(), 0);
}

VOLLEY_DEVICE_TEST(Reduce, OrdersSpecialFloats) {
    const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    const float tiny = std::numeric_limits<float>::denorm_min();
    const auto with = [](std::initializer_list<float> special, std::size_t at) {
        std::vector<float> values(100, 1.5F);
        for (const float value : special) values[at++] = value;
        return as_buffer(values);
    };
    for (const std::size_t at : {0U, 40U, 95U}) {
        for (const float bad : {nan, -nan}) {
            EXPECT_TRUE(std::isnan(reduce::min(with({bad, -inf, inf, bad}, at)).item()));
            EXPECT_TRUE(std::isnan(reduce::max(with({bad, inf, -inf, bad}, at)).item()));
            EXPECT_EQ(reduce::argmin(with({-inf, bad, -bad}, at)).item(), at + 1);
            EXPECT_EQ(reduce::argmax(with({inf, bad, -bad}, at)).item(), at + 1);
        }
        EXPECT_EQ(reduce::min(with({inf, -inf}, at)).item(), -inf);
        EXPECT_EQ(reduce::max(with({inf, -inf}, at)).item(), inf);
        EXPECT_EQ(reduce::argmin(with({inf, -inf, -inf}, at)).item(), at + 1);
        EXPECT_TRUE(std::signbit(reduce::min(with({0.F, -0.F, 0.F}, at)).item()));
        EXPECT_EQ(reduce::argmin(with({0.F, -0.F, -0.F}, at)).item(), at + 1);
        EXPECT_EQ(std::bit_cast<u32>(reduce::min(with({tiny, tiny * 2}, at)).item()), 1U);
        EXPECT_TRUE(std::isnan(reduce::sum(with({inf, -inf}, at)).item()));
        EXPECT_EQ(reduce::sum(with({inf}, at)).item(), inf);
        EXPECT_TRUE(std::isnan(reduce::mean(with({nan}, at)).item()));
        EXPECT_TRUE(reduce::any(with({nan}, at)).item());
    }
    const float most = std::numeric_limits<float>::max();
    EXPECT_EQ(reduce::sum(as_buffer(std::vector<float>(50, most))).item(), inf);
    EXPECT_EQ(reduce::max(as_buffer(std::vector<float>(50, -inf))).item(), -inf);
    EXPECT_EQ(reduce::argmin(as_buffer(std::vector<float>(50, inf))).item(), 0U);
    EXPECT_EQ(reduce::argmax(as_buffer(std::vector<float>(50, -inf))).item(), 0U);
    EXPECT_TRUE(std::signbit(reduce::max(as_buffer(std::vector<float>(50, -0.F))).item()));
    EXPECT_EQ(reduce::argmin(as_buffer(std::vector<u32>(50, ~0U))).item(), 0U);
}

VOLLEY_DEVICE_TEST(Reduce, SumsAsAccuratelyAsPairwise) {
    testing::Random random(testing::seed_or(7));
    for (const int n : {3, 10, 100, 1000, 70'001}) {
        std::vector<float> values;
        double exact = 0, modulus = 0;
        for (int k = 0; k < n; ++k) {
            values.push_back(static_cast<float>(random.uniform(-1, 1) * std::exp2(random.between(-20, 20))));
            exact += static_cast<double>(values.back());
            modulus += std::abs(static_cast<double>(values.back()));
        }
        const double bound = (std::min(std::ceil(std::log2(n)), 6.0) + 2) * 0x1p-24 * modulus;
        const Buffer<float> a = as_buffer(values);
        EXPECT_NEAR(static_cast<double>(reduce::sum(a).item()), exact, bound) << n;
        const Buffer<float> columns =
            reduce::sum(lazy(a).reshape({n, 1}).broadcast_to({n, 20}), {.axes = {0}});
        for (const float got : columns.read(0)) EXPECT_NEAR(static_cast<double>(got), exact, bound) << n;
    }
    // A plain sum in any order loses the small numbers.
    std::vector<float> values(100'001, 1.0F);
    values[0] = 0x1p25F;
    values[50'000] = -0x1p25F;
    EXPECT_NEAR(reduce::sum(as_buffer(values)).item(), 99'999.0F, 16.F);
}

VOLLEY_DEVICE_TEST(Reduce, ComputesMoments) {
    testing::Random random(testing::seed_or(8));
    const Shape shape{7, 900};
    std::vector<float> values;
    for (int k = 0; k < 6300; ++k) values.push_back(1000.F + static_cast<float>(random.uniform(-1, 1)));
    const Buffer<float> a = as_buffer(values, shape);
    const std::vector<float> mean = reduce::mean(a, {.axes = {1}}).read(0);
    const std::vector<float> variance = reduce::variance(a, {.axes = {1}}).read(0);
    const std::vector<float> deviation = reduce::stddev(a, {.axes = {1}, .ddof = 1}).read(0);
    for (std::size_t row = 0; row < 7; ++row) {
        double sum = 0, squares = 0;
        for (std::size_t k = 0; k < 900; ++k) sum += static_cast<double>(values[row * 900 + k]);
        for (std::size_t k = 0; k < 900; ++k)
            squares += std::pow(static_cast<double>(values[row * 900 + k]) - sum / 900, 2);
        EXPECT_NEAR(static_cast<double>(mean[row]), sum / 900, 1e-4);
        EXPECT_NEAR(static_cast<double>(variance[row]), squares / 900, squares / 900 * 1e-4);
        EXPECT_NEAR(static_cast<double>(deviation[row]), std::sqrt(squares / 899), 1e-4);
    }
    EXPECT_EQ(reduce::variance(as_buffer(std::vector<float>(1000, 0.1F))).item(), 0.F);
    EXPECT_EQ(reduce::variance(as_buffer(std::vector<int>{1, 3, 5, 7})).item(), 5.F);
    EXPECT_EQ(reduce::norm(as_buffer(std::vector<int>{2, 3, 6})).item(), 7.F);
    const Buffer<std::complex<float>> z =
        as_buffer(std::vector<std::complex<float>>{{3, 4}, {0, 0}, {0, -12}});
    EXPECT_EQ(reduce::norm(z).item(), 13.F);
    EXPECT_NEAR(reduce::variance(as_buffer(std::vector<std::complex<float>>{{1, 1}, {-1, -1}})).item(), 2.F,
                1e-6F);
}

VOLLEY_DEVICE_TEST(Reduce, MultipliesAndCounts) {
    std::vector<float> x, y;
    for (int k = 0; k < 3000; ++k) {
        x.push_back(static_cast<float>(k % 10));
        y.push_back(static_cast<float>(k % 7 - 3));
    }
    double expected = 0;
    for (std::size_t k = 0; k < x.size(); ++k) expected += static_cast<double>(x[k] * y[k]);
    const Buffer<float> a = as_buffer(x), b = as_buffer(y);
    EXPECT_EQ(reduce::dot(a, b).item(), static_cast<float>(expected));
    EXPECT_EQ(
        reduce::dot(as_buffer(std::vector<int>(4, 1 << 20)), as_buffer(std::vector<int>(4, 1 << 20))).item(),
        i64{1} << 42);
    EXPECT_EQ(
        reduce::dot(as_buffer(std::vector<half>{half(3.F)}), as_buffer(std::vector<half>{half(5.F)})).item(),
        half(15.F));
    EXPECT_EQ(reduce::count_if(a, [](Value<float> v) { return v > 6.5f; }).item(), 900U);
    const Buffer<u32> rows =
        reduce::count_if(a.reshape({3, 1000}), [](Value<float> v) { return v == 1.f; }, {.axes = {1}});
    EXPECT_EQ(rows.read(0), (std::vector<u32>{100, 100, 100}));
}

VOLLEY_DEVICE_TEST(Reduce, TakesOperatorsOfUsers) {
    const std::vector<int> values = random_ints(5000, 21);
    const Buffer<int> a = as_buffer(values);
    const auto later = [](Value<int>, Value<int> y) { return y; };
    EXPECT_EQ(reduce::reduce(0, later, a).item(), values.back()) << "not an identity, but never used";
    const auto most = [](Value<int> x, Value<int> y) { return max(x, y); };
    EXPECT_EQ(reduce::reduce(-2'000'000, most, a, {.commutative = true}).item(),
              *std::max_element(values.begin(), values.end()));
    EXPECT_EQ(reduce::reduce(-2'000'000, most, as_buffer(std::vector<int>{})).item(), -2'000'000);
    std::vector<std::complex<float>> turns(999, {0, 1});
    const auto times = [](Value<std::complex<float>> x, Value<std::complex<float>> y) { return x * y; };
    EXPECT_EQ(reduce::reduce({1, 0}, times, as_buffer(turns), {.commutative = true}).item(),
              std::complex<float>(0, -1));
}

VOLLEY_DEVICE_TEST(Reduce, FusesMapsAndLazyArrays) {
    const std::vector<int> values = random_ints(6000, 31, 1000);
    const Buffer<int> a = as_buffer(values, Shape{60, 100});
    const auto squares = map([](Value<u32> i, Buff<const int> x) { return x[i] * x[i]; })(a);
    i64 expected = 0;
    for (const int x : values) expected += i64{x} * x;
    EXPECT_EQ(reduce::sum(squares).item(), expected);
    const Buffer<i64> columns = reduce::sum(lazy(a) * 2 - 1, {.axes = {0}});
    EXPECT_EQ(columns.read(0), testing::host_reduce<i64>(values, a.shape(), {0}, 0,
                                                         [](i64 s, int x, u32) { return s + 2 * x - 1; }));
    const auto table = map([](Value<u32> y, Value<u32> x, Buff<const int> m) { return m(y, x) + 1; })(a);
    Buffer<i64> twice({60, 1});
    const auto store =
        store_map([](Value<u32> y, Value<u32>, Value<i64> v, Buff<i64> out) { out(y, 0u) = v + v; });
    reduce::sum(store(twice), table, {.axes = {1}, .keepdims = true});
    EXPECT_EQ(twice.read(0), testing::host_reduce<i64>(values, a.shape(), {1}, 0,
                                                       [](i64 s, int x, u32) { return s + 2 * (x + 1); }));
    Buffer<half> rounded(60);
    reduce::mean(
        store_map([](Value<u32> i, Value<float> v, Buff<half> out) { out[i] = cast<half>(v); })(rounded),
        cast<float>(lazy(a)) * 0.f + 3.f, {.axes = {-1}});
    EXPECT_EQ(static_cast<float>(rounded.read(0)[59]), 3.F);
    const Buffer<float> scaled = lazy(evaluate(cast<float>(lazy(a)))) /
                                 reduce::max(cast<float>(lazy(a)), {.axes = {1}, .keepdims = true});
    EXPECT_EQ(scaled.shape(), (Shape{60, 100}));
}

VOLLEY_DEVICE_TEST(Reduce, ReadsAndWritesViews) {
    const Shape whole{6, 40, 50};
    const std::vector<int> values = random_ints(12'000, 41);
    const Buffer<int> a = as_buffer(values, whole);
    const Buffer<int> part = a.sub({slice(1, 6, 2), slice(3, 40), slice(2, 50, 3)});
    const std::vector<int> elements = part.read(0);
    for (const std::vector<int>& axes : testing::all_axes(3)) {
        SCOPED_TRACE(::testing::PrintToString(axes));
        EXPECT_EQ(reduce::sum(part, {.axes = axes}).read(0),
                  testing::host_reduce<i64>(elements, part.shape(), axes, 0, add_number));
    }
    const Buffer<int> column = a.sub({all, slice(5, 6), slice(7, 8)});
    EXPECT_EQ(reduce::sum(column).item(),
              testing::host_reduce<i64>(column.read(0), {6}, {}, 0, add_number)[0]);
    Buffer<i64> out(Shape{6, 50}, {.padded_shape = Shape{6, 53}});
    reduce::sum(out, a, {.axes = {1}});
    EXPECT_EQ(out.read(0), testing::host_reduce<i64>(values, whole, {1}, 0, add_number));
    Buffer<int> padded(Shape{30, 70}, {.padded_shape = Shape{30, 80}});
    const std::vector<int> inside = random_ints(2100, 42);
    padded.write(inside);
    EXPECT_EQ(reduce::max(padded).item(), *std::max_element(inside.begin(), inside.end()));
}

}  // namespace
}  // namespace volley
