// An in-order queue of an OpenCL device: one cl_command_queue. Commands are enqueued inside of the call that
// makes them; transfers on an idle queue whose memory the host shares are done by the host right there.
//
// Drivers are asked to keep times of a second cl_command_queue alone, which is made when somebody first wants
// to know some; the first command on either of the two waits for the last one on the other.
//
// What the host must do in the queue's order is done by a thread (backends/common/host_commands.hpp), and
// commands behind it are enqueued when it is done.
#pragma once

#include "backends/api/queue.hpp"
#include "backends/api/rect_parts.hpp"
#include "backends/common/host_commands.hpp"
#include "backends/common/staging_ring.hpp"
#include "backends/opencl/opencl_program.hpp"
#include "backends/opencl/opencl_timeline.hpp"
#include "backends/opencl/opencl_times.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace volley::backends::opencl {

class OpenClBatch;

struct QueueOptions {
    std::uint64_t staging_bytes = std::uint64_t{16} << 20;  // the ring of transfers
    std::uint64_t chunk_bytes = std::uint64_t{4} << 20;     // a transfer's piece
};

class OpenClQueue final : public backends::Queue {
public:
    /// `scratch` gives memory of the device for what kernels print and for copies, `host` for staging.
    OpenClQueue(std::shared_ptr<LogicalDevice> device, const std::shared_ptr<Heap>& scratch,
                std::shared_ptr<Heap> host, const QueueOptions& options);
    /// Waits for its work. Errors that nobody waited for are lost.
    ~OpenClQueue() override;
    OpenClQueue(const OpenClQueue&) = delete;
    OpenClQueue& operator=(const OpenClQueue&) = delete;

    backends::Point launch(const backends::Launch& launch) override;
    backends::Point write(backends::Memory& to, const std::byte* from,
                          const backends::RectMove& move) override;
    backends::Point read(std::byte* to, const backends::Memory& from,
                         const backends::RectMove& move) override;
    backends::Point copy(backends::Memory& to, const backends::Memory& from,
                         const backends::RectMove& move) override;
    backends::Point fill(backends::Memory& to, const backends::RectPlace& at, const backends::Rect& rect,
                         std::span<const std::byte> pattern) override;
    /// Counts the calls of a copy within the device. Writes and reads make as many for each chunk.
    [[nodiscard]] std::uint64_t driver_calls(const backends::RectMove& move) const noexcept override;
    backends::Point call(std::function<void()> callback) override;
    backends::Point wait_for(backends::Timeline& other, backends::Point point) override;
    backends::Point mark() override;
    [[nodiscard]] std::unique_ptr<backends::Batch> prepare(backends::BatchPlan plan) override;
    /// Launches that follow each other are flushed together.
    backends::Point submit(backends::Batch& batch, std::uint32_t instances,
                           std::span<const std::byte> values) override;
    [[nodiscard]] backends::Timeline& timeline() noexcept override { return timeline_; }
    [[nodiscard]] backends::Point last() const noexcept override { return timeline_.last(); }

private:
    using Lock = std::unique_lock<std::mutex>;
    /// Owns the cl_command_queues and the queue's number: ends after all that uses them.
    struct Driver {
        explicit Driver(std::shared_ptr<LogicalDevice> owner);
        ~Driver();
        Driver(const Driver&) = delete;
        Driver& operator=(const Driver&) = delete;
        std::shared_ptr<LogicalDevice> device;
        unsigned slot;
        cl_command_queue plain = nullptr;
        cl_command_queue timed = nullptr;   // made when first needed
        cl_command_queue handle = nullptr;  // of the two, the one for the next command
    };
    /// How many calls to the driver a command is: the times of one are those of its event.
    enum class Calls : std::uint8_t { One, Several };
    using StagingRing = backends::StagingRing<OpenClMemory, Heap>;
    struct OwnedLaunch;

