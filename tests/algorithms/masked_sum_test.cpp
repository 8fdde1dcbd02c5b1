// Weighted sums along an axis, against plain loops on the host.
#include "support/backend_test.hpp"

#include <volley/algorithms/masked_sum.hpp>
#include <volley/algorithms/ranges.hpp>

#include <cmath>
#include <complex>
#include <limits>

namespace volley {
namespace {

using testing::error_of;
using testing::expect_contains;

using Complex = std::complex<float>;

/// Numbers whose sums, products and moduli are exact.
std::vector<Complex> exact_numbers(std::size_t count) {
    std::vector<Complex> values;
    for (std::size_t i = 0; i < count; ++i) {
        const auto k = static_cast<float>(i % 7);
        values.emplace_back(3 * k, i % 2 == 0 ? 4 * k : -4 * k);
    }
    return values;
}

VOLLEY_DEVICE_TEST(MaskedSum, AddsTheRowsOfAMatrix) {
    for (const auto& [rows, columns] : {std::pair{1, 1}, {67, 33}, {300, 4}}) {
        const std::vector<Complex> data = exact_numbers(static_cast<std::size_t>(rows * columns));
        std::vector<float> weights;
        for (int k = 0; k < rows; ++k) weights.push_back(static_cast<float>(k % 3));
        std::vector<Complex> sums(static_cast<std::size_t>(columns));
        std::vector<float> amplitudes(static_cast<std::size_t>(columns));
        for (std::size_t i = 0; i < data.size(); ++i) {
            const std::size_t row = i / static_cast<std::size_t>(columns),
                              column = i % static_cast<std::size_t>(columns);
            sums[column] += weights[row] * data[i];
            amplitudes[column] += weights[row] * std::abs(data[i]);
        }
        const Buffer<Complex> array = as_buffer(data, Shape{rows, columns});
        const Buffer<float> mask = as_buffer(weights);
        EXPECT_EQ(masked_sum(array, mask).read(0), sums) << rows;
        const std::vector<float> got = masked_amplitude_sum(array, mask).read(0);
        for (std::size_t k = 0; k < got.size(); ++k)
            EXPECT_NEAR(got[k], amplitudes[k], 1e-5F * amplitudes[k]) << rows;
        Buffer<Complex> padded({columns}, {.padded_shape = {columns + 5}});
        masked_sum(padded, array, mask);
        EXPECT_EQ(padded.read(0), sums) << rows;
    }
}

VOLLEY_DEVICE_TEST(MaskedSum, IgnoresWhatIsMasked) {
    const float nan = std::nanf(""), infinity = std::numeric_limits<float>::infinity();
    const Buffer<float> array = as_buffer(std::vector{1.F, nan, 2.F, infinity, nan, 3.F}, Shape{3, 2});
    EXPECT_EQ(masked_sum(array, as_buffer(std::vector{0.5F, 0.F, 2.F}), {.axis = 0}).read(0)[0] != 0, true);
    const Buffer<bool> odd = as_buffer(std::vector{false, true});
    EXPECT_EQ(masked_sum(array, lazy(odd) == false, {.axis = 1}).read(0)[1], 2.F);
    EXPECT_EQ(masked_sum(array, as_buffer(std::vector{0.F, 1.F, 0.F})).read(0), (std::vector{2.F, infinity}));
    EXPECT_EQ(masked_sum(array, zeros<bool>({3})).read(0), (std::vector{0.F, 0.F}));
    EXPECT_EQ(masked_amplitude_sum(-lazy(array), as_buffer(std::vector{true, true, false})).read(0)[0], 3.F);
}

VOLLEY_DEVICE_TEST(MaskedSum, HasAnyAxisAndType) {
    const Buffer<int> cube = reshape(arange(24), {2, 3, 4});
    const Buffer<int> weights = as_buffer(std::vector{1, 0, -1});
    const Buffer<i64> sums = masked_sum(cube, weights, {.axis = -2, .keepdims = true});
    EXPECT_EQ(sums.shape(), (Shape{2, 1, 4}));
    EXPECT_EQ(sums.read(0), std::vector<i64>(8, -8));
    each_type<half, double, u8>([&]<class T>() {
        const auto got = masked_sum(convert<T>(cube), convert<T>(as_buffer(std::vector{1, 2})), {.axis = 0});
        EXPECT_EQ(static_cast<double>(got.read(0)[11]), 11 + 2 * 23);
    });
    const Buffer<int> view = cube.sub({1, slice(0, 3, 2), slice(1, 4, 2)});  // {13, 15}, {21, 23}
    EXPECT_EQ(masked_sum(view, arange(2)).read(0), (std::vector<i64>{21, 23}));
    EXPECT_EQ(
        masked_sum(view, as_buffer(std::vector{true, false, true, false}).sub({slice(0, 4, 2)})).read(0),
        (std::vector<i64>{34, 38}));
}

VOLLEY_BACKEND_TEST(MaskedSum, RefusesWhatDoesNotFit) {
    const Buffer<float> array({3, 2});
    Buffer<float> out(2);
    out.fill(7.F);
    const auto refused = [](ErrorCode code, auto call) { return error_of(code, call); };
    expect_contains(refused(ErrorCode::SizeMismatch, [&] { masked_sum(out, array, Buffer<float>(2)); }),
                    "axis 0 of the array has the length 3");
    refused(ErrorCode::SizeMismatch, [&] { masked_sum(out, array, Buffer<float>({3, 1})); });
    refused(ErrorCode::IndexError, [&] { masked_sum(out, array, Buffer<float>(3), {.axis = 2}); });
    refused(ErrorCode::SizeMismatch, [&] { masked_sum(out, array, Buffer<float>(2), {.axis = 1}); });
    refused(ErrorCode::TypeMismatch, [&] { masked_sum(Buffer<int>(2), array, Buffer<float>(3)); });
    EXPECT_EQ(out.read(0), std::vector<float>(2, 7.F)) << "nothing was written";
}

}  // namespace
}  // namespace volley
