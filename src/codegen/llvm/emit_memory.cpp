// Buffers and shared memory. If addresses form an arithmetic progression over the lanes, an access becomes
// vector loads, stores and shuffles; only irregular addresses are gathered and scattered.
#include "codegen/llvm/interleave.hpp"
#include "codegen/llvm/kernel_emitter.hpp"

#include <algorithm>
#include <array>
#include <functional>

namespace volley::codegen::llvm {

using ir::NodeId;
using ir::Op;
using passes::LaneShape;

namespace {

struct LeafPlace {
    ScalarType type;
    std::uint64_t offset;
};

void collect_leaves(DType t, std::uint64_t offset, std::vector<LeafPlace>& out) {
    if (t.is_scalar()) {
        out.push_back({t.scalar(), offset});
        return;
    }
    for (std::uint64_t i = 0; i < t.count(); ++i) collect_leaves(t.part(i), offset + t.part_offset(i), out);
}

// Returns true if all leaves have one type and no gaps, as (de)interleaving in registers requires.
bool packed(const std::vector<LeafPlace>& leaves, std::uint64_t stride) {
    const std::size_t size = size_of(leaves[0].type);
    for (std::size_t k = 0; k < leaves.size(); ++k) {
        if (leaves[k].type != leaves[0].type || leaves[k].offset != k * size) return false;
    }
    return stride == leaves.size() * size;
}

constexpr unsigned max_interleave = 16;

constexpr std::uint64_t most_small = 0x7fffffff;  // see address_of_terms()

}  // namespace

KernelEmitter::LaneAddress KernelEmitter::place(NodeId access) {
    const Op op = fn_[access].op;
    const NodeId root = fn_.arg(access, 0);
    LaneAddress p;
    p.type = fn_.type(root);
    p.base = leaf(root).scalar;
    p.buffer = fn_[root].op == Op::Buffer;
    p.streamed = fn_[root].op == Op::Buffer && !streamed_.empty() && streamed_[fn_[root].imm];
    std::span<const NodeId> path = fn_.args(access).subspan(ir::path_start(op));
    const auto step = [&](NodeId index, std::uint64_t scale) {
        if (const auto constant = fn_.constant_int(index)) {
            p.offset += static_cast<std::uint64_t>(*constant) * scale;
        } else {
            p.steps.push_back({index, scale});
        }
    };
    if (fn_[root].op == Op::Buffer) {
        step(path[0], p.type.size());
        path = path.subspan(1);
    }
    for (const NodeId index : path) {
        if (p.type.is_struct()) {
            const auto field = static_cast<std::uint64_t>(*fn_.constant_int(index));
            p.offset += p.type.part_offset(field);
            p.type = p.type.part(field);
        } else {
            const DType part = p.type.part(0);
            step(index, part.size());
            p.type = part;
        }
    }
    return p;
}

Val KernelEmitter::index64(NodeId index) {
    const ScalarType type = fn_.type(index).scalar();
    const Leaf l = leaf(index);
    const LaneShape s = shape(index);
    const Val v = scalar(l);
    if (is_signed_integer(type)) return c.sext(v, c.i64);
    if (masked_ && !l.uniform() && s.kind == LaneShape::Affine && s.stride > 0 && bits_of(type) == 32 &&
        lanes_.may_wrap(index)) {
        // `data[i - 1]` under `i > 0`: lane 0's index may wrap while it is masked off. Computing the address
        // from the last lane is correct for all lanes after the wrap.
        const std::int64_t span = s.stride * static_cast<std::int64_t>(c.W - 1);
        const Val last = c.add(v, c.c(c.i32, span));
        return c.sub(c.zext(last, c.i64), c.u64(static_cast<std::uint64_t>(span)));
    }
    return c.zext(v, c.i64);
}

Val KernelEmitter::index64_lanes(NodeId index) {
    const ScalarType type = fn_.type(index).scalar();
    const Val v = lanes(leaf(index));
    return is_signed_integer(type) ? c.sext(v, c.lanes(c.i64)) : c.zext(v, c.lanes(c.i64));
}

std::optional<std::int64_t> KernelEmitter::lane_stride(const LaneAddress& p) const {
    std::int64_t stride = 0;
    for (const Step& step : p.steps) {
        if (leaf(step.index).uniform()) continue;
        const LaneShape s = shape(step.index);
        if (s.kind == LaneShape::Varying) return std::nullopt;
        if (s.kind == LaneShape::Affine) stride += s.stride * static_cast<std::int64_t>(step.scale);
    }
    return stride;
}

bool KernelEmitter::add_term(SumTerms& terms, NodeId id) const {
    if (const auto constant = fn_.constant_int(id)) {
        const std::uint64_t value = static_cast<std::uint32_t>(*constant);
        if (terms.most + value <= most_small) {
            terms.constant += value;
            terms.most += value;
            return true;
        }
    }
    if (const auto sum = sums_.find(id); sum != sums_.end()) {
        const SumTerms& other = sum->second;
        if (terms.most + other.most <= most_small) {
            terms.large.insert(terms.large.end(), other.large.begin(), other.large.end());
            terms.small.insert(terms.small.end(), other.small.begin(), other.small.end());
            terms.constant += other.constant;
            terms.most += other.most;
            return true;
        }
    }
    const Leaf l = leaf(id);
    if (l.scalar == nullptr) return false;
    if (const auto limit = lanes_.small_limit(id); limit && terms.most + *limit <= most_small) {
        terms.small.push_back(l.scalar);
        terms.most += *limit;
        return true;
    }
    if (!l.uniform()) return false;
    terms.large.push_back(l.scalar);
    return true;
}

void KernelEmitter::note_sum(NodeId id) {
    sums_.erase(id);
    const Op op = fn_[id].op;
    if ((op != Op::Add && op != Op::Sub) || fn_.type(id) != DType(ScalarType::U32)) return;
    SumTerms terms;
    if (!add_term(terms, fn_.arg(id, 0))) return;
    if (op == Op::Add) {
        if (!add_term(terms, fn_.arg(id, 1))) return;
    } else {
        const auto constant = fn_.constant_int(fn_.arg(id, 1));
        if (!constant) return;
        terms.large.push_back(c.u32(0U - static_cast<std::uint32_t>(*constant)));
    }
    sums_.emplace(id, std::move(terms));
}

const KernelEmitter::SumTerms* KernelEmitter::index_terms(NodeId index) const {
    if (variant_.huge) return nullptr;
    const auto sum = sums_.find(index);
    if (sum == sums_.end()) return nullptr;
    const SumTerms& terms = sum->second;
    const bool splits = !terms.small.empty() && (!terms.large.empty() || terms.constant != 0);
    return splits ? &terms : nullptr;
}

// The index is below 2^31, because buffers have no more elements (Variant::huge). Let a be the sum of the
// large terms modulo 2^32, read as a signed number, and b that of the others, which is below 2^31. Then a + b
// is congruent to the index modulo 2^32 and lies between -2^31 and 2^32 - 1, so that it is the index. As a is
// uniform and b does not wrap in any lane, this holds for active lanes whatever lane 0 is. Unlike their sum,
// the parts can be computed outside of loops, shared by several accesses, and added by the access itself.
Val KernelEmitter::address_of_terms(Val base, const SumTerms& terms, std::uint64_t scale) {
    Val at = base;
    Val large = nullptr;
    for (const Val term : terms.large) large = large == nullptr ? term : c.add(large, term);
    if (large != nullptr) at = c.gep(at, c.mul(c.sext(large, c.i64), c.u64(scale)));
    for (const Val term : terms.small) at = c.gep(at, c.mul(c.zext(term, c.i64), c.u64(scale)));
    return c.gep(at, static_cast<std::int64_t>(terms.constant * scale));
}

Val KernelEmitter::address(const LaneAddress& p) {
    Val at = p.base;
    for (const Step& step : p.steps) {
        if (const SumTerms* terms = p.buffer ? index_terms(step.index) : nullptr) {
            at = address_of_terms(at, *terms, step.scale);
        } else {
            at = c.gep(at, c.mul(index64(step.index), c.u64(step.scale)));
        }
    }
    return c.gep(at, static_cast<std::int64_t>(p.offset));
}

Val KernelEmitter::address_lanes(const LaneAddress& p) {
    // Adds the uniform part first, in scalar arithmetic.
    Val base = c.gep(p.base, static_cast<std::int64_t>(p.offset));
    Val offsets = nullptr;
    for (const Step& step : p.steps) {
        if (leaf(step.index).uniform()) {
            base = c.gep(base, c.mul(index64(step.index), c.u64(step.scale)));
        } else {
            const Val term =
                c.mul(index64_lanes(step.index), c.c(c.lanes(c.i64), static_cast<std::int64_t>(step.scale)));
            offsets = offsets == nullptr ? term : c.add(offsets, term);
        }
    }
    if (offsets == nullptr) offsets = c.zero(c.lanes(c.i64));
    return c.gep(base, offsets);
}

unsigned KernelEmitter::stream_alignment(const LaneAddress& p) const {
    if (!p.streamed || masked_ || p.steps.size() != 1) return 0;
    // Lane 0's index is a multiple of the width, so its address is a multiple of the vector's size.
    const std::uint64_t bytes = p.steps[0].scale * c.W;
    const bool aligned = shape(p.steps[0].index).align % c.W == 0 && p.offset % bytes == 0;
    return aligned && bytes % 16 == 0 ? static_cast<unsigned>(bytes % 64 == 0   ? 64
                                                              : bytes % 32 == 0 ? 32
                                                                                : 16)
                                      : 0;
}

void KernelEmitter::store_vector(Val v, Val at, ScalarType type, Val m, unsigned stream_align) {
    if (stream_align != 0 && m == nullptr) {
        c.stream(v, at, stream_align);
    } else {
        c.masked_store(v, at, static_cast<unsigned>(size_of(type)), m);
    }
}

Leaf KernelEmitter::to_value(Val v, ScalarType type) {
    if (type == ScalarType::Bool) v = c.icmp(LLVMIntNE, v, c.zero(c.L.TypeOf(v)));
    return c.is_vector(v) ? Leaf::of_lanes(v) : Leaf::of_scalar(v);
}

Val KernelEmitter::to_memory(Val v, ScalarType type) {
    return type == ScalarType::Bool ? c.zext(v, c.like(v, c.i8)) : v;
}

Leaves KernelEmitter::load_interleaved(Val at, ScalarType type, unsigned count) {
    const unsigned size = static_cast<unsigned>(size_of(type));
    const Type t = c.lanes(c.memory_scalar(type));
    const Val m = mask();
    std::vector<Val> parts(count);
    for (unsigned j = 0; j < count; ++j) {
        Val part_mask = nullptr;
        if (m != nullptr) {
            std::array<int, 64> from{};
            for (unsigned e = 0; e < c.W; ++e) from[e] = static_cast<int>((j * c.W + e) / count);
            part_mask = c.shuffle(m, std::span<const int>(from.data(), c.W));
        }
        parts[j] = c.masked_load(t, c.gep(at, std::int64_t{j} * c.W * size), size, part_mask, nullptr);
    }
    Leaves leaves;
    for (const Val v : deinterleave(c, parts)) leaves.push_back(to_value(v, type));
    return leaves;
}

void KernelEmitter::store_interleaved(Val at, ScalarType type, const Leaves& value, unsigned stream_align) {
    const unsigned count = static_cast<unsigned>(value.size());
    const unsigned size = static_cast<unsigned>(size_of(type));
    std::vector<Val> in(count);
    for (unsigned k = 0; k < count; ++k) in[k] = to_memory(lanes(value[k]), type);
    const Val m = mask();
    const std::vector<Val> items = interleave(c, in);
    for (unsigned j = 0; j < count; ++j) {
        Val part_mask = nullptr;
        if (m != nullptr) {
            std::array<int, 64> from{};
            for (unsigned e = 0; e < c.W; ++e) from[e] = static_cast<int>((j * c.W + e) / count);
            part_mask = c.shuffle(m, std::span<const int>(from.data(), c.W));
        }
        // If a part's size is a multiple of the alignment, every part is aligned like the whole.
        const unsigned align = stream_align != 0 && c.W * size % stream_align == 0 ? stream_align : 0;
        store_vector(items[j], c.gep(at, std::int64_t{j} * c.W * size), type, part_mask, align);
    }
}

Val KernelEmitter::load_strided(Val at, ScalarType type, std::int64_t stride) {
    // Reads exactly the bytes from the first to the last lane: the last vector overlaps the one before it.
    const unsigned size = static_cast<unsigned>(size_of(type));
    const auto step = static_cast<unsigned>(stride / size);
    const unsigned span = step * (c.W - 1) + 1;
    const Type t = c.lanes(c.memory_scalar(type));
    Val v = nullptr;
    for (unsigned first = 0; first < span; first += c.W) {
        const unsigned from = first + c.W <= span ? first : span - c.W;
        const Val part = c.load(t, c.gep(at, std::int64_t{from} * size), size);
        std::array<int, 64> pick{};
        for (unsigned l = 0; l < c.W; ++l) {
            const unsigned e = l * step;
            const bool here = e >= first && e < first + c.W;
            if (v == nullptr) {
                pick[l] = here ? static_cast<int>(e - from) : -1;
            } else {
                pick[l] = here ? static_cast<int>(c.W + e - from) : e < first ? static_cast<int>(l) : -1;
            }
        }
        const std::span<const int> lanes_picked(pick.data(), c.W);
        v = v == nullptr ? c.shuffle(part, lanes_picked) : c.shuffle(v, part, lanes_picked);
    }
    return v;
}

Leaves KernelEmitter::load_place(const LaneAddress& p) {
    std::vector<LeafPlace> parts;
    collect_leaves(p.type, 0, parts);
    Leaves leaves;
    const std::optional<std::int64_t> stride = lane_stride(p);
    if (stride && *stride == 0) {
        const Val at = address(p);
        for (const LeafPlace& part : parts) {
            const Val v =
                c.load(c.memory_scalar(part.type), c.gep(at, static_cast<std::int64_t>(part.offset)),
                       static_cast<unsigned>(size_of(part.type)));
            leaves.push_back(to_value(v, part.type));
        }
        return leaves;
    }
    if (stride && *stride > 0 && parts.size() > 1 && parts.size() <= max_interleave &&
        packed(parts, static_cast<std::uint64_t>(*stride))) {
        return load_interleaved(address(p), parts[0].type, static_cast<unsigned>(parts.size()));
    }
    const Val m = mask();
    Val pointers = nullptr;  // computed on first use
    const Val first = stride ? address(p) : nullptr;
    for (const LeafPlace& part : parts) {
        const Type t = c.lanes(c.memory_scalar(part.type));
        const auto size = static_cast<unsigned>(size_of(part.type));
        const auto offset = static_cast<std::int64_t>(part.offset);
        if (stride && *stride == static_cast<std::int64_t>(size)) {
            leaves.push_back(to_value(c.masked_load(t, c.gep(first, offset), size, m, nullptr), part.type));
            continue;
        }
        if (stride && *stride == -static_cast<std::int64_t>(size)) {
            const Val at = c.gep(first, offset - static_cast<std::int64_t>((c.W - 1) * size));
            const Val v = c.masked_load(t, at, size, m == nullptr ? nullptr : c.reversed(m), nullptr);
            leaves.push_back(to_value(c.reversed(v), part.type));
            continue;
        }
        if (stride && m == nullptr && *stride > 0 && *stride % size == 0 && *stride / size <= 8) {
            leaves.push_back(to_value(load_strided(c.gep(first, offset), part.type, *stride), part.type));
            continue;
        }
        if (pointers == nullptr) pointers = address_lanes(p);
        const Val at = offset == 0 ? pointers : c.gep(pointers, c.c(c.lanes(c.i64), offset));
        leaves.push_back(to_value(c.gather(t, at, size, m), part.type));
    }
    return leaves;
}

void KernelEmitter::store_place(const LaneAddress& p, const Leaves& value) {
    std::vector<LeafPlace> parts;
    collect_leaves(p.type, 0, parts);
    const std::optional<std::int64_t> stride = lane_stride(p);
    const Val m = mask();
    if (c.W == 1 || (stride && *stride == 0)) {
        // All lanes store to one address: a race unless they agree. The value of some live lane remains.
        const Val at = address(p);
        const Val lane = m != nullptr ? c.first_active(m) : nullptr;
        for (std::size_t k = 0; k < parts.size(); ++k) {
            const Leaf& l = value[k];
            const Val v = l.uniform()       ? l.scalar
                          : lane != nullptr ? c.extract(l.lanes, lane)
                                            : c.extract(l.lanes, 0u);
            c.store(to_memory(v, parts[k].type), c.gep(at, static_cast<std::int64_t>(parts[k].offset)),
                    static_cast<unsigned>(size_of(parts[k].type)));
        }
        return;
    }
    if (stride && *stride > 0 && parts.size() > 1 && parts.size() <= max_interleave &&
        packed(parts, static_cast<std::uint64_t>(*stride))) {
        store_interleaved(address(p), parts[0].type, value, stream_alignment(p));
        return;
    }
    Val pointers = nullptr;
    const Val first = stride ? address(p) : nullptr;
    for (std::size_t k = 0; k < parts.size(); ++k) {
        const auto size = static_cast<unsigned>(size_of(parts[k].type));
        const auto offset = static_cast<std::int64_t>(parts[k].offset);
        const Val v = to_memory(lanes(value[k]), parts[k].type);
        if (stride && *stride == static_cast<std::int64_t>(size)) {
            store_vector(v, c.gep(first, offset), parts[k].type, m,
                         parts.size() == 1 ? stream_alignment(p) : 0);
            continue;
        }
        if (stride && *stride == -static_cast<std::int64_t>(size)) {
            const Val at = c.gep(first, offset - static_cast<std::int64_t>((c.W - 1) * size));
            c.masked_store(c.reversed(v), at, size, m == nullptr ? nullptr : c.reversed(m));
            continue;
        }
        if (pointers == nullptr) pointers = address_lanes(p);
        c.scatter(v, offset == 0 ? pointers : c.gep(pointers, c.c(c.lanes(c.i64), offset)), size, m);
    }
}

bool KernelEmitter::store_packed(NodeId id) {
    const auto found = packed_.find(id);
    if (found == packed_.end() || c.W == 1 || !masked_) return false;
    const LaneAddress p = place(id);
    if (p.steps.size() != 1 || !p.type.is_scalar()) return false;
    const auto size = static_cast<unsigned>(p.type.size());
    if (p.steps[0].scale != size || !c.can_pack(size)) return false;
    const NodeId index = p.steps[0].index;
    Val begin = c.u32(0);
    for (const NodeId term : other_terms(fn_, index, found->second)) {
        if (!leaf(term).uniform()) return false;
        begin = c.add(begin, scalar(leaf(term)));
    }
    const bool is_signed = is_signed_integer(fn_.type(index).scalar());
    const Val wide = is_signed ? c.sext(begin, c.i64) : c.zext(begin, c.i64);
    const Val at = c.gep(c.gep(p.base, static_cast<std::int64_t>(p.offset)), c.mul(wide, c.u64(size)));
    c.packed_store(to_memory(lanes(leaf(fn_.arg(id, 1))), p.type.scalar()), at, size, mask());
    return true;
}

void KernelEmitter::emit_load(NodeId id) {
    if (const AccessGroup* group = c.W > 1 ? groups_.find(id) : nullptr) {
        if (group->place != id) return;  // emitted with its group
        const ScalarType type = fn_.type(id).scalar();
        // Steps back from this member to the lowest one, whose own index may not have been computed yet.
        const auto before =
            std::find(group->members.begin(), group->members.end(), id) - group->members.begin();
        const Val at = c.gep(address(place(id)),
                             -static_cast<std::int64_t>(before) * static_cast<std::int64_t>(size_of(type)));
        const Leaves leaves = load_interleaved(at, type, static_cast<unsigned>(group->members.size()));
        for (std::size_t k = 0; k < leaves.size(); ++k) set(group->members[k], {leaves[k]});
        return;
    }
    Leaves leaves = load_place(place(id));
    if (lane_uniform(id)) {
        for (Leaf& l : leaves) l = Leaf::of_scalar(scalar(l));
    }
    set(id, std::move(leaves));
}

void KernelEmitter::emit_store(NodeId id) {
    if (const AccessGroup* group = c.W > 1 ? groups_.find(id) : nullptr) {
        if (group->place != id) return;
        Leaves leaves;
        for (const NodeId member : group->members) leaves.push_back(leaf(fn_.arg(member, 1)));
        const LaneAddress first = place(group->members[0]);
        store_interleaved(address(first), fn_.type(fn_.arg(id, 1)).scalar(), leaves, stream_alignment(first));
        return;
    }
    if (!store_packed(id)) store_place(place(id), value(fn_.arg(id, 1)));
}

}  // namespace volley::codegen::llvm
