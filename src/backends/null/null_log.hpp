// What the null backend writes down instead of doing it.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace volley::backends::null {

/// What all devices of a driver did, in the order of the calls. Thread-safe.
class NullLog {
public:
    void add(std::string line);
    /// Such as "q0 launch scale 1024x1x1 local 64x1x1 -> 3", "q0 wait 3", "q1 write 64 -> 1".
    [[nodiscard]] std::vector<std::string> lines() const;
    void clear();

    std::atomic<std::uint64_t> live_bytes{0};
    std::atomic<std::uint64_t> live_blocks{0};
    std::atomic<std::uint64_t> blocks_made{0};
    std::atomic<std::uint64_t> programs_made{0};
    std::atomic<unsigned> queues_made{0};

private:
    mutable std::mutex mutex_;
    std::vector<std::string> lines_;
};

}  // namespace volley::backends::null
