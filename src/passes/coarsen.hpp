// Several elements for each invocation, for devices whose memory wants wide accesses: a kernel that works on
// data[i] alone, i being its global id, is rewritten to load a block of elements at once, compute each, and
// store the block. Meant for stream-like kernels; everything else is left alone.
//
// Needs: a verified, optimised function for which can_coarsen(). Leaves: a function for a grid of n / factor
// invocations or some more, where global_size still says n; the last n % factor elements are left to the
// original. The caller promises factor <= n < 2^31, and that streamed buffers start at multiples of a word.
#pragma once

#include "ir/function.hpp"

#include <cstdint>
#include <vector>

namespace volley::passes {

/// How elements are moved: `factor` of them an invocation, in words of 8 or 16 bytes.
struct Coarsening {
    std::uint32_t factor = 1;  // a power of two, a whole number of words
    std::uint32_t word_bytes = 16;
    bool whole = false;  // the grid has exactly n / factor invocations: no guard
    friend bool operator==(const Coarsening&, const Coarsening&) = default;
};

/// Whether the kernel is one of those: straight-line code on scalars of four bytes, which sees of its place
/// in the grid only global_id().x and stores only at that index.
[[nodiscard]] bool can_coarsen(const ir::Function& fn);

/// Which parameters are then moved in blocks.
[[nodiscard]] std::vector<bool> streamed(const ir::Function& fn);

/// The rewritten function has the parameters of `fn`, and behind them one more for each streamed buffer: the
/// same memory, seen as blocks. original[p] is the parameter of `fn` that parameter p stands for.
struct Coarsened {
    ir::Function function;
    std::vector<std::uint32_t> original;
};
[[nodiscard]] Coarsened coarsen(const ir::Function& fn, const Coarsening& how);

}  // namespace volley::passes
