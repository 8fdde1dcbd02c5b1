// A direct implementation of docs/ir.md: runs a kernel over a grid, one workgroup after another. Every
// backend is tested against it, so it is simple and strict rather than fast: out-of-bounds accesses, barriers
// not reached by all invocations, and partial workgroups of kernels with barriers are errors that name the
// source line.
#pragma once

#include "ir/function.hpp"

#include <functional>
#include <span>

namespace volley::backends::reference {

/// One argument, in the order of the kernel's parameters: a buffer's memory and element count, or the bytes
/// of a value in host layout.
struct Arg {
    void* data = nullptr;
    std::uint64_t elements = 0;
};

/// Receives each print: its node, and the operands in sequence, each at a multiple of 16 bytes in host
/// layout.
using PrintSink = std::function<void(ir::NodeId print, const std::byte* values)>;

struct LaunchShape {
    ir::Dim3 global = {1, 1, 1};
    ir::Dim3 local = {1, 1, 1};
    unsigned subgroup_size = 8;   // 1 to 128
    std::uint64_t max_steps = 0;  // limit of operations before a Timeout error; 0: none
};

/// Runs the grid on the calling thread. `fn` must be verified. Throws IndexError for out-of-bounds accesses,
/// InvalidLaunch for a shape that the kernel does not support, Timeout, and whatever the sink throws.
void interpret(const ir::Function& fn, const LaunchShape& shape, std::span<const Arg> args,
               const PrintSink& print = {});

}  // namespace volley::backends::reference
