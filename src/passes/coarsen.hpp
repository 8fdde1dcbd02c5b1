// Processes several elements per invocation, for devices whose memory is faster with wide accesses: a kernel
// that works only on data[i], where i is its global id, is rewritten to load a block of elements at once,
// compute each of them, and store the block. Applies to streaming kernels only.
//
// Requires: a verified, optimised function for which can_coarsen() returns true. Ensures: a function for a
// grid of at least n / factor invocations, in which global_size is still n; the last n % factor elements are
// computed by the original body. The caller guarantees factor <= n < 2^31 and that streamed buffers are
// aligned to a word.
#pragma once

#include "ir/function.hpp"

#include <cstdint>
#include <vector>

namespace volley::passes {

/// The granularity: `factor` elements per invocation, accessed in words of 8 or 16 bytes.
struct Coarsening {
    std::uint32_t factor = 1;  // a power of two; a whole number of words
    std::uint32_t word_bytes = 16;
    bool whole = false;  // the grid has exactly n / factor invocations: no guard is needed
    friend bool operator==(const Coarsening&, const Coarsening&) = default;
};

/// Returns whether the kernel can be coarsened: straight-line code on four-byte scalars that uses no other id
/// than global_id().x and stores only at that index.
[[nodiscard]] bool can_coarsen(const ir::Function& fn);

/// Returns which parameters are accessed in blocks.
[[nodiscard]] std::vector<bool> streamed(const ir::Function& fn);

/// The rewritten function has the parameters of `fn`, followed by one per streamed buffer: the same memory as
/// blocks. original[p] is the parameter of `fn` that parameter p corresponds to.
struct Coarsened {
    ir::Function function;
    std::vector<std::uint32_t> original;
};
[[nodiscard]] Coarsened coarsen(const ir::Function& fn, const Coarsening& how);

}  // namespace volley::passes
