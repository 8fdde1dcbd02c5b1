// What a thread may run of a queue's work, and for how long, before it does something else.
#pragma once

#include "backends/cpu/cpu_command.hpp"
#include "backends/cpu/cpu_pool.hpp"

#include <algorithm>
#include <limits>

namespace volley::backends::cpu {

struct Turn {
    using Deadline = Clock::time_point;
    static constexpr Deadline forever = Deadline::max();

    unsigned thread = 0;                             // CpuPool::thread_number()
    backends::Point until = CpuCommand::everything;  // runs nothing after this point
    int budget = std::numeric_limits<int>::max();    // commands, or pieces of a batch
    Deadline deadline = forever;
    /// A thread that must be back at its deadline runs only pieces that are known to be short.
    bool only_brief = false;

    /// Returns whether a command whose `claim` has this value has a piece for the thread.
    [[nodiscard]] bool can_claim(std::uint64_t word) const noexcept {
        if (CpuCommand::left(word) == 0 || CpuCommand::is_after(word, until)) return false;
        if (only_brief && (word & CpuCommand::brief_pieces) == 0) return false;
        return thread != 0 || (word & CpuCommand::workers_only) == 0;
    }

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
