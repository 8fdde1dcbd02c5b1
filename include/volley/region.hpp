// Transfers of regions, and the plan of a transfer. A region is the part of an array that a Selection
// (slice.hpp) selects. These functions are shorthands for transfers of sub(region), which offers all others;
// both sides must have the same shape, as there is no broadcasting.
#pragma once

#include <volley/buffer.hpp>

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace volley {

/// Copies a region of one buffer to a region of another one of the same context: to the queue's replica or to
/// all, each from the nearest replica of `from`. Does not block. Throws as AnyBuffer::copy_from does.
///
///     copy_region(dst, {slice(1, 3), all, slice(4, 8, 2)}, src, {slice(2, 4), all, slice(3, 7, 2)});
inline Event copy_region(const AnyBuffer& to, const Selection& to_region, const AnyBuffer& from,
                         const Selection& from_region, std::optional<QueueRef> queue = {}) {
    return to.sub(to_region).copy_from(from.sub(from_region), queue);
}

/// Returns the elements of a region in row-major order. Blocks and throws as Buffer::read does.
///
///     std::vector<float> row = read_region(image, {3, all}, 0);
template <class T>
[[nodiscard]] std::vector<T> read_region(const Buffer<T>& from, const Selection& region, QueueRef queue) {
    return from.sub(region).read(queue);
}

/// Copies host data to a region of the queue's replica or of all. Blocks and throws as Buffer::write does.
template <class T, detail::HostDataOf<T> R>
void write_region(const Buffer<T>& to, const Selection& region, const R& data,
                  std::optional<QueueRef> queue = {}) {
    to.sub(region).write(data, queue);
}

/// Sets all bytes of a region's elements to zero. Does not block.
inline Event zero_region(const AnyBuffer& to, const Selection& region, std::optional<QueueRef> queue = {}) {
    return to.sub(region).zero(queue);
}

/// How a transfer moves its bytes.
enum class TransferPath : std::uint8_t {
    None,         ///< there is nothing to move
    Whole,        ///< one contiguous piece, padding included: the fast path
    Rect,         ///< one command that moves contiguous rows in up to three dimensions
    Rows,         ///< several Rect commands
    ThroughHost,  ///< between devices: few bytes by the host, others in pieces through page-locked memory
};
[[nodiscard]] VOLLEY_API std::string_view to_string(TransferPath path) noexcept;

/// What the transfer of one replica takes.
struct TransferPlan {
    TransferPath path = TransferPath::None;
    std::uint64_t driver_calls = 0;  ///< calls of the queue's driver; on the CPU, commands
    std::uint64_t rows = 0;          ///< contiguous pieces
    std::uint64_t bytes = 0;         ///< including padding that is moved along
    bool page_locked = false;        ///< the device accesses the host memory directly
};
VOLLEY_API std::ostream& operator<<(std::ostream& out, const TransferPlan& plan);

/// Returns the plan that write, read or copy_from follows for the first replica, without doing it. Throws
/// what they throw for arguments that do not fit. For a region, pass `buffer.sub(region)`.
[[nodiscard]] VOLLEY_API TransferPlan transfer_plan(const AnyHostArray& from, const AnyBuffer& to);
[[nodiscard]] VOLLEY_API TransferPlan transfer_plan(const AnyBuffer& from, const AnyHostArray& to);
[[nodiscard]] VOLLEY_API TransferPlan transfer_plan(const AnyBuffer& from, const AnyBuffer& to);

}  // namespace volley
