// Runs compiled CPU code below the runtime: compiles, lays out the arguments and calls the entry point on
// this thread. The work is split in two if possible, as the runtime's threads would do.
#include "codegen/llvm/compiler.hpp"
#include "random/execution.hpp"

#include <cstring>
#include <memory>
#include <new>

namespace volley::testing {
namespace {

namespace llvm = codegen::llvm;

struct Free {
    void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{64}); }
};
using Scratch = std::unique_ptr<std::byte, Free>;

// Filled with garbage, like memory that an earlier kernel used.
Scratch make_scratch(std::size_t bytes) {
    Scratch scratch(static_cast<std::byte*>(::operator new (bytes + 64, std::align_val_t{64})));
    std::memset(scratch.get(), 0x5a, bytes + 64);
    return scratch;
}

}  // namespace

bool can_be_full(const Program& program, const ir::Function& fn, unsigned width) {
    if (llvm::is_flat(fn)) return program.global[0] % width == 0;
    for (unsigned d = 0; d < 3; ++d) {
        if (program.global[d] % program.local[d] != 0) return false;
    }
    return true;
}

Execution run_cpu(const Program& program, const ir::Function& fn, unsigned width, bool full,
                  const std::string& processor) {
    const bool flat = llvm::is_flat(fn);
    const llvm::Variant variant{flat ? ir::Dim3{1, 1, 1} : program.local, full};
    const llvm::Target target =
        processor.empty() ? llvm::host_target(width) : llvm::Target{processor, "", width};
    const auto kernel = llvm::compile(fn, variant, target);

    ProgramMemory memory(program);
    const llvm::ArgLayout layout = llvm::layout_args(fn);
    const Scratch args = make_scratch(layout.size);
    for (std::size_t i = 0; i < program.args.size(); ++i) {
        std::byte* const to = args.get() + layout.offsets[i];
        if (program.args[i].elements != 0) {
            const llvm::BufferArg buffer{memory.data(i), program.args[i].elements};
            std::memcpy(to, &buffer, sizeof buffer);
        } else {
            std::memcpy(to, memory.data(i), program.args[i].type.size());
        }
    }

    llvm::Work work;
    work.args = args.get();
    const Scratch shared = make_scratch(kernel->shared_bytes());
    const Scratch spill = make_scratch(kernel->spill_bytes());
    work.shared = shared.get();
    work.spill = spill.get();
    std::uint64_t groups = 1;
    for (unsigned d = 0; d < 3; ++d) {
        work.global_size[d] = program.global[d];
        work.group_count[d] = (program.global[d] + program.local[d] - 1) / program.local[d];
        groups *= work.group_count[d];
    }
    const std::uint64_t end = flat ? program.global[0] : groups;
    if (flat) work.row_end = std::uint64_t{program.global[1]} * program.global[2];
    const std::uint64_t cut = flat ? end / 2 / width * width : end / 2;
    for (const auto& [begin, stop] : {std::pair{std::uint64_t{0}, cut}, std::pair{cut, end}}) {
        if (begin == stop) continue;
        work.begin = begin;
        work.end = stop;
        kernel->entry()(&work);
    }
    return memory.finish();
}

}  // namespace volley::testing
