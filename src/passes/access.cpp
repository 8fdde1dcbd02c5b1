// Iterates over the region tree to a fixpoint. The facts about variables and loop exits only weaken from walk
// to walk; everything else is recomputed from them, so that the results of the last walk are consistent.
#include "passes/access.hpp"

#include "passes/rewrite.hpp"

#include <algorithm>
#include <limits>

namespace volley::passes {

using ir::Form;
using ir::Function;
using ir::NodeId;
using ir::Op;
using ir::RegionId;

class LaneWalk {
public:
    LaneWalk(const Function& fn, const LaneModel& model, LaneAnalysis& out)
        : fn_(fn), model_(model), arithmetic_(model.width), out_(out) {
        out.width_ = model.width;
        out.masked_nodes_.assign(fn.nodes.size(), false);
        out.masked_regions_.assign(fn.regions.size(), false);
        out.types_.reserve(fn.nodes.size());
        out.first_.reserve(fn.nodes.size() + 1);
        std::uint32_t next = 0;
        for (const ir::Node& node : fn.nodes) {
            out.types_.push_back(node.type.is_numeric() ? node.type.scalar() : ScalarType::Bool);
            out.first_.push_back(next);
            next += components(node.type);
        }
        out.first_.push_back(next);
        out.values_.assign(next, varying_value());
        loops_.resize(fn.nodes.size());
        find_variables();
        constexpr int patience = 64;  // never reached in practice: ranges are widened much earlier
        do {
            changed_ = false;
            returned_ = false;
            walk(fn.body);
        } while (changed_ && ++round_ < patience);
        if (changed_) {
            for (Variable& var : variables_) var.hopeless = true;
            walk(fn.body);
        }
    }

private:
    struct Variable {
        bool declared = false;
        bool starts_as_zero = true;  // some load may come before the first store
        bool stored = false;         // `value` is valid
        bool stored_under_mask = false;
        bool hopeless = false;
        std::size_t depth = 0;         // open frames at its declaration
        std::vector<LaneValue> value;  // join of all stores, per component
    };
    // Facts about a loop that hold in all its iterations.
    struct Loop {
        bool broken = false;    // lanes leave it at different times and wait after it
        bool returned = false;  // some lanes return in it while others continue
    };
    // An open If or loop.
    struct Frame {
        NodeId owner = ir::none;
        bool partial = false;    // lanes wait outside until it ends
        bool continued = false;  // lanes wait for the next iteration (loops)
    };

    static std::uint32_t components(DType type) {
        return type.is_vector() || type.is_complex() ? static_cast<std::uint32_t>(type.count()) : 1;
    }

    // The initial zero of a variable is never visible if the first access stores the whole variable, in the
    // region of its declaration.
    void find_variables() {
        variables_.resize(fn_.nodes.size());
        std::vector<bool> seen(fn_.nodes.size(), false);
        const std::vector<RegionId> region_of = regions_of_nodes(fn_);
        ir::for_each_node(fn_, fn_.body, [&](NodeId id) {
            const ir::Node& node = fn_[id];
            if (node.op == Op::Var) {
                variables_[id].value.assign(components(node.type), constant_value(0));
                return;
            }
            if (node.op != Op::Load && node.op != Op::Store) return;
            const NodeId root = fn_.arg(id, 0);
            if (fn_[root].op != Op::Var || seen[root]) return;
            seen[root] = true;
            const bool whole_store = node.op == Op::Store && node.count == 2;
            if (whole_store && region_of[id] == region_of[root]) variables_[root].starts_as_zero = false;
        });
    }

    // --- control ---

    [[nodiscard]] bool masked() const {
        if (returned_) return true;
        return std::any_of(frames_.begin(), frames_.end(), [&](const Frame& frame) {
            return frame.partial || frame.continued || loops_[frame.owner].returned;
        });
    }

    void walk(RegionId region) {
        out_.masked_regions_[region] = masked();
        for (const NodeId id : fn_.nodes_of(region)) {
            out_.masked_nodes_[id] = masked();
            visit(id);
        }
    }

