// Compiles a kernel's IR to machine code in memory: emits LLVM IR, promotes stack slots to registers,
// generates an object and links it into the process. The process has one JIT; each compilation has its own
// LLVM context and target machine.
#include "codegen/llvm/compiler.hpp"

#include "codegen/llvm/half_calls.hpp"
#include "codegen/llvm/kernel_emitter.hpp"
#include "codegen/llvm/vector_math.hpp"
#include "core/compilers.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/error.hpp>

#include <atomic>
#include <cstring>
#include <mutex>
#include <unordered_set>

namespace volley::codegen::llvm {
namespace {

Isa isa_of(const Target& target) {
    Isa isa;
#if defined(__x86_64__) || defined(__i386__)
    isa.x86 = true;
    if (target.cpu.empty()) {
        __builtin_cpu_init();
        isa.avx = __builtin_cpu_supports("avx") != 0;
        isa.avx2 = __builtin_cpu_supports("avx2") != 0;
        isa.fma = __builtin_cpu_supports("fma") != 0;
        isa.avx512 = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                     __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
    } else {
        isa.avx512 = target.cpu == "x86-64-v4";
        isa.avx = isa.avx2 = isa.fma = isa.avx512 || target.cpu == "x86-64-v3";
    }
#else
    (void)target;
    isa.fma = true;
#endif
    return isa;
}

unsigned natural_width(const Isa& isa) { return isa.avx512 ? 16 : isa.avx2 ? 8 : 4; }

std::string take_message(const LlvmApi& L, char* message) {
    std::string text = message != nullptr ? message : "";
    if (message != nullptr) L.DisposeMessage(message);
    return text;
}

std::string take_error(const LlvmApi& L, LLVMErrorRef error) {
    char* const message = L.GetErrorMessage(error);
    std::string text = message;
    L.DisposeErrorMessage(message);
    return text;
}

class Machine {
public:
    Machine(const LlvmApi& api, const Target& target, LLVMCodeGenOptLevel level) : L(api) {
        char* const triple = L.GetDefaultTargetTriple();
        triple_ = triple;
        L.DisposeMessage(triple);
        LLVMTargetRef found = nullptr;
        char* message = nullptr;
        if (L.GetTargetFromTriple(triple_.c_str(), &found, &message) != 0) {
            throw CompileError(cat("LLVM has no code generator for ", triple_), "the CPU backend",
                               take_message(L, message));
        }
        std::string cpu = target.cpu;
        std::string features = target.features;
        if (cpu.empty()) {
            cpu = take_message(L, L.GetHostCPUName());
            features = take_message(L, L.GetHostCPUFeatures());
        }
        // `inc` of memory is one operation more than `add` on Intel processors.
        if (triple_.starts_with("x86_64")) features += features.empty() ? "+slow-incdec" : ",+slow-incdec";
        machine_ = L.CreateTargetMachine(found, triple_.c_str(), cpu.c_str(), features.c_str(), level,
                                         LLVMRelocPIC, LLVMCodeModelSmall);
        layout_ = L.CreateTargetDataLayout(machine_);
    }
    ~Machine() {
        L.DisposeTargetData(layout_);
        L.DisposeTargetMachine(machine_);
    }
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;

