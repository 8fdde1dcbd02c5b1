// Builds a function node by node. Keeps the insertion point (a stack of open regions) and the current source
// location, and computes result types by the rules of typing.hpp, so that every node is well typed.
#pragma once

#include "ir/function.hpp"

#include <initializer_list>

namespace volley::ir {

class Builder {
public:
    /// Appends to fn, which must outlive the builder.
    explicit Builder(Function& fn);

    [[nodiscard]] Function& function() noexcept { return fn_; }
    void set_loc(Loc loc) noexcept { loc_ = loc; }
    [[nodiscard]] Loc loc() const noexcept { return loc_; }

    // Declarations. Parameters and shared arrays are added at the start of the body, variables at the
    // insertion point.
    NodeId buffer(DType element, std::string_view name, bool read_only = false);
    NodeId param(DType type, std::string_view name, ParamKind kind = ParamKind::Const);
    /// Returns the Extent or Stride parameter of a buffer's axis; the first call for each declares it.
    NodeId layout_param(ParamKind kind, DType type, std::uint32_t buffer, std::uint32_t axis);
    NodeId shared(DType type);
    NodeId var(DType type);  // zero until it is stored to

    // Constants. A region may contain equal constants; common-subexpression elimination merges them.
    NodeId constant(ScalarType type, std::uint64_t bits);  // the value's representation, in the low bits
    NodeId constant_i32(std::int32_t v) { return constant(ScalarType::I32, static_cast<std::uint32_t>(v)); }
    NodeId constant_u32(std::uint32_t v) { return constant(ScalarType::U32, v); }
    NodeId constant_f32(float v);
    NodeId constant_f64(double v);
    NodeId constant_bool(bool v) { return constant(ScalarType::Bool, v ? 1 : 0); }
    /// Adds a constant of any scalar type: rounds v to f16 and f32, truncates it to integers.
    NodeId constant_number(ScalarType type, double v);
    NodeId zero(DType type);

    // Operations.
    NodeId emit(Op op, std::initializer_list<NodeId> operands, DType requested = {}, std::uint64_t imm = 0) {
        return emit(op, std::span<const NodeId>(operands.begin(), operands.size()), requested, imm);
    }
    NodeId emit(Op op, std::span<const NodeId> operands, DType requested = {}, std::uint64_t imm = 0);
    NodeId convert(NodeId v, DType to);  // returns v if it has that type
    NodeId construct(DType type, std::span<const NodeId> parts);
    NodeId extract(NodeId composite, std::uint32_t part);  // a constant part number
    NodeId extract_at(NodeId composite, NodeId index);     // a computed part number
    NodeId load(NodeId root, std::span<const NodeId> path);
    void store(NodeId root, NodeId value, std::span<const NodeId> path);
    void print(std::string_view format, std::span<const NodeId> values);

    // Control flow. Each begin needs its end; else is optional.
    void begin_if(NodeId condition);
    void begin_else();
    void end_if();
    NodeId begin_for(NodeId begin_value, NodeId end_value, NodeId step);  // returns the index
    void end_for();
    void begin_loop();
    void end_loop();
    void jump(Op op);  // Break, Continue, Return

    /// Returns the number of open regions in the body: 0 if every begin has its end.
    [[nodiscard]] std::size_t depth() const noexcept { return open_.size() - 1; }
    /// Returns the innermost open If, For or Loop; none if only the body is open.
    [[nodiscard]] NodeId innermost() const noexcept { return open_.back().owner; }

private:
    struct Open {
        RegionId region;
        NodeId owner;
    };
    NodeId append(NodeId id);
    DType type_of(Op op, std::span<const NodeId> operands, DType requested) const;
    NodeId begin(Op op, std::span<const NodeId> operands);
    void end(Op op);
    NodeId declare(Op op, DType type, std::uint64_t imm);

    Function& fn_;
    std::vector<Open> open_;
    Loc loc_;
    std::size_t declared_ = 0;  // declarations at the start of the body
};

}  // namespace volley::ir
