// The rules of fold_constants for one node: evaluation, identities, conversions, composites.
//
// A rule either returns another value that replaces the node, or changes the node in place. New nodes are
// appended to the node list that is being rebuilt, so operands come before their uses.
#pragma once

#include "ir/function.hpp"

#include <array>
#include <initializer_list>

namespace volley::passes {

class Simplifier {
public:
    explicit Simplifier(ir::Function& fn) : fn_(fn) {}

    /// Appends subsequent new nodes to `out`, the list that becomes the current region.
    void emit_into(std::vector<ir::NodeId>& out) noexcept { out_ = &out; }

    /// Returns the replacement of a node whose operands are already simplified: the node itself or an earlier
    /// value.
    [[nodiscard]] ir::NodeId simplify(ir::NodeId id);

private:
    /// The constant components of a scalar or vector.
    struct Leaves {
        unsigned count = 0;
        std::array<std::uint64_t, 4> bits = {};
    };

    // Each returns the replacement of the node; the node itself, with changed_ set, if it was rewritten in
    // place.
    ir::NodeId step(ir::NodeId id);
    ir::NodeId evaluate_constants(ir::NodeId id);
    ir::NodeId integer_identities(ir::NodeId id);
    ir::NodeId boolean_identities(ir::NodeId id);
    ir::NodeId float_identities(ir::NodeId id);
    ir::NodeId common_identities(ir::NodeId id);
    ir::NodeId comparison(ir::NodeId id);
    ir::NodeId choice(ir::NodeId id);
    ir::NodeId conversion(ir::NodeId id);
    ir::NodeId bit_conversion(ir::NodeId id);
    ir::NodeId extraction(ir::NodeId id);
    ir::NodeId construction(ir::NodeId id);
    ir::NodeId builtin(ir::NodeId id);
    ir::NodeId add_constant(ir::NodeId id);

    [[nodiscard]] bool leaves(ir::NodeId id, Leaves& out) const;
    /// Returns the bits of a scalar constant, or of a vector whose components are all the same constant.
    [[nodiscard]] std::optional<std::uint64_t> splat(ir::NodeId id) const;
    [[nodiscard]] bool is_op(ir::NodeId id, ir::Op op) const { return fn_[id].op == op; }

    ir::NodeId emit(ir::Op op, DType type, std::initializer_list<ir::NodeId> args, ir::NodeId like);
    ir::NodeId emit_constant(ScalarType type, std::uint64_t bits, ir::NodeId like);
    ir::NodeId emit_splat(DType type, std::uint64_t bits, ir::NodeId like);
    ir::NodeId become(ir::NodeId id, ir::Op op, std::initializer_list<ir::NodeId> args);
    ir::NodeId become_constant(ir::NodeId id, const Leaves& value);
    ir::NodeId become_splat(ir::NodeId id, std::uint64_t bits);

    ir::Function& fn_;
    std::vector<ir::NodeId>* out_ = nullptr;
    bool changed_ = false;
};

}  // namespace volley::passes
