// Subgroup operations. A subgroup is the W lanes of one vector, so these operate within registers; inactive
// lanes contribute the identity.
#include "codegen/llvm/kernel_emitter.hpp"
#include "ir/combine.hpp"

#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

namespace volley::codegen::llvm {

using ir::NodeId;
using ir::Op;

Val KernelEmitter::fold_identity(Op op, ScalarType type, Type shape) {
    const double infinity = std::numeric_limits<double>::infinity();
    const unsigned bits = bits_of(type);
    switch (op) {
        case Op::Mul: return volley::is_float(type) ? c.cf(shape, 1.0) : c.c(shape, 1);
        case Op::And: return c.ones(shape);
        case Op::Min:
            if (volley::is_float(type)) return c.cf(shape, infinity);
            return is_signed_integer(type)
                       ? c.c(shape, std::numeric_limits<std::int64_t>::max() >> (64 - bits))
                       : c.ones(shape);
        case Op::Max:
            if (volley::is_float(type)) return c.cf(shape, -infinity);
            return is_signed_integer(type)
                       ? c.c(shape, std::numeric_limits<std::int64_t>::min() >> (64 - bits))
                       : c.zero(shape);
        default: return c.zero(shape);
    }
}

void KernelEmitter::emit_fold(NodeId id) {
    const Op op = ir::fold_of(fn_[id].op).combine;
    const ScalarType type = fn_.type(id).scalar();
    const Val m = mask();
    Leaves leaves;
    for (const Leaf& in : value(fn_.arg(id, 0))) {
        Val v = lanes(in);
        if (m != nullptr) v = c.select(m, v, fold_identity(op, type, c.L.TypeOf(v)));
        for (unsigned n = c.W / 2; n > 0; n /= 2) {
            v = apply(op, type, type, c.slice(v, 0, n), c.slice(v, n, n), nullptr);
        }
        leaves.push_back(Leaf::of_scalar(v));
    }
    set(id, std::move(leaves));
}

void KernelEmitter::emit_scan(NodeId id) {
    const auto [op, scan] = ir::fold_of(fn_[id].op);
    const bool exclusive = scan == ir::Scan::Exclusive;
    const ScalarType type = fn_.type(id).scalar();
    const Val m = mask();
    Leaves leaves;
    for (const Leaf& in : value(fn_.arg(id, 0))) {
        if (c.W == 1) {
            leaves.push_back(exclusive ? Leaf::of_scalar(fold_identity(op, type, c.scalar(type))) : in);
            continue;
        }
        const Type t = c.lanes(c.scalar(type));
        const Val identity = fold_identity(op, type, t);
        Val v = lanes(in);
        if (m != nullptr) v = c.select(m, v, identity);
        // Lane l receives the value of lane l - distance; the lowest lanes receive the identity.
        const auto shifted = [&](Val x, unsigned distance) {
            std::array<int, 64> pick{};
            for (unsigned l = 0; l < c.W; ++l) {
                pick[l] = l >= distance ? static_cast<int>(l - distance) : static_cast<int>(c.W);
            }
            return c.shuffle(x, identity, std::span<const int>(pick.data(), c.W));
        };
        for (unsigned distance = 1; distance < c.W; distance *= 2) {
            v = apply(op, type, type, shifted(v, distance), v, nullptr);
        }
        leaves.push_back(Leaf::of_lanes(exclusive ? shifted(v, 1) : v));
    }
    set(id, std::move(leaves));
}

namespace {

// Returns d if the index is the lane's own number plus d, modulo 2^32.
std::optional<std::uint32_t> lane_distance(const ir::Function& fn, NodeId index) {
    const ir::Node& node = fn[index];
    if (node.op == Op::SubgroupLane) return 0;
    if (node.op != Op::Add && node.op != Op::Sub) return std::nullopt;
    NodeId lane = fn.arg(index, 0), distance = fn.arg(index, 1);
    if (node.op == Op::Add && fn[lane].op != Op::SubgroupLane) std::swap(lane, distance);
    const std::optional<std::int64_t> by = fn.constant_int(distance);
    if (fn[lane].op != Op::SubgroupLane || !by) return std::nullopt;
    const auto d = static_cast<std::uint32_t>(*by);
    return node.op == Op::Sub ? 0U - d : d;
}

}  // namespace

void KernelEmitter::emit_shuffle(NodeId id) {
    const Op op = fn_[id].op;
    const Leaves& in = value(fn_.arg(id, 0));
    const Leaf which = leaf(fn_.arg(id, 1));
    if (c.W == 1) {
        set(id, in);
        return;
    }
    Leaves leaves;
    const std::optional<std::int64_t> constant = fn_.constant_int(fn_.arg(id, 1));
    const std::optional<std::uint32_t> distance =
        op == Op::SubgroupShuffle ? lane_distance(fn_, fn_.arg(id, 1)) : std::nullopt;
    for (const Leaf& l : in) {
        if (l.uniform()) {
            leaves.push_back(l);
            continue;
        }
        if (op == Op::SubgroupBroadcast || (op == Op::SubgroupShuffle && which.uniform())) {
            const Val lane = c.and_(scalar(which), c.u32(c.W - 1));
            leaves.push_back(Leaf::of_scalar(c.extract(l.lanes, lane)));
            continue;
        }
        if (op == Op::SubgroupShuffleXor && constant) {
            std::array<int, 64> pick{};
            for (unsigned i = 0; i < c.W; ++i) {
                pick[i] = static_cast<int>((i ^ static_cast<unsigned>(*constant)) & (c.W - 1));
            }
            leaves.push_back(Leaf::of_lanes(c.shuffle(l.lanes, std::span<const int>(pick.data(), c.W))));
            continue;
        }
        if (distance) {
            // Lanes out of range may have any value, so the vector is rotated.
            std::array<int, 64> pick{};
            for (unsigned i = 0; i < c.W; ++i) pick[i] = static_cast<int>((i + *distance) & (c.W - 1));
            leaves.push_back(Leaf::of_lanes(c.shuffle(l.lanes, std::span<const int>(pick.data(), c.W))));
            continue;
        }
        // An arbitrary permutation goes through memory.
        const bool boolean = c.element(l.lanes) == c.i1;
        const Val stored = boolean ? c.zext(l.lanes, c.lanes(c.i8)) : l.lanes;
        const Type t = c.L.TypeOf(stored);
        const Type e = c.element(t);
        const unsigned size = e == c.i8 ? 1 : e == c.i16 || e == c.f16 ? 2 : e == c.i32 || e == c.f32 ? 4 : 8;
        const Val slot = c.slot(t, 64);
        c.store(stored, slot, 64);
        Val index = lanes(which);
        if (op == Op::SubgroupShuffleXor) index = c.xor_(index, c.iota(c.i32));
        index = c.and_(index, c.c(c.lanes(c.i32), c.W - 1));
        const Val offsets = c.mul(c.zext(index, c.lanes(c.i64)), c.c(c.lanes(c.i64), size));
        Val v = c.gather(t, c.gep(slot, offsets), size, nullptr);
        if (boolean) v = c.icmp(LLVMIntNE, v, c.zero(t));
        leaves.push_back(Leaf::of_lanes(v));
    }
    set(id, std::move(leaves));
}

void KernelEmitter::emit_vote(NodeId id) {
    const Op op = fn_[id].op;
    const Val m = mask();
    if (op == Op::SubgroupElect) {
        if (c.W == 1) {
            set(id, {Leaf::of_scalar(c.ones(c.i1))});
            return;
        }
        const Val first = c.splat(c.first_active(m));
        set(id, {Leaf::of_lanes(c.icmp(LLVMIntEQ, first, c.iota(c.i32)))});
        return;
    }
    const Leaf in = leaf(fn_.arg(id, 0));
    if (c.W == 1) {
        if (op == Op::SubgroupBallot) {
            const Leaf zero = Leaf::of_scalar(c.u32(0));
            set(id, {Leaf::of_scalar(c.zext(in.scalar, c.i32)), zero, zero, zero});
        } else {
            set(id, {in});
        }
        return;
    }
    const Val v = lanes(in);
    switch (op) {
        case Op::SubgroupAny: set(id, {Leaf::of_scalar(c.any(m == nullptr ? v : c.and_(v, m)))}); break;
        case Op::SubgroupAll:
            set(id, {Leaf::of_scalar(c.all(m == nullptr ? v : c.or_(v, c.not_(m))))});
            break;
        default: {
            const Val word = c.bits(m == nullptr ? v : c.and_(v, m));
            const Val wide = c.W < 64 ? c.zext(word, c.i64) : word;
            set(id, {Leaf::of_scalar(c.trunc(wide, c.i32)),
                     Leaf::of_scalar(c.trunc(c.lshr(wide, c.u64(32)), c.i32)), Leaf::of_scalar(c.u32(0)),
                     Leaf::of_scalar(c.u32(0))});
        }
    }
}

}  // namespace volley::codegen::llvm
