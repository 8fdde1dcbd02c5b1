// Shared arrays, local variables, and values with computed indices.
//
// Indexed memory is laid out flat: for each kind of cell in the type there is one array of the leaves of that
// kind, in the type's order. A path's type is known statically, so each step is a constant distance in each
// array. Indices into variables are clamped: an out-of-range index must not leave the variable.
#include "codegen/spirv/kernel_emitter.hpp"

#include <algorithm>

namespace volley::codegen::spirv {

using ir::NodeId;
using ir::Op;

Cell KernelEmitter::cell_of(const Flat& flat, ScalarType scalar) const {
    const bool shared = flat.storage == spv::StorageClass::Workgroup;
    switch (scalar) {
        case ScalarType::Bool: return !shared ? Cell::Bit : target_.i8 ? Cell::Byte : Cell::Word;
        case ScalarType::I8:
        case ScalarType::U8: return shared && target_.i8 ? Cell::Byte : Cell::Word;
        case ScalarType::I16:
        case ScalarType::U16: return shared && target_.i16 ? Cell::Short : Cell::Word;
        case ScalarType::F16: return shared && target_.i16 ? Cell::Short : Cell::Float;
        case ScalarType::I32:
        case ScalarType::U32: return Cell::Word;
        case ScalarType::F32: return flat.integers ? Cell::Word : Cell::Float;
        case ScalarType::I64:
        case ScalarType::U64: return target_.i64 ? Cell::Long : Cell::Pair;
        case ScalarType::F64:
            if (!target_.f64) return Cell::Pair;
            return flat.integers && target_.i64 ? Cell::Long : Cell::Double;
    }
    return Cell::Word;
}

Id KernelEmitter::cell_type(Cell cell) {
    switch (cell) {
        case Cell::Bit: return m_.bool_type();
        case Cell::Byte: m_.capability(spv::Capability::Int8); return m_.int_type(8);
        case Cell::Short: m_.capability(spv::Capability::Int16); return m_.int_type(16);
        case Cell::Word: return m_.u32_type();
        case Cell::Float: return m_.float_type(32);
        case Cell::Long: return m_.int_type(64);
        case Cell::Double: return m_.float_type(64);
        case Cell::Pair: return m_.vector_type(m_.u32_type(), 2);
    }
    return 0;
}

std::uint64_t KernelEmitter::cells_in(const Flat& flat, DType type, Cell cell) const {
    switch (type.kind()) {
        case TypeKind::Void: return 0;
        case TypeKind::Struct: {
            std::uint64_t sum = 0;
            for (const StructField& field : type.fields()) sum += cells_in(flat, field.type, cell);
            return sum;
        }
        case TypeKind::Array: return type.count() * cells_in(flat, type.part(0), cell);
        default: return cell_of(flat, type.scalar()) == cell ? type.leaf_count() : 0;
    }
}

void KernelEmitter::declare_flat(Flat& flat, DType type) {
    constexpr std::uint32_t bytes[] = {4, 1, 2, 4, 4, 8, 8, 8};
    for (std::size_t k = 0; k < cell_kinds; ++k) {
        const auto cell = static_cast<Cell>(k);
        const std::uint64_t count = cells_in(flat, type, cell);
        if (count == 0) continue;
        const Id array = m_.array_type(cell_type(cell), static_cast<std::uint32_t>(count));
        if (flat.storage == spv::StorageClass::Workgroup) {
            flat.arrays[k] = m_.variable(flat.storage, array);
            const std::uint64_t used = out_.shared_bytes + count * bytes[k];
            out_.shared_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>((used + 3) / 4 * 4, ~3u));
        } else {
            flat.arrays[k] = m_.local(array);
        }
    }
}

// ---- positions ----

Id KernelEmitter::index_word(NodeId index) {
    const ScalarType type = fn_.type(index).scalar();
    return s_.convert(type, ScalarType::U32, scalar(index)).id;
}

Id KernelEmitter::clamped_index(NodeId index, std::uint64_t count) {
    const ScalarType type = fn_.type(index).scalar();
    const auto last = static_cast<std::uint32_t>(std::min<std::uint64_t>(count, 0x80000000u) - 1);
    if (size_of(type) < 8) return m_.glsl(GLSLstd450UMin, m_.u32_type(), {scalar(index).id, s_.u32(last)});
    const Id inside = s_.apply(Op::Le, ScalarType::U64, scalar(index), s_.constant(ScalarType::U64, last)).id;
    return s_.pick(inside, index_word(index), s_.u32(last));
}

