// Arrays without memory, where() and convert(), and running products.
#include "support/backend_test.hpp"

#include <volley/algorithms/ranges.hpp>
#include <volley/algorithms/rearrange.hpp>
#include <volley/algorithms/reduce.hpp>
#include <volley/algorithms/scan.hpp>

#include <complex>
#include <limits>

namespace volley {
namespace {

using testing::error_of;
using testing::expect_contains;

VOLLEY_DEVICE_TEST(Ranges, CountInAnyType) {
    each_type<i8, u8, i16, u16, i32, u32, i64, u64, half, float, double>([&]<class T>() {
        std::vector<T> expected;
        for (int i = 0; i < 19; ++i) expected.push_back(static_cast<T>(static_cast<float>(i)));
        EXPECT_EQ(evaluate(arange(T(19))).read(0), expected);
        const std::vector<T> down{T(9), T(6), T(3)};
        EXPECT_EQ(evaluate(arange(T(9), T(0), -3)).read(0), down);
        EXPECT_EQ(evaluate(arange(T(9), T(9))).size(), 0U);
        EXPECT_EQ(evaluate(arange(T(9), T(8))).size(), 0U);
    });
    EXPECT_EQ(evaluate(arange(-128, 128, 100)).read(0), (std::vector{-128, -28, 72}));
    EXPECT_EQ(arange(std::numeric_limits<i64>::min(), std::numeric_limits<i64>::max(), i64{1} << 62U).size(),
              4);
    EXPECT_EQ(evaluate(arange(0.F, 1.F, 0.25F)).read(0), (std::vector{0.F, 0.25F, 0.5F, 0.75F}));
}

VOLLEY_DEVICE_TEST(Ranges, AreEvenlySpacedBetweenExactEnds) {
    each_type<half, float, double>([&]<class T>() {
        for (const std::int64_t count : {1, 2, 3, 10, 101}) {
            const std::vector<T> got = evaluate(linspace(T(-0.7F), T(2.3F), count)).read(0);
            ASSERT_EQ(static_cast<std::int64_t>(got.size()), count);
            EXPECT_EQ(got.front(), T(-0.7F));
            if (count > 1) {
                EXPECT_EQ(got.back(), T(2.3F));
            }
            const double first = static_cast<double>(T(-0.7F)), last = static_cast<double>(T(2.3F));
            const double unit = sizeof(T) == 2 ? 0x1p-9 : sizeof(T) == 4 ? 0x1p-22 : 0x1p-51;
            for (std::size_t i = 1; i < got.size(); ++i) {
                const double exact =
                    first + (last - first) * static_cast<double>(i) / static_cast<double>(count - 1);
                EXPECT_NEAR(static_cast<double>(got[i]), exact, unit) << i;
            }
        }
    });
    EXPECT_EQ(evaluate(linspace(0.F, 1.F, 4, false)).read(0), (std::vector{0.F, 0.25F, 0.5F, 0.75F}));
    EXPECT_EQ(evaluate(linspace(0.F, 1.F, 0)).size(), 0U);
    const float most = std::numeric_limits<float>::max();
    EXPECT_EQ(evaluate(linspace(-most, most, 3)).read(0)[2], most);
}

VOLLEY_DEVICE_TEST(Ranges, FillArraysAndFuse) {
    EXPECT_EQ(evaluate(full({2, 3}, 7)).read(0), std::vector<int>(6, 7));
    EXPECT_EQ(evaluate(zeros<float>({4})).read(0), std::vector<float>(4, 0.F));
    EXPECT_EQ(reduce::sum(volley::ones<u32>({100, 7})).item(), 700U);
    const Buffer<int> a = arange(6);
    EXPECT_EQ(evaluate(zeros_like(a) + ones_like(a) * 3 + full_like(a, 4)).read(0), std::vector<int>(6, 7));
    EXPECT_EQ(evaluate(eye<int>(2)).read(0), (std::vector{1, 0, 0, 1}));
    EXPECT_EQ(evaluate(eye<int>(2, 4, 1)).read(0), (std::vector{0, 1, 0, 0, 0, 0, 1, 0}));
    EXPECT_EQ(evaluate(eye<int>(3, 2, -1)).read(0), (std::vector{0, 0, 1, 0, 0, 1}));
    EXPECT_EQ(reduce::sum(eye<int>(3, 3, 3)).item() + reduce::sum(eye<int>(3, 3, -3)).item(), 0);
    const Buffer<int> table = reshape(arange(3), {3, 1}) * 10 + arange(4);
    EXPECT_EQ(table.read(0), (std::vector{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23}));
}

VOLLEY_DEVICE_TEST(Ranges, ChooseElements) {
    const Buffer<float> x = linspace(-1.F, 1.F, 5);
    const Buffer<bool> mask = lazy(x) > 0.F;
    EXPECT_EQ(evaluate(where(mask, x, 0.F)).read(0), (std::vector{0.F, 0.F, 0.F, 0.5F, 1.F}));
    EXPECT_EQ(evaluate(where(mask, 2, 3)).read(0), (std::vector{3, 3, 3, 2, 2}));
    EXPECT_EQ(evaluate(where(lazy(x) < 0.F, -lazy(x), x)).read(0), (std::vector{1.F, 0.5F, 0.F, 0.5F, 1.F}));
    const Buffer<float> wide = where(reshape(mask, {5, 1}), x, -1.F);
    EXPECT_EQ(wide.shape(), (Shape{5, 5}));
    EXPECT_EQ(wide.read(0)[24], 1.F);
    EXPECT_EQ(wide.read(0)[4], -1.F);
}

VOLLEY_DEVICE_TEST(Ranges, ConvertBetweenTypes) {
    const Buffer<float> x = as_buffer(std::vector{-1.5F, 0.F, 2.75F, 300.F});
    EXPECT_EQ(evaluate(convert<int>(x)).read(0), (std::vector{-1, 0, 2, 300}));
    EXPECT_EQ(evaluate(convert<bool>(x)).read(0), (std::vector{true, false, true, true}));
    EXPECT_EQ(AnySource(convert<float>(x)).buffer()->id(), x.id());
    using C = std::complex<float>;
    EXPECT_EQ(evaluate(convert<C>(x)).read(0), (std::vector<C>{-1.5F, 0.F, 2.75F, 300.F}));
    each_type<i8, u16, i64, half, double>([&]<class T>() {
        const std::vector<T> got = evaluate(convert<T>(arange(5U))).read(0);
        for (int i = 0; i < 5; ++i)
            EXPECT_EQ(got[static_cast<std::size_t>(i)], static_cast<T>(static_cast<float>(i)));
    });
}

VOLLEY_BACKEND_TEST(Ranges, MultiplyUp) {
    EXPECT_EQ(cumprod(arange(1, 7)).read(0), (std::vector{1, 2, 6, 24, 120, 720}));
    Buffer<int> to({2, 3});
    cumprod(to, reshape(arange(1, 7), {2, 3}), {.axis = 0});
    EXPECT_EQ(to.read(0), (std::vector{1, 2, 3, 4, 10, 18}));
    EXPECT_EQ(cumprod(reshape(arange(1, 5), {2, 2})).read(0), (std::vector{1, 2, 6, 24}));
}

VOLLEY_BACKEND_TEST(Ranges, TakeDynamicValues) {
    Buffer<int> a(4);
    a.fill(1);
    CommandGraph graph = record([&] { transform(a, lazy(a) * full({4}, dyn<int>("factor")) + arange(4)); });
    graph.bind("factor", {2, 10});
    graph.submit({.instances = 2});
    EXPECT_EQ(a.read(0), (std::vector{20, 31, 42, 53}));
}

VOLLEY_BACKEND_TEST(RangeErrors, NameWhatIsNoRange) {
    const auto ignore = [](const AnySource&) {};
    const auto refused = [](ErrorCode code, auto call) { return error_of(code, call); };
    expect_contains(refused(ErrorCode::InvalidArgument, [&] { ignore(arange(0, 5, 0)); }), "the step is 0");
    expect_contains(refused(ErrorCode::InvalidArgument, [&] { ignore(arange(0.F, std::nanf(""))); }),
                    "finite");
    refused(ErrorCode::InvalidArgument, [&] { ignore(arange(0.F, 1.F, std::nan(""))); });
    refused(ErrorCode::InvalidArgument, [&] { ignore(arange(0.0, INFINITY)); });
    refused(ErrorCode::Overflow, [&] { ignore(arange(0.0, 1.0, 1e-300)); });
    refused(ErrorCode::Overflow, [&] { ignore(arange(i64{1} << 40U)); });
    refused(ErrorCode::InvalidArgument, [&] { ignore(linspace(0.F, 1.F, -1)); });
    refused(ErrorCode::InvalidArgument, [&] { ignore(linspace(0.F, std::nanf(""), 3)); });
}

}  // namespace
}  // namespace volley