    const LlvmApi& L;
    [[nodiscard]] LLVMTargetMachineRef ref() const { return machine_; }
    void prepare(LLVMModuleRef module) const {
        L.SetTarget(module, triple_.c_str());
        L.SetModuleDataLayout(module, layout_);
    }

private:
    std::string triple_;
    LLVMTargetMachineRef machine_ = nullptr;
    LLVMTargetDataRef layout_ = nullptr;
};

// Creating a target machine takes about a millisecond, and each serves one thread at a time.
class MachinePool {
public:
    std::unique_ptr<Machine> take(const Target& target) {
        {
            const std::lock_guard lock(mutex_);
            for (auto it = free_.begin(); it != free_.end(); ++it) {
                if (it->first == target) {
                    std::unique_ptr<Machine> machine = std::move(it->second);
                    free_.erase(it);
                    return machine;
                }
            }
        }
        return std::make_unique<Machine>(llvm_api(), target, LLVMCodeGenLevelDefault);
    }
    void put(const Target& target, std::unique_ptr<Machine> machine) {
        const std::lock_guard lock(mutex_);
        if (free_.size() < 8) free_.emplace_back(target, std::move(machine));
    }

private:
    std::mutex mutex_;
    std::vector<std::pair<Target, std::unique_ptr<Machine>>> free_;
};

MachinePool& machine_pool() {
    static auto* const pool = new MachinePool;  // never destroyed: LLVM's own statics may be destroyed first
    return *pool;
}

class Jit {
public:
    Jit() : L(llvm_api()) {
        if (LLVMErrorRef error = L.OrcCreateLLJIT(&jit_, nullptr); error != nullptr) {
            throw CompileError("LLVM's JIT could not be created", "the CPU backend", take_error(L, error));
        }
        dylib_ = L.OrcLLJITGetMainJITDylib(jit_);
        for (const char* name : {"fmaf", "fma", "fmodf", "fmod", "floorf", "floor", "ceilf", "ceil", "truncf",
                                 "trunc", "rintf", "rint"}) {
            define(name, external_address(name));
        }
        for (const HalfCall& call : half_calls()) define(call.name, call.address);
        define("memcpy", reinterpret_cast<void*>(&std::memcpy));
        define("memset", reinterpret_cast<void*>(&std::memset));
        define("memmove", reinterpret_cast<void*>(&std::memmove));
    }

    static Jit& get() {
        static auto* const jit = new Jit;  // never destroyed: kernels may be freed during process exit
        return *jit;
    }

    void define(const std::string& name, void* address) {
        const std::lock_guard lock(mutex_);
        if (!defined_.insert(name).second) return;
        LLVMOrcCSymbolMapPair symbol{};
        symbol.Name = L.OrcLLJITMangleAndIntern(jit_, name.c_str());
        symbol.Sym.Address = reinterpret_cast<std::uintptr_t>(address);
        symbol.Sym.Flags.GenericFlags = LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable;
        if (LLVMErrorRef error = L.OrcJITDylibDefine(dylib_, L.OrcAbsoluteSymbols(&symbol, 1));
            error != nullptr) {
            throw CompileError(cat("the function ", name, " could not be added to the JIT"),
                               "the CPU backend", take_error(L, error));
        }
    }

    // Takes ownership of the object.
    KernelFn link(LLVMMemoryBufferRef object, const std::string& symbol, LLVMOrcResourceTrackerRef& tracker) {
        tracker = L.OrcJITDylibCreateResourceTracker(dylib_);
        LLVMOrcExecutorAddress address = 0;
        LLVMErrorRef error = L.OrcLLJITAddObjectFileWithRT(jit_, tracker, object);
        if (error == nullptr) error = L.OrcLLJITLookup(jit_, &address, symbol.c_str());
        if (error != nullptr) {
            const std::string text = take_error(L, error);
            release(tracker);
            throw CompileError("compiled code could not be linked", "the CPU backend", text);
        }
        // The JIT returns the address as an integer.
        return reinterpret_cast<KernelFn>(address);  // NOLINT(performance-no-int-to-ptr)
    }

