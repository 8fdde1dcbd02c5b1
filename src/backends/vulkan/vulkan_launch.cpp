// Selects variants and packs arguments.
#include "backends/vulkan/vulkan_launch.hpp"

#include "backends/vulkan/vulkan_memory.hpp"

#include <cstring>
#include <vector>

namespace volley::backends::vulkan {

using codegen::spirv::Field;
using codegen::spirv::FieldKind;
using codegen::spirv::Module;

namespace {

constexpr std::uint32_t few_elements = 512;     // the minimum for a coarse launch
constexpr std::uint32_t coarse_local = 64;      // small, so that short launches have several workgroups
constexpr std::uint64_t coarse_arguments = 64;  // bytes that fit into push constants in every variant

bool is_whole(ir::Dim3 global, ir::Dim3 local) {
    return global[0] % local[0] == 0 && global[1] % local[1] == 0 && global[2] % local[2] == 0;
}

ir::Dim3 groups_of(ir::Dim3 global, ir::Dim3 local) {
    ir::Dim3 groups{};
    for (std::size_t d = 0; d < 3; ++d)
        groups[d] = static_cast<std::uint32_t>((std::uint64_t{global[d]} + local[d] - 1) / local[d]);
    return groups;
}

bool exceeds(ir::Dim3 groups, ir::Dim3 limit) {
    return groups[0] > limit[0] || groups[1] > limit[1] || groups[2] > limit[2];
}

template <class T>
void put(std::byte* to, const T& value) {
    std::memcpy(to, &value, sizeof value);
}

/// Returns whether a launch uses the coarse variant: it is large, and its blocks are aligned.
bool is_coarse(const VulkanProgram& program, const backends::Launch& launch) {
    const std::vector<bool>& blocks = program.blocks();
    if (blocks.empty() || launch.global[0] < few_elements || launch.global[0] >= (1u << 31) ||
        launch.global[1] != 1 || launch.global[2] != 1)
        return false;
    const passes::Coarsening& how = program.target().coarsening;
    std::uint64_t bytes = 0;
    for (const ir::Param& param : program.function().params)
        bytes += param.kind == ir::ParamKind::Buffer ? sizeof(std::uint64_t) : param.type.size();
    if (bytes > coarse_arguments) return false;
    for (std::size_t p = 0; p < blocks.size(); ++p) {
        if (!blocks[p]) continue;
        const backends::Argument& arg = launch.args[p];
        if ((static_cast<const VulkanMemory&>(*arg.memory).address() + arg.offset) % how.word_bytes != 0)
            return false;
    }
    return true;
}

void put_value(std::byte* to, const backends::Argument& argument, std::uint32_t size,
               const ArgumentSource& source) {
    const void* value = argument.value;
    if (argument.dynamic != backends::Argument::fixed)
        value = source.values == nullptr ? nullptr : source.values + argument.dynamic;
    if (value != nullptr) std::memcpy(to, value, size);
}

/// Writes the argument block according to the module's fields. If the module reads values from a separate
/// block, writes that block's address, `value_block`, instead of the values.
void pack(const Module& module, const backends::Launch& launch, const ArgumentSource& source, ir::Dim3 base,
          std::uint64_t value_block, std::byte* to) {
    for (const Field& field : module.fields) {
        std::byte* at = to + field.offset;
        switch (field.kind) {
            case FieldKind::GlobalSize: put(at, launch.global); break;
            case FieldKind::Address: {
                const backends::Argument& arg = launch.args[field.parameter];
                put(at, static_cast<const VulkanMemory&>(*arg.memory).address() + arg.offset);
                break;
            }
            case FieldKind::Elements: put(at, launch.args[field.parameter].elements); break;
            case FieldKind::Value:
                if (module.value_bytes == 0) put_value(at, launch.args[field.parameter], field.size, source);
                break;
            case FieldKind::Reports: put(at, source.reports); break;
            case FieldKind::GroupBase: put(at, base); break;
            case FieldKind::ValueBlock: put(at, value_block); break;
        }
    }
}

}  // namespace

PlannedLaunch::PlannedLaunch(const PhysicalDevice& physical, const backends::Launch& launch,
                             const LaunchUse& use)
    : launch_(launch), limit_(physical.max_groups) {
    const auto& program = static_cast<const VulkanProgram&>(*launch.program);
    const bool coarse = !use.any_grid && is_coarse(program, launch);
    ir::Dim3 invocations = launch.global;
    // A coarse launch leaves the last elements to one workgroup of the plain variant.
    const std::uint32_t factor = coarse ? program.target().coarsening.factor : 1;
    const std::uint32_t rest = invocations[0] % factor;
    invocations[0] /= factor;
    // The kernel does not depend on workgroups, so the local size is free.
    const ir::Dim3 local = coarse ? ir::Dim3{coarse_local, 1, 1} : launch.local;
    const ir::Dim3 groups = groups_of(invocations, local);
    const bool full = !use.any_grid && rest == 0 && is_whole(invocations, local);
    add(program.kernel({local, full, exceeds(groups, limit_), coarse, use.patched}), groups, {});
    if (rest != 0) {
        const KernelVariant& plain = program.kernel({{factor, 1, 1}, false, true, false, use.patched});
        add(plain, {1, 1, 1}, {invocations[0], 0, 0});
    }
}

void PlannedLaunch::add(const KernelVariant& kernel, ir::Dim3 groups, ir::Dim3 first) noexcept {
    const Part& part = parts_[count_++] = {&kernel, groups, first, memory_bytes_};
    const Module& module = kernel.module;
    if (module.indirect) {
        for_each_piece(part, [&](ir::Dim3 /*base*/, ir::Dim3 /*count*/) {
            memory_bytes_ += block_bytes(module.argument_bytes);
        });
    } else {
        memory_bytes_ += block_bytes(module.value_bytes);
    }
}

bool PlannedLaunch::has_dynamic(const Field& field) const noexcept {
    return field.kind == FieldKind::Value &&
           launch_.args[field.parameter].dynamic != backends::Argument::fixed;
}

bool PlannedLaunch::is_patchable() const noexcept {
    return std::all_of(parts().begin(), parts().end(), [&](const Part& part) {
        const Module& module = part.kernel->module;
        if (module.indirect || module.value_bytes != 0) return true;
        return std::none_of(module.fields.begin(), module.fields.end(),
                            [&](const Field& field) { return has_dynamic(field); });
    });
}

void PlannedLaunch::write(std::byte* to, const ArgumentSource& source) const {
    for (const Part& part : parts()) {
        const Module& module = part.kernel->module;
        std::byte* block = to + part.memory;
        if (module.indirect) {
            for_each_piece(part, [&](ir::Dim3 base, ir::Dim3 /*count*/) {
                pack(module, launch_, source, base, 0, block);
                block += block_bytes(module.argument_bytes);
            });
        } else if (module.value_bytes != 0) {
            for (const Field& field : module.fields) {
                if (field.kind == FieldKind::Value)
                    put_value(block + field.offset, launch_.args[field.parameter], field.size, source);
            }
        }
    }
}

std::size_t PlannedLaunch::push(const Part& part, const ArgumentSource& source, ir::Dim3 base,
                                std::uint64_t memory, std::byte* to) const {
    const Module& module = part.kernel->module;
    if (module.indirect) {
        put(to, memory);
        return sizeof memory;
    }
    pack(module, launch_, source, base, memory, to);
    return module.argument_bytes;
}

}  // namespace volley::backends::vulkan
