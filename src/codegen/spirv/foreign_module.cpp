// Foreign modules: translates their interface, and checks the features that they need.
#include "codegen/spirv/compiler.hpp"
#include "codegen/spirv/reflection.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"
#include "ir/foreign.hpp"

#include <spirv/unified1/spirv.hpp11>

namespace volley::codegen::spirv {
namespace {

/// Throws if the device lacks a feature of the module; drivers may crash instead of reporting it.
void check_capabilities(const ir::Function& fn, const Reflection& module, const Target& target) {
    const auto need = [&](bool has, std::string_view feature) {
        if (has) return;
        fail(ErrorCode::Unsupported, cat(target.device, " has no ", feature), cat("kernel '", fn.name, "'"),
             "run the kernel on a device that has this feature, or rewrite it without");
    };
    for (const std::uint32_t capability : module.capabilities) {
        switch (static_cast<spv::Capability>(capability)) {
            case spv::Capability::Float64: need(target.f64, "64-bit floats"); break;
            case spv::Capability::Float16: need(target.f16, "16-bit floats"); break;
            case spv::Capability::Int64: need(target.i64, "64-bit integers"); break;
            case spv::Capability::Int16: need(target.i16, "16-bit integers"); break;
            case spv::Capability::Int8: need(target.i8, "8-bit integers"); break;
            case spv::Capability::Int64Atomics: need(target.i64_atomics, "64-bit atomics"); break;
            case spv::Capability::AtomicFloat32AddEXT: need(target.f32_add, "float atomics"); break;
            case spv::Capability::StorageBuffer16BitAccess: need(target.storage16, "16-bit storage"); break;
            case spv::Capability::StorageBuffer8BitAccess: need(target.storage8, "8-bit storage"); break;
            case spv::Capability::GroupNonUniformVote: need(target.subgroup_vote, "subgroup votes"); break;
            case spv::Capability::GroupNonUniformArithmetic:
                need(target.subgroup_arithmetic, "subgroup arithmetic");
                break;
            case spv::Capability::GroupNonUniformBallot:
                need(target.subgroup_ballot, "subgroup ballots");
                break;
            case spv::Capability::GroupNonUniformShuffle:
                need(target.subgroup_shuffle, "subgroup shuffles");
                break;
            default: break;
        }
    }
    if (module.push_bytes > target.push_bytes) {
        fail(ErrorCode::Unsupported,
             cat("its push constants take ", module.push_bytes, " bytes, but ", target.device, " has only ",
                 target.push_bytes),
             cat("kernel '", fn.name, "'"), "pass large values in buffers");
    }
}

}  // namespace

Module adopt(const ir::Function& fn, const Target& target) {
    const ir::ForeignCode& code = *fn.foreign;
    const Reflection found = reflect(code.words, code.entry, fn.name);
    check_capabilities(fn, found, target);
    Module module;
    module.words = code.words;
    module.entry = code.entry;
    module.argument_bytes = found.push_bytes;
    const bool bound = !found.bindings.empty();
    std::uint32_t buffers = 0;
    std::size_t member = 0;
    for (std::uint32_t p = 0; p < fn.params.size(); ++p) {
        const bool buffer = fn.params[p].kind == ir::ParamKind::Buffer;
        if (bound && buffer) {
            const std::uint32_t binding = buffers++;
            for (const std::uint32_t used : found.bindings) {
                if (used == binding) module.bindings.push_back({binding, p});
            }
            continue;
        }
        const PushMember& push = found.push.at(member++);
        module.fields.push_back({buffer ? FieldKind::Address : FieldKind::Value, p, push.offset, push.size});
    }
    return module;
}

}  // namespace volley::codegen::spirv