    void release(LLVMOrcResourceTrackerRef tracker) noexcept {
        if (LLVMErrorRef error = L.OrcResourceTrackerRemove(tracker); error != nullptr) L.ConsumeError(error);
        L.OrcReleaseResourceTracker(tracker);
        // The JIT interns the name of each kernel. It removes unused names only on request.
        constexpr unsigned often = 256;
        if (released_.fetch_add(1, std::memory_order_relaxed) % often == often - 1)
            L.OrcSymbolStringPoolClearDeadEntries(
                L.OrcExecutionSessionGetSymbolStringPool(L.OrcLLJITGetExecutionSession(jit_)));
    }

private:
    const LlvmApi& L;
    LLVMOrcLLJITRef jit_ = nullptr;
    LLVMOrcJITDylibRef dylib_ = nullptr;
    std::mutex mutex_;
    std::unordered_set<std::string> defined_;
    std::atomic<unsigned> released_{0};
};

class JitKernel final : public CompiledKernel {
public:
    JitKernel(KernelFn code, std::size_t bytes, std::size_t shared, std::size_t spill,
              LLVMOrcResourceTrackerRef tracker)
        : tracker_(tracker) {
        entry_ = code;
        code_bytes_ = bytes;
        shared_bytes_ = shared;
        spill_bytes_ = spill;
    }
    ~JitKernel() override { Jit::get().release(tracker_); }
    JitKernel(const JitKernel&) = delete;
    JitKernel& operator=(const JitKernel&) = delete;

private:
    LLVMOrcResourceTrackerRef tracker_;
};

// Returns true for kernels with tens of thousands of operations, such as unrolled host loops. LLVM's
// optimising code generator needs quadratic time for them, up to minutes; its fast one takes a second but
// generates slower code.
bool is_vast(const ir::Function& fn) {
    constexpr std::size_t most = 20'000;
    std::size_t operations = 0;
    for (const ir::Region& region : fn.regions) operations += region.nodes.size();
    return operations > most;
}

std::unique_ptr<Machine> machine_for(const ir::Function& fn, const Target& target) {
    if (!is_vast(fn)) return machine_pool().take(target);
    return std::make_unique<Machine>(llvm_api(), target, LLVMCodeGenLevelNone);
}

std::string unique_symbol() {
    static std::atomic<std::uint64_t> counter{0};
    return cat("volley_kernel_", counter.fetch_add(1, std::memory_order_relaxed));
}

// One compilation. Owns the LLVM context, so nothing of it outlives the call.
class Unit {
public:
    Unit(const ir::Function& fn, const Variant& variant, const Target& target)
        : L(llvm_api()),
          fn_(fn),
          target_(target),
          machine_(machine_for(fn, target)),
          context_(L.ContextCreate()),
          module_(L.ModuleCreateWithNameInContext("volley", context_)),
          symbol(unique_symbol()) {
        try {
            machine_->prepare(module_);
            CodeBuilder code(L, context_, module_, target.width, isa_of(target));
            KernelEmitter emitter(code, fn, variant);
            emitter.emit(symbol.c_str());
            spill_bytes = emitter.spill_bytes();
            externals = code.externals;
            check();
            clean_up();
        } catch (...) {
            close();
            throw;
        }
    }
    ~Unit() { close(); }
    Unit(const Unit&) = delete;
    Unit& operator=(const Unit&) = delete;

    LLVMMemoryBufferRef generate(LLVMCodeGenFileType type) {
        LLVMMemoryBufferRef buffer = nullptr;
        char* message = nullptr;
        if (L.TargetMachineEmitToMemoryBuffer(machine_->ref(), module_, type, &message, &buffer) != 0) {
            throw CompileError("LLVM could not generate code", cat("kernel ", fn_.name),
                               take_message(L, message));
        }
        return buffer;
    }

    std::string text() { return take_message(L, L.PrintModuleToString(module_)); }

private:
    void check() {
#ifndef NDEBUG
        char* message = nullptr;
        if (L.VerifyModule(module_, LLVMReturnStatusAction, &message) != 0) {
            throw InternalError(cat("malformed LLVM IR: ", take_message(L, message), "\n", text()),
                                cat("kernel ", fn_.name),
                                "report this as a bug with the kernel's IR (VOLLEY_DUMP=ir)");
        }
        if (message != nullptr) L.DisposeMessage(message);
#endif
    }

