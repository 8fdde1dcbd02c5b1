// Matrix products by OpenBLAS. It is opened by the process that computes with it: its threads start when it
// is loaded, and would disturb measurements of other processes.
#include "peers_blas.hpp"

#include <cblas.h>
#include <dlfcn.h>

namespace volley::bench::peer {
namespace {

template <class F>
F* function_of(void* library, const char* name) {
    return library == nullptr ? nullptr : reinterpret_cast<F*>(::dlsym(library, name));
}

struct Blas {
    void* library = ::dlopen(VOLLEY_BENCH_OPENBLAS, RTLD_NOW | RTLD_LOCAL);
    decltype(cblas_sgemm)* sgemm = function_of<decltype(cblas_sgemm)>(library, "cblas_sgemm");
    decltype(cblas_dgemm)* dgemm = function_of<decltype(cblas_dgemm)>(library, "cblas_dgemm");
    decltype(openblas_set_num_threads)* set_threads =
        function_of<decltype(openblas_set_num_threads)>(library, "openblas_set_num_threads");
    decltype(openblas_get_num_threads)* get_threads =
        function_of<decltype(openblas_get_num_threads)>(library, "openblas_get_num_threads");
};

const Blas& blas() {
    static const Blas opened;
    return opened;
}

}  // namespace

bool start_blas(int threads) {
    const Blas& b = blas();
    if (b.sgemm == nullptr || b.dgemm == nullptr || b.set_threads == nullptr || b.get_threads == nullptr)
        return false;
    b.set_threads(threads);
    return b.get_threads() == threads;
}

void blas_product(float* c, const float* a, const float* b, const Product& size) {
    blas().sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size.m, size.n, size.k, 1, a, size.k, b, size.n,
                 0, c, size.n);
}

void blas_product(double* c, const double* a, const double* b, const Product& size) {
    blas().dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size.m, size.n, size.k, 1, a, size.k, b, size.n,
                 0, c, size.n);
}

}  // namespace volley::bench::peer