    void visit(NodeId id) {
        const ir::Node& node = fn_[id];
        switch (ir::form(node.op)) {
            case Form::If:
                frames_.push_back({id, !uniform(fn_.arg(id, 0)), false});
                walk(node.regions[0]);
                if (node.regions[1] != ir::none) walk(node.regions[1]);
                frames_.pop_back();
                return;
            case Form::For: {
                bool bounds = true;
                for (const NodeId bound : fn_.args(id)) bounds = bounds && uniform(bound);
                if (!bounds) set(loops_[id].broken);
                put(id, 0,
                    arithmetic_.index(node.type.scalar(), value(fn_.arg(id, 0)), value(fn_.arg(id, 1)),
                                      value(fn_.arg(id, 2))));
                visit_loop(id);
                return;
            }
            case Form::Loop: visit_loop(id); return;
            case Form::Jump: visit_jump(node.op); return;
            case Form::Store: visit_store(id); return;
            default: visit_value(id); return;
        }
    }

    void visit_loop(NodeId id) {
        frames_.push_back({id, loops_[id].broken, false});
        walk(fn_[id].regions[0]);
        frames_.pop_back();
    }

    void visit_jump(Op op) {
        if (op == Op::Return) {
            if (!masked()) return;
            returned_ = true;
            for (const Frame& frame : frames_) {
                if (fn_[frame.owner].op != Op::If) set(loops_[frame.owner].returned);
            }
            return;
        }
        // Divergent if some lane of the iteration does not reach the jump.
        bool partial = false;
        for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) {
            if (fn_[frame->owner].op == Op::If) {
                partial = partial || frame->partial;
                continue;
            }
            if (op == Op::Continue) {
                frame->continued = frame->continued || partial;
            } else if (partial || frame->continued) {
                set(loops_[frame->owner].broken);
            }
            return;
        }
    }

    // --- variables ---

    // Returns whether lanes that read the variable later may miss a store at this point, because they wait at
    // the end of an If or loop or for the next iteration. Lanes that left the variable's region never return
    // to it.
    [[nodiscard]] bool misses_lanes(const Variable& var) const {
        return std::any_of(frames_.begin() + static_cast<std::ptrdiff_t>(var.depth), frames_.end(),
                           [](const Frame& frame) { return frame.partial || frame.continued; });
    }

    void visit_store(NodeId id) {
        const NodeId root = fn_.arg(id, 0);
        if (fn_[root].op != Op::Var) return;
        Variable& var = variables_[root];
        const NodeId stored = fn_.arg(id, 1);
        const std::span<const NodeId> path = fn_.args(id).subspan(2);
        const bool lost = misses_lanes(var) || !all_uniform(path);
        if (masked() && !var.stored_under_mask) set(var.stored_under_mask);
        if (path.empty()) {
            for (unsigned k = 0; k < var.value.size(); ++k) {
                merge(var, k, lost ? varying_value() : value(stored, k));
            }
            return;
        }
        const auto part = fn_.constant_int(path[0]);
        if (part && var.value.size() > 1) {
            if (*part < 0 || static_cast<std::size_t>(*part) >= var.value.size()) return;
            merge(var, static_cast<unsigned>(*part), lost ? varying_value() : value(stored));
            return;
        }
        for (unsigned k = 0; k < var.value.size(); ++k) {
            merge(var, k, lost || !uniform(stored) ? varying_value() : plain_value(out_.types_[root], true));
        }
    }

    void merge(Variable& var, unsigned component, const LaneValue& stored) {
        LaneValue& known = var.value[component];
        LaneValue joined = !var.stored && !var.starts_as_zero ? stored : join(known, stored);
        if (component + 1 == var.value.size()) var.stored = true;
        if (joined == known) return;
        // A range that still grows in the third round is widened, because it may never stop growing.
        if (round_ > 2 && !joined.varying()) joined.bounded = false;
        if (!joined.bounded) joined.lo = joined.hi = 0;
        changed_ = changed_ || !(joined == known);
        known = joined;
    }

