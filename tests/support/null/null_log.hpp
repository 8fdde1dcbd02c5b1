// The log of the null backend: as text for readers and simple tests, and as entries from which the order of
// all commands can be derived.
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

    /// The number of a device allocation, from 1, never reused; or `host` for all memory that the host can
    /// address, so that each byte has one name. The offset is then an address.
    std::uint64_t memory = host;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    bool writes = false;  // for launches: according to the kernel's IR, for the argument's whole range
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

/// A call of a queue, or a wait by the host that had to block.
struct NullEntry {
    static constexpr backends::Point everything = ~backends::Point{0};  // like backends::Launch
    static constexpr unsigned unknown = ~0u;

    NullKind kind = NullKind::Launch;
    unsigned queue = 0;
    backends::Point point = 0;           // the entry's point; for a Wait, the awaited one
    backends::Point after = everything;  // the last point of its queue that it follows
    std::vector<NullUse> uses;  // empty for a batch; the host reads the data of a Write during submission
    unsigned other_queue = unknown;   // WaitFor: the queue of the point; unknown if it is not a null device's
    backends::Point other_point = 0;  // WaitFor
    std::vector<NullCommand> commands;  // Batch
    std::uint32_t instances = 0;        // Batch
    std::vector<std::byte> values;      // Batch: the dynamic values of all instances
    std::vector<std::string> lines;     // its text: one line, and one for each command of a batch
};

/// The commands of all devices of a driver, in call order. Thread-safe.
class NullLog {
public:
    void add(NullEntry entry);
    [[nodiscard]] std::vector<NullEntry> entries() const;
    /// Returns the log as text, for example
    ///     q0 launch scale 1024x1x1 local 64x1x1 -> 3
    ///     q0 launch scale 1024x1x1 local 64x1x1 after 2 -> 4    may overlap point 3
    ///     q1 write 64 -> 1
    ///     q1 wait_for q0 3 -> 2                                 or: wait_for another device's 3
    ///     q0 batch 2 commands x 10 -> 5                         ten instances in one submission
    ///       0: launch scale 1024x1x1 local 64x1x1
    ///       1: fill 64 after 0 (level 1)
    ///     q0 wait 5                                             by the host
    [[nodiscard]] std::vector<std::string> lines() const;
    void clear();

    /// Makes the n-th command from now on, counted from 1, throw MemoryError once, like a driver that is out
    /// of memory.
    void fail_at(std::uint64_t n) noexcept { fail_in_ = n; }
    /// Called for each command before its point is issued.
    void take_command();
    /// Returns whether the command of fail_at() has occurred.
    [[nodiscard]] bool has_failed() const noexcept { return fail_in_ == 0; }

    std::atomic<std::uint64_t> live_bytes{0};
    std::atomic<std::uint64_t> live_blocks{0};
    std::atomic<std::uint64_t> blocks_made{0};
    std::atomic<std::uint64_t> programs_made{0};
    std::atomic<unsigned> queues_made{0};

private:
    mutable std::mutex mutex_;
    std::vector<NullEntry> entries_;
    std::atomic<std::uint64_t> fail_in_{0};  // commands; 0: no failure
};

}  // namespace volley::backends::null
