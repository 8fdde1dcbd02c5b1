// Pure operations: constants, ids, arithmetic, conversions, composites. They follow docs/ir.md sections 3 to
// 5 in every lane, live or not: no operation here can fault.
#include "codegen/llvm/kernel_emitter.hpp"
#include "codegen/llvm/vector_math.hpp"
#include "core/text.hpp"

#include <volley/error.hpp>

#include <bit>
#include <limits>

namespace volley::codegen::llvm {

using ir::Form;
using ir::NodeId;
using ir::Op;

passes::LaneShape KernelEmitter::shape(NodeId id) const {
    if (group_level_ || c.W == 1) return {passes::LaneShape::Uniform, 0, 1};
    return lanes_.shape(id);
}

bool KernelEmitter::lane_uniform(NodeId id) const {
    return group_level_ || c.W == 1 || lanes_.lane_uniform(id);
}

void KernelEmitter::emit_node(NodeId id) {
    const Op op = fn_[id].op;
    if (holds(id)) {
        set(id, {Leaf::of_scalar(c.ones(c.i1))});
        return;
    }
    switch (ir::form(op)) {
        case Form::Constant:
        case Form::Zero: emit_constant(id); break;
        case Form::Parameter: break;  // loaded once, in load_work
        case Form::Root:
            if (op == Op::Var) reset_variable(id);
            break;
        case Form::Builtin: emit_builtin(id); break;
        case Form::Unary:
        case Form::Binary:
        case Form::Ternary:
        case Form::Shift:
        case Form::Compare:
        case Form::Classify:
        case Form::BitCount:
        case Form::Convert:
            emit_elementwise(id);
            note_sum(id);
            break;
        case Form::Select: emit_select(id); break;
        case Form::Bitcast: emit_bitcast(id); break;
        case Form::Construct: emit_construct(id); break;
        case Form::Extract: emit_extract(id); break;
        case Form::BufferSize: {
            const Val elements = leaf(fn_.arg(id, 0), 1).scalar;
            set(id, {Leaf::of_scalar(c.trunc(elements, c.scalar(fn_.type(id).scalar())))});
            break;
        }
        case Form::Load:
            if (fn_[fn_.arg(id, 0)].op == Op::Var) {
                emit_variable_load(id);
            } else {
                emit_load(id);
            }
            break;
        case Form::Store:
            if (fn_[fn_.arg(id, 0)].op == Op::Var) {
                emit_variable_store(id);
            } else {
                emit_store(id);
            }
            break;
        case Form::Atomic:
        case Form::AtomicCas: emit_atomic(id); break;
        case Form::SubgroupFold:
            if (op >= Op::SubgroupInclusiveAdd) {
                emit_scan(id);
            } else {
                emit_fold(id);
            }
            break;
        case Form::SubgroupLane: emit_shuffle(id); break;
        case Form::SubgroupVote:
        case Form::Ballot:
        case Form::Elect: emit_vote(id); break;
        case Form::Sync:
            // Lanes of a vector run in lockstep, and a workgroup runs in program order. Only other workgroups
            // may see accesses in another order.
            if (op == Op::Fence) c.L.BuildFence(c.b, LLVMAtomicOrderingAcquireRelease, 0, "");
            break;
        case Form::If: emit_if(id); break;
        case Form::For: emit_for(id); break;
        case Form::Loop: emit_loop(id); break;
        case Form::Jump: emit_jump(id); break;
        case Form::Print: emit_print(id); break;
    }
}

void KernelEmitter::emit_constant(NodeId id) {
    const ir::Node& node = fn_[id];
    if (node.op == Op::Zero) {
        // Leaf types follow the order of the type's parts.
        Leaves leaves;
        const std::function<void(DType)> visit = [&](DType t) {
            if (t.is_scalar()) {
                leaves.push_back(Leaf::of_scalar(c.zero(c.scalar(t.scalar()))));
                return;
            }
            for (std::uint64_t i = 0; i < t.count(); ++i) visit(t.part(i));
        };
        visit(node.type);
        set(id, std::move(leaves));
        return;
    }
    const ScalarType s = node.type.scalar();
    Val v = nullptr;
    if (s == ScalarType::F32) {
        v = c.L.ConstBitCast(c.u32(static_cast<std::uint32_t>(node.imm)), c.f32);
    } else if (s == ScalarType::F64) {
        v = c.L.ConstBitCast(c.u64(node.imm), c.f64);
    } else if (s == ScalarType::F16) {
        v = c.L.ConstBitCast(c.L.ConstInt(c.i16, node.imm, 0), c.f16);
    } else {
        v = c.L.ConstInt(c.scalar(s), node.imm, 0);
    }
    set(id, {Leaf::of_scalar(v)});
}

void KernelEmitter::emit_builtin(NodeId id) {
    const auto three = [&](const Leaf* v) { set(id, {v[0], v[1], v[2]}); };
    const auto scalars = [&](Val const* v) {
        set(id, {Leaf::of_scalar(v[0]), Leaf::of_scalar(v[1]), Leaf::of_scalar(v[2])});
    };
    const std::uint32_t group = variant_.local[0] * variant_.local[1] * variant_.local[2];
    switch (fn_[id].op) {
        case Op::GlobalId: three(global_id_); break;
        case Op::LocalId: three(local_id_); break;
        case Op::GroupId: scalars(group_id_); break;
        case Op::GlobalSize: scalars(global_size_); break;
        case Op::GroupCount: scalars(group_count_); break;
        case Op::LocalSize:
            set(id, {Leaf::of_scalar(c.u32(variant_.local[0])), Leaf::of_scalar(c.u32(variant_.local[1])),
                     Leaf::of_scalar(c.u32(variant_.local[2]))});
            break;
        case Op::LocalIndex: set(id, {local_index_}); break;
        case Op::SubgroupId: set(id, {Leaf::of_scalar(subgroup_id_)}); break;
        case Op::SubgroupCount: set(id, {Leaf::of_scalar(c.u32((group + c.W - 1) / c.W))}); break;
        case Op::SubgroupSize: set(id, {Leaf::of_scalar(c.u32(c.W))}); break;
        case Op::SubgroupLane:
            set(id, {c.W == 1 ? Leaf::of_scalar(c.u32(0)) : Leaf{c.u32(0), c.iota(c.i32)}});
            break;
        default: break;
    }
}

void KernelEmitter::emit_elementwise(NodeId id) {
    const ir::Node& node = fn_[id];
    const std::span<const NodeId> args = fn_.args(id);
    const ScalarType result = node.type.scalar();
    const ScalarType operand = fn_.type(args[0]).scalar();
    const std::size_t count = node.type.leaf_count();
    Leaves leaves(count);
    for (unsigned k = 0; k < count; ++k) {
        Leaf in[3];
        bool uniform = true;
        for (unsigned a = 0; a < args.size(); ++a) {
            in[a] = leaf(args[a], k);
            uniform = uniform && in[a].uniform();
        }
        const auto run = [&](bool as_scalar) {
            Val v[3] = {};
            for (unsigned a = 0; a < args.size(); ++a) v[a] = as_scalar ? scalar(in[a]) : lanes(in[a]);
            return node.op == Op::Convert ? convert(v[0], operand, result)
                                          : apply(node.op, result, operand, v[0], v[1], v[2]);
        };
        const passes::LaneShape s =
            count == 1 ? shape(id) : passes::LaneShape{passes::LaneShape::Varying, 0, 1};
        if (uniform || s.kind == passes::LaneShape::Uniform) {
            leaves[k] = Leaf::of_scalar(run(true));
        } else if (s.kind == passes::LaneShape::Affine && is_integer(result)) {
            // Address arithmetic stays scalar; the lanes are a progression from lane 0.
            const Val base = run(true);
            leaves[k] = {base, c.add(c.splat(base), c.iota(c.L.TypeOf(base), s.stride))};
        } else {
            leaves[k] = Leaf::of_lanes(run(false));
        }
    }
    set(id, std::move(leaves));
}

void KernelEmitter::emit_select(NodeId id) {
    const NodeId condition = fn_.arg(id, 0);
    const Leaves& yes = value(fn_.arg(id, 1));
    const Leaves& no = value(fn_.arg(id, 2));
    const bool per_component = fn_.type(condition).is_vector();
    Leaves leaves(yes.size());
    for (unsigned k = 0; k < yes.size(); ++k) {
        const Leaf cond = leaf(condition, per_component ? k : 0);
        if (cond.uniform() && yes[k].uniform() && no[k].uniform()) {
            leaves[k] = Leaf::of_scalar(c.select(cond.scalar, yes[k].scalar, no[k].scalar));
        } else {
            // A uniform condition selects whole vectors.
            leaves[k].lanes =
                c.select(cond.uniform() ? cond.scalar : cond.lanes, lanes(yes[k]), lanes(no[k]));
            if (cond.uniform() && yes[k].scalar != nullptr && no[k].scalar != nullptr) {
                leaves[k].scalar = c.select(cond.scalar, yes[k].scalar, no[k].scalar);
            }
        }
    }
    set(id, std::move(leaves));
}

void KernelEmitter::emit_bitcast(NodeId id) {
    const DType to = fn_.type(id);
    const DType from = fn_.type(fn_.arg(id, 0));
    const Leaves& in = value(fn_.arg(id, 0));
    if (in.size() == to.leaf_count()) {
        Leaves leaves(in.size());
        for (unsigned k = 0; k < in.size(); ++k) {
            const Val v = in[k].uniform() ? in[k].scalar : in[k].lanes;
            const Val r = c.bitcast(v, c.like(v, c.scalar(to.scalar())));
            leaves[k] = in[k].uniform() ? Leaf::of_scalar(r) : Leaf::of_lanes(r);
        }
        set(id, std::move(leaves));
        return;
    }
    // If leaf sizes differ, joins the bytes and splits them again, little-endian.
    const unsigned from_bits = bits_of(from.scalar());
    const unsigned to_bits = bits_of(to.scalar());
    bool uniform = true;
    for (const Leaf& l : in) uniform = uniform && l.uniform();
    const auto int_type = [&](unsigned bits) {
        const Type t = c.L.IntTypeInContext(c.context, bits);
        return uniform ? t : c.lanes(t);
    };
    Leaves leaves;
    const auto push = [&](Val v) {
        const Val r = c.bitcast(v, uniform ? c.scalar(to.scalar()) : c.lanes(c.scalar(to.scalar())));
        leaves.push_back(uniform ? Leaf::of_scalar(r) : Leaf::of_lanes(r));
    };
    if (to_bits > from_bits) {
        const unsigned parts = to_bits / from_bits;
        for (unsigned k = 0; k < in.size(); k += parts) {
            Val word = nullptr;
            for (unsigned p = 0; p < parts; ++p) {
                const Val v = uniform ? in[k + p].scalar : lanes(in[k + p]);
                const Val wide = c.zext(c.bitcast(v, int_type(from_bits)), int_type(to_bits));
                const Val moved = p == 0 ? wide : c.shl(wide, c.c(int_type(to_bits), p * from_bits));
                word = word == nullptr ? moved : c.or_(word, moved);
            }
            push(word);
        }
    } else {
        const unsigned parts = from_bits / to_bits;
        for (const Leaf& l : in) {
            const Val word = c.bitcast(uniform ? l.scalar : lanes(l), int_type(from_bits));
            for (unsigned p = 0; p < parts; ++p) {
                const Val moved = p == 0 ? word : c.lshr(word, c.c(int_type(from_bits), p * to_bits));
                push(c.trunc(moved, int_type(to_bits)));
            }
        }
    }
    set(id, std::move(leaves));
}

void KernelEmitter::emit_construct(NodeId id) {
    Leaves leaves;
    for (const NodeId part : fn_.args(id)) {
        const Leaves& in = value(part);
        leaves.insert(leaves.end(), in.begin(), in.end());
    }
    set(id, std::move(leaves));
}

void KernelEmitter::emit_extract(NodeId id) {
    const auto path = leaf_path(id);
    const std::uint64_t first = path.first;
    const std::vector<Step>& steps = path.second;
    const Leaves& in = value(fn_.arg(id, 0));
    const std::size_t count = fn_.type(id).leaf_count();
    if (steps.empty()) {
        set(id, Leaves(in.begin() + static_cast<std::ptrdiff_t>(first),
                       in.begin() + static_cast<std::ptrdiff_t>(first + count)));
        return;
    }
    // A computed index selects among the candidates, which are few. An out-of-range index returns some part.
    const auto index_of = [&](bool as_scalar) {
        Val sum = as_scalar ? c.u32(0) : c.zero(c.lanes(c.i32));
        for (const Step& step : steps) {
            const Leaf l = leaf(step.index);
            Val v = as_scalar ? scalar(l) : lanes(l);
            const Type t = as_scalar ? c.i32 : c.lanes(c.i32);
            const unsigned bits = c.L.GetIntTypeWidth(c.element(v));
            v = bits > 32 ? c.trunc(v, t) : bits < 32 ? c.zext(v, t) : v;
            sum = c.add(sum, c.mul(v, c.c(t, static_cast<std::int64_t>(step.scale))));
        }
        return sum;
    };
    bool index_uniform = true;
    std::uint64_t span = 0;  // the largest leaf offset that the steps may add
    for (const Step& step : steps) index_uniform = index_uniform && leaf(step.index).uniform();
    span = in.size() - first - count;
    Leaves leaves(count);
    const Val index = index_of(index_uniform);
    for (unsigned k = 0; k < count; ++k) {
        bool uniform = index_uniform;
        for (std::uint64_t o = 0; o <= span; ++o) {
            const bool same =
                c.element(in[first + k + o].uniform() ? in[first + k + o].scalar : in[first + k + o].lanes) ==
                c.element(in[first + k].uniform() ? in[first + k].scalar : in[first + k].lanes);
            if (same) uniform = uniform && in[first + k + o].uniform();
        }
        Val chosen = uniform ? in[first + k].scalar : lanes(in[first + k]);
        for (std::uint64_t o = 1; o <= span; ++o) {
            const Leaf& other = in[first + k + o];
            const Val v = uniform ? other.scalar : lanes(other);
            if (v == nullptr || c.element(v) != c.element(chosen)) continue;
            const Val hit = c.icmp(LLVMIntEQ, index, c.c(c.L.TypeOf(index), static_cast<std::int64_t>(o)));
            chosen = c.select(hit, v, chosen);
        }
        leaves[k] = uniform ? Leaf::of_scalar(chosen) : Leaf::of_lanes(chosen);
    }
    set(id, std::move(leaves));
}

Val KernelEmitter::convert(Val v, ScalarType from, ScalarType to) {
    if (from == to) return v;
    const Type t = c.like(v, c.scalar(to));
    if (to == ScalarType::Bool) {
        return volley::is_float(from) ? c.fcmp(LLVMRealUNE, v, c.zero(c.L.TypeOf(v)))
                                      : c.icmp(LLVMIntNE, v, c.zero(c.L.TypeOf(v)));
    }
    if (from == ScalarType::Bool) {
        return volley::is_float(to) ? c.select(v, c.cf(t, 1.0), c.zero(t)) : c.zext(v, t);
    }
    const bool from_float = volley::is_float(from);
    const bool to_float = volley::is_float(to);
    if (!from_float && !to_float) {
        const unsigned a = bits_of(from);
        const unsigned b = bits_of(to);
        if (a == b) return v;
        if (b < a) return a == 64 && b == 32 ? c.low_words(v) : c.trunc(v, t);
        return is_signed_integer(from) ? c.sext(v, t) : c.zext(v, t);
    }
    if (from == ScalarType::F64 && to == ScalarType::F16) {
        // No instruction converts f64 to f16 with one rounding; rounding to f32 to odd and then to f16 has
        // the same result.
        const Type half_way = c.like(v, c.f32);
        const Type word = c.like(v, c.i32);
        const Val near = c.L.BuildFPTrunc(c.b, v, half_way, "");
        const Val back = c.L.BuildFPExt(c.b, near, c.L.TypeOf(v), "");
        const Val magnitude = c.intrinsic("llvm.fabs", {c.L.TypeOf(v)}, {v});
        const Val above = c.fcmp(LLVMRealOGT, c.intrinsic("llvm.fabs", {c.L.TypeOf(v)}, {back}), magnitude);
        const Val bits = c.bitcast(near, word);
        const Val cut = c.select(above, c.sub(bits, c.c(word, 1)), bits);
        const Val odd = c.select(c.fcmp(LLVMRealONE, back, v), c.or_(cut, c.c(word, 1)), bits);
        return convert(c.bitcast(odd, half_way), ScalarType::F32, to);
    }
    if (from_float && to_float) {
        return bits_of(to) > bits_of(from) ? c.L.BuildFPExt(c.b, v, t, "") : c.L.BuildFPTrunc(c.b, v, t, "");
    }
    if (to_float) {
        if (to == ScalarType::F16) {
            // Through f32: exact for 8 and 16 bits. Wider integers go through f64, which is exact to 53 bits;
            // larger ones exceed f16's range.
            const ScalarType by = bits_of(from) <= 16 ? ScalarType::F32 : ScalarType::F64;
            return convert(convert(v, from, by), by, to);
        }
        return is_signed_integer(from) ? c.L.BuildSIToFP(c.b, v, t, "") : c.L.BuildUIToFP(c.b, v, t, "");
    }
    if (from == ScalarType::F16) return convert(convert(v, from, ScalarType::F32), ScalarType::F32, to);
    return c.intrinsic(is_signed_integer(to) ? "llvm.fptosi.sat" : "llvm.fptoui.sat", {t, c.L.TypeOf(v)},
                       {v});
}

Val KernelEmitter::apply(Op op, ScalarType result, ScalarType operand, Val x, Val y, Val z) {
    switch (ir::form(op)) {
        case Form::Compare: return compare(op, operand, x, y);
        case Form::Classify: {
            if (operand == ScalarType::F16) x = convert(x, operand, ScalarType::F32);
            if (op == Op::IsNan) return c.fcmp(LLVMRealUNO, x, x);
            const Val magnitude = c.intrinsic("llvm.fabs", {c.L.TypeOf(x)}, {x});
            return c.fcmp(LLVMRealOEQ, magnitude,
                          c.cf(c.L.TypeOf(x), std::numeric_limits<double>::infinity()));
        }
        default: break;
    }
    if (result == ScalarType::Bool) {
        switch (op) {
            case Op::And: return c.and_(x, y);
            case Op::Or: return c.or_(x, y);
            case Op::Xor: return c.xor_(x, y);
            case Op::Not: return c.not_(x);
            default: break;
        }
    }
    return volley::is_float(operand) ? apply_float(op, operand, x, y, z)
                                     : apply_integer(op, operand, x, y, z);
}

Val KernelEmitter::compare(Op op, ScalarType type, Val x, Val y) {
    if (type == ScalarType::F16) {
        x = convert(x, type, ScalarType::F32);
        y = convert(y, type, ScalarType::F32);
    }
    if (volley::is_float(type)) {
        const LLVMRealPredicate p = op == Op::Eq   ? LLVMRealOEQ
                                    : op == Op::Ne ? LLVMRealUNE
                                    : op == Op::Lt ? LLVMRealOLT
                                    : op == Op::Le ? LLVMRealOLE
                                    : op == Op::Gt ? LLVMRealOGT
                                                   : LLVMRealOGE;
        return c.fcmp(p, x, y);
    }
    const bool s = is_signed_integer(type);
    const LLVMIntPredicate p = op == Op::Eq   ? LLVMIntEQ
                               : op == Op::Ne ? LLVMIntNE
                               : op == Op::Lt ? (s ? LLVMIntSLT : LLVMIntULT)
                               : op == Op::Le ? (s ? LLVMIntSLE : LLVMIntULE)
                               : op == Op::Gt ? (s ? LLVMIntSGT : LLVMIntUGT)
                                              : (s ? LLVMIntSGE : LLVMIntUGE);
    return c.icmp(p, x, y);
}

Val KernelEmitter::divide(bool remainder, ScalarType type, Val x, Val y) {
    const Type t = c.L.TypeOf(x);
    const bool s = is_signed_integer(type);
    // a / 0 = a and a rem 0 = 0 are computed by dividing by 1 instead; so is min / -1 = min.
    const Val zero = c.icmp(LLVMIntEQ, y, c.zero(t));
    const unsigned bits = bits_of(type);
    if (c.is_vector(t) && bits <= 32 && !c.L.IsConstant(y)) {
        // Vector units do not divide integers. The quotient of two 32-bit integers is exact in f64 (f32 up to
        // 16 bits).
        const Type ft = c.like(x, bits <= 16 ? c.f32 : c.f64);
        const Val divisor = c.select(zero, c.c(t, 1), y);
        const auto to_float = [&](Val v) {
            return s ? c.L.BuildSIToFP(c.b, v, ft, "") : c.L.BuildUIToFP(c.b, v, ft, "");
        };
        const Val quotient = c.fdiv(to_float(x), to_float(divisor));
        Val q = nullptr;
        if (bits == 32) {
            // min / -1 is 2^31, which exceeds i32: converts to i64 and truncates.
            const Type wide = c.like(x, c.i64);
            if (c.isa.avx512) {
                q = c.trunc(c.L.BuildFPToSI(c.b, quotient, wide, ""), t);
            } else if (s) {
                const Val overflow =
                    c.and_(c.icmp(LLVMIntEQ, x, c.c(t, std::numeric_limits<std::int32_t>::min())),
                           c.icmp(LLVMIntEQ, y, c.c(t, -1)));
                const Val safe = c.select(overflow, c.zero(ft), quotient);
                q = c.select(overflow, x, c.L.BuildFPToSI(c.b, safe, t, ""));
            } else {
                q = c.L.BuildFPToUI(c.b, quotient, t, "");
            }
        } else {
            q = c.trunc(c.L.BuildFPToSI(c.b, quotient, c.like(x, c.i32), ""), t);
        }
        return remainder ? c.sub(x, c.mul(q, divisor)) : q;
    }
    Val unsafe = zero;
    if (s) {
        const Val lowest = c.c(t, std::numeric_limits<std::int64_t>::min() >> (64 - bits));
        unsafe = c.or_(unsafe, c.and_(c.icmp(LLVMIntEQ, x, lowest), c.icmp(LLVMIntEQ, y, c.ones(t))));
    }
    const Val divisor = c.select(unsafe, c.c(t, 1), y);
    if (remainder) return s ? c.L.BuildSRem(c.b, x, divisor, "") : c.L.BuildURem(c.b, x, divisor, "");
    return s ? c.L.BuildSDiv(c.b, x, divisor, "") : c.L.BuildUDiv(c.b, x, divisor, "");
}

Val KernelEmitter::apply_integer(Op op, ScalarType type, Val x, Val y, Val z) {
    const Type t = c.L.TypeOf(x);
    const bool s = is_signed_integer(type);
    switch (op) {
        case Op::Neg: return c.sub(c.zero(t), x);
        case Op::Abs: return s ? c.select(c.icmp(LLVMIntSLT, x, c.zero(t)), c.sub(c.zero(t), x), x) : x;
        case Op::Sign: {
            const Val positive = c.zext(c.icmp(LLVMIntNE, x, c.zero(t)), t);
            return s ? c.or_(c.ashr(x, c.c(t, bits_of(type) - 1)), positive) : positive;
        }
        case Op::Add: return c.add(x, y);
        case Op::Sub: return c.sub(x, y);
        case Op::Mul: return c.mul(x, y);
        case Op::Div: return divide(false, type, x, y);
        case Op::Rem: return divide(true, type, x, y);
        case Op::Min: return c.select(c.icmp(s ? LLVMIntSLT : LLVMIntULT, x, y), x, y);
        case Op::Max: return c.select(c.icmp(s ? LLVMIntSGT : LLVMIntUGT, x, y), x, y);
        case Op::Fma: return c.add(c.mul(x, y), z);
        case Op::And: return c.and_(x, y);
        case Op::Or: return c.or_(x, y);
        case Op::Xor: return c.xor_(x, y);
        case Op::Not: return c.not_(x);
        case Op::Shl: return c.shl(x, c.and_(y, c.c(t, bits_of(type) - 1)));
        case Op::Shr: {
            const Val amount = c.and_(y, c.c(t, bits_of(type) - 1));
            return s ? c.ashr(x, amount) : c.lshr(x, amount);
        }
        case Op::PopCount: return c.intrinsic("llvm.ctpop", {t}, {x});
        case Op::Clz: return c.intrinsic("llvm.ctlz", {t}, {x, c.L.ConstInt(c.i1, 0, 0)});
        case Op::Ctz: return c.intrinsic("llvm.cttz", {t}, {x, c.L.ConstInt(c.i1, 0, 0)});
        case Op::ReverseBits: return c.intrinsic("llvm.bitreverse", {t}, {x});
        default: break;
    }
    throw InternalError(cat("no integer code for ", ir::mnemonic(op)), cat("kernel ", fn_.name),
                        "report this as a bug");
}

Val KernelEmitter::apply_float(Op op, ScalarType type, Val x, Val y, Val z) {
    if (type == ScalarType::F16 && op != Op::Neg && op != Op::Abs) {
        // Each f16 operation computes in f32 and rounds.
        const auto widen = [&](Val v) { return v == nullptr ? v : convert(v, type, ScalarType::F32); };
        return convert(apply_float(op, ScalarType::F32, widen(x), widen(y), widen(z)), ScalarType::F32, type);
    }
    const Type t = c.L.TypeOf(x);
    switch (op) {
        case Op::Neg: return c.fneg(x);
        case Op::Abs: return c.intrinsic("llvm.fabs", {t}, {x});
        case Op::Sign: {
            // NaN and zeros are returned unchanged.
            const Val one = c.intrinsic("llvm.copysign", {t}, {c.cf(t, 1.0), x});
            return c.select(c.fcmp(LLVMRealONE, x, c.zero(t)), one, x);
        }
        case Op::Add: return c.fadd(x, y);
        case Op::Sub: return c.fsub(x, y);
        case Op::Mul: return c.fmul(x, y);
        case Op::Div: return c.fdiv(x, y);
        // x86's min and max return the second operand for NaN, so the first operand is tested.
        case Op::Min:
            return c.select(c.fcmp(LLVMRealUNO, x, x), y, c.select(c.fcmp(LLVMRealOLT, y, x), y, x));
        case Op::Max:
            return c.select(c.fcmp(LLVMRealUNO, x, x), y, c.select(c.fcmp(LLVMRealOGT, y, x), y, x));
        case Op::Fma: return c.fma(x, y, z);
        case Op::Floor: return c.intrinsic("llvm.floor", {t}, {x});
        case Op::Ceil: return c.intrinsic("llvm.ceil", {t}, {x});
        case Op::Trunc: return c.intrinsic("llvm.trunc", {t}, {x});
        case Op::RoundEven: return c.intrinsic("llvm.rint", {t}, {x});
        case Op::Round: {
            // The largest number below one half, so 0.49999997 does not round up.
            const double half = type == ScalarType::F32 ? 0x1.fffffep-2 : 0x1.fffffffffffffp-2;
            const Val push = c.intrinsic("llvm.copysign", {t}, {c.cf(t, half), x});
            return c.intrinsic("llvm.trunc", {t}, {c.fadd(x, push)});
        }
        case Op::Sqrt: return c.intrinsic("llvm.sqrt", {t}, {x});
        default: return vector_math(c, op, type, x, y);
    }
}

}  // namespace volley::codegen::llvm
