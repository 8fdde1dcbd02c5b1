// Copies between two devices, or between two queues that share no memory. The destination's queue copies few
// bytes by itself if the host can address both sides. Otherwise pieces go through page-locked memory.
#pragma once

#include "core/layout.hpp"
#include "runtime/submission.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace volley::runtime {

/// Returns whether a copy between devices is one command of the destination's queue, of the rows as they are.
/// `to` is null if its memory is not allocated yet.
[[nodiscard]] bool is_direct(const backends::Queue& queue, const backends::Memory* to,
                             const backends::Memory& from, const Rows& rows);
/// Submits the commands of a direct copy; returns the last one's point.
backends::Point submit_direct(backends::Queue& queue, backends::Memory& to, const backends::Memory& from,
                              const Rows& rows);

/// The page-locked slots that a hop's pieces pass through. A graph keeps its staging from run to run;
/// otherwise it lives until the last command that uses it has completed.
class HopStaging {
public:
    /// Allocates memory of the destination queue's device. May wait for work, so the caller holds no lock.
    /// Throws MemoryError.
    HopStaging(ContextCore& core, unsigned to_queue, const Rows& rows);

private:
    friend class Hop;
    struct Slot {
        std::shared_ptr<Storage> storage;
        backends::Memory* memory = nullptr;
        backends::Point free = 0;  // on the destination's queue: the slot can be filled again
    };
    std::vector<Slot> slots_;
    std::uint64_t largest_ = 0;  // bytes of the largest piece
};

/// One end of a hop.
struct HopEnd {
    unsigned queue = 0;
    backends::Memory* memory = nullptr;
    Footprint use;
};

/// A command on two queues: the source's reads pieces into the staging, the destination's writes them. Both
/// work at the same time, and each waits for the other's points on the device.
class Hop {
public:
    /// Locks and orders both queues. `label` is as for Submission.
    template <class Label>
    Hop(ContextCore& core, const HopEnd& to, const HopEnd& from, const Label& label,
        bool order_locked = false)
        : core_(core), to_(to), from_(from) {
        if (!order_locked)
            order_lock_ = Submission::lock_order(core, std::initializer_list<Footprint>{to.use, from.use});
        const SubmissionOptions options{.order_locked = true};
        const auto lock_reader = [&] {
            reading_.emplace(core, from.queue, std::span(&from_.use, 1), label, options);
        };
        // Queues are locked in the order of their numbers.
        if (from.queue < to.queue) lock_reader();
        writing_.emplace(core, to.queue, std::span(&to_.use, 1), label, options);
        if (!reading_) lock_reader();
    }
    Hop(const Hop&) = delete;
    Hop& operator=(const Hop&) = delete;

    /// Submits all pieces. If one is refused, the earlier ones stay submitted and recorded.
    void submit(const Rows& rows, HopStaging& staging);
    /// Returns the destination's last point.
    [[nodiscard]] backends::Point point() const noexcept { return writing_->point(); }
    void add_to(Event& event, std::string_view work) const { writing_->add_to(event, work); }

private:
    ContextCore& core_;
    HopEnd to_;
    HopEnd from_;
    std::unique_lock<std::mutex> order_lock_;
    std::optional<Submission> reading_;
    std::optional<Submission> writing_;
};

/// Returns how many driver calls a hop through page-locked memory makes on both queues.
[[nodiscard]] std::uint64_t hop_calls(const Rows& rows);

}  // namespace volley::runtime
