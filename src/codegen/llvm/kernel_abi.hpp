// The interface between a compiled CPU kernel and its caller: the argument block, the description of a piece
// of work, and the entry point's type. Plain data, with the same layout in C++ and in generated code.
#pragma once

#include "ir/function.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace volley::codegen::llvm {

/// A buffer parameter in the argument block. A value parameter is its bytes in the host's layout.
struct BufferArg {
    void* data = nullptr;
    std::uint64_t elements = 0;
};

/// The offset of each parameter in the argument block: 16-byte aligned, in parameter order.
struct ArgLayout {
    std::vector<std::uint32_t> offsets;
    std::uint32_t size = 0;
};
[[nodiscard]] ArgLayout layout_args(const ir::Function& fn);

/// Receives the operands of a `print`: `values` holds them in order, each at a multiple of 16 bytes in the
/// host's layout; `format` is the index of the format string in the function.
using PrintFn = void (*)(void* context, std::uint32_t format, const void* values);

/// One piece of a launch, processed by one call of the entry point.
///
/// A *flat* kernel (which does not observe workgroups) runs x in [begin, end) for rows [row_begin, row_end),
/// where row = z * global_size[1] + y; begin is a multiple of the width. A *grouped* kernel runs the
/// workgroups [begin, end) in linear order (x fastest) and ignores the rows.
struct Work {
    const std::byte* args = nullptr;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t row_begin = 0;
    std::uint64_t row_end = 1;
    std::uint32_t global_size[3] = {1, 1, 1};
    std::uint32_t group_count[3] = {1, 1, 1};
    std::byte* shared = nullptr;  // CompiledKernel::shared_bytes, 64-byte aligned, one per thread
    std::byte* spill = nullptr;   // CompiledKernel::spill_bytes, 64-byte aligned, one per thread
    PrintFn print = nullptr;
    void* print_context = nullptr;
};

using KernelFn = void (*)(const Work*);

}  // namespace volley::codegen::llvm
