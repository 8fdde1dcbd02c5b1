// The offset between a device's clock and the host's steady clock.
#pragma once

#include "backends/api/times.hpp"

#include <atomic>
#include <cstdint>
#include <limits>

namespace volley::backends {

/// Translates device times to host times. All queues of a device share one clock, so their times compare
/// exactly with each other; times of different devices compare up to the calibration error (tens of
/// microseconds at most).
class DeviceClock {
public:
    /// Returns whether a queue should calibrate before its next command: the clocks drift apart by some
    /// microseconds per second.
    [[nodiscard]] bool is_due() const noexcept {
        return steady_now() - calibrated_.load(std::memory_order_acquire) > patience;
    }
    [[nodiscard]] bool is_calibrated() const noexcept {
        return calibrated_.load(std::memory_order_acquire) > never;
    }
    /// Measures the offset. `sample()` returns the device's time at some moment during the call; it is called
    /// several times.
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
        // If the device's time lies within the measured interval, assume that both clocks are the same:
        // drivers that run on host cores use the steady clock.
        offset = before <= device && device <= after ? 0 : before + best / 2 - device;
    }
    offset_.store(offset, std::memory_order_release);
    calibrated_.store(steady_now(), std::memory_order_release);
}

}  // namespace volley::backends
