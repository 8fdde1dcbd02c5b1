// The new body is `if (whole block) { load blocks; copies; store blocks } else { for each remaining element:
// copy }`.
#include "passes/coarsen.hpp"

#include "ir/builder.hpp"

#include <array>

namespace volley::passes {
namespace {

using ir::Form;
using ir::Function;
using ir::NodeId;
using ir::Op;

constexpr std::size_t max_nodes = 64;  // in the body, which is replicated `factor` times
constexpr std::uint64_t element_bytes = 4;

bool is_id(const Function& fn, NodeId node) {
    return fn[node].op == Op::Extract && fn[fn.arg(node, 0)].op == Op::GlobalId && fn[node].count == 2 &&
           fn.constant_int(fn.arg(node, 1)) == 0;
}

/// Returns whether the access is data[i] on a buffer of four-byte scalars.
bool is_stream(const Function& fn, NodeId access) {
    const unsigned start = ir::path_start(fn[access].op);
    const ir::Node& root = fn[fn.arg(access, 0)];
    return root.op == Op::Buffer && root.type.is_scalar() && root.type.size() == element_bytes &&
           fn[access].count == start + 1 && is_id(fn, fn.arg(access, start));
}

/// Copies the operations of a body into another function.
class Copier {
public:
    Copier(const Function& from, ir::Builder& to)
        : from_(from), to_(to), copies_(from.nodes.size(), ir::none) {}

    void set(NodeId node, NodeId copy) { copies_[node] = copy; }
    [[nodiscard]] NodeId of(NodeId node) const { return copies_[node]; }

