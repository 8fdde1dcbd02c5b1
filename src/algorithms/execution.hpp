// What an algorithm does around its kernels: it selects devices, finds kernels by their keys, and creates
// memory for results and intermediate values.
#pragma once

#include <volley/algorithms/any_sink.hpp>
#include <volley/algorithms/any_source.hpp>
#include <volley/algorithms/device_class.hpp>
#include <volley/placement.hpp>
#include <volley/queue.hpp>

#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

namespace volley::algorithms {

/// Queues on which one kernel serves all: every queue that has the buffers, or a single one.
struct Target {
    std::optional<Queue> queue;  ///< unset: all queues that have the buffers
    const DeviceInfo* device;    ///< of all of them, or an equal one
};

/// The devices and the memory of one call of an algorithm. Invariant: results and scratch buffers exist on
/// all queues on which the kernels run.
class Execution {
public:
    /// Uses the queue of the options if it is set, else all queues that have all of the arrays' buffers.
    Execution(const std::optional<Queue>& queue, std::initializer_list<const AnySource*> sources,
              std::initializer_list<const AnySink*> sinks = {});

    /// Returns the targets: usually one. Devices of one class share a target.
    [[nodiscard]] const std::vector<Target>& targets() const noexcept { return targets_; }

    /// Returns a buffer for a result, with the placement of the arrays.
    [[nodiscard]] AnyBuffer result(DType type, const Shape& shape) const;
    /// Returns a buffer for intermediate values. While recording, its memory is that of a temporary.
    [[nodiscard]] AnyBuffer scratch(DType type, const Shape& shape) const;

private:
    Placement placement_;
    std::vector<Target> targets_;
};

/// Returns the kernel with this key; calls `make` if there is none. Thread-safe. Keeps the kernels that were
/// used last, for all contexts.
[[nodiscard]] AnyKernel find_kernel(const KernelKey& key, const std::function<AnyKernel()>& make);

/// Launches on a target.
Event launch(const AnyKernel& kernel, const Target& target, std::span<const AnyArgument> arguments);

/// Returns the axis from 0 to rank - 1; negative axes count from the end. Throws ArgumentError (IndexError).
[[nodiscard]] int checked_axis(int axis, int rank, std::string_view algorithm);
/// Returns for each axis whether `axes` has it; all of them if `axes` is empty. Throws ArgumentError for axes
/// out of range or repeated.
[[nodiscard]] std::vector<bool> checked_axes(std::span<const int> axes, int rank, std::string_view algorithm);

/// Throws ArgumentError unless the sink has this type and shape.
void check_sink(const AnySink& sink, DType type, const Shape& shape, std::string_view algorithm);
/// Throws ArgumentError (InvalidView) if the sink is a buffer that shares bytes with a buffer of the source.
/// Elementwise algorithms allow the same buffer; others do not.
void check_no_overlap(const AnySink& sink, const AnySource& source, bool same_allowed,
                      std::string_view algorithm);

/// Rounds up to a multiple.
[[nodiscard]] constexpr std::int64_t round_up(std::int64_t value, std::int64_t multiple) noexcept {
    return (value + multiple - 1) / multiple * multiple;
}
[[nodiscard]] constexpr std::int64_t divide_up(std::int64_t value, std::int64_t by) noexcept {
    return (value + by - 1) / by;
}

}  // namespace volley::algorithms
