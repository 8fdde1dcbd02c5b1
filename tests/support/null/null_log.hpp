// What the null backend writes down instead of doing it: as text for people and simple tests, and as entries
// from which the order of everything can be told.
#pragma once

#include "backends/api/timeline.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace volley::backends::null {

/// Bytes that a command reads or writes.
struct NullUse {
    static constexpr std::uint64_t host = 0;

    /// The number of a block of device memory, from 1, which never comes again; or `host`, for everything
    /// that the host can address, so that one byte has one name. There the offset is an address.
    std::uint64_t memory = host;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    bool writes = false;  // for launches: as the kernel's IR says, of all that the argument lets it touch
    friend bool operator==(const NullUse&, const NullUse&) noexcept = default;
};

enum class NullKind : std::uint8_t { Launch, Write, Read, Copy, Fill, Call, WaitFor, Batch, Mark, Wait };

/// One command of a batch.
struct NullCommand {
    NullKind kind = NullKind::Launch;
    std::vector<NullUse> uses;
    std::vector<std::uint32_t> after;
    std::uint32_t level = 0;
};

/// One call of a queue, or a wait of the host's that had to wait.
struct NullEntry {
    static constexpr backends::Point everything = ~backends::Point{0};  // as backends::Launch has it
    static constexpr unsigned unknown = ~0u;

    NullKind kind = NullKind::Launch;
    unsigned queue = 0;
    backends::Point point = 0;           // its own; of a Wait, the one that was waited for
    backends::Point after = everything;  // the last of its queue's points that it follows
    std::vector<NullUse> uses;        // not of a batch; what a Write reads, the host reads while it is given
    unsigned other_queue = unknown;   // WaitFor: whose point; unknown where it is no null device's
    backends::Point other_point = 0;  // WaitFor
    std::vector<NullCommand> commands;  // Batch
    std::uint32_t instances = 0;        // Batch
    std::vector<std::byte> values;      // Batch: the dynamic values of all instances
    std::vector<std::string> lines;     // how it reads: one, and one for each command of a batch
};

/// What all devices of a driver did, in the order of the calls. Thread-safe.
class NullLog {
public:
    void add(NullEntry entry);
    [[nodiscard]] std::vector<NullEntry> entries() const;
    /// Such as
    ///     q0 launch scale 1024x1x1 local 64x1x1 -> 3
    ///     q0 launch scale 1024x1x1 local 64x1x1 after 2 -> 4    a queue that overlaps: it may with point 3
    ///     q1 write 64 -> 1
    ///     q1 wait_for q0 3 -> 2                                 or: wait_for another device's 3
    ///     q0 batch 2 commands x 10 -> 5                         ten instances, one submission
    ///       0: launch scale 1024x1x1 local 64x1x1
    ///       1: fill 64 after 0 (level 1)
    ///     q0 wait 5                                             the host
    [[nodiscard]] std::vector<std::string> lines() const;
    void clear();

    /// The n-th command from now on, counted from 1, throws MemoryError instead of being taken: once, as a
    /// driver that has no memory for it at that moment.
    void fail_at(std::uint64_t n) noexcept { fail_in_ = n; }
    /// Called for each command before it gets its point.
    void take_command();
    /// Whether fail_at()'s command has come.
    [[nodiscard]] bool has_failed() const noexcept { return fail_in_ == 0; }

    std::atomic<std::uint64_t> live_bytes{0};
    std::atomic<std::uint64_t> live_blocks{0};
    std::atomic<std::uint64_t> blocks_made{0};
    std::atomic<std::uint64_t> programs_made{0};
    std::atomic<unsigned> queues_made{0};

private:
    mutable std::mutex mutex_;
    std::vector<NullEntry> entries_;
    std::atomic<std::uint64_t> fail_in_{0};  // commands; 0: none of them
};

}  // namespace volley::backends::null
