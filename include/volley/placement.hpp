// Placement: which queues have a replica of a buffer.
#pragma once

#include <volley/api.hpp>
#include <volley/queue.hpp>

#include <cstdint>
#include <optional>
#include <utility>

namespace volley {

/// The placement of a buffer's replicas. A kernel launched without `.on` runs once for each set of replicas
/// of its buffers.
///
///     Buffer<float> table({1024}, {.placement = Placement::per_device});
///     Buffer<float> local({1024}, {.placement = Placement::on(queue(1))});
class VOLLEY_API Placement {
public:
    enum class Kind : std::uint8_t { Replicated, PerDevice, OnQueue };

    constexpr Placement() noexcept {}

    /// One replica per queue of the context, so that queues never wait for each other. The default.
    static const Placement replicated;
    /// One replica per device, which its queues share: conflicting accesses wait for each other.
    static const Placement per_device;
    /// Returns the placement with a single replica, on the given queue.
    [[nodiscard]] static Placement on(Queue queue) {
        Placement placement(Kind::OnQueue);
        placement.queue_ = std::move(queue);
        return placement;
    }

    [[nodiscard]] Kind kind() const noexcept { return kind_; }
    /// Returns the queue of on(), or nullopt for the other placements.
    [[nodiscard]] const std::optional<Queue>& queue() const noexcept { return queue_; }

    friend bool operator==(const Placement&, const Placement&) noexcept = default;

private:
    constexpr explicit Placement(Kind kind) noexcept : kind_(kind) {}

    Kind kind_ = Kind::Replicated;
    std::optional<Queue> queue_;
};

inline constinit const Placement Placement::replicated{};
inline constinit const Placement Placement::per_device{Kind::PerDevice};

}  // namespace volley
