// Writes a kernel's IR as readable OpenCL C: version 1.2, plus later features that the target has. It depends
// on a device only through its features (Target) and needs no driver. Thread-safe.
//
// Calling convention, implemented by the backend:
// - There is one kernel function, Source::entry, for one local size. The caller covers the grid with full
//   workgroups in the grid's three dimensions; invocations outside the grid return immediately, unless the
//   variant is `full`.
// - Source::parameters lists the arguments in order.
// - A buffer is passed as a pointer to its memory object and the byte offset of the kernel's part of it.
#pragma once

#include "codegen/clike/source.hpp"
#include "ir/function.hpp"

#include <cstdint>
#include <string>

namespace volley::codegen::opencl {

/// The device features that code may use.
struct Target {
    std::string device;      // for messages: "opencl:0 (cpu-haswell ...)"
    unsigned version = 120;  // OpenCL C version that programs are built as: 120, 200, 300
    // A missing f16 is emulated (stored in 16 bits, computed in f32); a missing f64 is an error.
    bool f16 = false, f64 = false;
    // 64-bit atomics: cl_khr_int64_base_atomics and cl_khr_int64_extended_atomics.
    bool i64_atomics = false;
    bool fused_fma = false;         // fma is fast
    bool keeps_subnormals = false;  // CL_FP_DENORM for f32
    bool exact_division = false;    // -cl-fp32-correctly-rounded-divide-sqrt is supported
    // cl_khr_subgroups with ballot, shuffle and non-uniform arithmetic, at one size. Otherwise each
    // invocation is its own subgroup, which is legal and correct in divergent control flow.
    bool subgroups = false;
    std::uint32_t subgroup_size = 1;
    friend bool operator==(const Target&, const Target&) = default;
};

// The calling convention is the same in every C-like language. Composite values are structs in the host's
// layout, passed by value; bool is a uchar, f16 a ushort.
using clike::ArgumentKind;
using clike::Parameter;
using clike::Source;
using clike::Variant;

/// Requires a verified and optimised `fn` (passes/pipeline.hpp). Throws DeviceError (Unsupported), naming the
/// device, the feature and the source line, if the target lacks a feature that cannot be emulated.
[[nodiscard]] Source compile(const ir::Function& fn, const Variant& variant, const Target& target);

}  // namespace volley::codegen::opencl
