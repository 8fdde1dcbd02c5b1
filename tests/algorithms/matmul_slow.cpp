// matmul() of all types by all methods, and of many random sizes.
#include "support/device_fixture.hpp"
#include "support/random.hpp"

#include <volley/algorithms/matmul.hpp>

#include <complex>

namespace volley {
namespace {

using testing::Random;

template <class T>
struct MatmulCase {
    std::vector<T> a, b, expected;
    std::int64_t m, n, k;

    MatmulCase(Random& random, std::int64_t rows, std::int64_t columns, std::int64_t depth)
        : m(rows), n(columns), k(depth) {
        const auto fill = [&](std::vector<T>& to, std::int64_t count) {
            for (std::int64_t i = 0; i < count; ++i) {
                const auto next = [&] { return static_cast<float>(random.between(0, 3)); };
                if constexpr (requires { typename T::value_type; }) {
                    using R = typename T::value_type;
                    const R re = static_cast<R>(next());
                    to.emplace_back(re, static_cast<R>(next()));
                } else {
                    to.push_back(static_cast<T>(next()));
                }
            }
        };
        fill(a, m * k);
        fill(b, k * n);
        for (std::int64_t i = 0; i < m; ++i) {
            for (std::int64_t j = 0; j < n; ++j) {
                T sum{};
                for (std::int64_t p = 0; p < k; ++p) {
                    sum = static_cast<T>(sum + static_cast<T>(a[static_cast<std::size_t>(i * k + p)] *
                                                              b[static_cast<std::size_t>(p * n + j)]));
                }
                expected.push_back(sum);
            }
        }
    }
    void run(const MatmulOptions& options) const {
        SCOPED_TRACE(::testing::Message() << dtype_of<T>().name() << ' ' << m << " x " << n << " x " << k
                                          << " method " << static_cast<int>(options.tuning.method));
        EXPECT_EQ(matmul(as_buffer(a, Shape{m, k}), as_buffer(b, Shape{k, n}), options).read(0), expected);
    }
};

constexpr MatmulMethod all_methods[] = {MatmulMethod::Direct, MatmulMethod::Panels, MatmulMethod::Tiles};

VOLLEY_DEVICE_TEST(MatmulTypes, HaveTheSameResultByAllMethods) {
    const std::uint64_t seed = testing::seed_or(1);
    SCOPED_TRACE(::testing::Message() << "VOLLEY_SEED=" << seed);
    Random random(seed);
    const auto test = [&]<class T>() {
        const MatmulCase<T> some(random, 21, 35, 9);
        for (const MatmulMethod method : all_methods) some.run({.tuning = {.method = method}});
    };
    each_type<float, double, half, i8, u8, i16, u16, i32, u32, i64, u64>(test);
    test.template operator()<c64>();
    if (supports<double>()) test.template operator()<c128>();
    if (supports<half>()) test.template operator()<c32>();
}

VOLLEY_DEVICE_TEST(MatmulSizes, AreAllRight) {
    const std::uint64_t seed = testing::seed_or(2);
    SCOPED_TRACE(::testing::Message() << "VOLLEY_SEED=" << seed);
    Random random(seed);
    const auto size = [&] {
        return random.pick(
            {random.between(1, 20), random.between(15, 17), random.between(60, 70), random.between(1, 150)});
    };
    for (int round = 0; round < 60; ++round) {
        const std::int64_t m = size(), n = size(), k = size();
        const MatmulCase<float> some(random, m, n, k);
        for (const MatmulMethod method : all_methods)
            some.run({.tuning = {.method = method, .block_depth = random.chance(50) ? 16U : 0U}});
    }
}

TEST(MatmulLarge, IsRightForLargeMatrices) {
    const Context context = make_context({.devices = {"cpu:0"}});
    const auto use = context.use();
    Random random(testing::seed_or(3));
    const MatmulCase<float> wide(random, 301, 1030, 777), tall(random, 2000, 33, 129);
    wide.run({});
    tall.run({});
    const MatmulCase<double> doubles(random, 260, 270, 500);
    doubles.run({});
}

}  // namespace
}  // namespace volley
