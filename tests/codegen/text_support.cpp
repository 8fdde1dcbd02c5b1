// Runs clang on files in a temporary folder, many in one process; opens the system's NVRTC.
#include "codegen/text_support.hpp"

#include "core/text.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

namespace volley::test {
namespace {

#ifdef VOLLEY_CLANG
constexpr const char* clang = VOLLEY_CLANG;
#else
constexpr const char* clang = nullptr;
#endif

class Folder {
public:
    Folder() {
        static std::atomic<unsigned> next = 0;
        path_ = std::filesystem::temp_directory_path() / cat("volley-text-", ::getpid(), '-', next++);
        std::filesystem::create_directories(path_);
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(path_ / name) << text;
        return (path_ / name).string();
    }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

/// Returns a command's output, or a message if it fails without output.
std::string run(const std::string& command) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(
        ::popen((command + " 2>&1").c_str(), "r"),
        [](std::FILE* f) { return f != nullptr ? ::pclose(f) : 0; });
    if (!pipe) return "cannot run " + command;
    std::string text;
    char buffer[4096];
    while (const std::size_t got = std::fread(buffer, 1, sizeof buffer, pipe.get())) text.append(buffer, got);
    return text;
}

// Namespaces separate the helpers of the sources; each entry gets its own name.
std::string joined(const std::vector<cuda::Source>& sources) {
    std::string all;
    for (std::size_t k = 0; k < sources.size(); ++k) {
        std::string text = sources[k].text;
        const std::size_t at = text.rfind(' ' + sources[k].entry + '(');
        text.insert(at + 1 + sources[k].entry.size(), cat('_', k));
        all += cat("namespace n", k, " {\n", text, "}\n");
    }
    return all;
}

constexpr std::string_view warnings =
    " -Wall -Wno-unused-function -Wno-unused-variable -Wno-unused-but-set-variable -Wno-tautological-compare "
    "-Wno-constant-logical-operand";

std::string cuda_command(unsigned architecture, std::string_view folder) {
    return cat("cd '", folder, "' && '", clang, "' -x cuda -std=c++17 --cuda-device-only --cuda-gpu-arch=sm_",
               architecture, " -nocudainc -nocudalib -Wno-unknown-cuda-version -ffp-contract=off", warnings,
               " -include '", VOLLEY_CUDA_DECLARATIONS, "' -S");
}

}  // namespace

opencl::Target rich_opencl() {
    opencl::Target target;
    target.device = "rich:0";
    target.version = 300;
    target.f16 = target.f64 = target.i64_atomics = true;
    target.fused_fma = target.keeps_subnormals = target.exact_division = true;
    target.subgroups = true;
    target.subgroup_size = 64;
    return target;
}

opencl::Target cpu_opencl() {
    opencl::Target target;
    target.device = "cpu:0";
    target.f64 = target.i64_atomics = true;
    target.fused_fma = target.keeps_subnormals = target.exact_division = true;
    return target;
}

opencl::Target poor_opencl() {
    opencl::Target target;
    target.device = "poor:0";
    return target;
}

std::vector<opencl::Target> all_opencl() { return {rich_opencl(), cpu_opencl(), poor_opencl()}; }

bool has_clang() { return clang != nullptr; }

std::string objections(const std::vector<opencl::Source>& sources, const opencl::Target& target) {
    const Folder folder;
    std::string command =
        cat('\'', clang, "' -x cl -cl-std=CL", target.version / 100, '.', target.version / 10 % 10,
            " -target spir64-unknown-unknown -fsyntax-only", warnings, " -Xclang -cl-ext=-all");
    const auto extension = [&](bool there, std::string_view name) {
        if (there) command += cat(",+", name);
    };
    extension(target.f16, "cl_khr_fp16");
    extension(target.f64, "cl_khr_fp64");
    extension(target.f64 && target.version >= 300, "__opencl_c_fp64");
    extension(target.i64_atomics, "cl_khr_int64_base_atomics");
    extension(target.i64_atomics, "cl_khr_int64_extended_atomics");
    for (const char* name : {"cl_khr_subgroups", "__opencl_c_subgroups", "cl_khr_subgroup_ballot",
                             "cl_khr_subgroup_shuffle", "cl_khr_subgroup_non_uniform_arithmetic"})
        extension(target.subgroups, name);
    for (std::size_t k = 0; k < sources.size(); ++k)
        command += cat(" '", folder.write(cat("kernel", k, ".cl"), sources[k].text), '\'');
    return run(command);
}

std::string objections(const std::vector<cuda::Source>& sources, unsigned architecture) {
    const Folder folder;
    const std::string file = folder.write("kernels.cu", joined(sources));
    const std::string said =
        run(cat(cuda_command(architecture, folder.path().string()), " kernels.cu -o kernels.ptx"));
    if (said.empty() && !std::filesystem::exists(folder.path() / "kernels.ptx")) return "clang made no PTX";
    return said.empty() ? said : cat(said, '\n', file);
}

std::string ptx_of(const cuda::Source& source, unsigned architecture) {
    const Folder folder;
    folder.write("kernel.cu", source.text);
    static_cast<void>(
        run(cat(cuda_command(architecture, folder.path().string()), " -O1 kernel.cu -o kernel.ptx")));
    std::ifstream file(folder.path() / "kernel.ptx");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

// ---- NVRTC ----

namespace {

struct Nvrtc {
    using Program = void*;
    int (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
    int (*compile)(Program, int, const char* const*) = nullptr;
    int (*log_size)(Program, std::size_t*) = nullptr;
    int (*log)(Program, char*) = nullptr;
    int (*destroy)(Program*) = nullptr;

    Nvrtc() {
        void* library = nullptr;
        for (const char* name : {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"}) {
            if (library == nullptr) library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
        }
        if (library == nullptr) return;
        const auto find = [&](auto& function, const char* name) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
        };
        find(create, "nvrtcCreateProgram");
        find(compile, "nvrtcCompileProgram");
        find(log_size, "nvrtcGetProgramLogSize");
        find(log, "nvrtcGetProgramLog");
        find(destroy, "nvrtcDestroyProgram");
    }
    [[nodiscard]] bool there() const {
        return create != nullptr && compile != nullptr && log_size != nullptr && log != nullptr &&
               destroy != nullptr;
    }
};

const Nvrtc& nvrtc() {
    static const Nvrtc instance;
    return instance;
}

}  // namespace

bool has_nvrtc() { return nvrtc().there(); }

std::string nvrtc_objections(const std::vector<cuda::Source>& sources) {
    Nvrtc::Program program = nullptr;
    const std::string all = joined(sources);
    if (nvrtc().create(&program, all.c_str(), "kernel.cu", 0, nullptr, nullptr) != 0)
        return "NVRTC makes no program";
    std::vector<std::string> options;
    std::istringstream words(sources.at(0).options);
    for (std::string word; words >> word;) options.push_back(word);
    std::vector<const char*> pointers;
    for (const std::string& option : options) pointers.push_back(option.c_str());
    std::string text;
    if (nvrtc().compile(program, static_cast<int>(pointers.size()), pointers.data()) != 0) {
        std::size_t size = 0;
        nvrtc().log_size(program, &size);
        text.resize(size);
        nvrtc().log(program, text.data());
        text += "NVRTC failed";
    }
    nvrtc().destroy(&program);
    return text;
}

std::string line_with(const codegen::clike::Source& source, std::string_view piece) {
    const std::size_t at = source.text.find(piece);
    if (at == std::string::npos) return {};
    const std::size_t first = source.text.rfind('\n', at) + 1;
    return std::string(
        trimmed(std::string_view(source.text).substr(first, source.text.find('\n', at) - first)));
}

}  // namespace volley::test
