// matmul() against a plain host implementation: all methods, types, sizes, batches, layouts and factors.
// Numbers are small integers, so that results are exact, except where the accuracy is tested.
#include "support/device_fixture.hpp"
#include "support/expect_error.hpp"
#include "support/random.hpp"

#include <volley/algorithms/lazy.hpp>
#include <volley/algorithms/map.hpp>
#include <volley/algorithms/matmul.hpp>
#include <volley/algorithms/transform.hpp>

#include <cmath>
#include <complex>
#include <numeric>
#include <thread>

namespace volley {
namespace {

template <class T>
inline constexpr bool is_complex_element = false;
template <class T>
inline constexpr bool is_complex_element<std::complex<T>> = true;

/// Returns count integers from -2 to 2.
template <class T>
std::vector<T> digits(std::int64_t count, unsigned seed) {
    std::vector<T> values;
    unsigned state = seed * 2654435761U + 12345U;
    const auto next = [&] {
        state = state * 1664525U + 1013904223U;
        return static_cast<int>((state >> 24) % 5) - (std::is_unsigned_v<T> ? 0 : 2);
    };
    for (std::int64_t i = 0; i < count; ++i) {
        if constexpr (is_complex_element<T>) {
            using R = typename T::value_type;
            const R re = static_cast<R>(static_cast<float>(next()));
            values.emplace_back(re, static_cast<R>(static_cast<float>(next())));
        } else {
            values.push_back(static_cast<T>(static_cast<float>(next())));
        }
    }
    return values;
}

/// Multiplies row-major matrices (m, k) and (k, n).
template <class T>
std::vector<T> product(const T* a, const T* b, std::int64_t m, std::int64_t n, std::int64_t k) {
    std::vector<T> c(static_cast<std::size_t>(m * n));
    for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t p = 0; p < k; ++p) {
            for (std::int64_t j = 0; j < n; ++j) {
                auto& to = c[static_cast<std::size_t>(i * n + j)];
                to = static_cast<T>(to + static_cast<T>(a[i * k + p] * b[p * n + j]));
            }
        }
    }
    return c;
}

template <class T>
std::vector<T> transposed(const std::vector<T>& x, std::int64_t rows, std::int64_t columns) {
    std::vector<T> y(x.size());
    for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < columns; ++j)
            y[static_cast<std::size_t>(j * rows + i)] = x[static_cast<std::size_t>(i * columns + j)];
    }
    return y;
}

struct Size {
    std::int64_t m, n, k;
};

template <class T>
void expect_product(Size size, MatmulOptions options) {
    const auto [m, n, k] = size;
    SCOPED_TRACE(::testing::Message() << m << " x " << n << " x " << k << (options.transpose_a ? " ta" : "")
                                      << (options.transpose_b ? " tb" : "") << " method "
                                      << static_cast<int>(options.tuning.method));
    const std::vector<T> a = digits<T>(m * k, 1), b = digits<T>(k * n, 2);
    const Buffer<T> in_a =
        options.transpose_a ? as_buffer(transposed(a, m, k), Shape{k, m}) : as_buffer(a, Shape{m, k});
    const Buffer<T> in_b =
        options.transpose_b ? as_buffer(transposed(b, k, n), Shape{n, k}) : as_buffer(b, Shape{k, n});
    const Buffer<T> c = matmul(in_a, in_b, options);
    ASSERT_EQ(c.shape(), (Shape{m, n}));
    EXPECT_EQ(c.read(0), product(a.data(), b.data(), m, n, k));
}

constexpr MatmulMethod methods[] = {MatmulMethod::Automatic, MatmulMethod::Direct, MatmulMethod::Panels,
                                    MatmulMethod::Tiles};

VOLLEY_DEVICE_TEST(Matmul, MultipliesMatricesOfAllSizes) {
    for (const Size size : {Size{1, 1, 1},
                            {2, 3, 4},
                            {5, 1, 7},
                            {1, 9, 3},
                            {16, 16, 16},
                            {13, 37, 29},
                            {33, 65, 17},
                            {49, 130, 2}})
        expect_product<float>(size, {});
}

VOLLEY_DEVICE_TEST(Matmul, HasTheSameResultByAllMethods) {
    for (const MatmulMethod method : methods) {
        expect_product<float>({13, 35, 18}, {.tuning = {.method = method}});
        expect_product<float>({40, 5, 3},
                              {.transpose_a = true, .transpose_b = true, .tuning = {.method = method}});
    }
}

