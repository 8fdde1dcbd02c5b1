// Functions become arithmetic: what a device computes exactly (+ - * /, sqrt, conversions, bits) is enough to
// compute sin, exp, pow and all others to the accuracy that docs/ir.md section 4 promises.
//
// Needs: a verified function behind contract_fma. Leaves: none of the functions rsqrt to hypot and no `rem`
// of floats (f64 only where the target has it); plain IR, mostly straight code on scalars and vectors alike.
// Some of what it makes is dead: eliminate_common and eliminate_dead are worth their time behind it.
// What follows must not contract, reassociate or otherwise change how floats round: products and sums are
// taken apart exactly.
#pragma once

#include "ir/function.hpp"

namespace volley::passes {

/// What the device computes exactly, as far as functions depend on it.
struct MathTarget {
    bool f64 = false;        // has f64 arithmetic; without it functions of f64 are left alone
    bool i64 = false;        // 64-bit integers in hardware (they always work in the IR, but may be emulated)
    bool fused_fma = false;  // f32 and f64 fma round once and are fast; else no fma is made
    bool keeps_subnormals = true;  // else they count as zeros, and results may be flushed
    bool fast_f64 = false;         // some f64 operations beat many of f32, as on a CPU: pow of f32 uses them
};

void expand_math(ir::Function& fn, const MathTarget& target);

/// Whether expand_math replaces such a node: for who wants to know if there is anything to do.
[[nodiscard]] bool expands(const ir::Node& node, const MathTarget& target) noexcept;

}  // namespace volley::passes