    [[nodiscard]] LaneValue load_of(NodeId root, unsigned component) const {
        const Variable& var = variables_[root];
        if (var.hopeless) return varying_value();
        const bool all =
            std::all_of(var.value.begin(), var.value.end(), [](const LaneValue& v) { return v.uniform(); });
        // A masked store does not change the other lanes, possibly including lane 0, which provides the base.
        if (!all && var.stored_under_mask && !model_.plain_stores) return varying_value();
        LaneValue v = var.value[component];
        // A widened range is the range of the type.
        if (!v.varying() && !v.bounded) {
            const LaneValue plain = plain_value(out_.types_[root], true);
            v.bounded = plain.bounded;
            v.lo = plain.lo;
            v.hi = plain.hi;
        }
        return v;
    }

    // --- values ---

    void visit_value(NodeId id) {
        const ir::Node& node = fn_[id];
        switch (ir::form(node.op)) {
            case Form::Constant: put(id, 0, constant(id)); return;
            case Form::Zero:
                for (unsigned k = 0; k < components(node.type); ++k) put(id, k, constant_value(0));
                return;
            case Form::Root:
                if (node.op == Op::Var) {
                    variables_[id].depth = frames_.size();
                    for (unsigned k = 0; k < components(node.type); ++k) put(id, k, load_of(id, k));
                } else {
                    put_all(id, true);  // the address; loads check their path
                }
                return;
            case Form::Parameter:
            case Form::BufferSize: put_all(id, true); return;
            case Form::Builtin: visit_builtin(id); return;
            case Form::Construct: visit_construct(id); return;
            case Form::Extract: visit_extract(id); return;
            case Form::Load: visit_load(id); return;
            case Form::Atomic:
            case Form::AtomicCas:
            case Form::Elect: put_all(id, false); return;
            case Form::SubgroupFold:
                put_all(id, model_.subgroup_is_vector && node.op < Op::SubgroupInclusiveAdd);
                return;
            case Form::SubgroupVote:
            case Form::Ballot: put_all(id, model_.subgroup_is_vector); return;
            case Form::SubgroupLane: {
                const bool one_lane = node.op != Op::SubgroupShuffleXor && uniform(fn_.arg(id, 1));
                put_all(id, uniform(fn_.arg(id, 0)) || (model_.subgroup_is_vector && one_lane));
                return;
            }
            case Form::Sync:
            case Form::Print: return;
            default: visit_elementwise(id); return;
        }
    }

    [[nodiscard]] LaneValue constant(NodeId id) const {
        const auto v = fn_.constant_int(id);
        if (!v) return plain_value(out_.types_[id], true);
        LaneValue result = constant_value(*v);
        if (out_.types_[id] == ScalarType::U64 && *v < 0) {  // does not fit in a range
            result.bounded = false;
            result.shape.align &= 0 - result.shape.align;
        }
        return result;
    }

    void visit_builtin(NodeId id) {
        const auto ids = [&](const LaneShape(&shapes)[3], std::uint64_t max) {
            for (unsigned k = 0; k < 3; ++k) put(id, k, id_value(shapes[k], max));
        };
        const bool one_subgroup = model_.subgroup_is_vector;
        switch (fn_[id].op) {
            case Op::GlobalId: ids(model_.global_id, model_.max_global_id); return;
            case Op::LocalId: ids(model_.local_id, model_.max_local_id); return;
            case Op::LocalIndex: put(id, 0, id_value(model_.local_index, model_.max_local_id)); return;
            case Op::GroupId: put_all(id, model_.group_uniform); return;
            case Op::SubgroupId: put_all(id, one_subgroup); return;
            case Op::SubgroupLane:
                put(id, 0, one_subgroup ? id_value({LaneShape::Affine, 1, 0}, 0) : varying_value());
                return;
            case Op::SubgroupSize:
                put(id, 0, one_subgroup ? constant_value(model_.width) : plain_value(ScalarType::U32, true));
                return;
            case Op::LocalSize:
                for (unsigned k = 0; k < 3; ++k) {
                    put(id, k,
                        fn_.local_size ? constant_value((*fn_.local_size)[k])
                                       : plain_value(ScalarType::U32, true));
                }
                return;
            default: put_all(id, true); return;  // other sizes and counts
        }
    }

