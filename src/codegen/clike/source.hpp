// Kernels as text in a language like C, with what the caller of the text has to know. The emitter
// (kernel_emitter.hpp) writes it; what differs between such languages is a Dialect.
#pragma once

#include "codegen/api/reports.hpp"
#include "ir/function.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace volley::codegen::clike {

/// How a kernel is specialised.
struct Variant {
    ir::Dim3 local = {1, 1, 1};
    bool full = false;  // the caller promises that every workgroup is whole: no guard at the grid's edge
    friend bool operator==(const Variant&, const Variant&) = default;
};

/// What an argument of the kernel function is.
enum class ParameterKind : std::uint8_t {
    GlobalSize,  // 32 bits, one for each dimension: `index` is 0, 1 or 2
    Memory,      // pointer: the memory object of buffer `index`
    Offset,      // 64 bits: the byte in it at which the buffer begins
    Elements,    // 64 bits: how many elements it has
    Value,       // the parameter's value in the host's layout: `size` bytes
    Reports,     // pointer: a ReportHeader with its records (codegen/api/reports.hpp)
};

struct Parameter {
    ParameterKind kind = ParameterKind::Value;
    std::uint32_t index = 0;  // of the kernel's parameter
    std::uint32_t size = 0;   // bytes, as the driver wants them; of pointers: 0
};

struct Source {
    std::string text;
    std::string entry;    // the kernel function's name
    std::string options;  // for the compiler of the text
    std::vector<Parameter> parameters;
    bool reports = false;
    std::vector<PrintSite> prints;
    std::uint32_t shared_bytes = 0;  // what the kernel's shared arrays take
};

/// What the emitter may use of a device; the dialect knows how it is written.
struct Features {
    std::string device;  // for messages
    bool f64 = false;
    bool i64_atomics = false;
    bool fused_fma = false;
    bool keeps_subnormals = false;
    std::uint32_t subgroup_size = 1;  // 1: each invocation is a subgroup of its own
};

}  // namespace volley::codegen::clike
