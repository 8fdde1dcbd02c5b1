// The short names of the scalar types that kernels compute with, the same on the host and on every device.
#pragma once

#include <volley/half.hpp>

#include <complex>
#include <cstdint>

namespace volley {

using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using f16 = half;
using f32 = float;
using f64 = double;

/// Interleaved (real, imaginary). complex<half> is a storage type on the host: convert it to compute.
template <class T>
using complex = std::complex<T>;

using c32 = complex<f16>;
using c64 = complex<f32>;
using c128 = complex<f64>;

}  // namespace volley
