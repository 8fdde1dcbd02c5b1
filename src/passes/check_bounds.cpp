// Wraps each access in an If, whose else branch reports each index that is out of bounds. The result goes
// through a variable, which stays zero if the access is skipped.
#include "passes/check_bounds.hpp"

#include "core/text.hpp"
#include "passes/rewrite.hpp"

#include <array>

namespace volley::passes {
namespace {

using ir::Form;
using ir::Function;
using ir::NodeId;
using ir::Op;
using ir::RegionId;

class CheckBounds {
public:
    explicit CheckBounds(Function& fn) : fn_(fn) {}

    void region(RegionId id) {
        const std::vector<NodeId> old = std::move(fn_.regions[id].nodes);
        std::vector<NodeId> list;
        list.reserve(old.size());
        for (const NodeId node : old) {
            replaced_.apply(fn_, node);
            const std::array<RegionId, 2> inner = {fn_[node].regions[0], fn_[node].regions[1]};
            for (const RegionId r : inner) {
                if (r != ir::none) region(r);
            }
            visit(node, list);
        }
        fn_.regions[id].nodes = std::move(list);
    }

private:
    // One index of a path and its exclusive limit.
    struct Check {
        NodeId index;
        NodeId inside;  // bool
        NodeId limit;   // u64
        std::string of;
    };

    void visit(NodeId id, std::vector<NodeId>& list) {
        const Form form = ir::form(fn_[id].op);
        const bool access =
            form == Form::Load || form == Form::Store || form == Form::Atomic || form == Form::AtomicCas;
        std::vector<Check> checks;
        if (access) checks = checks_of(id, list);
        if (checks.empty()) {
            list.push_back(id);
            return;
        }
        NodeId inside = checks[0].inside;
        for (std::size_t k = 1; k < checks.size(); ++k) {
            inside = emit(Op::And, ScalarType::Bool, {inside, checks[k].inside}, id, list);
        }
        const bool has_result = form != Form::Store;
        const NodeId result = has_result ? emit(Op::Var, fn_.type(id), {}, id, list) : ir::none;
        const NodeId guard = emit(Op::If, {}, {inside}, id, list);
        const RegionId then_arm = fn_.add_region();
        const RegionId else_arm = fn_.add_region();
        fn_[guard].regions[0] = then_arm;
        fn_[guard].regions[1] = else_arm;
        std::vector<NodeId> then_list = {id};
        if (has_result) {
            emit(Op::Store, {}, {result, id}, id, then_list);
            replaced_.set(id, emit(Op::Load, fn_.type(id), {result}, id, list));
        }
        std::vector<NodeId> else_list;
        for (const Check& check : checks) report(check, id, else_list);
        fn_.regions[then_arm].nodes = std::move(then_list);
        fn_.regions[else_arm].nodes = std::move(else_list);
    }

    std::vector<Check> checks_of(NodeId id, std::vector<NodeId>& list) {
        const NodeId root = fn_.arg(id, 0);
        const std::vector<NodeId> path(fn_.args(id).begin() + ir::path_start(fn_[id].op), fn_.args(id).end());
        std::vector<Check> checks;
        DType type = fn_.type(root);
        std::size_t step = 0;
        if (fn_[root].op == Op::Buffer) {
            const NodeId size = emit(Op::BufferSize, ScalarType::U64, {root}, id, list);
            checks.push_back(below(path[0], size, id, list));
            checks.back().of = parameter(fn_[root].imm);
            ++step;
        }
        for (; step < path.size(); ++step) {
            const auto constant = fn_.constant_int(path[step]);
            const bool known =
                constant && *constant >= 0 && static_cast<std::uint64_t>(*constant) < type.count();
            if (!known && !type.is_struct()) {
                const NodeId limit = emit(Op::Const, ScalarType::U64, {}, id, list);
                fn_[limit].imm = type.count();
                checks.push_back(below(path[step], limit, id, list));
                checks.back().of = type.name();
            }
            type = type.part(type.is_struct() ? static_cast<std::uint64_t>(*constant) : 0);
        }
        return checks;
    }

    // Compares as u64, so that negative indices become large ones.
    Check below(NodeId index, NodeId limit, NodeId like, std::vector<NodeId>& list) {
        const DType type = fn_.type(index);
        NodeId wide = index;
        if (type.is_signed() && type != ScalarType::I64) {
            wide = emit(Op::Convert, ScalarType::I64, {wide}, like, list);
        }
        if (fn_.type(wide) != ScalarType::U64) wide = emit(Op::Convert, ScalarType::U64, {wide}, like, list);
        return {index, emit(Op::Lt, ScalarType::Bool, {wide, limit}, like, list), limit, {}};
    }

    void report(const Check& check, NodeId access, std::vector<NodeId>& list) {
        const NodeId outside = emit(Op::Not, ScalarType::Bool, {check.inside}, access, list);
        const NodeId guard = emit(Op::If, {}, {outside}, access, list);
        const RegionId arm = fn_.add_region();
        fn_[guard].regions[0] = arm;
        const std::string where = fn_.where(fn_[access].loc);
        const std::string text = cat(bounds_report, escaped(where), where.empty() ? "" : ": ", "index {} of ",
                                     escaped(check.of), ", which has {} elements, in invocation {}");
        std::vector<NodeId> arm_list;
        const NodeId invocation = emit(Op::GlobalId, DType::vector(ScalarType::U32, 3), {}, access, arm_list);
        const NodeId print = emit(Op::Print, {}, {check.index, check.limit, invocation}, access, arm_list);
        fn_[print].imm = fn_.add_string(text);
        fn_.regions[arm].nodes = std::move(arm_list);
    }

    /// Returns "parameter 2 'alpha'", without a name that the tracer made up.
    [[nodiscard]] std::string parameter(std::uint64_t index) const {
        const std::string& name = fn_.params[index].name;
        return cat("parameter ", index + 1, name == cat("arg", index) ? "" : cat(" '", name, "'"));
    }

    static std::string escaped(std::string_view text) {
        std::string out;
        for (const char c : text) {
            out += c;
            if (c == '{' || c == '}') out += c;
        }
        return out;
    }

    NodeId emit(Op op, DType type, std::initializer_list<NodeId> args, NodeId like,
                std::vector<NodeId>& list) {
        const NodeId id = fn_.add(op, type, std::span(args.begin(), args.size()), 0, fn_[like].loc);
        list.push_back(id);
        return id;
    }

    Function& fn_;
    Replacements replaced_;
};

}  // namespace

void check_bounds(Function& fn) { CheckBounds(fn).region(fn.body); }

}  // namespace volley::passes
