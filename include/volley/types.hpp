// Short names of the scalar types of kernels. Each has the same size on the host and on every device.
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

/// A complex number, stored as (re, im). complex<half> is only a storage type on the host: convert it to
/// complex<float> to compute with it. c32, c64 and c128 are named after their size in bits.
template <class T>
using complex = std::complex<T>;

using c32 = complex<f16>;
using c64 = complex<f32>;
using c128 = complex<f64>;

}  // namespace volley
