// The verifier makes one walk over the regions. It trusts no id, index or enumerator of the function, so that
// a verified function is safe to walk, print, hash, interpret and compile.
#include "ir/verifier.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"
#include "ir/literal.hpp"
#include "ir/typing.hpp"

#include <volley/shape.hpp>

#include <algorithm>
#include <unordered_map>

namespace volley::ir {
namespace {

class Verifier {
public:
    explicit Verifier(const Function& fn)
        : fn_(fn), states_(fn.nodes.size(), State::Unseen), region_seen_(fn.regions.size(), false) {}

    void run() {
        check_header();
        walk(fn_.body, 0, false);
    }

private:
    // A value is visible from its definition to the end of its region.
    enum class State : std::uint8_t { Unseen, Visible, Gone };

    [[noreturn]] void refuse(std::string_view what, std::string_view advice) const {
        fail(ErrorCode::IrError, what, cat("kernel '", fn_.name, "'"), advice);
    }

    [[noreturn]] void refuse(NodeId id, std::string_view what, std::string_view advice) const {
        const Node& node = fn_[id];
        const std::string where = fn_.where(node.loc);
        fail(ErrorCode::IrError, what,
             cat("kernel '", fn_.name, "', operation ", id, " (", mnemonic(node.op), ")",
                 where.empty() ? "" : ", ", where),
             advice);
    }

    void check_header() {
        if (fn_.body >= fn_.regions.size())
            refuse("the kernel has no body", "set `body` to one of the regions");
        if (fn_.local_size) {
            for (const std::uint32_t extent : *fn_.local_size) {
                if (extent == 0) refuse("the local size has a zero extent", "use 1 for unused dimensions");
            }
        }
        for (std::size_t i = 0; i < fn_.params.size(); ++i) check_param(i);
    }

    // Returns the nesting depth of the type. Cached: walking nested structs again for every use could take
    // exponential time.
    unsigned check_parts(DType type, unsigned depth) {
        if (!type.is_array() && !type.is_struct()) return 0;
        const auto found = type_depths_.find(type.info());
        unsigned inner = 0;
        if (found != type_depths_.end()) {
            inner = found->second;
        } else if (depth <= max_type_nesting) {
            if (type.is_array()) {
                if (type.count() == 0) refuse(cat("the type ", type.name(), " has no elements"), "remove it");
                inner = 1 + check_parts(type.part(0), depth + 1);
            }
            for (const StructField& field : type.fields()) {
                inner = std::max(inner, 1 + check_parts(field.type, depth + 1));
            }
            type_depths_.emplace(type.info(), inner);
        }
        if (depth + inner > max_type_nesting) {
            refuse(cat("the type ", type.name().substr(0, 80), " nests deeper than ", max_type_nesting),
                   "flatten it");
        }
        return inner;
    }

    void check_param(std::size_t i) {
        const Param& param = fn_.params[i];
        if (param.kind > ParamKind::Stride)
            refuse(cat("parameter ", i, " has an unknown kind"), "use the enumerators of ParamKind");
        if (param.type.is_void()) refuse(cat("parameter ", i, " has no type"), "set its type");
        check_parts(param.type, 0);
        if (param.read_only && param.kind != ParamKind::Buffer) {
            refuse(cat("parameter ", i, " is a read-only value"), "declare only buffers as read-only");
        }
        check_layout(i);
        if (param.node == none) return;
        const Op op = param.kind == ParamKind::Buffer ? Op::Buffer : Op::Param;
        if (param.node >= fn_.nodes.size() || fn_[param.node].op != op || fn_[param.node].imm != i ||
            fn_[param.node].type != param.type) {
            refuse(cat("parameter ", i, " and its node disagree"),
                   "its node must be a buffer or param of the same index and type");
        }
    }