    void visit_construct(NodeId id) {
        const std::span<const NodeId> parts = fn_.args(id);
        // The only part of a struct or array may have components of its own.
        const unsigned count = components(fn_.type(id));
        if (count > 1 && count == parts.size()) {
            for (unsigned k = 0; k < parts.size(); ++k) put(id, k, value(parts[k]));
        } else {
            put_all(id, all_uniform(parts));
        }
    }

    void visit_extract(NodeId id) {
        const NodeId whole = fn_.arg(id, 0);
        const std::span<const NodeId> path = fn_.args(id).subspan(1);
        const unsigned count = components(fn_.type(whole));
        const auto part = fn_.constant_int(path[0]);
        if (count > 1 && part && *part >= 0 && *part < static_cast<std::int64_t>(count)) {
            put(id, 0, value(whole, static_cast<unsigned>(*part)));
        } else {
            put_all(id, uniform(whole) && all_uniform(path));
        }
    }

    void visit_load(NodeId id) {
        const NodeId root = fn_.arg(id, 0);
        const std::span<const NodeId> path = fn_.args(id).subspan(1);
        if (fn_[root].op != Op::Var) {
            const bool same_memory = fn_[root].op == Op::Buffer || model_.group_uniform;
            put_all(id, same_memory && all_uniform(path));
            return;
        }
        const unsigned count = components(fn_.type(root));
        if (path.empty()) {
            for (unsigned k = 0; k < count; ++k) put(id, k, load_of(root, k));
            return;
        }
        const auto part = fn_.constant_int(path[0]);
        if (count > 1 && part && *part >= 0 && *part < static_cast<std::int64_t>(count)) {
            put(id, 0, load_of(root, static_cast<unsigned>(*part)));
            return;
        }
        bool same = all_uniform(path);
        for (unsigned k = 0; k < count; ++k) same = same && load_of(root, k).uniform();
        put_all(id, same);
    }

    void visit_elementwise(NodeId id) {
        const ir::Node& node = fn_[id];
        const std::span<const NodeId> args = fn_.args(id);
        const unsigned count = components(node.type);
        const bool same_shape = std::all_of(args.begin(), args.end(), [&](NodeId arg) {
            return components(fn_.type(arg)) == count || components(fn_.type(arg)) == 1;
        });
        if (args.empty() || !same_shape) {
            put_all(id, all_uniform(args));
            return;
        }
        for (unsigned k = 0; k < count; ++k) put(id, k, component_of(id, k));
    }

    [[nodiscard]] LaneValue component_of(NodeId id, unsigned k) const {
        const ir::Node& node = fn_[id];
        const std::span<const NodeId> args = fn_.args(id);
        const ScalarType operand = out_.types_[args[0]];
        const ScalarType result = out_.types_[id];
        const LaneValue a = value(args[0], k);
        switch (node.op) {
            case Op::Convert: return arithmetic_.convert(operand, result, a);
            case Op::Bitcast:
                if (is_integer(operand) && is_integer(result) && bits_of(operand) == bits_of(result)) {
                    return arithmetic_.convert(operand, result, a);
                }
                break;
            case Op::Select:
                if (a.uniform()) return join(value(args[1], k), value(args[2], k));
                return varying_value();
            case Op::Fma:
                if (!is_integer(operand)) break;
                return arithmetic_.apply(Op::Add, operand,
                                         arithmetic_.apply(Op::Mul, operand, a, value(args[1], k)),
                                         value(args[2], k));
            default: {
                if (!is_integer(operand) || args.size() > 2) break;
                const LaneValue b = args.size() > 1 ? value(args[1], k) : constant_value(0);
                const LaneValue v = arithmetic_.apply(node.op, operand, a, b, mask_plus_one(node.op, args));
                // For results of another type and for bit counts only the kind is known.
                return result == operand || v.varying() ? v : plain_value(result, v.uniform());
            }
        }
        bool same = true;
        for (const NodeId arg : args) same = same && value(arg, k).uniform();
        return plain_value(result, same);
    }

