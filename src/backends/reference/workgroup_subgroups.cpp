// Subgroup operations: each acts on the active lanes of one subgroup at a time.
#include "backends/reference/scalar.hpp"
#include "backends/reference/workgroup.hpp"
#include "core/fail.hpp"
#include "ir/combine.hpp"

#include <algorithm>

namespace volley::backends::reference {

using ir::Form;
using ir::Op;

void Workgroup::run_subgroup(NodeId id, const Lanes& active) {
    const std::uint32_t width = grid_.shape.subgroup_size;
    for (auto first = active.begin(); first != active.end();) {
        const std::uint32_t subgroup = *first / width;
        const auto last =
            std::find_if(first, active.end(), [&](std::uint32_t lane) { return lane / width != subgroup; });
        const std::span lanes(first, last);
        switch (ir::form(fn_[id].op)) {
            case Form::SubgroupFold: run_fold(id, lanes); break;
            case Form::SubgroupLane: run_lane(id, lanes); break;
            default: run_vote(id, lanes); break;
        }
        first = last;
    }
}

void Workgroup::run_fold(NodeId id, std::span<const std::uint32_t> lanes) {
    const NodeId operand = fn_.arg(id, 0);
    const ir::Fold fold = ir::fold_of(fn_[id].op);
    for (std::size_t leaf = 0; const ir::Leaf& at : *grid_.leaves[id]) {
        const ScalarFn combine = scalar_function(fold.combine, at.scalar);
        // Start with the first lane rather than the identity: 0 + -0 would lose the sign.
        Bits sum = value(operand, leaf, lanes[0]);
        value(id, leaf, lanes[0]) =
            fold.scan == ir::Scan::Exclusive ? identity_of(fold.combine, at.scalar) : sum;
        for (const std::uint32_t lane : lanes.subspan(1)) {
            if (fold.scan == ir::Scan::Exclusive) value(id, leaf, lane) = sum;
            sum = combine(sum, value(operand, leaf, lane), 0);
            if (fold.scan == ir::Scan::Inclusive) value(id, leaf, lane) = sum;
        }
        if (fold.scan == ir::Scan::None) {
            for (const std::uint32_t lane : lanes) value(id, leaf, lane) = sum;
        }
        ++leaf;
    }
}

void Workgroup::run_lane(NodeId id, std::span<const std::uint32_t> lanes) {
    const std::uint32_t width = grid_.shape.subgroup_size;
    const NodeId operand = fn_.arg(id, 0);
    const NodeId selector = fn_.arg(id, 1);
    const std::uint32_t base = lanes[0] / width * width;
    for (std::size_t leaf = 0; leaf < grid_.leaves[id]->size(); ++leaf) {
        for (const std::uint32_t lane : lanes) {
            Bits from = value(selector, 0, lane);
            if (fn_[id].op == Op::SubgroupShuffleXor) from ^= lane - base;
            // The value of an inactive or nonexistent source lane is undefined; use zero.
            const bool there = from < width && std::binary_search(lanes.begin(), lanes.end(),
                                                                  base + static_cast<std::uint32_t>(from));
            value(id, leaf, lane) = there ? value(operand, leaf, base + static_cast<std::uint32_t>(from)) : 0;
        }
    }
}

void Workgroup::run_vote(NodeId id, std::span<const std::uint32_t> lanes) {
    const std::uint32_t width = grid_.shape.subgroup_size;
    const Op op = fn_[id].op;
    if (op == Op::SubgroupElect) {
        for (const std::uint32_t lane : lanes) value(id, 0, lane) = lane == lanes.front() ? 1 : 0;
        return;
    }
    const NodeId operand = fn_.arg(id, 0);
    Bits ballot[4] = {};
    bool any = false;
    bool all = true;
    for (const std::uint32_t lane : lanes) {
        const bool vote = value(operand, 0, lane) != 0;
        any = any || vote;
        all = all && vote;
        if (vote) ballot[lane % width / 32] |= Bits{1} << (lane % width % 32);
    }
    for (const std::uint32_t lane : lanes) {
        if (op == Op::SubgroupBallot) {
            for (unsigned word = 0; word < 4; ++word) value(id, word, lane) = ballot[word];
        } else {
            value(id, 0, lane) = (op == Op::SubgroupAny ? any : all) ? 1 : 0;
        }
    }
}

}  // namespace volley::backends::reference
