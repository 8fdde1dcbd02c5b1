// Opens libLLVM at the locations that distributions use: the version that Volley was built for if there is
// one, else another one. The functions in the table, their types and enumerators are the same in LLVM 15
// to 20.
#include "codegen/llvm/llvm_api.hpp"

#include "core/settings.hpp"
#include "core/text.hpp"

#include <volley/error.hpp>
#include <volley/log.hpp>

#include <dlfcn.h>

#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace volley::codegen::llvm {
namespace {

constexpr unsigned oldest = 15;
constexpr unsigned newest = 20;

void add_names(std::vector<std::string>& names, unsigned major) {
    names.push_back(cat("libLLVM.so.", major, ".1"));
    names.push_back(cat("libLLVM-", major, ".so.1"));
    names.push_back(cat("libLLVM-", major, ".so"));
    names.push_back(cat("/usr/lib/llvm-", major, "/lib/libLLVM.so.1"));
    names.push_back(cat("/usr/lib/llvm-", major, "/lib/libLLVM.so"));
}

/// Returns the libraries to try in order: only that of VOLLEY_LLVM_LIBRARY if it is set; otherwise the
/// build's library, then its version in other places, then the other versions.
std::vector<std::string> candidates() {
    if (const auto& chosen = settings().llvm_library) return {*chosen};
    std::vector<std::string> names;
#ifdef VOLLEY_LLVM_LIBRARY
    names.emplace_back(VOLLEY_LLVM_LIBRARY);
#endif
    add_names(names, VOLLEY_LLVM_MAJOR);
    for (unsigned major = newest; major >= oldest; --major) {
        if (major != VOLLEY_LLVM_MAJOR) add_names(names, major);
    }
    return names;
}

/// Returns the library's major version; 0 for versions before 15.
unsigned major_of(void* library) {
    using GetVersion = void (*)(unsigned*, unsigned*, unsigned*);
    if (auto* const get = reinterpret_cast<GetVersion>(dlsym(library, "LLVMGetVersion"))) {
        unsigned major = 0;
        get(&major, nullptr, nullptr);
        return major;
    }
    // LLVM 15 does not have that function, and is the first version with this one.
    return dlsym(library, "LLVMPointerTypeInContext") != nullptr ? oldest : 0;
}

struct Library {
    void* handle = nullptr;
    unsigned major = 0;
    std::string name;
};

Library open_library() {
    std::string tried;
    for (std::string& name : candidates()) {
        // Local visibility: other LLVM copies in the process (Mesa, PoCL) must not see these symbols.
        void* const handle = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
        tried += cat(tried.empty() ? "" : ", ", name);
        if (handle == nullptr) continue;
        const unsigned major = major_of(handle);
        if (major >= oldest && major <= newest) return {handle, major, std::move(name)};
        tried += cat(" (version ", major == 0 ? "14 or older" : cat(major), ")");
        dlclose(handle);
    }
    throw CompileError(cat("LLVM ", oldest, " to ", newest, " was not found"), "the CPU backend",
                       settings().llvm_library
                           ? cat("correct VOLLEY_LLVM_LIBRARY (tried ", tried, ")")
                           : cat("install libllvm", VOLLEY_LLVM_MAJOR, " (tried ", tried, ")"));
}

void load_symbol(const Library& library, const char* name, void** out) {
    *out = dlsym(library.handle, name);
    if (*out == nullptr) {
        throw CompileError(cat(library.name, " has no function ", name), "the CPU backend",
                           cat("install the runtime library of LLVM ", VOLLEY_LLVM_MAJOR));
    }
}

LlvmApi load() {
    const Library library = open_library();
    LlvmApi api;
    api.major = library.major;
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
    if (log_enabled(LogLevel::Info))
        log_message(LogLevel::Info, cat("LLVM ", library.major, " opened: ", library.name));
    return api;
}

}  // namespace

const LlvmApi& llvm_api() {
    // If the initialiser of a function-local static throws, the next call runs it again.
    static const LlvmApi api = load();
    return api;
}

}  // namespace volley::codegen::llvm
