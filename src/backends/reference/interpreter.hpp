// The plain reading of docs/ir.md: runs a kernel over a grid, one workgroup after the other. The oracle that
// every backend is tested against, so it is simple and strict before it is fast: an access out of bounds, a
// barrier that not all invocations reach and a partial workgroup of a kernel with barriers are errors that
// name the source line.
#pragma once

#include "ir/function.hpp"

#include <functional>
#include <span>

namespace volley::backends::reference {

/// One argument, in the order of the kernel's parameters: a buffer's memory with its number of elements, or
/// the bytes of a value in the host's layout.
struct Arg {
    void* data = nullptr;
    std::uint64_t elements = 0;
};

/// Receives each print: its node, and the operands one after the other, each at a multiple of 16 bytes in the
/// host's layout.
using PrintSink = std::function<void(ir::NodeId print, const std::byte* values)>;

struct LaunchShape {
    ir::Dim3 global = {1, 1, 1};
    ir::Dim3 local = {1, 1, 1};
    unsigned subgroup_size = 8;   // 1 to 128
    std::uint64_t max_steps = 0;  // operations before giving up with a Timeout error; 0: never
};

/// Runs the grid on the calling thread. `fn` is verified. Throws IndexError for accesses out of bounds,
/// InvalidLaunch for a shape that the kernel cannot have, Timeout, and whatever the sink throws.
void interpret(const ir::Function& fn, const LaunchShape& shape, std::span<const Arg> args,
               const PrintSink& print = {});

}  // namespace volley::backends::reference
