// The builder types each node by the rules of typing.hpp and adds it at the insertion point. Nodes after a
// jump in the same region never run: they are created, so that the caller gets valid ids, but no region lists
// them.
#include "ir/builder.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"
#include "ir/literal.hpp"
#include "ir/typing.hpp"

#include <volley/half.hpp>

#include <bit>
#include <cmath>

namespace volley::ir {
namespace {

bool is_head(Op op) { return op == Op::Buffer || op == Op::Param || op == Op::Shared; }

// Truncates and saturates like the conversions in section 5 of docs/ir.md.
std::uint64_t integer_bits(ScalarType type, double v) {
    if (std::isnan(v)) return 0;
    const bool is_signed = is_signed_integer(type);
    const int value_bits = static_cast<int>(bits_of(type)) - (is_signed ? 1 : 0);
    const double limit = std::ldexp(1.0, value_bits);
    const double whole = std::trunc(v);
    if (whole >= limit) return is_signed ? mask_of(type) >> 1 : mask_of(type);
    if (whole < 0 && !is_signed) return 0;
    if (whole < -limit) return std::uint64_t{1} << value_bits;
    const std::uint64_t bits = whole < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(whole))
                                         : static_cast<std::uint64_t>(whole);
    return bits & mask_of(type);
}

}  // namespace

Builder::Builder(Function& fn) : fn_(fn) {
    open_.push_back({fn.body, none});
    for (const NodeId id : fn.nodes_of(fn.body)) {
        if (!is_head(fn[id].op)) break;
        ++declared_;
    }
}

NodeId Builder::append(NodeId id) {
    std::vector<NodeId>& nodes = fn_.regions[open_.back().region].nodes;
    if (nodes.empty() || form(fn_[nodes.back()].op) != Form::Jump) nodes.push_back(id);
    return id;
}

NodeId Builder::declare(Op op, DType type, std::uint64_t imm) {
    const NodeId id = fn_.add(op, result_type(op, {}, type), {}, imm, loc_);
    std::vector<NodeId>& nodes = fn_.regions[fn_.body].nodes;
    nodes.insert(nodes.begin() + static_cast<std::ptrdiff_t>(declared_), id);
    ++declared_;
    return id;
}

NodeId Builder::buffer(DType element, std::string_view name, bool read_only) {
    const NodeId id = declare(Op::Buffer, element, fn_.params.size());
    fn_.params.push_back({ParamKind::Buffer, element, std::string(name), read_only, id});
    return id;
}

NodeId Builder::param(DType type, std::string_view name, ParamKind kind) {
    if (kind == ParamKind::Buffer) return buffer(type, name);
    const NodeId id = declare(Op::Param, type, fn_.params.size());
    fn_.params.push_back({kind, type, std::string(name), false, id});
    return id;
}

NodeId Builder::layout_param(ParamKind kind, DType type, std::uint32_t buffer, std::uint32_t axis) {
    for (const Param& known : fn_.params) {
        if (known.kind == kind && known.type == type && known.buffer == buffer && known.axis == axis)
            return known.node;
    }
    const std::string name =
        cat(fn_.params[buffer].name, kind == ParamKind::Extent ? ".extent" : ".stride", axis);
    const NodeId id = param(type, name, kind);
    fn_.params.back().buffer = buffer;
    fn_.params.back().axis = axis;
    return id;
}

NodeId Builder::shared(DType type) { return declare(Op::Shared, type, 0); }

NodeId Builder::var(DType type) {
    return append(fn_.add(Op::Var, result_type(Op::Var, {}, type), {}, 0, loc_));
}

NodeId Builder::constant(ScalarType type, std::uint64_t bits) {
    return append(fn_.add(Op::Const, type, {}, bits & mask_of(type), loc_));
}

NodeId Builder::constant_f32(float v) { return constant(ScalarType::F32, std::bit_cast<std::uint32_t>(v)); }
NodeId Builder::constant_f64(double v) { return constant(ScalarType::F64, std::bit_cast<std::uint64_t>(v)); }

NodeId Builder::constant_number(ScalarType type, double v) {
    switch (type) {
        case ScalarType::Bool: return constant_bool(v != 0);
        case ScalarType::F16: return constant(type, half(v).bits());
        case ScalarType::F32: return constant_f32(static_cast<float>(v));
        case ScalarType::F64: return constant_f64(v);
        default: return constant(type, integer_bits(type, v));
    }
}

NodeId Builder::zero(DType type) {
    return append(fn_.add(Op::Zero, result_type(Op::Zero, {}, type), {}, 0, loc_));
}

// Adds the kernel and the source line to errors of the typing rules.
DType Builder::type_of(Op op, std::span<const NodeId> operands, DType requested) const {
    try {
        if (path_start(op) != 0) {
            const DType reached = access_type(fn_, op, operands);
            return op == Op::Store ? DType() : reached;
        }
        std::vector<DType> types;
        types.reserve(operands.size());
        for (const NodeId id : operands) {
            if (id >= fn_.nodes.size()) {
                fail(ErrorCode::IrError,
                     cat("'", mnemonic(op), "' uses the value ", id, ", which does not exist"), {},
                     "use ids that the builder returned");
            }
            types.push_back(fn_.type(id));
        }
        return result_type(op, types, requested);
    } catch (const IrError& e) {
        const std::string where = fn_.where(loc_);
        fail(ErrorCode::IrError, e.what_failed(),
             cat("kernel '", fn_.name, "'", where.empty() ? "" : ", ", where), e.advice());
    }
}

