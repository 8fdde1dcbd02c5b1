// Parts of arrays moved between buffers, and what a transfer costs. A region is what is left of an array
// after slices, integers and new axes are applied (slice.hpp); regions must have the same shape, there is no
// broadcasting.
#pragma once

#include <volley/buffer.hpp>

#include <iosfwd>
#include <string>
#include <string_view>

namespace volley {

/// Between buffers of one context: inside a device directly, between devices through the host. Every replica
/// of `to` gets the region from the nearest replica of `from`. Refuses regions that overlap (ArgumentError,
/// InvalidView). Does not wait.
///
///     copy_region(dst, {slice(1, 3), all, slice(4, 8, 2)}, src, {slice(2, 4), all, slice(3, 7, 2)});
inline Event copy_region(const AnyBuffer& to, const Selection& to_region, const AnyBuffer& from,
                         const Selection& from_region) {
    return to.sub(to_region).copy_from(from.sub(from_region));
}

/// How a transfer is done.
enum class TransferPath : std::uint8_t {
    None,         ///< nothing to move
    Whole,        ///< one piece of contiguous bytes, padding included: the fast path
    Rect,         ///< one command that moves rows of bytes, in up to three dimensions
    Rows,         ///< several such commands
    ThroughHost,  ///< between devices: in pieces, through page-locked memory
};
[[nodiscard]] VOLLEY_API std::string_view to_string(TransferPath path) noexcept;

/// What a transfer of one replica would do.
struct TransferPlan {
    TransferPath path = TransferPath::None;
    std::uint64_t driver_calls = 0;  ///< of the queue's driver; on the CPU: commands
    std::uint64_t rows = 0;          ///< pieces of contiguous bytes
    std::uint64_t bytes = 0;         ///< that are moved, with the padding that is moved along
    bool page_locked = false;        ///< the device reads or writes the host's memory itself
};
VOLLEY_API std::ostream& operator<<(std::ostream& out, const TransferPlan& plan);

/// The plan that write, read or copy_from will follow, for the first replica. Throws what they would for
/// arguments that do not fit. Regions: give views (`dev.sub({all, slice(0, 4)})`).
[[nodiscard]] VOLLEY_API TransferPlan transfer_plan(const AnyHostArray& from, const AnyBuffer& to);
[[nodiscard]] VOLLEY_API TransferPlan transfer_plan(const AnyBuffer& from, const AnyHostArray& to);
[[nodiscard]] VOLLEY_API TransferPlan transfer_plan(const AnyBuffer& from, const AnyBuffer& to);

}  // namespace volley
