// Parameters, prints and variants of a kernel.
#include "backends/cpu/cpu_program.hpp"

#include "backends/common/dump.hpp"
#include "core/settings.hpp"
#include "core/text.hpp"
#include "passes/effects.hpp"

#include <algorithm>

namespace volley::backends::cpu {

namespace llvm = codegen::llvm;

CpuProgram::CpuProgram(ir::Function function, llvm::Target target)
    : Program(std::move(function)), target_(std::move(target)) {
    find_prints();
    args_ = llvm::layout_args(function_);
    written_only_ = passes::buffer_uses(function_).written_only();
    streams_ = std::any_of(written_only_.begin(), written_only_.end(), [](bool only) { return only; });
    flat_ = llvm::is_flat(function_);
    estimate_ = estimate_cost(function_, target_.width);
}

void CpuProgram::find_prints() {
    // Compiled code identifies a print by its format string alone, so prints of the same text but different
    // types get separate strings.
    ir::for_each_node(function_, function_.body, [&](ir::NodeId id) {
        ir::Node& node = function_[id];
        if (node.op != ir::Op::Print) return;
        std::vector<DType> types;
        for (const ir::NodeId arg : function_.args(id)) types.push_back(function_.type(arg));
        for (const Format& format : formats_) {
            if (function_.strings[format.string] != function_.strings[node.imm]) continue;
            if (format.types != types) continue;
            node.imm = format.string;
            return;
        }
        auto string = static_cast<std::uint32_t>(node.imm);
        const auto taken = [&](const Format& format) { return format.string == string; };
        if (std::any_of(formats_.begin(), formats_.end(), taken)) {
            function_.strings.push_back(function_.strings[string]);
            string = static_cast<std::uint32_t>(function_.strings.size() - 1);
            node.imm = string;
        }
        formats_.push_back({string, std::move(types)});
    });
}

std::span<const DType> CpuProgram::print_types(std::uint32_t format) const {
    for (const Format& known : formats_) {
        if (known.string == format) return known.types;
    }
    return {};
}

const llvm::CompiledKernel& CpuProgram::variant(const llvm::Variant& requested) const {
    llvm::Variant compiled = requested;
    if (flat_) compiled.local = {1, 1, 1};
    return *variants_.find(compiled, [&] {
        dump(compiled);
        auto kernel = llvm::compile(function_, compiled, target_);
        add_bytes(kernel->code_bytes());
        return kernel;
    });
}

void CpuProgram::measured(double ns_per_invocation) const noexcept {
    // Threads may overwrite each other's measurements: the average is an estimate anyway.
    const double before = measured_.load(std::memory_order_relaxed);
    const double now = before > 0 ? before + (ns_per_invocation - before) / 4 : ns_per_invocation;
    measured_.store(now, std::memory_order_relaxed);
}

void CpuProgram::dump(const llvm::Variant& variant) const {
    const DumpSettings& requested = settings().dump;
    const auto title = [&](std::string_view what) {
        return cat(what, " of ", function_.name, ", ", target_.width, " lanes, local size ", variant.local[0],
                   "x", variant.local[1], "x", variant.local[2], variant.full ? ", whole grid" : "");
    };
    if (requested.llvm) backends::dump(title("LLVM IR"), llvm::llvm_ir(function_, variant, target_));
    if (requested.assembly) backends::dump(title("assembly"), llvm::assembly(function_, variant, target_));
}

std::string CpuProgram::code(ir::Dim3 local) const {
    return llvm::assembly(function_, {flat_ ? ir::Dim3{1, 1, 1} : local, true}, target_);
}

}  // namespace volley::backends::cpu
