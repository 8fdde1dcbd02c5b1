// An in-order stream of commands to a device. Every call returns at once (a small command may already have
// run) with the point at which it will be done.
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
    std::uint64_t offset = 0;     //   the first byte in it
    std::uint64_t elements = 0;   //   and how many elements the kernel may touch
    const void* value = nullptr;  // values: the bytes, in the host's layout; copied before launch() returns
    // Values of a batch that differ from instance to instance: where the instance's values hold it; `value`
    // is null.
    static constexpr std::uint32_t fixed = ~0u;
    std::uint32_t dynamic = fixed;
};

struct Launch {
    static constexpr Point everything = ~Point{0};

    Program* program = nullptr;
    ir::Dim3 global = {1, 1, 1};  // invocations; none is 0
    ir::Dim3 local = {1, 1, 1};   // workgroup size, checked against the device's limits by the runtime
    std::span<const Argument> args;
    /// The last point of this queue that it must follow: commands behind it may still run when this one
    /// starts. Its own point passes after theirs all the same.
    Point after = everything;
};

class Batch;
struct BatchPlan;

class Queue {
public:
    virtual ~Queue() = default;

    /// Runs a kernel. Throws CompileError when a variant has to be made and cannot. The hot path: no
    /// allocation for kernels of up to 16 arguments.
    virtual Point launch(const Launch& launch) = 0;
    /// Host to device; `data` is copied or used before the call returns.
    virtual Point write(Memory& to, std::uint64_t offset, std::span<const std::byte> data) = 0;
    /// Device to host; `data` must stay valid until the point has passed.
    virtual Point read(const Memory& from, std::uint64_t offset, std::span<std::byte> data) = 0;
    /// Inside the device, or between it and host memory made by it (Device::allocate_host), which is read and
    /// written in the queue's order. Ranges of one block must not overlap.
    virtual Point copy(Memory& to, std::uint64_t to_offset, const Memory& from, std::uint64_t from_offset,
                       std::uint64_t bytes) = 0;
    /// Repeats `pattern` (1 to 64 bytes, or any size that divides `bytes`) over the range.
    virtual Point fill(Memory& to, std::uint64_t offset, std::uint64_t bytes,
                       std::span<const std::byte> pattern) = 0;
    // The same for rows that lie apart. Bytes between the rows are neither read nor written. Unless a backend
    // does better, one command a row.
    virtual Point write_rect(Memory& to, const RectPlace& at, const std::byte* data, const RectPlace& data_at,
                             const Rect& rect);
    virtual Point read_rect(const Memory& from, const RectPlace& at, std::byte* data,
                            const RectPlace& data_at, const Rect& rect);
    virtual Point copy_rect(Memory& to, const RectPlace& to_at, const Memory& from, const RectPlace& from_at,
                            const Rect& rect);
    /// `pattern` divides the row; each row starts with its first byte.
    virtual Point fill_rect(Memory& to, const RectPlace& at, const Rect& rect,
                            std::span<const std::byte> pattern);
    /// How many calls of the driver (on the CPU: commands) one of the four above makes.
    [[nodiscard]] virtual std::uint64_t rect_calls(const RectPlace& /*to*/, const RectPlace& /*from*/,
                                                   const Rect& rect) const noexcept {
        return rect.rows();
    }
    /// Runs on a thread of the library's when all earlier work is done. An exception becomes the queue's
    /// error.
    virtual Point call(std::function<void()> callback) = 0;
    /// Later commands of this queue start only after `point` of another queue's timeline has passed, with all
    /// that the host does there. The other timeline outlives the point that is returned.
    virtual Point wait_for(Timeline& other, Point point) = 0;
    /// Does nothing, when all earlier work is done: a place in the queue's order that has a time (times.hpp).
    /// Unless a backend does better, a callback.
    virtual Point mark();

    // Batches (batch.hpp)
    /// Makes commands ready to be given to this queue many times. Throws CompileError when a variant has to
    /// be made and cannot.
    [[nodiscard]] virtual std::unique_ptr<Batch> prepare(BatchPlan plan);
    /// Gives a batch of this queue's so many times, one instance after the other, behind all earlier work.
    /// `values` are the instances' dynamic values, one after the other; copied before it returns. Allocates
    /// nothing, once it was called with as many instances before. Where it throws, the instances before that
    /// one were given.
    virtual Point submit(Batch& batch, std::uint32_t instances, std::span<const std::byte> values);

    /// Whether its commands may overlap where Launch::after allows that; else nobody need find out.
    [[nodiscard]] virtual bool overlaps() const noexcept { return false; }
    [[nodiscard]] virtual Timeline& timeline() noexcept = 0;
    [[nodiscard]] virtual Point last() const noexcept = 0;  // the newest point given out
    /// Hands everything to the device; waits for nothing.
    virtual void flush() {}
};

}  // namespace volley::backends
