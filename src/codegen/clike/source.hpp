// A kernel as C-like text, with what the caller needs to launch it. kernel_emitter.hpp writes it; a Dialect
// holds the differences between languages.
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
    bool full = false;  // the caller guarantees full workgroups: no guard at the grid's edge
    friend bool operator==(const Variant&, const Variant&) = default;
};

/// The kinds of kernel function arguments.
enum class ArgumentKind : std::uint8_t {
    GlobalSize,  // 32 bits, one per dimension: `index` is 0, 1 or 2
    Memory,      // pointer: the memory object of buffer `index`
    Offset,      // 64 bits: byte offset of the buffer in its memory object
    Elements,    // 64 bits: number of elements
    Value,       // the parameter's value in the host's layout: `size` bytes
    Reports,     // pointer: a ReportHeader and its records (codegen/api/reports.hpp)
};

struct Parameter {
    ArgumentKind kind = ArgumentKind::Value;
    std::uint32_t index = 0;  // of the kernel's parameter or dimension
    std::uint32_t size = 0;   // bytes that the driver expects; 0 for pointers
};

struct Source {
    std::string text;
    std::string entry;    // the kernel function's name
    std::string options;  // for the compiler of the text
    std::vector<Parameter> parameters;
    bool reports = false;
    std::vector<PrintSite> prints;
    std::uint32_t shared_bytes = 0;  // size of the kernel's shared arrays
};

/// The device features that the emitter may use.
struct Features {
    std::string device;  // for messages
    bool f64 = false;
    bool i64_atomics = false;
    bool fused_fma = false;
    bool keeps_subnormals = false;
    std::uint32_t subgroup_size = 1;  // 1: each invocation is its own subgroup
};

}  // namespace volley::codegen::clike
