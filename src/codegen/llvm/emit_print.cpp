// print: stores each live lane's operands contiguously and passes them to the host.
#include "codegen/llvm/kernel_emitter.hpp"

#include <functional>

namespace volley::codegen::llvm {

using ir::NodeId;

void KernelEmitter::emit_print(NodeId id) {
    const std::span<const NodeId> args = fn_.args(id);
    // Operands start at multiples of 16 bytes with their leaves packed, which equals the host's layout for
    // all printable types.
    std::uint64_t size = 0;
    std::vector<std::uint64_t> offsets;
    for (const NodeId arg : args) {
        offsets.push_back(size);
        size += (fn_.type(arg).size() + 15) / 16 * 16;
    }
    const Val block = c.slot_bytes(size == 0 ? 16 : size, 16);
    const auto work_field = [&](std::size_t offset) {
        return c.load(c.ptr, c.gep(work_, static_cast<std::int64_t>(offset)), 8);
    };
    const Val function = work_field(offsetof(Work, print));
    const Val context = work_field(offsetof(Work, print_context));
    for_each_lane([&](Val lane) {
        for (std::size_t a = 0; a < args.size(); ++a) {
            const ScalarType type = fn_.type(args[a]).scalar();
            const Leaves& leaves = value(args[a]);
            for (std::size_t k = 0; k < leaves.size(); ++k) {
                const Leaf& l = leaves[k];
                const Val v = l.uniform() ? l.scalar : c.extract(l.lanes, lane);
                const auto offset = static_cast<std::int64_t>(offsets[a] + k * size_of(type));
                c.store(to_memory(v, type), c.gep(block, offset), static_cast<unsigned>(size_of(type)));
            }
        }
        Type parameters[3] = {c.ptr, c.i32, c.ptr};
        Val operands[3] = {context, c.u32(static_cast<std::uint32_t>(fn_[id].imm)), block};
        c.L.BuildCall2(c.b, c.L.FunctionType(c.void_t, parameters, 3, 0), function, operands, 3, "");
    });
}

}  // namespace volley::codegen::llvm
