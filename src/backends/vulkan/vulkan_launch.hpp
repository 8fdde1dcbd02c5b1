// Plans how a launch runs on a Vulkan device: its variants, the workgroups of each, and where its modules
// expect the arguments. A planned launch can be recorded many times; nothing here allocates.
//
// Arguments are push constants if possible. The others (blocks that are too large, values that change while
// commands stay recorded) are in the launch's argument memory: memory_bytes() bytes, provided by the caller.
#pragma once

#include "backends/api/queue.hpp"
#include "backends/vulkan/vulkan_physical.hpp"
#include "backends/vulkan/vulkan_program.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace volley::backends::vulkan {

/// The purpose of a plan.
struct LaunchUse {
    bool patched = false;   // values change while it stays recorded, so they are in argument memory
    bool any_grid = false;  // one variant for whole and partial grids: less to compile
};

/// Inputs for writing arguments, besides the launch itself.
struct ArgumentSource {
    std::uint64_t memory = 0;           // device address of the argument memory
    std::uint64_t reports = 0;          // device address of the report buffer
    const std::byte* values = nullptr;  // of dynamic arguments; null: they are written later
};

class PlannedLaunch {
public:
    /// Compiles missing variants; throws what VulkanProgram::kernel throws. Refers to the launch's arguments,
    /// which must stay valid.
    PlannedLaunch(const PhysicalDevice& physical, const backends::Launch& launch, const LaunchUse& use = {});

    [[nodiscard]] const backends::Launch& launch() const noexcept { return launch_; }
    /// Returns the kernel of all workgroups, except for the last elements of a coarse launch.
    [[nodiscard]] const KernelVariant& kernel() const noexcept { return *parts_[0].kernel; }
    [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return memory_bytes_; }
    /// Returns whether all dynamic values are in argument memory, which is not the case for foreign modules.
    [[nodiscard]] bool is_patchable() const noexcept;

    /// Writes the argument memory.
    void write(std::byte* to, const ArgumentSource& source) const;
    /// Calls f(offset in the argument memory, argument, bytes) for each dynamic value.
    template <class F>
    void for_each_dynamic(F&& f) const;
    /// Calls f(kernel, workgroups, push constants) for each dispatch, in order.
    template <class F>
    void for_each_dispatch(const ArgumentSource& source, F&& f) const;

private:
    /// One kernel and its workgroups.
    struct Part {
        const KernelVariant* kernel = nullptr;
        ir::Dim3 groups = {};
        ir::Dim3 first = {};       // first workgroup
        std::uint64_t memory = 0;  // offset of its arguments
    };
    static constexpr std::size_t push_bytes = 256;  // maximum of push constants used

    [[nodiscard]] std::span<const Part> parts() const noexcept { return {parts_.data(), count_}; }
    void add(const KernelVariant& kernel, ir::Dim3 groups, ir::Dim3 first) noexcept;
    [[nodiscard]] bool has_dynamic(const codegen::spirv::Field& field) const noexcept;
    /// Returns the number of bytes written.
    std::size_t push(const Part& part, const ArgumentSource& source, ir::Dim3 base, std::uint64_t memory,
                     std::byte* to) const;
    /// Returns the distance between the argument blocks of two pieces.
    [[nodiscard]] static std::uint64_t block_bytes(std::uint32_t bytes) noexcept {
        return (std::uint64_t{bytes} + 15) / 16 * 16;
    }
    /// Calls f(base, count) for pieces within the device's limit on workgroups per dispatch.
    template <class F>
    void for_each_piece(const Part& part, F&& f) const;

    backends::Launch launch_;
    ir::Dim3 limit_;
    std::array<Part, 2> parts_;
    std::size_t count_ = 0;
    std::uint64_t memory_bytes_ = 0;
};

template <class F>
void PlannedLaunch::for_each_piece(const Part& part, F&& f) const {
    const ir::Dim3& groups = part.groups;
    ir::Dim3 at{};
    for (at[2] = 0; at[2] < groups[2]; at[2] += std::min(limit_[2], groups[2] - at[2])) {
        for (at[1] = 0; at[1] < groups[1]; at[1] += std::min(limit_[1], groups[1] - at[1])) {
            for (at[0] = 0; at[0] < groups[0]; at[0] += std::min(limit_[0], groups[0] - at[0])) {
                ir::Dim3 base{};
                ir::Dim3 count{};
                for (std::size_t d = 0; d < 3; ++d) {
                    base[d] = part.first[d] + at[d];
                    count[d] = std::min(limit_[d], groups[d] - at[d]);
                }
                f(base, count);
            }
        }
    }
}

template <class F>
void PlannedLaunch::for_each_dynamic(F&& f) const {
    for (const Part& part : parts()) {
        const codegen::spirv::Module& module = part.kernel->module;
        const auto fields_at = [&](std::uint64_t memory) {
            for (const codegen::spirv::Field& field : module.fields) {
                if (has_dynamic(field)) f(memory + field.offset, launch_.args[field.parameter], field.size);
            }
        };
        if (!module.indirect) {
            fields_at(part.memory);
            continue;
        }
        std::uint64_t memory = part.memory;
        for_each_piece(part, [&](ir::Dim3 /*base*/, ir::Dim3 /*count*/) {
            fields_at(memory);
            memory += block_bytes(module.argument_bytes);
        });
    }
}

template <class F>
void PlannedLaunch::for_each_dispatch(const ArgumentSource& source, F&& f) const {
    alignas(16) std::array<std::byte, push_bytes> bytes;
    for (const Part& part : parts()) {
        const codegen::spirv::Module& module = part.kernel->module;
        std::uint64_t memory = source.memory + part.memory;
        for_each_piece(part, [&](ir::Dim3 base, ir::Dim3 count) {
            const std::size_t pushed = push(part, source, base, memory, bytes.data());
            f(*part.kernel, count, std::span<const std::byte>(bytes.data(), pushed));
            if (module.indirect) memory += block_bytes(module.argument_bytes);
        });
    }
}

}  // namespace volley::backends::vulkan
