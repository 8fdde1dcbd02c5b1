// Pure operations: constants, ids, arithmetic, conversions, composites.
#include "codegen/clike/kernel_emitter.hpp"
#include "core/text.hpp"

#include <algorithm>

namespace volley::codegen::clike {

using ir::Form;
using ir::NodeId;
using ir::Op;

void KernelEmitter::emit_node(NodeId id) {
    const ir::Node& node = fn_[id];
    site_.node = id;
    // Pending operands used only here become part of this operation's text and need no statement of their
    // own.
    const auto args = fn_.args(id);
    std::erase_if(pending_, [&](NodeId waiting) {
        return uses_[waiting] == 1 && std::find(args.begin(), args.end(), waiting) != args.end();
    });
    switch (ir::form(node.op)) {
        case Form::Constant: define(id, s_.literal(node.type.scalar(), node.imm)); return;
        case Form::Zero: emit_zero(id); return;
        case Form::Parameter: emit_param(id); return;
        case Form::Root: emit_root(id); return;
        case Form::Builtin: emit_builtin(id); return;
        case Form::Unary:
        case Form::Binary:
        case Form::Ternary:
        case Form::Shift:
        case Form::Compare:
        case Form::Classify:
        case Form::BitCount: emit_elementwise(id); return;
        case Form::Select: emit_select(id); return;
        case Form::Convert: emit_convert(id); return;
        case Form::Bitcast: emit_bitcast(id); return;
        case Form::Construct: emit_construct(id); return;
        case Form::Extract: emit_extract(id); return;
        case Form::BufferSize: {
            Expr e = named(cat(parameters_[fn_[args[0]].imm], "_elements"));
            define(id,
                   node.type.size() == 4 ? s_.convert(ScalarType::U64, ScalarType::U32, e) : std::move(e));
            return;
        }
        case Form::Load: emit_load(id); return;
        case Form::Store: emit_store(id); return;
        case Form::Atomic:
        case Form::AtomicCas: emit_atomic(id); return;
        case Form::SubgroupFold: emit_fold(id); return;
        case Form::SubgroupLane: emit_lane(id); return;
        case Form::SubgroupVote:
        case Form::Ballot:
        case Form::Elect: emit_vote(id); return;
        case Form::Sync: emit_sync(id); return;
        case Form::If: emit_if(id); return;
        case Form::For: emit_for(id); return;
        case Form::Loop: emit_loop(id); return;
        case Form::Jump: emit_jump(id); return;
        case Form::Print: emit_print(id); return;
    }
}

void KernelEmitter::emit_zero(NodeId id) {
    Exprs list;
    for (const ScalarType s : ir::leaf_scalars(fn_.type(id))) list.push_back(s_.literal(s, 0));
    define(id, std::move(list));
}

void KernelEmitter::emit_builtin(NodeId id) {
    const ir::Dim3& local = variant_.local;
    const std::uint32_t invocations = local[0] * local[1] * local[2];
    const auto three = [&](std::string_view prefix) {
        return Exprs{named(cat(prefix, "_x")), named(cat(prefix, "_y")), named(cat(prefix, "_z"))};
    };
    const bool alone = features_.subgroup_size == 1;
    switch (fn_[id].op) {
        case Op::GlobalId: define(id, three("global_id")); return;
        case Op::LocalId: define(id, three("local_id")); return;
        case Op::GroupId: define(id, three("group_id")); return;
        case Op::GlobalSize: define(id, three("global_size")); return;
        case Op::LocalSize:
            define(id, Exprs{s_.number(local[0]), s_.number(local[1]), s_.number(local[2])});
            return;
        case Op::GroupCount: define(id, three("group_count")); return;
        case Op::LocalIndex: define(id, named("local_index")); return;
        case Op::SubgroupSize: define(id, s_.number(features_.subgroup_size)); return;
        case Op::SubgroupCount:
            define(id, s_.number((invocations - 1) / features_.subgroup_size + 1));
            return;
        case Op::SubgroupId: define(id, named(alone ? "local_index" : "subgroup_id")); return;
        default: define(id, alone ? s_.number(0) : named("subgroup_lane")); return;
    }
}

void KernelEmitter::emit_param(NodeId id) {
    const auto p = static_cast<std::uint32_t>(fn_[id].imm);
    const DType type = fn_.type(id);
    if (!type.is_scalar()) {
        define(id, uses_[id] == 0 ? Exprs() : struct_of(p));
        return;
    }
    Expr e = named(parameters_[p]);
    define(id, type.scalar() == ScalarType::Bool ? s_.from_bits(ScalarType::Bool, e) : std::move(e));
}

void KernelEmitter::emit_elementwise(NodeId id) {
    const Op op = fn_[id].op;
    const auto args = fn_.args(id);
    const ScalarType s = fn_.type(args[0]).scalar();
    const bool loose = op == Op::Fma && fn_[id].imm == 1;
    Exprs list;
    for (std::size_t k = 0; k < leaf_count(args[0]); ++k) {
        std::array<Expr, 3> x;
        for (std::size_t a = 0; a < args.size(); ++a) x[a] = use(args[a], k);
        list.push_back(s_.apply(op, s, x[0], x[1], x[2], loose));
    }
    define(id, std::move(list));
}

void KernelEmitter::emit_select(NodeId id) {
    const auto args = fn_.args(id);
    const std::size_t count = leaf_count(args[1]);
    const bool one_condition = fn_.type(args[0]).is_scalar();
    Expr condition = use(args[0]);
    if (one_condition && count > 1) condition = atom(ScalarType::Bool, std::move(condition));
    Exprs list;
    for (std::size_t k = 0; k < count; ++k) {
        const Expr c = one_condition ? condition : use(args[0], k);
        const Expr a = use(args[1], k);
        const Expr b = use(args[2], k);
        Expr e = choice(c, a, b);
        for (const Expr* operand : {&c, &a, &b}) add_reads(e, *operand);
        list.push_back(std::move(e));
    }
    define(id, std::move(list));
}

void KernelEmitter::emit_convert(NodeId id) {
    const NodeId operand = fn_.arg(id, 0);
    const ScalarType from = fn_.type(operand).scalar();
    const ScalarType to = fn_.type(id).scalar();
    Exprs list;
    for (std::size_t k = 0; k < leaf_count(operand); ++k)
        list.push_back(s_.convert(from, to, use(operand, k)));
    define(id, std::move(list));
}

// If scalar sizes differ, narrow scalars are joined or split by shifts.
void KernelEmitter::emit_bitcast(NodeId id) {
    const NodeId operand = fn_.arg(id, 0);
    const ScalarType from = fn_.type(operand).scalar();
    const ScalarType to = fn_.type(id).scalar();
    const std::size_t from_size = size_of(from);
    const std::size_t to_size = size_of(to);
    const std::size_t count = static_cast<std::size_t>(fn_.type(id).leaf_count());
    const ScalarType bits = ScalarCode::unsigned_of(to);
    Exprs list;
    if (from_size == to_size) {
        for (std::size_t k = 0; k < count; ++k)
            list.push_back(s_.from_bits(to, s_.to_bits(from, use(operand, k))));
    } else if (from_size < to_size) {
        const std::size_t parts = to_size / from_size;
        for (std::size_t k = 0; k < count; ++k) {
            Expr joined;
            for (std::size_t j = 0; j < parts; ++j) {
                const Expr part = use(operand, k * parts + j);
                Expr wide =
                    cast(d_.type(to_size == 8 ? ScalarType::U64 : ScalarType::U32), s_.to_bits(from, part));
                if (j > 0) wide = binary(wide, "<<", expr(cat(8 * from_size * j)));
                Expr sum = j == 0 ? std::move(wide) : binary(joined, "|", wide);
                add_reads(sum, joined);
                add_reads(sum, part);
                joined = std::move(sum);
            }
            Expr whole = to_size < 4 ? cast(d_.type(bits), joined) : joined;
            add_reads(whole, joined);
            list.push_back(s_.from_bits(to, whole));
        }
    } else {
        const std::size_t parts = from_size / to_size;
        for (std::size_t k = 0; k < leaf_count(operand); ++k) {
            const Expr whole = atom(ScalarCode::unsigned_of(from), s_.to_bits(from, use(operand, k)));
            for (std::size_t j = 0; j < parts; ++j) {
                const Expr moved = j == 0 ? whole : binary(whole, ">>", expr(cat(8 * to_size * j)));
                list.push_back(s_.from_bits(to, cast(d_.type(bits), moved)));
            }
        }
    }
    define(id, std::move(list));
}

void KernelEmitter::emit_construct(NodeId id) {
    Exprs list;
    for (const NodeId part : fn_.args(id)) {
        for (std::size_t k = 0; k < leaf_count(part); ++k) list.push_back(use(part, k));
    }
    define(id, std::move(list));
}

void KernelEmitter::emit_extract(NodeId id) {
    const NodeId composite = fn_.arg(id, 0);
    const auto path = fn_.args(id).subspan(1);
    if (spilled_[composite]) {
        Exprs list = load_place(element_path(fn_, composite, path));
        for (Expr& e : list) std::erase(e.reads, composite);  // a spilled value is written once
        define(id, std::move(list));
        return;
    }
    const Part part = part_at(fn_.type(composite), path);
    Exprs list;
    for (std::size_t k = 0; k < part.type.leaf_count(); ++k) list.push_back(use(composite, part.first + k));
    define(id, std::move(list));
}

}  // namespace volley::codegen::clike
