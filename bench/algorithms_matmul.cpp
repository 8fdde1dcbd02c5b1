// Matrix products against OpenBLAS with as many threads as the machine has cores. OpenBLAS runs in processes
// of its own, in turns with Volley: its threads spin for many milliseconds after a product.
#include "child.hpp"
#include "harness.hpp"
#include "huge_array.hpp"
#include "peers_blas.hpp"

#include <volley/algorithms/matmul.hpp>
#include <volley/volley.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <thread>

namespace volley::bench {
namespace {

constexpr int matmul_rounds = 4;
constexpr double matmul_seconds = 0.4;  // of each side in a round
constexpr double matmul_goal = 0.6;
constexpr Metric giga_flops{"Gflop/s"};

struct ProductSize {
    std::size_t m, k, n;
    [[nodiscard]] double operations() const {
        return 2 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    }
};
constexpr ProductSize square{1024, 1024, 1024};
constexpr ProductSize outer{4096, 64, 4096};

template <class T>
std::vector<T> random_matrix(std::size_t size, unsigned seed) {
    std::vector<T> values(size);
    std::mt19937 random(seed);
    for (T& value : values) value = static_cast<T>(static_cast<int>(random() >> 16U) - 32768) / T{32768};
    return values;
}

/// Checks some elements of the product against sums in double.
template <class T>
void check_product(const T* c, const std::vector<T>& a, const std::vector<T>& b, const ProductSize& size) {
    for (std::size_t at = 0; at < size.m * size.n; at += size.m * size.n / 61) {
        const std::size_t row = at / size.n, column = at % size.n;
        double expected = 0;
        for (std::size_t i = 0; i < size.k; ++i) {
            expected +=
                static_cast<double>(a[row * size.k + i]) * static_cast<double>(b[i * size.n + column]);
        }
        check(std::abs(static_cast<double>(c[at]) - expected) < 1e-3, "a product");
    }
}

/// Returns the seconds of the fastest product by OpenBLAS in this process.
template <class T>
double time_blas([[maybe_unused]] const ProductSize& size) {
#if defined(VOLLEY_BENCH_OPENBLAS)
    check(peer::start_blas(static_cast<int>(std::thread::hardware_concurrency())), "OpenBLAS's threads");
    const std::vector<T> host_a = random_matrix<T>(size.m * size.k, 1);
    const std::vector<T> host_b = random_matrix<T>(size.k * size.n, 2);
    const HugeArray<T> a(host_a.size(), T{}), b(host_b.size(), T{}), c(size.m * size.n, T{});
    std::copy(host_a.begin(), host_a.end(), a.data());
    std::copy(host_b.begin(), host_b.end(), b.data());
    const peer::Product product{static_cast<int>(size.m), static_cast<int>(size.n), static_cast<int>(size.k)};
    const auto run = [&] { peer::blas_product(c.data(), a.data(), b.data(), product); };
    const double best = race({{"openblas", run}}, matmul_seconds)[0];
    check_product(c.data(), host_a, host_b, size);
    return best;
#else
    return 0;
#endif
}

template <class T>
void compare_products(Report& report, const ProductSize& size, [[maybe_unused]] const std::string& child) {
    const std::vector<T> host_a = random_matrix<T>(size.m * size.k, 1);
    const std::vector<T> host_b = random_matrix<T>(size.k * size.n, 2);
    const auto shape = [](std::size_t rows, std::size_t columns) {
        return Shape{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)};
    };
    const Buffer<T> a = as_buffer(host_a, shape(size.m, size.k)),
                    b = as_buffer(host_b, shape(size.k, size.n));
    const Buffer<T> c(shape(size.m, size.n));
    const auto run = [&] { matmul(c, a, b).wait(); };
    run();
    check_product(c.read(0).data(), host_a, host_b, size);

    double volley = std::numeric_limits<double>::infinity(), blas = volley;
    for (int round = 0; round < matmul_rounds; ++round) {
        volley = std::min(volley, race({{"volley", run}}, matmul_seconds)[0]);
#if defined(VOLLEY_BENCH_OPENBLAS)
        // Versions of OpenBLAS do not know later processors of some vendors, and select code for old ones.
        std::vector<std::string> core_types{""};
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx512f")) core_types.emplace_back("SkylakeX");
#endif
        for (const std::string& type : core_types) {
            std::vector<std::string> environment;
            if (!type.empty()) environment.push_back("OPENBLAS_CORETYPE=" + type);
            blas = std::min(blas, run_child(child, environment));
        }
#endif
    }
    const auto speed = [&](double seconds) { return 1e-9 * size.operations() / seconds; };
    const bool has_peer = std::isfinite(blas);
    report.add(giga_flops, speed(volley), "openblas", has_peer ? std::optional(speed(blas)) : std::nullopt,
               matmul_goal, has_peer ? "" : "libopenblas-dev");
}

}  // namespace

VOLLEY_CHILD(blas_square) { return time_blas<float>(square); }
VOLLEY_CHILD(blas_outer) { return time_blas<float>(outer); }
VOLLEY_CHILD(blas_double) { return time_blas<double>(square); }

VOLLEY_BENCH(matmul_square, "algorithms/matmul_1024x1024x1024_f32") {
    compare_products<float>(report, square, "blas_square");
}
VOLLEY_BENCH(matmul_outer, "algorithms/matmul_4096x64x4096_f32") {
    compare_products<float>(report, outer, "blas_outer");
}
VOLLEY_BENCH(matmul_double, "algorithms/matmul_1024x1024x1024_f64") {
    compare_products<double>(report, square, "blas_double");
}

}  // namespace volley::bench