    // All with mutex_ held; those that take the lock may let go of it meanwhile.
    [[nodiscard]] bool idle() const noexcept { return timeline_.completed() >= timeline_.last(); }
    void make_room(Lock& lock);
    /// Calls enqueue(cl_event*) for the last of a command's calls to the driver, now or when the host's
    /// commands before it are done, and gives the command's point out.
    template <class Enqueue>
    backends::Point submit(const Enqueue& enqueue, backends::Epilogue* epilogue = nullptr,
                           Calls calls = Calls::Several);
    /// `times`: where somebody wants to know them.
    template <class Enqueue>
    void give_to_device(backends::Point point, const Enqueue& enqueue, TimedEvents* times, Calls calls);
    /// The driver's queue for commands with times, or the one for those without, behind the other's commands.
    void use_queue(bool timed);
    /// Device memory of ours that commands use one after the other.
    [[nodiscard]] cl_mem scratch();
    /// Now, if the queue is idle and that is wanted; else in its order.
    template <class Action>
    backends::Point do_on_host(Lock& lock, bool now, Action action);
    backends::Point write_staged(Lock& lock, const OpenClMemory& to, const std::byte* from,
                                 const backends::RectMove& move);
    backends::Point copy_through_scratch(cl_mem buffer, const backends::RectMove& move);
    backends::Point fill_row(Lock& lock, const OpenClMemory& memory, std::uint64_t offset,
                             std::uint64_t bytes, std::span<const std::byte> pattern);
    backends::Point fill_by_copies(Lock& lock, const OpenClMemory& memory, const backends::RectPlace& at,
                                   const backends::Rect& rect, std::span<const std::byte> pattern);
    void enqueue_launch(const Kernel& kernel, const backends::Launch& launch, backends::ReportBuffer* reports,
                        cl_event* event);
    void enqueue_grid(const Kernel& kernel, const backends::Launch& launch, cl_kernel object,
                      cl_event* event);
    struct Run {
        std::uint32_t commands = 0;
        backends::Point point = 0;
    };
    /// Gives as many of a submission's commands, from `begin` on, as can be one command here; they are
    /// counted over all instances. None if the first has to be given on its own.
    [[nodiscard]] Run give_run(const OpenClBatch& batch, std::uint64_t begin, std::uint64_t end,
                               std::span<const std::byte> values, std::size_t stride);
    [[noreturn]] void fail_grid(cl_int result, const backends::Launch& launch);

    std::shared_ptr<LogicalDevice> device_;
    std::shared_ptr<Heap> scratch_heap_;
    std::shared_ptr<Heap> host_;
    QueueOptions options_;
    Driver queue_;
    backends::ReportPool reports_;
    OpenClTimeline timeline_;
    std::unique_ptr<OpenClMemory> scratch_;  // allocated at the first use

    std::mutex mutex_;
    backends::HostCommands host_commands_;
    StagingRing staging_;
};

// ---- submitting: here, as transfers and launches both do it with callables of their own ----

template <class Enqueue>
void OpenClQueue::give_to_device(backends::Point point, const Enqueue& enqueue, TimedEvents* times,
                                 Calls calls) {
    timeline_.reserve();
    use_queue(times != nullptr);
    cl_event event = nullptr;
    try {
        if (times != nullptr && calls == Calls::Several) times->begin(queue_.handle);
        enqueue(&event);
    } catch (...) {
        // Some of its calls may be under way, with memory that its caller takes back now.
        if (!device_->lost()) device_->cl.Finish(queue_.handle);
        throw;
    }
    if (times != nullptr) times->end(event);
    timeline_.keep(point, event);
    device_->cl.Flush(queue_.handle);
}

template <class Enqueue>
backends::Point OpenClQueue::submit(const Enqueue& enqueue, backends::Epilogue* epilogue, Calls calls) {
    const backends::Point point = timeline_.last() + 1;
    std::shared_ptr<TimedEvents> times;
    backends::Epilogue told;
    if (backends::TimesScope::wanted()) {
        calibrate_clock(*device_);
        times = std::make_shared<TimedEvents>(device_);
        if (epilogue == nullptr) epilogue = &told;
        epilogue->tell = [this, times] { times->tell(timeline_.times()); };
    }
    if (epilogue != nullptr) {
        epilogue->point = point;
        timeline_.add(std::move(*epilogue));
    }
    try {
        if (!host_commands_.empty()) {
            host_commands_.add_behind(point, [this, point, enqueue, times, calls] {
                give_to_device(point, enqueue, times.get(), calls);
            });
            timeline_.issue(point);
            return point;
        }
        give_to_device(point, enqueue, times.get(), calls);
    } catch (...) {
        if (epilogue != nullptr) timeline_.cancel();
        throw;
    }
    timeline_.submitted(point);
    return point;
}

}  // namespace volley::backends::opencl