    void check_layout(std::size_t i) {
        const Param& param = fn_.params[i];
        if (param.rank > static_cast<std::uint32_t>(max_rank) ||
            (param.rank != 0 && param.kind != ParamKind::Buffer)) {
            refuse(cat("parameter ", i, " has the rank ", param.rank),
                   cat("set a rank only on buffers, of at most ", max_rank));
        }
        if (!param.is_layout()) {
            if (i != 0 && fn_.params[i - 1].is_layout()) {
                refuse(cat("parameter ", i, " follows an extent or stride"),
                       "declare extents and strides after all other parameters");
            }
            return;
        }
        if (param.buffer >= fn_.params.size() || fn_.params[param.buffer].kind != ParamKind::Buffer ||
            param.axis >= static_cast<std::uint32_t>(max_rank)) {
            refuse(cat("parameter ", i, " is the extent or stride of no axis of a buffer"),
                   cat("refer to a buffer parameter and an axis below ", max_rank));
        }
        if (param.type != DType(ScalarType::U32) && param.type != DType(ScalarType::U64))
            refuse(cat("parameter ", i, " has the type ", param.type.name()),
                   "use u32 or u64 for extents and strides");
        if (param.kind == ParamKind::Stride && param.axis >= fn_.params[param.buffer].rank) {
            refuse(cat("parameter ", i, " is the stride of axis ", param.axis, " of a buffer of rank ",
                       fn_.params[param.buffer].rank),
                   "set the buffer's rank above the axis");
        }
    }

    void walk(RegionId region, unsigned depth, bool in_loop) {
        const std::vector<NodeId>& nodes = fn_.nodes_of(region);
        region_seen_[region] = true;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const NodeId id = nodes[i];
            if (id >= fn_.nodes.size()) {
                refuse(cat("region ", region, " lists the operation ", id, ", which does not exist"),
                       "list ids of the function's nodes");
            }
            check_node(id, depth);
            check_place(id, depth, in_loop, i + 1 == nodes.size());
            states_[id] = State::Visible;
            walk_inner(id, depth, in_loop);
        }
        for (const NodeId id : nodes) states_[id] = State::Gone;
    }

    void walk_inner(NodeId id, unsigned depth, bool in_loop) {
        const Node& node = fn_[id];
        const bool is_if = node.op == Op::If;
        const bool has_body = is_if || node.op == Op::For || node.op == Op::Loop;
        if (!has_body) {
            if (node.regions[0] != none || node.regions[1] != none) {
                refuse(id, "the operation has a region", "only if, for and loop may have regions");
            }
            return;
        }
        if (node.regions[0] == none)
            refuse(id, "the operation has no body", "add a region, which may be empty");
        if (!is_if && node.regions[1] != none) refuse(id, "the loop has two bodies", "a loop has one region");
        if (depth + 1 > max_nesting) {
            refuse(id, cat("regions nest deeper than ", max_nesting), "split the kernel");
        }
        for (const RegionId inner : node.regions) {
            if (inner == none) continue;
            if (inner >= fn_.regions.size()) {
                refuse(id, cat("the region ", inner, " does not exist"), "use ids that add_region returned");
            }
            if (region_seen_[inner]) {
                refuse(id, cat("the region ", inner, " has a second owner"),
                       "use a separate region for each operation");
            }
            walk(inner, depth + 1, in_loop || !is_if);
        }
        // The value of a for is its index, which is visible only in the body.
        if (node.op == Op::For) states_[id] = State::Gone;
    }

    void check_node(NodeId id, unsigned depth) {
        const Node& node = fn_[id];
        if (static_cast<unsigned>(node.op) >= op_count) {
            refuse(id, cat("there is no operation ", static_cast<unsigned>(node.op)),
                   "use the enumerators of Op");
        }
        if (states_[id] != State::Unseen)
            refuse(id, "the operation is listed twice", "list each operation once");
        if (node.loc.line != 0 && node.loc.file >= fn_.files.size()) {
            refuse(id, "its source file does not exist", "use indices that add_file returned");
        }
        if (node.loc.note > fn_.notes.size())
            refuse(id, "its comment does not exist", "use numbers that add_note returned");
        if (std::uint64_t{node.first} + node.count > fn_.operands.size()) {
            refuse(id, "its operands are outside the operand pool", "create nodes with Function::add");
        }
        check_operands(id);
        check_type(id);
        check_imm(id, depth);
    }