    /// Copies all operations except declarations and those that `skip(node)` has handled.
    template <class Skip>
    void copy(Skip&& skip) {
        for (const NodeId id : from_.nodes_of(from_.body)) {
            const ir::Node& node = from_[id];
            const Form form = ir::form(node.op);
            if (form == Form::Parameter || node.op == Op::Buffer || node.op == Op::GlobalId ||
                is_id(from_, id))
                continue;
            to_.set_loc(node.loc);
            if (skip(id)) continue;
            std::vector<NodeId> args;
            for (const NodeId arg : from_.args(id)) args.push_back(copies_[arg]);
            copies_[id] = to_.emit(node.op, args, node.type, node.imm);
        }
    }

private:
    const Function& from_;
    ir::Builder& to_;
    std::vector<NodeId> copies_;
};

}  // namespace

std::vector<bool> streamed(const Function& fn) {
    std::vector<bool> result(fn.params.size(), false);
    for (const NodeId id : fn.nodes_of(fn.body)) {
        const Form form = ir::form(fn[id].op);
        if ((form == Form::Load || form == Form::Store) && is_stream(fn, id))
            result[static_cast<std::size_t>(fn[fn.arg(id, 0)].imm)] = true;
    }
    return result;
}

bool can_coarsen(const Function& fn) {
    if (fn.local_size || fn.foreign || fn.nodes_of(fn.body).size() > max_nodes) return false;
    std::vector<bool> stored(fn.params.size(), false);
    bool any_store = false;
    for (const NodeId id : fn.nodes_of(fn.body)) {
        const ir::Node& node = fn[id];
        switch (ir::form(node.op)) {
            case Form::Constant:
            case Form::Zero:
            case Form::Parameter:
            case Form::Bitcast:
            case Form::Construct: break;
            case Form::Root:
                if (node.op != Op::Buffer) return false;
                break;
            case Form::Builtin:
                if (node.op != Op::GlobalId) return false;
                break;
            case Form::Extract:
                // Only the x component of an id may be used.
                if (fn[fn.arg(id, 0)].op == Op::GlobalId && !is_id(fn, id)) return false;
                break;
            case Form::Load:
                // The new body loads whole blocks before it stores any; a load after a store might read the
                // same memory, because one buffer may be bound to two parameters.
                if (any_store) return false;
                break;
            case Form::Store: {
                if (!is_stream(fn, id)) return false;
                const auto p = static_cast<std::size_t>(fn[fn.arg(id, 0)].imm);
                if (stored[p]) return false;
                stored[p] = any_store = true;
                break;
            }
            default:
                if (!ir::is_elementwise(ir::form(node.op))) return false;
                break;
        }
        // A use of the whole vector would get the id of the block instead of the element.
        for (const NodeId arg : fn.args(id)) {
            if (fn[arg].op == Op::GlobalId && node.op != Op::Extract) return false;
        }
    }
    return any_store;
}

Coarsened coarsen(const Function& fn, const Coarsening& how) {
    Coarsened result;
    Function& to = result.function;
    to.name = fn.name;
    to.files = fn.files;
    to.notes = fn.notes;
    ir::Builder b(to);
    Copier copier(fn, b);
    for (std::uint32_t p = 0; p < fn.params.size(); ++p) {
        const ir::Param& param = fn.params[p];
        const NodeId copy = param.kind == ir::ParamKind::Buffer
                                ? b.buffer(param.type, param.name, param.read_only)
                                : b.param(param.type, param.name, param.kind);
        to.params.back().rank = param.rank;
        to.params.back().buffer = param.buffer;
        to.params.back().axis = param.axis;
        if (param.node != ir::none) copier.set(param.node, copy);
        result.original.push_back(p);
    }
    const std::uint32_t per_word = how.word_bytes / static_cast<std::uint32_t>(element_bytes);
    const std::uint32_t words = how.factor / per_word;
    const DType word = how.word_bytes == 8 ? DType(ScalarType::U64) : DType::vector(ScalarType::U32, 4);
    const std::vector<bool> blocks = streamed(fn);
    std::vector<NodeId> block_of(fn.params.size(), ir::none);
    for (std::uint32_t p = 0; p < fn.params.size(); ++p) {
        if (!blocks[p]) continue;
        block_of[p] = b.buffer(DType::array(word, words), fn.params[p].name, fn.params[p].read_only);
        result.original.push_back(p);
    }

    // Constants are created once for all elements.
    for (const NodeId id : fn.nodes_of(fn.body)) {
        if (fn[id].op == Op::Const) copier.set(id, b.constant(fn.type(id).scalar(), fn[id].imm));
    }
    const auto id_nodes = [&](NodeId copy) {
        for (const NodeId id : fn.nodes_of(fn.body)) {
            if (is_id(fn, id)) copier.set(id, copy);
        }
    };
    const NodeId invocation = b.extract(b.emit(Op::GlobalId, {}), 0);
    const NodeId factor = b.constant_u32(how.factor);
    const NodeId first = b.emit(Op::Mul, {invocation, factor});
    if (!how.whole) {
        const NodeId size = b.extract(b.emit(Op::GlobalSize, {}), 0);
        b.begin_if(b.emit(Op::Le, {first, b.emit(Op::Sub, {size, factor})}));
    }
    // The words of each loaded block, as vectors of elements.
    std::vector<std::vector<NodeId>> loaded(fn.params.size());
    std::vector<std::vector<NodeId>> stored(fn.params.size());
    for (const NodeId id : fn.nodes_of(fn.body)) {
        if (ir::form(fn[id].op) != Form::Load || !is_stream(fn, id)) continue;
        const auto p = static_cast<std::size_t>(fn[fn.arg(id, 0)].imm);
        if (!loaded[p].empty()) continue;
        const DType elements = DType::vector(fn.type(id).scalar(), per_word);
        for (std::uint32_t w = 0; w < words; ++w) {
            const std::array<NodeId, 2> path = {invocation, b.constant_u32(w)};
            loaded[p].push_back(b.emit(Op::Bitcast, {b.load(block_of[p], path)}, elements));
        }
    }
    for (std::uint32_t k = 0; k < how.factor; ++k) {
        id_nodes(b.emit(Op::Add, {first, b.constant_u32(k)}));
        copier.copy([&](NodeId id) {
            const Form form = ir::form(fn[id].op);
            if (form == Form::Constant) return true;
            if ((form != Form::Load && form != Form::Store) || !is_stream(fn, id)) return false;
            const auto p = static_cast<std::size_t>(fn[fn.arg(id, 0)].imm);
            if (form == Form::Load) {
                copier.set(id, b.extract(loaded[p][k / per_word], k % per_word));
            } else {
                stored[p].push_back(copier.of(fn.arg(id, 1)));
            }
            return true;
        });
    }
    for (std::size_t p = 0; p < stored.size(); ++p) {
        for (std::uint32_t w = 0; w < words && !stored[p].empty(); ++w) {
            const auto parts = std::span(stored[p]).subspan(std::size_t{w} * per_word, per_word);
            const DType elements = DType::vector(fn.params[p].type.scalar(), per_word);
            const std::array<NodeId, 2> path = {invocation, b.constant_u32(w)};
            b.store(block_of[p], b.emit(Op::Bitcast, {b.construct(elements, parts)}, word), path);
        }
    }
    if (!how.whole) b.end_if();
    return result;
}

}  // namespace volley::passes
