// The peer of matrix products. peer_openblas.cpp exists only with OpenBLAS.
#pragma once

namespace volley::bench::peer {

#if defined(VOLLEY_BENCH_OPENBLAS)
/// Opens the library and sets the number of its threads. Returns false if that fails.
[[nodiscard]] bool start_blas(int threads);

/// A product of row-major matrices: c (m, n) = a (m, k) b (k, n).
struct Product {
    int m, n, k;
};
void blas_product(float* c, const float* a, const float* b, const Product& size);
void blas_product(double* c, const double* a, const double* b, const Product& size);
#endif

}  // namespace volley::bench::peer
