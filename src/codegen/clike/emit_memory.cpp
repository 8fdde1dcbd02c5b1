// Loads and stores in the host's layout: a pointer to scalars, indexed by a constant plus computed steps
// times strides. A variable whose steps are all constant becomes one C variable per scalar.
#include "codegen/clike/kernel_emitter.hpp"
#include "core/text.hpp"

#include <algorithm>

namespace volley::codegen::clike {

using ir::Form;
using ir::NodeId;
using ir::Op;

std::string KernelEmitter::Memory::pointer(ScalarType s) const {
    return types.size() <= 1 ? name : cat(name, '_', name_of(s));
}

// ---- locations ----

void KernelEmitter::need_types(const ElementPath& place) {
    Memory& memory = memories_[memory_[place.root]];
    for (const ir::Leaf& leaf : ir::leaves_of(place.type)) {
        const std::size_t size = size_of(leaf.scalar);
        const bool aligned = place.aligned_to(size) && leaf.offset % size == 0;
        const ScalarType s = aligned ? s_.memory_type(leaf.scalar) : ScalarType::U8;
        if (std::find(memory.types.begin(), memory.types.end(), s) == memory.types.end())
            memory.types.push_back(s);
    }
}

void KernelEmitter::plan_access(NodeId access) {
    switch (ir::form(fn_[access].op)) {
        case Form::Load:
        case Form::Store:
        case Form::Atomic:
        case Form::AtomicCas: need_types(element_path(fn_, access)); return;
        case Form::Extract:
            if (spilled_[fn_.arg(access, 0)])
                need_types(element_path(fn_, fn_.arg(access, 0), fn_.args(access).subspan(1)));
            return;
        default: return;
    }
}

std::vector<Expr> KernelEmitter::indices(const ElementPath& place, bool many) {
    std::vector<Expr> list;
    const Space space = memories_[memory_[place.root]].space;
    for (const ElementPath::Dim& dim : place.dims) {
        const ScalarType s = fn_.type(dim.index).scalar();
        Expr e = use(dim.index);
        if (space == Space::Private && !e.bits) {
            // An out-of-range index must not reach other objects on the stack.
            const bool wide = size_of(s) == 8;
            const ScalarType t = wide ? ScalarType::U64 : ScalarType::U32;
            const Expr plain = size_of(s) < 4 ? s_.convert(s, t, e) : s_.without_sign(s, e);
            Expr clamped = expr(cat(helpers_.clamp_index(wide), '(', plain.text, ", ",
                                    s_.literal(t, dim.count - 1).text, ')'));
            clamped.reads = e.reads;
            e = std::move(clamped);
            list.push_back(many ? atom(t, std::move(e)) : std::move(e));
            continue;
        }
        if (many) e = atom(s, std::move(e));
        list.push_back(std::move(e));
    }
    return list;
}

// Returns the index in units of `unit` bytes. Only buffers can exceed 32-bit indices.
Expr KernelEmitter::index_expr(const ElementPath& place, const std::vector<Expr>& dims, std::uint64_t offset,
                               std::uint64_t unit) {
    const Space space = memories_[memory_[place.root]].space;
    const bool wide = space == Space::Global;
    std::uint64_t constant = (place.offset + offset) / unit;
    struct Term {
        Expr index;
        ScalarType type;
        std::uint64_t factor;
    };
    std::vector<Term> terms;
    for (std::size_t d = 0; d < dims.size(); ++d) {
        const std::uint64_t factor = place.dims[d].stride / unit;
        const ScalarType s = fn_.type(place.dims[d].index).scalar();
        if (const auto known = fn_.constant_int(place.dims[d].index)) {
            constant += static_cast<std::uint64_t>(*known) * factor;
        } else if (factor != 0) {
            terms.push_back({dims[d], s, factor});
        }
    }
    if (terms.empty()) {
        // A negative constant points before the buffer: undefined, but the text must still be well formed.
        return expr(wide && constant > 0xffffffffu ? s_.literal(ScalarType::U64, constant).text
                                                   : cat(wide ? constant : constant & 0xffffffffu));
    }
    if (terms.size() == 1 && terms[0].factor == 1 && constant == 0) {
        if (size_of(terms[0].type) > 1) return terms[0].index;
        // Compilers warn about subscripts of type char.
        Expr e = cast(d_.type(ScalarType::I32), terms[0].index);
        add_reads(e, terms[0].index);
        return e;
    }
    Expr sum;
    for (const Term& term : terms) {
        const bool sign = is_signed_integer(term.type);
        const ScalarType t = wide ? (sign ? ScalarType::I64 : ScalarType::U64) : ScalarType::U32;
        Expr e = term.type == t || (space == Space::Private) ? term.index : cast(d_.type(t), term.index);
        if (sign && wide) e = s_.without_sign(ScalarType::I64, e);
        if (term.factor != 1) e = binary(e, "*", expr(cat(term.factor, wide ? "" : "u")));
        add_reads(e, term.index);
        if (sum.text.empty()) {
            sum = std::move(e);
        } else {
            Expr joined = binary(sum, "+", e);
            add_reads(joined, sum);
            add_reads(joined, e);
            sum = std::move(joined);
        }
    }
    if (constant != 0) {
        Expr joined = binary(sum, "+", expr(cat(constant, wide ? "" : "u")));
        add_reads(joined, sum);
        sum = std::move(joined);
    }
    return sum;
}

/// Returns the scalar in memory as an lvalue.
Expr KernelEmitter::element(const ElementPath& place, const std::vector<Expr>& dims, std::uint64_t offset,
                            ScalarType memory_type) {
    const Memory& memory = memories_[memory_[place.root]];
    const Expr index = index_expr(place, dims, offset, size_of(memory_type));
    Expr e = expr(cat(memory.pointer(memory_type), '[', index.text, ']'));
    e.reads = index.reads;
    return e;
}

Expr KernelEmitter::load_leaf(const ElementPath& place, const std::vector<Expr>& dims, std::uint64_t offset,
                              ScalarType s) {
    const Memory& memory = memories_[memory_[place.root]];
    const std::size_t size = size_of(s);
    Expr e;
    if (place.aligned_to(size) && offset % size == 0) {
        e = element(place, dims, offset, s_.memory_type(s));
        if (s == ScalarType::Bool) {
            Expr is_set = s_.from_bits(s, e);
            e = std::move(is_set);
        }
    } else {
        const Expr at = element(place, dims, offset, ScalarType::U8);
        Expr bits =
            expr(cat(helpers_.load_bytes(ScalarCode::unsigned_of(s), memory.space), "(&", at.text, ')'));
        bits.reads = at.reads;
        e = s_.from_bits(s, bits);
    }
    Expr root;
    root.reads.push_back(memory_key(place.root));
    add_reads(e, root);
    return e;
}

void KernelEmitter::store_leaf(const ElementPath& place, const std::vector<Expr>& dims, std::uint64_t offset,
                               ScalarType s, const Expr& value) {
    const Memory& memory = memories_[memory_[place.root]];
    const std::size_t size = size_of(s);
    if (place.aligned_to(size) && offset % size == 0) {
        line(cat(element(place, dims, offset, s_.memory_type(s)).text, " = ", value.text, ';'));
        return;
    }
    const Expr at = element(place, dims, offset, ScalarType::U8);
    line(cat(helpers_.store_bytes(ScalarCode::unsigned_of(s), memory.space), "(&", at.text, ", ",
             s_.to_bits(s, value).text, ");"));
}

KernelEmitter::Exprs KernelEmitter::load_place(const ElementPath& place) {
    const ir::Leaves all = ir::leaves_of(place.type);
    const std::vector<Expr> dims = indices(place, all.size() > 1);
    Exprs list;
    list.reserve(all.size());
    for (const ir::Leaf& leaf : all) list.push_back(load_leaf(place, dims, leaf.offset, leaf.scalar));
    return list;
}

void KernelEmitter::store_place(const ElementPath& place, Exprs values) {
    const ir::Leaves all = ir::leaves_of(place.type);
    const std::vector<Expr> dims = indices(place, all.size() > 1);
    // Values that read memory are evaluated before the first store.
    if (all.size() > 1) {
        for (std::size_t k = 0; k < all.size(); ++k) {
            if (!values[k].reads.empty()) values[k] = atom(all[k].scalar, std::move(values[k]));
        }
    }
    for (std::size_t k = 0; k < all.size(); ++k)
        store_leaf(place, dims, all[k].offset, all[k].scalar, values[k]);
}

// ---- declarations ----

std::string KernelEmitter::shared_declaration(NodeId root) const {
    const Memory& memory = memories_[memory_[root]];
    if (memory.types.empty()) return {};
    if (memory.types.size() == 1) {
        const std::uint64_t size = size_of(memory.types[0]);
        return cat("    ", d_.shared_array(), d_.type(memory.types[0]), ' ', memory.name, '[',
                   (memory.bytes + size - 1) / size, "];\n");
    }
    std::string text = cat("    ", d_.shared_array(), d_.type(ScalarType::U8), ' ', memory.name, "_bytes[",
                           memory.bytes, ']', d_.aligned_array(), ";\n");
    for (const ScalarType s : memory.types) {
        const std::string pointer = cat(d_.space(Space::Shared), d_.type(s), '*');
        text += cat("    ", pointer, " const ", memory.pointer(s), " = (", pointer, ')', memory.name,
                    "_bytes;\n");
    }
    return text;
}

void KernelEmitter::declare_array(const Memory& memory) {
    if (memory.types.empty()) return;
    if (memory.types.size() == 1) {
        const std::uint64_t size = size_of(memory.types[0]);
        line(cat(d_.type(memory.types[0]), ' ', memory.name, '[', (memory.bytes + size - 1) / size,
                 "] = {0};"));
        return;
    }
    line(cat(d_.type(ScalarType::U8), ' ', memory.name, "_bytes[", memory.bytes, ']', d_.aligned_array(),
             " = {0};"));
    for (const ScalarType s : memory.types) {
        const std::string pointer = cat(d_.type(s), '*');
        line(cat(pointer, " const ", memory.pointer(s), " = (", pointer, ')', memory.name, "_bytes;"));
    }
}

void KernelEmitter::emit_root(NodeId id) {
    if (fn_[id].op != Op::Var) return;
    const Memory& memory = memories_[memory_[id]];
    if (indexed_[id]) {
        locate(id);
        declare_array(memory);
        return;
    }
    Exprs& names = variables_[memory_[id]];
    const std::vector<ScalarType> scalars = ir::leaf_scalars(fn_.type(id));
    if (declared_by_[id] == ir::none) locate(id);
    for (std::size_t k = 0; k < scalars.size(); ++k) {
        names.push_back(expr(scalars.size() == 1 ? memory.name : cat(memory.name, '_', k)));
        if (declared_by_[id] == ir::none)
            line(cat(s_.type(scalars[k]), ' ', names[k].text, " = ", s_.literal(scalars[k], 0).text, ';'));
    }
}

// ---- accesses ----

KernelEmitter::Part KernelEmitter::part_at(DType type, std::span<const NodeId> path) const {
    std::uint64_t first = 0;
    for (const NodeId step : path) {
        const auto constant = static_cast<std::uint64_t>(fn_.constant_int(step).value_or(0));
        const std::uint64_t part = std::min(constant, type.count() - 1);
        first += ir::leaves_before(type, part);
        type = type.part(part);
    }
    return {static_cast<std::size_t>(first), type};
}

void KernelEmitter::emit_load(NodeId id) {
    const NodeId root = fn_.arg(id, 0);
    if (fn_[root].op != Op::Var || indexed_[root]) {
        define(id, load_place(element_path(fn_, id)));
        return;
    }
    const Part part = part_at(fn_.type(root), fn_.args(id).subspan(1));
    Exprs list;
    for (std::size_t k = 0; k < part.type.leaf_count(); ++k) {
        Expr e = variables_[memory_[root]][part.first + k];
        e.reads.push_back(root);
        list.push_back(std::move(e));
    }
    define(id, std::move(list));
}

void KernelEmitter::emit_store(NodeId id) {
    const NodeId root = fn_.arg(id, 0);
    const NodeId stored = fn_.arg(id, 1);
    before_write(root);
    locate(id);
    Exprs values = values_[stored];
    if (fn_[root].op != Op::Var || indexed_[root]) {
        store_place(element_path(fn_, id), std::move(values));
        return;
    }
    const Part part = part_at(fn_.type(root), fn_.args(id).subspan(2));
    const std::vector<ScalarType> scalars = ir::leaf_scalars(part.type);
    if (values.size() > 1) {
        for (std::size_t k = 0; k < values.size(); ++k) {
            if (!values[k].reads.empty()) values[k] = atom(scalars[k], std::move(values[k]));
        }
    }
    for (std::size_t k = 0; k < values.size(); ++k) {
        const Expr& variable = variables_[memory_[root]][part.first + k];
        const std::string declaration =
            declared_by_[root] == id ? cat(s_.type(scalars[k]), ' ') : std::string();
        if (declaration.empty() && values[k].text == variable.text)
            continue;  // store of the variable's own value
        line(cat(declaration, variable.text, " = ", values[k].text, ';'));
    }
}

// Copies a value with computed extract steps into an array.
void KernelEmitter::spill(NodeId id) {
    const Memory& memory = memories_[memory_[id]];
    declare_array(memory);
    store_place(element_path(fn_, id, {}), values_[id]);
}

}  // namespace volley::codegen::clike
