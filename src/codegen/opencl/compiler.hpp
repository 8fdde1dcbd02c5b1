// Writes a kernel's IR as OpenCL C that a person can read: OpenCL 1.2 as the base, more where the target has
// it. Knows devices by their features alone (Target); needs no driver. Thread-safe.
//
// How the source is called, in short (the backend does it):
// - One kernel function, Source::entry, for one local size. The caller covers the grid with whole workgroups,
//   in the grid's own three dimensions; invocations beyond the grid's size return at once, unless the variant
//   is `full`.
// - Its arguments are what Source::parameters lists, in that order.
// - A buffer is a pointer to the start of its memory object and the byte at which the kernel's part of it
//   begins.
#pragma once

#include "codegen/clike/source.hpp"
#include "ir/function.hpp"

#include <cstdint>
#include <string>

namespace volley::codegen::opencl {

/// What code may use. Plain features of a device, as far as code depends on them.
struct Target {
    std::string device;      // for messages: "opencl:0 (cpu-haswell ...)"
    unsigned version = 120;  // of OpenCL C that programs are built as: 120, 200, 300
    // What is missing is emulated (f16: kept in 16 bits, computed in f32) or refused (f64).
    bool f16 = false, f64 = false;
    // Atomics beyond 32-bit integers: cl_khr_int64_base_atomics and _extended_atomics.
    bool i64_atomics = false;
    bool fused_fma = false;         // fma is fast
    bool keeps_subnormals = false;  // CL_FP_DENORM of f32
    bool exact_division = false;    // -cl-fp32-correctly-rounded-divide-sqrt is to be had
    // cl_khr_subgroups with ballot, shuffle and non-uniform arithmetic, at one size. Else each invocation is
    // a subgroup of its own, which is legal, and right in divergent control flow.
    bool subgroups = false;
    std::uint32_t subgroup_size = 1;
    friend bool operator==(const Target&, const Target&) = default;
};

// What the caller of the text has to know is the same in every language like C. Values of composite types are
// structs in the host's layout, passed by value; bool is a uchar, f16 a ushort.
using clike::Parameter;
using clike::ParameterKind;
using clike::Source;
using clike::Variant;

/// `fn` is verified and optimised (passes/pipeline.hpp). Throws DeviceError (Unsupported) naming the device,
/// the feature and the source line where the target lacks what the kernel needs and nothing can stand in.
[[nodiscard]] Source compile(const ir::Function& fn, const Variant& variant, const Target& target);

}  // namespace volley::codegen::opencl