    // For x & (n - 1), returns the lane value of n.
    [[nodiscard]] const LaneValue* mask_plus_one(Op op, std::span<const NodeId> args) const {
        if (op != Op::And || components(fn_.type(args[0])) != 1) return nullptr;
        for (const NodeId arg : args) {
            if (fn_[arg].op == Op::Sub &&
                fn_.constant_int(fn_.arg(arg, 1)) == std::optional<std::int64_t>(1)) {
                return &out_.values_[out_.first_[fn_.arg(arg, 0)]];
            }
        }
        return nullptr;
    }

    [[nodiscard]] const LaneValue& value(NodeId id, unsigned component = 0) const {
        const std::uint32_t count = out_.first_[id + 1] - out_.first_[id];
        return out_.values_[out_.first_[id] + (component < count ? component : 0)];
    }
    [[nodiscard]] bool uniform(NodeId id) const { return out_.lane_uniform(id); }
    [[nodiscard]] bool all_uniform(std::span<const NodeId> ids) const {
        return std::all_of(ids.begin(), ids.end(), [&](NodeId id) { return uniform(id); });
    }
    void put(NodeId id, unsigned component, const LaneValue& v) {
        out_.values_[out_.first_[id] + component] = v;
    }
    void put_all(NodeId id, bool is_uniform) {
        for (std::uint32_t at = out_.first_[id]; at < out_.first_[id + 1]; ++at) {
            out_.values_[at] = plain_value(out_.types_[id], is_uniform);
        }
    }
    void set(bool& flag) {
        changed_ = changed_ || !flag;
        flag = true;
    }

    const Function& fn_;
    const LaneModel& model_;
    const LaneArithmetic arithmetic_;
    LaneAnalysis& out_;
    std::vector<Variable> variables_;  // per node
    std::vector<Loop> loops_;          // per node
    std::vector<Frame> frames_;
    bool returned_ = false;
    bool changed_ = false;
    int round_ = 0;
};

LaneShape LaneAnalysis::shape(ir::NodeId id) const {
    const std::span<const LaneValue> all = values(id);
    if (all.size() == 1) return width_ == 1 ? LaneShape{LaneShape::Uniform, 0, 1} : all[0].shape;
    return {lane_uniform(id) ? LaneShape::Uniform : LaneShape::Varying, 0, 1};
}

LaneShape LaneAnalysis::shape(ir::NodeId id, unsigned component) const {
    const std::span<const LaneValue> all = values(id);
    if (width_ == 1) return {LaneShape::Uniform, 0, 1};
    return all[component < all.size() ? component : 0].shape;
}

bool LaneAnalysis::lane_uniform(ir::NodeId id) const {
    if (width_ == 1) return true;
    const std::span<const LaneValue> all = values(id);
    return std::all_of(all.begin(), all.end(), [](const LaneValue& v) { return v.uniform(); });
}

bool LaneAnalysis::may_wrap(ir::NodeId id) const {
    return width_ > 1 && LaneArithmetic(width_).may_wrap(types_[id], values(id)[0]);
}

std::optional<std::uint64_t> LaneAnalysis::small_limit(ir::NodeId id) const {
    const LaneValue& value = values(id)[0];
    if (types_[id] != ScalarType::U32 || !value.bounded || value.lo < 0) return std::nullopt;
    std::int64_t most = value.hi;
    if (width_ > 1) {
        if (value.varying()) return std::nullopt;
        if (value.affine()) {
            if (value.shape.stride < 0 || LaneArithmetic(width_).may_wrap(types_[id], value))
                return std::nullopt;
            most += value.shape.stride * static_cast<std::int64_t>(width_ - 1);
        }
    }
    if (most > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
    return static_cast<std::uint64_t>(most);
}

LaneAnalysis analyse_lanes(const ir::Function& fn, const LaneModel& model) {
    LaneAnalysis out;
    const LaneWalk walk(fn, model, out);
    return out;
}

}  // namespace volley::passes
