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
    for (const Size size :
         {Size{1, 1, 1}, {2, 3, 4}, {5, 1, 7}, {1, 9, 3}, {16, 16, 16}, {13, 37, 29}, {33, 65, 17}})
        expect_product<float>(size, {});
}

VOLLEY_DEVICE_TEST(Matmul, HasTheSameResultByAllMethods) {
    for (const MatmulMethod method : methods) {
        expect_product<float>({13, 35, 18}, {.tuning = {.method = method}});
        expect_product<float>({40, 5, 3},
                              {.transpose_a = true, .transpose_b = true, .tuning = {.method = method}});
    }
}

}  // namespace
}  // namespace volley