KernelEmitter::Position KernelEmitter::flat_position(const Flat& flat, DType type,
                                                     std::span<const NodeId> path, bool clamp) {
    Position at;
    for (const NodeId step : path) {
        const auto constant = fn_.constant_int(step);
        if (constant) {
            const std::uint64_t part = std::min(static_cast<std::uint64_t>(*constant), type.count() - 1);
            for (std::size_t k = 0; k < cell_kinds; ++k) {
                if (flat.arrays[k] == 0) continue;
                const auto cell = static_cast<Cell>(k);
                if (!type.is_struct()) {
                    at.constant[k] += part * cells_in(flat, type.part(0), cell);
                    continue;
                }
                for (std::uint64_t i = 0; i < part; ++i)
                    at.constant[k] += cells_in(flat, type.fields()[static_cast<std::size_t>(i)].type, cell);
            }
            type = type.part(part);
            continue;
        }
        const Id index = clamp ? clamped_index(step, type.count()) : index_word(step);
        for (std::size_t k = 0; k < cell_kinds; ++k) {
            if (flat.arrays[k] == 0) continue;
            const std::uint64_t scale = cells_in(flat, type.part(0), static_cast<Cell>(k));
            if (scale == 0) continue;
            const Id scaled = scale == 1 ? index : s_.mul(index, s_.u32(static_cast<std::uint32_t>(scale)));
            at.computed[k] = at.computed[k] == 0 ? scaled : s_.add(at.computed[k], scaled);
        }
        type = type.part(0);
    }
    at.type = type;
    return at;
}

Id KernelEmitter::cell_pointer(const Flat& flat, const Position& at, Cell cell, std::uint64_t next) {
    const auto k = static_cast<std::size_t>(cell);
    const Id constant = s_.u32(static_cast<std::uint32_t>(at.constant[k] + next));
    Id index = at.computed[k];
    if (index == 0) {
        index = constant;
    } else if (at.constant[k] + next != 0) {
        index = s_.add(index, constant);
    }
    return m_.op(spv::Op::OpAccessChain, m_.pointer_type(flat.storage, cell_type(cell)),
                 {flat.arrays[k], index});
}

// ---- cells and scalars ----

Scalar KernelEmitter::from_cell(ScalarType scalar_type, Cell cell, Id v) {
    const Id word = m_.u32_type();
    switch (cell) {
        case Cell::Byte:
        case Cell::Short: return s_.from_words(scalar_type, m_.op(spv::Op::OpUConvert, word, {v}));
        case Cell::Word:
            if (scalar_type == ScalarType::Bool) return {s_.ne(v, s_.u32(0))};
            if (scalar_type == ScalarType::F32) return {s_.f32_of_bits(v)};
            return {v};
        case Cell::Long:
            if (scalar_type == ScalarType::F64) return {m_.op(spv::Op::OpBitcast, s_.type(scalar_type), {v})};
            return {v};
        case Cell::Pair: return {m_.extract(v, word, 0), m_.extract(v, word, 1)};
        default: return {v};
    }
}

Id KernelEmitter::to_cell(ScalarType scalar_type, Cell cell, Scalar v) {
    switch (cell) {
        case Cell::Byte:
        case Cell::Short:
            return m_.op(spv::Op::OpUConvert, cell_type(cell), {s_.to_words(scalar_type, v).id});
        case Cell::Word:
            if (scalar_type == ScalarType::Bool) return s_.pick(v.id, s_.u32(1), s_.u32(0));
            if (scalar_type == ScalarType::F32) return s_.bits_of_f32(v.id);
            return v.id;
        case Cell::Long:
            if (scalar_type == ScalarType::F64) return m_.op(spv::Op::OpBitcast, cell_type(cell), {v.id});
            return v.id;
        case Cell::Pair: return m_.op(spv::Op::OpCompositeConstruct, cell_type(cell), {v.id, v.high});
        default: return v.id;
    }
}

void KernelEmitter::load_flat(const Flat& flat, const Position& at, std::vector<Scalar>& out) {
    std::array<std::uint64_t, cell_kinds> next = {};
    const bool shared = flat.storage == spv::StorageClass::Workgroup;
    for (const ir::Leaf& leaf : leaves(at.type)) {
        const Cell cell = cell_of(flat, leaf.scalar);
        const Id pointer = cell_pointer(flat, at, cell, next[static_cast<std::size_t>(cell)]++);
        const Id type = cell_type(cell);
        const Id v = shared ? load_at(type, pointer, 0) : m_.load(type, pointer);
        out.push_back(from_cell(leaf.scalar, cell, v));
    }
}

void KernelEmitter::store_flat(const Flat& flat, const Position& at, std::span<const Scalar> values) {
    std::array<std::uint64_t, cell_kinds> next = {};
    const bool shared = flat.storage == spv::StorageClass::Workgroup;
    const ir::Leaves& all = leaves(at.type);
    for (std::size_t k = 0; k < all.size(); ++k) {
        const Cell cell = cell_of(flat, all[k].scalar);
        const Id pointer = cell_pointer(flat, at, cell, next[static_cast<std::size_t>(cell)]++);
        const Id v = to_cell(all[k].scalar, cell, values[k]);
        if (shared) {
            store_at(pointer, v, 0);
        } else {
            m_.store(pointer, v);
        }
    }
}

