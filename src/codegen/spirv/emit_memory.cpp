// Buffer loads and stores, in the host's layout.
//
// An access is a device address plus a constant offset plus indices times strides. Each becomes one access
// chain into a block type declared for it: an array of the accessed scalar or vector, at that offset, with
// those strides. Items that the target cannot load individually are extracted from the words around them;
// storing one changes only its own bits, so neighbours may be written concurrently.
#include "codegen/spirv/kernel_emitter.hpp"

#include "core/fail.hpp"

namespace volley::codegen::spirv {

using ir::NodeId;
using ir::Op;

namespace {

std::uint32_t access_mask(bool ordered, std::uint32_t align) {
    std::uint32_t mask = 0;
    if (align != 0) mask |= static_cast<std::uint32_t>(spv::MemoryAccessMask::Aligned);
    if (ordered) mask |= static_cast<std::uint32_t>(spv::MemoryAccessMask::NonPrivatePointer);
    return mask;
}

/// Calls f(scalar, count, offset) for each run of scalars that fits into one vector.
template <class F>
void for_each_run(DType type, std::uint64_t offset, const F& f) {
    switch (type.kind()) {
        case TypeKind::Void: return;
        case TypeKind::Scalar:
        case TypeKind::Complex:
        case TypeKind::Vector: f(type.scalar(), static_cast<unsigned>(type.leaf_count()), offset); return;
        default:
            for (std::uint64_t i = 0; i < type.count(); ++i)
                for_each_run(type.part(i), offset + type.part_offset(i), f);
    }
}

}  // namespace

Id KernelEmitter::load_at(Id type, Id pointer, std::uint32_t align) {
    const std::uint32_t mask = access_mask(plan_.ordered, align);
    if (mask == 0) return m_.load(type, pointer);
    if (align == 0) return m_.op(spv::Op::OpLoad, type, {pointer, mask});
    return m_.op(spv::Op::OpLoad, type, {pointer, mask, align});
}

void KernelEmitter::store_at(Id pointer, Id v, std::uint32_t align) {
    const std::uint32_t mask = access_mask(plan_.ordered, align);
    if (mask == 0) {
        m_.store(pointer, v);
    } else if (align == 0) {
        m_.statement(spv::Op::OpStore, {pointer, v, mask});
    } else {
        m_.statement(spv::Op::OpStore, {pointer, v, mask, align});
    }
}

// ---- locations ----

// Access chains treat indices as signed, so a u32 index is widened if the target has i64.
Id KernelEmitter::chain_index(NodeId index) {
    const ScalarType type = fn_.type(index).scalar();
    const Scalar v = scalar(index);
    if (type != ScalarType::U32 || !target_.i64) return v.id;
    const auto known = m_.constant_bits(v.id);
    if (known && *known < 0x80000000u) return v.id;
    return m_.op(spv::Op::OpUConvert, m_.int_type(64), {v.id});
}

Id KernelEmitter::pointer_at(Scalar address, Id type) {
    const Id words =
        m_.op(spv::Op::OpCompositeConstruct, m_.vector_type(m_.u32_type(), 2), {address.id, address.high});
    return m_.op(spv::Op::OpBitcast, m_.pointer_type(spv::StorageClass::PhysicalStorageBuffer, type),
                 {words});
}

Scalar KernelEmitter::byte_address(const ElementPath& place, std::uint64_t offset) {
    const Id word = m_.u32_type();
    const Id base = address_of(parameter_of(place));
    Scalar address;
    {
        const ModuleBuilder::InPrologue prologue(m_);
        address = {m_.extract(base, word, 0), m_.extract(base, word, 1)};
    }
    for (const ElementPath::Dim& dim : place.dims) {
        const ScalarType type = fn_.type(dim.index).scalar();
        Scalar index = scalar(dim.index);
        if (size_of(type) < 8) {
            index.high = is_signed_integer(type) ? s_.sar(index.id, s_.u32(31)) : s_.u32(0);
        } else if (!s_.paired(type)) {
            index = s_.split(index.id);
        }
        const auto stride = static_cast<std::uint32_t>(dim.stride);
        if (stride != 1) index = s_.pair_mul(index, {s_.u32(stride), s_.u32(0)});
        address = s_.pair_add(address, index);
    }
    const std::uint64_t constant = place.offset + offset;
    if (constant == 0) return address;
    return s_.pair_add(address, {s_.u32(static_cast<std::uint32_t>(constant)),
                                 s_.u32(static_cast<std::uint32_t>(constant >> 32))});
}

// Returns a pointer to an item of type `type`, `offset` bytes after the location.
Id KernelEmitter::leaf_pointer(const ElementPath& place, std::uint64_t offset, Id type) {
    for (const ElementPath::Dim& dim : place.dims) {
        if (s_.paired(fn_.type(dim.index).scalar())) return pointer_at(byte_address(place, offset), type);
    }
    Id nested = type;
    for (std::size_t d = place.dims.size(); d-- > 1;) {
        nested = m_.array_type(nested, static_cast<std::uint32_t>(place.dims[d].count),
                               static_cast<std::uint32_t>(place.dims[d].stride));
    }
    nested = m_.runtime_array_type(nested, static_cast<std::uint32_t>(place.dims[0].stride));
    const BlockMember member{nested, static_cast<std::uint32_t>(place.offset + offset)};
    const Id block = m_.block_type({&member, 1});
    const std::uint64_t key = std::uint64_t{parameter_of(place)} << 32 | block;
    Id pointer = 0;
    for (const auto& [known, id] : block_pointers_) {
        if (known == key) pointer = id;
    }
    if (pointer == 0) {
        const Id address = address_of(parameter_of(place));
        const ModuleBuilder::InPrologue prologue(m_);
        pointer = m_.op(spv::Op::OpBitcast, m_.pointer_type(spv::StorageClass::PhysicalStorageBuffer, block),
                        {address});
        block_pointers_.emplace_back(key, pointer);
    }
    Words operands = {pointer, s_.u32(0)};
    for (const ElementPath::Dim& dim : place.dims) operands.push_back(chain_index(dim.index));
    return m_.op(spv::Op::OpAccessChain, m_.pointer_type(spv::StorageClass::PhysicalStorageBuffer, type),
                 operands);
}

// ---- items within words ----

Id KernelEmitter::load_byte(Scalar address, std::uint64_t bytes) {
    const Id word_pointer = pointer_at({s_.and_(address.id, s_.u32(~3u)), address.high}, m_.u32_type());
    const Id word = load_at(m_.u32_type(), word_pointer, 4);
    const Id shift = s_.shl(s_.and_(address.id, s_.u32(3)), s_.u32(3));
    return s_.and_(s_.shr(word, shift), s_.u32(bytes == 1 ? 0xff : 0xffff));
}

void KernelEmitter::store_byte(Scalar address, std::uint64_t bytes, Id v) {
    const Id word_pointer = pointer_at({s_.and_(address.id, s_.u32(~3u)), address.high}, m_.u32_type());
    const Id shift = s_.shl(s_.and_(address.id, s_.u32(3)), s_.u32(3));
    const Id mask = s_.shl(s_.u32(bytes == 1 ? 0xff : 0xffff), shift);
    atomic(spv::Op::OpAtomicAnd, m_.u32_type(), word_pointer, false, {s_.not_(mask)});
    atomic(spv::Op::OpAtomicOr, m_.u32_type(), word_pointer, false, {s_.shl(v, shift)});
}

bool KernelEmitter::in_words(ScalarType scalar_type, const ElementPath& place, std::uint64_t offset) const {
    const std::size_t size = size_of(scalar_type);
    if (!place.aligned_to(size) || offset % size != 0) return true;
    // Pointers to narrow items come from casts, which also require the narrow type's arithmetic.
    if (size == 1) return !target_.storage8 || !target_.i8;
    if (size == 2) return !target_.storage16 || !target_.i16;
    return false;
}

Id KernelEmitter::memory_type(ScalarType scalar_type) {
    switch (size_of(scalar_type)) {
        case 1:
            m_.capability(spv::Capability::StorageBuffer8BitAccess);
            m_.capability(spv::Capability::Int8);
            return m_.int_type(8);
        case 2:
            m_.capability(spv::Capability::StorageBuffer16BitAccess);
            m_.capability(spv::Capability::Int16);
            return m_.int_type(16);
        default: return s_.type(scalar_type);
    }
}

void KernelEmitter::load_run(const ElementPath& place, std::uint64_t offset, ScalarType scalar_type,
                             unsigned count, std::vector<Scalar>& out) {
    const std::size_t size = size_of(scalar_type);
    const Id word = m_.u32_type();
    if (in_words(scalar_type, place, offset)) {
        // Aligned two-byte items never straddle words; all others are accessed byte by byte.
        const bool whole = size <= 2 && place.aligned_to(size) && offset % size == 0;
        for (unsigned k = 0; k < count; ++k) {
            const Scalar address = byte_address(place, offset + k * size);
            std::array<Id, 2> words = {};
            for (std::size_t b = 0; b < (whole ? 1 : size); ++b) {
                const Scalar at =
                    b == 0 ? address
                           : s_.pair_add(address, {s_.u32(static_cast<std::uint32_t>(b)), s_.u32(0)});
                const Id v = load_byte(at, whole ? size : 1);
                const auto shift = static_cast<std::uint32_t>(b % 4 * 8);
                words[b / 4] = shift == 0 ? v : s_.or_(words[b / 4], s_.shl(v, s_.u32(shift)));
            }
            out.push_back(s_.from_words(scalar_type, words[0], words[1]));
        }
        return;
    }
    const auto align = static_cast<std::uint32_t>(size);
    if (s_.paired(scalar_type)) {
        for (unsigned k = 0; k < count; ++k) {
            const Id two = m_.vector_type(word, 2);
            const Id v = load_at(two, leaf_pointer(place, offset + k * size, two), align);
            out.push_back({m_.extract(v, word, 0), m_.extract(v, word, 1)});
        }
        return;
    }
    const Id item = memory_type(scalar_type);
    const Id type = count == 1 ? item : m_.vector_type(item, count);
    Id v = load_at(type, leaf_pointer(place, offset, type), align);
    Id wide = item;
    if (size < 4) {
        wide = word;
        v = m_.op(is_signed_integer(scalar_type) ? spv::Op::OpSConvert : spv::Op::OpUConvert,
                  count == 1 ? wide : m_.vector_type(wide, count), {v});
    }
    for (unsigned k = 0; k < count; ++k) {
        const Id part = count == 1 ? v : m_.extract(v, wide, k);
        out.push_back({scalar_type == ScalarType::Bool  ? s_.ne(part, s_.u32(0))
                       : scalar_type == ScalarType::F16 ? s_.half_value(part, payload_)
                                                        : part});
    }
}

void KernelEmitter::store_run(const ElementPath& place, std::uint64_t offset, ScalarType scalar_type,
                              std::span<const Scalar> values) {
    const std::size_t size = size_of(scalar_type);
    const Id word = m_.u32_type();
    if (in_words(scalar_type, place, offset)) {
        const bool whole = size <= 2 && place.aligned_to(size) && offset % size == 0;
        for (std::size_t k = 0; k < values.size(); ++k) {
            const Scalar address = byte_address(place, offset + k * size);
            const Scalar bits = s_.to_words(scalar_type, values[k]);
            for (std::size_t b = 0; b < (whole ? 1 : size); ++b) {
                const Scalar at =
                    b == 0 ? address
                           : s_.pair_add(address, {s_.u32(static_cast<std::uint32_t>(b)), s_.u32(0)});
                Id v = b < 4 ? bits.id : bits.high;
                if (!whole)
                    v = s_.and_(s_.shr(v, s_.u32(static_cast<std::uint32_t>(b % 4 * 8))), s_.u32(0xff));
                store_byte(at, whole ? size : 1, v);
            }
        }
        return;
    }
    const auto align = static_cast<std::uint32_t>(size);
    const auto count = static_cast<unsigned>(values.size());
    if (s_.paired(scalar_type)) {
        for (unsigned k = 0; k < count; ++k) {
            const Id two = m_.vector_type(word, 2);
            const Id v = m_.op(spv::Op::OpCompositeConstruct, two, {values[k].id, values[k].high});
            store_at(leaf_pointer(place, offset + k * size, two), v, align);
        }
        return;
    }
    const Id item = memory_type(scalar_type);
    const Id wide = size >= 4 ? item : word;
    Words parts;
    for (const Scalar& v : values) {
        parts.push_back(scalar_type == ScalarType::Bool  ? s_.pick(v.id, s_.u32(1), s_.u32(0))
                        : scalar_type == ScalarType::F16 ? s_.half_bits(v.id, payload_)
                                                         : v.id);
    }
    Id v = count == 1 ? parts[0] : m_.op(spv::Op::OpCompositeConstruct, m_.vector_type(wide, count), parts);
    const Id type = count == 1 ? item : m_.vector_type(item, count);
    if (size < 4) v = m_.op(spv::Op::OpUConvert, type, {v});
    store_at(leaf_pointer(place, offset, type), v, align);
}

// ---- accesses ----

void KernelEmitter::emit_load(NodeId id) {
    const NodeId root = fn_.arg(id, 0);
    switch (fn_[root].op) {
        case Op::Var: emit_variable_load(id); return;
        case Op::Shared: {
            const Flat& flat = flats_[memory_[root]];
            scratch_.clear();
            load_flat(flat, flat_position(flat, fn_.type(root), fn_.args(id).subspan(1), false), scratch_);
            set(id, scratch_);
            return;
        }
        default: break;
    }
    const ElementPath place = element_path(fn_, id);
    payload_ = plan_.marks[id].payload;
    scratch_.clear();
    for_each_run(place.type, 0, [&](ScalarType scalar_type, unsigned count, std::uint64_t offset) {
        load_run(place, offset, scalar_type, count, scratch_);
    });
    set(id, scratch_);
}

void KernelEmitter::emit_store(NodeId id) {
    const NodeId root = fn_.arg(id, 0);
    const auto values = value(fn_.arg(id, 1));
    switch (fn_[root].op) {
        case Op::Var: emit_variable_store(id); return;
        case Op::Shared: {
            const Flat& flat = flats_[memory_[root]];
            store_flat(flat, flat_position(flat, fn_.type(root), fn_.args(id).subspan(2), false), values);
            return;
        }
        default: break;
    }
    const ElementPath place = element_path(fn_, id);
    payload_ = !computes(fn_[fn_.arg(id, 1)].op);
    std::size_t next = 0;
    for_each_run(place.type, 0, [&](ScalarType scalar_type, unsigned count, std::uint64_t offset) {
        store_run(place, offset, scalar_type, values.subspan(next, count));
        next += count;
    });
}

}  // namespace volley::codegen::spirv
