// Subgroup operations. If each invocation is its own subgroup they reduce to the single lane's value;
// otherwise the dialect has functions for 32 and 64-bit scalars, and other scalars are converted to those.
#include "codegen/api/identity.hpp"
#include "codegen/clike/kernel_emitter.hpp"
#include "core/text.hpp"

namespace volley::codegen::clike {

using ir::NodeId;
using ir::Op;

namespace {

/// Returns the type that carries a scalar through subgroup functions.
ScalarType carrier(ScalarType s) {
    switch (s) {
        case ScalarType::Bool:
        case ScalarType::U8:
        case ScalarType::U16: return ScalarType::U32;
        case ScalarType::I8:
        case ScalarType::I16: return ScalarType::I32;
        case ScalarType::F16: return ScalarType::F32;
        default: return s;
    }
}

class ScalarCombine final : public Dialect::Combine {
public:
    ScalarCombine(ScalarCode& code, Op op, ScalarType s) : code_(code), op_(op), s_(s) {}
    [[nodiscard]] std::string operator()(std::string_view a, std::string_view b) const override {
        return code_.apply(op_, s_, named(std::string(a)), named(std::string(b))).text;
    }

private:
    ScalarCode& code_;
    Op op_;
    ScalarType s_;
};

}  // namespace

Expr KernelEmitter::fold_scalar(const ir::Fold& fold, ScalarType s, const Expr& x) {
    if (s == ScalarType::F64 && !features_.f64)
        site_.refuse("64-bit floats (f64)", "use float, or run the kernel on a device that has f64");
    const ScalarType t = carrier(s);
    constexpr std::string_view kinds[] = {"", "_inclusive", "_exclusive"};
    const std::string name = cat("subgroup", kinds[static_cast<unsigned>(fold.scan)], '_',
                                 ir::mnemonic(fold.combine), '_', name_of(t));
    if (!helpers_.has(name)) {
        const ScalarCombine combine(s_, fold.combine, t);
        const std::string identity = s_.literal(t, identity_bits(fold.combine, t)).text;
        const std::string body = d_.fold_body(fold, t, identity, combine);
        helpers_.define(name, cat(d_.type(t), ' ', name, '(', d_.type(t), " x)"), body);
    }
    // The wide type's identity lies outside the narrow type's range; min and max clamp it back.
    const bool clamps = fold.scan == ir::Scan::Exclusive && s != t && s != ScalarType::F16 &&
                        s != ScalarType::Bool && (fold.combine == Op::Min || fold.combine == Op::Max);
    Expr e = expr(cat(name, '(', s_.convert(s, t, x).text, ')'));
    if (clamps) e = s_.apply(fold.combine, t, e, s_.literal(t, identity_bits(fold.combine, s)));
    if (s == ScalarType::Bool && fold.combine == Op::And)
        return binary(binary(e, "&", expr("1u")), "!=", expr("0u"));
    return s_.convert(t, s, e);
}

void KernelEmitter::emit_fold(NodeId id) {
    const ir::Fold fold = ir::fold_of(fn_[id].op);
    const NodeId operand = fn_.arg(id, 0);
    const ScalarType s = fn_.type(operand).scalar();
    Exprs list;
    for (std::size_t k = 0; k < leaf_count(operand); ++k) {
        if (features_.subgroup_size > 1)
            list.push_back(fold_scalar(fold, s, use(operand, k)));
        else if (fold.scan == ir::Scan::Exclusive)
            list.push_back(s_.literal(s, identity_bits(fold.combine, s)));
        else
            list.push_back(use(operand, k));
    }
    if (features_.subgroup_size == 1) {
        define(id, std::move(list));
        return;
    }
    define_here(id, std::move(list));
}

Expr KernelEmitter::shuffled(ScalarType s, const Expr& x, const Expr& lane) {
    const ScalarType t = s == ScalarType::F16 ? ScalarType::U32 : s_.kept_as(carrier(s));
    const Expr sent = s == ScalarType::F16 ? x : s == t || s_.kept_as(s) == t ? x : s_.convert(s, t, x);
    const Expr got =
        expr(d_.shuffle(t, s == ScalarType::F16 ? cast(d_.type(t), sent).text : sent.text, lane.text));
    if (s == ScalarType::F16) return cast(d_.type(ScalarType::U16), got);
    return s_.kept_as(s) == t ? got : s_.convert(t, s, got);
}

void KernelEmitter::emit_lane(NodeId id) {
    const NodeId operand = fn_.arg(id, 0);
    const ScalarType s = fn_.type(operand).scalar();
    const std::size_t count = leaf_count(operand);
    Exprs list;
    if (features_.subgroup_size == 1) {
        for (std::size_t k = 0; k < count; ++k) list.push_back(use(operand, k));
        define(id, std::move(list));
        return;
    }
    Expr lane = use(fn_.arg(id, 1));
    if (fn_[id].op == Op::SubgroupShuffleXor)
        lane = s_.apply(Op::Xor, ScalarType::U32, named("subgroup_lane"), lane);
    // The result of reading an absent lane is arbitrary, but the device must not be asked for one.
    lane = s_.apply(Op::Min, ScalarType::U32, lane, s_.number(features_.subgroup_size - 1));
    if (count > 1) lane = atom(ScalarType::U32, std::move(lane));
    for (std::size_t k = 0; k < count; ++k) list.push_back(shuffled(s, use(operand, k), lane));
    define_here(id, std::move(list));
}

std::string KernelEmitter::ballot_word(unsigned word) {
    std::string name = cat("ballot_", word);
    helpers_.define(name, cat(d_.type(ScalarType::U32), ' ', name, "(bool vote)"), d_.ballot_body(word));
    return name;
}

void KernelEmitter::emit_vote(NodeId id) {
    const Op op = fn_[id].op;
    const bool alone = features_.subgroup_size == 1;
    const std::uint32_t words = (features_.subgroup_size - 1) / 32 + 1;
    Exprs list;
    if (op == Op::SubgroupElect) {
        list.push_back(alone ? s_.literal(ScalarType::Bool, 1) : expr(std::string(d_.elect()), Level::Equal));
    } else if (op == Op::SubgroupBallot) {
        const Expr vote = alone ? use(fn_.arg(id, 0)) : atom(ScalarType::Bool, use(fn_.arg(id, 0)));
        for (unsigned k = 0; k < 4; ++k) {
            if (k >= words)
                list.push_back(s_.number(0));
            else if (alone)
                list.push_back(s_.convert(ScalarType::Bool, ScalarType::U32, vote));
            else
                list.push_back(expr(cat(ballot_word(k), '(', vote.text, ')')));
        }
    } else if (alone) {
        list.push_back(use(fn_.arg(id, 0)));
    } else {
        // All: no lane votes against.
        const bool all = op == Op::SubgroupAll;
        Expr vote = use(fn_.arg(id, 0));
        if (all) vote = negation(vote);
        vote = atom(ScalarType::Bool, std::move(vote));
        Expr any;
        for (unsigned k = 0; k < words; ++k) {
            const Expr word = expr(cat(ballot_word(k), '(', vote.text, ')'));
            any = k == 0 ? word : binary(any, "|", word);
        }
        list.push_back(binary(any, all ? "==" : "!=", expr("0u")));
    }
    if (alone) {
        define(id, std::move(list));
        return;
    }
    define_here(id, std::move(list));
}

}  // namespace volley::codegen::clike