VOLLEY_DEVICE_TEST(Matmul, MultipliesAllTypes) {  // by all methods: matmul_slow.cpp
    const auto test = []<class T>(MatmulMethod method) {
        SCOPED_TRACE(dtype_of<T>().name());
        expect_product<T>({14, 19, 9}, {.transpose_b = true, .tuning = {.method = method}});
    };
    if (supports<double>()) test.operator()<double>(MatmulMethod::Panels);
    if (supports<double>()) test.operator()<c128>(MatmulMethod::Panels);
    if (supports<half>()) test.operator()<half>(MatmulMethod::Panels);
    if (supports<half>()) test.operator()<c32>(MatmulMethod::Direct);
    if (supports<u8>()) test.operator()<u8>(MatmulMethod::Direct);
    test.operator()<i32>(MatmulMethod::Direct);
    test.operator()<c64>(MatmulMethod::Panels);
    test.operator()<c64>(MatmulMethod::Tiles);
}

VOLLEY_DEVICE_TEST(Matmul, KeepsSumsBetweenPartsOfK) {
    for (const MatmulTuning& tuning :
         {MatmulTuning{.method = MatmulMethod::Panels, .block_depth = 5},
          MatmulTuning{.method = MatmulMethod::Panels,
          .rows = 3,
          .columns = 2,
          .lanes = 16,
          .block_rows = 6,
          .block_columns = 64,
          .block_depth = 16},
          MatmulTuning{.method = MatmulMethod::Tiles, .rows = 2, .columns = 1, .block_depth = 4}}) {
        expect_product<float>({19, 70, 33}, {.tuning = tuning});
        expect_product<c64>({19, 18, 16}, {.tuning = tuning});
    }
}

VOLLEY_DEVICE_TEST(Matmul, AddsMoreTermsThanALaunchMay) {
    for (const MatmulMethod method : methods) {
        if (device().backend == "reference") continue;
        const std::int64_t k = 70'001;
        Buffer<float> a({2, k}), b({k, 3});
        a.fill(1.F);
        b.fill(2.F);
        EXPECT_EQ(matmul(a, b, {.tuning = {.method = method}}).read(0),
                  std::vector<float>(6, 2.F * static_cast<float>(k)));
    }
}

VOLLEY_DEVICE_TEST(Matmul, TakesVectors) {
    const std::vector<float> a = digits<float>(12, 1), b = digits<float>(20, 2), x = digits<float>(4, 3);
    const Buffer<float> m = as_buffer(a, Shape{3, 4}), n = as_buffer(b, Shape{4, 5}), v = as_buffer(x);
    const Buffer<float> right = matmul(m, v), left = matmul(v, n), both = matmul(v, v);
    EXPECT_EQ(right.shape(), Shape(3));
    EXPECT_EQ(right.read(0), product(a.data(), x.data(), 3, 1, 4));
    EXPECT_EQ(left.shape(), Shape(5));
    EXPECT_EQ(left.read(0), product(x.data(), b.data(), 1, 5, 4));
    EXPECT_EQ(both.shape(), Shape{});
    EXPECT_EQ(both.item(), product(x.data(), x.data(), 1, 1, 4)[0]);
    const Buffer<float> cells({7, 4});
    transform(cells.sub({all, 1}), as_buffer(digits<float>(7, 4)));
    EXPECT_EQ(matmul(as_buffer(digits<float>(14, 5), Shape{2, 7}), cells.sub({all, 1})).read(0),
              product(digits<float>(14, 5).data(), digits<float>(7, 4).data(), 2, 1, 7));
}

