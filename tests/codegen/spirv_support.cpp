// The targets, and calls of SPIRV-Tools' C interface.
#include "codegen/spirv_support.hpp"

#ifdef VOLLEY_HAS_SPIRV_TOOLS
#include <spirv-tools/libspirv.h>
#endif

namespace volley::test {

spirv::Target rich_target() {
    spirv::Target target;
    target.device = "rich:0";
    target.f16 = target.f64 = target.i8 = target.i16 = target.i64 = true;
    target.storage8 = target.storage16 = true;
    target.f32_add = target.shared_f32_add = target.i64_atomics = target.shared_i64_atomics = true;
    target.fused_fma = true;
    target.keeps_nan_f16 = target.keeps_nan_f32 = target.keeps_nan_f64 = true;
    target.rounds_even_f16 = target.rounds_even_f32 = target.rounds_even_f64 = true;
    target.keeps_subnormals_f32 = true;
    target.subgroup_vote = target.subgroup_arithmetic = target.subgroup_ballot = target.subgroup_shuffle =
        true;
    target.subgroup_extended_types = true;
    target.subgroup_size = 32;
    return target;
}

spirv::Target limited_target() {
    spirv::Target target = rich_target();
    target.device = "limited:0";
    target.fused_fma = target.keeps_subnormals_f32 = false;
    target.subgroup_size = 8;
    target.max_iterations = 65535;
    return target;
}

spirv::Target plain_target() {
    spirv::Target target;
    target.device = "plain:0";
    target.keeps_nan_f32 = true;
    target.subgroup_vote = target.subgroup_arithmetic = target.subgroup_ballot = target.subgroup_shuffle =
        true;
    target.subgroup_extended_types = true;
    target.subgroup_size = 4;
    return target;
}

spirv::Target poor_target() {
    spirv::Target target;
    target.device = "poor:0";
    target.subgroup_size = 4;
    target.push_bytes = 16;
    return target;
}

std::vector<spirv::Target> all_targets() {
    return {rich_target(), limited_target(), plain_target(), poor_target()};
}

#ifdef VOLLEY_HAS_SPIRV_TOOLS

bool can_validate() noexcept { return true; }

std::string objections(const std::vector<std::uint32_t>& words) {
    spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_2);
    spv_validator_options options = spvValidatorOptionsCreate();
    spvValidatorOptionsSetScalarBlockLayout(options, true);
    spv_const_binary_t binary{words.data(), words.size()};
    spv_diagnostic diagnostic = nullptr;
    std::string text;
    if (spvValidateWithOptions(context, options, &binary, &diagnostic) != SPV_SUCCESS)
        text = diagnostic != nullptr ? diagnostic->error : "not valid";
    spvDiagnosticDestroy(diagnostic);
    spvValidatorOptionsDestroy(options);
    spvContextDestroy(context);
    return text;
}

#else

bool can_validate() noexcept { return false; }
std::string objections(const std::vector<std::uint32_t>&) { return {}; }

#endif

}  // namespace volley::test
