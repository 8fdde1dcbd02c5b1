// Implements glsl_plugin.hpp with shaderc. One compiler object lives as long as the process: once the last
// one is destroyed, the next compilation pays for initialisation again.
#include "codegen/glsl/plugin/glsl_plugin.hpp"

#include <shaderc/shaderc.h>

extern "C" __attribute__((visibility("default"))) int volley_glsl_compile(
    const char* name, const char* source, std::size_t size, int optimise, void* to,
    void (*words)(void* to, const std::uint32_t* words, std::size_t count),
    void (*log)(void* to, const char* text)) {
    static const shaderc_compiler_t compiler = shaderc_compiler_initialize();
    const shaderc_compile_options_t options = shaderc_compile_options_initialize();
    if (compiler == nullptr || options == nullptr) {
        log(to, "shaderc could not be initialised");
        return 1;
    }
    shaderc_compile_options_set_target_env(options, shaderc_target_env_vulkan,
                                           shaderc_env_version_vulkan_1_2);
    shaderc_compile_options_set_optimization_level(
        options, optimise != 0 ? shaderc_optimization_level_performance : shaderc_optimization_level_zero);
    const shaderc_compilation_result_t result =
        shaderc_compile_into_spv(compiler, source, size, shaderc_compute_shader, name, "main", options);
    shaderc_compile_options_release(options);
    if (result == nullptr) {
        log(to, "shaderc returned no result");
        return 1;
    }
    const bool good = shaderc_result_get_compilation_status(result) == shaderc_compilation_status_success;
    if (good) {
        words(to, reinterpret_cast<const std::uint32_t*>(shaderc_result_get_bytes(result)),
              shaderc_result_get_length(result) / sizeof(std::uint32_t));
    } else {
        log(to, shaderc_result_get_error_message(result));
    }
    shaderc_result_release(result);
    return good ? 0 : 1;
}