VOLLEY_DEVICE_TEST(Matmul, BroadcastsBatches) {
    const auto test = [](const Shape& batch_a, const Shape& batch_b, MatmulMethod method) {
        const auto with = [](const Shape& batch, std::int64_t rows, std::int64_t columns) {
            std::vector<std::int64_t> extents(batch.begin(), batch.end());
            extents.insert(extents.end(), {rows, columns});
            return Shape(std::span<const std::int64_t>(extents));
        };
        const std::int64_t m = 5, n = 7, k = 6;
        const Shape whole = broadcast_shape(batch_a, batch_b);
        const std::vector<float> a = digits<float>(batch_a.elements() * m * k, 1),
                                 b = digits<float>(batch_b.elements() * k * n, 2);
        const Buffer<float> c = matmul(as_buffer(a, with(batch_a, m, k)), as_buffer(b, with(batch_b, k, n)),
                                       {.tuning = {.method = method}});
        ASSERT_EQ(c.shape(), with(whole, m, n));
        const std::vector<float> got = c.read(0);
        for (std::int64_t z = 0; z < whole.elements(); ++z) {
            std::int64_t rest = z, in_a = 0, in_b = 0, step_a = 1, step_b = 1;
            for (int back = 1; back <= whole.rank(); ++back) {
                const std::int64_t extent = whole[whole.rank() - back], index = rest % extent;
                rest /= extent;
                const auto add = [&](const Shape& batch, std::int64_t& at, std::int64_t& step) {
                    if (back > batch.rank()) return;
                    const std::int64_t own = batch[batch.rank() - back];
                    if (own > 1) at += index * step;
                    step *= own;
                };
                add(batch_a, in_a, step_a);
                add(batch_b, in_b, step_b);
            }
            const std::vector<float> expected =
                product(a.data() + in_a * m * k, b.data() + in_b * k * n, m, n, k);
            EXPECT_EQ(std::vector<float>(got.begin() + z * m * n, got.begin() + (z + 1) * m * n), expected)
                << z << " of " << whole.to_string();
        }
    };
    test({3}, {3}, MatmulMethod::Tiles);
    test({3}, {}, MatmulMethod::Panels);
    test({2, 1}, {3}, MatmulMethod::Direct);
    test({2, 1, 2}, {1, 3, 2}, MatmulMethod::Panels);
    test({2, 1, 2}, {1, 3, 2}, MatmulMethod::Tiles);
}

VOLLEY_DEVICE_TEST(Matmul, ReadsAndWritesViewsInPlace) {
    const std::int64_t m = 17, n = 21, k = 11;
    const std::vector<float> a = digits<float>(m * k, 1), b = digits<float>(k * n, 2);
    const std::vector<float> expected = product(a.data(), b.data(), m, n, k);
    Buffer<float> wide({2 * m, 3 * k + 1}), padded(Shape{k, n}, {.padded_shape = Shape{k + 1, n + 3}});
    Buffer<float> strided = wide.sub({slice(1, 2 * m, 2), slice(1, 3 * k, 3)});
    strided.write(a);
    padded.write(b);
    Buffer<float> big({m + 3, 2 * n});
    for (const MatmulMethod method : methods) {
        big.fill(7.F);
        const Buffer<float> part = big.sub({slice(2, m + 2), slice(1, 2 * n, 2)});
        matmul(part, strided, padded, {.tuning = {.method = method}});
        EXPECT_EQ(part.read(0), expected);
        const std::vector<float> whole = big.read(0);
        EXPECT_EQ(std::count(whole.begin(), whole.end(), 7.F),
                  (m + 3) * 2 * n - m * n + std::count(expected.begin(), expected.end(), 7.F))
            << "gaps of a view are not written";
    }
}

VOLLEY_DEVICE_TEST(Matmul, FusesMapsIntoLoadsAndStores) {
    const std::int64_t m = 9, n = 40, k = 12;
    const std::vector<float> a = digits<float>(m * k, 1), b = digits<float>(k * n, 2),
                             bias = digits<float>(n, 3);
    const Buffer<float> in_a = as_buffer(a, Shape{m, k}), in_b = as_buffer(b, Shape{k, n}),
                        in_bias = as_buffer(bias);
    const auto twice = map([](Value<u32> i, Buff<const float> x) { return x[i] * 2.F; });
    const auto minus = map([](Value<u32> y, Value<u32> x, Buff<const float> f) { return 0.F - f(y, x); });
    const auto dense = store_map([](Value<u32> y, Value<u32> x, Value<float> v, Buff<float> out,
                                    Buff<const float> with) { out(y, x) = max(v + with[x], 0.F); });
    const auto flat = store_map([](Value<u32> i, Value<float> v, Buff<float> out) { out[i] = v + 1.F; });
    std::vector<float> plain = product(a.data(), b.data(), m, n, k);
    for (const MatmulMethod method : methods) {
        Buffer<float> out({m, n});
        const MatmulOptions options{.tuning = {.method = method, .block_depth = 8}};
        matmul(dense(out, in_bias), twice(in_a), minus.over({k, n})(in_b), options);
        std::vector<float> expected;
        for (std::size_t i = 0; i < plain.size(); ++i)
            expected.push_back(std::max(-2.F * plain[i] + bias[i % static_cast<std::size_t>(n)], 0.F));
        EXPECT_EQ(out.read(0), expected);
        matmul(flat(out), lazy(in_a) * 3.F, in_b, options);
        for (std::size_t i = 0; i < plain.size(); ++i) expected[i] = 3.F * plain[i] + 1.F;
        EXPECT_EQ(out.read(0), expected);
    }
}

