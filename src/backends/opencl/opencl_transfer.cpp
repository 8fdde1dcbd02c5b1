// The queue's transfers. If the host shares the memory and the queue is idle, the calling thread moves the
// rows. Otherwise they go through pinned memory in chunks: the device copies one while the host fills or
// empties another. Only reads of shared memory go directly to the caller's memory.
//
// Pinned memory (Device::allocate_host) stays mapped, so driver calls get its pointer, never its buffer.
#include "backends/common/host_rect.hpp"
#include "backends/common/pattern.hpp"
#include "backends/common/stream_copy.hpp"
#include "backends/opencl/opencl_queue.hpp"
#include "backends/opencl/opencl_rect.hpp"
#include "core/fail.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

namespace volley::backends::opencl {

namespace {

constexpr std::uint64_t small_bytes = 256 * 1024;  // moved by the calling thread
constexpr std::uint64_t row_bytes = 16;            // moved in the time that a row costs besides its bytes
constexpr std::uint64_t short_row = 64;         // CPU drivers take twice as long as the host for shorter rows
constexpr std::uint64_t long_row = 256 * 1024;  // filled by a separate command
constexpr std::uint64_t scratch_bytes = 1 << 20;
constexpr std::size_t longest_pattern = 128;  // that clEnqueueFillBuffer accepts

const OpenClMemory& of(const Memory& memory) { return static_cast<const OpenClMemory&>(memory); }

bool is_small(const Rect& rect) { return rect.bytes() + row_bytes * rect.rows() <= small_bytes; }

/// Returns the place in the driver's buffer.
RectPlace in_buffer(const OpenClMemory& memory, const RectPlace& place) {
    return {memory.offset() + place.offset, place.stride};
}

}  // namespace

cl_mem OpenClQueue::scratch() {
    if (!scratch_) scratch_ = std::make_unique<OpenClMemory>(scratch_heap_, scratch_bytes);
    return scratch_->buffer();
}

template <class Action>
Point OpenClQueue::do_on_host(Lock& lock, bool now, Action action) {
    if (now && idle()) {
        const backends::TimedHere timed(&timeline_.times());
        action();
        return last();
    }
    const Point point = host_commands_.add(std::move(action));
    lock.unlock();
    host_commands_.wake();
    return point;
}

// ---- between host and device ----

Point OpenClQueue::write_staged(Lock& lock, const OpenClMemory& to, const std::byte* from,
                                const RectMove& move) {
    return staging_.write(
        lock, from, move, options_.chunk_bytes, last(), [&] { make_room(lock); },
        [&](const StagingRing::Piece& piece, const RectPart& part) {
            // The epilogue keeps a piece outside the ring alive until the command has completed.
            backends::Epilogue epilogue;
            epilogue.staging = piece.own;
            const RectMove call =
                backends::joined({part.rect, part.in(in_buffer(to, move.to)), backends::dense(part.rect)});
            return submit(
                [this, buffer = to.buffer(), staged = piece.bytes(), call](cl_event* event) {
                    enqueue_write({*device_, queue_.handle}, buffer, staged, call, event);
                },
                piece.own ? &epilogue : nullptr);
        });
}

Point OpenClQueue::write(Memory& to, const std::byte* from, const RectMove& move) {
    Lock lock(mutex_);
    device_->check_lost();
    if (move.rect.row == 0) return last();
    return write_now(lock, of(to), from, move);
}

Point OpenClQueue::write_now(Lock& lock, const OpenClMemory& memory, const std::byte* from,
                             const RectMove& move) {
    if (memory.host() != nullptr && idle()) {
        const backends::TimedHere timed(&timeline_.times());
        backends::copy_rows(memory.host(), from, move);
        return last();
    }
    if (memory.pinned()) {
        const RectPlace aside_at = backends::dense(move.rect);
        std::vector<std::byte> aside(move.rect.bytes());
        backends::copy_rows(aside.data(), from, {move.rect, aside_at, move.from});
        const RectMove later{move.rect, move.to, aside_at};
        return do_on_host(lock, false, [first = memory.host(), later, aside = std::move(aside)] {
            backends::copy_rows(first, aside.data(), later);
        });
    }
    return write_staged(lock, memory, from, move);
}

Point OpenClQueue::copy_from_host(Memory& to, const std::byte* from, const RectMove& move) {
    Lock lock(mutex_);
    device_->check_lost();
    if (move.rect.row == 0) return last();
    // Without pending host commands, everything that the bytes depend on has completed.
    if (host_commands_.empty()) return write_now(lock, of(to), from, move);
    return do_on_host(lock, false,
                      [first = to.host(), from, move] { backends::copy_rows(first, from, move); });
}

Point OpenClQueue::read(std::byte* to, const Memory& from, const RectMove& move) {
    Lock lock(mutex_);
    device_->check_lost();
    if (move.rect.row == 0) return last();
    const OpenClMemory& memory = of(from);
    if (memory.pinned() || (memory.host() != nullptr && idle())) {
        return do_on_host(lock, true,
                          [to, first = memory.host(), move] { backends::copy_rows(to, first, move); });
    }
    const auto submit_read = [&](std::byte* target, const RectMove& part, backends::Epilogue* epilogue) {
        return submit(
            [this, target, buffer = memory.buffer(), call = backends::joined(part)](cl_event* event) {
                enqueue_read({*device_, queue_.handle}, target, buffer, call, event);
            },
            epilogue);
    };
    if (memory.host() != nullptr) {
        make_room(lock);
        return submit_read(to, {move.rect, move.to, in_buffer(memory, move.from)}, nullptr);
    }
    return staging_.read(
        lock, to, move, options_.chunk_bytes, last(), [&] { make_room(lock); },
        [&](const StagingRing::Piece& piece, const RectPart& part, backends::Epilogue& epilogue) {
            const RectPlace from_at = part.in(in_buffer(memory, move.from));
            return submit_read(piece.bytes(), {part.rect, backends::dense(part.rect), from_at}, &epilogue);
        });
}

// ---- within the device ----

Point OpenClQueue::copy(Memory& to, const Memory& from, const RectMove& requested) {
    Lock lock(mutex_);
    device_->check_lost();
    if (requested.rect.row == 0) return last();
    const OpenClMemory& target = of(to);
    const OpenClMemory& source = of(from);
    const RectMove move = backends::joined(requested);
    const bool small = is_small(move.rect);
    if (target.host() != nullptr && source.host() != nullptr) {
        const bool short_rows = move.rect.row < short_row && !target.pinned() && !source.pinned();
        // CPU drivers copy through the caches.
        const bool large =
            (target.pinned() || source.pinned()) && move.rect.bytes() >= backends::large_copy();
        if ((small && idle()) || (target.pinned() && source.pinned()) || (short_rows && !small) || large) {
            return do_on_host(lock, small, [a = target.host(), b = source.host(), move] {
                backends::copy_rows(a, b, move);
            });
        }
    }
    make_room(lock);
    if (target.pinned()) {
        const RectMove call{move.rect, move.to, in_buffer(source, move.from)};
        return submit([this, a = target.host(), b = source.buffer(), call](cl_event* event) {
            enqueue_read({*device_, queue_.handle}, a, b, call, event);
        });
    }
    if (source.pinned()) {
        const RectMove call{move.rect, in_buffer(target, move.to), move.from};
        return submit([this, a = target.buffer(), b = source.host(), call](cl_event* event) {
            enqueue_write({*device_, queue_.handle}, a, b, call, event);
        });
    }
    const RectMove call{move.rect, in_buffer(target, move.to), in_buffer(source, move.from)};
    if (target.buffer() == source.buffer() && !can_copy_within(call))
        return copy_through_scratch(target.buffer(), call);
    return submit([this, a = target.buffer(), b = source.buffer(), call](cl_event* event) {
        enqueue_copy({*device_, queue_.handle}, a, b, call, event);
    });
}

Point OpenClQueue::copy_through_scratch(cl_mem buffer, const RectMove& move) {
    return submit([this, buffer, between = scratch(), move](cl_event* event) {
        const Enqueue enqueue{*device_, queue_.handle};
        const Rect most = backends::part_of(move.rect, scratch_bytes);
        std::uint64_t left = move.rect.bytes();
        backends::for_each_part(move.rect, most, [&](const RectPart& part) {
            const RectPlace dense = backends::dense(part.rect);
            left -= part.rect.bytes();
            enqueue_copy(enqueue, between, buffer, backends::joined({part.rect, dense, part.in(move.from)}),
                         nullptr);
            enqueue_copy(enqueue, buffer, between, backends::joined({part.rect, part.in(move.to), dense}),
                         left == 0 ? event : nullptr);
        });
    });
}

// ---- fills ----

Point OpenClQueue::fill(Memory& to, const RectPlace& at, const Rect& requested,
                        std::span<const std::byte> pattern) {
    if (pattern.empty()) fail_internal("a fill needs a pattern");
    Lock lock(mutex_);
    device_->check_lost();
    if (requested.row == 0) return last();
    const OpenClMemory& memory = of(to);
    const RectMove move = backends::joined({requested, at, at});  // the pattern divides adjacent rows
    const Rect& rect = move.rect;
    const bool small = is_small(rect);
    if (memory.host() != nullptr && small && idle()) {
        const backends::TimedHere timed(&timeline_.times());
        backends::fill_rows(memory.host(), move.to, rect, pattern);
        return last();
    }
    if (memory.pinned() || (memory.host() != nullptr && !small && rect.row < short_row)) {
        return do_on_host(lock, false,
                          [first = memory.host(), place = move.to, rect,
                           kept = std::vector<std::byte>(pattern.begin(), pattern.end())] {
                              backends::fill_rows(first, place, rect, kept);
                          });
    }
    if (rect.rows() == 1) return fill_row(lock, memory, move.to.offset, rect.row, pattern);
    if (rect.row < long_row) return fill_by_copies(lock, memory, move.to, rect, pattern);
    Point point = last();
    backends::for_each_part(rect, {rect.row, {1, 1}}, [&](const RectPart& part) {
        point = fill_row(lock, memory, part.in(move.to).offset, rect.row, pattern);
    });
    return point;
}

Point OpenClQueue::fill_row(Lock& lock, const OpenClMemory& memory, std::uint64_t offset, std::uint64_t bytes,
                            std::span<const std::byte> pattern) {
    const std::size_t size = pattern.size();
    const std::uint64_t begin = memory.offset() + offset;
    if (size <= longest_pattern && std::has_single_bit(size) && begin % size == 0 && bytes % size == 0) {
        make_room(lock);
        std::array<std::byte, longest_pattern> kept{};
        std::copy(pattern.begin(), pattern.end(), kept.begin());
        return submit([this, buffer = memory.buffer(), kept, size, begin, bytes](cl_event* event) {
            device_->check(device_->cl.EnqueueFillBuffer(queue_.handle, buffer, kept.data(), size, begin,
                                                         bytes, 0, nullptr, event),
                           "clEnqueueFillBuffer");
        });
    }
    // The host writes some whole patterns, and the device repeats them by copying.
    const std::vector<std::byte> seed = backends::seed_of(pattern, bytes);
    const Point written =
        write_staged(lock, memory, seed.data(), RectMove::contiguous(offset, 0, seed.size()));
    if (seed.size() == bytes) return written;
    make_room(lock);
    return submit([this, buffer = memory.buffer(), begin, first = seed.size(), bytes](cl_event* event) {
        for (std::uint64_t done = first; done < bytes;) {
            const std::uint64_t more = std::min(done, bytes - done);
            enqueue_copy({*device_, queue_.handle}, buffer, buffer,
                         RectMove::contiguous(begin + done, begin, more),
                         done + more == bytes ? event : nullptr);
            done += more;
        }
    });
}

Point OpenClQueue::fill_by_copies(Lock& lock, const OpenClMemory& memory, const RectPlace& at,
                                  const Rect& rect, std::span<const std::byte> pattern) {
    // The host writes as many dense rows as the scratch memory holds, and the device copies them to their
    // places.
    const std::uint64_t bytes = std::max(std::min(scratch_bytes, options_.chunk_bytes), rect.row);
    const Rect most = backends::part_of(rect, bytes);
    make_room(lock);
    const StagingRing::Piece piece = staging_.take(lock, most.bytes());
    std::byte* staged = piece.bytes();
    backends::repeat(staged, most.bytes(), pattern);
    backends::Epilogue epilogue;
    epilogue.staging = piece.own;
    const Point point = submit(
        [this, buffer = memory.buffer(), rows = scratch(), from = staged, rect, most,
         place = in_buffer(memory, at)](cl_event* event) {
            const Enqueue enqueue{*device_, queue_.handle};
            enqueue_write(enqueue, rows, from, RectMove::contiguous(0, 0, most.bytes()), nullptr);
            std::uint64_t left = rect.bytes();
            backends::for_each_part(rect, most, [&](const RectPart& part) {
                left -= part.rect.bytes();
                enqueue_copy(enqueue, buffer, rows,
                             backends::joined({part.rect, part.in(place), backends::dense(part.rect)}),
                             left == 0 ? event : nullptr);
            });
        },
        piece.own ? &epilogue : nullptr);
    staging_.commit(piece, point);
    return point;
}

std::uint64_t OpenClQueue::driver_calls(const RectMove& move) const noexcept {
    return calls_of(backends::joined(move));
}

}  // namespace volley::backends::opencl
