// Opens libLLVM in the major version that Volley was built for, at the locations that distributions use.
#include "codegen/llvm/llvm_api.hpp"

#include "core/text.hpp"

#include <volley/error.hpp>

#include <dlfcn.h>

#include <mutex>
#include <string>
#include <vector>

namespace volley::codegen::llvm {
namespace {

std::vector<std::string> candidates() {
    const std::string major = cat(VOLLEY_LLVM_MAJOR);
    std::vector<std::string> names;
#ifdef VOLLEY_LLVM_LIBRARY
    names.emplace_back(VOLLEY_LLVM_LIBRARY);
#endif
    names.push_back(cat("libLLVM.so.", major, ".1"));
    names.push_back(cat("libLLVM-", major, ".so.1"));
    names.push_back(cat("libLLVM-", major, ".so"));
    names.push_back(cat("/usr/lib/llvm-", major, "/lib/libLLVM.so.1"));
    names.push_back(cat("/usr/lib/llvm-", major, "/lib/libLLVM.so"));
    return names;
}

void load_symbol(void* library, const char* name, void** out) {
    *out = dlsym(library, name);
    if (*out == nullptr) {
        throw CompileError(cat("libLLVM has no function ", name), "the CPU backend",
                           cat("install the runtime library of LLVM ", VOLLEY_LLVM_MAJOR));
    }
}

LlvmApi load() {
    void* library = nullptr;
    std::string tried;
    for (const std::string& name : candidates()) {
        // Local visibility: other LLVM copies in the process (Mesa, PoCL) must not see these symbols.
        library = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
        if (library != nullptr) break;
        tried += cat(tried.empty() ? "" : ", ", name);
    }
    if (library == nullptr) {
        throw CompileError(cat("LLVM ", VOLLEY_LLVM_MAJOR, " was not found"), "the CPU backend",
                           cat("install libllvm", VOLLEY_LLVM_MAJOR, " (tried ", tried, ")"));
    }
    LlvmApi api;
#define VOLLEY_LLVM_LOAD(name) load_symbol(library, "LLVM" #name, reinterpret_cast<void**>(&api.name));
    VOLLEY_LLVM_FUNCTIONS(VOLLEY_LLVM_LOAD)
#undef VOLLEY_LLVM_LOAD
#if defined(__x86_64__) || defined(__i386__)
#define VOLLEY_LLVM_HOST "X86"
#elif defined(__aarch64__)
#define VOLLEY_LLVM_HOST "AArch64"
#else
#error "the CPU backend knows x86 and AArch64"
#endif
    load_symbol(library, "LLVMInitialize" VOLLEY_LLVM_HOST "TargetInfo",
                reinterpret_cast<void**>(&api.initialize_target_info));
    load_symbol(library, "LLVMInitialize" VOLLEY_LLVM_HOST "Target",
                reinterpret_cast<void**>(&api.initialize_target));
    load_symbol(library, "LLVMInitialize" VOLLEY_LLVM_HOST "TargetMC",
                reinterpret_cast<void**>(&api.initialize_target_mc));
    load_symbol(library, "LLVMInitialize" VOLLEY_LLVM_HOST "AsmPrinter",
                reinterpret_cast<void**>(&api.initialize_asm_printer));
    api.initialize_target_info();
    api.initialize_target();
    api.initialize_target_mc();
    api.initialize_asm_printer();
    return api;
}

}  // namespace

const LlvmApi& llvm_api() {
    // If the initialiser of a function-local static throws, the next call runs it again.
    static const LlvmApi api = load();
    return api;
}

}  // namespace volley::codegen::llvm