    void clean_up() {
        LLVMPassBuilderOptionsRef options = L.CreatePassBuilderOptions();
        // The emitted code is already optimised; only the slots of variables and masks need promotion to
        // registers.
        LLVMErrorRef error = L.RunPasses(module_, "function(mem2reg,simplifycfg)", machine_->ref(), options);
        L.DisposePassBuilderOptions(options);
        if (error != nullptr) {
            throw CompileError("LLVM's passes failed", cat("kernel ", fn_.name), take_error(L, error));
        }
    }

    void close() noexcept {
        if (module_ != nullptr) L.DisposeModule(module_);
        module_ = nullptr;
        if (context_ != nullptr) L.ContextDispose(context_);
        context_ = nullptr;
        if (machine_ && !is_vast(fn_)) machine_pool().put(target_, std::move(machine_));
    }

    const LlvmApi& L;
    const ir::Function& fn_;
    Target target_;
    std::unique_ptr<Machine> machine_;
    LLVMContextRef context_;
    LLVMModuleRef module_;

public:
    std::string symbol;
    std::size_t spill_bytes = 0;
    std::vector<std::string> externals;
};

/// Returns the memory of a linked object: whole pages for code and for data, and the JIT's tables.
std::size_t linked_bytes(std::size_t object_bytes) {
    constexpr std::size_t page = 4096;
    return (object_bytes + page - 1) / page * page + 2 * page;
}

std::string take_text(const LlvmApi& L, LLVMMemoryBufferRef buffer) {
    std::string text(L.GetBufferStart(buffer), L.GetBufferSize(buffer));
    L.DisposeMemoryBuffer(buffer);
    return text;
}

}  // namespace

Target host_target(unsigned forced_width) {
    Target target;
    target.width = forced_width != 0 ? forced_width : natural_width(isa_of(target));
    return target;
}

Target level_target(const std::string& level, unsigned forced_width) {
    Target target{level, "", 1};
    const Isa host = isa_of({});
    const Isa requested = isa_of(target);
    if (!host.x86 || (requested.avx512 && !host.avx512) || (requested.avx2 && !(host.avx2 && host.fma))) {
        fail(ErrorCode::InvalidArgument, cat("the processor does not have the instructions of ", level),
             cat("VOLLEY_CPU_LEVEL='", level, "'"), "set it to a lower level, or unset it");
    }
    target.width = forced_width != 0 ? forced_width : natural_width(requested);
    return target;
}

bool has_fma(const Target& target) { return isa_of(target).fma; }

unsigned llvm_version() { return llvm_api().major; }

std::unique_ptr<CompiledKernel> compile(const ir::Function& fn, const Variant& variant,
                                        const Target& target) {
    about_to_compile(fn.name);
    Unit unit(fn, variant, target);
    Jit& jit = Jit::get();
    for (const std::string& name : unit.externals) {
        void* const address = external_address(name.c_str());
        if (address == nullptr) throw InternalError(cat("no address for ", name), cat("kernel ", fn.name));
        jit.define(name, address);
    }
    LLVMOrcResourceTrackerRef tracker = nullptr;
    LLVMMemoryBufferRef const object = unit.generate(LLVMObjectFile);
    const std::size_t bytes = linked_bytes(llvm_api().GetBufferSize(object));
    const KernelFn entry = jit.link(object, unit.symbol, tracker);
    return std::make_unique<JitKernel>(entry, bytes, ir::shared_bytes(fn), unit.spill_bytes, tracker);
}

std::string assembly(const ir::Function& fn, const Variant& variant, const Target& target) {
    Unit unit(fn, variant, target);
    return take_text(llvm_api(), unit.generate(LLVMAssemblyFile));
}

std::string llvm_ir(const ir::Function& fn, const Variant& variant, const Target& target) {
    Unit unit(fn, variant, target);
    return unit.text();
}

}  // namespace volley::codegen::llvm
