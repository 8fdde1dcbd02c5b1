// Limits how much of a queue's work a thread runs before it does something else.
#pragma once

#include "backends/cpu/cpu_command.hpp"
#include "backends/cpu/cpu_pool.hpp"

#include <algorithm>
#include <limits>

namespace volley::backends::cpu {

struct Turn {
    using Deadline = Clock::time_point;
    static constexpr Deadline forever = Deadline::max();

    bool worker = false;                             // starts at the back
    backends::Point until = CpuCommand::everything;  // runs nothing after this point
    int budget = std::numeric_limits<int>::max();    // commands, or pieces of a batch
    Deadline deadline = forever;

    /// Returns whether the deadline has passed; call it between pieces. Reading the clock costs as much as a
    /// small kernel, so it is read only every few calls if pieces are short.
    [[nodiscard]] bool is_late() noexcept {
        if (deadline == forever || --until_look > 0) return false;
        constexpr auto often = std::chrono::microseconds(10);
        constexpr int rarely = 64;
        const auto now = Clock::now();
        stride = now - looked < often ? std::min(2 * stride, rarely) : 1;
        until_look = stride;
        looked = now;
        return now >= deadline;
    }

    // State of is_late().
    int stride = 1;
    int until_look = 1;
    Clock::time_point looked{};
};

}  // namespace volley::backends::cpu
