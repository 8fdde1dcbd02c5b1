// Variants are made under a lock, looked up without one.
#include "backends/cpu/cpu_program.hpp"

#include "backends/common/dump.hpp"
#include "backends/common/print.hpp"
#include "core/settings.hpp"
#include "core/text.hpp"
#include "passes/effects.hpp"

#include <algorithm>
#include <optional>

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
    // Compiled code names a print by its format string alone. Two prints of one text but different types get
    // a string each.
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
    llvm::Variant wanted = requested;
    if (flat_) wanted.local = {1, 1, 1};
    return *variants_.find(wanted, [&] {
        dump(wanted);
        return llvm::compile(function_, wanted, target_);
    });
}

void CpuProgram::measured(double ns_per_invocation) const noexcept {
    // Threads may overwrite each other's: it is a guess either way.
    const double before = measured_.load(std::memory_order_relaxed);
    const double now = before > 0 ? before + (ns_per_invocation - before) / 4 : ns_per_invocation;
    measured_.store(now, std::memory_order_relaxed);
}

void CpuProgram::dump(const llvm::Variant& variant) const {
    const DumpSettings& wanted = settings().dump;
    const auto title = [&](std::string_view what) {
        return cat(what, " of ", function_.name, ", ", target_.width, " lanes, local size ", variant.local[0],
                   "x", variant.local[1], "x", variant.local[2], variant.full ? ", whole grid" : "");
    };
    if (wanted.llvm) backends::dump(title("LLVM IR"), llvm::llvm_ir(function_, variant, target_));
    if (wanted.assembly) backends::dump(title("assembly"), llvm::assembly(function_, variant, target_));
}

std::string CpuProgram::code(ir::Dim3 local) const {
    return llvm::assembly(function_, {flat_ ? ir::Dim3{1, 1, 1} : local, true}, target_);
}

void PrintJob::print(void* job, std::uint32_t format, const void* values) noexcept {
    auto& self = *static_cast<PrintJob*>(job);
    if (self.error_) return;  // the first one is reported
    try {
        const auto types = self.program_.print_types(format);
        const ir::Function& fn = self.program_.function();
        backends::deliver_print(fn, fn.strings[format], types, values);
    } catch (...) {
        self.error_ = std::current_exception();
    }
}

namespace {

double weight(const ir::Function& fn, ir::NodeId id) {
    using ir::Form;
    using ir::Op;
    const ir::Op op = fn[id].op;
    const auto leaves = static_cast<double>(std::max<std::uint64_t>(fn.type(id).leaf_count(), 1));
    switch (ir::form(op)) {
        case Form::Constant:
        case Form::Zero:
        case Form::Parameter:
        case Form::Root:
        case Form::Builtin:
        case Form::Construct:
        case Form::Extract:
        case Form::BufferSize:
        case Form::Bitcast:
        case Form::Jump:
        case Form::If:
        case Form::For:
        case Form::Loop: return 0.25;
        case Form::Load: return fn[fn.arg(id, 0)].op == Op::Var ? 0.25 : 2 * leaves;
        case Form::Store: return fn[fn.arg(id, 0)].op == Op::Var ? 0.25 : 2;
        case Form::Atomic:
        case Form::AtomicCas: return 64;
        case Form::Print: return 4096;
        case Form::Sync: return 4;
        default: break;
    }
    if (op == Op::Div || op == Op::Rem || op == Op::Sqrt || op == Op::Rsqrt) return 6 * leaves;
    if (op >= Op::Sin && op <= Op::Hypot) return 16 * leaves;
    return leaves;
}

std::optional<double> known_trips(const ir::Function& fn, ir::NodeId loop) {
    if (fn[loop].op != ir::Op::For) return std::nullopt;
    const auto begin = fn.constant_int(fn.arg(loop, 0));
    const auto end = fn.constant_int(fn.arg(loop, 1));
    const auto step = fn.constant_int(fn.arg(loop, 2));
    if (!begin || !end || !step || *step == 0) return std::nullopt;
    return std::max(0.0,
                    (static_cast<double>(*end) - static_cast<double>(*begin)) / static_cast<double>(*step));
}

double region_cost(const ir::Function& fn, ir::RegionId region, bool& certain) {
    constexpr double unknown_trips = 1024;
    double sum = 0;
    for (const ir::NodeId id : fn.nodes_of(region)) {
        sum += weight(fn, id);
        const ir::Node& node = fn[id];
        double trips = 1;
        if (node.op == ir::Op::Loop || node.op == ir::Op::For) {
            const auto known = known_trips(fn, id);
            certain = certain && known.has_value();
            trips = known.value_or(unknown_trips);
        }
        for (const ir::RegionId inner : node.regions) {
            if (inner != ir::none) sum += trips * region_cost(fn, inner, certain);
        }
    }
    return sum;
}

}  // namespace

CostEstimate estimate_cost(const ir::Function& fn, unsigned width) {
    constexpr double ns_per_vector_operation = 0.3;
    CostEstimate estimate;
    // Vectors of more than 8 lanes are several registers on most processors.
    estimate.ns = region_cost(fn, fn.body, estimate.certain) * ns_per_vector_operation / std::min(width, 8u);
    return estimate;
}

}  // namespace volley::backends::cpu