    void check_operands(NodeId id) {
        const std::span<const NodeId> operands = fn_.args(id);
        for (std::size_t k = 0; k < operands.size(); ++k) {
            const NodeId operand = operands[k];
            if (operand >= fn_.nodes.size()) {
                refuse(id, cat("operand ", k, " is the value ", operand, ", which does not exist"),
                       "use ids of the function's nodes");
            }
            if (states_[operand] == State::Unseen) {
                refuse(id, cat("operand ", k, " is the value ", operand, ", which is not defined yet"),
                       "list the operation that defines it earlier");
            }
            if (states_[operand] == State::Gone) {
                refuse(id, cat("operand ", k, " is the value ", operand, ", whose region has ended"),
                       "use a variable to carry it out of the region");
            }
            const Node& source = fn_[operand];
            if (source.type.is_void()) {
                refuse(id, cat("operand ", k, " is '", mnemonic(source.op), "', which has no value"),
                       "use operations that have one");
            }
            if (form(source.op) != Form::Root) continue;
            const bool access = fn_[id].op != Op::Extract && path_start(fn_[id].op) != 0;
            const bool asks_size = fn_[id].op == Op::BufferSize && source.op == Op::Buffer;
            if (k != 0 || !(access || asks_size)) {
                refuse(id,
                       cat("operand ", k, " is '", mnemonic(source.op), "', which is memory and not a value"),
                       "load from it: only the first operand of an access is memory");
            }
        }
    }

    void check_type(NodeId id) {
        const Node& node = fn_[id];
        check_parts(node.type, 0);
        DType type;
        try {
            if (path_start(node.op) != 0) {
                type = access_type(fn_, node.op, fn_.args(id));
                if (node.op == Op::Store) type = {};
            } else {
                types_.clear();
                for (const NodeId operand : fn_.args(id)) types_.push_back(fn_.type(operand));
                type = result_type(node.op, types_, node.type);
            }
        } catch (const IrError& e) {
            refuse(id, e.what_failed(), e.advice());
        }
        if (type != node.type) {
            refuse(id, cat("its type is ", node.type.name(), ", but its result is ", type.name()),
                   "set the type that ir::result_type computes");
        }
        if (node.op == Op::BufferSize && fn_[fn_.arg(id, 0)].op != Op::Buffer) {
            refuse(id, "the operand of 'buffer_size' is not a buffer", "use it on buffers only");
        }
    }

    void check_imm(NodeId id, unsigned depth) const {
        const Node& node = fn_[id];
        switch (node.op) {
            case Op::Const:
                if (node.imm > mask_of(node.type.scalar())) {
                    refuse(id, cat("the constant has more bits than ", node.type.name()),
                           "set the bits above the type's width to zero");
                }
                break;
            case Op::Param:
            case Op::Buffer:
                if (depth != 0)
                    refuse(id, "a parameter is declared in a nested region",
                           "declare it in the kernel's body");
                if (node.imm >= fn_.params.size() || fn_.params[node.imm].node != id) {
                    refuse(id,
                           cat("its parameter index ", node.imm, " belongs to no parameter or another node"),
                           "use one node per parameter, with the parameter's index");
                }
                break;
            case Op::Fence:
                if (node.imm > static_cast<std::uint64_t>(FenceScope::Group)) {
                    refuse(id, cat("there is no fence scope ", node.imm),
                           "use the enumerators of FenceScope");
                }
                break;
            case Op::Print: check_print(id); break;
            default:
                if (node.imm != 0) refuse(id, "the operation has an immediate", "set imm to zero");
                break;
        }
    }

    void check_print(NodeId id) const {
        const Node& node = fn_[id];
        if (node.imm >= fn_.strings.size()) {
            refuse(id, "its format does not exist", "use indices that add_string returned");
        }
        const std::optional<std::size_t> places = print_places(fn_.strings[node.imm]);
        if (!places) refuse(id, "its format has an unmatched brace", "write {{ or }} for a literal brace");
        if (*places != node.count) {
            refuse(id, cat("its format has ", *places, " placeholders for ", node.count, " operands"),
                   "write {} for each operand");
        }
    }

    void check_place(NodeId id, unsigned depth, bool in_loop, bool is_last) const {
        const Op op = fn_[id].op;
        if (op == Op::Shared && depth != 0) {
            refuse(id, "shared memory is declared in a nested region", "declare it in the kernel's body");
        }
        if ((op == Op::Break || op == Op::Continue) && !in_loop) {
            refuse(id, cat("'", mnemonic(op), "' is outside a loop"), "use it in a for or loop");
        }
        if (form(op) == Form::Jump && !is_last) {
            refuse(id, cat("operations follow '", mnemonic(op), "' in its region"),
                   "remove them: they never run");
        }
    }

    const Function& fn_;
    std::vector<State> states_;
    std::vector<bool> region_seen_;
    std::vector<DType> types_;  // reused
    std::unordered_map<const TypeInfo*, unsigned> type_depths_;
};

}  // namespace

void verify(const Function& fn) { Verifier(fn).run(); }

}  // namespace volley::ir