VOLLEY_DEVICE_TEST(Matmul, ScalesTheProductAndTheOldResult) {
    const std::int64_t m = 6, n = 20, k = 5;
    const std::vector<c64> a = digits<c64>(m * k, 1), b = digits<c64>(k * n, 2), old = digits<c64>(m * n, 3);
    const std::vector<c64> plain = product(a.data(), b.data(), m, n, k);
    const Buffer<c64> in_a = as_buffer(a, Shape{m, k}), in_b = as_buffer(b, Shape{k, n});
    const auto expect = [&](MatmulFactor alpha, MatmulFactor beta) {
        const auto x = static_cast<c64>(alpha.number()), y = static_cast<c64>(beta.number());
        std::vector<c64> expected;
        for (std::size_t i = 0; i < plain.size(); ++i) expected.push_back(x * plain[i] + y * old[i]);
        for (const MatmulMethod method : methods) {
            Buffer<c64> c = as_buffer(old, Shape{m, n});
            matmul(c, in_a, in_b,
                   {.alpha = alpha, .beta = beta, .tuning = {.method = method, .block_depth = 4}});
            EXPECT_EQ(c.read(0), expected);
        }
    };
    expect(3, 0);
    expect(1, 2.F);
    expect(std::complex<double>(0, 1), -1);
    expect(2, std::complex<float>(1, -2));
}

VOLLEY_DEVICE_TEST(Matmul, DoesNotReadTheOldResultIfBetaIsZero) {
    Buffer<float> c({3, 3});
    c.fill(std::nanf(""));
    const Buffer<float> a = as_buffer(digits<float>(9, 1), Shape{3, 3});
    auto g = record([&] { matmul(c, a, a, {.beta = dyn<float>("beta")}); });
    g.bind("beta", 0.F);
    g.submit();
    const std::vector<float> plain = product(digits<float>(9, 1).data(), digits<float>(9, 1).data(), 3, 3, 3);
    EXPECT_EQ(c.read(0), plain);
}

VOLLEY_DEVICE_TEST(Matmul, RunsInGraphsWithDynamicFactors) {
    const std::int64_t m = 20, n = 36, k = 25;
    const std::vector<float> a = digits<float>(m * k, 1), b = digits<float>(k * n, 2);
    const Buffer<float> in_a = as_buffer(a, Shape{m, k}), in_b = as_buffer(b, Shape{k, n});
    Buffer<float> c({m, n});
    c.fill(1.F);
    auto g = record([&] {
        matmul(c, in_a, in_b, {.alpha = dyn<float>("alpha"), .beta = 1, .tuning = {.block_depth = 16}});
    });
    g.bind("alpha", {1.F, 2.F, -4.F});
    g.submit({.instances = 3});
    std::vector<float> expected = product(a.data(), b.data(), m, n, k);
    for (float& x : expected) x = 1.F - x;
    EXPECT_EQ(c.read(0), expected);
}

VOLLEY_DEVICE_TEST(Matmul, OfNothing) {
    const Buffer<float> none({4, 0}), rows({0, 5});
    EXPECT_EQ(matmul(none, Buffer<float>({0, 3})).read(0), std::vector<float>(12, 0.F));
    EXPECT_EQ(matmul(rows, Buffer<float>({5, 3})).shape(), (Shape{0, 3}));
    EXPECT_EQ(matmul(Buffer<float>({0, 2, 3}), Buffer<float>({3, 4})).shape(), (Shape{0, 2, 4}));
    Buffer<float> c({4, 3});
    c.fill(3.F);
    matmul(c, none, Buffer<float>({0, 3}), {.beta = 2});
    EXPECT_EQ(c.read(0), std::vector<float>(12, 6.F));
}

