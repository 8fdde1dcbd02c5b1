// Evaluation, conversions, composites and builtins. Arithmetic identities are in simplify_arithmetic.cpp.
#include "passes/simplify.hpp"

#include "ir/typing.hpp"
#include "passes/eval.hpp"
#include "passes/rewrite.hpp"

#include <algorithm>

namespace volley::passes {

using ir::Form;
using ir::is_elementwise;
using ir::NodeId;
using ir::Op;

namespace {

// Returns whether `to` represents every value of `from` exactly.
bool is_exact(ScalarType from, ScalarType to) {
    if (from == to || from == ScalarType::Bool) return true;
    if (to == ScalarType::Bool) return false;
    if (is_float(from)) return is_float(to) && bits_of(to) > bits_of(from);
    if (is_float(to)) {
        const unsigned precision = to == ScalarType::F16 ? 11 : to == ScalarType::F32 ? 24 : 53;
        return bits_of(from) - (is_signed_integer(from) ? 1 : 0) <= precision;
    }
    if (bits_of(to) <= bits_of(from)) return false;
    return is_unsigned_integer(from) || is_signed_integer(to);
}

// Returns whether converting a to c directly equals converting a to b and then to c.
bool is_direct(ScalarType a, ScalarType b, ScalarType c) {
    if (is_exact(a, b)) {
        // Integers wrap and floats saturate, so a conversion through floats differs if c does not represent
        // all values of a.
        return !(is_integer(a) && is_float(b) && is_integer(c)) || is_exact(a, c);
    }
    return is_integer(a) && is_integer(b) && is_integer(c) && bits_of(c) <= bits_of(b);
}

}  // namespace

NodeId Simplifier::simplify(NodeId id) {
    // Each rewrite simplifies the node further; the limit only guards against a cycle of rules.
    for (int round = 0; round < 8; ++round) {
        changed_ = false;
        const NodeId result = step(id);
        if (result != id || !changed_) return result;
    }
    return id;
}

NodeId Simplifier::step(NodeId id) {
    switch (ir::form(fn_[id].op)) {
        case Form::Zero:
            if (!fn_[id].type.is_scalar()) return id;
            fn_[id].op = Op::Const;
            return id;
        case Form::Builtin: return builtin(id);
        case Form::Construct: return construction(id);
        case Form::Extract: return extraction(id);
        case Form::Select: return choice(id);
        case Form::Convert: return conversion(id);
        case Form::Bitcast: return bit_conversion(id);
        case Form::Unary:
        case Form::Binary:
        case Form::Compare:
        case Form::Shift:
        case Form::Ternary:
        case Form::Classify:
        case Form::BitCount: break;
        default: return id;
    }
    if (!is_elementwise(fn_.type(fn_.arg(id, 0)))) return id;
    const NodeId folded = evaluate_constants(id);
    if (folded != id || changed_) return folded;
    const DType operand = fn_.type(fn_.arg(id, 0));
    const NodeId common = common_identities(id);
    if (common != id || changed_) return common;
    if (ir::form(fn_[id].op) == Form::Compare) return comparison(id);
    if (operand.is_bool()) return boolean_identities(id);
    return operand.is_float() ? float_identities(id) : integer_identities(id);
}

bool Simplifier::leaves(NodeId id, Leaves& out) const {
    const ir::Node& node = fn_[id];
    if (!is_elementwise(node.type)) return false;
    out.count = static_cast<unsigned>(node.type.count());
    if (node.op == Op::Const) {
        out.bits[0] = node.imm;
        return true;
    }
    if (node.op == Op::Zero) {
        out.bits = {};
        return true;
    }
    if (node.op != Op::Construct) return false;
    for (unsigned i = 0; i < out.count; ++i) {
        const ir::Node& part = fn_[fn_.arg(id, i)];
        if (part.op != Op::Const) return false;
        out.bits[i] = part.imm;
    }
    return true;
}

std::optional<std::uint64_t> Simplifier::splat(NodeId id) const {
    Leaves value;
    if (!leaves(id, value)) return std::nullopt;
    for (unsigned i = 1; i < value.count; ++i) {
        if (value.bits[i] != value.bits[0]) return std::nullopt;
    }
    return value.bits[0];
}

NodeId Simplifier::emit(Op op, DType type, std::initializer_list<NodeId> args, NodeId like) {
    const NodeId id = fn_.add(op, type, std::span(args.begin(), args.size()), 0, fn_[like].loc);
    out_->push_back(id);
    return id;
}

NodeId Simplifier::emit_constant(ScalarType type, std::uint64_t bits, NodeId like) {
    const NodeId id = emit(Op::Const, type, {}, like);
    fn_[id].imm = bits & mask_of(type);
    return id;
}

NodeId Simplifier::emit_splat(DType type, std::uint64_t bits, NodeId like) {
    const NodeId part = emit_constant(type.scalar(), bits, like);
    if (type.is_scalar()) return part;
    const std::array<NodeId, 4> parts = {part, part, part, part};
    const NodeId id = fn_.add(Op::Construct, type, std::span(parts).first(type.count()), 0, fn_[like].loc);
    out_->push_back(id);
    return id;
}

NodeId Simplifier::become(NodeId id, Op op, std::initializer_list<NodeId> args) {
    fn_[id].op = op;
    set_args(fn_, id, std::span(args.begin(), args.size()));
    changed_ = true;
    return id;
}

NodeId Simplifier::become_constant(NodeId id, const Leaves& value) {
    const DType type = fn_.type(id);
    if (type.is_scalar()) {
        become(id, Op::Const, {});
        fn_[id].imm = value.bits[0] & mask_of(type.scalar());
        return id;
    }
    std::array<NodeId, 4> parts = {};
    bool all_zero = true;
    for (unsigned i = 0; i < value.count; ++i) all_zero = all_zero && value.bits[i] == 0;
    if (all_zero) return become(id, Op::Zero, {});
    for (unsigned i = 0; i < value.count; ++i) parts[i] = emit_constant(type.scalar(), value.bits[i], id);
    fn_[id].op = Op::Construct;
    set_args(fn_, id, std::span(parts).first(value.count));
    changed_ = true;
    return id;
}

NodeId Simplifier::become_splat(NodeId id, std::uint64_t bits) {
    Leaves value;
    value.count = static_cast<unsigned>(fn_.type(id).count());
    value.bits.fill(bits);
    return become_constant(id, value);
}

NodeId Simplifier::evaluate_constants(NodeId id) {
    const unsigned operands = fn_[id].count;
    if (operands == 0 || operands > 3) return id;
    std::array<Leaves, 3> in;
    for (unsigned k = 0; k < operands; ++k) {
        if (!leaves(fn_.arg(id, k), in[k])) return id;
    }
    const ScalarType result = fn_.type(id).scalar();
    // The operand type of a Select is that of its choices; a scalar condition selects all components.
    const ScalarType operand = fn_.type(fn_.arg(id, operands - 1)).scalar();
    Leaves out;
    out.count = static_cast<unsigned>(fn_.type(id).count());
    for (unsigned i = 0; i < out.count; ++i) {
        std::array<std::uint64_t, 3> bits = {};
        for (unsigned k = 0; k < operands; ++k) bits[k] = in[k].bits[in[k].count == 1 ? 0 : i];
        const auto value = evaluate(fn_[id].op, result, operand, std::span(bits).first(operands));
        if (!value) return id;
        out.bits[i] = *value;
    }
    return become_constant(id, out);
}

NodeId Simplifier::choice(NodeId id) {
    const NodeId condition = fn_.arg(id, 0);
    const NodeId yes = fn_.arg(id, 1);
    const NodeId no = fn_.arg(id, 2);
    if (yes == no) return yes;
    if (const auto known = splat(condition)) return *known != 0 ? yes : no;
    if (is_elementwise(fn_.type(id))) {
        const NodeId folded = evaluate_constants(id);
        if (changed_) return folded;
    }
    if (is_op(condition, Op::Not)) return become(id, Op::Select, {fn_.arg(condition, 0), no, yes});
    if (fn_.type(id) == fn_.type(condition)) {  // bool selected by a bool
        const auto a = splat(yes);
        const auto b = splat(no);
        if (a && b && *a == *b) return yes;  // two nodes with the same constant
        if (a && b) return *a != 0 ? condition : become(id, Op::Not, {condition});
        if (a) {
            if (*a != 0) return become(id, Op::Or, {condition, no});
        } else if (b && *b == 0) {
            return become(id, Op::And, {condition, yes});
        }
    }
    return id;
}

NodeId Simplifier::conversion(NodeId id) {
    const NodeId from = fn_.arg(id, 0);
    if (fn_.type(from) == fn_.type(id)) return from;
    if (is_elementwise(fn_.type(id))) {
        const NodeId folded = evaluate_constants(id);
        if (changed_) return folded;
    }
    if (is_op(from, Op::Zero)) return become(id, Op::Zero, {});
    if (is_op(from, Op::Convert)) {
        const NodeId source = fn_.arg(from, 0);
        if (is_direct(fn_.type(source).scalar(), fn_.type(from).scalar(), fn_.type(id).scalar())) {
            return become(id, Op::Convert, {source});
        }
    }
    return id;
}

NodeId Simplifier::bit_conversion(NodeId id) {
    const NodeId from = fn_.arg(id, 0);
    if (fn_.type(from) == fn_.type(id)) return from;
    if (is_op(from, Op::Bitcast)) return become(id, Op::Bitcast, {fn_.arg(from, 0)});
    if (is_op(from, Op::Zero)) return become(id, Op::Zero, {});
    // Components keep their bits only if they keep their size.
    const bool same_parts = is_elementwise(fn_.type(from)) && is_elementwise(fn_.type(id)) &&
                            fn_.type(from).count() == fn_.type(id).count();
    return same_parts ? evaluate_constants(id) : id;
}

NodeId Simplifier::extraction(NodeId id) {
    const NodeId whole = fn_.arg(id, 0);
    if (is_op(whole, Op::Zero)) return become(id, Op::Zero, {});
    if (is_op(whole, Op::Extract)) {
        std::vector<NodeId> args(fn_.args(whole).begin(), fn_.args(whole).end());
        args.insert(args.end(), fn_.args(id).begin() + 1, fn_.args(id).end());
        set_args(fn_, id, args);
        changed_ = true;
        return id;
    }
    const std::optional<std::int64_t> part = fn_.constant_int(fn_.arg(id, 1));
    const auto in_range = [&](NodeId composite) {
        return part && *part >= 0 && static_cast<std::uint64_t>(*part) < fn_.type(composite).count();
    };
    if (is_op(whole, Op::Construct) && in_range(whole)) {
        const NodeId chosen = fn_.arg(whole, static_cast<unsigned>(*part));
        if (fn_[id].count == 2) return chosen;
        std::vector<NodeId> args(fn_.args(id).begin() + 1, fn_.args(id).end());
        args[0] = chosen;
        set_args(fn_, id, args);
        changed_ = true;
        return id;
    }
    if (fn_.local_size && in_range(whole) && (*fn_.local_size)[static_cast<std::size_t>(*part) % 3] == 1) {
        if (is_op(whole, Op::LocalId)) return become_splat(id, 0);
        if (is_op(whole, Op::GlobalId)) {
            const NodeId group = emit(Op::GroupId, fn_.type(whole), {}, id);
            return become(id, Op::Extract, {group, fn_.arg(id, 1)});
        }
    }
    return id;
}

NodeId Simplifier::construction(NodeId id) {
    const std::span<const NodeId> parts = fn_.args(id);
    if (parts.empty()) return id;
    const bool all_zero = std::all_of(parts.begin(), parts.end(), [&](NodeId part) {
        return is_op(part, Op::Zero) || (is_op(part, Op::Const) && fn_[part].imm == 0);
    });
    if (all_zero) return become(id, Op::Zero, {});

    // A construct of all parts of one composite, in order, is that composite.
    if (!is_op(parts[0], Op::Extract)) return id;
    const std::span<const NodeId> first = fn_.args(parts[0]);
    const auto prefix = first.first(first.size() - 1);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (!is_op(parts[i], Op::Extract)) return id;
        const std::span<const NodeId> path = fn_.args(parts[i]);
        if (path.size() != first.size() || !std::equal(prefix.begin(), prefix.end(), path.begin())) return id;
        const auto last = fn_.constant_int(path.back());
        if (!last || *last != static_cast<std::int64_t>(i)) return id;
    }
    if (prefix.size() == 1) return fn_.type(prefix[0]) == fn_.type(id) ? prefix[0] : id;
    if (ir::access_type(fn_, Op::Extract, prefix) != fn_.type(id)) return id;
    fn_[id].op = Op::Extract;
    set_args(fn_, id, prefix);
    changed_ = true;
    return id;
}

NodeId Simplifier::builtin(NodeId id) {
    if (!fn_.local_size) return id;
    const ir::Dim3 size = *fn_.local_size;
    if (is_op(id, Op::LocalSize)) return become_constant(id, {3, {size[0], size[1], size[2], 0}});
    if (is_op(id, Op::LocalIndex) && size[1] == 1 && size[2] == 1) {
        const NodeId local = emit(Op::LocalId, DType::vector(ScalarType::U32, 3), {}, id);
        return become(id, Op::Extract, {local, emit_constant(ScalarType::U32, 0, id)});
    }
    return id;
}

}  // namespace volley::passes