// ---- roots ----

void KernelEmitter::declare_root(NodeId id) {
    switch (fn_[id].op) {
        case Op::Shared: {
            memory_[id] = static_cast<std::uint32_t>(flats_.size());
            Flat& flat = flats_.emplace_back();
            flat.storage = spv::StorageClass::Workgroup;
            flat.integers = plan_.marks[id].exchanged;
            declare_flat(flat, fn_.type(id));
            return;
        }
        case Op::Var: declare_variable(id); return;
        default: return;  // a buffer is an address
    }
}

void KernelEmitter::declare_variable(NodeId id) {
    memory_[id] = static_cast<std::uint32_t>(variables_.size());
    Variable& variable = variables_.emplace_back();
    variable.indexed = plan_.marks[id].indexed;
    if (variable.indexed) {
        declare_flat(variable.flat, fn_.type(id));
    } else {
        for (const ir::Leaf& leaf : leaves(fn_.type(id))) {
            const Id type = s_.type(leaf.scalar);
            variable.slots.push_back({m_.local(type), s_.paired(leaf.scalar) ? m_.local(type) : 0});
        }
    }
    if (!plan_.marks[id].initialised) reset_variable(id);
}

// Zeroes a variable: each execution of its declaration starts at zero.
void KernelEmitter::reset_variable(NodeId id) {
    const Variable& variable = variables_[memory_[id]];
    if (variable.indexed) {
        for (std::size_t k = 0; k < cell_kinds; ++k) {
            if (variable.flat.arrays[k] == 0) continue;
            const auto cell = static_cast<Cell>(k);
            const std::uint64_t count = cells_in(variable.flat, fn_.type(id), cell);
            const Id array = m_.array_type(cell_type(cell), static_cast<std::uint32_t>(count));
            m_.store(variable.flat.arrays[k], m_.null(array));
        }
        return;
    }
    const ir::Leaves& all = leaves(fn_.type(id));
    for (std::size_t k = 0; k < all.size(); ++k) {
        const Scalar zero = s_.zero(all[k].scalar);
        m_.store(variable.slots[k].id, zero.id);
        if (zero.high != 0) m_.store(variable.slots[k].high, zero.high);
    }
}

void KernelEmitter::spill(NodeId id) {
    const auto index = static_cast<std::uint32_t>(flats_.size());
    memory_[id] = index;
    Flat flat;
    declare_flat(flat, fn_.type(id));
    flats_.push_back(flat);
    Position at;
    at.type = fn_.type(id);
    const std::vector<Scalar> all(value(id).begin(), value(id).end());
    if (fn_[id].op == Op::Param) {
        const ModuleBuilder::InPrologue prologue(m_);
        store_flat(flat, at, all);
    } else {
        store_flat(flat, at, all);
    }
}

namespace {

// Returns the leaf that a path of constants selects; out-of-range steps select the last part.
std::uint64_t constant_leaf(const ir::Function& fn, DType& type, std::span<const NodeId> path) {
    std::uint64_t leaf = 0;
    for (const NodeId step : path) {
        const std::uint64_t part =
            std::min(static_cast<std::uint64_t>(*fn.constant_int(step)), type.count() - 1);
        leaf += ir::leaves_before(type, part);
        type = type.part(part);
    }
    return leaf;
}

}  // namespace

void KernelEmitter::emit_variable_load(NodeId id) {
    const NodeId root = fn_.arg(id, 0);
    const auto path = fn_.args(id).subspan(1);
    const Variable& variable = variables_[memory_[root]];
    scratch_.clear();
    if (variable.indexed) {
        load_flat(variable.flat, flat_position(variable.flat, fn_.type(root), path, true), scratch_);
    } else {
        DType type = fn_.type(root);
        auto leaf = static_cast<std::size_t>(constant_leaf(fn_, type, path));
        for (const ir::Leaf& at : leaves(type)) {
            const Scalar slot = variable.slots[leaf++];
            const Id t = s_.type(at.scalar);
            scratch_.push_back({m_.load(t, slot.id), slot.high != 0 ? m_.load(t, slot.high) : 0});
        }
    }
    set(id, scratch_);
}

void KernelEmitter::emit_variable_store(NodeId id) {
    const NodeId root = fn_.arg(id, 0);
    const auto path = fn_.args(id).subspan(2);
    const auto values = value(fn_.arg(id, 1));
    const Variable& variable = variables_[memory_[root]];
    if (variable.indexed) {
        store_flat(variable.flat, flat_position(variable.flat, fn_.type(root), path, true), values);
        return;
    }
    DType type = fn_.type(root);
    auto leaf = static_cast<std::size_t>(constant_leaf(fn_, type, path));
    for (const Scalar& v : values) {
        const Scalar slot = variable.slots[leaf++];
        m_.store(slot.id, v.id);
        if (slot.high != 0) m_.store(slot.high, v.high);
    }
}

}  // namespace volley::codegen::spirv
