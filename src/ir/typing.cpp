// The typing rules. Messages name the operation and the types; the callers (builder, verifier, parser) add
// the kernel and the source line.
#include "ir/typing.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"

namespace volley::ir {
namespace {

std::string list(std::span<const DType> types) {
    if (types.empty()) return "no operands";
    // An ill-formed function may have any number of operands; the list is cut to keep the message readable.
    std::string text;
    for (std::size_t i = 0; i < types.size() && i < 6; ++i) text += cat(i == 0 ? "" : ", ", types[i].name());
    if (types.size() > 6) text += ", ...";
    return text;
}

[[noreturn]] void refuse(Op op, std::span<const DType> operands, std::string_view rule) {
    fail(ErrorCode::IrError, cat("'", mnemonic(op), "' cannot take ", list(operands)), {}, rule);
}

bool is_number(DType t) { return is_elementwise(t) && !t.is_bool(); }
bool is_real(DType t) { return is_elementwise(t) && t.is_float(); }
bool is_whole(DType t) { return is_elementwise(t) && t.is_integer(); }
bool is_bits(DType t) { return is_whole(t) || t.is_bool(); }
bool is_any_number(DType t) { return is_number(t) || t.is_complex() || t.is_matrix(); }

struct OperandRule {
    bool (*accepts)(DType);
    std::string_view text;
};

constexpr OperandRule number_rule = {is_number, "it takes integers and floats, scalars or vectors"};
constexpr OperandRule any_number_rule = {
    is_any_number, "it takes integers and floats: scalars, vectors, complex numbers or matrices"};
constexpr OperandRule real_rule = {is_real, "it takes floats, scalars or vectors: convert the operands"};
constexpr OperandRule whole_rule = {is_whole, "it takes integers, scalars or vectors"};
constexpr OperandRule bits_rule = {is_bits, "it takes integers and bool, scalars or vectors"};
constexpr OperandRule any_rule = {is_elementwise, "it takes scalars and vectors"};

OperandRule elementwise_rule(Op op) {
    switch (op) {
        case Op::Neg:
        case Op::Add:
        case Op::Sub: return any_number_rule;
        case Op::Abs:
        case Op::Sign:
        case Op::Mul:
        case Op::Div:
        case Op::Rem:
        case Op::Min:
        case Op::Max:
        case Op::Fma:
        case Op::Lt:
        case Op::Le:
        case Op::Gt:
        case Op::Ge: return number_rule;
        case Op::And:
        case Op::Or:
        case Op::Xor:
        case Op::Not: return bits_rule;
        case Op::Shl:
        case Op::Shr:
        case Op::PopCount:
        case Op::Clz:
        case Op::Ctz:
        case Op::ReverseBits: return whole_rule;
        case Op::Eq:
        case Op::Ne: return any_rule;
        default: return real_rule;
    }
}

OperandRule fold_rule(Op op) {
    switch (op) {
        case Op::SubgroupAdd:
        case Op::SubgroupInclusiveAdd:
        case Op::SubgroupExclusiveAdd:
            return {[](DType t) { return is_number(t) || t.is_complex(); },
                    "it takes integers and floats: scalars, vectors or complex numbers"};
        case Op::SubgroupAnd:
        case Op::SubgroupOr:
        case Op::SubgroupXor:
        case Op::SubgroupInclusiveAnd:
        case Op::SubgroupInclusiveOr:
        case Op::SubgroupInclusiveXor:
        case Op::SubgroupExclusiveAnd:
        case Op::SubgroupExclusiveOr:
        case Op::SubgroupExclusiveXor: return bits_rule;
        default: return number_rule;
    }
}

void need_count(Op op, std::span<const DType> operands, std::size_t count) {
    if (operands.size() != count) {
        refuse(op, operands, cat("it takes ", count, count == 1 ? " operand" : " operands"));
    }
}

// Checks that all operands have one type that the rule accepts, and returns it.
DType need_same(Op op, std::span<const DType> operands, std::size_t count, const OperandRule& rule) {
    need_count(op, operands, count);
    for (const DType t : operands) {
        if (t != operands[0]) refuse(op, operands, "its operands must have one type: convert one of them");
    }
    if (!rule.accepts(operands[0])) refuse(op, operands, rule.text);
    return operands[0];
}

DType select_type(std::span<const DType> operands) {
    need_count(Op::Select, operands, 3);
    const DType condition = operands[0];
    const DType t = operands[1];
    if (t.is_void() || t != operands[2]) {
        refuse(Op::Select, operands, "both choices must have one type: convert one of them");
    }
    const bool lanes = condition.is_vector() && t.is_vector() && condition.count() == t.count();
    if (!condition.is_bool() || !(condition.is_scalar() || lanes)) {
        refuse(Op::Select, operands,
               "its condition must be a bool, or a vector of bool as wide as the choices");
    }
    return t;
}

DType convert_type(std::span<const DType> operands, DType requested) {
    need_count(Op::Convert, operands, 1);
    const DType from = operands[0];
    const bool same_shape = from.is_numeric() && requested.is_numeric() && from.kind() == requested.kind() &&
                            from.count() == requested.count() && from.rows() == requested.rows();
    if (!same_shape) {
        fail(ErrorCode::IrError, cat("'convert' cannot convert ", from.name(), " to ", requested.name()), {},
             "it changes the component type of a scalar, vector, complex number or matrix and keeps the "
             "shape");
    }
    return requested;
}

DType bitcast_type(std::span<const DType> operands, DType requested) {
    need_count(Op::Bitcast, operands, 1);
    const DType from = operands[0];
    if (!from.is_numeric() || !requested.is_numeric() || from.is_bool() || requested.is_bool() ||
        from.size() != requested.size()) {
        fail(ErrorCode::IrError, cat("'bitcast' cannot convert ", from.name(), " to ", requested.name()), {},
             "both must be numeric types of one size, and neither may be bool");
    }
    return requested;
}

DType construct_type(std::span<const DType> operands, DType requested) {
    if (requested.is_void() || requested.is_scalar()) {
        fail(ErrorCode::IrError, cat("'construct' cannot construct ", requested.name()), {},
             "it constructs vectors, complex numbers, matrices, arrays and structs");
    }
    if (operands.size() != requested.count()) {
        fail(ErrorCode::IrError,
             cat("'construct' of ", requested.name(), " has ", operands.size(), " operands"), {},
             cat("it takes one operand for each of the ", requested.count(), " parts"));
    }
    for (std::size_t i = 0; i < operands.size(); ++i) {
        if (operands[i] != requested.part(i)) {
            fail(ErrorCode::IrError,
                 cat("'construct' of ", requested.name(), " has an operand of type ", operands[i].name(),
                     " for part ", i),
                 {}, cat("that part must be ", requested.part(i).name()));
        }
    }
    return requested;
}

DType size_type(std::span<const DType> operands, DType requested) {
    need_count(Op::BufferSize, operands, 1);
    if (requested.is_void() || requested == ScalarType::U32) return ScalarType::U32;
    if (requested != ScalarType::U64) {
        fail(ErrorCode::IrError, cat("'buffer_size' cannot return ", requested.name()), {},
             "it returns u32 or u64");
    }
    return requested;
}

DType builtin_type(Op op) {
    switch (op) {
        case Op::GlobalId:
        case Op::LocalId:
        case Op::GroupId:
        case Op::GlobalSize:
        case Op::LocalSize:
        case Op::GroupCount: return DType::vector(ScalarType::U32, 3);
        default: return ScalarType::U32;
    }
}

DType declared_type(Op op, std::span<const DType> operands, DType requested) {
    need_count(op, operands, 0);
    if (requested.is_void()) {
        fail(ErrorCode::IrError, cat("'", mnemonic(op), "' has no type"), {}, "declare it with a type");
    }
    if (op == Op::Const && !requested.is_scalar()) {
        fail(ErrorCode::IrError, cat("'const' cannot have the type ", requested.name()), {},
             "constants are scalars: construct composites from scalar constants");
    }
    return requested;
}

DType raw_result_type(Op op, std::span<const DType> operands, DType requested) {
    switch (form(op)) {
        case Form::Constant:
        case Form::Zero:
        case Form::Parameter:
        case Form::Root: return declared_type(op, operands, requested);
        case Form::Builtin: need_count(op, operands, 0); return builtin_type(op);
        case Form::Unary:
        case Form::BitCount: return need_same(op, operands, 1, elementwise_rule(op));
        case Form::Binary:
        case Form::Shift: return need_same(op, operands, 2, elementwise_rule(op));
        case Form::Ternary: return need_same(op, operands, 3, elementwise_rule(op));
        case Form::Compare:
            return need_same(op, operands, 2, elementwise_rule(op)).with_scalar(ScalarType::Bool);
        case Form::Classify: return need_same(op, operands, 1, real_rule).with_scalar(ScalarType::Bool);
        case Form::Select: return select_type(operands);
        case Form::Convert: return convert_type(operands, requested);
        case Form::Bitcast: return bitcast_type(operands, requested);
        case Form::Construct: return construct_type(operands, requested);
        case Form::BufferSize: return size_type(operands, requested);
        case Form::SubgroupFold: return need_same(op, operands, 1, fold_rule(op));
        case Form::SubgroupLane:
            need_count(op, operands, 2);
            if (!(is_elementwise(operands[0]) || operands[0].is_complex()) ||
                operands[1] != ScalarType::U32) {
                refuse(op, operands, "it takes a scalar, vector or complex number and a u32");
            }
            return operands[0];
        case Form::SubgroupVote:
        case Form::Ballot:
            need_count(op, operands, 1);
            if (operands[0] != ScalarType::Bool) refuse(op, operands, "it takes a scalar bool");
            if (op == Op::SubgroupBallot) return DType::vector(ScalarType::U32, 4);
            return ScalarType::Bool;
        case Form::Elect: need_count(op, operands, 0); return ScalarType::Bool;
        case Form::Sync:
        case Form::Loop:
        case Form::Jump: need_count(op, operands, 0); return {};
        case Form::If:
            need_count(op, operands, 1);
            if (operands[0] != ScalarType::Bool) refuse(op, operands, "its condition must be a scalar bool");
            return {};
        case Form::For:
            return need_same(op, operands, 3,
                             {[](DType t) { return t.is_scalar() && t.is_integer(); },
                              "its begin, end and step must be integer scalars of one type"});
        case Form::Print:
            for (const DType t : operands) {
                if (!is_elementwise(t) && !t.is_complex()) {
                    refuse(op, operands, "it prints scalars, vectors and complex numbers: print the parts");
                }
            }
            return {};
        case Form::Extract:
        case Form::Load:
        case Form::Store:
        case Form::Atomic:
        case Form::AtomicCas: break;
    }
    fail_internal(cat("'", mnemonic(op), "' was typed without its path"), "ir::result_type");
}

void check_atomic(Op op, DType t) {
    const bool sized = t.is_scalar() && t.size() >= 4 && (t.is_integer() || t.is_float());
    if (!sized) {
        fail(ErrorCode::IrError, cat("'", mnemonic(op), "' cannot act on ", t.name()), {},
             "atomics act on scalars: 32- and 64-bit integers, f32 and f64");
    }
    const bool bits = op == Op::AtomicAnd || op == Op::AtomicOr || op == Op::AtomicXor;
    if (bits && !t.is_integer()) {
        fail(ErrorCode::IrError, cat("'", mnemonic(op), "' cannot act on ", t.name()), {},
             "it acts on integers");
    }
}

void check_root(const Function& fn, Op op, NodeId root) {
    const Node& node = fn[root];
    if (form(node.op) != Form::Root) {
        fail(ErrorCode::IrError, cat("'", mnemonic(op), "' accesses the value of '", mnemonic(node.op), "'"),
             {}, "its first operand must be a buffer, shared or var");
    }
    const bool atomic = form(op) == Form::Atomic || form(op) == Form::AtomicCas;
    if (atomic && node.op == Op::Var) {
        fail(ErrorCode::IrError, cat("'", mnemonic(op), "' cannot act on a variable"), {},
             "atomics act on buffers and shared memory: load and store a variable");
    }
    const bool read_only =
        node.op == Op::Buffer && node.imm < fn.params.size() && fn.params[node.imm].read_only;
    if (read_only && op != Op::Load) {
        fail(ErrorCode::IrError,
             cat("'", mnemonic(op), "' would write to the read-only buffer '", fn.params[node.imm].name, "'"),
             {}, "declare the parameter as Buff<T> instead of Buff<const T>");
    }
}

DType follow_step(const Function& fn, Op op, DType at, NodeId step) {
    if (at.is_scalar() || at.is_void()) {
        fail(ErrorCode::IrError, cat("the path of '", mnemonic(op), "' continues past ", at.name()), {},
             "a path ends at a scalar");
    }
    const DType index = fn.type(step);
    if (!index.is_scalar() || !index.is_integer()) {
        fail(ErrorCode::IrError, cat("'", mnemonic(op), "' is indexed by ", index.name()), {},
             "the steps of a path must be integer scalars");
    }
    if (at.is_struct()) {
        const std::optional<std::int64_t> field = fn.constant_int(step);
        if (!field || *field < 0 || static_cast<std::uint64_t>(*field) >= at.count()) {
            fail(ErrorCode::IrError,
                 field ? cat("'", mnemonic(op), "' selects field ", *field, " of ", at.name())
                       : cat("'", mnemonic(op), "' selects a field of ", at.name(), " by a computed number"),
                 {}, cat("a field number must be a constant below ", at.count()));
        }
        return at.part(static_cast<std::uint64_t>(*field));
    }
    if (at.count() == 0) {
        fail(ErrorCode::IrError, cat("'", mnemonic(op), "' selects an element of ", at.name()), {},
             "the array has no elements");
    }
    // A constant past the end is legal and its value is undefined: constant folding creates such steps in
    // branches that never run.
    return at.part(0);
}

}  // namespace

DType result_type(Op op, std::span<const DType> operands, DType requested) {
    if (static_cast<unsigned>(op) >= op_count) {
        fail(ErrorCode::IrError, cat("there is no operation ", static_cast<unsigned>(op)), {},
             "use the enumerators of ir::Op");
    }
    const DType type = raw_result_type(op, operands, requested);
    if (!requested.is_void() && requested != type) {
        fail(ErrorCode::IrError,
             cat("'", mnemonic(op), "' of ", list(operands), " returns ", type.name(), ", but ",
                 requested.name(), " is requested"),
             {}, "convert the result");
    }
    return type;
}

DType access_type(const Function& fn, Op op, std::span<const NodeId> operands) {
    const unsigned start = path_start(op);
    if (start == 0) fail_internal(cat("'", mnemonic(op), "' is not an access"), "ir::access_type");
    if (operands.size() < start) {
        fail(ErrorCode::IrError, cat("'", mnemonic(op), "' has ", operands.size(), " operands"), {},
             cat("it takes ", start, " operands and a path"));
    }
    for (const NodeId id : operands) {
        if (id >= fn.nodes.size()) {
            fail(ErrorCode::IrError,
                 cat("'", mnemonic(op), "' uses the value ", id, ", which does not exist"), {},
                 "use ids that the builder returned");
        }
    }

    DType at = fn.type(operands[0]);
    std::span<const NodeId> path = operands.subspan(start);
    if (op == Op::Extract) {
        if (form(fn[operands[0]].op) == Form::Root) {
            fail(ErrorCode::IrError, "the first operand of 'extract' is a buffer, shared or var", {},
                 "load from it");
        }
        if (path.empty())
            fail(ErrorCode::IrError, "'extract' has no path", {}, "pass the number of the part");
    } else {
        check_root(fn, op, operands[0]);
        if (fn[operands[0]].op == Op::Buffer) {
            if (path.empty()) {
                fail(ErrorCode::IrError, cat("'", mnemonic(op), "' has no element index for its buffer"), {},
                     "pass the index of the element as the first step");
            }
            const DType index = fn.type(path[0]);
            if (!index.is_scalar() || !index.is_integer()) {
                fail(ErrorCode::IrError, cat("'", mnemonic(op), "' is indexed by ", index.name()), {},
                     "an element index must be an integer scalar");
            }
            path = path.subspan(1);
        }
    }
    for (const NodeId step : path) at = follow_step(fn, op, at, step);

    if (form(op) == Form::Atomic || form(op) == Form::AtomicCas) check_atomic(op, at);
    for (unsigned k = 1; k < start; ++k) {
        if (fn.type(operands[k]) != at) {
            fail(ErrorCode::IrError,
                 cat("'", mnemonic(op), "' has a value of type ", fn.type(operands[k]).name(),
                     " for memory of type ", at.name()),
                 {}, "convert the value, or complete the path");
        }
    }
    return at;
}

}  // namespace volley::ir
