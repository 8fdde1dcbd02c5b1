// Writes a kernel's IR as CUDA C++ that a person can read and NVRTC compiles without any header. Knows
// devices by their features alone (Target); needs no driver. Thread-safe.
//
// How the source is called, in short:
// - One function, Source::entry, `extern "C" __global__`, for one block size. The caller covers the grid with
//   whole blocks, in the grid's own three dimensions; threads beyond the grid's size return at once, unless
//   the variant is `full`.
// - Its arguments are what Source::parameters lists, in that order: pointers to memory, numbers of 32 and 64
//   bits, and values in the host's layout. A value of a scalar type is that scalar (bool a byte, f16 its 16
//   bits); one of a composite type is a struct of Parameter::size bytes, passed by value. cuLaunchKernel is
//   given a pointer to each.
// - Subgroups are warps: 32 consecutive threads of the block.
//
// Rounding: products are written __fmul_rn and __dmul_rn, which no compiler contracts, whatever its options;
// quotients and roots likewise. Source::options says --fmad=false besides.
#pragma once

#include "codegen/clike/source.hpp"
#include "ir/function.hpp"

#include <cstdint>
#include <string>

namespace volley::codegen::cuda {

/// What code may use.
struct Target {
    std::string device;  // for messages: "cuda:0 (...)"
    /// Compute capability times ten, at least 70: 75, 90, ...
    unsigned architecture = 70;
    friend bool operator==(const Target&, const Target&) = default;
};

using clike::Parameter;
using clike::ParameterKind;
using clike::Source;
using clike::Variant;

/// `fn` is verified and optimised (passes/pipeline.hpp). Throws DeviceError (Unsupported) naming the device,
/// the feature and the source line where nothing can stand in for what the kernel needs.
[[nodiscard]] Source compile(const ir::Function& fn, const Variant& variant, const Target& target);

}  // namespace volley::codegen::cuda
