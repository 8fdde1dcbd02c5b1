// Panels of the operands of a product, in the order in which blocks are multiplied.
#pragma once

#include "algorithms/matmul_kernels.hpp"

namespace volley::algorithms {

/// How an operand is divided into panels.
struct PanelSide {
    const MatmulOperand& operand;
    bool of_a;
    unsigned width;       // rows of a, or columns of b, in a panel
    unsigned lanes;       // invocations side by side
    std::int64_t panels;  // of a matrix
    bool wide_index;      // indices into the panels have 64 bits
};

/// Copies `depth` of k from `begin` on.
void launch_pack(const MatmulCall& call, const PanelSide& side, std::int64_t begin, std::int64_t depth,
                 const AnyBuffer& to);

}  // namespace volley::algorithms
