// Declares the NVRTC built-ins that Volley's text uses, so clang's CUDA front end can check the text without
// an SDK. It has the overloads of CUDA and no others.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(n) __attribute__((launch_bounds(n)))

struct dim3;
struct uint3;
#include <__clang_cuda_builtin_vars.h>

#define VOLLEY_BUILTIN static __device__ inline

extern "C" {
__device__ float floorf(float), ceilf(float), truncf(float), roundf(float), rintf(float);
__device__ double floor(double), ceil(double), trunc(double), round(double), rint(double);
__device__ unsigned int __activemask();
__device__ unsigned int __ballot_sync(unsigned int, int);
__device__ void __syncwarp(unsigned int);
__device__ int __ffs(int);
}

VOLLEY_BUILTIN float __fmul_rn(float a, float b) { return __nvvm_mul_rn_f(a, b); }
VOLLEY_BUILTIN double __dmul_rn(double a, double b) { return __nvvm_mul_rn_d(a, b); }
VOLLEY_BUILTIN float __fdiv_rn(float a, float b) { return __nvvm_div_rn_f(a, b); }
VOLLEY_BUILTIN double __ddiv_rn(double a, double b) { return __nvvm_div_rn_d(a, b); }
VOLLEY_BUILTIN float __fsqrt_rn(float a) { return __nvvm_sqrt_rn_f(a); }
VOLLEY_BUILTIN double __dsqrt_rn(double a) { return __nvvm_sqrt_rn_d(a); }
VOLLEY_BUILTIN float __fmaf_rn(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
VOLLEY_BUILTIN double __fma_rn(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
VOLLEY_BUILTIN float __uint_as_float(unsigned int x) { return __builtin_bit_cast(float, x); }
VOLLEY_BUILTIN unsigned int __float_as_uint(float x) { return __builtin_bit_cast(unsigned int, x); }
VOLLEY_BUILTIN double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
VOLLEY_BUILTIN long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
VOLLEY_BUILTIN int __popc(unsigned int x) { return __builtin_popcount(x); }
VOLLEY_BUILTIN int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
VOLLEY_BUILTIN int __clz(int x) { return x == 0 ? 32 : __builtin_clz(x); }
VOLLEY_BUILTIN int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(x); }
VOLLEY_BUILTIN void __threadfence() { __nvvm_membar_gl(); }
VOLLEY_BUILTIN void __threadfence_block() { __nvvm_membar_cta(); }

#define VOLLEY_SHUFFLE(T)                                           \
    __device__ T __shfl_sync(unsigned int, T, int, int width = 32); \
    __device__ T __shfl_xor_sync(unsigned int, T, int, int width = 32);
VOLLEY_SHUFFLE(int)
VOLLEY_SHUFFLE(unsigned int)
VOLLEY_SHUFFLE(long long)
VOLLEY_SHUFFLE(unsigned long long)
VOLLEY_SHUFFLE(float)
VOLLEY_SHUFFLE(double)

#define VOLLEY_ATOMIC(name, T) __device__ T name(T*, T);
#define VOLLEY_ATOMIC_BITS(name) \
    VOLLEY_ATOMIC(name, int) VOLLEY_ATOMIC(name, unsigned int) VOLLEY_ATOMIC(name, unsigned long long)
VOLLEY_ATOMIC_BITS(atomicAdd)
VOLLEY_ATOMIC_BITS(atomicMin)
VOLLEY_ATOMIC_BITS(atomicMax)
VOLLEY_ATOMIC_BITS(atomicAnd)
VOLLEY_ATOMIC_BITS(atomicOr)
VOLLEY_ATOMIC_BITS(atomicXor)
VOLLEY_ATOMIC_BITS(atomicExch)
VOLLEY_ATOMIC(atomicAdd, float)
VOLLEY_ATOMIC(atomicAdd, double)
VOLLEY_ATOMIC(atomicMin, long long)
VOLLEY_ATOMIC(atomicMax, long long)
__device__ int atomicCAS(int*, int, int);
__device__ unsigned int atomicCAS(unsigned int*, unsigned int, unsigned int);
__device__ unsigned long long atomicCAS(unsigned long long*, unsigned long long, unsigned long long);
