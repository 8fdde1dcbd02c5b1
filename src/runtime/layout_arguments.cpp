// Computes the extents and strides of bound buffers in elements, and checks that the kernel can use them.
#include "runtime/layout_arguments.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"
#include "runtime/buffer_access.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

namespace volley::runtime {
namespace {

std::string subject(const KernelCore& kernel, const AnyBuffer& buffer) {
    return cat(buffer.name(), ", kernel '", kernel.name(), "'");
}

std::string dimensions(std::int64_t count) { return cat(count, count == 1 ? " dimension" : " dimensions"); }

void check_rank(const KernelCore& kernel, const AnyBuffer& buffer, std::size_t argument, std::uint32_t rank) {
    static_cast<void>(storage_of(buffer));  // throws for a default-constructed buffer
    if (std::cmp_equal(buffer.shape().rank(), rank)) return;
    fail(ErrorCode::InvalidLaunch,
         cat("argument ", argument, " has ", dimensions(buffer.shape().rank()),
             ", but the kernel accesses it with ", rank, rank == 1 ? " index" : " indices"),
         subject(kernel, buffer),
         cat("pass a buffer with ", dimensions(rank), ", such as a reshape() of this one"));
}

std::uint64_t stride_in_elements(const KernelCore& kernel, const AnyBuffer& buffer, int axis) {
    const std::int64_t bytes = buffer.strides()[axis];
    const auto element = static_cast<std::int64_t>(buffer.dtype().size());
    if (bytes % element != 0) {
        fail(ErrorCode::InvalidLaunch,
             cat("the stride of axis ", axis, ", ", bytes, " bytes, is not a multiple of the element size ",
                 element),
             subject(kernel, buffer), "copy the elements to a separate buffer first");
    }
    return static_cast<std::uint64_t>(bytes / element);
}

std::uint64_t layout_value(const KernelCore& kernel, const ir::Param& param, const AnyBuffer& buffer) {
    static_cast<void>(storage_of(buffer));
    if (std::cmp_greater_equal(param.axis, buffer.shape().rank())) {
        fail(ErrorCode::InvalidLaunch,
             cat("the kernel reads extent(", param.axis, ") of argument ", param.buffer + 1, ", which has ",
                 dimensions(buffer.shape().rank())),
             subject(kernel, buffer), "pass a buffer with more dimensions");
    }
    const auto axis = static_cast<int>(param.axis);
    const bool narrow = param.type.size() == 4;
    constexpr std::uint64_t most = std::uint64_t{1} << 32;
    if (param.kind == ir::ParamKind::Stride) {
        if (narrow && window_elements(buffer) > most) {
            fail(ErrorCode::InvalidLaunch,
                 cat("argument ", param.buffer + 1, " has ", window_elements(buffer),
                     " elements, too many for 32-bit indices"),
                 subject(kernel, buffer), "index it with 64-bit values: cast<u64>(y)");
        }
        return stride_in_elements(kernel, buffer, axis);
    }
    const std::int64_t extent = buffer.shape()[axis];
    if (narrow && std::cmp_greater_equal(extent, most)) {
        fail(ErrorCode::InvalidLaunch,
             cat("extent(", axis, ") of argument ", param.buffer + 1, " is ", extent),
             subject(kernel, buffer), "read it with extent64()");
    }
    return static_cast<std::uint64_t>(extent);
}

}  // namespace

LayoutArguments::LayoutArguments(const KernelCore& kernel, const ir::Function& fn,
                                 std::span<const detail::BoundArgument> given)
    : bound_(fn.params.size()), values_(fn.params.size() - given.size()) {
    std::ranges::copy(given, bound_.span().begin());
    for (std::size_t i = 0; i < given.size(); ++i) {
        const std::uint32_t rank = fn.params[i].rank;
        if (rank == 0) continue;
        const AnyBuffer& buffer = *given[i].buffer;
        check_rank(kernel, buffer, i + 1, rank);
        // The stride of an axis of one element is never used.
        const int last = buffer.shape().rank() - 1;
        unit_strides_ &= buffer.shape()[last] <= 1 || stride_in_elements(kernel, buffer, last) == 1;
    }
    for (std::size_t i = given.size(); i < fn.params.size(); ++i) {
        const ir::Param& param = fn.params[i];
        const std::uint64_t value = layout_value(kernel, param, *given[param.buffer].buffer);
        std::uint64_t& kept = values_[i - given.size()];
        const auto low = static_cast<std::uint32_t>(value);
        if (param.type.size() == sizeof low) {
            std::memcpy(&kept, &low, sizeof low);
        } else {
            kept = value;
        }
        bound_[i].value = &kept;
    }
}

}  // namespace volley::runtime
