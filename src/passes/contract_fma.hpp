// Contraction of multiply and add: the only place where it happens (docs/ir.md section 4), so that all
// devices that have fused multiply-adds round alike.
//
// Needs: a verified function after the cleaning passes (use counts decide). Leaves: add(mul(x, y), c) is
// fma(x, y, c), sub(mul(x, y), c) is fma(x, y, neg c), sub(c, mul(x, y)) is fma(neg x, y, c), for f32, f64
// and vectors of them, where the product has no other use and stands in the same region. When both operands
// are such products the left one is taken. The products are gone; fold_constants removes negations of
// constants.
#pragma once

#include "ir/function.hpp"

namespace volley::passes {

void contract_fma(ir::Function& fn);

}  // namespace volley::passes
