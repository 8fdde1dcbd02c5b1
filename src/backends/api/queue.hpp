// An in-order stream of commands to a device. Calls do not block on the device; each returns the timeline
// point at which its command completes. A small command may have run when the call returns.
#pragma once

#include "backends/api/memory.hpp"
#include "backends/api/program.hpp"
#include "backends/api/rect.hpp"
#include "backends/api/timeline.hpp"

#include <functional>
#include <memory>
#include <span>

namespace volley::backends {

/// One argument of a launch, in the order of the kernel's parameters.
struct Argument {
    Memory* memory = nullptr;     // buffers: the block,
    std::uint64_t offset = 0;     //   the first byte in it,
    std::uint64_t elements = 0;   //   and how many elements the kernel may access
    const void* value = nullptr;  // values: the bytes, in host layout; copied before launch() returns
    // The offset in an instance's values, for values of a batch that differ per instance. `value` is null.
    static constexpr std::uint32_t fixed = ~0u;
    std::uint32_t dynamic = fixed;
};

struct Launch {
    static constexpr Point everything = ~Point{0};

    Program* program = nullptr;
    ir::Dim3 global = {1, 1, 1};  // invocations; none is 0
    ir::Dim3 local = {1, 1, 1};   // workgroup size; the runtime checks it against the device's limits
    std::span<const Argument> args;
    /// The last point of this queue that the launch depends on. Commands after that point may still run when
    /// the launch starts, but its own point passes after theirs.
    Point after = everything;
};

class Batch;
struct BatchPlan;

class Queue {
public:
    virtual ~Queue() = default;

    /// Runs a kernel. Throws CompileError if a variant has to be compiled and that fails. The hot path: does
    /// not allocate for kernels of up to 16 arguments.
    virtual Point launch(const Launch& launch) = 0;
    // Transfers. Each moves a rect of rows; bytes between the rows are neither read nor written. Places are
    // relative to the block's first byte, or to the pointer. A row of 0 bytes moves nothing.
    /// Host to device. `from` is copied or used before the call returns.
    virtual Point write(Memory& to, const std::byte* from, const RectMove& move) = 0;
    /// Device to host. `to` must stay valid until the point has passed.
    virtual Point read(std::byte* to, const Memory& from, const RectMove& move) = 0;
    /// Within the device, or between the device and host memory that it allocated (Device::allocate_host),
    /// which is read and written in the queue's order. Ranges of one block must not overlap.
    virtual Point copy(Memory& to, const Memory& from, const RectMove& move) = 0;
    /// Like copy(), but from any memory that the host can address, such as another device's. The host copies
    /// it in the queue's order; `from` must stay valid until the point has passed. Requires
    /// copies_from_host() and a host address of `to`. For few bytes: the device waits for the host.
    virtual Point copy_from_host(Memory& to, const std::byte* from, const RectMove& move);
    /// Returns whether copy_from_host() is implemented.
    [[nodiscard]] virtual bool copies_from_host() const noexcept { return false; }
    /// Repeats `pattern` over each row, starting with its first byte. The pattern has 1 to 64 bytes, or any
    /// size that divides the row; if there are several rows, it divides the row.
    virtual Point fill(Memory& to, const RectPlace& at, const Rect& rect,
                       std::span<const std::byte> pattern) = 0;
    /// Returns how many driver calls (on the CPU: commands) a copy of `move` takes.
    [[nodiscard]] virtual std::uint64_t driver_calls(const RectMove& /*move*/) const noexcept { return 1; }

    /// Runs the callback on a library thread after all earlier work. An exception becomes the queue's error.
    virtual Point call(std::function<void()> callback) = 0;
    /// Delays later commands of this queue until `point` of another queue's timeline has passed, including
    /// the host's work for it. The other timeline outlives the returned point.
    virtual Point wait_for(Timeline& other, Point point) = 0;
    /// Adds an empty command after all earlier work, so that this place in the queue can be timed
    /// (times.hpp). By default a callback.
    virtual Point mark();

    // Batches (batch.hpp)
    /// Prepares commands for repeated submission to this queue. Throws CompileError if a variant has to be
    /// compiled and that fails.
    [[nodiscard]] virtual std::unique_ptr<Batch> prepare(BatchPlan plan);
    /// Submits `instances` of a batch that this queue prepared, one after the other, after all earlier work.
    /// `values` holds the instances' dynamic values in order; they are copied before the call returns.
    /// Allocates nothing if called with as many instances before. If it throws, the instances before the
    /// failed one were submitted.
    virtual Point submit(Batch& batch, std::uint32_t instances, std::span<const std::byte> values);

    /// Returns whether commands overlap if Launch::after allows it. If not, callers need not compute `after`.
    [[nodiscard]] virtual bool overlaps() const noexcept { return false; }
    [[nodiscard]] virtual Timeline& timeline() noexcept = 0;
    [[nodiscard]] virtual Point last() const noexcept = 0;  // the newest point returned
    /// Submits everything to the device without waiting.
    virtual void flush() {}
    /// Called in the child process after a fork, unless the device uses a driver: the queue's threads do not
    /// exist there. Commands that had not completed become an error.
    virtual void forked() {}
};

}  // namespace volley::backends
