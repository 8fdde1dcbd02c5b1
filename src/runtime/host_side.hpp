// The host's end of a transfer: plain memory or a page-locked host array.
#pragma once

#include "core/layout.hpp"
#include "runtime/context_core.hpp"
#include "runtime/hazards.hpp"

#include <volley/any_buffer.hpp>
#include <volley/host_array.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace volley::runtime {

/// Bytes as elements of the buffer's type. Throws ArgumentError (SizeMismatch) unless their number is whole.
[[nodiscard]] detail::HostSide bytes_side(std::span<const std::byte> data, const AnyBuffer& buffer);
/// Returns the host's array, checked against the buffer. `doing` starts the message: "a write passes". Throws
/// ArgumentError (TypeMismatch, SizeMismatch, InvalidArgument).
[[nodiscard]] Layout host_layout(const detail::HostSide& host, const AnyBuffer& buffer,
                                 std::string_view doing);
/// Returns whether rows follow each other in memory as in row-major order, gaps allowed: what queues can
/// transfer.
[[nodiscard]] bool is_regular(const Layout& layout, std::int64_t element);

/// Returns the page-locked memory of a host array that the queue's device allocated; otherwise nullptr.
[[nodiscard]] backends::Memory* pinned_memory(const detail::HostSide& host, const ContextCore& core,
                                              unsigned k);
/// A host array of this context: its storage, whose replica knows the commands that use the array. Otherwise
/// nullptr.
[[nodiscard]] Storage* tracked_array(const detail::HostSide& host, const ContextCore& core);
/// Blocks until no device uses the host array in a way that conflicts with the host reading or writing it.
void wait_for_array(const detail::HostSide& host, bool writes);
/// Keeps the context of a host array open during a transfer from or to another context. Throws WrongContext
/// if it is closed.
class ArrayVisit {
public:
    ArrayVisit(const detail::HostSide& host, const ContextCore& core);

private:
    std::optional<ContextCore::Visit> visit_;
};
/// Returns where the elements of a host array are in its storage.
[[nodiscard]] Layout layout_of(const AnyHostArray& array);
/// Returns the bytes of its storage that a transfer of the host array may touch.
[[nodiscard]] ByteRange bytes_of(const AnyHostArray& array);
/// Returns whether a transfer with the host's memory may also move the bytes between its elements: not those
/// of a part of a host array, which belong to the others.
[[nodiscard]] bool owns_padding(const detail::HostSide& host);
/// Returns a host array as a buffer on its storage.
[[nodiscard]] AnyBuffer as_any_buffer(const AnyHostArray& array);

/// Calls f(i, offset) for each element, in row-major order, of an array with any strides.
template <class F>
void for_each_element(const Layout& layout, F&& f) {
    std::array<std::int64_t, max_rank> index{};
    const std::int64_t count = layout.shape.elements();
    for (std::int64_t i = 0; i < count; ++i) {
        std::int64_t offset = 0;
        for (int d = 0; d < layout.shape.rank(); ++d)
            offset += index[static_cast<std::size_t>(d)] * layout.strides[d];
        f(i, offset);
        for (int d = layout.shape.rank() - 1; d >= 0; --d) {
            if (++index[static_cast<std::size_t>(d)] < layout.shape[d]) break;
            index[static_cast<std::size_t>(d)] = 0;
        }
    }
}

}  // namespace volley::runtime
