// Writes a kernel's IR as readable CUDA C++ that NVRTC compiles without headers. It depends on a device only
// through its features (Target) and needs no driver. Thread-safe.
//
// Calling convention:
// - There is one function, Source::entry, `extern "C" __global__`, for one block size. The caller covers the
//   grid with full blocks in the grid's three dimensions; threads outside the grid return immediately, unless
//   the variant is `full`.
// - Source::parameters lists the arguments in order: pointers to memory, 32 and 64-bit numbers, and values in
//   the host's layout. A scalar value is passed as that scalar (bool as a byte, f16 as its 16 bits), a
//   composite value as a struct of Parameter::size bytes. cuLaunchKernel takes a pointer to each argument.
// - Subgroups are warps: 32 consecutive threads of the block.
//
// Rounding: products are written as __fmul_rn and __dmul_rn, which no compiler contracts under any option;
// quotients and roots likewise. Source::options also contains --fmad=false.
#pragma once

#include "codegen/clike/source.hpp"
#include "ir/function.hpp"

#include <cstdint>
#include <string>

namespace volley::codegen::cuda {

/// The device features that code may use.
struct Target {
    std::string device;  // for messages: "cuda:0 (...)"
    /// Compute capability times ten, at least 70: 75, 90, ...
    unsigned architecture = 70;
    friend bool operator==(const Target&, const Target&) = default;
};

using clike::ArgumentKind;
using clike::Parameter;
using clike::Source;
using clike::Variant;

/// Requires a verified and optimised `fn` (passes/pipeline.hpp). Throws DeviceError (Unsupported), naming the
/// device, the feature and the source line, if the target lacks a feature that cannot be emulated.
[[nodiscard]] Source compile(const ir::Function& fn, const Variant& variant, const Target& target);

}  // namespace volley::codegen::cuda