VOLLEY_DEVICE_TEST(Matmul, StaysWithinItsErrorBound) {
    const std::int64_t m = 24, n = 40, k = 300;
    testing::Random random(testing::seed_or(6));
    const auto numbers = [&](std::int64_t count) {
        std::vector<float> x;
        for (std::int64_t i = 0; i < count; ++i)
            x.push_back(static_cast<float>(random.uniform(-1, 1) * std::exp(random.uniform(-3, 3))));
        return x;
    };
    const std::vector<float> a = numbers(m * k), b = numbers(k * n);
    const std::vector<double> a2(a.begin(), a.end()), b2(b.begin(), b.end());
    std::vector<double> a3, b3;
    for (const double x : a2) a3.push_back(std::abs(x));
    for (const double x : b2) b3.push_back(std::abs(x));
    const std::vector<double> exact = product(a2.data(), b2.data(), m, n, k),
                              sizes = product(a3.data(), b3.data(), m, n, k);
    const double u = 0x1p-24, bound = (k + 2) * u / (1 - (k + 2) * u);
    for (const MatmulMethod method : methods) {
        const std::vector<float> got =
            matmul(as_buffer(a, Shape{m, k}), as_buffer(b, Shape{k, n}), {.tuning = {.method = method}})
                .read(0);
        for (std::size_t i = 0; i < got.size(); ++i)
            ASSERT_LE(std::abs(got[i] - exact[i]), bound * sizes[i] + 1e-12) << i;
    }
}

VOLLEY_DEVICE_TEST(Matmul, RoundsHalvesOnce) {
    if (!supports<half>()) GTEST_SKIP() << "no f16";
    const std::int64_t k = 3000;
    Buffer<half> a({20, k}), b({k, 20});
    a.fill(half(1.F));
    b.fill(half(1.F));
    EXPECT_EQ(static_cast<float>(matmul(a, b).read(0)[77]), 3000.F) << "f16 sums would stop at 2048";
    const Buffer<float> c({20, 20});
    b.fill(half(30.F));
    matmul(c, a, b, {.alpha = 0.5});
    EXPECT_EQ(c.read(0)[77], 45000.F);
    matmul(c, a, b);
    EXPECT_EQ(c.read(0)[77], 90000.F) << "beyond the range of f16";
}

VOLLEY_DEVICE_TEST(Matmul, KeepsNotANumberAndInfinity) {
    const float inf = INFINITY;
    const Buffer<float> a = as_buffer(std::vector<float>{1.F, inf, 0.F, NAN, -0.F, 2.F}, Shape{3, 2});
    const Buffer<float> b = as_buffer(std::vector<float>{1.F, 0.F, 2.F, 1.F}, Shape{2, 2});
    const std::vector<float> c = matmul(a, b).read(0);
    EXPECT_EQ(c[0], inf);
    EXPECT_EQ(c[1], inf);
    EXPECT_TRUE(std::isnan(c[2]) && std::isnan(c[3]));
    EXPECT_EQ(c[4], 4.F);
}

TEST(MatmulQueues, RunWhereTheyAreRequested) {
    const Context context = make_context({.devices = {"cpu:0", "reference:0"}, .queues_per_device = 2});
    const auto use = context.use();
    const std::vector<float> a = digits<float>(30 * 20, 1), b = digits<float>(20 * 50, 2);
    const std::vector<float> expected = product(a.data(), b.data(), 30, 50, 20);
    const Buffer<float> in_a = as_buffer(a, Shape{30, 20}), in_b = as_buffer(b, Shape{20, 50});
    for (unsigned q = 0; q < context.queue_count(); ++q)
        EXPECT_EQ(matmul(in_a, in_b, {.queue = context.queue(q)}).read(q), expected) << q;
    const Buffer<float> everywhere = matmul(in_a, in_b);
    for (unsigned q = 0; q < context.queue_count(); ++q) EXPECT_EQ(everywhere.read(q), expected) << q;
}

TEST(MatmulQueues, TakeCallsOfTwoThreads) {
    const Context context = make_context({.devices = {"cpu:0"}, .queues_per_device = 2});
    const std::vector<float> a = digits<float>(64 * 64, 1), b = digits<float>(64 * 64, 2);
    const std::vector<float> expected = product(a.data(), b.data(), 64, 64, 64);
    const auto work = [&](unsigned queue) {
        const auto use = context.use();
        const Buffer<float> in_a = as_buffer(a, Shape{64, 64}), in_b = as_buffer(b, Shape{64, 64});
        for (int round = 0; round < 20; ++round)
            EXPECT_EQ(matmul(in_a, in_b, {.queue = context.queue(queue)}).read(queue), expected);
    };
    std::thread other(work, 1);
    work(0);
    other.join();
}

}  // namespace
}  // namespace volley
