// Expands math functions to arithmetic: the operations that a device computes exactly (+ - * /, sqrt,
// conversions, bits) are sufficient to compute sin, exp, pow and all others with the accuracy that docs/ir.md
// section 4 specifies.
//
// Requires: a verified function after contract_fma. Ensures: none of the functions rsqrt to hypot and no
// `rem` of floats remain (f64 only if the target has it); the result is plain IR, mostly straight-line code
// on scalars and vectors. Some new nodes are dead, so eliminate_common and eliminate_dead should run
// afterwards. Later stages must not contract, reassociate or otherwise change the rounding of floats, because
// the expansion relies on exact error terms of products and sums.
#pragma once

#include "ir/function.hpp"

namespace volley::passes {

/// The properties of a device's arithmetic that the expansions depend on.
struct MathTarget {
    bool f64 = false;  // has f64 arithmetic; otherwise functions of f64 are not expanded
    bool i64 = false;  // 64-bit integers in hardware (the IR always supports them, but may emulate them)
    bool fused_fma = false;        // f32 and f64 fma round once and are fast; otherwise no fma is emitted
    bool keeps_subnormals = true;  // otherwise they count as zeros, and results may be flushed
    bool fast_f64 =
        false;  // a few f64 operations are faster than many in f32, as on a CPU: used by pow of f32
};

void expand_math(ir::Function& fn, const MathTarget& target);

/// Returns whether expand_math replaces the node, to detect kernels that need no expansion.
[[nodiscard]] bool expands(const ir::Node& node, const MathTarget& target) noexcept;

}  // namespace volley::passes
