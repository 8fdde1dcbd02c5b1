// Contracts multiply and add. This is the only place that does so (docs/ir.md section 4), so that all devices
// with fused multiply-add round identically.
//
// Requires: a verified function after the cleaning passes (the decision depends on use counts). Ensures:
// add(mul(x, y), c) is fma(x, y, c), sub(mul(x, y), c) is fma(x, y, neg c), and sub(c, mul(x, y)) is fma(neg
// x, y, c), for f32, f64 and vectors of them, if the product has no other use and is in the same region. If
// both operands are such products, the left one is contracted. The products are removed; fold_constants
// removes negations of constants.
#pragma once

#include "ir/function.hpp"

namespace volley::passes {

void contract_fma(ir::Function& fn);

}  // namespace volley::passes