NodeId Builder::emit(Op op, std::span<const NodeId> operands, DType requested, std::uint64_t imm) {
    switch (op) {
        case Op::Const:
            if (!requested.is_scalar()) break;  // type_of reports the error
            return constant(requested.scalar(), imm);
        case Op::Shared: return shared(requested);
        case Op::Param:
        case Op::Buffer:
        case Op::If:
        case Op::For:
        case Op::Loop:
            fail(ErrorCode::IrError, cat("emit cannot create '", mnemonic(op), "'"),
                 cat("kernel '", fn_.name, "'"), "use the builder function for this operation");
        default: break;
    }
    return append(fn_.add(op, type_of(op, operands, requested), operands, imm, loc_));
}

NodeId Builder::convert(NodeId v, DType to) {
    if (v < fn_.nodes.size() && fn_.type(v) == to) return v;
    return emit(Op::Convert, {v}, to);
}

NodeId Builder::construct(DType type, std::span<const NodeId> parts) {
    return emit(Op::Construct, parts, type);
}

NodeId Builder::extract(NodeId composite, std::uint32_t part) {
    if (composite < fn_.nodes.size() && !fn_.type(composite).is_scalar() &&
        part >= fn_.type(composite).count()) {
        fail(ErrorCode::IrError, cat("part ", part, " of ", fn_.type(composite).name(), " does not exist"),
             cat("kernel '", fn_.name, "'"), cat("the type has ", fn_.type(composite).count(), " parts"));
    }
    return extract_at(composite, constant_u32(part));
}

NodeId Builder::extract_at(NodeId composite, NodeId index) { return emit(Op::Extract, {composite, index}); }

NodeId Builder::load(NodeId root, std::span<const NodeId> path) {
    std::vector<NodeId> operands = {root};
    operands.insert(operands.end(), path.begin(), path.end());
    return emit(Op::Load, operands);
}

void Builder::store(NodeId root, NodeId value, std::span<const NodeId> path) {
    std::vector<NodeId> operands = {root, value};
    operands.insert(operands.end(), path.begin(), path.end());
    emit(Op::Store, operands);
}

void Builder::print(std::string_view format, std::span<const NodeId> values) {
    const std::optional<std::size_t> places = print_places(format);
    if (!places || *places != values.size()) {
        fail(ErrorCode::IrError,
             places ? cat("the format \"", format, "\" has ", *places, " placeholders for ", values.size(),
                          " values")
                    : cat("the format \"", format, "\" has an unmatched brace"),
             cat("kernel '", fn_.name, "'"), "write {} for each value, and {{ or }} for a literal brace");
    }
    emit(Op::Print, values, {}, fn_.add_string(format));
}

NodeId Builder::begin(Op op, std::span<const NodeId> operands) {
    const NodeId id = append(fn_.add(op, type_of(op, operands, {}), operands, 0, loc_));
    const RegionId region = fn_.add_region();
    fn_[id].regions[0] = region;
    open_.push_back({region, id});
    return id;
}

void Builder::end(Op op) {
    if (innermost() == none || fn_[innermost()].op != op) {
        fail(ErrorCode::IrError, cat("'", mnemonic(op), "' is ended, but is not the innermost open region"),
             cat("kernel '", fn_.name, "'"), "end regions in the reverse of the order in which they began");
    }
    open_.pop_back();
}

void Builder::begin_if(NodeId condition) { begin(Op::If, std::span(&condition, 1)); }

void Builder::begin_else() {
    const NodeId id = innermost();
    if (id == none || fn_[id].op != Op::If || fn_[id].regions[1] != none) {
        fail(ErrorCode::IrError, "'else' without an open 'if'", cat("kernel '", fn_.name, "'"),
             "begin it once, directly in the body of an if");
    }
    const RegionId region = fn_.add_region();
    fn_[id].regions[1] = region;
    open_.back().region = region;
}

void Builder::end_if() { end(Op::If); }

NodeId Builder::begin_for(NodeId begin_value, NodeId end_value, NodeId step) {
    const NodeId bounds[] = {begin_value, end_value, step};
    return begin(Op::For, bounds);
}

void Builder::end_for() { end(Op::For); }
void Builder::begin_loop() { begin(Op::Loop, {}); }
void Builder::end_loop() { end(Op::Loop); }

void Builder::jump(Op op) {
    if (form(op) != Form::Jump) {
        fail(ErrorCode::IrError, cat("'", mnemonic(op), "' is not a jump"), cat("kernel '", fn_.name, "'"),
             "use break, continue or return");
    }
    emit(op, {});
}

}  // namespace volley::ir
