// print: claims space for a record in the report buffer and fills it. Records that do not fit are counted.
#include "codegen/spirv/kernel_emitter.hpp"

namespace volley::codegen::spirv {

using ir::NodeId;

namespace {

constexpr std::uint32_t slot_bytes(std::size_t bytes) {
    return static_cast<std::uint32_t>((bytes + 15) / 16 * 16);
}

}  // namespace

void KernelEmitter::emit_print(NodeId id) {
    const auto args = fn_.args(id);
    const auto number = static_cast<std::uint32_t>(out_.prints.size());
    PrintSite& print = out_.prints.emplace_back();
    print.format = fn_.strings[fn_[id].imm];
    std::uint32_t bytes = sizeof(RecordHeader);
    for (const NodeId arg : args) {
        print.types.push_back(fn_.type(arg));
        bytes += slot_bytes(fn_.type(arg).size());
    }

    const Id word = m_.u32_type();
    const Id block = reports();
    const Id pointer = m_.pointer_type(spv::StorageClass::PhysicalStorageBuffer, word);
    const auto member = [&](std::uint32_t k) {
        return m_.op(spv::Op::OpAccessChain, pointer, {block, s_.u32(k)});
    };
    const Id capacity = load_at(word, member(0), 4);
    const Id used = member(1);
    // Once the buffer is full, the byte count is no longer incremented, so it cannot wrap.
    const Id room = s_.ult(atomic(spv::Op::OpAtomicLoad, word, used, false, {}), capacity);
    const Id claim = m_.new_id();
    const Id claimed = m_.new_id();
    const Id before = m_.block();
    m_.selection_merge(claimed);
    m_.branch_if(room, claim, claimed);
    m_.label(claim);
    const Id mine = atomic(spv::Op::OpAtomicIAdd, word, used, false, {s_.u32(bytes)});
    m_.branch(claimed);
    m_.label(claimed);
    const Id offset = m_.phi(word, s_.u32(~0u), before, mine, claim);
    const Id fits = s_.both(s_.ult(offset, capacity), s_.ule(s_.u32(bytes), s_.sub(capacity, offset)));
    const Id write = m_.new_id();
    const Id lose = m_.new_id();
    const Id done = m_.new_id();
    m_.selection_merge(done);
    m_.branch_if(fits, write, lose);
    m_.label(lose);
    atomic(spv::Op::OpAtomicIAdd, word, member(2), false, {s_.u32(1)});
    m_.branch(done);
    m_.label(write);
    const Id base = s_.shr(offset, s_.u32(2));
    const auto put = [&](std::uint32_t at, Id v) {
        const Id place = m_.op(spv::Op::OpAccessChain, pointer, {block, s_.u32(4), s_.add(base, s_.u32(at))});
        store_at(place, v, 4);
    };
    put(0, s_.u32(number));
    put(1, s_.u32(bytes));
    std::uint32_t at = sizeof(RecordHeader) / 4;
    for (const NodeId arg : args) {
        const ir::Leaves& all = leaves(fn_.type(arg));
        std::vector<Id> words(slot_bytes(fn_.type(arg).size()) / 4);
        for (std::size_t k = 0; k < all.size(); ++k) {
            const Scalar bits = s_.to_words(all[k].scalar, value(arg)[k]);
            const auto shift = static_cast<std::uint32_t>(all[k].offset % 4 * 8);
            Id& first = words[static_cast<std::size_t>(all[k].offset / 4)];
            const Id moved = shift == 0 ? bits.id : s_.shl(bits.id, s_.u32(shift));
            first = first == 0 ? moved : s_.or_(first, moved);
            if (bits.high != 0) words[static_cast<std::size_t>(all[k].offset / 4 + 1)] = bits.high;
        }
        for (std::uint32_t k = 0; k < words.size(); ++k) {
            if (words[k] != 0) put(at + k, words[k]);
        }
        at += static_cast<std::uint32_t>(words.size());
    }
    m_.branch(done);
    m_.label(done);
}

}  // namespace volley::codegen::spirv
