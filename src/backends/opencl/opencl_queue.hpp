// An in-order queue of an OpenCL device: one cl_command_queue. Calls enqueue their command before they
// return; transfers on an idle queue are done by the calling thread if the host shares the memory.
//
// Timed commands go to a second cl_command_queue with profiling enabled, which is created on the first
// request for times. The first command on either queue waits for the last one on the other.
//
// Host commands in the queue's order run on a thread (backends/common/host_commands.hpp), and commands after
// them are enqueued when they have completed.
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
    std::uint64_t staging_bytes = std::uint64_t{16} << 20;  // of the staging ring
    std::uint64_t chunk_bytes = std::uint64_t{4} << 20;     // of a transfer, staged at once
};

class OpenClQueue final : public backends::Queue {
public:
    /// `scratch` is the heap of device memory for reports and copies, `host` the heap for staging.
    OpenClQueue(std::shared_ptr<LogicalDevice> device, const std::shared_ptr<Heap>& scratch,
                std::shared_ptr<Heap> host, const QueueOptions& options);
    /// Waits for its work. Errors that no wait has thrown are lost.
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
    backends::Point copy_from_host(backends::Memory& to, const std::byte* from,
                                   const backends::RectMove& move) override;
    [[nodiscard]] bool copies_from_host() const noexcept override { return true; }
    backends::Point fill(backends::Memory& to, const backends::RectPlace& at, const backends::Rect& rect,
                         std::span<const std::byte> pattern) override;
    /// Counts the calls of a copy within the device. Writes and reads make as many for each chunk.
    [[nodiscard]] std::uint64_t driver_calls(const backends::RectMove& move) const noexcept override;
    backends::Point call(std::function<void()> callback) override;
    backends::Point wait_for(backends::Timeline& other, backends::Point point) override;
    backends::Point mark() override;
    [[nodiscard]] std::unique_ptr<backends::Batch> prepare(backends::BatchPlan plan) override;
    /// Flushes consecutive launches together.
    backends::Point submit(backends::Batch& batch, std::uint32_t instances,
                           std::span<const std::byte> values) override;
    [[nodiscard]] backends::Timeline& timeline() noexcept override { return timeline_; }
    [[nodiscard]] backends::Point last() const noexcept override { return timeline_.last(); }

private:
    using Lock = std::unique_lock<std::mutex>;
    /// Owns the cl_command_queues and the queue's slot. Declared before the members that use them.
    struct Driver {
        explicit Driver(std::shared_ptr<LogicalDevice> owner);
        ~Driver();
        Driver(const Driver&) = delete;
        Driver& operator=(const Driver&) = delete;
        std::shared_ptr<LogicalDevice> device;
        unsigned slot;
        cl_command_queue plain = nullptr;
        cl_command_queue timed = nullptr;   // created at the first use
        cl_command_queue handle = nullptr;  // the one of both for the next command
    };
    /// How many driver calls a command takes. The times of a single call are those of its event.
    enum class Calls : std::uint8_t { One, Several };
    using StagingRing = backends::StagingRing<OpenClMemory, Heap>;
    struct OwnedLaunch;

    // All with mutex_ held; those that take the lock may release it temporarily.
    [[nodiscard]] bool idle() const noexcept { return timeline_.completed() >= timeline_.last(); }
    void make_room(Lock& lock);
    /// Calls enqueue(cl_event*), which sets the event of the command's last driver call, now or after the
    /// pending host commands, and returns the command's point.
    template <class Enqueue>
    backends::Point submit(const Enqueue& enqueue, backends::Epilogue* epilogue = nullptr,
                           Calls calls = Calls::Several);
    /// `times` is null unless the command is timed.
    template <class Enqueue>
    void submit_to_device(backends::Point point, const Enqueue& enqueue, TimedEvents* times, Calls calls);
    /// Switches to the driver's timed or plain queue, ordered after the commands of the other.
    void use_queue(bool timed);
    /// Returns device memory that commands use one after the other.
    [[nodiscard]] cl_mem scratch();
    /// Runs the action at once if `now` and the queue is idle, otherwise as a host command.
    template <class Action>
    backends::Point do_on_host(Lock& lock, bool now, Action action);
    /// Copies the bytes before it returns.
    backends::Point write_now(Lock& lock, const OpenClMemory& memory, const std::byte* from,
                              const backends::RectMove& move);
    backends::Point write_staged(Lock& lock, const OpenClMemory& to, const std::byte* from,
                                 const backends::RectMove& move);
    backends::Point copy_through_scratch(cl_mem buffer, const backends::RectMove& move);
    backends::Point fill_row(Lock& lock, const OpenClMemory& memory, std::uint64_t offset,
                             std::uint64_t bytes, std::span<const std::byte> pattern);
    backends::Point fill_by_copies(Lock& lock, const OpenClMemory& memory, const backends::RectPlace& at,
                                   const backends::Rect& rect, std::span<const std::byte> pattern);
    void enqueue_launch(const KernelVariant& kernel, const backends::Launch& launch,
                        backends::ReportBuffer* reports, cl_event* event);
    void enqueue_grid(const KernelVariant& kernel, const backends::Launch& launch, cl_kernel object,
                      cl_event* event);
    struct Run {
        std::uint32_t commands = 0;
        backends::Point point = 0;
    };
    /// Enqueues as many of a submission's commands, counted over all instances from `begin` on, as can form
    /// one command of the queue. None if the first has to be submitted on its own.
    [[nodiscard]] Run submit_run(const OpenClBatch& batch, std::uint64_t begin, std::uint64_t end,
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

// ---- submitting: in the header because transfers and launches pass their own callables ----

template <class Enqueue>
void OpenClQueue::submit_to_device(backends::Point point, const Enqueue& enqueue, TimedEvents* times,
                                   Calls calls) {
    timeline_.reserve();
    use_queue(times != nullptr);
    cl_event event = nullptr;
    try {
        if (times != nullptr && calls == Calls::Several) times->begin(queue_.handle);
        enqueue(&event);
    } catch (...) {
        // Some of its calls may be pending, with memory that the caller takes back now.
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
    backends::Epilogue timing;
    if (backends::TimesScope::requested()) {
        calibrate_clock(*device_);
        times = std::make_shared<TimedEvents>(device_);
        if (epilogue == nullptr) epilogue = &timing;
        epilogue->report_times = [this, times] { times->report(timeline_.times()); };
    }
    if (epilogue != nullptr) {
        epilogue->point = point;
        timeline_.add(std::move(*epilogue));
    }
    try {
        if (!host_commands_.empty()) {
            host_commands_.defer(point, [this, point, enqueue, times, calls] {
                submit_to_device(point, enqueue, times.get(), calls);
            });
            timeline_.issue(point);
            return point;
        }
        submit_to_device(point, enqueue, times.get(), calls);
    } catch (...) {
        if (epilogue != nullptr) timeline_.cancel();
        throw;
    }
    timeline_.submitted(point);
    return point;
}

}  // namespace volley::backends::opencl
