// Finds libvolley_glsl next to this library or in the build directory, and calls it.
#include "codegen/glsl/glsl_compiler.hpp"

#include "codegen/glsl/plugin/glsl_plugin.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <dlfcn.h>

#include <string>

namespace volley::codegen::glsl {
namespace {

struct Plugin {
    CompileFn compile = nullptr;
    std::string why;  // why it could not be opened
};

std::string own_folder() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&available), &info) == 0 || info.dli_fname == nullptr) return {};
    const std::string path = info.dli_fname;
    const auto slash = path.rfind('/');
    return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

Plugin open() {
    Plugin plugin;
    std::vector<std::string> candidates = {own_folder() + library_name};
#ifdef VOLLEY_GLSL_PLUGIN
    candidates.emplace_back(VOLLEY_GLSL_PLUGIN);
#endif
    candidates.emplace_back(library_name);
    for (const std::string& path : candidates) {
        void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) {
            if (const char* error = dlerror(); error != nullptr) plugin.why = error;
            continue;
        }
        plugin.compile = reinterpret_cast<CompileFn>(dlsym(library, entry_name));
        if (plugin.compile != nullptr) break;
        plugin.why = cat(path, " has no ", entry_name);
    }
    return plugin;
}

const Plugin& plugin() {
    static const Plugin opened = open();
    return opened;
}

// Receives the plugin's output.
struct Sink {
    std::vector<std::uint32_t> words;
    std::string log;
};

}  // namespace

bool available() noexcept {
    try {
        return plugin().compile != nullptr;
    } catch (...) {  // out of memory
        return false;
    }
}

std::vector<std::uint32_t> compile(std::string_view kernel, std::string_view source, bool optimise) {
    if (plugin().compile == nullptr) {
        fail(ErrorCode::Unsupported, cat("the GLSL compiler is not available: ", plugin().why),
             cat("kernel '", kernel, "'"),
             "build Volley with libshaderc-dev and glslang-dev installed, or pass SPIR-V");
    }
    Sink sink;
    const std::string name(kernel);
    const int failed = plugin().compile(
        name.c_str(), source.data(), source.size(), optimise ? 1 : 0, &sink,
        [](void* to, const std::uint32_t* words, std::size_t count) {
            static_cast<Sink*>(to)->words.assign(words, words + count);
        },
        [](void* to, const char* log) { static_cast<Sink*>(to)->log = log; });
    if (failed != 0) {
        fail(ErrorCode::CompileError, cat("the GLSL does not compile:\n", sink.log),
             cat("kernel '", kernel, "'"), "fix the lines that the log names");
    }
    return std::move(sink.words);
}

}  // namespace volley::codegen::glsl
