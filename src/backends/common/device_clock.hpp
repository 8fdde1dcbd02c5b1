// A device's own clock, and where it stands against the host's steady one.
#pragma once

#include "backends/api/times.hpp"

#include <atomic>
#include <cstdint>
#include <limits>

namespace volley::backends {

/// Translates a device's nanoseconds. One for all queues of a device, so that their times can be compared
/// with each other exactly, and with those of other devices up to what calibrating can tell (tens of
/// microseconds at most).
class DeviceClock {
public:
    /// Whether its queues should calibrate before their next command: the clocks drift apart by some
    /// microseconds a second.
    [[nodiscard]] bool is_due() const noexcept {
        return steady_now() - calibrated_.load(std::memory_order_acquire) > patience;
    }
    [[nodiscard]] bool is_calibrated() const noexcept {
        return calibrated_.load(std::memory_order_acquire) > never;
    }
    /// `sample()` gives what the device's clock says at some moment during the call; it is called a few
    /// times.
    template <class Sample>
    void calibrate(Sample&& sample);
    [[nodiscard]] std::int64_t to_host(std::int64_t device) const noexcept {
        return device + offset_.load(std::memory_order_acquire);
    }

private:
    static constexpr std::int64_t patience = 2'000'000'000;
    static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min() / 2;
    std::atomic<std::int64_t> offset_{0};
    std::atomic<std::int64_t> calibrated_{never};
};

template <class Sample>
void DeviceClock::calibrate(Sample&& sample) {
    constexpr int tries = 8;
    std::int64_t best = std::numeric_limits<std::int64_t>::max();
    std::int64_t offset = 0;
    for (int i = 0; i < tries; ++i) {
        const std::int64_t before = steady_now();
        const std::int64_t device = sample();
        const std::int64_t after = steady_now();
        if (after - before >= best) continue;
        best = after - before;
        // A clock that may be the host's own, as far as can be told, is: drivers on the host's cores use that
        // one.
        offset = before <= device && device <= after ? 0 : before + best / 2 - device;
    }
    offset_.store(offset, std::memory_order_release);
    calibrated_.store(steady_now(), std::memory_order_release);
}

}  // namespace volley::backends
