// Functions that generated code calls to convert f16 on x86-64 processors without F16C. They belong to the
// compiler's runtime library, which LLVM expects in every program and which the JIT does not load.
#pragma once

#include <span>

namespace volley::codegen::llvm {

struct HalfCall {
    const char* name;
    void* address;
};

/// Returns the functions: none on processors whose baseline converts f16.
///
/// LLVM 15 to 20 pass an f16 in the low 16 bits of an SSE register, as the ABI of x86-64 says for _Float16,
/// and leave the other bits undefined. The functions therefore pass it as a float with these bits, which
/// every C++ compiler supports: `__extendhfsf2` is `float(float)`, `__truncsfhf2` too, `__truncdfhf2` is
/// `float(double)`.
[[nodiscard]] std::span<const HalfCall> half_calls() noexcept;

}  // namespace volley::codegen::llvm
