// The arguments of a launch that describe the layout of its buffers: extents and strides.
#pragma once

#include "core/small_array.hpp"
#include "runtime/kernel_core.hpp"

#include <cstdint>
#include <span>

namespace volley::runtime {

/// The caller's arguments, followed by the extents and strides that the kernel reads. Must outlive the
/// launch.
class LayoutArguments {
public:
    /// Throws LaunchError if a buffer has another rank than the kernel's accesses, lacks an axis, or is too
    /// large for 32-bit indices.
    LayoutArguments(const KernelCore& kernel, const ir::Function& fn,
                    std::span<const detail::BoundArgument> given);

    [[nodiscard]] std::span<const detail::BoundArgument> all() noexcept { return bound_.span(); }
    /// Returns whether neighbours along the last axis are contiguous in every buffer accessed by position.
    [[nodiscard]] bool unit_strides() const noexcept { return unit_strides_; }

private:
    static constexpr std::size_t inline_arguments = 16;
    SmallArray<detail::BoundArgument, inline_arguments> bound_;
    SmallArray<std::uint64_t, inline_arguments> values_;  // u32 values are in the low bytes
    bool unit_strides_ = true;
};

}  // namespace volley::runtime
